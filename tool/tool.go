// Package tool answers: what can a model call, what may that change, and what
// came of it?
//
// A [Tool] is declared once, with a four-part document, a JSON Schema of its
// arguments and an [event.Effect]. [New] makes one from a typed Go function;
// MCP servers and configured tools implement the interface themselves. A
// [Registry] holds the tools of a run under unique names.
//
// Tools do not check their own permissions, deadlines or limits: the engine
// that runs them does, for every source alike.
package tool

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// A Tool can be called by a model. It is safe for concurrent use.
type Tool interface {
	// Definition returns what the tool is. It returns the same value at every
	// call, which nobody changes.
	Definition() *Definition
	// Run executes one call whose arguments satisfy the schema. It should
	// return soon after ctx ends. An [*Error] is told to the model as it is;
	// any other error is told as [ErrorOf] says. If the tool writes and ctx ended,
	// Run panicked or its connection was lost after it began, the outcome counts
	// as unknown unless the error is an *Error that says otherwise.
	Run(ctx context.Context, call *Call) (*Result, error)
}

// Definition declares a tool. The zero value of each optional field is the
// careful choice.
type Definition struct {
	// Name matches [a-zA-Z0-9_-]{1,64}: what every wire takes.
	Name string
	Doc  Doc
	// Schema is a JSON Schema (2020-12) of type object.
	Schema jsontext.Value
	// Effect is what running the tool may change. Empty means once.
	Effect event.Effect
	// Timeout ends an execution. 0 means 60 s, unless Agent is set.
	Timeout time.Duration
	// ResultTokens is the most that a result may show. 0 means 2,000.
	ResultTokens int
	// Confirm names the tool that finds out what became of a call whose outcome
	// is unknown. It only reads, and its JSON value is {"done": true} or
	// {"done": false}. The harness asks it by itself, if it may run unasked, with
	// those of the call's arguments that it has too, and with the call's key if it
	// has an argument idempotency_key. done: the call is a success; not done: it
	// is executed once more, under the same key.
	Confirm string
	// KeyFields name the arguments that make a call the same business act, for
	// the idempotency key. Empty: all of them.
	KeyFields []string
	// Resources name the arguments that say what a call works on, such as a path
	// or a list of paths. Of the calls of one reply, a read and a write that name
	// nothing in common (nor a folder and what is in it) run side by side. Empty:
	// a call may work on anything.
	Resources []string
	// Polling says that the same call is meant to be repeated.
	Polling bool
	// Harness marks Rein's own tools, which need no permission.
	Harness bool
	// Sensitive: a permission by effect class does not cover the tool; it has to
	// be named.
	Sensitive bool
	// Group is the set to which the tool belongs where there are too many for one
	// list: requests do not offer it then, and the model opens the group when it
	// needs it. Empty: always offered.
	Group string
	// MaxCalls bounds the executions of this tool in a run. 0: no bound.
	MaxCalls int
	// Output is a JSON Schema of the result's JSON value. A result that does not
	// satisfy it is shown all the same, with what differs. Empty, or beyond what
	// [schema.Compile] reads: not checked.
	Output jsontext.Value
	// Show says how a JSON result is shortened, and what is noise in any result.
	Show event.ShowSpec
	// Agent says that the tool is another agent, of that name: a call of it is a run of
	// its own, which the engine carries out. Run is not called then, and Timeout bounds
	// the time of that run, 0 as its own limits do.
	Agent string
	// Pin is the hash of the definition as another process gave it. A run that
	// goes on with another one asks first.
	Pin string
}

// An Undoer is a tool that can take back what a call did.
type Undoer interface {
	Tool
	// Undo takes back one executed call, given the outcome that it had; a call
	// that was never carried out is no error. What cannot be undone gives an
	// *Error of type cannot_undo.
	Undo(ctx context.Context, call *Call, outcome *event.ToolFinished) error
}

// Doc is the four-part document that the model reads. The third part, each
// parameter's meaning, stands in the schema's descriptions.
type Doc struct {
	// What it does, in one or two sentences.
	What string
	// When to use it, and when not.
	When string
	// Returns says what comes back: also what "nothing found" looks like, and
	// which result means that no further call is needed.
	Returns string
}

// Call is one execution.
type Call struct {
	// Run and ID name the run and the call.
	Run, ID string
	// Args are canonical JSON that satisfies the schema, secrets filled in.
	Args jsontext.Value
	// Key is the idempotency key; equal keys mean the same act.
	Key string
	// Attempt counts executions of this call from 1.
	Attempt int
	// Seen is what this run knows of the resources that the call names.
	Seen []event.Seen
	// Artifact returns the whole result of an earlier call of this run, or of one
	// that the run came from, given the call's id. It is there for tools of the
	// harness only, else nil. An [*Error] of type not_found names the calls that
	// there are.
	Artifact func(ctx context.Context, call string) (*Artifact, error)
	// History returns every message of this run's conversation so far, in order,
	// those that are not in the context any more included; before them those of the
	// runs that it came from, the first of them first. It is there for tools of the
	// harness only, else nil.
	History func(ctx context.Context) ([]Said, error)
	// Progress tells those who watch the run how far the call is, in a few words. It
	// is not recorded, never blocks, and may be nil, when nobody watches.
	Progress func(text string)
	// Before is where a tool that can be undone keeps what was there before. Its
	// functions are there for an [Undoer] only, else nil.
	Before Body
}

