package trace

import (
	"rein.example/rein/event"
	"rein.example/rein/message"
)

// Context is what a request held, by block.
type Context struct {
	// Tokens is the size of the request as the server was expected to count it, and
	// Budget the most that it might have had, null if that was not known.
	Tokens int64  `json:"tokens"`
	Budget *int64 `json:"budget"`
	// Method says how Tokens came about: exact, calibrated or estimated.
	Method string `json:"method"`
	// Messages is the number of messages of the conversation in it.
	Messages int64 `json:"messages"`
	// Blocks are the sizes of its blocks as they were counted, in the order of the
	// request; package window names them. Where Method is calibrated their sum is not
	// Tokens.
	Blocks []event.BlockSize `json:"blocks"`
}

// Compaction is one rewrite of the context.
type Compaction struct {
	// Step is that of the request it was made for; Time is in Unix milliseconds, and
	// Event the event's sequence.
	Step  int64 `json:"step"`
	Time  int64 `json:"ts"`
	Event int64 `json:"event"`
	// Strategy planned it; Why says what made it necessary.
	Strategy string `json:"strategy"`
	Why      string `json:"why"`
	// Before and After are the sizes of the request, without the tail, in tokens.
	Before int64 `json:"before_tokens"`
	After  int64 `json:"after_tokens"`
	// Upto: the messages before this number have left, apart from those of users; 0:
	// none has.
	Upto int64 `json:"upto"`
	// Summary and Snapshot stand in their place.
	Summary  string `json:"summary"`
	Snapshot string `json:"snapshot"`
	// Edits change messages that stay.
	Edits []event.ContextEdit `json:"edits"`
	// Failed says why summaries were refused on the way.
	Failed []string `json:"failed"`
	// ReadAgain counts the calls that came after it, and before the next rewrite, of
	// tools that only read, and that had succeeded with the same arguments before it:
	// what it took away and was needed.
	ReadAgain int64 `json:"read_again"`
}

// Compactions returns the rewrites so far. The slice is valid until the next Add.
func (f *Fold) Compactions() []Compaction { return f.compactions }

// compacted adds a rewrite; the next request says for which step it was.
func (f *Fold) compacted(e *event.Event, d *event.ContextCompacted) {
	f.compactions = append(f.compactions, Compaction{Step: f.step, Time: e.Time, Event: e.Seq, Strategy: d.Strategy, Why: d.Why,
		Before: d.Before, After: d.After, Upto: d.Upto, Summary: d.Summary, Snapshot: d.Snapshot, Edits: notNil(d.Edits), Failed: notNil(d.Failed)})
}

// budget is the most that a request might have had; an event has 0 where that is not
// known.
func budget(d *event.ContextAssembled) message.Count {
	if d.Budget <= 0 {
		return 0
	}
	return message.Known(d.Budget)
}

// assembled keeps what the next request holds.
func (f *Fold) assembled(d *event.ContextAssembled) {
	f.context = &Context{Tokens: d.Tokens, Budget: known(budget(d)), Method: d.Method, Messages: d.Messages, Blocks: notNil(d.Blocks)}
	for ; f.placed < len(f.compactions); f.placed++ {
		f.compactions[f.placed].Step = d.Step
	}
}

// readAgain notes that a call has succeeded, and whether it is one of before the last
// rewrite.
func (f *Fold) readAgain(r *Row) {
	if r.ToolArgsHash == nil || !f.reads(*r.ToolName) {
		return
	}
	key := *r.ToolName + " " + *r.ToolArgsHash
	before, seen := f.read[key]
	if n := len(f.compactions); seen && before < n {
		f.compactions[n-1].ReadAgain++
	}
	if f.read == nil {
		f.read = map[string]int{}
	}
	f.read[key] = len(f.compactions)
}

// reads reports whether a tool only reads what may be in the context: not what a
// rewrite has left out, nor what changes while it is waited for.
func (f *Fold) reads(name string) bool {
	if f.spec == nil {
		return false
	}
	for i := range f.spec.Tools {
		if t := &f.spec.Tools[i]; t.Name == name {
			return t.Effect == event.Read && !t.Harness && !t.Polling
		}
	}
	return false
}

// notNil returns the list, empty rather than nil, which JSON shows as null.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
