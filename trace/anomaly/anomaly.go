package anomaly

import (
	"cmp"
	"fmt"
	"slices"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/parse"
	"rein.example/rein/trace"
)

// What a Fold remembers at most, so that its memory does not grow with the run. What
// goes beyond is counted or, for calls that are open all at once, not looked at.
const (
	maxOfKind = 50
	maxCalls  = 1024
	maxTools  = 512
)

// Fold finds anomalies in the events of a run. The zero value is ready; it is not safe
// for concurrent use. Its memory is bounded, and it takes time in proportion to what
// it is given.
type Fold struct {
	run   string
	spec  *event.Spec
	step  int64
	reply place // of the last request for a step
	ended bool
	left  bool             // its process is gone, which no event says
	calls map[string]*call // looked up only
	open  []*call          // those in calls, in the order in which they came
	tools toolSet

	// over is where the answer stands after which nothing has happened yet.
	over place
	// said is the last reply for a step, until it is parsed.
	said *event.ModelAnswered
	// parsed are the calls of the last reply.
	parsed map[string]string // arguments by call; looked up only

	found []trace.Anomaly
	// of is how many of each kind were found, more how many beyond maxOfKind; looked up
	// only.
	of, more map[string]int

	replies replies
	repeats repeats
	acts    acts
	grounds grounds // what the model was shown
	touched grounds // what calls that have changed something were asked for and have returned
	cost    cost
	cache   cache
	unread  unread
	waits   waits
	files   files
}

// Left notes that no process carries the run on, which no event says: what is under way
// has no outcome, and gets none before somebody resumes the run.
func (f *Fold) Left() { f.left = true }

// place is where something stands: a row of the trace.
type place struct{ step, event int64 }

// call is one call of a tool.
type call struct {
	place
	id    string
	tool  *toolState
	args  string
	hash  event.Hash
	asked int64 // when a person was asked, in Unix milliseconds; 0: none is
	// effect is what the call was executed as; status and ran say what came of it.
	effect event.Effect
	status event.Status
	ran    bool
	// counted: its outcome was folded by whoever counts calls.
	counted bool
	// missing are values of its arguments that the model was not shown.
	missing []string
}

// writes reports whether the call may have changed something.
func (c *call) writes() bool { return c.tool.writes(c.effect) }

// once reports whether the call may take effect and is not to be repeated.
func (c *call) once() bool {
	return !c.tool.harness() && !c.tool.polling() && c.tool.effect(c.effect) == event.Once
}

// Add folds the next event.
func (f *Fold) Add(e *event.Event) {
	if f.calls == nil {
		f.calls, f.parsed, f.of, f.more = map[string]*call{}, map[string]string{}, map[string]int{}, map[string]int{}
	}
	f.run = e.Run // a fork's events before it was forked may have its parent's
	switch d := e.Data.(type) {
	case *event.RunStarted:
		f.spec = &d.Spec
		f.tools.recorded = d.Origin != nil
		f.tools.declare(d.Spec.Tools)
		for i := range d.Spec.System {
			f.grounds.text(d.Spec.System[i].Text)
		}
	case *event.RunResumed:
		f.left = false
		f.resumed(e, d)
	case *event.RunPaused:
		f.waits.paused(e.Time, d.Cause)
		if d.Cause == event.CauseTurnDone {
			f.checkCut()
		}
	case *event.RunFinished:
		f.finished(d)
	case *event.InputReceived:
		f.input(e, d)
	case *event.ContextAssembled:
		f.cache.assembled(d)
	case *event.ContextCompacted:
		f.cache.compacted(d)
		f.grounds.text(d.Summary)
	case *event.ModelCalled:
		f.called(e, d)
	case *event.ModelAnswered:
		f.answered(e, d)
	case *event.ModelFailed:
		f.waited(d.ID, d.Waited)
	case *event.ReplyParsed:
		f.replied(d)
	case *event.CallJudged:
		f.judged(e, d)
	case *event.ApprovalAsked:
		if c := f.calls[d.Call]; c != nil {
			c.asked = e.Time
		}
	case *event.ApprovalGiven:
		f.approved(e, d)
	case *event.ToolStarted:
		f.began(e, d)
	case *event.ToolFinished:
		f.result(e, d)
	case *event.NoticeAdded:
		f.noticed(d)
	case *event.MaterialRetrieved:
		f.grounds.parts(d.Parts)
	}
}

// Found returns what was found so far, in the order of the events that it belongs to.
// The list is the caller's.
func (f *Fold) Found() []trace.Anomaly {
	out := append([]trace.Anomaly(nil), f.found...)
	f.outcomes(&out)
	f.errors(&out)
	f.growth(&out)
	f.delays(&out)
	slices.SortStableFunc(out, func(a, b trace.Anomaly) int { return cmp.Compare(a.Event, b.Event) })
	for i := range out {
		k := kind(out[i].Kind)
		out[i].Means, out[i].Look = k.Means, k.look(f.run, &out[i], f.step)
	}
	f.mention(out)
	return out
}

