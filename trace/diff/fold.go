package diff

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"strconv"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/internal/cut"
	"rein.example/rein/message"
	"rein.example/rein/parse"
	"rein.example/rein/schema"
	"rein.example/rein/tool"
	"rein.example/rein/window"
)

// Run is what a comparison knows of one run: a few hundred bytes for each step and
// call, at most [maxSaid] of what was said there, however long the results were, and 16
// bytes for each of at most [mostLines] lines that it was shown.
type Run struct {
	ID string
	// Spec is the run's, with the models that it asked last; nil if its journal does not
	// begin with one.
	Spec *event.Spec
	// Fork is the run that this one was forked from last, and Shared the last event
	// that they share; "" and 0 for none.
	Fork   string
	Shared int64
	Inputs []Input
	Steps  []Step
	// Rewrites are the compactions of the context.
	Rewrites []Rewrite
	// Status is "finished", "paused" or "running", Reason the reason or cause.
	Status, Reason string
	OK             bool

	below bool // it carries out a call of another run
	// toolsUnknown: another program has recorded it, and not which tools it offered.
	toolsUnknown bool
	// told are the lines of what was said to the model, but for results.
	told []line
	// kept counts the lines that are kept, partial that there were more.
	kept    int
	partial bool
	all     *sights // once it was asked for

	calls map[string]*Call // by id, looked up only
	edits map[string]edit  // by the text that stands for what is gone, looked up only
}

// Input is something that was said from outside.
type Input struct {
	// Before is the index of the step that came next.
	Before int
	Event  int64
	// Text is its beginning, at most [maxInput] bytes.
	Text string
	hash event.Hash
}

// Step is one reply of the model and what became of it.
type Step struct {
	// Number is as the journal counts steps, from 1.
	Number int64
	// Event is the sequence of the model.called whose reply it is: of the last
	// attempt.
	Event   int64
	Purpose event.Purpose
	// Model is the one that was asked, Served the one that the server says has
	// answered, empty where it says nothing.
	Model, Served string
	Calls         []*Call
	// Text is the beginning of what was said, at most [maxSaid] bytes.
	Text string
	// Answered: a reply came. Failed is the class of the error, if that is how the
	// step ended.
	Answered bool
	Failed   event.ErrorClass

	said   event.Hash // of all that was said
	inputs event.Hash // of the inputs right before it
}

// Call is one tool call and its outcome.
type Call struct {
	ID, Tool string
	// Step is the number of its step, and Index its place there, from 1.
	Step  int64
	Index int
	// Args are the arguments in canonical form where that is known, at most
	// [maxSaid] bytes of them.
	Args string
	// Status is empty while there is no outcome.
	Status                  event.Status
	ErrorType, ErrorMessage string
	// Size is the whole result's size in bytes, Shown what the model got, Shaped what
	// was done to it in between.
	Size, Shown int64
	Shaped      []string
	// Child is the run that carried the call out, of a tool that is an agent.
	Child string

	// of is the call whose result this one reads, nil for none.
	of     *Call
	args   event.Hash
	result event.Hash // of what was shown, see [steady]
	exact  event.Hash // of that with what varies by itself
	shown  shown
	at     int // the index of its step
}

// Rewrite is one compaction of the context.
type Rewrite struct {
	// Step is the number of the step whose request it was made for.
	Step          int64
	Event         int64
	Strategy, Why string
	// Stubbed, Trimmed and Dropped count the messages that were edited.
	Stubbed, Trimmed, Dropped int
	// Upto: the messages before it have left, but for those of users; 0: none.
	Upto int64
	// Summary: there is one.
	Summary bool

	hash event.Hash // of what it did
}

// edit says which rewrite put a text in the place of another, and how.
type edit struct {
	rewrite int
	action  string
}

// Bounds of what is kept of texts, in bytes: of messages of errors, of what models said
// and asked for, and of what people said. The latter two are compared as texts.
const maxKept, maxSaid, maxInput = 600, 4 << 10, 16 << 10

// Fold makes a [Run] of events. The zero value is ready; it is not safe for
// concurrent use.
type Fold struct {
	run Run
	// aside are the model calls that are no steps; looked up only.
	aside map[string]bool
	// answered is the reply that was not parsed yet.
	answered *event.ModelAnswered
	// said gathers the inputs since the last step.
	said hash.Hash
	// placed is how many rewrites have their step.
	placed int
}

// Run returns the run so far. It is valid until the next Add.
func (f *Fold) Run() *Run { return &f.run }

