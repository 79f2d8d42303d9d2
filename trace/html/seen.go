package html

import (
	"crypto/sha256"
	"fmt"
	"html/template"
	"iter"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// sawView is what the model saw in a request.
type sawView struct {
	// Unknown says why it is not shown, where it is not.
	Unknown template.HTML

	System    []*messageView
	SystemAt  string // the step where they stand, if they have not changed
	SystemOf  int    // how many there are
	Tools     []toolView
	ToolsAt   string
	ToolsOf   int
	ToolNames template.HTML
	Dialect   template.HTML
	// Older counts the messages that stood in requests before.
	Older int
	// Rewritten: the context was rewritten, so that they may stand elsewhere in it.
	Rewritten bool
	Messages  []*messageView
	Tail      *messageView

	Raw       *block
	Bytes     string
	Hash      string
	Since     int64 // the step whose request the body begins with
	SinceAt   string
	SameBytes string // how many bytes of it
	Exact     bool
	Problem   template.HTML
}

type messageView struct {
	Role   template.HTML
	Class  string // of the role
	About  template.HTML
	Failed bool
	Parts  []partView
}

type partView struct {
	Label template.HTML
	Text  *block
	// Fold it: it is what a model thought.
	Fold bool
}

type toolView struct {
	Name, Effect template.HTML
	Text, Schema *block
}

// seen is what the requests so far have shown, so that nothing is shown twice.
type seen struct {
	next  func() (*Request, error, bool)
	stop  func()
	ahead *Request
	// messages are those that have been in a request; looked up only.
	messages map[[16]byte]bool
	system   [16]byte
	systemAt string
	tools    [16]byte
	toolsAt  string
	// steps has the step of each request; looked up only.
	steps map[int64]int64
}

func (s *seen) begin(requests iter.Seq2[*Request, error]) {
	s.messages, s.steps = map[[16]byte]bool{}, map[int64]int64{}
	if requests == nil {
		return
	}
	s.next, s.stop = iter.Pull2(requests)
}

func (s *seen) end() {
	if s.stop != nil {
		s.stop()
	}
}

// request returns the one of that sequence; nil if there is none.
func (s *seen) request(seq int64) (*Request, error) {
	for s.next != nil && (s.ahead == nil || s.ahead.Seq < seq) {
		r, err, ok := s.next()
		if err != nil || !ok {
			s.next, s.ahead = nil, nil
			return nil, err
		}
		s.ahead = r
	}
	if s.ahead != nil && s.ahead.Seq == seq {
		return s.ahead, nil
	}
	return nil, nil
}

// saw shows a request.
func (w *writer) saw(e *event.Event, d *event.ModelCalled) *sawView {
	v := &sawView{Bytes: plural(d.Bytes, "byte"), Hash: d.SHA256.String()}
	if d.SHA256 == (event.Hash{}) {
		v.Bytes, v.Hash = "its size is "+unknown, unknown
	}
	w.seen.steps[e.Seq] = d.Step
	if w.f.run.Requests == nil {
		v.Unknown = "What the model saw was not asked for when this page was made."
		return v
	}
	r, err := w.seen.request(e.Seq)
	switch {
	case err != nil:
		v.Unknown = line("What the model saw from here on cannot be shown: " + err.Error())
		w.lacks(fmt.Sprintf("what the model saw in run %s, from step %d on: %v", w.f.run.ID, d.Step, err))
		return v
	case r == nil:
		v.Unknown = "What the model saw here is not known."
		return v
	case r.Unseen != "":
		v.Unknown = line("What the model saw here cannot be shown: " + r.Unseen)
		w.lacks(fmt.Sprintf("what the model saw in run %s at step %d: %s", w.f.run.ID, d.Step, r.Unseen))
		return v
	}
	v.Dialect = line(r.Dialect)
	w.system(v, r)
	w.tools(v, r)
	w.messages(v, r)
	if r.Tail != nil {
		v.Tail = w.message(r.Tail)
	}
	w.raw(v, r)
	return v
}

// system shows the instructions, once for as long as they stay the same.
func (w *writer) system(v *sawView, r *Request) {
	h := sha256.New()
	for i := range r.System {
		k := key(&r.System[i])
		h.Write(k[:])
	}
	now := [16]byte(h.Sum(nil)[:16])
	v.SystemOf = len(r.System)
	if now == w.seen.system && w.seen.systemAt != "" {
		v.SystemAt = w.seen.systemAt
		return
	}
	w.seen.system, w.seen.systemAt = now, w.step.ID
	for i := range r.System {
		v.System = append(v.System, w.message(&r.System[i]))
	}
}

// tools shows the tools that were offered, once for as long as they stay the same.
func (w *writer) tools(v *sawView, r *Request) {
	v.ToolsOf = len(r.Tools)
	h := sha256.New()
	var names []string
	for i := range r.Tools {
		t := &r.Tools[i]
		fmt.Fprintf(h, "%q %q %q ", t.Name, t.Description, t.Schema)
		names = append(names, t.Name)
	}
	v.ToolNames = line(strings.Join(names, ", "))
	now := [16]byte(h.Sum(nil)[:16])
	if len(names) == 0 || now == w.seen.tools {
		v.ToolsAt = w.seen.toolsAt
		return
	}
	w.seen.tools, w.seen.toolsAt = now, w.step.ID
	for i := range r.Tools {
		t := &r.Tools[i]
		v.Tools = append(v.Tools, toolView{line(t.Name), line(string(t.Effect)), w.text(t.Description), w.text(pretty(string(t.Schema)))})
	}
}

// messages shows those that no request before has had, and counts the others.
func (w *writer) messages(v *sawView, r *Request) {
	v.Older = r.Kept
	v.Rewritten = r.Kept == 0 && len(w.seen.messages) > 0
	for i := range r.Messages {
		m := &r.Messages[i]
		k := key(m)
		if w.seen.messages[k] {
			v.Older++
			continue
		}
		w.seen.messages[k] = true
		v.Messages = append(v.Messages, w.message(m))
	}
}

// key tells messages apart.
func key(m *message.Message) [16]byte {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %v ", m.Role, m.ToolCallID, m.Failed)
	for i := range m.Parts {
		p := &m.Parts[i]
		fmt.Fprintf(h, "%q %q %q %d ", p.Kind, p.ID, p.Name, len(p.Text))
		h.Write([]byte(p.Text))
		h.Write([]byte(p.Args))
		h.Write([]byte(p.URL))
	}
	return [16]byte(h.Sum(nil)[:16])
}

// roles are the classes of roles; looked up only.
var roles = map[message.Role]string{message.System: "system", message.User: "user", message.Assistant: "assistant", message.Tool: "tool"}

// message shows a message. A text that stands on the page already is shown short.
func (w *writer) message(m *message.Message) *messageView {
	v := &messageView{Role: line(string(m.Role)), Class: roles[m.Role], Failed: m.Failed}
	if m.Role == message.Tool {
		v.About = line(m.ToolName + " (" + m.ToolCallID + ")")
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		switch p.Kind {
		case message.Text:
			v.Parts = append(v.Parts, partView{Text: w.again(p.Text)})
		case message.Reasoning:
			if p.Text == "" {
				v.Parts = append(v.Parts, partView{Label: "reasoning that only its provider can read"})
			} else {
				v.Parts = append(v.Parts, partView{Label: "reasoning", Text: w.again(p.Text), Fold: true})
			}
		case message.ToolCall:
			v.Parts = append(v.Parts, partView{Label: line("calls " + p.Name + " (" + p.ID + ")"), Text: w.again(p.Args)})
		default:
			v.Parts = append(v.Parts, partView{Label: other(p)})
		}
	}
	return v
}

// raw shows the bytes of a request that the one before has not.
func (w *writer) raw(v *sawView, r *Request) {
	v.Exact, v.Problem = r.Exact, line(r.Problem)
	if r.Rest == nil && r.Same == 0 {
		return
	}
	v.Raw = w.text(string(r.Rest))
	if r.Same > 0 {
		v.SameBytes = plural(r.Same, "byte")
		v.Since = w.seen.steps[r.Since]
		v.SinceAt = w.f.anchor(v.Since)
	}
}
