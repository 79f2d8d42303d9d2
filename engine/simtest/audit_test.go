package simtest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"rein.example/rein/engine/internal/request"
	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/window"
)

// audit folds a run's journal from its beginning, event by event, and checks at
// each that it is what the machine had asked for until then, that asking twice
// gives the same, and what else must be so in any journal.
type audit struct {
	h      *history
	l      *log
	m      *loop.Machine
	events []event.Event
	// wants is what the machine wants after each event.
	wants []string
	// rest are decisions that the machine made together with the last one.
	rest []event.Data
	// begun are commands whose intents stand in the journal, ended those with an
	// outcome.
	begun map[string]*event.Event
	ended map[string]bool
	gen   int64
	waits map[string]int64 // timers that were wanted, with their times

	calls  callAudit
	budget budgetAudit
	ledger ledgerAudit
}

// audit checks the journal of one run.
func (h *history) audit(l *log) {
	a := &audit{h: h, l: l, m: loop.New(l.id), begun: map[string]*event.Event{}, ended: map[string]bool{}, waits: map[string]int64{}}
	a.calls.init()
	a.ledger.init()
	yieldAll(l.id, l.events, 1, func(e event.Event, err error) bool {
		if err != nil {
			if !l.torn() { // nobody has carried it on
				a.fail("cannot be read: %v", err)
			}
			return false
		}
		a.events = append(a.events, e)
		return a.add(&a.events[len(a.events)-1])
	})
	if n := len(a.events); n > 0 && len(a.wants) == n {
		a.refold()
	}
}

// fail reports a violation at the present event.
func (a *audit) fail(format string, args ...any) {
	where := fmt.Sprintf("run %s, event %d", a.l.id, len(a.events))
	if n := len(a.events); n > 0 {
		where += " (" + string(a.events[n-1].Data.Type()) + ")"
	}
	a.h.violate("%s: %s", where, fmt.Sprintf(format, args...))
}

// add checks one event and folds it; it reports whether the machine can go on.
func (a *audit) add(e *event.Event) bool {
	next := a.m.Next()
	for _, c := range next {
		if w, ok := c.(*loop.Wait); ok {
			a.waits[w.ID] = w.Until
		}
	}
	if !a.l.doubled[e.Seq] {
		a.explain(e, next)
		a.check(e, next)
	}
	if err := a.m.Apply(e); err != nil {
		a.fail("cannot be folded: %v", err)
		return false
	}
	want := render(a.m.Next())
	if again := render(a.m.Next()); again != want {
		a.fail("Next gives\n%s\nand then\n%s", want, again)
	}
	a.wants = append(a.wants, want)
	return true
}

// check checks what must be so whatever the machine thinks.
func (a *audit) check(e *event.Event, next []loop.Command) {
	if a.budget.finished != "" {
		switch e.Data.(type) {
		case *event.InputReceived, *event.ApprovalGiven: // nobody knows yet
		default:
			a.fail("it comes after the run has finished")
		}
	}
	switch d := e.Data.(type) {
	case *event.ModelCalled:
		a.begin(d.ID, e)
		a.calls.request(a, d, next)
	case *event.ToolStarted:
		a.begin(d.ID, e)
	case *event.ApprovalAsked:
		a.begin(d.ID, e)
	case *event.ToolFinished:
		a.end(d.ID, e, untold(d))
	case *event.ModelAnswered:
		a.end(d.ID, e, false)
	case *event.ModelFailed:
		a.end(d.ID, e, true)
	}
	a.calls.add(a, e, next)
	a.ledger.add(a, e, next)
	a.budget.add(a, e)
}

// untold reports whether an outcome can stand without an intent: what was not
// begun, for a reason that the engine knows.
func untold(d *event.ToolFinished) bool {
	return d.NoEffect && (d.ErrorType == "cancelled" || d.ErrorType == "overloaded" || strings.HasPrefix(d.ErrorType, "agent_")) || d.ErrorType == "abandoned"
}

// begin notes an intent.
func (a *audit) begin(id string, e *event.Event) {
	if a.begun[id] != nil {
		a.fail("command %s is begun a second time", id)
	}
	a.begun[id] = e
}

// end notes an outcome, which has an intent before it.
func (a *audit) end(id string, e *event.Event, maybe bool) {
	if id == "" {
		return
	}
	intent := a.begun[id]
	switch {
	case intent == nil && !maybe:
		a.fail("the outcome of %s comes without its intent", id)
	case a.ended[id]:
		a.fail("command %s has a second outcome", id)
	case intent != nil && intent.Seq < a.gen:
		a.fail("the outcome of %s, begun at event %d, comes from a generation before event %d", id, intent.Seq, a.gen)
	}
	a.ended[id] = true
}

