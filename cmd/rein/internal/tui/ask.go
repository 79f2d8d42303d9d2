package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/engine"
	"rein.example/rein/event"
)

// question is one that waits for an answer; the first of the list is shown.
type question struct {
	id    int
	q     engine.Question
	text  string   // the arguments, printable
	lines []string // the same for that many columns
	width int
	armed bool
	from  int // the first line shown
}

// ask puts a question. Whoever has pressed Ctrl-C leaves it open.
func (m *Model) ask(a *Ask) {
	if m.presses > 0 {
		m.do(Answer{ID: a.ID, Later: true})
		return
	}
	args := jsontext.Value(append([]byte(nil), a.Question.Args...))
	if args.Indent(jsontext.WithIndent("  ")) != nil {
		args = a.Question.Args
	}
	m.asks = append(m.asks, question{id: a.ID, q: a.Question, text: printable(string(args))})
	if len(m.asks) == 1 {
		m.arm()
	}
}

// arm lets the first question be answered in a moment.
func (m *Model) arm() {
	if len(m.asks) > 0 {
		m.asks[0].armed = false
		m.do(After{armTime, armed{m.asks[0].id}})
	}
}

// settle takes the question with that id off the list.
func (m *Model) settle(id int) {
	for i := range m.asks {
		if m.asks[i].id == id {
			m.asks = append(m.asks[:i:i], m.asks[i+1:]...)
			if i == 0 {
				m.why = nil
				m.arm()
			}
			return
		}
	}
}

// answer answers the first question.
func (m *Model) answer(d event.Decision, why string) {
	q := &m.asks[0]
	m.do(Answer{ID: q.id, Answer: engine.Answer{Decision: d, By: "terminal", Why: why}})
	m.settle(q.id)
}

// later leaves all questions open.
func (m *Model) later() {
	for _, q := range m.asks {
		m.do(Answer{ID: q.id, Later: true})
	}
	m.asks, m.why = nil, nil
}

// askedKey takes a key while a question is open.
func (m *Model) askedKey(k tea.Key) {
	q := &m.asks[0]
	if m.why != nil {
		m.whyKey(k)
		return
	}
	page := max(1, m.height/3)
	switch key := k.Keystroke(); key {
	case "up":
		q.from--
	case "down":
		q.from++
	case "pgup":
		q.from -= page
	case "pgdown", "space":
		q.from += page
	case "home":
		q.from = 0
	case "end":
		q.from = len(q.text)
	default:
		if q.armed {
			m.decide(q, strings.ToLower(key))
		}
	}
	q.from = max(0, q.from) // the frame knows the end
}

func (m *Model) decide(q *question, key string) {
	switch {
	case key == "l":
		m.do(Answer{ID: q.id, Later: true})
		m.settle(q.id)
	case q.q.Settle && key == "d":
		m.answer(event.Done, "")
	case q.q.Settle && key == "n":
		m.answer(event.NotDone, "")
	case !q.q.Settle && key == "y":
		m.answer(event.Approved, "")
	case !q.q.Settle && key == "n":
		m.why = &editor{single: true}
	}
}

// whyKey takes a key while it is typed why not.
func (m *Model) whyKey(k tea.Key) {
	switch k.Keystroke() {
	case "enter":
		m.answer(event.Rejected, strings.TrimSpace(m.why.string()))
	case "esc":
		m.why = nil
	default:
		m.why.key(k)
	}
}

// askLines shows the first question in at most that many lines.
func (m *Model) askLines(rows int) []string {
	q := &m.asks[0]
	title := "approval needed: " + q.q.Tool
	if q.q.Settle {
		title = "was this done? " + q.q.Tool
	}
	top := m.paintAll(warn, m.wrapped("", title))
	if len(m.asks) > 1 {
		top[len(top)-1] += m.paint(faint, fmt.Sprintf(" (1 of %d)", len(m.asks)))
	}
	if q.q.Settle {
		top = append(top, m.wrapped("", "it was begun, and nobody knows whether it took effect")...)
	}
	if q.q.Why != "" {
		top = append(top, m.wrapped("", q.q.Why)...)
	}
	bottom := m.keysLines(q)
	if q.width != m.width {
		q.lines, q.width = split(q.text, m.width-2, false), m.width
	}
	args := q.lines
	room := rows - len(top) - len(bottom)
	if room < len(args)+1 && room < 4 { // the arguments matter more than all else
		top = top[:1]
		room = rows - len(top) - len(bottom)
	}
	room = max(room, 2)
	if len(args) > room {
		room--
		q.from = min(q.from, len(args)-room)
		more := fmt.Sprintf("lines %d-%d of %d, %d bytes; up, down", q.from+1, q.from+room, len(args), len(q.q.Args))
		args = args[q.from : q.from+room]
		bottom = append([]string{m.paint(faint, clip(more, m.width))}, bottom...)
	} else {
		q.from = 0
	}
	for _, a := range args {
		top = append(top, "  "+a)
	}
	return append(top, bottom...)
}

func (m *Model) keysLines(q *question) []string {
	switch {
	case m.why != nil:
		lines := m.why.lines("why not: ", m.width, 2)
		return append(lines, m.paint(faint, clip("Enter rejects (a reason is optional), Esc goes back", m.width)))
	case q.q.Settle:
		return m.paintAll(strong, m.wrapped("", "was it done? [d]one [n]ot done [l]ater"))
	}
	return m.paintAll(strong, m.wrapped("", "may it run? [y]es [n]o [l]ater"))
}
