package tui

import (
	"fmt"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// Frame returns the picture: lines of at most the view's width, fewer than its
// height.
func (m *Model) Frame() string {
	if m.quitting {
		return ""
	}
	if len(m.asks) > 0 {
		lines, _ := m.askFrame()
		return strings.Join(lines, "\n")
	}
	rows := max(m.height-1, 2)
	var foot []string
	if m.o.Chat {
		foot = m.editor.lines("> ", m.width, max(1, rows/3))
	}
	if hint := m.hintLine(); hint != "" {
		foot = append(foot, m.paint(faint, hint))
	}
	if status := m.status(); len(status) > 0 && len(foot)+len(status)+2 <= rows {
		foot = append(m.paintAll(faint, status), foot...)
	}
	room := rows - len(foot)
	var body []string
	if m.working {
		body = m.stepFrame(room)
	}
	if len(body) > room {
		body = body[len(body)-max(room, 0):]
	}
	return strings.Join(append(body, foot...), "\n")
}

// hintLine says which keys mean something now.
func (m *Model) hintLine() string {
	hint := m.hint
	switch {
	case hint != "":
	case m.working && !m.o.Chat:
		hint = "Ctrl-C pauses after this step"
	case m.working:
		hint = "Ctrl-C pauses; what you type is taken at the next step"
	case m.o.Chat:
		hint = "Enter sends, Alt-Enter a new line, /help"
	}
	return clip(hint, m.width)
}

// status is how far the run is: tokens, cost, context, time.
func (m *Model) status() []string {
	var usage message.Usage
	var cost message.Count
	if m.fold != nil {
		s := m.fold.Status()
		usage, cost = s.Usage, s.Cost
	}
	in := count(usage.Input) + " in"
	if n, ok := usage.Cached.Get(); ok && n > 0 {
		in += " (" + grouped(n) + " cached)"
	}
	parts := []string{in, count(usage.Output) + " out", "$" + dollars(cost)}
	if m.budget > 0 {
		parts = append(parts, fmt.Sprintf("context %d%%", m.fill*100/m.budget))
	}
	if m.working {
		parts = append(parts, clock(m.now.Sub(m.begun)))
	}
	return joined(parts, m.width)
}

// joined puts parts into as few lines as they need.
func joined(parts []string, columns int) []string {
	const gap = " · "
	var lines []string
	for _, p := range parts {
		last := len(lines) - 1
		if last >= 0 && width(lines[last])+width(gap)+width(p) <= columns {
			lines[last] += gap + p
			continue
		}
		lines = append(lines, clip(p, columns))
	}
	return lines
}

// count returns the number, or a dash where nobody knows it.
func count(c message.Count) string {
	if n, ok := c.Get(); ok {
		return grouped(n)
	}
	return "–"
}

// dollars returns millionths of a dollar as dollars, or a dash where nobody
// knows the sum.
func dollars(c message.Count) string {
	n, ok := c.Get()
	if !ok {
		return "–"
	}
	return fmt.Sprintf("%d.%04d", n/1_000_000, n%1_000_000/100)
}

// heading names the step.
func (m *Model) heading() string {
	s := &m.step
	h := fmt.Sprintf("step %d", s.n)
	if m.fold != nil && m.fold.Spec() != nil && m.fold.Spec().Limits.Steps > 0 {
		h += fmt.Sprintf(" of %d", m.fold.Spec().Limits.Steps)
	}
	if s.purpose != event.PurposeStep && s.purpose != "" {
		h += " (" + string(s.purpose) + ")"
	}
	if s.model != "" {
		h += " · " + s.model
	}
	if s.attempt > 1 {
		h += fmt.Sprintf(" · attempt %d", s.attempt)
	}
	return h
}

// stepFrame shows the step that is going on: the end of it, where it does not
// fit.
func (m *Model) stepFrame(rows int) []string {
	s := &m.step
	if s.n == 0 {
		return nil
	}
	head := []string{m.paint(strong, clip(m.heading(), m.width))}
	var body []string
	if s.reply != "" && len(s.items) > 0 {
		body = append(body, m.clipped(s.reply, 3)...)
	} else if s.reply != "" {
		body = append(body, m.wrapped("  ", tail(s.reply, m.enough(rows)))...)
	}
	for _, i := range s.items {
		body = append(body, m.itemLines(i)...)
	}
	if s.text != "" {
		t := normal
		if s.thought {
			t = faint
		}
		body = append(body, m.paintAll(t, m.wrapped("  ", tail(s.text, m.enough(rows))))...)
	}
	if wait := m.waiting(); wait != "" {
		body = append(body, m.paintAll(warn, m.wrapped("  ", wait))...)
	}
	if room := rows - len(head); len(body) > room {
		body = body[len(body)-max(room, 0):]
	}
	return append(head, body...)
}

// enough is how many bytes fill that many lines, whatever they are.
func (m *Model) enough(rows int) int { return min(keep, 4*m.width*max(rows, 1)) }

// waiting says what the run waits for.
func (m *Model) waiting() string {
	s := &m.step
	if wait, ok := m.wait(); ok {
		what := map[event.ErrorClass]string{event.ClassRate: "rate limit", event.ClassServer: "server fault",
			event.ClassTimeout: "no answer", event.ClassNetwork: "no connection"}[s.class]
		if what == "" {
			what = string(s.class)
		}
		return what + ": waits " + clock(wait+999_999_999) + ", then tries again"
	}
	switch {
	case s.asked && s.calling != "":
		return "writes a call of " + clip(s.calling, 60)
	case s.asked && s.text == "":
		return "waiting for the model"
	case s.asked && s.thought:
		return "thinking"
	}
	return ""
}

// itemLines shows one item of a step.
func (m *Model) itemLines(i *item) []string {
	if i.call == "" {
		return m.paintAll(i.tone, m.limited(m.wrapped("  ", head(i.text, most)), 3))
	}
	mark := "  - "
	if i.over {
		mark = "  + "
		if i.tone != normal {
			mark = "  ! "
		}
	}
	var lines []string
	if m.width < narrow {
		mark = mark[2:]
		lines = []string{mark + clip(i.text, m.width-len(mark)), "  " + clip(i.outcome, m.width-2)}
	} else {
		outcome := clip(i.outcome, m.width/2)
		lines = []string{mark + clip(i.text, m.width-len(mark)-2-width(outcome)) + ": " + outcome}
	}
	if i.detail != "" {
		lines = append(lines, m.limited(m.wrapped("    ", head(i.detail, most)), 2)...)
	}
	return m.paintAll(i.tone, lines)
}

// limited returns the first lines, and how many there are more.
func (m *Model) limited(lines []string, most int) []string {
	if len(lines) <= most {
		return lines
	}
	indent := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], " "))]
	more := fmt.Sprintf("… %d more lines", len(lines)-most+1)
	return append(lines[:most-1:most-1], indent+clip(more, m.width-len(indent)))
}

