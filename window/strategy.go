package window

import (
	"fmt"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// A Strategy decides what of a conversation the next request still holds. It is
// pure: a plan follows from the view alone, so that folding a journal again gives
// the same plans.
type Strategy interface {
	// Name is what agent.yaml and journals call it.
	Name() string
	// Plan says what to rewrite before the next request; the zero Plan leaves it
	// as it is. It is asked before each request that has reached [View.Trigger],
	// and before every one if Always says so.
	Plan(v *View) Plan
	// Always reports whether the strategy rewrites by itself, not only when room is
	// needed.
	Always() bool
}

// Names of the strategies.
const (
	// Layered stubs old results, then summarises the oldest groups. The default.
	Layered = "layered"
	// Full keeps everything until the budget is reached.
	Full = "full"
	// Sliding keeps what users said and the last groups.
	Sliding = "sliding"
	// Summary summarises everything but the last groups.
	Summary = "summary"
	// TaskState keeps what users said, the state, and the last three groups.
	TaskState = "state"
)

// strategies has every one, the default first.
var strategies = [...]Strategy{layered{}, full{}, sliding{}, summary{}, taskState{}}

// For returns the strategy of that name. There is none for the empty name, which
// is how old journals say that nothing is compacted; that is for the caller to
// tell apart. The error of a name that is unknown lists those that there are.
func For(name string) (Strategy, error) {
	for _, s := range strategies {
		if s.Name() == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%q is no strategy for the context: use one of %s", name, strings.Join(Strategies(), ", "))
}

// Strategies returns the names of all strategies, the default first.
func Strategies() []string {
	names := make([]string, len(strategies))
	for i, s := range strategies {
		names[i] = s.Name()
	}
	return names
}

// Kind says what a message of the conversation is.
type Kind uint8

// The kinds.
const (
	// Input: from a user. It always stays; one that does not fit is shortened.
	Input Kind = iota
	// Reply: the model's. It begins a group.
	Reply
	// Result: of a tool call of the group's reply.
	Result
	// Notice: from the harness.
	Notice
	// Digest: what an earlier compaction has put in the place of what left: summary
	// and snapshot. There is at most one.
	Digest
	// Material: retrieved. The newest stays, older ones leave like any other.
	Material
)

// Actions of a [event.ContextEdit].
const (
	// ActionStub: a line that says what was there stands in its place.
	ActionStub = "stub"
	// ActionTrim: the beginning and the end are still there.
	ActionTrim = "trim"
	// ActionDrop: the message is gone. A call and its results only ever go together.
	ActionDrop = "drop"
)

// Reasons of a [event.ContextEdit].
const (
	// OldResult: it is old, and can be read again.
	OldResult = "old_result"
	// Duplicate: a later call had the same result.
	Duplicate = "duplicate"
	// ObsoleteRead: what was read has been read again or written since.
	ObsoleteRead = "obsolete_read"
	// HandledError: the tool has succeeded since.
	HandledError = "handled_error"
	// OverBudget: there was no other way to make it fit.
	OverBudget = "over_budget"
)

// Entry is one message of the conversation as it stands now.
type Entry struct {
	// Number is the message's place in the whole conversation, from 0, evicted ones
	// included; see [event.ContextCompacted]. A Digest has -1.
	Number int64
	Kind   Kind
	// Msg is the message as it stands in requests now. It must not be changed.
	Msg *message.Message
	// Tokens is its size.
	Tokens int64
	// Stubbed: an earlier compaction has taken its content already.
	Stubbed bool

	// Of a Result. Call is the id that read_artifact takes, Tool and Args what was
	// called (Args canonical).
	Call, Tool, Args string
	Failed           bool
	// Handled: it failed, and the same tool has succeeded since.
	Handled bool
	// Same is the id of a later call that had the same tool, arguments and result;
	// Newer one that read or wrote what this one has read, so that it is out of date.
	Same, Newer string
	// Paged: the whole result can be had with read_artifact.
	Paged bool
}

// View is what a strategy sees.
type View struct {
	Spec    *event.WindowSpec
	Entries []Entry
	// Fixed is the size of what stands before the conversation: contract, rules and
	// tools; Tail that of the volatile block after it.
	Fixed, Tail int64
	// Budget is the most that the request may have. Trigger is where a compaction
	// begins and Target where it must land, both in tokens of the whole request; see
	// [Marks].
	Budget, Trigger, Target int64
	// Forced: something must be given up now, whatever the size: a server has
	// refused the request as too long.
	Forced bool
	// NoSummary: no model can be asked for a summary (any more).
	NoSummary bool
	// Digest is the sum of what the last compaction has left, empty for none.
	Digest DigestText
	// Reach says with which tools the run can read what has left.
	Reach Reach
}

// Reach says which of the harness's tools for reading back are offered.
type Reach struct {
	// Search: search_history, which finds every message of the run, whether it is
	// still in the context or not. Page: read_artifact, for the results whose
	// [Entry.Paged] is set.
	Search, Page bool
}

// Total returns the size of the request, in tokens.
func (v *View) Total() int64 {
	n := v.Fixed + v.Tail
	for i := range v.Entries {
		n += v.Entries[i].Tokens
	}
	return n
}

// DigestText is what stands in the place of messages that have left.
type DigestText struct {
	// Summary is what a model wrote of them, Snapshot what the harness has taken
	// from them by itself.
	Summary, Snapshot string
	// Upto: they are those before this number.
	Upto int64
	// Reach is what the run offers to read them with; it is said to the model.
	Reach Reach
}

// Empty reports whether there is nothing to stand in the place of anything.
func (d *DigestText) Empty() bool { return d.Summary == "" && d.Snapshot == "" }

// Plan is a rewrite. Nothing of a plan ever parts a call from its result.
type Plan struct {
	// Edits change messages that stay.
	Edits []event.ContextEdit
	// Upto: the messages before this number leave, apart from Input; whole groups.
	// 0: none does.
	Upto int64
	// Summarise: a model is to be asked first for a summary of what leaves. Without,
	// the snapshot alone stands in its place.
	Summarise bool
	// Why says what made it necessary, for the journal.
	Why string
}

// Zero reports whether the plan leaves everything as it is.
func (p *Plan) Zero() bool { return len(p.Edits) == 0 && p.Upto == 0 }
