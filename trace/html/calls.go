package html

import (
	"cmp"
	"fmt"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/trace"
)

// about puts an event into the call that it is about.
func (w *writer) about(e *event.Event) {
	switch d := e.Data.(type) {
	case *event.CallJudged:
		c := w.call(d.Call, d.Tool)
		if d.Args != "" {
			c.RunsWith = w.text(pretty(d.Args))
		}
		c.fact(judged(d.Verdict, d.Rule, d.Why))
		if d.Of != "" {
			c.fact("what stands for it is the outcome of " + d.Of)
		}
		c.repaired(d.Repairs)
	case *event.HookAnswered:
		if d.Call != "" {
			w.call(d.Call, "").fact("a hook has " + judged(d.Verdict, d.Rule, d.Why))
		} else {
			w.note("a hook has "+judged(d.Verdict, d.Rule, d.Why), "")
		}
	case *event.ApprovalAsked:
		what := "a person was asked whether it may run"
		if d.Settle {
			what = "a person was asked what became of it"
		} else if d.Words {
			what = "a person was asked for an answer"
		}
		w.call(d.Call, d.Tool).fact(what + because(d.Why))
	case *event.ApprovalGiven:
		c := w.call(d.Call, "")
		c.fact(fmt.Sprintf("%s said: %s%s", cmp.Or(d.By, "a person"), strings.ReplaceAll(string(d.Decision), "_", " "), because(d.Why)))
	case *event.ToolStarted:
		w.startedTool(d)
	case *event.ToolFinished:
		w.finishedTool(d)
	}
}

// judged says what was decided of a call, by what and why.
func judged(v event.Verdict, rule, why string) string {
	text := "judged: " + string(v)
	if rule = strings.TrimPrefix(rule, string(v)+" "); rule != "" {
		text += ", by " + rule
	}
	return text + because(why)
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

// call returns the view of a call. One that is of an earlier step, such as one that is
// taken back at the end, gets another here.
func (w *writer) call(id, tool string) *callView {
	c := w.calls[id]
	if c == nil {
		c = &callView{ID: line(id), Tool: line(cmp.Or(tool, "a call")), At: fmt.Sprintf("%s-c%d", w.step.ID, len(w.step.Calls)+1)}
		w.calls[id] = c
		w.step.Calls = append(w.step.Calls, c)
	}
	return c
}

func (c *callView) fact(text string) { c.Facts = append(c.Facts, line(text)) }

func (c *callView) repaired(repairs []event.Repair) {
	for _, r := range repairs {
		text := "arguments repaired: " + strings.ReplaceAll(r.Kind, "_", " ")
		if r.Where != "" {
			text += " at " + r.Where
		}
		if r.Lossy {
			text += ", with a loss"
		}
		c.fact(text)
	}
}

func (w *writer) startedTool(d *event.ToolStarted) {
	c := w.call(d.Call, d.Tool)
	text := "started: " + string(d.Effect)
	if d.Attempt > 1 {
		text += fmt.Sprintf(", attempt %d", d.Attempt)
	}
	if d.Key != "" && d.Effect.Writes() {
		text += ", idempotency key " + d.Key
	}
	c.fact(text)
	if d.For != "" {
		c.OutOfTurn = "made by the harness, to find out what became of another call"
		c.fact("finds out what became of " + d.For)
	}
	if d.Undoes != "" {
		c.OutOfTurn = "asked for by a person, to take back another call"
		c.fact("takes back " + d.Undoes)
	}
	if d.Run != "" {
		c.fact("carried out by run " + d.Run)
		c.Below = w.sectionOf(d.Run)
	}
}

func (w *writer) finishedTool(d *event.ToolFinished) {
	c := w.call(d.Call, d.Tool)
	r := &resultView{Status: line(string(d.Status)), Class: "bad"}
	if d.Status == event.StatusSuccess {
		r.Class = "ok"
	}
	r.Sizes = plural(d.Size, "byte")
	if d.Size != d.Shown {
		r.Sizes = fmt.Sprintf("%s of %s shown to the model", number(d.Shown), plural(d.Size, "byte"))
	}
	if n, ok := d.Tokens.Get(); ok {
		r.Sizes += ", " + plural(n, "token")
	}
	if d.ID != "" && !w.recorded {
		r.Sizes += ", took " + duration(d.Latency)
	}
	fact := func(format string, args ...any) { r.Facts = append(r.Facts, line(fmt.Sprintf(format, args...))) }
	if d.ID == "" {
		fact("answered by the harness: the tool did not run for this")
	}
	for _, s := range d.Shaped {
		fact("%s", s)
	}
	if d.ErrorType != "" {
		fact("%s: %s", d.ErrorType, d.ErrorMessage)
	}
	if d.NoEffect {
		fact("it is proven that nothing was changed")
	}
	if d.Spent != nil {
		fact("the run below used %s, %s, %s; its cost: %s (these are in its own section, and not in the tokens of this run)",
			plural(d.Spent.Steps, "step"), plural(d.Spent.ToolCalls, "tool call"), plural(d.Spent.Tokens, "token"), micros(d.Spent.Cost))
	}
	for _, s := range d.Seen {
		fact("%s", sawLines(&s))
	}
	text := w.texts(d.Parts)
	r.Text = w.textAt(text, c.At)
	for i := range d.Parts {
		if d.Parts[i].Kind != message.Text {
			r.Others = append(r.Others, other(&d.Parts[i]))
		}
	}
	if d.Full != nil {
		if body, err := w.body(*d.Full); err != nil {
			r.Missing = line("the whole result cannot be shown: " + err.Error())
		} else {
			r.Full = w.text(body)
		}
	}
	c.Results = append(c.Results, r)
}

// sawLines says what a call read or wrote.
func sawLines(s *event.Seen) string {
	switch {
	case s.Gone:
		return s.Resource + " is gone"
	case s.Wrote:
		return fmt.Sprintf("wrote %s, %s", s.Resource, plural(s.Total, "line"))
	case s.From == 0:
		return fmt.Sprintf("saw of %s no line, of %d", s.Resource, s.Total)
	}
	return fmt.Sprintf("saw of %s lines %d to %d of %d", s.Resource, s.From, s.To, s.Total)
}

func micros(c message.Count) string {
	if n, ok := c.Get(); ok {
		u := trace.USD(n)
		return dollars(&u)
	}
	return unknown
}