// Add folds the next event.
func (f *Fold) Add(e *event.Event) {
	r := &f.run
	if r.calls == nil {
		r.ID, r.Status = e.Run, "running"
		r.calls, r.edits, f.aside, f.said = map[string]*Call{}, map[string]edit{}, map[string]bool{}, sha256.New()
	}
	switch d := e.Data.(type) {
	case *event.RunStarted:
		r.Spec, r.below = &d.Spec, d.Call != ""
		r.toolsUnknown = d.Origin != nil && d.Origin.ToolsUnknown
		for i := range d.Spec.System {
			f.tell(d.Spec.System[i].Text)
		}
	case *event.MaterialRetrieved:
		m := message.Message{Parts: d.Parts}
		f.tell(m.PlainText())
	case *event.NoticeAdded:
		f.tell(d.Text)
	case *event.RunResumed:
		f.resumed(e, d)
	case *event.InputReceived:
		f.input(e, d)
	case *event.ContextCompacted:
		f.rewritten(e, d)
	case *event.ModelCalled:
		f.called(e, d)
	case *event.ModelAnswered:
		f.answered = d
	case *event.ModelFailed:
		if s := f.step(d.ID); s != nil {
			s.Failed = d.Class
		}
	case *event.ReplyParsed:
		f.parsed(d)
	case *event.CallJudged, *event.ToolStarted, *event.ToolFinished:
		f.call(d)
	case *event.RunPaused:
		r.Status, r.Reason = "paused", string(d.Cause)
	case *event.RunFinished:
		r.Status, r.Reason, r.OK = "finished", string(d.Reason), d.OK
	}
}

func (f *Fold) resumed(e *event.Event, d *event.RunResumed) {
	r := &f.run
	r.Status, r.Reason, r.OK = "running", "", false
	if d.Fork != "" {
		r.Fork, r.Shared = d.Fork, e.Seq-1
	}
	if d.Models != nil && r.Spec != nil {
		r.Spec = r.Spec.With(d.Models)
	}
}

func (f *Fold) input(e *event.Event, d *event.InputReceived) {
	if d.Kind != event.InputText {
		return
	}
	m := message.Message{Parts: d.Parts}
	f.tell(m.PlainText())
	h := partsHash(d.Parts, nil, nil)
	f.run.Inputs = append(f.run.Inputs, Input{len(f.run.Steps), e.Seq, head(m.PlainText(), maxInput), h})
	f.said.Write(h[:])
	if r := &f.run; r.Reason == string(event.CauseTurnDone) {
		r.Status, r.Reason = "running", "" // the next turn begins, with or without a resumption
	}
}

// tell keeps what the model is told, but for results.
func (f *Fold) tell(text string) {
	f.run.told, _ = f.run.linesIn(f.run.told, text, true, false)
}

func (f *Fold) rewritten(e *event.Event, d *event.ContextCompacted) {
	w := Rewrite{Event: e.Seq, Strategy: d.Strategy, Why: d.Why, Upto: d.Upto, Summary: d.Summary != ""}
	for i := range d.Edits {
		x := &d.Edits[i]
		if x.Text != "" {
			f.run.edits[x.Text] = edit{len(f.run.Rewrites), x.Action}
		}
		switch x.Action {
		case window.ActionStub:
			w.Stubbed++
		case window.ActionTrim:
			w.Trimmed++
		default:
			w.Dropped++
		}
	}
	w.hash = sha256.Sum256(d.AppendJSON(nil))
	f.run.Rewrites = append(f.run.Rewrites, w)
}

// called begins a step, or another attempt at it.
func (f *Fold) called(e *event.Event, d *event.ModelCalled) {
	r := &f.run
	if !d.Purpose.Aside() {
		for ; f.placed < len(r.Rewrites); f.placed++ {
			r.Rewrites[f.placed].Step = d.Step
		}
	}
	if d.Purpose.Aside() {
		f.aside[d.ID] = true
		return
	}
	if n := len(r.Steps); n > 0 {
		if s := &r.Steps[n-1]; s.Number == d.Step && s.Purpose == d.Purpose && !s.Answered {
			s.Event, s.Model, s.Failed = e.Seq, d.Model, ""
			return
		}
	}
	s := Step{Number: d.Step, Event: e.Seq, Purpose: d.Purpose, Model: d.Model}
	f.said.Sum(s.inputs[:0])
	f.said.Reset()
	r.Steps = append(r.Steps, s)
}

// step returns the step that a model call is for, nil if it is for none.
func (f *Fold) step(id string) *Step {
	if n := len(f.run.Steps); n > 0 && !f.aside[id] {
		return &f.run.Steps[n-1]
	}
	return nil
}

