// Package recording answers: what was said in a recorded conversation?
//
// It reads conversations as other programs write them down: lists of messages in
// the form of Chat Completions, one conversation a line (JSONL), one JSON value,
// or an array of them. What it returns is paired as Rein wants it: every tool
// call has exactly one result, right after it. Whatever had to be changed for
// that is reported.
//
// The package does no I/O of its own; it reads what it is given.
package recording

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// Bounds of what is kept of the other members of a conversation: so many, each of so
// many bytes of JSON.
const (
	MaxLabels = 64
	MaxLabel  = 16 << 10
)

// Conversation is one recorded conversation.
type Conversation struct {
	// Format is that of the recording: [ChatCompletions], or what a trajectory calls
	// its schema, such as ATIF-v1.7.
	Format string
	// ID is what the recording calls it, else "conversation N", counted from 1 in
	// what was read.
	ID string
	// System are the texts of the system messages that it begins with.
	System []string
	// Messages are all others, paired. System messages among them came later.
	Messages []message.Message
	// Tools are those that the recording says were offered; nil if it does not say.
	Tools []Tool
	// Labels are the other members that the recording has of the conversation, such as
	// a reward, in their order; LeftOut names those that are longer than [MaxLabel], or
	// more than [MaxLabels].
	Labels  []event.Label
	LeftOut []string
	// Agent and Model are what the recording says of who was recorded; empty: nothing.
	Agent, Model string
	// Facts say more of each of Messages; nil if the recording says nothing more.
	Facts []Fact
	// End is how the recording says that the run ended; nil if it does not.
	End *End
	// Repairs are what had to be changed, each kind once, in the order of the
	// constants.
	Repairs []Repair
}

// ChatCompletions is the format of lists of messages as Chat Completions has them.
const ChatCompletions = "chat-completions"

// Fact is what a recording says of one message besides its parts.
type Fact struct {
	// Time in Unix milliseconds, 0 if it is unknown.
	Time int64
	// Model has written the message; empty: as the conversation has it. Usage is what it
	// took.
	Model string
	Usage message.Usage
	// Status is what the recording says became of the call whose result the message is,
	// in the journal's words, and ErrorType of which kind the error is; empty: nothing.
	Status    event.Status
	ErrorType string
}

// End is how a run ended, in the journal's words.
type End struct {
	// Reason is why it finished; empty if it has not. Cause is why it paused.
	Reason event.Reason
	Cause  event.Cause
	OK     bool
	Detail string
	// Result is the submitted JSON value; empty for none.
	Result jsontext.Value
}

// LabelCost is the label with what the steps of a trajectory say that they cost, added
// up, as a JSON number of US dollars.
const LabelCost = "steps_cost_usd"

// Tool is a tool as a recording declares it.
type Tool struct {
	Name, Description string
	// Schema is the JSON Schema of its arguments; empty if there is none.
	Schema jsontext.Value
}

// RepairKind is a kind of change, in a word for machines.
type RepairKind string

// The kinds of repairs.
const (
	// BadText: invalid UTF-8 or lone surrogates became U+FFFD. Counted once.
	BadText RepairKind = "bad_text"
	// NamelessCall: a call without a name got one.
	NamelessCall RepairKind = "nameless_call"
	// MissingID: a call or a result had no id; results were matched by order.
	MissingID RepairKind = "missing_id"
	// MissingResult: a call without a result got one that says so.
	MissingResult RepairKind = "missing_result"
	// OrphanResult: a result that belongs to no call was dropped.
	OrphanResult RepairKind = "orphan_result"
	// MovedResult: results did not stand right after their calls, in order. Counted
	// once.
	MovedResult RepairKind = "moved_result"
	// UnknownPart: a piece of a message of a kind that Rein does not know stands as
	// its JSON.
	UnknownPart RepairKind = "unknown_part"
	// LooseResult: what came back from no call stands as a message of a user's.
	LooseResult RepairKind = "loose_result"
)

// kinds is their order, and what each is to people; %d is the count, %s an s for
// more than one.
var kinds = []struct {
	kind RepairKind
	text string
}{
	{BadText, "text that is not UTF-8 was replaced"},
	{NamelessCall, "%d call%s without a name"},
	{MissingID, "%d call%s or results without an id"},
	{MissingResult, "%d call%s without a result"},
	{OrphanResult, "%d result%s without a call dropped"},
	{MovedResult, "results moved next to their calls"},
	{UnknownPart, "%d part%s of an unknown kind kept as JSON"},
	{LooseResult, "%d result%s of no call kept as messages"},
}

// Repair says how often something had to be changed.
type Repair struct {
	Kind  RepairKind `json:"kind"`
	Count int        `json:"count"`
}

// String says it to people.
func (r Repair) String() string {
	for _, k := range kinds {
		if k.kind != r.Kind {
			continue
		}
		if !strings.Contains(k.text, "%") {
			return k.text
		}
		s := "s"
		if r.Count == 1 {
			s = ""
		}
		return fmt.Sprintf(k.text, r.Count, s)
	}
	return string(r.Kind)
}

// repairs counts by kind.
type repairs map[RepairKind]int

// list returns them in the fixed order.
func (r repairs) list() []Repair {
	var out []Repair
	for _, k := range kinds {
		if n := r[k.kind]; n > 0 {
			out = append(out, Repair{k.kind, n})
		}
	}
	return out
}

// Error is a conversation, or a stretch of input, that could not be read.
type Error struct {
	// Line is the line that it begins on, from 1; Number its place among the
	// conversations, from 1.
	Line, Number int
	Err          error
}

// Error says where and why.
func (e *Error) Error() string {
	return fmt.Sprintf("conversation %d, line %d: %v", e.Number, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
