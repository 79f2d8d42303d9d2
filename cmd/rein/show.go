package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/loop"
	"rein.example/rein/toolkit/plan"
	"rein.example/rein/trace"
	"rein.example/rein/trace/anomaly"
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
	// Pending are the questions that are open.
	Pending []engine.Question `json:"pending"`
	// Phase is the phase that the run is in, "" if it has none.
	Phase string `json:"phase"`
	// State is the task state that the model keeps, null if it has none.
	State jsontext.Value `json:"state"`
	// Sandbox is what confined the run's commands, "" if it has none.
	Sandbox string `json:"sandbox"`
	// ForkOf is the run that this one was forked from last, left out if from none;
	// ForkedAfter is the last event that they share.
	ForkOf      string `json:"fork_of,omitempty"`
	ForkedAfter int64  `json:"forked_after_event,omitempty"`
	// Rows are the trace: model calls and tool calls in order.
	Rows []trace.Row `json:"rows"`
	// Purposes say what the model was called for, and what that has taken.
	Purposes []trace.PurposeTotal `json:"purposes"`
	// Compactions are the rewrites of the context, in order.
	Compactions []trace.Compaction `json:"compactions"`
	// Damage says where the journal stops being sound; the rest is of what comes
	// before.
	Damage *damage `json:"damage,omitempty"`

	cause event.Cause
	open  []loop.Pending
	looks looks
}

func (a *app) showCommand() *cobra.Command {
	var step int64
	var contexts bool
	cmd := &cobra.Command{
		Use: "show RUN [--step N] [--context]", Short: "Show a run step by step", Args: exactly("RUN"),
		Long: `Shows a run as a table: each model call, and each tool call below the step that
made it. What is worth a second look is marked with !, and the line below says why;
~ marks where the context was rewritten to make room.`,
		Example: `  rein show last
  rein show last --step 3     # with what was said and returned
  rein show last --context    # with what each request held, and what was kept of the rest`,
	}
	cmd.Flags().BoolVar(&contexts, "context", false, "show what each request held, by block, and the texts that stand in the place of what has left")
	cmd.Flags().Int64Var(&step, "step", 0, "show only step `N`, from 1, with what was said and returned")
	return a.withReading(cmd, func(ctx context.Context, s journal.Store, args []string) error {
		if cmd.Flags().Changed("step") && step < 1 {
			return errors.New("steps count from 1: --step 1 is the first")
		}
		run, err := a.find(ctx, s, args[0])
		if err != nil {
			return err
		}
		v, events, err := show(ctx, s, run, step)
		if err != nil {
			return err
		}
		if step > 0 && len(v.Rows) == 0 && v.Damage == nil {
			return fmt.Errorf("run %s has no step %d; the last is %d", run, step, v.looks.steps)
		}
		if a.json {
			err = a.print(v)
		} else {
			err = a.table(v, events, contexts)
		}
		if err != nil {
			return err
		}
		return a.report(run, v.Damage)
	})
}