func (f *Fold) parsed(d *event.ReplyParsed) {
	s := f.step(d.ID)
	if s == nil || f.answered == nil || f.answered.ID != d.ID {
		return
	}
	msg := parse.Assistant(&f.answered.Message, d)
	s.Served, f.answered = head(f.answered.Model, maxKept), nil
	text := msg.PlainText()
	s.Answered, s.Failed, s.Text, s.said = true, "", head(text, maxSaid), sha256.Sum256([]byte(text))
	for i := range d.Calls {
		p := &d.Calls[i]
		c := &Call{ID: p.ID, Tool: p.Name, Step: s.Number, Index: i + 1, at: len(f.run.Steps) - 1, Args: head(p.Args, maxSaid), args: argsHash(p.Args)}
		if c.of = f.read(p); c.of != nil {
			c.args = argsHash(strings.ReplaceAll(p.Args, c.of.ID, c.of.place()))
		}
		s.Calls = append(s.Calls, c)
		f.run.calls[c.ID] = c
	}
}

// argsHash is the same for arguments that say the same, however they are written: that
// of their canonical form, where they have one.
func argsHash(args string) event.Hash {
	if c, err := schema.Canonical([]byte(args)); err == nil {
		return sha256.Sum256(c)
	}
	return sha256.Sum256([]byte(strings.TrimSpace(args)))
}

// read returns the call whose result another one reads, nil for others.
func (f *Fold) read(p *event.ParsedCall) *Call {
	if p.Name != tool.ReadArtifact {
		return nil
	}
	list, _ := arguments(p.Args)
	for _, a := range list {
		if a.name == "call" {
			return f.run.calls[a.value]
		}
	}
	return nil
}

// place names a call in a way that does not depend on how the model counts.
func (c *Call) place() string { return fmt.Sprintf("(call %d of step %d)", c.Index, c.Step) }

func (f *Fold) call(d event.Data) {
	switch d := d.(type) {
	case *event.CallJudged:
		if c := f.run.calls[d.Call]; c != nil && d.ArgsHash != (event.Hash{}) {
			if c.of == nil {
				c.args = d.ArgsHash
			}
			if d.Args != "" {
				c.Args = head(d.Args, maxSaid)
			}
		}
	case *event.ToolStarted:
		if c := f.run.calls[d.Call]; c != nil && d.Run != "" {
			c.Child = d.Run
		}
	case *event.ToolFinished:
		if c := f.run.calls[d.Call]; c != nil && d.Undoes == "" {
			c.Status, c.ErrorType, c.ErrorMessage = d.Status, d.ErrorType, head(d.ErrorMessage, maxKept)
			c.Size, c.Shown, c.Shaped = d.Size, d.Shown, d.Shaped
			c.exact = partsHash(d.Parts, c, nil)
			if c.result = c.exact; timed(d.Parts) {
				c.result = partsHash(d.Parts, c, steady)
			}
			c.shown = f.run.showing(d)
		}
	}
}

// partsHash returns a hash of what is shown, in which the ids of the call and of the
// one whose result it reads do not matter: models number their calls in ways that
// differ from run to run.
//
// change, if not nil, is what else is done to texts before.
func partsHash(parts []message.Part, c *Call, change func(string) string) event.Hash {
	h := sha256.New()
	var buf []byte
	for _, p := range parts {
		for x := c; x != nil; x = x.of {
			p.Text = strings.ReplaceAll(p.Text, x.ID, x.place())
		}
		if change != nil {
			p.Text = change(p.Text)
		}
		buf = p.AppendJSON(buf[:0])
		h.Write(buf)
	}
	var out event.Hash
	h.Sum(out[:0])
	return out
}

// acts returns a hash of what the model did in a step: its calls or, without any, its
// words.
func (s *Step) acts() event.Hash {
	h := sha256.New()
	if len(s.Calls) == 0 {
		h.Write([]byte("said " + strconv.FormatBool(s.Answered) + " " + string(s.Failed) + " "))
		h.Write(s.said[:])
	}
	for _, c := range s.Calls {
		h.Write([]byte(strconv.Quote(c.Tool) + " "))
		h.Write(c.args[:])
	}
	var out event.Hash
	h.Sum(out[:0])
	return out
}

// all is acts with the outcomes of the calls, and with what was said before the step.
func (s *Step) all() event.Hash {
	h := sha256.New()
	acts := s.acts()
	h.Write(acts[:])
	h.Write(s.inputs[:])
	for _, c := range s.Calls {
		h.Write([]byte(string(c.Status) + " " + strconv.Quote(c.ErrorType) + " "))
		h.Write(c.result[:])
	}
	var out event.Hash
	h.Sum(out[:0])
	return out
}

// sameOutcome reports whether two calls gave the model the same.
func sameOutcome(a, b *Call) bool {
	return a.Status == b.Status && a.ErrorType == b.ErrorType && a.result == b.result
}

// head returns the beginning of a text, at most that many bytes, without keeping the
// rest of it in memory.
func head(s string, most int) string {
	if len(s) <= most {
		return strings.Clone(s)
	}
	return s[:cut.Down(s, most-len("…"))] + "…"
}
