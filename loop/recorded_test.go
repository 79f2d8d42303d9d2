package loop_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/tool"
	"rein.example/rein/trace/recording"
)

var recorded = flag.String("recorded", "", "the recorded runs to measure, in a file; see make measure-finish")

// The recordings that are measured if none are named, and where they are.
const sharedData = "../../shared/data"

// TestRecorded plays recorded runs to the machine, as if their model had been its
// own, and says what the rules against runs that do not get on, and those for the
// names that an end leaves open, would have said: in runs that are known to have
// ended well, to have ended badly, and in others. A recorded model does not listen:
// what it is told changes nothing of what it does next, so that every figure is the
// most that there can be.
//
// What the rules cost where they are not needed is bounded; everything else is for
// people to read, with -v.
func TestRecorded(t *testing.T) {
	files := []string{*recorded}
	if *recorded == "" {
		files = []string{filepath.Join(sharedData, "tau-airline-gpt4o-runs.json"), filepath.Join(sharedData, "trajectories.jsonl")}
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil && *recorded == "" {
				t.Skipf("there are no recordings: %v", err)
			} else if err != nil {
				t.Fatal(err)
			}
			known := verdicts(data)
			sums := map[string]*findings{"passed": {}, "failed": {}, "unknown": {}}
			n := 0
			for c, err := range recording.Read(strings.NewReader(string(data)), recording.Limits{}) {
				if err != nil {
					t.Fatal(err)
				}
				var k verdict
				if n < len(known) {
					k = known[n]
				}
				n++
				p := play(t, c)
				sums[k.outcome()].add(p, &k)
				for _, line := range p.told {
					t.Logf("%s (%s): %s", c.ID, k.outcome(), line)
				}
			}
			t.Log("\n" + table(sums))
			if p := sums["passed"]; p.runs > 0 && (p.stopped*20 > p.runs || p.noticed*5 > p.runs) {
				t.Errorf("of %d runs that ended well %d would have been told that they do not get on, and %d stopped", p.runs, p.noticed, p.stopped)
			}
			for name, s := range sums {
				if s.wrong > 0 {
					t.Errorf("%d calls of runs that %s would not have been executed, and returned something else than the one in their place", s.wrong, name)
				}
			}
		})
	}
}

// verdict is what a benchmark says of a run.
type verdict struct {
	Reward *float64 `json:"reward"`
	Info   struct {
		Task struct {
			Actions []struct {
				Name string         `json:"name"`
				Args jsontext.Value `json:"kwargs"`
			} `json:"actions"`
			Outputs []string `json:"outputs"`
		} `json:"task"`
	} `json:"info"`
}

func (v *verdict) outcome() string {
	switch {
	case v.Reward == nil:
		return "unknown"
	case *v.Reward == 1:
		return "passed"
	}
	return "failed"
}

// verdicts reads what the recordings say of themselves beside the conversations.
func verdicts(data []byte) (list []verdict) {
	if json.Unmarshal(data, &list) == nil {
		return list
	}
	for line := range strings.Lines(string(data)) {
		var v verdict
		_ = json.Unmarshal([]byte(line), &v)
		list = append(list, v)
	}
	return list
}

// findings are what was found in the runs of one kind.
type findings struct {
	runs, steps, calls int
	// noticed are the runs that were told that they do not get on, notices how often;
	// stopped those that would have been ended for it.
	noticed, notices, stopped int
	// chatter are the runs with a reply that only announced a call.
	chatter int
	// stood are the calls that were not executed as another's outcome stands in their
	// place; wrong those of them that returned something else when they were recorded.
	// Where they are to be done once, they were done twice.
	stood, wrong, twice int
	// open are the runs that end with a name of the request that no call or answer
	// holds, names how many of those there are; right are the runs of which a
	// benchmark says that an act was to be made with such a name, or an answer to hold
	// it.
	open, names, right int
}

func (f *findings) add(p *played, v *verdict) {
	f.runs++
	f.steps += p.steps
	f.calls += p.calls
	f.noticed += min(1, len(p.notices))
	f.notices += len(p.notices)
	f.chatter += min(1, p.chatter)
	f.stood += p.stood
	f.wrong += p.wrong
	f.twice += p.twice
	f.open += min(1, len(p.open))
	f.names += len(p.open)
	if p.stop != "" {
		f.stopped++
	}
	if slices.ContainsFunc(p.open, v.wants) {
		f.right++
	}
}

