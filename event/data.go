package event

import (
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
)

// RunStarted opens every journal.
type RunStarted struct {
	Format int64 `json:"format"`
	// Root is the run at the top of the tree that this run belongs to, for
	// idempotency keys; a run that nobody started is its own root.
	Root string `json:"root" rein:"keep"`
	// Parent is the run that started or forked into this one; Call its call, of a
	// tool that is an agent, that this run carries out.
	Parent string `json:"parent,omitempty" rein:"keep"`
	Call   string `json:"call,omitempty"`
	// Traceparent is the W3C trace context (the header's value) of whoever asked for
	// the run, if they gave one: traces of the run hang below it, whenever they are made.
	Traceparent string `json:"traceparent,omitempty" rein:"keep"`
	Spec        Spec   `json:"spec"`
	// Origin, if not nil, says that Rein has not carried the run out: its events were
	// made of a recording that another program wrote.
	Origin *Origin `json:"origin,omitempty"`
}

// Origin is the recording that the events of a run were made of. What it does not
// say is not in the journal either: no request has a hash, and usage that it does
// not give is unknown.
type Origin struct {
	// Format is that of the recording: chat-completions or atif, with its version if it
	// has one.
	Format string `json:"format" rein:"keep"`
	// Source is the name of the file without its folders, Name what the recording calls
	// the conversation.
	Source string `json:"source,omitempty"`
	Name   string `json:"name,omitempty"`
	// Untimed: the recording has no times. Those of the events are when they were made
	// of it, and how long anything took is unknown.
	Untimed bool `json:"untimed,omitempty"`
	// ToolsUnknown: the recording does not say which tools were offered. Those of the
	// spec are the ones that were called, and there may have been others.
	ToolsUnknown bool `json:"tools_unknown,omitempty"`
	// Labels are what the recording says of the conversation besides, such as a reward.
	Labels []Label `json:"labels,omitempty"`
	// Repairs say what had to be changed to read it, in words for people.
	Repairs []string `json:"repairs,omitempty"`
}

// Label is a named JSON value.
type Label struct {
	Name  string         `json:"name"`
	Value jsontext.Value `json:"value"`
}

// InputReceived is a message from outside: what to do, or to stop or pause.
type InputReceived struct {
	Kind  InputKind      `json:"kind"`
	Parts []message.Part `json:"parts,omitempty"`
	// By names who sent it, where known.
	By     string        `json:"by,omitempty"`
	Why    string        `json:"why,omitempty"`
	Tokens message.Count `json:"tokens,omitempty"`
	// Full points to the whole text where Parts have only its beginning and end,
	// because it would have taken too much of the window.
	Full *message.Ref `json:"full,omitempty"`
}

// ContextAssembled is what the model is about to see, by block.
type ContextAssembled struct {
	Purpose Purpose     `json:"purpose"`
	Step    int64       `json:"step"`
	Blocks  []BlockSize `json:"blocks,omitempty"`
	Tokens  int64       `json:"tokens"`
	Budget  int64       `json:"budget,omitempty"`
	// Method is how Tokens was counted: exact, calibrated or estimated.
	Method string `json:"method,omitempty" rein:"keep"`
	// Messages is the number of conversation messages in the request.
	Messages int64 `json:"messages"`
	// Tail is the text of the volatile block at the end; empty for none.
	Tail string `json:"tail,omitempty"`
	// NoTools: the request offers no tools.
	NoTools bool `json:"no_tools,omitempty"`
}

// BlockSize is the share of one block.
type BlockSize struct {
	Name   string `json:"name"`
	Tokens int64  `json:"tokens"`
}

// ContextCompacted rewrites the context at a boundary: the next request does not
// begin with the one before. Messages are named by their number: the place, from
// 0, at which they entered the conversation, which never changes.
type ContextCompacted struct {
	// Strategy is the one that planned it; Why says what made it necessary.
	Strategy string `json:"strategy,omitempty" rein:"keep"`
	Why      string `json:"why,omitempty"`
	// Upto: messages before this number leave the context, in whole groups, apart
	// from what users have said. 0: none does.
	Upto int64 `json:"upto"`
	// Summary and Snapshot stand in their place, and in the place of what an
	// earlier compaction has put there: what the model wrote of them, and the
	// facts that the harness took from them itself.
	Summary  string `json:"summary,omitempty"`
	Snapshot string `json:"snapshot,omitempty"`
	// Tokens is the size of the message that holds both.
	Tokens message.Count `json:"tokens,omitempty"`
	// Edits change single messages that stay.
	Edits []ContextEdit `json:"edits,omitempty"`
	// Before and After are the sizes of the request, without the tail.
	Before int64 `json:"before_tokens"`
	After  int64 `json:"after_tokens"`
	// Failed says why summaries were refused on the way, if any were.
	Failed []string `json:"failed,omitempty"`
}

