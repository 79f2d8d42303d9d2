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
	"rein.example/rein/message"
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
	ForkedAfter int64  `json:"forked_after_event,omitzero"`
	// Parent is the run whose call this one carries out, and Call that call; both are
	// left out of others.
	Parent string `json:"parent,omitempty"`
	Call   string `json:"call,omitempty"`
	// Page says which steps the rest is of, where that is not all of them; left out
	// where it is. Cost, phase, totals and purposes are of whole runs, and not there on
	// a page of a long one.
	Page *page `json:"page,omitempty"`
	// Rows are the trace: model calls and tool calls in order.
	Rows []trace.Row `json:"rows"`
	// Totals say where the time and the money went.
	Totals *trace.Totals `json:"totals,omitempty"`
	// Purposes say what the model was called for, and what that has taken.
	Purposes []trace.PurposeTotal `json:"purposes"`
	// Anomalies are what is probably not as it should be, those that weigh most first;
	// the rows that they belong to have them too.
	Anomalies []trace.Anomaly `json:"anomalies"`
	// Saw is what the model saw in the one step that is shown; left out elsewhere.
	Saw *saw `json:"saw,omitempty"`
	// Compactions are the rewrites of the context, in order.
	Compactions []trace.Compaction `json:"compactions"`
	// Damage says where the journal stops being sound; the rest is of what comes
	// before.
	Damage *damage `json:"damage,omitempty"`

	// partial: only a part of the journal was read.
	partial bool

	cause event.Cause
	open  []loop.Pending
	looks looks
	odd   *anomaly.Fold
	// elsewhere, if not nil, says that the run is carried out elsewhere, and what can be
	// done with it here.
	elsewhere error
	origin    *event.Origin
}

