package tui

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/toolkit/ask"
)

// question is one that waits for an answer; the first of the list is shown.
type question struct {
	id    int
	q     engine.Question
	text  string   // the arguments, printable
	lines []string // the same for that many columns
	width int
	armed bool
	from  int  // the first line shown
	read  bool // the end of the arguments was on the screen
}

// ask puts a question. Whoever has pressed Ctrl-C leaves it open.
func (m *Model) ask(a *Ask) {
	if m.presses > 0 {
		m.do(Answer{ID: a.ID, Later: true})
		return
	}
	m.asks = append(m.asks, question{id: a.ID, q: a.Question, text: printable(shownText(&a.Question))})
	if len(m.asks) == 1 {
		m.arm()
	}
}

// shownText is what a question is about: what will run, or what the model asks.
func shownText(q *engine.Question) string {
	if q.Words {
		return ask.Text(q.Args)
	}
	return Arguments(q.Args)
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

// reply answers the first question in words.
func (m *Model) reply(text string) {
	if text == "" {
		return // which is no answer; Esc goes back
	}
	m.do(Answer{ID: m.asks[0].id, Answer: engine.Answer{Text: text, By: "terminal"}})
	m.settle(m.asks[0].id)
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
	if len(m.asks) > 0 && &m.asks[0] == q {
		q.from = max(0, q.from)
		m.askFrame() // knows the end
	}
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
	case q.q.Words && key == "a":
		m.why = &editor{single: true}
	case q.q.Words && key == "n":
		m.answer(event.Rejected, "")
	case q.q.Words:
	case !q.q.Settle && key == "y":
		if _, seen := m.askFrame(); !seen {
			return // the key line says what to do
		}
		m.answer(event.Approved, "")
	case !q.q.Settle && key == "n":
		m.why = &editor{single: true}
	}
}

// whyKey takes a key while it is typed why not.
func (m *Model) whyKey(k tea.Key) {
	switch k.Keystroke() {
	case "enter":
		if m.asks[0].q.Words {
			m.reply(strings.TrimSpace(m.why.string()))
			return
		}
		m.answer(event.Rejected, strings.TrimSpace(m.why.string()))
	case "esc":
		m.why = nil
	default:
		m.why.key(k)
	}
}

// layouts are the ways to show a question, best first: each leaves out more for
// the arguments, and is taken if at least so many lines of them fit.
var layouts = [...]struct {
	status, hint, why, title, position bool
	least                              int
}{
	{status: true, hint: true, why: true, title: true, position: true, least: 4},
	{status: true, hint: true, title: true, position: true, least: 4},
	{hint: true, title: true, position: true, least: 3},
	{title: true, position: true, least: 2},
	{least: 1},
}

// askFrame returns the picture of the first question, and whether it may be
// answered with yes: the tool's name is on the screen, and the arguments are, or
// were to their end.
func (m *Model) askFrame() (lines []string, seen bool) {
	q := &m.asks[0]
	rows := max(m.height-1, 2)
	if q.width != m.width {
		q.lines, q.width, q.read = split(q.text, m.width-2, false), m.width, false
	}
	for _, l := range layouts {
		var foot []string
		if l.status {
			foot = m.paintAll(faint, m.status())
		}
		if hint := m.hintLine(); l.hint && hint != "" {
			foot = append(foot, m.paint(faint, hint))
		}
		top := m.askTop(q, l.title, l.why)
		// The key line depends on whether all fits, and that on the key line.
		keys := m.keysLines(q, false, l.title)
		room := rows - len(top) - len(foot) - len(keys)
		fits := len(q.lines) <= room
		if !fits {
			if !q.read {
				keys = m.keysLines(q, true, l.title)
			}
			room = rows - len(top) - len(foot) - len(keys)
			if l.position {
				room--
			}
		}
		if room < min(l.least, len(q.lines)) {
			continue
		}
		if fits {
			room, q.from = len(q.lines), 0
		}
		room = min(room, len(q.lines))
		q.from = max(0, min(q.from, len(q.lines)-room))
		if q.from+room == len(q.lines) && !q.read {
			q.read = true
			if !fits {
				return m.askFrame() // with the keys that count now
			}
		}
		for _, a := range q.lines[q.from : q.from+room] {
			top = append(top, "  "+a)
		}
		if !fits && l.position {
			more := fmt.Sprintf("lines %d-%d of %d, %d bytes; up, down", q.from+1, q.from+room, len(q.lines), len(q.q.Args))
			top = append(top, m.paint(faint, clip(more, m.width)))
		}
		return append(append(top, keys...), foot...), q.read
	}
	top := m.askTop(q, false, false)
	keys := m.keysLines(q, false, false)
	if m.why == nil && !q.q.Settle && !q.q.Words {
		keys = m.paintAll(strong, m.wrapped("", "make the window larger, or answer later: [n]o [l]ater"))
	}
	lines = append(top, keys...)
	return lines[max(0, len(lines)-rows):], false
}

