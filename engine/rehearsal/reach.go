package rehearsal

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/tool"
	"rein.example/rein/toolkit/artifact"
)

// finish looks for the facts after the last request.
func (w *watch) finish(r *Report, last *loop.CallModel, m *loop.Machine) {
	r.PairViolations = w.violations
	r.Users, r.UsersShort, r.UsersGone = w.users, w.shortened, w.usersGone
	r.Constraints, r.ConstraintsGone = w.constraints, w.constraintsGone
	if w.checks > 0 {
		r.mean = w.alive / float64(w.checks)
	}
	if last == nil {
		return
	}
	known := w.known()
	r.Facts = len(known)
	shown := textsOf(last)
	var said []tool.Said
	for _, f := range known {
		if shown.hold(f.Text) {
			r.FactsAlive++
			r.FactsReachable++
			continue
		}
		r.Lost = append(r.Lost, f)
		if said == nil {
			said = saidIn(m)
		}
		if shown.hold(tool.SearchHistory) && offers(last, tool.SearchHistory) && searched(said, f.Text) || paged(m, last, f.Text) {
			r.FactsReachable++
		}
	}
}

// saidIn returns what search_history is given.
func saidIn(m *loop.Machine) []tool.Said {
	h := m.History()
	out := make([]tool.Said, 0, h.Len())
	for i := range h.Len() {
		s := h.At(i)
		said := tool.Said{Number: s.Number, Role: s.Message.Role, Text: s.Message.PlainText()}
		for k := range s.Message.Parts {
			if p := &s.Message.Parts[k]; p.Kind == message.ToolCall {
				said.Text += "\n" + p.Name + " " + p.Args
			}
		}
		if s.Done != nil {
			said.Call, said.Tool = s.Done.Call, s.Done.Tool
		}
		out = append(out, said)
	}
	return out
}

// offers reports whether a request offers a tool.
func offers(c *loop.CallModel, name string) bool {
	if c.NoTools {
		return false
	}
	for i := range c.Tools {
		if c.Tools[i].Name == name {
			return true
		}
	}
	return false
}

// searched reports whether search_history finds a text: the real tool is called.
func searched(said []tool.Said, text string) bool {
	args, err := json.Marshal(map[string]string{"search": text})
	if err != nil {
		return false
	}
	call := &tool.Call{Args: args, History: func(context.Context) ([]tool.Said, error) { return said, nil }}
	r, err := artifact.History().Run(context.Background(), call)
	if err != nil {
		return false
	}
	for i := range r.Parts {
		// What is asked for stands in the first line whether it is found or not.
		_, found, _ := strings.Cut(r.Parts[i].Text, "\n")
		if strings.Contains(found, text) {
			return true
		}
	}
	return false
}

// paged reports whether a text stands in a result of which the request says with
// which call of read_artifact it can be read.
func paged(m *loop.Machine, c *loop.CallModel, text string) bool {
	if !offers(c, tool.ReadArtifact) {
		return false
	}
	for _, d := range m.Results() {
		if !holds(d, text) {
			continue
		}
		for _, t := range textsOf(c) {
			if strings.Contains(t, tool.ReadArtifact) && strings.Contains(t, d.Call) {
				return true
			}
		}
	}
	return false
}

func holds(d *event.ToolFinished, text string) bool {
	for i := range d.Parts {
		if strings.Contains(d.Parts[i].Text, text) {
			return true
		}
	}
	return false
}