// ContextEdit replaces one message's content by a text, or removes the message.
type ContextEdit struct {
	// Message is its number.
	Message int64 `json:"message"`
	// Action is stub, trim or drop; Why is a word of package window: old_result,
	// duplicate, obsolete_read, handled_error, over_budget.
	Action string `json:"action" rein:"keep"`
	Why    string `json:"why,omitempty" rein:"keep"`
	// Text stands in the place of the content; empty with drop.
	Text string `json:"text,omitempty"`
	// Tokens is the size of the message with Text.
	Tokens message.Count `json:"tokens,omitempty"`
}

// ModelCalled is the intent to send one request. The body is not stored: it is
// built again from the events before, and must hash to SHA256.
type ModelCalled struct {
	// ID is the command's id.
	ID      string  `json:"id" rein:"keep"`
	Purpose Purpose `json:"purpose"`
	Step    int64   `json:"step"`
	// Attempt counts the tries of this call from 1.
	Attempt int64  `json:"attempt"`
	Model   string `json:"model"`
	// Encoder names the encoder and its version, such as "openai-chat/2", and the
	// dialect that calls are written in, if any: "openai-chat/2 react/1".
	Encoder string `json:"encoder" rein:"keep"`
	// Kept and Added count the message fragments shared with the request before
	// and new in this one; a tail is not counted.
	Kept  int64 `json:"kept"`
	Added int64 `json:"added"`
	// Strict: the request asks for calls that are held to the tools' schemas.
	Strict bool `json:"strict,omitempty"`
	// Options are the encoder's settings that do not follow from the spec, as a
	// JSON object.
	Options jsontext.Value `json:"options,omitempty"`
	// SHA256 and Bytes are of the body as sent.
	SHA256 Hash  `json:"sha256"`
	Bytes  int64 `json:"bytes"`
}

// ModelAnswered is a complete reply. It is the outcome of a CallModel command.
type ModelAnswered struct {
	ID string `json:"id" rein:"keep"`
	// Message is the assistant message as the wire gave it.
	Message message.Message `json:"message"`
	Finish  Finish          `json:"finish"`
	// RawFinish is the wire's own word.
	RawFinish string        `json:"raw_finish,omitempty"`
	Usage     message.Usage `json:"usage,omitzero"`
	// Model is the model as the server reports it; ResponseID the server's id.
	Model      string `json:"model,omitempty"`
	ResponseID string `json:"response_id,omitempty"`
	// Latency is from sending to the last byte, First to the first token, in
	// milliseconds.
	Latency int64         `json:"latency_ms"`
	First   message.Count `json:"first_ms,omitempty"`
	// Waited is how long the call waited before that for its turn at its server, in
	// milliseconds.
	Waited int64 `json:"waited_ms,omitempty"`
	// Tokens is the size of Message in a later request, as counted by the engine.
	Tokens message.Count `json:"tokens,omitempty"`
}

// ModelFailed is a call that gave no complete reply. It is the outcome of a
// CallModel command.
type ModelFailed struct {
	ID    string     `json:"id" rein:"keep"`
	Class ErrorClass `json:"class"`
	// Status is the HTTP status, 0 where there was none.
	Status int64  `json:"status,omitempty"`
	Code   string `json:"code,omitempty"`
	// Message says what happened, in the provider's words where it gave any.
	Message string `json:"message,omitempty"`
	// RetryAfter is the wait that the server asked for, in milliseconds.
	RetryAfter message.Count `json:"retry_after_ms,omitempty"`
	// Limit is the most tokens that the server says it takes, where a request was
	// too long and it says so.
	Limit message.Count `json:"limit_tokens,omitempty"`
	// Partial is the text that had arrived. It is never sent back or run.
	Partial string        `json:"partial,omitempty"`
	Usage   message.Usage `json:"usage,omitzero"`
	Latency int64         `json:"latency_ms"`
	// Waited is as in ModelAnswered.
	Waited int64 `json:"waited_ms,omitempty"`
}

