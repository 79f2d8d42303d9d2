package main

import (
	"fmt"
	"strings"
	"time"

	"rein.example/rein"
	"rein.example/rein/cmd/rein/internal/tui"
	"rein.example/rein/event"
	"rein.example/rein/message"
)

// view shows a run as it goes on, as lines on stderr: steps and calls on a
// terminal or with -v, every event with -vv.
type view struct {
	a     *app
	run   string // whose events came first: those of others are below it
	level int
	calls map[string]string // call id to its arguments, looked up only
}

func newView(a *app) *view {
	v := &view{a: a, level: a.verbose, calls: map[string]string{}}
	if a.shows && v.level == 0 {
		v.level = 1
	}
	return v
}

func (v *view) show(e *rein.Event) {
	if v.run == "" {
		v.run = e.Run
	}
	if e.Run != v.run {
		if line := v.below(e); line != "" && v.level > 0 {
			v.a.say("%s", line)
		}
		return
	}
	if e.Progress != nil {
		v.a.say("%s", progressed(e.Progress))
		return
	}
	if v.level == 0 || e.Delta != nil {
		return
	}
	if v.level > 1 {
		v.a.say("%s", v.a.paint(dim, fmt.Sprintf("%d %s %s", e.Seq, e.Data.Type(), clip(string(e.Data.AppendJSON(nil)), 300))))
	}
	if line := v.line(e.Run, e.Data); line != "" {
		v.a.say("%s", line)
	}
}

// below returns what a person wants to know of an event of a run below, or "".
func (v *view) below(e *rein.Event) painted {
	var line painted
	switch {
	case e.Progress != nil:
		line = progressed(e.Progress)
	case e.Data != nil:
		switch e.Data.(type) {
		case *event.ModelAnswered, *event.ContextCompacted:
			return "" // too much of what is not asked for
		}
		line = v.line(e.Run, e.Data)
	}
	if line == "" {
		return ""
	}
	return v.a.paint(dim, belowMark(v.run, e.Run)) + " " + painted(strings.TrimLeft(string(line), " "))
}

// progressed says how far a call is.
func progressed(p *rein.Progress) painted {
	return format("  %s %s", name(p.Tool), clip(p.Text, maxDetail))
}

// line returns what a person wants to know of an event, or "". What it is made
// of is put on the line with clip and name: it is one line, whatever a model says.
func (v *view) line(run string, data event.Data) painted {
	switch d := data.(type) {
	case *event.ModelCalled:
		if d.Attempt > 1 {
			return format("step %d: %s, attempt %d", d.Step, name(d.Model), d.Attempt)
		}
		if d.Purpose != event.PurposeStep {
			return format("step %d: %s (%s)", d.Step, name(d.Model), d.Purpose)
		}
		return format("step %d: %s", d.Step, name(d.Model))
	case *event.ModelAnswered:
		return v.a.paint(dim, fmt.Sprintf("  answered: %s, %s", tokens(&d.Usage), milliseconds(d.Latency)))
	case *event.ModelFailed:
		return v.a.paint(red, fmt.Sprintf("  failed: %s", failure(d)))
	case *event.ReplyParsed:
		for _, c := range d.Calls {
			v.calls[run+" "+c.ID] = c.Args
		}
		if len(d.Problems) > 0 {
			return v.a.paint(yellow, "  not understood: "+clip(strings.Join(d.Problems, "; "), 200))
		}
	case *event.CallJudged:
		return v.judged(d)
	case *event.ToolFinished:
		of := clip(v.calls[run+" "+d.Call], 80)
		if d.For != "" {
			of = clip("(to find out what became of "+d.For+")", 80)
		}
		line := fmt.Sprintf("  %s %s: %s", name(d.Tool), of, d.Status)
		if d.ErrorType != "" {
			line += ", " + name(d.ErrorType) + ": " + clip(d.ErrorMessage, 120)
		}
		if d.Status != event.StatusSuccess {
			return v.a.paint(yellow, line)
		}
		return format("%s", line)
	case *event.NoticeAdded:
		return v.a.paint(yellow, "  told the model: "+clip(d.Text, 160))
	case *event.ContextCompacted:
		return v.a.paint(dim, clip(tui.Compacted(d), 200))
	}
	return ""
}

func (v *view) judged(d *event.CallJudged) painted {
	var kinds []string
	for _, r := range d.Repairs {
		kinds = append(kinds, r.Kind)
	}
	switch {
	case d.Verdict == event.Ask:
		return v.a.paint(yellow, fmt.Sprintf("  %s %s waits for approval", name(d.Tool), name(d.Call)))
	case len(kinds) > 0:
		return v.a.paint(yellow, fmt.Sprintf("  %s: arguments repaired (%s)", name(d.Tool), strings.Join(kinds, ", ")))
	}
	return ""
}

func failure(d *event.ModelFailed) string {
	s := string(d.Class)
	if d.Status > 0 {
		s += fmt.Sprintf(" (HTTP %d)", d.Status)
	}
	if d.Message != "" {
		s += ": " + clip(d.Message, 160)
	}
	if wait, ok := d.RetryAfter.Get(); ok {
		s += ", asked to wait " + milliseconds(wait)
	}
	return s
}

func tokens(u *message.Usage) string {
	in, out := count(u.Input), count(u.Output)
	if cached, ok := u.Cached.Get(); ok && cached > 0 {
		in += fmt.Sprintf(" (%d cached)", cached)
	}
	return fmt.Sprintf("%s tokens in, %s out", in, out)
}

// count returns the number, or ? where nobody knows it.
func count(c message.Count) string {
	if n, ok := c.Get(); ok {
		return fmt.Sprint(n)
	}
	return "?"
}

func milliseconds(n int64) string {
	d := time.Duration(n) * time.Millisecond
	if d >= 10*time.Second {
		d = d.Round(100 * time.Millisecond)
	}
	return d.String()
}
