package tui

import (
	"fmt"
	"strings"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
)

// step is the step that is going on.
type step struct {
	n       int64
	purpose event.Purpose
	model   string
	attempt int64
	items   []*item
	// text is the end of what has arrived of the reply, thought whether that is
	// reasoning, and reply the whole once it is there.
	text    string
	thought bool
	reply   string
	calling string // a call that the model is writing
	asked   bool   // a reply is awaited
	failed  bool   // the last call failed; class says how
	class   event.ErrorClass
	usage   *message.Usage
	latency int64
}

// item is something of a step: a call, a failure, a notice.
type item struct {
	tone tone
	text string // for a call "name arguments"
	// call is set for calls; outcome is what became of it so far.
	call, outcome string
	over          bool
	detail        string
	failed        bool // detail is an error
}

// keep is how much is kept of a reply that is arriving, in bytes.
const keep = 16 << 10

// apply folds an event into what no single one says.
func (m *Model) apply(e *event.Event) {
	if e.Seq == 1 {
		m.fold = loop.New(e.Run)
	}
	if m.fold == nil || e.Seq <= m.fold.Seq() {
		return
	}
	if m.fold.Apply(e) != nil {
		m.fold = nil
	}
	if d, ok := e.Data.(*event.ContextAssembled); ok {
		m.fill, m.budget = d.Tokens, d.Budget
	}
}

// event shows what has happened.
func (m *Model) event(e *event.Event) {
	m.apply(e)
	switch d := e.Data.(type) {
	case *event.ContextAssembled:
		m.flush()
		m.step.n, m.step.purpose = d.Step, d.Purpose
	case *event.ModelCalled:
		s := &m.step
		s.n, s.purpose, s.model, s.attempt, s.asked = d.Step, d.Purpose, d.Model, d.Attempt, true
		s.text, s.calling, s.failed = "", "", false
	case *event.ModelAnswered:
		s := &m.step
		if s.asked, s.calling, s.text = false, "", ""; !s.purpose.Aside() {
			s.reply = d.Message.PlainText() // that of an aside is the harness's own
		}
		s.usage, s.latency = &d.Usage, d.Latency
	case *event.ModelFailed:
		m.step.asked, m.step.text, m.step.calling = false, "", ""
		m.step.failed, m.step.class = true, d.Class
		m.add(&item{tone: bad, text: "failed: " + failure(d)})
	case *event.ReplyParsed:
		m.parsed(d)
	case *event.CallJudged:
		m.judged(d)
	case *event.ApprovalGiven:
		if c := m.call(d.Call); c != nil {
			c.tone, c.outcome = normal, decided(d)
		}
	case *event.ToolStarted:
		m.started(d)
	case *event.ToolFinished:
		m.finished(d)
	case *event.NoticeAdded:
		m.add(&item{tone: warn, text: "told the model: " + d.Text})
	case *event.ContextCompacted:
		m.flush()
		m.print(m.paintAll(faint, split(printable(Compacted(d)), m.width, true))...)
	case *event.RunPaused, *event.RunFinished:
		m.flush()
	}
}

// Compacted says in a line what a rewrite of the context has done.
func Compacted(d *event.ContextCompacted) string {
	s := fmt.Sprintf("context compacted: %s to %s tokens", grouped(d.Before), grouped(d.After))
	if d.Why != "" {
		s += ": " + d.Why
	}
	if n := len(d.Failed); n > 0 {
		s += "; a summary was not used: " + d.Failed[n-1]
	}
	return s
}

func (m *Model) parsed(d *event.ReplyParsed) {
	if m.step.purpose.Aside() {
		return
	}
	if d.Text != "" || len(d.Calls) > 0 && d.Format != "native" {
		m.step.reply = d.Text
	}
	for _, c := range d.Calls {
		m.add(&item{call: c.ID, text: c.Name + " " + head(c.Args, most), outcome: "asked for"})
	}
	if len(d.Problems) > 0 {
		m.add(&item{tone: warn, text: "not understood: " + strings.Join(d.Problems, "; ")})
	}
}