// clipped returns the beginning of a text, indented.
func (m *Model) clipped(text string, lines int) []string {
	return m.limited(m.wrapped("  ", head(text, keep)), lines)
}

// saidLines is how many lines of what a model says between calls are kept.
const saidLines = 8

// answerBytes is the most of an answer that is printed; the journal has all.
const answerBytes = 256 << 10

// stepLines are the lines of a step that is over.
func (m *Model) stepLines() []string {
	s := &m.step
	if s.n == 0 {
		return nil
	}
	h := m.heading()
	if s.usage != nil {
		h += fmt.Sprintf(" · %s in · %s out · %s", count(s.usage.Input), count(s.usage.Output), took(s.latency))
	}
	lines := m.paintAll(faint, split(printable(h), m.width, true))
	calls := false
	for _, i := range s.items {
		calls = calls || i.call != ""
	}
	switch {
	case s.reply == "":
	case calls:
		lines = append(lines, m.clipped(s.reply, saidLines)...)
	case m.o.Chat:
		lines = append(lines, m.wrapped("", head(s.reply, answerBytes))...)
		if len(s.reply) > answerBytes {
			lines = append(lines, m.paint(warn, clip(fmt.Sprintf("… of %d bytes", len(s.reply)), m.width)))
		}
	}
	for _, i := range s.items {
		lines = append(lines, m.itemLines(i)...)
	}
	return lines
}
