package loop

import (
	"crypto/sha256"
	"sort"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/schema"
)

// Act is a call that was executed and may have changed something.
type Act struct {
	Call, Tool string
	// Step is the step of the reply that made it.
	Step int64
	// Args are what it was executed with, in canonical form.
	Args   jsontext.Value
	Hash   event.Hash
	Effect event.Effect
	Key    string
	// Run is the run that carried it out, of a tool that is an agent.
	Run string
	// Attempt is the last execution's. Outcome is what came of that, nil if nobody
	// knows.
	Attempt int64
	Outcome *event.ToolFinished
	// Undone: it was taken back.
	Undone bool

	began int64 // sequence of the last tool.started
}

// Acts folds a run's journal into the acts of the run. The zero value is ready; it
// is not safe for concurrent use.
type Acts struct {
	list  []*Act
	index map[string]*Act           // by call; looked up only
	args  map[string]jsontext.Value // of calls that were parsed or judged; looked up only
	step  int64
}

// Add folds the next event.
func (a *Acts) Add(e *event.Event) {
	if a.index == nil {
		a.index, a.args = map[string]*Act{}, map[string]jsontext.Value{}
	}
	switch d := e.Data.(type) {
	case *event.ModelCalled:
		a.step = d.Step
	case *event.ReplyParsed:
		for _, c := range d.Calls {
			a.args[c.ID] = jsontext.Value(orEmpty(c.Args))
		}
	case *event.CallJudged:
		if d.Args != "" {
			a.args[d.Call] = jsontext.Value(d.Args)
		}
	case *event.ToolStarted:
		a.started(e.Seq, d)
	case *event.ToolFinished:
		a.finished(d)
	}
}

func (a *Acts) started(seq int64, d *event.ToolStarted) {
	if d.For != "" || d.Undoes != "" || !d.Effect.Writes() {
		return
	}
	act := a.index[d.Call]
	if act == nil {
		act = &Act{Call: d.Call, Tool: d.Tool, Step: a.step, Hash: d.ArgsHash, Effect: d.Effect, Key: d.Key}
		if args, err := schema.Canonical(a.args[d.Call]); err == nil && sha256.Sum256(args) == d.ArgsHash {
			act.Args = args
		}
		a.index[d.Call] = act
		a.list = append(a.list, act)
	}
	act.Run, act.Attempt, act.Outcome, act.began = d.Run, d.Attempt, nil, seq
}

func (a *Acts) finished(d *event.ToolFinished) {
	switch act := a.index[d.Call]; {
	case d.Undoes != "":
		if act = a.index[d.Undoes]; act != nil && d.Status == event.StatusSuccess {
			act.Undone = true
		}
	case act == nil || d.For != "":
	case d.ID != "":
		act.Outcome = d
	case act.Outcome == nil || act.Outcome.Status == event.StatusUnknown || act.Outcome.Status == event.StatusTimeout:
		act.Outcome = d // what the harness or a person found out later
	}
}

// After returns the acts of the steps after one, the last first.
func (a *Acts) After(step int64) []*Act {
	var out []*Act
	for _, act := range a.list {
		if act.Step > step {
			out = append(out, act)
		}
	}
	sort.Slice(out, func(i, k int) bool { return out[i].began > out[k].began })
	return out
}

// noticeUndone tells the model what a person has taken back.
const noticeUndone = "undone"

// UndoneNotice returns the notice that tells the model that calls were taken back.
func UndoneNotice(text string) *event.NoticeAdded {
	return &event.NoticeAdded{Kind: noticeUndone, Text: text}
}

// undone folds that a call was taken back: what was known of what is there is no
// longer true, and the act may be done again.
func (m *Machine) undone(d *event.ToolFinished) {
	if d.Status != event.StatusSuccess {
		return
	}
	m.spoken = len(m.calls)
	m.seen.fold(d.Seen)
	m.wrote(d.Seen)
	m.tail.stale = true
	if t := m.tool(d.Tool); t != nil {
		m.rules.Add(d, t.ToolSpec)
	}
	for _, e := range m.entries {
		if e.rec.id == d.Undoes && m.ledger[e.key] == e {
			m.release(e)
		}
	}
}