// askTop says what is asked, or only about which tool.
func (m *Model) askTop(q *question, title, why bool) []string {
	text := q.q.Tool
	switch {
	case title && q.q.Settle:
		text = "was this done? " + text
	case title && q.q.Words:
		text = "the model asks:"
	case title:
		text = "approval needed: " + text
	}
	if n := len(m.asks) + m.asks[len(m.asks)-1].q.More; title && n > 1 {
		text += fmt.Sprintf(" (1 of %d)", n)
	}
	top := m.paintAll(warn, m.wrapped("", text))
	if why && q.q.Settle {
		top = append(top, m.wrapped("", "it was begun, and nobody knows whether it took effect")...)
	}
	if why && q.q.Why != "" {
		top = append(top, m.wrapped("", q.q.Why)...)
	}
	return top
}

// keysLines says which keys answer; unread, if yes does not yet.
func (m *Model) keysLines(q *question, unread, long bool) []string {
	var text string
	switch {
	case m.why != nil && q.q.Words:
		lines := m.why.lines("answer: ", m.width, 2)
		return append(lines, m.paint(faint, clip("Enter gives the answer, Esc goes back", m.width)))
	case q.q.Words:
		text = "[a]nswer [n]o answer [l]ater"
	case m.why != nil:
		lines := m.why.lines("why not: ", m.width, 2)
		return append(lines, m.paint(faint, clip("Enter rejects (a reason is optional), Esc goes back", m.width)))
	case q.q.Settle:
		text = "[d]one [n]ot done [l]ater"
		if long {
			text = "was it done? " + text
		}
	case unread && long:
		text = "scroll to the end first: ↓ [n]o [l]ater"
	case unread:
		text = "to the end first: ↓ [n]o [l]ater"
	case long:
		text = "may it run? [y]es [n]o [l]ater"
	default:
		text = "[y]es [n]o [l]ater"
	}
	return m.paintAll(strong, m.wrapped("", text))
}

// short is the most bytes of an argument that is shown before longer ones.
const short = 120

// Arguments returns a call's arguments for a person to read: indented, the short
// ones first, so that a path is seen before what is written there. Their order
// means nothing to a tool. What is no JSON object is returned as it is.
func Arguments(args jsontext.Value) string {
	d := jsontext.NewDecoder(bytes.NewReader(args))
	var first, last [][]byte
	if t, err := d.ReadToken(); err == nil && t.Kind() == '{' {
		for d.PeekKind() == '"' {
			name, err := d.ReadValue()
			if err != nil {
				return string(args)
			}
			member := append(bytes.Clone(name), ':')
			value, err := d.ReadValue()
			if err != nil {
				return string(args)
			}
			member = append(member, value...)
			if len(value) <= short {
				first = append(first, member)
			} else {
				last = append(last, member)
			}
		}
		if t, err := d.ReadToken(); err != nil || t.Kind() != '}' {
			return string(args)
		}
		if _, err := d.ReadToken(); err != io.EOF {
			return string(args)
		}
		args = slices.Concat([]byte("{"), bytes.Join(append(first, last...), []byte(",")), []byte("}"))
	} else {
		args = bytes.Clone(args)
	}
	plain := string(args)
	if args.Indent(jsontext.WithIndent("  ")) != nil {
		return plain
	}
	return string(args)
}
