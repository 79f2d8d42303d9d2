package rehearsal

import (
	"strings"

	"rein.example/rein/loop"
	"rein.example/rein/message"
)

// checkpoints is how often, in equal distances, it is looked which of the facts
// that were said stand in the context.
const checkpoints = 10

// watch looks at what the model is shown.
type watch struct {
	s     *Script
	calls int // of the whole script
	done  int // requests so far

	// said are the messages of users so far, spoken how many messages of all.
	said   []string
	spoken int
	epoch  int64
	looked bool

	violations                   int
	users, shortened, usersGone  int // messages of users in all looks, and those shortened or missing
	constraints, constraintsGone int
	checks                       int
	alive                        float64 // sum over checks of the part that is alive
}

// say notes that a message of the script has been said.
func (w *watch) say(m *message.Message) {
	if m.Role == message.User {
		w.said = append(w.said, m.PlainText())
	}
	w.spoken++
}

// request looks at the request of a step.
func (w *watch) request(c *loop.CallModel) {
	w.done++
	if paired := message.Pair(c.Messages); len(paired) != len(c.Messages) || len(paired) > 0 && &paired[0] != &c.Messages[0] {
		w.violations++
	}
	rewritten := !w.looked || w.epoch != c.Epoch
	w.looked, w.epoch = true, c.Epoch
	last := w.done == w.calls
	if rewritten || last {
		w.inputs(c)
		w.declared(c)
	}
	if last || w.done*checkpoints/w.calls != (w.done-1)*checkpoints/w.calls {
		if known := w.known(); len(known) > 0 {
			texts := textsOf(c)
			alive := 0
			for _, f := range known {
				if texts.hold(f.Text) {
					alive++
				}
			}
			w.checks++
			w.alive += float64(alive) / float64(len(known))
		}
	}
}

// known returns the facts that were said so far.
func (w *watch) known() []Fact {
	n := 0
	for n < len(w.s.Facts) && w.s.Facts[n].Message < w.spoken {
		n++
	}
	return w.s.Facts[:n]
}

// inputs looks for what users have said: whole, or shortened in a way that says so.
func (w *watch) inputs(c *loop.CallModel) {
	next := 0
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Role != message.User {
			continue
		}
		text := m.PlainText()
		for k := next; k < len(w.said); k++ {
			if whole := text == w.said[k]; whole || shortened(text, w.said[k]) {
				if !whole {
					w.shortened++
				}
				w.usersGone += k - next
				next = k + 1
				break
			}
		}
	}
	w.usersGone += len(w.said) - next
	w.users += len(w.said)
}

// remark begins what Rein puts into the words of others.
const remark = "[rein:"

// shortened reports whether text is what is left of a longer one: it says so, begins
// or ends as that does, and has nothing else but lines of it.
func shortened(text, of string) bool {
	if len(text) >= len(of) || !strings.Contains(text, remark) {
		return false
	}
	of = strings.TrimSpace(of)
	ends := false
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		switch listed := strings.TrimPrefix(line, "- "); {
		case line == "" || strings.HasPrefix(line, remark):
		case strings.HasPrefix(of, line) || strings.HasSuffix(of, line):
			ends = true
		case !strings.Contains(of, line) && !strings.Contains(of, listed):
			return false
		}
	}
	return ends
}

// declared looks for the constraints that were declared so far.
func (w *watch) declared(c *loop.CallModel) {
	texts := textsOf(c)
	for _, f := range w.s.Constraints {
		if f.Message < w.spoken {
			w.constraints++
			if !texts.hold(f.Text) {
				w.constraintsGone++
			}
		}
	}
}

// texts are all that a request says.
type texts []string

func textsOf(c *loop.CallModel) texts {
	var out texts
	add := func(msgs []message.Message) {
		for i := range msgs {
			for k := range msgs[i].Parts {
				out = append(out, msgs[i].Parts[k].Text, msgs[i].Parts[k].Args)
			}
		}
	}
	add(c.System)
	add(c.Messages)
	if c.Tail != nil {
		add([]message.Message{*c.Tail})
	}
	return out
}

// hold reports whether one of them has s in it.
func (t texts) hold(s string) bool {
	for _, text := range t {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}