// ReplyParsed is what the reply asks for.
type ReplyParsed struct {
	// ID is the model call's command id.
	ID string `json:"id" rein:"keep"`
	// Format is where the calls were found: native, json, json_fence, ….
	Format string `json:"format" rein:"keep"`
	// Text is the reply's text without the calls and the reasoning that were
	// found in it. It stands for the answered message's text where calls were
	// found in that, or where Text or Reasoning is not empty.
	Text string `json:"text,omitempty"`
	// Reasoning is what the model thought in the midst of its text.
	Reasoning string       `json:"reasoning,omitempty"`
	Calls     []ParsedCall `json:"calls,omitempty"`
	// Repeats is how often the passage comes with which the text ends, or the reasoning
	// of a reply without one, again and again; Text has it once. 0: there is none.
	// Nothing is made of such a reply.
	Repeats int64 `json:"repeats,omitempty"`
	// Problems say what could not be understood, for the model and the reader.
	Problems []string `json:"problems,omitempty"`
	// Notes say what was seen and left alone, such as a call that an answer
	// shows as an example. For the reader.
	Notes []string `json:"notes,omitempty"`
}

// ParsedCall is one call of a reply.
type ParsedCall struct {
	// ID is unique in the run.
	ID string `json:"id"`
	// WireID is the model's own id where it differs.
	WireID string `json:"wire_id,omitempty"`
	Name   string `json:"name"`
	// Args is the JSON object asked for; for a call that is not usable, the raw
	// text.
	Args    string   `json:"args" rein:"json"`
	Repairs []Repair `json:"repairs,omitempty"`
	// Problem says why the call must not run, in a word of the parse package:
	// incomplete, invalid, not_object, ….
	Problem string `json:"problem,omitempty"`
}

// Repair is a change made so that a text could be read.
type Repair struct {
	Kind string `json:"kind" rein:"keep"`
	// Where is a JSON pointer into the arguments; empty for all of it.
	Where string `json:"where,omitempty"`
	Lossy bool   `json:"lossy,omitempty"`
}

// CallJudged is the guard's word on one call, with the arguments that will run.
type CallJudged struct {
	Call    string  `json:"call"`
	Tool    string  `json:"tool"`
	Verdict Verdict `json:"verdict"`
	// Rule is the permission or check that decided; Why is for people.
	Rule string `json:"rule,omitempty"`
	Why  string `json:"why,omitempty"`
	// Of names the earlier call whose outcome stands in for this one's.
	Of string `json:"of,omitempty"`
	// Args are the arguments that will run, in canonical form (RFC 8785), where
	// they are not just the call's own in that form; ArgsHash is their SHA-256.
	Args     string   `json:"args,omitempty" rein:"json"`
	ArgsHash Hash     `json:"args_hash"`
	Repairs  []Repair `json:"repairs,omitempty"`
}

// ApprovalAsked puts one call before a person.
type ApprovalAsked struct {
	ID   string `json:"id" rein:"keep"`
	Call string `json:"call"`
	Tool string `json:"tool"`
	// Hash is of exactly what will run; an answer must name it.
	Hash Hash `json:"hash"`
	// Settle asks what became of a call whose outcome is unknown, instead of
	// whether it may run.
	Settle bool `json:"settle,omitempty"`
	// Words: the call is a question of the model's to a person. The next input is
	// the answer; a rejection refuses one.
	Words bool   `json:"words,omitempty"`
	Why   string `json:"why,omitempty"`
}

// ApprovalGiven is a person's answer.
type ApprovalGiven struct {
	Call     string   `json:"call"`
	Decision Decision `json:"decision"`
	Hash     Hash     `json:"hash,omitzero"`
	By       string   `json:"by,omitempty"`
	Why      string   `json:"why,omitempty"`
}

// ToolStarted is the intent to execute one call. It is durable before a tool
// that writes begins.
type ToolStarted struct {
	ID       string `json:"id" rein:"keep"`
	Call     string `json:"call"`
	Tool     string `json:"tool"`
	Effect   Effect `json:"effect"`
	ArgsHash Hash   `json:"args_hash"`
	// Key is the idempotency key.
	Key string `json:"key,omitempty" rein:"keep"`
	// Attempt counts the executions of this call from 1.
	Attempt int64 `json:"attempt"`
	// For marks an execution of a confirm tool that the harness asked for by
	// itself, and names the call whose outcome it finds out. The model has not
	// called it, and is not shown it as a call.
	For string `json:"for,omitempty"`
	// Undoes marks an execution that takes back what another call did, and names
	// that call. A person has asked for it; the model has not called it.
	Undoes string `json:"undoes,omitempty"`
	// Run is the run that carries the call out, of a tool that is an agent.
	Run string `json:"run,omitempty" rein:"keep"`
}