// explain checks that an event is what the machine asked for, the outcome of
// that, or comes from outside.
func (a *audit) explain(e *event.Event, next []loop.Command) {
	switch d := e.Data.(type) {
	case *event.RunStarted:
	case *event.RunResumed:
		a.rest, a.gen = nil, e.Seq
	case *event.InputReceived, *event.ApprovalGiven:
		a.rest = nil
	case *event.ModelCalled:
		a.explainCall(d, next)
	case *event.ToolStarted:
		if c := execution(next, d.ID); c == nil || c.Call != d.Call || c.Tool != d.Tool || c.Effect != d.Effect || c.ArgsHash != d.ArgsHash ||
			c.Key != d.Key || c.Attempt != d.Attempt || c.For != d.For || c.run != d.Run && e.Seq > a.l.shared { // what a fork shares names the runs below the first one
			a.unexplained(e, next)
		}
	case *event.ApprovalAsked:
		c, ok := find(next, d.ID).(*loop.AskApproval)
		if !ok || c.Asked || c.Call != d.Call || c.Hash != d.Hash || c.Settle != d.Settle || c.Words != d.Words {
			a.unexplained(e, next)
		}
	case *event.TimerFired:
		// It may not be wanted any more: another one was due at the same time.
		if until, ok := a.waits[d.ID]; !ok || e.Time < until {
			a.unexplained(e, next)
		}
		delete(a.waits, d.ID)
	case *event.MaterialRetrieved:
		if _, ok := find(next, d.ID).(*loop.Retrieve); !ok && !masked(next) {
			a.unexplained(e, next)
		}
	case *event.ModelAnswered, *event.ModelFailed:
		if _, ok := find(next, e.Command).(*loop.CallModel); !ok && !masked(next) {
			a.unexplained(e, next)
		}
	case *event.ToolFinished:
		if c := execution(next, d.ID); d.ID != "" && c == nil && !masked(next) {
			a.unexplained(e, next)
		} else if d.ID == "" {
			a.decided(e, next)
		}
	case *event.RunPaused:
		if cause, ok := a.m.Waiting(); ok && cause == d.Cause || rests(next) {
			a.rest = nil
			return
		}
		a.decided(e, next)
	default:
		a.decided(e, next)
	}
}

// executed is a call as it is to be carried out, by a tool or by a run below.
type executed struct {
	loop.RunTool
	run string
}

// execution returns the command to carry a call out, nil if there is none.
func execution(next []loop.Command, id string) *executed {
	switch c := find(next, id).(type) {
	case *loop.RunTool:
		return &executed{RunTool: *c}
	case *loop.StartRun:
		return &executed{run: c.Run, RunTool: loop.RunTool{ID: c.ID, Call: c.Call, Tool: c.Tool, Args: c.Args, ArgsHash: c.ArgsHash, Effect: c.Effect, Key: c.Key, Attempt: c.Attempt}}
	}
	return nil
}

// rests reports whether all that a run waits for are people, times and the runs of
// agents below it: when those have come to rest, so does this one.
func rests(next []loop.Command) bool {
	below := false
	for _, c := range next {
		switch c.(type) {
		case *loop.StartRun:
			below = true
		case *loop.AskApproval, *loop.Wait:
		default:
			return false
		}
	}
	return below
}

// masked reports whether the machine has something to decide, which comes before
// all that is outstanding. An outcome that has arrived meanwhile is true all the
// same.
func masked(next []loop.Command) bool {
	if len(next) != 1 {
		return false
	}
	switch next[0].(type) {
	case *loop.Record, *loop.Finish:
		return true
	}
	return false
}

func find(next []loop.Command, id string) loop.Command {
	for _, c := range next {
		if id != "" && c.CommandID() == id {
			return c
		}
	}
	return nil
}

func (a *audit) unexplained(e *event.Event, next []loop.Command) {
	a.fail("%s is not what the machine wants after the events before:\n%s", e.Data.AppendJSON(nil), render(next))
}

// decided checks that an event is what the machine decides by itself: the first
// of what it decides now, or the next of what it decided together with the last.
func (a *audit) decided(e *event.Event, next []loop.Command) {
	var now []event.Data
	for _, c := range next {
		switch c := c.(type) {
		case *loop.Record:
			now = slices.Clone(c.Data)
		case *loop.Finish:
			now = []event.Data{c.Data}
		}
	}
	for _, want := range [][]event.Data{a.rest, now} {
		if len(want) > 0 && same(want[0], e.Data) {
			a.rest = want[1:]
			return
		}
	}
	a.unexplained(e, next)
	a.rest = nil
}

// same reports whether a decision is the recorded one, apart from what engines
// count before they record it.
func same(want, got event.Data) bool {
	return want.Type() == got.Type() && bytes.Equal(uncounted(want).AppendJSON(nil), uncounted(got).AppendJSON(nil))
}

