// Package trace answers: what happened in a run, step by step?
//
// A trace is the journal read back: [Fold] takes events one by one and gives a
// [Row] for every model call and every tool call, with the fields that tools
// for looking at runs agree on. Nothing is recorded for it, and it is pure.
package trace

import (
	"fmt"
	"strconv"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// Row is one model call or one tool call. A field that does not belong to the
// row, or that nobody reported, is null.
type Row struct {
	Run string `json:"run_id"`
	// Step counts from 1; calls carry the step of the reply that made them.
	Step int64 `json:"step"`
	// Time is when it began, in Unix milliseconds.
	Time int64 `json:"ts"`
	// Event is the sequence of the event that the row begins with.
	Event int64 `json:"event"`
	// Model is the id as the server reported it, else as it was asked for.
	Model            *string `json:"model"`
	PromptTokens     *int64  `json:"prompt_tokens"`
	CachedTokens     *int64  `json:"cached_tokens"`
	CompletionTokens *int64  `json:"completion_tokens"`
	LatencyMS        *int64  `json:"latency_ms"`
	FinishReason     *string `json:"finish_reason"`
	Call             *string `json:"call_id"`
	ToolName         *string `json:"tool_name"`
	ToolArgsHash     *string `json:"tool_args_hash"`
	ToolResultSize   *int64  `json:"tool_result_size"`
	ToolResultShown  *int64  `json:"tool_result_shown"`
	ToolStatus       *string `json:"tool_status"`
	ErrorType        *string `json:"error_type"`
	ErrorMessage     *string `json:"error_message"`
	// ToolShaped says what was done to a result before it was shown, in the words
	// that the model was told; left out where it was shown as it came.
	ToolShaped []string `json:"tool_shaped,omitempty"`
	// Anomalies are what [Mark] has put here; left out where there are none.
	Anomalies []Anomaly `json:"anomalies,omitempty"`
	// CumulativeCost is what the run had cost by the end of the row, null while
	// prices are unknown.
	CumulativeCost *USD `json:"cumulative_cost"`
	// Purpose of a model call.
	Purpose *string `json:"purpose"`
	// Attempt counts from 1: of a model call which attempt the row is, of a tool
	// call how many executions there were, of which the row has the last.
	Attempt *int64 `json:"attempt"`
	// For is the call whose outcome was unknown and is found out by this one, which
	// the harness made by itself.
	For *string `json:"for_call"`
	// Undoes is the call that this one takes back, which a person has asked for.
	Undoes *string `json:"undoes_call"`
	// ChildRun is the run that carries the call out, of a tool that is an agent; left
	// out for others. What that run has cost is in CumulativeCost once it has ended.
	ChildRun *string `json:"child_run_id,omitempty"`
	// Context is what the request of a model call held; left out where the journal
	// does not say it.
	Context *Context `json:"context,omitempty"`
}

// Fold makes rows of events. The zero value is ready; it is not safe for
// concurrent use.
type Fold struct {
	rows  []Row
	spec  *event.Spec
	cost  message.Count     // unknown until something was charged
	spent bool              // something was
	asked map[string]string // models by command id, looked up only
	step  int64
	model map[string]int // rows by command id, looked up only
	calls map[string]int // rows by call id, looked up only

	totals      map[event.Purpose]*totals // looked up only
	context     *Context                  // of the next model call
	compactions []Compaction
	placed      int // how many of them have the step that they were for
	// read is how many of them there were when a call was made last, by tool and
	// arguments; looked up only.
	read map[string]int
}

// Rows returns the rows so far, in the order in which they began. The slice is
// valid until the next Add.
func (f *Fold) Rows() []Row { return f.rows }

// Add folds the next event.
func (f *Fold) Add(e *event.Event) {
	if f.model == nil {
		f.model, f.calls, f.asked, f.totals = map[string]int{}, map[string]int{}, map[string]string{}, map[event.Purpose]*totals{}
	}
	switch d := e.Data.(type) {
	case *event.RunStarted:
		f.spec = &d.Spec
	case *event.RunResumed:
		if d.Models != nil && f.spec != nil {
			f.spec = f.spec.With(d.Models)
		}
	case *event.ContextAssembled:
		f.assembled(d)
	case *event.ContextCompacted:
		f.compacted(e, d)
	case *event.ModelCalled:
		f.step = d.Step
		f.model[d.ID], f.asked[d.ID] = len(f.rows), d.Model
		f.of(d.Purpose).calls++
		f.rows = append(f.rows, Row{Run: e.Run, Step: d.Step, Time: e.Time, Event: e.Seq,
			Model: ptr(d.Model), Purpose: ptr(string(d.Purpose)), Attempt: ptr(d.Attempt), Context: f.context})
	case *event.ModelAnswered:
		if r := f.row(f.model, d.ID); r != nil {
			r.usage(&d.Usage)
			r.LatencyMS, r.FinishReason = ptr(d.Latency), ptr(finish(d.Finish))
			if d.Model != "" {
				r.Model = ptr(d.Model)
			}
			f.spend(r, f.asked[d.ID], &d.Usage)
		}
	case *event.ModelFailed:
		if r := f.row(f.model, d.ID); r != nil {
			r.usage(&d.Usage)
			r.LatencyMS, r.FinishReason = ptr(d.Latency), ptr(string(event.FinishError))
			r.ErrorType, r.ErrorMessage = ptr(string(d.Class)), ptr(d.Message)
			if d.Usage == (message.Usage{}) && d.Partial == "" {
				r.CumulativeCost = f.total() // nothing was charged
			} else {
				f.spend(r, f.asked[d.ID], &d.Usage)
			}
		}
	case *event.CallJudged:
		f.calls[d.Call] = len(f.rows)
		r := Row{Run: e.Run, Step: f.step, Time: e.Time, Event: e.Seq, Call: ptr(d.Call), ToolName: ptr(d.Tool)}
		if d.ArgsHash != (event.Hash{}) {
			r.ToolArgsHash = ptr(d.ArgsHash.String())
		}
		f.rows = append(f.rows, r)
	case *event.ToolStarted:
		r := f.row(f.calls, d.Call)
		if r == nil && (d.For != "" || d.Undoes != "") {
			r = f.query(e, d)
		}
		if r != nil {
			r.Time, r.Attempt = e.Time, ptr(d.Attempt)
			if d.Run != "" {
				r.ChildRun = ptr(d.Run)
			}
		}
	case *event.NoticeAdded:
		f.returns(d)
	case *event.ToolFinished:
		if d.Spent != nil {
			f.charge(d.Spent.Cost)
		}
		if r := f.row(f.calls, d.Call); r != nil {
			r.ToolStatus = ptr(string(d.Status))
			r.ToolResultSize, r.ToolResultShown, r.ToolShaped = ptr(d.Size), ptr(d.Shown), d.Shaped
			r.CumulativeCost = f.total()
			if d.ID != "" {
				r.LatencyMS = ptr(d.Latency)
				if d.Status == event.StatusSuccess {
					f.readAgain(r)
				}
			}
			if r.ErrorType, r.ErrorMessage = nil, nil; d.ErrorType != "" {
				r.ErrorType, r.ErrorMessage = ptr(d.ErrorType), ptr(d.ErrorMessage)
			}
		}
	}
}

// query adds the row of a call that the model has not made.
func (f *Fold) query(e *event.Event, d *event.ToolStarted) *Row {
	f.calls[d.Call] = len(f.rows)
	f.rows = append(f.rows, Row{Run: e.Run, Step: f.step, Time: e.Time, Event: e.Seq, Call: ptr(d.Call), ToolName: ptr(d.Tool),
		ToolArgsHash: ptr(d.ArgsHash.String())})
	r := &f.rows[len(f.rows)-1]
	if d.For != "" {
		r.For = ptr(d.For)
	}
	if d.Undoes != "" {
		r.Undoes = ptr(d.Undoes)
	}
	return r
}

// spend adds what a call of a model cost, and notes the sum in its row.
func (f *Fold) spend(r *Row, model string, u *message.Usage) {
	var cost message.Count
	if c, ok := u.Cost(f.spec.Price(model)); ok {
		cost = message.Known(c.Total())
	}
	f.of(event.Purpose(*r.Purpose)).add(u, cost)
	f.charge(cost)
	r.CumulativeCost = f.total()
}

// charge adds a cost.
func (f *Fold) charge(cost message.Count) {
	if f.spent {
		cost = f.cost.Add(cost)
	}
	f.cost, f.spent = cost, true
}

// total returns what the run has cost so far, nil if that is unknown.
func (f *Fold) total() *USD {
	if n, ok := f.cost.Get(); ok {
		return ptr(USD(n))
	}
	return nil
}

// finish returns a finish reason in the words of the trace, which has none for a
// reply that the provider paused in the middle: it stopped.
func finish(f event.Finish) string {
	if f == event.FinishPause {
		f = event.FinishStop
	}
	return string(f)
}

// row returns the row under that id, or nil.
func (f *Fold) row(index map[string]int, id string) *Row {
	if i, ok := index[id]; ok {
		return &f.rows[i]
	}
	return nil
}

func (r *Row) usage(u *message.Usage) {
	r.PromptTokens, r.CachedTokens, r.CompletionTokens = known(u.Input), known(u.Cached), known(u.Output)
}

// known returns the number, or nil if it is unknown.
func known(c message.Count) *int64 {
	if n, ok := c.Get(); ok {
		return &n
	}
	return nil
}

func ptr[T any](v T) *T { return &v }

// USD is an amount in millionths of a US dollar, so that sums are exact.
type USD int64

// MarshalJSON writes the amount in dollars, with six decimals.
func (u USD) MarshalJSON() ([]byte, error) {
	sign := ""
	if u < 0 {
		sign, u = "-", -u
	}
	return fmt.Appendf(nil, "%s%d.%06d", sign, u/1_000_000, u%1_000_000), nil
}

// UnmarshalJSON reads an amount in dollars, with at most six decimals, as
// MarshalJSON writes it.
func (u *USD) UnmarshalJSON(b []byte) error {
	whole, part, _ := strings.Cut(strings.TrimPrefix(string(b), "-"), ".")
	if whole == "" || len(part) > 6 {
		return fmt.Errorf("%.40s is no amount of dollars with at most six decimals", b)
	}
	n, err := strconv.ParseUint(whole+(part + "000000")[:6], 10, 63)
	if err != nil {
		return fmt.Errorf("%.40s is no amount of dollars", b)
	}
	*u = USD(n)
	if strings.HasPrefix(string(b), "-") {
		*u = -*u
	}
	return nil
}