// ToolFinished is what became of one call. With an ID it is the outcome of a
// RunTool command: of one execution, after which the call may be executed again.
// Without, the harness answers the call: it was not executed, or what became of
// it was found out otherwise. The last one of a call is what the model is told.
type ToolFinished struct {
	ID     string `json:"id,omitempty" rein:"keep"`
	Call   string `json:"call"`
	Tool   string `json:"tool"`
	Status Status `json:"status"`
	// Parts are what the model is shown.
	Parts []message.Part `json:"parts,omitempty"`
	// Tokens is the size of Parts, as counted by the engine.
	Tokens message.Count `json:"tokens,omitempty"`
	// Size is the whole result's size in bytes and Shown what the model gets.
	Size  int64 `json:"size"`
	Shown int64 `json:"shown"`
	// Full points to the whole result where less is shown.
	Full *message.Ref `json:"full,omitempty"`
	// Shaped says what was done to the result before it was shown, in the words
	// that the model was told: selected, limited, summarised, cut, ….
	Shaped []string `json:"shaped,omitempty"`
	// Result is the JSON value of a submitted result or of a confirm tool's answer.
	Result       jsontext.Value `json:"result,omitempty"`
	ErrorType    string         `json:"error_type,omitempty"`
	ErrorMessage string         `json:"error_message,omitempty"`
	Retryable    bool           `json:"retryable,omitempty"`
	// RetryAfter is the wait that a failed tool asked for, in milliseconds.
	RetryAfter message.Count `json:"retry_after_ms,omitempty"`
	// NoEffect: it is proven that a failed call changed nothing.
	NoEffect bool `json:"no_effect,omitempty"`
	// Ended: what carried out a call of unknown outcome has ended here, so that what
	// it has not done it will not do.
	Ended bool `json:"ended,omitempty"`
	// Spent is what the run that carried the call out has used, of a tool that is an
	// agent. It counts against the limits of this run.
	Spent *Spent `json:"spent,omitempty"`
	// For and Undoes are as in ToolStarted.
	For    string `json:"for,omitempty"`
	Undoes string `json:"undoes,omitempty"`
	// Undo is what the tool needs to know to take the call back: its own business.
	Undo jsontext.Value `json:"undo,omitempty"`
	// Seen is what this call read or wrote of files and the like.
	Seen    []Seen `json:"seen,omitempty"`
	Latency int64  `json:"latency_ms,omitempty"`
}

// Spent is what a run has used, with the runs below it.
type Spent struct {
	Steps     int64 `json:"steps"`
	ToolCalls int64 `json:"tool_calls"`
	// Tokens are those that count against a limit: output and new input.
	Tokens int64         `json:"tokens"`
	Usage  message.Usage `json:"usage,omitzero"`
	// Cost is in millionths of a US dollar.
	Cost message.Count `json:"cost_micros,omitempty"`
	// Work is as in Limits, in milliseconds.
	Work int64 `json:"work_ms,omitempty"`
}

// Seen says which lines of which version of a resource are known to the model.
type Seen struct {
	// Resource is the path as the tool normalises it.
	Resource string `json:"resource"`
	// Version is a hash of the content.
	Version string `json:"version" rein:"keep"`
	// From and To are the lines shown, from 1, both included; 0 and 0: none.
	From  int64 `json:"from,omitempty"`
	To    int64 `json:"to,omitempty"`
	Total int64 `json:"total"`
	// Wrote: the call produced this version, so all of it is known.
	Wrote bool `json:"wrote,omitempty"`
	// Gone: the resource does not exist any more.
	Gone bool `json:"gone,omitempty"`
}

// StateUpdated replaces the task state that stands at the context's tail.
type StateUpdated struct {
	State jsontext.Value `json:"state"`
	Why   string         `json:"why,omitempty"`
}

