package main

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein"
	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/toolkit/ask"
	"rein.example/rein/trace"
)

// resultObject is what --json prints for run and resume. What is not known is
// null.
type resultObject struct {
	Run        string            `json:"run"`
	Status     string            `json:"status"`
	Reason     string            `json:"reason"`
	OK         bool              `json:"ok"`
	Answer     string            `json:"answer"`
	Result     jsontext.Value    `json:"result"`
	Steps      int64             `json:"steps"`
	ToolCalls  int64             `json:"tool_calls"`
	Usage      usageObject       `json:"usage"`
	CostUSD    *trace.USD        `json:"cost_usd"`
	DurationMS int64             `json:"duration_ms"`
	BestEffort bool              `json:"best_effort"`
	Detail     string            `json:"detail,omitempty"`
	Pending    []engine.Question `json:"pending"`
}

type usageObject struct {
	Input  *int64 `json:"input_tokens"`
	Cached *int64 `json:"cached_tokens"`
	Output *int64 `json:"output_tokens"`
	Total  *int64 `json:"total_tokens"`
}

func newResultObject(r *rein.Result) *resultObject {
	o := &resultObject{
		Run: r.Run, Status: r.Status, Reason: reason(r), OK: ended(r), Answer: r.Answer, Result: r.Value,
		Steps: r.Steps, ToolCalls: r.ToolCalls, DurationMS: r.Duration, BestEffort: r.BestEffort, Detail: r.Detail,
		Pending: r.Pending, CostUSD: usd(r.Cost),
		Usage: usageObject{
			Input: known(r.Usage.Input), Cached: known(r.Usage.Cached), Output: known(r.Usage.Output),
			Total: known(r.Usage.Input.Add(r.Usage.Output)),
		},
	}
	if o.Result == nil {
		o.Result = jsontext.Value("null")
	}
	if o.Pending == nil {
		o.Pending = []engine.Question{}
	}
	return o
}

// ended reports whether a run has ended well. One that is paused has not ended, though
// what a chat has answered may be all that was asked of it.
func ended(r *rein.Result) bool { return r.Status == "finished" && r.OK }

// reason is why a run finished, or why it paused.
func reason(r *rein.Result) string {
	if r.Reason != "" {
		return string(r.Reason)
	}
	return string(r.Cause)
}

func known(c message.Count) *int64 {
	if n, ok := c.Get(); ok {
		return &n
	}
	return nil
}

// finish prints where a run stands, and gives the exit code that it deserves.
func (a *app) finish(r *rein.Result, c *carrying) error {
	switch {
	case a.json:
		if err := a.print(newResultObject(r)); err != nil {
			return err
		}
	case c.events: // they say it all
	default:
		if err := a.answer(r); err != nil {
			return err
		}
	}
	if c.idle && len(r.Pending) > 0 {
		a.stillWaits(r)
	} else {
		a.outcome(r)
	}
	switch {
	case r.Status == "finished" && r.OK:
		return nil
	case r.Status == "paused" && (c.interrupted || r.Cause == event.CauseInterrupted && !c.unread):
		return &exit{code: interrupted}
	}
	return &exit{code: badEnd}
}

// stillWaits says that nothing was done, since only a person can move the run on.
func (a *app) stillWaits(r *rein.Result) {
	a.say("run %s: nothing was done; it still waits for an answer", r.Run)
	a.questions(r.Pending)
	a.say("  then go on with: %s", a.next("resume %s", r.Run))
}

// answer prints what the run was for.
func (a *app) answer(r *rein.Result) error {
	text := r.Answer
	if text == "" && len(r.Value) > 0 {
		text = string(r.Value)
	}
	if text == "" {
		return nil
	}
	return a.write([]byte(strings.TrimRight(text, "\n") + "\n"))
}

// maxDetail is the most columns of what is said of a run's end.
const maxDetail = 1000

// outcome says on stderr how the run stands and what to do next.
func (a *app) outcome(r *rein.Result) {
	var parts []string
	parts = append(parts, plural(r.Steps, "step"), plural(r.ToolCalls, "tool call"))
	if n, ok := r.Usage.Input.Add(r.Usage.Output).Get(); ok {
		parts = append(parts, plural(n, "token"))
	}
	if c := usd(r.Cost); c != nil {
		parts = append(parts, dollars(*c))
	}
	parts = append(parts, fmt.Sprintf("%.1f s", float64(r.Duration)/1000))
	mark := a.paint(green, r.Status)
	if !r.OK {
		mark = a.paint(yellow, r.Status)
	}
	effort := ""
	if r.BestEffort {
		effort = "; the answer is a best effort"
	}
	a.say("run %s: %s, %s (%s)%s", r.Run, mark, reason(r), strings.Join(parts, ", "), effort)
	if r.Detail != "" {
		a.say("  %s", clip(r.Detail, maxDetail))
	}
	a.questions(r.Pending)
	if r.Status == "paused" && r.Cause != event.CauseTurnDone {
		a.say("  then go on with: %s", a.next("resume %s", r.Run))
	}
}

// questions says what a run waits for.
func (a *app) questions(open []engine.Question) {
	words := 0
	for i := range open {
		a.say("  %s", a.question(&open[i]))
		if open[i].Words {
			words++
		}
	}
	if words > 1 {
		a.say("  an answer with --input is taken for the first of the %d things that the model asks", words)
	}
}

// question says what a run waits for, and the commands that answer.
func (a *app) question(q *engine.Question) string {
	if q.Words {
		return fmt.Sprintf("the model asks: %s\n    %s\n    %s", clip(strings.ReplaceAll(ask.Text(q.Args), "\n", " "), 400),
			a.next("resume %s --input 'THE ANSWER'", q.Run), a.answering("reject", q.Run, q.Call))
	}
	what := fmt.Sprintf("%s %s %s", name(q.Call), name(q.Tool), clip(string(q.Args), 200))
	if q.Settle {
		return fmt.Sprintf("nobody knows whether this was done: %s\n    %s\n    %s", what,
			a.answering("settle --done", q.Run, q.Call), a.answering("settle --not-done", q.Run, q.Call))
	}
	return fmt.Sprintf("waits for approval: %s\n    %s\n    %s", what,
		a.answering("approve", q.Run, q.Call), a.answering("reject", q.Run, q.Call))
}

// answering returns the command line that answers a question. The model chose
// the call's id; the shell must take it for a word, and so must the command.
func (a *app) answering(command, run, call string) string {
	if strings.HasPrefix(call, "-") {
		command += " --"
	}
	return a.next("%s %s %s", command, run, quoted(call))
}

func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	if stem, ok := strings.CutSuffix(word, "dy"); ok { // body; days end otherwise
		return fmt.Sprintf("%d %sdies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, word)
}