// wants reports whether a benchmark's solution holds a word.
func (v *verdict) wants(word string) bool {
	for _, a := range v.Info.Task.Actions {
		if strings.Contains(string(a.Args), word) {
			return true
		}
	}
	return slices.Contains(v.Info.Task.Outputs, word)
}

// legend says what the columns of a table are.
const legend = `noticed: runs that were told that they do not get on; notices: how often; stopped: runs ended for it; chatter: runs with a reply that only announced a call
stood: calls not executed, as another's outcome stands in their place; differ: of those, other outcomes when they were recorded;
twice: the same of calls that are to be done once
open: runs that end with a name of the request that no call or answer holds; names: how many; right: runs where the benchmark's solution has it
`

// table renders findings.
func table(sums map[string]*findings) string {
	var b strings.Builder
	const row = "%-8s %5v %6v %6v | %7v %7v %7v %7v | %6v %6v %6v | %5v %6v %6v\n"
	fmt.Fprintf(&b, row, "ended", "runs", "steps", "calls", "noticed", "notices", "stopped", "chatter", "stood", "differ", "twice", "open", "names", "right")
	for _, name := range []string{"passed", "failed", "unknown"} {
		if f := sums[name]; f.runs > 0 {
			fmt.Fprintf(&b, row, name, f.runs, f.steps, f.calls,
				f.noticed, f.notices, f.stopped, f.chatter, f.stood, f.wrong, f.twice, f.open, f.names, f.right)
		}
	}
	return b.String() + legend
}

// played is what became of one recording.
type played struct {
	m     *loop.Machine
	items []message.Message
	// ids are those of the last reply's calls in the recording, results their results;
	// recorded are all results by the machine's id of the call.
	ids               []string
	results, recorded map[string]*message.Message

	steps, calls        int
	notices             []string
	chatter             int    // replies that only announced a call
	stop                string // why the machine has ended the run early
	stood, wrong, twice int
	open                []string
	told                []string // lines for people
}

// play plays a recording.
func play(t *testing.T, c *recording.Conversation) *played {
	p := &played{m: loop.New("r1"), items: c.Messages, recorded: map[string]*message.Message{}}
	spec := event.Spec{Model: "test/model", Chat: true, Permissions: []event.Permission{{Verdict: event.Allow, Match: "*"}},
		Calling: []event.ModelCalling{{Model: "test/model"}}, Tools: toolsOf(c)}
	p.apply(t, &event.RunStarted{Format: event.Version, Root: "r1", Spec: spec})
	for p.turn(t) {
	}
	p.open = p.m.Unattended()
	if len(p.open) > 0 {
		p.told = append(p.told, "open at the end: "+strings.Join(p.open, ", "))
	}
	return p
}

func (p *played) apply(t *testing.T, d event.Data) {
	t.Helper()
	seq := p.m.Seq() + 1
	if err := p.m.Apply(&event.Event{Run: "r1", Seq: seq, Time: seq, Data: d}); err != nil {
		t.Fatal(err)
	}
}

// turn does what the machine wants next, and reports whether there is more to do.
func (p *played) turn(t *testing.T) bool {
	cmds := p.m.Next()
	if len(cmds) == 0 {
		return p.m.Status().Status != "finished" && p.said(t)
	}
	switch c := cmds[0].(type) {
	case *loop.Record:
		for _, d := range slices.Clone(c.Data) {
			if a, ok := d.(*event.ContextAssembled); ok && len(p.items) > 0 && p.items[0].Role != message.Assistant && a.Purpose == event.PurposeStep {
				return p.said(t) // somebody has spoken before the reply
			}
			p.note(d)
			p.apply(t, d)
		}
	case *loop.Finish:
		p.apply(t, c.Data)
	case *loop.CallModel:
		if c.Purpose == event.PurposeFinal {
			return false // what the model would have answered is not known
		}
		return p.reply(t, c)
	case *loop.RunTool:
		p.run(t, c)
	default:
		t.Fatalf("the machine asks for a %T", c)
	}
	return true
}