// NoticeAdded is a message from the harness to the model.
type NoticeAdded struct {
	Kind string `json:"kind" rein:"keep"`
	// Call names the call that the notice is about, if it is about one.
	Call   string        `json:"call,omitempty"`
	Text   string        `json:"text"`
	Tokens message.Count `json:"tokens,omitempty"`
}

// MaterialRetrieved is the outcome of a Retrieve command.
type MaterialRetrieved struct {
	ID     string         `json:"id" rein:"keep"`
	Parts  []message.Part `json:"parts,omitempty"`
	Tokens message.Count  `json:"tokens,omitempty"`
	// Shaped says what was done to make it fit its share; Error why there is none.
	Shaped []string `json:"shaped,omitempty"`
	Error  string   `json:"error,omitempty"`
}

// TimerFired is the outcome of a Wait command.
type TimerFired struct {
	ID string `json:"id" rein:"keep"`
}

// HookAnswered is the outcome of a Judge command: user code was asked.
type HookAnswered struct {
	ID      string  `json:"id" rein:"keep"`
	Call    string  `json:"call,omitempty"`
	Verdict Verdict `json:"verdict"`
	Rule    string  `json:"rule,omitempty"`
	Why     string  `json:"why,omitempty"`
}

// RunPaused: nothing more happens until input, an answer or a resume.
type RunPaused struct {
	Cause Cause  `json:"cause"`
	Why   string `json:"why,omitempty"`
}

// RunResumed starts a new generation: whatever was started before and has no
// outcome is unknown.
type RunResumed struct {
	// Generation is the lease's.
	Generation int64  `json:"generation"`
	By         string `json:"by,omitempty"`
	// Changed are the tools whose source gives them another definition now than
	// when the run started; calls of them ask first.
	Changed []ToolPin `json:"changed,omitempty"`
	// Fork is the run that this one was forked from, where it goes on for the first
	// time: the events before are that run's.
	Fork string `json:"fork,omitempty" rein:"keep"`
	// Models, if not nil, are what is asked from here on.
	Models *ModelChange `json:"models,omitempty"`
	// Traceparent is as in RunStarted, of whoever asked for the run to go on.
	Traceparent string `json:"traceparent,omitempty" rein:"keep"`
}

// ModelChange replaces the members of a [Spec] that say which models are asked and
// how.
type ModelChange struct {
	Model    string         `json:"model"`
	Fallback []string       `json:"fallback,omitempty"`
	Prices   []ModelPrice   `json:"prices,omitempty"`
	Calling  []ModelCalling `json:"calling,omitempty"`
	Window   WindowSpec     `json:"window,omitzero"`
	Sampling Sampling       `json:"sampling,omitzero"`
	Config   string         `json:"config,omitempty"`
	BaseDir  string         `json:"base_dir,omitempty"`
	// Agent, if not nil, replaces all other members of the spec, too: tools, rules,
	// limits. So a fork goes on from what another program recorded, which has none of
	// them. Its members that stand above as well are not used.
	Agent *Spec `json:"agent,omitempty"`
}

// With returns the spec as it is after a change of models. Prices of models that were
// asked before stay known; s is not changed.
func (s *Spec) With(c *ModelChange) *Spec {
	out := *s
	if c.Agent != nil {
		out = *c.Agent
	}
	out.Model, out.Fallback, out.Calling, out.Window, out.Sampling = c.Model, c.Fallback, c.Calling, c.Window, c.Sampling
	out.Config, out.BaseDir = c.Config, c.BaseDir
	out.Prices = c.Prices
	known := &Spec{Prices: c.Prices}
	for i := range s.Prices {
		if known.Price(s.Prices[i].Model) == nil {
			out.Prices = append(out.Prices[:len(out.Prices):len(out.Prices)], s.Prices[i])
		}
	}
	return &out
}

// ToolPin is the hash of a tool's definition, as its source gives it now.
type ToolPin struct {
	Tool string `json:"tool"`
	Pin  string `json:"pin,omitempty"`
}

// RunFinished is the last event of a run.
type RunFinished struct {
	Reason Reason `json:"reason"`
	OK     bool   `json:"ok"`
	Answer string `json:"answer,omitempty"`
	// Result is the submitted JSON value.
	Result     jsontext.Value `json:"result,omitempty"`
	BestEffort bool           `json:"best_effort,omitempty"`
	// Detail says more of the reason, for people.
	Detail string `json:"detail,omitempty"`
}
