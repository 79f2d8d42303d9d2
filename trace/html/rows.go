package html

import (
	"fmt"
	"html/template"

	"rein.example/rein/event"
	"rein.example/rein/trace"
)

// rowView is a row of the table of steps.
type rowView struct {
	Step           int64
	At             string
	Mark           string // warning, notice or nothing
	Rewrite, Call  bool
	What, Args     template.HTML
	Result         template.HTML
	Class          string
	Detail         template.HTML
	After          string
	In, Cached     string
	Out, Took, USD string
}

// rows are those of the table of steps.
func (p *page) rows(f *facts) []rowView {
	marks := map[int64]string{} // by the event of the row; looked up only
	for _, a := range f.run.Anomalies {
		if marks[a.Event] != string(trace.Warning) {
			marks[a.Event] = string(a.Level)
		}
	}
	var out []rowView
	rewrites := f.fold.Compactions()
	rewrite := func(before int64) {
		for ; len(rewrites) > 0 && rewrites[0].Event < before; rewrites = rewrites[1:] {
			c := &rewrites[0]
			out = append(out, rowView{Step: c.Step, At: f.anchor(c.Step), Rewrite: true, What: "context rewritten", Args: line(c.Strategy),
				Result: template.HTML(number(c.Before) + " → " + number(c.After) + " tokens"), Detail: line(c.Why), After: duration(c.Time - f.first)})
		}
	}
	list := f.fold.Rows()
	for i := range list {
		r := &list[i]
		rewrite(r.Event)
		out = append(out, f.row(r, marks[r.Event]))
	}
	rewrite(f.end + 1)
	return out
}

func (f *facts) row(r *trace.Row, mark string) rowView {
	v := rowView{Step: r.Step, At: f.anchor(r.Step), Mark: mark, After: duration(r.Time - f.first), Class: "bad",
		In: counted(r.PromptTokens), Cached: counted(r.CachedTokens), Out: counted(r.CompletionTokens), Took: "–", USD: "–"}
	if r.LatencyMS != nil {
		v.Took = duration(*r.LatencyMS)
	}
	if r.CumulativeCost != nil {
		v.USD = dollars(r.CumulativeCost)
	} else if r.FinishReason != nil || r.ToolStatus != nil {
		v.USD = unknown
	}
	if r.ErrorType != nil {
		v.Detail = line(*r.ErrorType + ": " + orEmpty(r.ErrorMessage))
	}
	if r.ToolName != nil {
		v.Call, v.What, v.Args, v.Result = true, line(*r.ToolName), line(f.args[orEmpty(r.Call)]), line(orEmpty(r.ToolStatus))
		if orEmpty(r.ToolStatus) == string(event.StatusSuccess) {
			v.Class = "ok"
		}
		if r.ToolResultSize != nil && r.ToolResultShown != nil && *r.ToolResultShown < *r.ToolResultSize {
			v.Result += template.HTML(fmt.Sprintf(", %s of %s bytes", number(*r.ToolResultShown), number(*r.ToolResultSize)))
		}
	} else {
		v.What, v.Result = line(orEmpty(r.Model)), line(orEmpty(r.FinishReason))
		if p := orEmpty(r.Purpose); p != string(event.PurposeStep) && p != "" {
			v.Args = line(p)
		}
		if r := event.Finish(orEmpty(r.FinishReason)); r == event.FinishStop || r == event.FinishToolCalls {
			v.Class = "ok"
		}
	}
	if r.Attempt != nil && *r.Attempt > 1 {
		v.Args += template.HTML(fmt.Sprintf(" (attempt %d)", *r.Attempt))
	}
	if v.Result == "" {
		v.Result, v.Class = "no outcome", "open"
	}
	return v
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
