// Package trace answers: what happened in a run, step by step?
//
// A trace is the journal read back: [Fold] takes events one by one and gives a
// [Row] for every model call and every tool call, with the fields that tools
// for looking at runs agree on. Nothing is recorded for it, and it is pure.
package trace

import (
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
	// Attempt counts from 1: of a model call which attempt the row is at its step and
	// for its purpose, as [Attempts] counts, of a tool call how many executions there
	// were, of which the row has the last.
	Attempt *int64 `json:"attempt"`
	// For is the call whose outcome was unknown and is found out by this one, which
	// the harness made by itself.
	For *string `json:"for_call"`
	// Undoes is the call that this one takes back, which a person has asked for.
	Undoes *string `json:"undoes_call"`

	// CacheWriteTokens are a part of PromptTokens, as CachedTokens are;
	// ReasoningTokens of CompletionTokens.
	CacheWriteTokens *int64 `json:"cache_write_tokens"`
	ReasoningTokens  *int64 `json:"reasoning_tokens"`
	// CachedPPM is CachedTokens in millionths of PromptTokens.
	CachedPPM *int64 `json:"cached_ppm"`
	// Unreconciled says in sentences where the server's figures contradict each
	// other, or are none, so that neither they nor the cost are to be relied on; left out where
	// they don't.
	Unreconciled []string `json:"unreconciled,omitempty"`
	// Cost is what the model call itself cost, and CostParts the same by kind of
	// token; both are null while a price or the usage is unknown. Of a call that an
	// agent carried out see Below.
	Cost      *USD       `json:"cost_usd"`
	CostParts *CostParts `json:"cost_parts"`
	// FirstMS is the time from sending to the first token of the reply.
	FirstMS *int64 `json:"first_ms"`
	// WaitedMS is how long it waited before it began: a model call for its turn at its
	// server, a tool call for the word of a person who was asked.
	WaitedMS *int64 `json:"waited_ms"`
	// ToolMS is the time of all executions of a tool call together; LatencyMS has
	// that of the last.
	ToolMS *int64 `json:"tool_ms"`

	// ChildRun is the run that carries the call out, of a tool that is an agent; left
	// out for others.
	ChildRun *string `json:"child_run_id,omitempty"`
	// Below is what that run has used, and those below it, once it has ended: it is
	// in CumulativeCost, and in the rows of that run a second time.
	Below *Below `json:"below,omitempty"`
	// Context is what the request of a model call held; left out where the journal
	// does not say it.
	Context *Context `json:"context,omitempty"`
}

// Fold makes rows of events, and sums. The zero value is ready; it is not safe for
// concurrent use.
type Fold struct {
	rows []Row
	spec *event.Spec
	// recorded: another program carries the run out, and how long anything takes is not
	// known; untimed: so it was, at least up to a fork.
	recorded, untimed bool
	step              int64
	// gap: events were left out, so that what came before is not known.
	gap    bool
	models map[string]*modelCall // by command id, looked up only
	reply  reply                 // the last one
	acted  int64                 // the number of the last step that was acted on
	tries  Attempts
	calls  map[string]int   // rows by call id, looked up only
	asked  map[string]int64 // when a person was asked about a call, looked up only

	sums       sums
	byModel    []ModelTotal
	modelPlace map[string]int // in byModel, looked up only
	forked     *Totals        // as things stood when the run was forked
	clock      clock

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
	if f.models == nil {
		f.models, f.calls, f.asked, f.totals, f.modelPlace = map[string]*modelCall{}, map[string]int{}, map[string]int64{}, map[event.Purpose]*totals{}, map[string]int{}
	}
	f.clock.add(e)
	switch d := e.Data.(type) {
	case *event.RunStarted:
		f.spec, f.recorded, f.untimed = &d.Spec, d.Origin != nil, d.Origin != nil
	case *event.RunResumed:
		f.resumed(d)
	case *event.ContextAssembled:
		f.assembled(d)
	case *event.ContextCompacted:
		f.compacted(e, d)
	case *event.ModelCalled:
		f.called(e, d)
	case *event.ModelAnswered:
		f.answered(d)
	case *event.ModelFailed:
		f.failed(d)
	case *event.ReplyParsed:
		f.parsed(d)
	case *event.CallJudged:
		f.judged(e, d)
	case *event.ApprovalAsked:
		f.asked[d.Call] = e.Time
	case *event.ApprovalGiven:
		f.given(d.Call, e.Time)
	case *event.ToolStarted:
		f.toolStarted(e, d)
	case *event.NoticeAdded:
		f.returns(d)
	case *event.ToolFinished:
		f.toolFinished(e, d)
	}
}