// show reads a run; with a step only that one, and its events.
func show(ctx context.Context, s journal.Store, run string, step int64) (*shown, []event.Event, error) {
	v := &shown{Run: run}
	var rows trace.Fold
	var odd anomaly.Fold
	var events []event.Event
	m := loop.New(run)
	var err error
	v.Damage, err = sound(ctx, s, run, func(e *event.Event) error {
		if err := m.Apply(e); err != nil {
			return err
		}
		rows.Add(e)
		odd.Add(e)
		v.looks.add(e)
		if d, ok := e.Data.(*event.RunResumed); ok && d.Fork != "" {
			v.ForkOf, v.ForkedAfter = d.Fork, e.Seq-1
		}
		if step > 0 && v.looks.steps == step {
			events = append(events, *e)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	st := m.Status()
	v.Status, v.Reason, v.OK, v.Answer, v.Detail = st.Status, string(st.Reason)+string(st.Cause), st.OK, st.Answer, st.Detail
	v.CostUSD = usd(st.Cost)
	v.Phase = st.Phase
	if v.State = st.State; v.State == nil {
		v.State = jsontext.Value("null")
	}
	v.cause, v.open, v.Pending = st.Cause, st.Pending, questionsOf(run, st.Pending)
	asked, err := askedBelow(ctx, s, st.Below)
	if err != nil {
		return nil, nil, err
	}
	v.Pending = append(v.Pending, asked...)
	if spec := m.Spec(); spec != nil {
		v.Agent, v.Model, v.Sandbox = spec.Agent, spec.Model, spec.Sandbox
	}
	v.Rows, v.Compactions = append([]trace.Row{}, rows.Rows()...), append([]trace.Compaction{}, rows.Compactions()...)
	trace.Mark(v.Rows, odd.Found())
	v.Purposes = append([]trace.PurposeTotal{}, rows.Purposes()...)
	if step > 0 {
		v.Rows = slices.DeleteFunc(v.Rows, func(r trace.Row) bool { return r.Step != step })
		v.Compactions = slices.DeleteFunc(v.Compactions, func(c trace.Compaction) bool { return c.Step != step })
	}
	if v.Status != "running" && v.Status != "new" {
		return v, events, nil
	}
	sum, err := summary(ctx, s, run)
	if err != nil {
		return nil, nil, err
	}
	if sum.Status == "interrupted" {
		v.Status = sum.Status // its process is gone, which no event can say
		v.looks.ended()
	}
	return v, events, nil
}

// table prints a run for people; contexts adds what its requests held.
func (a *app) table(v *shown, events []event.Event, contexts bool) error {
	var out strings.Builder
	fmt.Fprintf(&out, "run %s of %s, model %s", v.Run, name(cmp.Or(v.Agent, "an agent without a name")), name(v.Model))
	if r := v.looks.reported; r != "" && !strings.HasSuffix(v.Model, r) {
		fmt.Fprintf(&out, " (the server says %s)", name(r))
	}
	fmt.Fprintf(&out, "\n%s\n", strings.TrimSpace(v.Status+" "+v.Reason))
	if v.Detail != "" {
		fmt.Fprintf(&out, "  %s\n", printable(v.Detail))
	}
	if v.ForkOf != "" {
		fmt.Fprintf(&out, "a fork of run %s, with which it shares events 1 to %d\n", name(v.ForkOf), v.ForkedAfter)
	}
	if v.Sandbox != "" {
		fmt.Fprintf(&out, "sandbox of its commands: %s\n", printable(v.Sandbox))
	}
	if v.Phase != "" {
		fmt.Fprintf(&out, "phase: %s\n", printable(v.Phase))
	}
	width := cmp.Or(a.wide, usualWidth)
	t := &table{head: []string{"", "STEP", "TIME", "WHAT", "RESULT", "IN", "CACHED", "OUT", "TOOK"}, flexible: 3, least: 20}
	at := func(ms int64) string {
		if width < timedWidth {
			return absent
		}
		return time.UnixMilli(ms).Format("15:04:05")
	}
	rewrites := v.Compactions
	for i := range v.Rows {
		r := &v.Rows[i]
		for ; len(rewrites) > 0 && rewrites[0].Event < r.Event; rewrites = rewrites[1:] {
			t.rows = append(t.rows, compactionRow(&rewrites[0], at))
		}
		what, result, below := v.described(r)
		mark := ""
		if len(below) > 0 || marked(r, result) {
			mark = "!"
		}
		if r.ChildRun != nil {
			below = append([]string{carriedBy(r)}, below...)
		}
		if r.Context != nil && (contexts || events != nil) {
			below = append(composition(r.Context, width-len(belowIndent)), below...)
		}
		t.rows = append(t.rows, tableRow{[]string{mark, fmt.Sprint(r.Step), at(r.Time), what, clip(result, mostResult),
			number(r.PromptTokens), number(r.CachedTokens), number(r.CompletionTokens), took(r.LatencyMS)}, below})
	}
	for i := range rewrites {
		t.rows = append(t.rows, compactionRow(&rewrites[i], at))
	}
	out.WriteString("\n" + t.text(width))
	if contexts || events != nil {
		v.kept(&out)
	}
	if events == nil {
		v.plan(&out)
		v.footer(&out)
	}
	for i := range events {
		detail(&out, &events[i])
	}
	if events == nil && v.Answer != "" {
		fmt.Fprintf(&out, "\n%s\n", printable(strings.TrimRight(v.Answer, "\n")))
	}
	if err := a.write([]byte(out.String())); err != nil {
		return err
	}
	a.todo(v)
	return nil
}

const (
	// timedWidth is the least width at which the time of day has room.
	timedWidth = 100
	// mostResult is the most columns of a result, mostArgs of what is kept of a
	// call's arguments before the table takes its part of it.
	mostResult = 40
	mostArgs   = 200
)

// plan prints where the model says that its task stands.
func (v *shown) plan(out *strings.Builder) {
	if s, err := plan.Read(v.State); err == nil && s.Goal != "" {
		fmt.Fprintf(out, "\nthe plan:\n%s\n", indent(printable(s.Text())))
	}
}

// todo says on stderr what a run waits for and how to go on with it.
func (a *app) todo(v *shown) {
	if v.Damage != nil {
		return // which has a hint of its own
	}
	a.questions(v.Pending)
	if v.Status == "interrupted" || v.Status == "paused" && v.cause != event.CauseTurnDone {
		a.say("  then go on with: %s", a.next("resume %s", v.Run))
	}
}

// described returns a row's columns for what was done and what came of it, and
// the lines below it.
func (v *shown) described(r *trace.Row) (what, result string, below []string) {
	if r.ToolName != nil {
		c := v.looks.call(text(r.Call))
		what = "  " + clip(*r.ToolName+" "+c.args, mostArgs)
		below = c.notes()
		for _, an := range r.Anomalies {
			said, _, _ := strings.Cut(an.Text, ". ")
			below = append(below, an.Kind+": "+said)
		}
		if r.For != nil {
			what = "  " + clip(*r.ToolName+" (to find out what became of "+*r.For+")", mostArgs)
		}
		if r.Undoes != nil {
			what = "  " + clip(*r.ToolName+" (takes back what "+*r.Undoes+" did)", mostArgs)
		}
		if r.Attempt != nil && *r.Attempt > 1 {
			below = append(below, fmt.Sprintf("tried %d times", *r.Attempt))
		}
		if result = text(r.ToolStatus); r.ToolStatus == nil && r.ChildRun != nil && v.Status == "paused" {
			result = "waits for its run"
		} else if r.ToolStatus == nil {
			result = c.state(text(r.Call), v.open, v.Status == "running")
		}
		if r.ToolResultSize != nil && r.ToolResultShown != nil && *r.ToolResultSize > *r.ToolResultShown {
			result += fmt.Sprintf(", %d of %d bytes", *r.ToolResultShown, *r.ToolResultSize)
		}
	} else {
		what = name(cmp.Or(v.looks.asked[r.Event], text(r.Model)))
		if p := text(r.Purpose); p != string(event.PurposeStep) && p != "" {
			what += " (" + p + ")"
		}
		if r.Attempt != nil && *r.Attempt > 1 {
			what += fmt.Sprintf(", attempt %d", *r.Attempt)
		}
		if result = text(r.FinishReason); r.FinishReason == nil {
			result = v.looks.modelState(r)
		}
	}
	if r.ErrorType != nil {
		below = append(below, *r.ErrorType+": "+text(r.ErrorMessage))
	}
	return what, result, below
}

// marked reports whether a row is worth a second look.
func marked(r *trace.Row, result string) bool {
	switch {
	case r.Attempt != nil && *r.Attempt > 1, result == lostText:
		return true
	case r.ToolName != nil:
		return text(r.ToolStatus) != string(event.StatusSuccess)
	}
	return text(r.FinishReason) != string(event.FinishStop) && text(r.FinishReason) != string(event.FinishToolCalls)
}

// detail prints what was said and returned in an event.
func detail(out *strings.Builder, e *event.Event) {
	block := func(title, text string) {
		if text != "" {
			fmt.Fprintf(out, "\n%s:\n%s\n", clip(title, usualWidth), indent(printable(text)))
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
	case *event.StateUpdated:
		if s, err := plan.Read(d.State); err == nil {
			block("the plan", s.Text())
		}
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
		return absent
	}
	return fmt.Sprint(*n)
}

func took(n *int64) string {
	if n == nil {
		return absent
	}
	return milliseconds(*n)
}