func (m *Model) judged(d *event.CallJudged) {
	c := m.call(d.Call)
	if c == nil {
		return
	}
	switch d.Verdict {
	case event.Allow:
		c.outcome = "allowed"
	case event.Ask:
		c.tone, c.outcome = warn, "waits for approval"
	default:
		c.tone, c.outcome, c.detail = warn, string(d.Verdict), d.Why
	}
	var kinds []string
	for _, r := range d.Repairs {
		kinds = append(kinds, r.Kind)
	}
	if len(kinds) > 0 {
		c.detail = "arguments repaired: " + strings.Join(kinds, ", ")
	}
}

func (m *Model) started(d *event.ToolStarted) {
	c := m.call(d.Call)
	if c == nil && d.For != "" {
		c = m.add(&item{call: d.Call, text: d.Tool + " (to find out what became of " + d.For + ")"})
	}
	if c == nil {
		return
	}
	if c.over, c.tone, c.outcome = false, normal, "running"; d.Attempt > 1 {
		c.outcome += fmt.Sprintf(", attempt %d", d.Attempt)
	}
}

func (m *Model) finished(d *event.ToolFinished) {
	c := m.call(d.Call)
	if c == nil {
		c = m.add(&item{call: d.Call, text: d.Tool})
	}
	c.over, c.tone, c.outcome = true, warn, string(d.Status)
	if d.Status == event.StatusSuccess {
		c.tone = normal
	}
	switch {
	case d.ErrorType != "":
		c.detail, c.failed = d.ErrorType+": "+d.ErrorMessage, true
	case c.failed: // it went well in the end
		c.detail, c.failed = "", false
	}
	if d.Latency > 0 {
		c.outcome += ", " + took(d.Latency)
	}
}

func decided(d *event.ApprovalGiven) string {
	s := map[event.Decision]string{event.Approved: "approved", event.Rejected: "rejected",
		event.Done: "was done", event.NotDone: "was not done"}[d.Decision]
	if s == "" {
		s = string(d.Decision)
	}
	return s
}

func failure(d *event.ModelFailed) string {
	s := string(d.Class)
	if d.Status > 0 {
		s += fmt.Sprintf(" (HTTP %d)", d.Status)
	}
	if d.Message != "" {
		s += ": " + d.Message
	}
	return s
}

func (m *Model) add(i *item) *item {
	m.step.items = append(m.step.items, i)
	return i
}

// call returns the item of a call, or nil.
func (m *Model) call(id string) *item {
	for _, i := range m.step.items {
		if i.call == id && id != "" {
			return i
		}
	}
	return nil
}

// delta takes a piece of the reply that is arriving.
func (m *Model) delta(d *Delta) {
	s := &m.step
	add := func(text string, thought bool) {
		if text == "" {
			return
		}
		if s.thought != thought {
			s.text, s.thought = "", thought
		}
		if s.text += text; len(s.text) > 2*keep {
			s.text = tail(s.text, keep)
		}
	}
	add(d.Reasoning, true)
	add(d.Text, false)
	if d.Call != "" {
		s.calling = d.Call
	}
}

// flush prints the step that is over and forgets it.
func (m *Model) flush() {
	m.print(m.stepLines()...)
	m.step = step{}
}

// wait returns how long the run waits until it calls the model again.
func (m *Model) wait() (time.Duration, bool) {
	if m.fold == nil || !m.step.failed || !m.working {
		return 0, false
	}
	cmds := m.fold.Next()
	if len(cmds) == 0 {
		return 0, false
	}
	// Any wait before it is for the run's own time limit.
	w, ok := cmds[len(cmds)-1].(*loop.Wait)
	if !ok {
		return 0, false
	}
	return max(0, time.UnixMilli(w.Until).Sub(m.now)), true
}

// took returns a duration in milliseconds for people.
func took(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case d < time.Second:
		return d.String()
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return clock(d)
}

// clock returns a duration in whole seconds: 5s, 1m05s, 2h03m.
func clock(d time.Duration) string {
	s := max(0, int64(d/time.Second))
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	}
	return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
}