// mention says of the last anomaly of a kind how many more there are.
func (f *Fold) mention(out []trace.Anomaly) {
	said := map[string]bool{}
	for i := len(out) - 1; i >= 0 && len(f.more) > 0; i-- {
		if n := f.more[out[i].Kind]; n > 0 && !said[out[i].Kind] {
			said[out[i].Kind] = true
			out[i].Text += fmt.Sprintf(" (and %s more of this kind, which are not listed)", number(int64(n)))
		}
	}
}

// report notes an anomaly, and returns its place among those found; -1 if there are
// too many of its kind.
func (f *Fold) report(kind string, level trace.Level, at place, call, format string, args ...any) int {
	if f.of[kind] >= maxOfKind {
		f.more[kind]++
		return -1
	}
	f.of[kind]++
	f.found = append(f.found, trace.Anomaly{Kind: kind, Level: level, Step: at.step, Event: at.event, Call: call, Text: fmt.Sprintf(format, args...)})
	return len(f.found) - 1
}

// called begins a request. What belongs to earlier steps and is over is forgotten.
func (f *Fold) called(e *event.Event, d *event.ModelCalled) {
	f.step = d.Step
	if d.Purpose.Aside() {
		f.waits.began(d.ID, place{d.Step, e.Seq})
		return
	}
	f.reply, f.said, f.over = place{d.Step, e.Seq}, nil, place{}
	f.waits.began(d.ID, f.reply)
	f.cache.called(e.Time, d, f.reply)
	f.replies.bytes = d.Bytes
	kept := f.open[:0]
	for _, c := range f.open {
		if c.status == "" || c.status == event.StatusUnknown || c.status == event.StatusTimeout {
			kept = append(kept, c)
		} else {
			delete(f.calls, c.id)
		}
	}
	clear(f.open[len(kept):])
	f.open = kept
}

// answered takes a reply.
func (f *Fold) answered(e *event.Event, d *event.ModelAnswered) {
	f.waited(d.ID, d.Waited)
	at, ok := f.waits.answered(d)
	if !ok {
		return
	}
	f.usage(at, &d.Usage)
	if at != f.reply {
		return
	}
	f.said = d
	f.cost.add(at, &d.Usage)
	f.checkCache(e.Time, &d.Usage)
	f.checkPrompt(&d.Usage)
	f.checkLength(d)
}

// replied takes what was made of a reply: its calls, or the answer that it is.
func (f *Fold) replied(d *event.ReplyParsed) {
	clear(f.parsed)
	for i := range d.Calls {
		if len(f.parsed) < maxCalls {
			f.parsed[d.Calls[i].ID] = d.Calls[i].Args
		}
	}
	if f.said == nil || f.said.ID != d.ID {
		return
	}
	msg := parse.Assistant(&f.said.Message, d)
	text := msg.PlainText()
	if len(d.Calls) == 0 && len(d.Problems) == 0 && d.Repeats == 0 {
		f.answer(text)
	}
}

// answer looks at a text that hands something over.
func (f *Fold) answer(text string) {
	f.over = f.reply
	f.checkClaims(text)
	f.checkFiles(text)
	f.checkAmounts(text)
	f.checkUnread()
}

// finished looks at what a run ends with. An answer in words was looked at as a reply.
func (f *Fold) finished(d *event.RunFinished) {
	f.ended = true
	f.checkCut()
	if d.Reason == event.ReasonSubmitted {
		f.checkClaims(d.Answer)
		f.checkFiles(d.Answer + "\n" + string(d.Result))
		f.checkUnread()
	}
}

// judged begins a call.
func (f *Fold) judged(e *event.Event, d *event.CallJudged) {
	c := f.begin(d.Call, d.Tool, place{f.step, e.Seq})
	if c == nil {
		return
	}
	if c.args = d.Args; c.args == "" {
		c.args = f.parsed[d.Call]
	}
	c.hash = d.ArgsHash
	f.repeated(c, d)
	f.unread.judged(c)
}

// begin returns the record of a call, a new one if there is none; nil if too many are
// open.
func (f *Fold) begin(id, tool string, at place) *call {
	if c := f.calls[id]; c != nil {
		return c
	}
	t := f.tools.of(tool)
	if t == nil || len(f.open) >= maxCalls {
		return nil
	}
	c := &call{place: at, id: id, tool: t}
	f.calls[id] = c
	f.open = append(f.open, c)
	return c
}

// began notes that a call is executed.
func (f *Fold) began(e *event.Event, d *event.ToolStarted) {
	c := f.begin(d.Call, d.Tool, place{f.step, e.Seq})
	if c == nil {
		return
	}
	c.effect, c.ran, c.status = d.Effect, true, ""
	if c.hash == (event.Hash{}) {
		c.hash = d.ArgsHash
	}
	if d.For != "" || d.Undoes != "" {
		return
	}
	if c.once() {
		c.missing = f.grounds.missing(c.args)
	}
}