// uncounted returns a decision without the sizes that an engine fills in.
func uncounted(d event.Data) event.Data {
	switch d := d.(type) {
	case *event.ToolFinished:
		c := *d
		c.Tokens = 0
		return &c
	case *event.NoticeAdded:
		c := *d
		c.Tokens = 0
		return &c
	case *event.ContextAssembled:
		c := *d
		c.Tokens, c.Blocks = 0, slices.Clone(d.Blocks)
		for i := range c.Blocks {
			if c.Blocks[i].Name == window.BlockTail {
				c.Blocks[i].Tokens = 0
			}
		}
		return &c
	case *event.ContextCompacted:
		c := *d
		c.Tokens, c.After, c.Edits = 0, 0, slices.Clone(d.Edits)
		for i := range c.Edits {
			c.Edits[i].Tokens = 0
		}
		return &c
	}
	return d
}

// explainCall checks that a request is what the machine wants to be sent, byte for
// byte.
func (a *audit) explainCall(d *event.ModelCalled, next []loop.Command) {
	c, ok := find(next, d.ID).(*loop.CallModel)
	if !ok || c.Purpose != d.Purpose || c.Step != d.Step || c.Attempt != d.Attempt || c.Model != d.Model || c.Strict != d.Strict {
		a.unexplained(&a.events[len(a.events)-1], next)
		return
	}
	o, err := request.ParseOptions(d.Options)
	if err != nil {
		a.fail("options: %v", err)
		return
	}
	p := request.Params(a.m.Spec(), c, o)
	body, err := request.New(encoder{}, a.h.body).Build(&p, c)
	if err != nil || body.SHA256 != d.SHA256 || body.Bytes != d.Bytes {
		a.fail("the body of the request cannot be built again: %d bytes instead of %d, error %v", body.Bytes, d.Bytes, err)
	}
}

// body returns what is stored out of line.
func (h *history) body(ref message.Ref) ([]byte, error) {
	return (&view{disk: h.disk}).Body(context.Background(), ref)
}

// refold folds prefixes of the journal once more, as a process does that takes the
// run over after each of some events, without ever asking for commands on the way.
func (a *audit) refold() {
	d := roll(a.h.seed, "refold", a.l.id)
	ends := []int{len(a.events)}
	for range 2 {
		ends = append(ends, 1+d.IntN(len(a.events)))
	}
	for _, n := range ends {
		m := loop.New(a.l.id)
		for i := range n {
			e, err := a.l.events[i].Event()
			if err == nil {
				err = m.Apply(&e)
			}
			if err != nil {
				a.fail("event %d cannot be folded again: %v", i+1, err)
				return
			}
		}
		if got := render(m.Next()); got != a.wants[n-1] {
			a.fail("after event %d the machine that is folded at once wants\n%s\nand the one that was asked after each event\n%s", n, got, a.wants[n-1])
		}
	}
}

// render writes commands down with all that counts.
func render(next []loop.Command) string {
	var b strings.Builder
	for _, c := range next {
		switch c := c.(type) {
		case *loop.Record:
			for _, d := range c.Data {
				fmt.Fprintf(&b, "record %s %s\n", d.Type(), d.AppendJSON(nil))
			}
		case *loop.Finish:
			fmt.Fprintf(&b, "finish %s\n", c.Data.AppendJSON(nil))
		case *loop.CallModel:
			fmt.Fprintf(&b, "%s call %s %s, step %d, attempt %d, no tools %v, strict %v, epoch %d, at most %d, cancel %v, schema %s", c.ID, c.Model, c.Purpose, c.Step, c.Attempt, c.NoTools, c.Strict, c.Epoch, c.MaxOutput, c.Cancel, c.Schema)
			for i := range c.Tools {
				b.WriteString(" " + c.Tools[i].Name)
			}
			for _, msgs := range [][]message.Message{c.System, c.Messages} {
				for i := range msgs {
					b.WriteString("\n  ")
					b.Write(msgs[i].AppendJSON(nil))
				}
			}
			if c.Tail != nil {
				b.WriteString("\n  tail ")
				b.Write(c.Tail.AppendJSON(nil))
			}
			b.WriteByte('\n')
		case *loop.RunTool:
			fmt.Fprintf(&b, "%s run %s(%s) %s %s key %s, attempt %d, %d ms, seen %v, value %v, for %q, cancel %v\n", c.ID, c.Tool, c.Call, c.Effect, c.Args, c.Key, c.Attempt, c.Timeout, c.Seen, c.Value, c.For, c.Cancel)
		case *loop.AskApproval:
			fmt.Fprintf(&b, "%s ask %s(%s) %s hash %s, settle %v, words %v, asked %v\n", c.ID, c.Tool, c.Call, c.Args, c.Hash, c.Settle, c.Words, c.Asked)
		default:
			fmt.Fprintf(&b, "%T %+v\n", c, c)
		}
	}
	return b.String()
}

// toolSpec returns a tool as the run has it now.
func (a *audit) toolSpec(name string) *event.ToolSpec {
	for i := range a.m.Spec().Tools {
		if t := &a.m.Spec().Tools[i]; t.Name == name {
			return t
		}
	}
	return nil
}