func (a *app) showCommand() *cobra.Command {
	var step int64
	var w wantedSteps
	var contexts bool
	cmd := &cobra.Command{
		Use: "show RUN [--step N] [--from N] [--steps K] [--all] [--context]", Short: "Show a run step by step", Args: exactly("RUN"),
		Long: fmt.Sprintf(`Shows a run as a table: each model call, and each tool call below the step that
made it. What is worth a second look is marked with !, and below the table stands
why, what that usually means and what to look at next; ~ marks where the context was
rewritten to make room. Then come the sums: where time, tokens and money went.

A run of more than %d steps is shown by the page, which takes as long for a run of
10,000 steps as for one of 100: the end of a page says how to go on, --all shows
everything. With --json a run is whole unless --step, --from or --steps is given.

With --step, a step is shown with what the model saw, newest last: the instructions
in a line, how many older messages there were, and the last ones as they were.`, pageSteps),
		Example: `  rein show last
  rein show last --step 3     # with what the model saw, what was said and returned
  rein show last --from 101   # from step 101 on; --from -20 are the last 20
  rein show last --context    # with what each request held, and what was kept of the rest`,
	}
	cmd.Flags().BoolVar(&contexts, "context", false, "show what each request held, by block, and the texts that stand in the place of what has left")
	cmd.Flags().Int64Var(&step, "step", 0, "show only step `N`, from 1, with what the model saw, what was said and returned")
	cmd.Flags().Int64Var(&w.from, "from", 0, "begin with step `N`, from 1; -N is the Nth from the end")
	cmd.Flags().Int64Var(&w.steps, "steps", 0, fmt.Sprintf("show at most `K` steps; a page is %d", pageSteps))
	cmd.Flags().BoolVar(&w.all, "all", false, "show all steps, however many")
	cmd.MarkFlagsMutuallyExclusive("step", "from", "all")
	cmd.MarkFlagsMutuallyExclusive("step", "steps", "all")
	return a.withReading(cmd, func(ctx context.Context, s journal.Store, args []string) error {
		switch {
		case cmd.Flags().Changed("step") && step < 1:
			return errors.New("steps count from 1: --step 1 is the first")
		case cmd.Flags().Changed("from") && w.from == 0:
			return errors.New("steps count from 1: --from 1 begins with the first, --from -1 with the last")
		case cmd.Flags().Changed("steps") && w.steps < 1:
			return errors.New("--steps is how many steps to show, from 1")
		case step > 0:
			w = wantedSteps{from: step, steps: 1, alone: true}
		case a.json && w.whole():
			w.all = true
		}
		run, err := a.find(ctx, s, args[0])
		if err != nil {
			return err
		}
		v, events, err := show(ctx, s, run, w)
		if err != nil {
			return err
		}
		if p := v.Page; p != nil && p.From > p.To && v.Damage == nil {
			return fmt.Errorf("run %s has no step %d; the last is %d", run, p.From, p.Of)
		}
		if w.alone {
			a.see(ctx, s, v)
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

// show reads a run, or the steps of it that are wanted; of a step that is wanted alone
// also its events.
func show(ctx context.Context, s journal.Store, run string, w wantedSteps) (*shown, []event.Event, error) {
	v, events, err := showAny(ctx, s, run, w)
	if err != nil {
		return nil, nil, err
	}
	if v.Status == "running" || v.Status == "new" {
		sum, err := summary(ctx, s, run)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case v.Damage != nil:
			// Where the run stood in the end stands in what is not sound; the store has
			// noted it beside the journal.
			v.Status, v.Reason = sum.Status, sum.Reason
		case sum.Status == "interrupted":
			v.Status = sum.Status // its process is gone, which no event can say
			if v.Page == nil || v.Page.To == v.Page.Of {
				v.looks.ended()
				v.odd.Left()
			}
		}
	}
	v.found(v.odd.Found())
	if v.Status != "finished" {
		v.elsewhere = elsewhere(ctx, s, run)
	}
	return v, events, nil
}

// fewEvents is how many events a run may have that is surely not long: a step has at
// least three.
const fewEvents = 3 * pageSteps

func showAny(ctx context.Context, s journal.Store, run string, w wantedSteps) (*shown, []event.Event, error) {
	if w.all {
		return showWhole(ctx, s, run, w)
	}
	head, err := s.Head(ctx, run)
	if err != nil {
		return nil, nil, failed(fmt.Errorf("read run %s: %w", run, err))
	}
	if head.Seq <= fewEvents {
		return showWhole(ctx, s, run, w)
	}
	t, err := endOf(ctx, s, run, head.Seq)
	if err != nil {
		return nil, nil, err
	}
	if t.last <= pageSteps {
		return showWhole(ctx, s, run, w)
	}
	return showPage(ctx, s, run, w, head.Seq, t)
}

// showWhole folds a whole run, and leaves of it what is wanted. What it holds of it
// does not grow with the texts of the run.
func showWhole(ctx context.Context, s journal.Store, run string, w wantedSteps) (*shown, []event.Event, error) {
	v := &shown{Run: run, odd: &anomaly.Fold{}}
	var rows trace.Fold
	var events []event.Event
	m := loop.New(run)
	var err error
	v.Damage, err = sound(ctx, s, run, func(e *event.Event) error {
		if err := m.Apply(slim(e)); err != nil {
			return err
		}
		rows.Add(e)
		v.odd.Add(e)
		v.looks.add(e)
		v.header(e)
		if w.alone && v.looks.steps == w.from {
			events = append(events, *e)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	st := m.Status()
	v.Status, v.Reason, v.OK, v.Answer, v.Detail = st.Status, string(st.Reason)+string(st.Cause), st.OK && st.Status == "finished", st.Answer, st.Detail
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
	v.Rows, v.Compactions = append([]trace.Row{}, rows.Rows()...), append([]trace.Compaction{}, rows.Compactions()...)
	v.Purposes = append([]trace.PurposeTotal{}, rows.Purposes()...)
	sums := rows.Totals()
	v.Totals = &sums
	if !w.whole() {
		p := w.of(v.looks.steps)
		v.Page = &p
		v.only(p)
	}
	return v, events, nil
}

// slim returns an event without the texts that where a run stands does not depend on,
// and that a machine would hold on to: those of results, and what a model thought.
func slim(e *event.Event) *event.Event {
	out := *e
	switch d := e.Data.(type) {
	case *event.ToolFinished:
		bare := *d
		bare.Parts = nil
		out.Data = &bare
	case *event.ModelAnswered:
		bare := *d
		bare.Message.Parts = slices.DeleteFunc(slices.Clone(d.Message.Parts), func(p message.Part) bool { return p.Kind == message.Reasoning })
		out.Data = &bare
	default:
		return e
	}
	return &out
}

// header notes what an event says of the run as a whole.
func (v *shown) header(e *event.Event) {
	switch d := e.Data.(type) {
	case *event.RunStarted:
		v.Agent, v.Model, v.Sandbox, v.origin = d.Spec.Agent, d.Spec.Model, d.Spec.Sandbox, d.Origin
		if above, ok := event.Above(v.Run); ok && above == d.Parent {
			v.Parent, v.Call = d.Parent, d.Call
		}
	case *event.RunResumed:
		if d.Fork != "" {
			v.ForkOf, v.ForkedAfter = d.Fork, e.Seq-1
		}
		if d.Models != nil {
			v.Model = d.Models.Model
			if a := d.Models.Agent; a != nil {
				v.Agent, v.Sandbox = a.Agent, a.Sandbox
			}
		}
	}
}

// only leaves in v what is of a page.
func (v *shown) only(p page) {
	v.Rows = slices.DeleteFunc(v.Rows, func(r trace.Row) bool { return !p.holds(r.Step) })
	v.Compactions = slices.DeleteFunc(v.Compactions, func(c trace.Compaction) bool { return !p.holds(c.Step) })
}

// table prints a run for people; contexts adds what its requests held.
func (a *app) table(v *shown, events []event.Event, contexts bool) error {
	var out strings.Builder
	fmt.Fprintf(&out, "run %s of %s, model %s", v.Run, name(cmp.Or(v.Agent, "an agent without a name")), name(v.Model))
	if r := v.looks.reported; r != "" && !strings.HasSuffix(v.Model, r) {
		fmt.Fprintf(&out, " (the server says %s)", name(r))
	}
	fmt.Fprintf(&out, "\n%s", strings.TrimSpace(v.Status+" "+v.Reason))
	if v.Damage != nil {
		fmt.Fprintf(&out, ", as the store has noted; the journal is sound up to event %d", v.Damage.Sound)
	}
	out.WriteString("\n")
	if v.Detail != "" {
		fmt.Fprintf(&out, "  %s\n", printable(v.Detail))
	}
	if v.Parent != "" {
		fmt.Fprintf(&out, "carries out the call %s of run %s; that is shown by: %s\n", name(v.Call), name(v.Parent), a.next("show %s", v.Parent))
	}
	if v.ForkOf != "" {
		fmt.Fprintf(&out, "a fork of run %s, with which it shares events 1 to %d\n", name(v.ForkOf), v.ForkedAfter)
	}
	if v.origin != nil {
		out.WriteString(recordingText(v.origin))
	}
	if v.Sandbox != "" {
		fmt.Fprintf(&out, "sandbox of its commands: %s\n", printable(v.Sandbox))
	}
	if v.Phase != "" {
		fmt.Fprintf(&out, "phase: %s\n", printable(v.Phase))
	}
	width := cmp.Or(a.wide, usualWidth)
	t := &table{head: []string{"", "STEP", "TIME", "WHAT", "RESULT", "IN", "CACHED", "OUT", "TOOK"}, flexible: 3, least: 20, narrow: a.wide > 0}
	at := func(ms int64) string {
		if width < timedWidth {
			return absent
		}
		return time.UnixMilli(ms).Format("15:04:05")
	}
	if v.Saw != nil {
		v.Saw.tell(&out, a, v)
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
			below = append([]string{carriedBy(r) + ": " + a.next("show %s", *r.ChildRun)}, below...)
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
	v.list(&out, a)
	if contexts || events != nil {
		v.kept(&out)
	}
	if events == nil {
		v.plan(&out)
		v.footer(&out)
		a.pageEnd(v, &out)
	} else if v.partial && v.Page.From > 1 {
		fmt.Fprintf(&out, "\nnothing odd was looked for in this step alone, which only all of the run shows: %s\n", a.next("show %s --all", v.Run))
	}
	for i := range events {
		detail(&out, &events[i])
	}
	if events == nil && v.Answer != "" {
		fmt.Fprintf(&out, "\n%s\n", printable(strings.TrimRight(v.Answer, "\n")))
	}
	if err := a.write([]byte(fitted(out.String(), a.wide))); err != nil {
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
	if v.elsewhere != nil {
		a.say("  %v", v.elsewhere)
		return
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
		if m := v.looks.renamed[r.Event]; m != "" {
			below = append(below, "the server says that it is "+name(m))
		}
		if result = text(r.FinishReason); r.FinishReason == nil {
			result = v.looks.modelState(r)
		}
	}
	if r.ErrorType != nil {
		below = append(below, *r.ErrorType+": "+text(r.ErrorMessage))
	}
	if !slices.ContainsFunc(r.Anomalies, func(an trace.Anomaly) bool { return an.Kind == anomaly.UsageMismatch }) { // which says the same
		below = append(below, r.Unreconciled...)
	}
	for _, an := range r.Anomalies {
		said, _, _ := strings.Cut(an.Text, ". ")
		below = append(below, strings.ReplaceAll(an.Kind, "_", " ")+": "+said)
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