// result takes what came of a call. The last one counts: a call may be executed again,
// and what became of it may be found out later.
func (f *Fold) result(e *event.Event, d *event.ToolFinished) {
	f.grounds.parts(d.Parts)
	c := f.calls[d.Call]
	if c == nil {
		if d.ID != "" || d.Undoes == "" {
			return
		}
		if c = f.begin(d.Call, d.Tool, place{f.step, e.Seq}); c == nil {
			return
		}
	}
	c.status = d.Status
	switch {
	case d.Undoes != "":
		f.undone(d)
		return
	case d.For != "":
		return
	}
	f.repeats.result(c, d)
	if d.ID != "" {
		c.tool.add(c, d)
		f.checkSize(c, d)
		f.waits.tool(c, d)
	}
	f.files.result(c, d)
	if d.Status != event.StatusSuccess || c.counted || !c.ran {
		return
	}
	c.counted = true
	f.unread.result(c, d)
	if c.writes() {
		c.tool.done++
		f.touched.text(c.args)
		f.touched.parts(d.Parts)
		f.acted(c)
		f.repeats.forget()
	}
}

// undone takes back what a call did: what is known of such acts does not hold any more.
func (f *Fold) undone(d *event.ToolFinished) {
	if d.Status != event.StatusSuccess {
		return
	}
	f.acts.forget(d.Tool)
	f.repeats.forget()
	if spec := f.tools.spec(d.Tool); spec != nil {
		f.files.rules.Add(d, spec)
	}
}

// input takes a message from outside.
func (f *Fold) input(e *event.Event, d *event.InputReceived) {
	f.grounds.parts(d.Parts)
	f.waits.resumed(e.Time, f.reply)
	if d.Kind == event.InputText {
		f.repeats.forget()
		f.over = place{}
		if d.Full != nil {
			f.grounds.blind = true
		}
	}
}

// resumed notes a new beginning.
func (f *Fold) resumed(e *event.Event, d *event.RunResumed) {
	if d.Fork != "" {
		f.waits.since = 0 // nobody has waited for the fork; what is open is asked anew
	}
	f.waits.resumed(e.Time, f.reply)
	if len(d.Changed) > 0 {
		f.cache.why("the definitions of " + number(int64(len(d.Changed))) + " tools have changed")
	}
	if d.Models != nil && f.spec != nil {
		f.spec = f.spec.With(d.Models)
		if a := d.Models.Agent; a != nil {
			f.tools.takenOver(a.Tools)
			for i := range a.System {
				f.grounds.text(a.System[i].Text)
			}
		}
	}
	// What was under way has no outcome, and nobody will give it one.
	for _, c := range f.open {
		if c.ran && c.status == "" && c.writes() {
			c.status = event.StatusUnknown
		}
	}
}

// approved ends the wait for a person.
func (f *Fold) approved(e *event.Event, d *event.ApprovalGiven) {
	c := f.calls[d.Call]
	if c == nil {
		return
	}
	if c.asked > 0 && e.Time > c.asked {
		f.waits.person.add(e.Time-c.asked, c.place, c.id)
	}
	c.asked = 0
	if d.Decision == event.Done || d.Decision == event.NotDone {
		c.status = event.StatusSuccess // it is known what became of it
	}
}

// noticed takes what the harness has told the model.
func (f *Fold) noticed(d *event.NoticeAdded) {
	f.grounds.text(d.Text)
	if d.Call == "" && f.over != (place{}) {
		f.sentBack()
	}
	if c := f.calls[d.Call]; c != nil && d.Kind == event.NoticeTruncation && !c.tool.cuts {
		c.tool.cuts = true
		f.report(Truncation, trace.Warning, c.place, c.id, "%s", cmp.Or(d.Text, "the model was told that "+c.tool.name+" seems to cut its results"))
	}
}

// sentBack notes that the harness did not take the answer for an end: what it claims
// wrongly has done no harm then.
func (f *Fold) sentBack() {
	for i := len(f.found) - 1; i >= 0 && f.found[i].Event == f.over.event; i-- {
		if a := &f.found[i]; a.Level == trace.Warning && (a.Kind == ClaimWithoutCall || a.Kind == FileNotWritten) {
			a.Level = trace.Notice
			a.Text += "; the harness has sent it back"
		}
	}
	f.over = place{}
}

// text returns the texts of parts, and whether that is all of them.
func text(parts []message.Part) (string, bool) {
	whole, s := true, ""
	for i := range parts {
		p := &parts[i]
		whole = whole && p.Ref == nil && p.Kind == message.Text
		if s == "" {
			s = p.Text
		} else if p.Text != "" {
			s += "\n" + p.Text
		}
	}
	return s, whole
}
