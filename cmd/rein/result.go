package main

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein"
	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/message"
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
		Run: r.Run, Status: r.Status, Reason: reason(r), OK: r.OK, Answer: r.Answer, Result: r.Value,
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
	a.outcome(r)
	switch {
	case r.Status == "finished" && r.OK:
		return nil
	case r.Status == "paused" && r.Cause == event.CauseInterrupted:
		return &exit{code: interrupted}
	}
	return &exit{code: badEnd}
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
	line := fmt.Sprintf("run %s: %s, %s (%s)", r.Run, mark, reason(r), strings.Join(parts, ", "))
	if r.BestEffort {
		line += "; the answer is a best effort"
	}
	a.say("%s", line)
	if r.Detail != "" {
		a.say("  %s", r.Detail)
	}
	for _, q := range r.Pending {
		a.say("  %s", a.question(&q))
	}
	if r.Status == "paused" && r.Cause != event.CauseTurnDone {
		a.say("  then go on with: %s", a.next("resume %s", r.Run))
	}
}

// question says what a run waits for, and the commands that answer.
func (a *app) question(q *engine.Question) string {
	what := fmt.Sprintf("%s %s %s", q.Call, q.Tool, clip(string(q.Args), 200))
	if q.Settle {
		return fmt.Sprintf("nobody knows whether this was done: %s\n    %s --done | --not-done", what, a.next("settle %s %s", q.Run, q.Call))
	}
	return fmt.Sprintf("waits for approval: %s\n    %s\n    %s", what, a.next("approve %s %s", q.Run, q.Call), a.next("reject %s %s", q.Run, q.Call))
}

func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// clip returns the beginning of a text on one line.
func clip(s string, most int) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return s
}
