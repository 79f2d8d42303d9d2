package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/loop"
	"rein.example/rein/trace"
)

// shown is what --json prints for a run.
type shown struct {
	Run    string `json:"run"`
	Agent  string `json:"agent"`
	Model  string `json:"model"`
	Status string `json:"status"`
	Reason string `json:"reason"`
	OK     bool   `json:"ok"`
	Answer string `json:"answer"`
	Detail string `json:"detail,omitempty"`
	// CostUSD is what the run has cost, null if that is unknown.
	CostUSD *trace.USD `json:"cost_usd"`
	// Rows are the trace: model calls and tool calls in order.
	Rows []trace.Row `json:"rows"`
}

func (a *app) showCommand() *cobra.Command {
	var step int64
	cmd := &cobra.Command{
		Use: "show [--step N] RUN", Short: "Show a run step by step", Args: exactly("RUN"),
		Long: `Shows a run as a table: each model call, and each tool call below the step that
made it. What is worth a second look is marked with !.`,
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().Int64Var(&step, "step", 0, "show only step `N`, with what was said and returned")
	return a.withStore(cmd, func(ctx context.Context, s journal.Store, args []string) error {
		run, err := a.find(ctx, s, args[0])
		if err != nil {
			return err
		}
		var rows trace.Fold
		m := loop.New(run)
		var events []event.Event // of the step that is asked for
		for e, err := range s.Read(ctx, run, 1) {
			if err == nil {
				err = m.Apply(&e)
			}
			if err != nil {
				return failed(fmt.Errorf("read run %s: %w", run, err))
			}
			rows.Add(&e)
			if step > 0 && len(rows.Rows()) > 0 && rows.Rows()[len(rows.Rows())-1].Step == step {
				events = append(events, e)
			}
		}
		v := show(run, m, rows.Rows())
		if step > 0 {
			if v.Rows = ofStep(v.Rows, step); len(v.Rows) == 0 {
				return fmt.Errorf("run %s has no step %d; it has %s", run, step, plural(m.Status().Steps, "step"))
			}
		}
		if a.json {
			return a.print(v)
		}
		return a.table(v, events)
	})
}

func show(run string, m *loop.Machine, rows []trace.Row) *shown {
	s := m.Status()
	v := &shown{Run: run, Status: s.Status, Reason: string(s.Reason) + string(s.Cause), OK: s.OK, Answer: s.Answer, Detail: s.Detail, CostUSD: usd(s.Cost), Rows: rows}
	if spec := m.Spec(); spec != nil {
		v.Agent, v.Model = spec.Agent, spec.Model
	}
	if v.Rows == nil {
		v.Rows = []trace.Row{}
	}
	return v
}

func ofStep(rows []trace.Row, step int64) []trace.Row {
	out := []trace.Row{}
	for _, r := range rows {
		if r.Step == step {
			out = append(out, r)
		}
	}
	return out
}

// table prints a run for people.
func (a *app) table(v *shown, events []event.Event) error {
	var out strings.Builder
	fmt.Fprintf(&out, "run %s of %s, model %s\n%s %s\n\n", v.Run, cmp.Or(v.Agent, "an agent without a name"), v.Model, v.Status, v.Reason)
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tSTEP\tTIME\tWHAT\tRESULT\tIN\tCACHED\tOUT\tTOOK")
	for i := range v.Rows {
		r := &v.Rows[i]
		what, result := described(r)
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", mark(r), r.Step, time.UnixMilli(r.Time).Format("15:04:05"),
			what, result, number(r.PromptTokens), number(r.CachedTokens), number(r.CompletionTokens), took(r.LatencyMS))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if events == nil {
		v.footer(&out)
	}
	for i := range events {
		detail(&out, &events[i])
	}
	if events == nil && v.Answer != "" {
		fmt.Fprintf(&out, "\n%s\n", strings.TrimRight(v.Answer, "\n"))
	}
	return a.write([]byte(out.String()))
}

// described returns a row's second and third column.
func described(r *trace.Row) (what, result string) {
	if r.ToolName != nil {
		what = "  " + *r.ToolName
		result = text(r.ToolStatus)
		if r.ToolStatus == nil {
			result = "no outcome yet"
		}
		if r.ToolResultSize != nil && r.ToolResultShown != nil && *r.ToolResultSize > *r.ToolResultShown {
			result += fmt.Sprintf(", %d of %d bytes shown", *r.ToolResultShown, *r.ToolResultSize)
		}
	} else {
		what = text(r.Model)
		if p := text(r.Purpose); p != string(event.PurposeStep) && p != "" {
			what += " (" + p + ")"
		}
		result = text(r.FinishReason)
		if r.FinishReason == nil {
			result = "no reply yet"
		}
	}
	if r.ErrorType != nil {
		result += ", " + *r.ErrorType + ": " + clip(text(r.ErrorMessage), 60)
	}
	return what, result
}

// mark returns ! for what is worth a second look.
func mark(r *trace.Row) string {
	switch {
	case r.ErrorType != nil,
		r.ToolName != nil && text(r.ToolStatus) != string(event.StatusSuccess),
		r.Attempt != nil && *r.Attempt > 1,
		r.ToolName == nil && text(r.FinishReason) != string(event.FinishStop) && text(r.FinishReason) != string(event.FinishToolCalls):
		return "!"
	}
	return ""
}

// detail prints what was said and returned in an event.
func detail(out *strings.Builder, e *event.Event) {
	block := func(title, text string) {
		if text != "" {
			fmt.Fprintf(out, "\n%s:\n%s\n", title, indent(text))
		}
	}
	switch d := e.Data.(type) {
	case *event.ModelAnswered:
		block("answered", d.Message.PlainText())
	case *event.ModelFailed:
		block("failed", failure(d))
	case *event.ReplyParsed:
		for _, c := range d.Calls {
			block("call "+c.ID+" "+c.Name, c.Args)
		}
		block("not understood", strings.Join(d.Problems, "\n"))
	case *event.CallJudged:
		if d.Verdict != event.Allow {
			block(fmt.Sprintf("%s %s", d.Verdict, d.Call), d.Why)
		}
		block("runs with", d.Args)
	case *event.ToolFinished:
		var text string
		for _, p := range d.Parts {
			text += p.Text
		}
		block(fmt.Sprintf("result of %s (%s)", d.Call, d.Status), text)
	case *event.NoticeAdded:
		block("told the model", d.Text)
	}
}

func indent(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n  ")
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func number(n *int64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

func took(n *int64) string {
	if n == nil {
		return "-"
	}
	return milliseconds(*n)
}