// note notes what the machine has decided.
func (p *played) note(d event.Data) {
	switch d := d.(type) {
	case *event.ReplyParsed:
		for i, c := range d.Calls {
			if i < len(p.ids) {
				p.recorded[c.ID] = p.results[p.ids[i]]
			}
		}
	case *event.NoticeAdded:
		switch d.Kind {
		case loop.NoticeRepetition:
			p.notices = append(p.notices, d.Text)
		case loop.NoticeAnnounced:
			p.chatter++
		default:
			p.stop = d.Text
		}
		p.told = append(p.told, fmt.Sprintf("step %d: %s: %s", p.steps, d.Kind, d.Text))
	case *event.CallJudged:
		if d.Verdict == event.Intercept {
			p.stood++
			p.told = append(p.told, fmt.Sprintf("step %d: %s(%s) by %s: %s", p.steps, d.Tool, d.Call, d.Rule, d.Why))
			if was, is := p.recorded[d.Of], p.recorded[d.Call]; was != nil && is != nil && was.PlainText() != is.PlainText() {
				if d.Rule == "ledger" {
					p.twice++
				} else {
					p.wrong++
				}
				p.told = append(p.told, fmt.Sprintf("  it had returned %.200q, and now %.200q", was.PlainText(), is.PlainText()))
			}
		}
	}
}

// said gives the machine what is said before the next reply, and reports whether
// there is one.
func (p *played) said(t *testing.T) bool {
	for len(p.items) > 0 && p.items[0].Role != message.Assistant {
		if m := &p.items[0]; m.Role == message.System {
			p.apply(t, &event.NoticeAdded{Kind: "recorded", Text: m.PlainText()})
		} else {
			p.apply(t, &event.InputReceived{Kind: event.InputText, Parts: m.Parts})
		}
		p.items = p.items[1:]
	}
	return len(p.items) > 0 && len(p.m.Next()) > 0
}

// reply answers with the next recorded reply, and takes its results.
func (p *played) reply(t *testing.T, c *loop.CallModel) bool {
	if len(p.items) == 0 {
		return false
	}
	d := &event.ModelAnswered{ID: c.ID, Message: p.items[0], Finish: event.FinishStop}
	p.items, p.ids = p.items[1:], nil
	p.results = map[string]*message.Message{}
	for i := range d.Message.Parts {
		if part := &d.Message.Parts[i]; part.Kind == message.ToolCall {
			p.ids, d.Finish = append(p.ids, part.ID), event.FinishToolCalls
		}
	}
	for len(p.items) > 0 && p.items[0].Role == message.Tool {
		p.results[p.items[0].ToolCallID] = &p.items[0]
		p.items = p.items[1:]
	}
	p.steps++
	p.calls += len(p.ids)
	p.apply(t, &event.ModelCalled{ID: c.ID, Purpose: c.Purpose, Step: c.Step, Attempt: c.Attempt, Model: c.Model})
	p.apply(t, d)
	return true
}

// run gives a call the result that was recorded for it.
func (p *played) run(t *testing.T, c *loop.RunTool) {
	p.apply(t, &event.ToolStarted{ID: c.ID, Call: c.Call, Tool: c.Tool, Effect: c.Effect, ArgsHash: c.ArgsHash, Key: c.Key, Attempt: c.Attempt})
	d := &event.ToolFinished{ID: c.ID, Call: c.Call, Tool: c.Tool, Status: event.StatusSuccess}
	if r := p.recorded[c.Call]; r != nil {
		if d.Parts = r.Parts; r.PlainText() == "" {
			d.Parts = tool.Text("The tool succeeded; it returned nothing.").Parts // as package tool has it
		}
		if text := r.PlainText(); recording.SaysFailed(text) {
			d.Status, d.ErrorType, d.ErrorMessage = event.StatusError, "failed", text
		}
	}
	p.apply(t, d)
}

// readWords begin the names of tools that change nothing; recordings don't say.
var readWords = []string{"get", "list", "search", "find", "read", "open", "think", "calculate", "view", "grep", "ls"}

// toolsOf returns the tools that a recording calls. What books, cancels and sends is
// to be done once; what edits files and runs commands may be done again.
func toolsOf(c *recording.Conversation) (specs []event.ToolSpec) {
	known := map[string]bool{}
	for i := range c.Messages {
		for _, p := range c.Messages[i].Parts {
			if p.Kind != message.ToolCall || known[p.Name] {
				continue
			}
			known[p.Name] = true
			s := event.ToolSpec{Name: p.Name, Effect: event.Once, Timeout: 60_000, Schema: []byte(`{"type":"object"}`)}
			first, _, _ := strings.Cut(p.Name, "_")
			switch {
			case slices.Contains(readWords, first):
				s.Effect = event.Read
			case slices.Contains([]string{"bash", "edit", "write", "create", "insert"}, p.Name):
				s.Effect = event.Repeatable
			}
			specs = append(specs, s)
		}
	}
	return specs
}