// Gap says that the events up to the next one to be added were left out. What the
// run has cost by then is not known any more, and no row has it from here on.
func (f *Fold) Gap() {
	f.gap = true
	f.clock = clock{}
}

// resumed folds that the run goes on, perhaps as a fork of another.
func (f *Fold) resumed(d *event.RunResumed) {
	if d.Fork != "" {
		before := f.here()
		f.forked, f.recorded = &before, false
	}
	if d.Models != nil && f.spec != nil {
		f.spec = f.spec.With(d.Models)
	}
}

// judged adds the row of a call that a model has made.
func (f *Fold) judged(e *event.Event, d *event.CallJudged) {
	f.calls[d.Call] = len(f.rows)
	r := Row{Run: e.Run, Step: f.step, Time: e.Time, Event: e.Seq, Call: ptr(d.Call), ToolName: ptr(d.Tool)}
	if d.ArgsHash != (event.Hash{}) {
		r.ToolArgsHash = ptr(d.ArgsHash.String())
	}
	f.rows = append(f.rows, r)
}

// given notes how long a call has waited for a person.
func (f *Fold) given(call string, now int64) {
	since, ok := f.asked[call]
	if !ok {
		return
	}
	delete(f.asked, call)
	if r := f.row(call); r != nil {
		r.WaitedMS = plus(r.WaitedMS, now-since)
	}
}

func (f *Fold) toolStarted(e *event.Event, d *event.ToolStarted) {
	r := f.row(d.Call)
	if r == nil && (d.For != "" || d.Undoes != "") {
		r = f.query(e, d)
	}
	if r == nil {
		return
	}
	if r.Attempt == nil {
		f.sums.toolCalls++
	}
	r.Time, r.Attempt = e.Time, ptr(d.Attempt)
	if d.Run != "" {
		r.ChildRun = ptr(d.Run)
	}
}

func (f *Fold) toolFinished(e *event.Event, d *event.ToolFinished) {
	f.given(d.Call, e.Time)
	f.sums.spent(d.Spent)
	r := f.row(d.Call)
	if r == nil {
		return
	}
	r.ToolStatus = ptr(string(d.Status))
	r.ToolResultSize, r.ToolResultShown, r.ToolShaped = ptr(d.Size), ptr(d.Shown), d.Shaped
	r.CumulativeCost = f.total()
	r.Below = r.Below.and(d.Spent)
	if d.ID != "" {
		r.LatencyMS = ptr(d.Latency)
		r.ToolMS = plus(r.ToolMS, d.Latency)
		if d.Status == event.StatusSuccess {
			f.readAgain(r)
		}
	}
	if f.recorded {
		r.LatencyMS, r.ToolMS = nil, nil
	}
	if r.ErrorType, r.ErrorMessage = nil, nil; d.ErrorType != "" {
		r.ErrorType, r.ErrorMessage = ptr(d.ErrorType), ptr(d.ErrorMessage)
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

// row returns the row of a call, or nil.
func (f *Fold) row(call string) *Row {
	if i, ok := f.calls[call]; ok {
		return &f.rows[i]
	}
	return nil
}

// known returns the number, or nil if it is unknown.
func known(c message.Count) *int64 {
	if n, ok := c.Get(); ok {
		return &n
	}
	return nil
}

// plus returns the sum of n, nil for nothing, and more, of which neither is below 0 nor
// the sum above [message.MaxCount].
func plus(n *int64, more int64) *int64 {
	sum := max(more, 0)
	if n != nil {
		sum = message.Known(*n).Add(message.Known(sum)).Or(message.MaxCount)
	}
	return &sum
}

func ptr[T any](v T) *T { return &v }
