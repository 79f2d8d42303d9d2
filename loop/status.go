package loop

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// Status is where a run stands.
type Status struct {
	// Status is "new", "running", "paused" or "finished".
	Status string
	// Reason is set when finished, Cause when paused.
	Reason event.Reason
	Cause  event.Cause
	OK     bool
	// Answer is the final answer, or in a chat the last one.
	Answer string
	// Value is the submitted result.
	Value jsontext.Value
	// Steps are the replies acted on, ToolCalls the calls executed.
	Steps, ToolCalls int64
	Usage            message.Usage
	// Cost is what the run has cost, in millionths of a US dollar; unknown if a
	// call's price or usage is. A failed call counts with what its server said of
	// its usage, as it does in Usage.
	Cost       message.Count
	BestEffort bool
	Detail     string
	Pending    []Pending
	// Below are the calls of agents whose runs have begun and not ended.
	Below []Below
	// Phase is the name of the phase that the run is in; empty if it has none.
	Phase string
	// State is the task state that the model keeps with the plan tool, as JSON;
	// empty if it has none.
	State jsontext.Value
	// Resolved are the errors of tools that have succeeded since, in the order in
	// which they came; of all errors the last 64 are remembered.
	Resolved []Resolved
	// Abandoned are the executions that took no notice of the end of their time or
	// of a stop, and were left behind: what they did after that nobody knows.
	Abandoned int64
	// Started and Last are the times of the first and last event. A fork began when it
	// was forked: what is before that another run has done.
	Started, Last int64
	// Seq is the last event's sequence.
	Seq int64
}

// Pending is a question that waits for a person.
type Pending struct {
	Call, Tool string
	Args       jsontext.Value
	Hash       event.Hash
	Settle     bool
	// Words: the model asks it; the next input is the answer.
	Words bool
	Why   string
}

// Status returns where the run stands.
func (m *Machine) Status() Status {
	s := Status{Status: "running", Steps: m.steps, ToolCalls: m.toolCalls, Usage: m.usage, Cost: m.cost, State: m.state,
		Resolved: m.resolved(), Abandoned: m.abandoned, Started: m.began, Last: m.now, Seq: m.seq}
	if p := m.phaseSpec(); p != nil {
		s.Phase = p.Name
	}
	switch {
	case m.phase == phaseNew:
		s.Status = "new"
	case m.end != nil:
		s.Status = "finished"
		s.Reason, s.OK, s.Answer, s.Value = m.end.Reason, m.end.OK, m.end.Answer, m.end.Result
		s.BestEffort, s.Detail = m.end.BestEffort, m.end.Detail
	case m.paused != "":
		s.Status, s.Cause = "paused", m.paused
		if m.paused == event.CauseTurnDone {
			s.OK, s.Answer = true, m.lastAnswer()
		}
	}
	s.Below = m.openBelow()
	if m.phase == phaseTools {
		for i := range m.turn {
			if c := &m.turn[i]; c.state == callAsking {
				q := c.question()
				s.Pending = append(s.Pending, Pending{Call: q.Call, Tool: q.Tool, Args: q.Args, Hash: q.Hash, Settle: q.Settle, Words: q.Words, Why: q.Why})
			}
		}
	}
	return s
}

// Unsettled returns the calls that must not be done twice and of which nobody knows
// whether they took effect, in the order in which they began, apart from those that
// Status has as pending: a person's word on them is taken at any time. Others are
// the ids of calls that asked for the same since, the provider's ids included.
func (m *Machine) Unsettled() []Unsettled {
	var out []Unsettled
	for _, e := range m.entries {
		if !e.unknown || m.ledger[e.key] != e {
			continue
		}
		u := Unsettled{Pending: Pending{Call: e.rec.id, Tool: e.rec.tool, Args: e.args, Settle: true}}
		for id, r := range m.byID { // order: sorted below
			if id != e.rec.id && (r == e.rec || r.index >= 0 && r.tool == e.rec.tool && r.hash == m.byID[e.rec.id].hash) {
				u.Others = append(u.Others, id)
			}
		}
		slices.Sort(u.Others)
		out = append(out, u)
	}
	return out
}

// Unsettled is a call whose outcome is unknown.
type Unsettled struct {
	Pending
	Others []string
}

// lastAnswer returns the text of the last assistant message.
func (m *Machine) lastAnswer() string {
	said := m.History().msgs
	for i := len(said) - 1; i >= 0; i-- {
		if said[i].Role == message.Assistant {
			return said[i].PlainText()
		}
	}
	return ""
}

// Results returns what the calls of the run have ended with, in that order. The
// list is only appended to, and its members never change, so that what was
// returned may be read on any goroutine.
func (m *Machine) Results() []*event.ToolFinished { return m.results[:len(m.results):len(m.results)] }

// Spec returns the run's spec, nil before run.started. It must not be changed.
func (m *Machine) Spec() *event.Spec { return m.spec }

// Seq returns the sequence of the last event applied.
func (m *Machine) Seq() int64 { return m.seq }
