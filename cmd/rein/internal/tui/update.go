package tui

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// Step takes one message and returns what is to be done, in order.
func (m *Model) Step(message any) []Act {
	m.acts = nil
	switch msg := message.(type) {
	case Event:
		m.event(&msg.Event)
	case Past:
		m.apply(&msg.Event)
	case Delta:
		m.delta(&msg)
	case Tick:
		m.now = msg.At
	case Began:
		if msg.Run != m.run {
			m.run, m.fold, m.fill, m.budget = msg.Run, nil, 0, 0
		}
		m.working, m.begun, m.now = true, msg.At, msg.At
		m.presses, m.hint = 0, ""
	case Ended:
		m.flush()
		m.later()
		m.working, m.presses, m.hint = false, 0, ""
	case Ask:
		m.ask(&msg)
	case Withdraw:
		m.settle(msg.ID)
	case armed:
		if len(m.asks) > 0 && m.asks[0].id == msg.id {
			m.asks[0].armed = true
		}
	case Line:
		m.print(m.outside(msg.Text)...)
	case Close:
		m.flush()
		m.later()
		m.quitting = true
		m.do(Quit{})
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, least), max(msg.Height, 1)
	case tea.KeyPressMsg:
		m.key(tea.Key(msg))
	case tea.PasteMsg:
		m.paste(msg.Content)
	}
	return m.acts
}

func (m *Model) key(k tea.Key) {
	if m.quitting {
		return
	}
	switch key := k.Keystroke(); {
	case key == "ctrl+c":
		m.interrupt()
		return
	case key == "ctrl+z":
		m.do(Suspend{})
		return
	case len(m.asks) > 0:
		m.askedKey(k)
		return
	case !m.o.Chat:
		return
	}
	m.leaving = false
	if !m.working {
		m.hint = ""
	}
	switch k.Keystroke() {
	case "enter":
		m.enter()
	case "alt+enter", "shift+enter", "ctrl+j":
		m.editor.insert("\n")
	case "ctrl+d":
		if len(m.editor.text) > 0 {
			m.editor.key(k)
		} else {
			m.do(Leave{})
		}
	default:
		m.editor.key(k)
	}
}

func (m *Model) paste(s string) {
	switch {
	case m.quitting, len(m.asks) > 0 && m.why == nil:
		// A paste answers no question.
	case m.why != nil:
		m.why.insert(s)
	case m.o.Chat:
		m.editor.insert(s)
	}
}

// interrupt takes Ctrl-C.
func (m *Model) interrupt() {
	switch {
	case m.working:
		m.presses++
		m.hint = "pausing after this step; Ctrl-C again stops at once"
		if m.presses > 1 {
			m.hint = "stopping"
		}
		m.do(Interrupt{})
		// Whoever wants to pause has no answer to give. The run learns of the pause
		// first: it may end when its questions are left open.
		m.later()
	case !m.o.Chat:
		m.do(Interrupt{})
	case len(m.editor.text) > 0:
		m.editor.take()
	case m.leaving:
		m.do(Leave{})
	default:
		m.leaving = true
		m.hint = "Ctrl-C again, Ctrl-D or /quit leaves"
	}
}

// enter takes what was typed, unless its last line goes on.
func (m *Model) enter() {
	e := &m.editor
	if e.at == len(e.text) && strings.HasSuffix(e.string(), `\`) {
		e.text[len(e.text)-1] = '\n'
		return
	}
	if strings.TrimSpace(e.string()) == "" {
		return
	}
	text := e.take()
	lines := m.wrapped("", text)
	for i := range lines {
		mark := "> "
		if i > 0 {
			mark = "  "
		}
		lines[i] = m.paint(strong, mark+lines[i])
	}
	m.print(lines...)
	m.do(Input{text})
}

// outside returns a line of Rein's own as lines of the view's width.
func (m *Model) outside(text string) []string {
	text = printableLine(strings.TrimRight(text, "\n"))
	if !strings.Contains(text, "\x1b") {
		return split(text, m.width, true)
	}
	// Wrapping would have to know of colours; a terminal wraps it by itself, and
	// what is left out of the count of its lines is redrawn.
	if utf8.RuneCountInString(text) <= m.width {
		return []string{text}
	}
	return split(printable(uncolored(text)), m.width, true)
}

// uncolored returns a text that printableLine gave without its colours.
func uncolored(s string) string {
	var out strings.Builder
	for {
		before, after, ok := strings.Cut(s, "\x1b[")
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		_, s, _ = strings.Cut(after, "m")
	}
}