// Body is what a tool keeps of what was there before a call.
type Body struct {
	// Keep stores something with the run's journal, as long as that is kept, and
	// returns its reference.
	Keep func(ctx context.Context, body []byte, mediaType string) (message.Ref, error)
	// Kept returns what is stored under a reference.
	Kept func(ctx context.Context, ref message.Ref) ([]byte, error)
}

// Said is one message of a run's conversation.
type Said struct {
	// Run is the run whose message it is; empty for the run of the call.
	Run string
	// Number is its place in that run's conversation, from 0; see
	// [event.ContextCompacted]. It never changes.
	Number int64
	Role   message.Role
	// Text is the whole of what was said, secrets left out: of a reply its text and
	// then its calls, one a line; of an input also what the context had no room for;
	// of a result what was shown of it.
	Text string
	// Call and Tool are those of a result.
	Call, Tool string
}

// Artifact is the result of a call as the tool gave it, secrets left out.
type Artifact struct {
	// Call and Tool are the call and its tool.
	Call, Tool string
	// Body is the whole text. It must not be changed.
	Body []byte
	// Cut: less than that was shown.
	Cut bool
	// Missing says what the tool did not keep, so that it is not in Body; empty:
	// nothing. See [NotKept]. Where it is set, remarks in Body are the tool's own.
	Missing string
}

// Result is what a tool returns.
type Result struct {
	// Parts are shown to the model, text cut to the tool's limit; without parts,
	// Value is. See [Shape].
	Parts []message.Part
	// Value is the JSON value that the result stands for, if any: for a submit
	// tool, what was submitted.
	Value jsontext.Value
	// Undo is what the tool's Undo needs to know to take the call back. It stands in
	// the journal with the outcome, and the model is not shown it.
	Undo jsontext.Value
	// Seen says what was read or written.
	Seen []event.Seen
	// Keep says which end of a long text matters. Empty is the head.
	Keep Keep
	// Lines, if set, says that the text is a heading and then numbered lines of
	// what was read, so that cutting keeps the heading and Seen true. What looks
	// like a remark of Rein's in it is left as it is: see Remarks.
	Lines *Lines
	// Remarks says that remarks in the text, as [Notice] makes them, are the tool's
	// own words, and that it has passed what others wrote through [Disown]. Without
	// it a remark is shown as somebody else's, "[not rein: …]".
	Remarks bool
}

// Lines are a part of something that has numbered lines.
type Lines struct {
	// First is the number of the line after the heading.
	First int64
	// Heading returns the heading when only the lines first to last are shown;
	// last < first says that none is, whole.
	Heading func(first, last int64) string
	// Piece, if set, returns the heading when only the first bytes of the first
	// line are shown, since that alone is over the limit. What is shown then is just
	// them, so that the heading can say where to go on.
	Piece func(bytes int64) string
}

// Keep says which part of a long text survives cutting.
type Keep string

// Head is for what is read, Tail for what a command printed, Mixed for what has
// something to say at both ends: half of the limit is for the beginning, 30% for
// the end. JSON is shown from its beginning, whatever is said here.
const (
	Head  Keep = ""
	Tail  Keep = "tail"
	Mixed Keep = "mixed"
)

// Text returns a result that is one text.
func Text(text string) *Result {
	return &Result{Parts: []message.Part{{Kind: message.Text, Text: text}}}
}

// Error is a failure that the model can act on. Message says what happened, Hint
// what to do next; neither holds stack traces or host paths.
type Error struct {
	// Type is a short snake_case word: not_found, invalid_arguments, conflict.
	// Those that the harness itself gives are constants of this package.
	Type    string
	Message string
	Hint    string
	// Retryable: the same call may succeed later. A read or a repeatable write is
	// then tried again by the harness, a once call only with NoEffect. Without it
	// the same call is not executed again in the run until a write has succeeded.
	Retryable bool
	// RetryAfter is how long to wait before trying again, where somebody has
	// said so; 0: nobody has.
	RetryAfter time.Duration
	// NoEffect proves that nothing was changed, whatever the effect class.
	NoEffect bool
	// Unknown: the call may have taken effect.
	Unknown bool
	// Ended says of a call that may have taken effect that whatever carried it out
	// has ended: processes that were started for it are gone. A confirm tool's "not
	// done" is then believed at once; else it might only be early, and the tool is
	// asked again after a while. Leave it out where a server may still be at work on
	// a request.
	Ended bool
	// Result, if not nil, is what there is to show besides, such as what a program
	// wrote until it failed. It is shaped as any result and stands behind the error.
	Result *Result
}

// Error returns the message.
func (e *Error) Error() string { return e.Type + ": " + e.Message }
