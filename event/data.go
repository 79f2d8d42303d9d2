package event

import (
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
)

// Spec is everything that decides how a run goes, fixed when it starts, so that
// a journal can be folded without the agent that made it. Durations are in
// milliseconds. Zero limits mean none.
type Spec struct {
	// Agent is the agent's name.
	Agent string `json:"agent,omitempty"`
	// Model is "provider/model".
	Model string `json:"model"`
	// Fallback are the models to go on with, in this order, when the one before
	// has failed for good.
	Fallback []string `json:"fallback,omitempty"`
	// Prices are what the models above cost, as it was known when the run
	// started; one that is not in the list has no known price.
	Prices []ModelPrice `json:"prices,omitempty"`
	// Calling says how the models above call tools; see [Spec.CallingOf].
	Calling []ModelCalling `json:"calling,omitempty"`
	// System is the text before the conversation: contract, then rules.
	System []Block `json:"system,omitempty"`
	// Tools in the order shown to the model (sorted by name).
	Tools []ToolSpec `json:"tools,omitempty"`
	// Submit is the JSON Schema of the result that the run must submit; empty
	// for none.
	Submit jsontext.Value `json:"submit,omitempty"`
	Limits Limits         `json:"limits,omitzero"`
	// Permissions in the order written; the strictest match wins.
	Permissions []Permission `json:"permissions,omitempty"`
	// Rules in the order shown: those of code and those that are only told.
	Rules []RuleSpec `json:"rules,omitempty"`
	// Phases are the parts of the run, in order, each with its tools; without any
	// the whole run has all.
	Phases   []PhaseSpec `json:"phases,omitempty"`
	Window   WindowSpec  `json:"window,omitzero"`
	Retry    RetrySpec   `json:"retry,omitzero"`
	Sampling Sampling    `json:"sampling,omitzero"`
	// Chat keeps the run open after an answer: it pauses with turn_done.
	Chat bool `json:"chat,omitempty"`
	// Seed feeds every pseudo-random choice of the run, such as retry jitter.
	Seed int64 `json:"seed,omitempty"`
	// Sandbox is what commands of the run are confined by, in the agent's words:
	// "none" says that they are not. Empty: the agent runs no commands.
	Sandbox string `json:"sandbox,omitempty"`
	// Config is the agent file's text, and BaseDir the folder that its relative
	// paths start from, so that the command can resume a run by itself.
	Config  string `json:"config,omitempty"`
	BaseDir string `json:"base_dir,omitempty"`
}

// ModelPrice is what the tokens of one model cost.
type ModelPrice struct {
	// Model is "provider/model".
	Model string        `json:"model"`
	Price message.Price `json:"price"`
}

// Price returns what a model's tokens cost, nil if that is unknown. A nil Spec
// knows no price.
func (s *Spec) Price(model string) *message.Price {
	if s != nil {
		for i := range s.Prices {
			if s.Prices[i].Model == model {
				return &s.Prices[i].Price
			}
		}
	}
	return nil
}

// ModelCalling says how one model calls tools.
type ModelCalling struct {
	// Model is "provider/model".
	Model string `json:"model"`
	// Dialect is the id of the dialect (package dialect) in which the model is
	// asked, in the system text, to write its calls; empty for the wire's own.
	Dialect string `json:"dialect,omitempty" rein:"keep"`
	// Text: calls that the model writes as text count too. With a Dialect they
	// always do.
	Text bool `json:"text,omitempty"`
	// Strict holds every request to the tools' schemas where the endpoint can do
	// so, not only the one after a call that could not be used.
	Strict bool `json:"strict,omitempty"`
	// Tokens is the size of the tools and the convention in the system text, with
	// a Dialect; they are not sent in any other way then.
	Tokens message.Count `json:"tokens,omitempty"`
}

// CallingOf returns how a model calls tools. One without an entry, as in journals
// from before there were any, calls on its wire or in its text. A nil Spec has no
// entries.
func (s *Spec) CallingOf(model string) ModelCalling {
	if s != nil {
		for i := range s.Calling {
			if c := s.Calling[i]; c.Model == model {
				c.Text = c.Text || c.Dialect != ""
				return c
			}
		}
	}
	return ModelCalling{Model: model, Text: true}
}

// Block is a named piece of the system text.
type Block struct {
	Name   string        `json:"name"`
	Text   string        `json:"text"`
	Tokens message.Count `json:"tokens,omitempty"`
}

// ToolSpec is a tool as the model and the machine see it.
type ToolSpec struct {
	Name string `json:"name"`
	// Description is the rendered document.
	Description string `json:"description,omitempty"`
	// Schema is the JSON Schema of the arguments.
	Schema jsontext.Value `json:"schema,omitempty"`
	Effect Effect         `json:"effect"`
	// Timeout ends one execution, in milliseconds.
	Timeout int64 `json:"timeout_ms,omitempty"`
	// ResultTokens is the most that a result may show the model.
	ResultTokens int64 `json:"result_tokens,omitempty"`
	// Confirm is the tool to ask when the outcome of this one is unknown.
	Confirm string `json:"confirm,omitempty"`
	// KeyFields are the arguments that make the idempotency key; empty: all.
	KeyFields []string `json:"key_fields,omitempty"`
	// Resources are the names of arguments that say what the call works on: a
	// read and a write of different things run side by side, and what was read of
	// it is known.
	Resources []string `json:"resources,omitempty"`
	// Polling exempts the tool from repetition checks.
	Polling bool `json:"polling,omitempty"`
	// Harness marks Rein's own tools, which need no permission.
	Harness bool `json:"harness,omitempty"`
	// Sensitive: a permission by effect class does not cover the tool, only one
	// by its name.
	Sensitive bool `json:"sensitive,omitempty"`
	// Group is the set that the tool is offered in where there are too many for
	// one list; empty: always offered.
	Group string `json:"group,omitempty"`
	// MaxCalls bounds the executions of this tool in a run; 0: no bound.
	MaxCalls int64 `json:"max_calls,omitempty"`
	// Output is the JSON Schema of the result's value, if it is declared.
	Output jsontext.Value `json:"output,omitempty"`
	// Show says how a long JSON result is shortened before it is cut.
	Show ShowSpec `json:"show,omitzero"`
	// Undo: executed calls of the tool can be undone.
	Undo bool `json:"undo,omitempty"`
	// Pin is the hash of the definition as its source gave it, for tools from
	// other processes: a changed one asks again.
	Pin string `json:"pin,omitempty"`
	// Tokens is the size of the definition as sent.
	Tokens message.Count `json:"tokens,omitempty"`
}

// ShowSpec says how a JSON result is shortened, before it is made to fit the
// limit. Everything that is done to a result is said in its first line.
type ShowSpec struct {
	// Select are the members that are shown of each item, in this order; empty:
	// all. An object that has none of them is what holds the items, and stays.
	Select []string `json:"select,omitempty"`
	// Drop are members that are left out at any depth.
	Drop []string `json:"drop,omitempty"`
	// Limit is the most items of a list that are shown; 0: as many as fit.
	Limit int64 `json:"limit,omitempty"`
	// Summarise puts a summary first where a list is not shown whole: how many
	// items there are, and of each of these members how often each value stands
	// in all of them.
	Summarise []string `json:"summarise,omitempty"`
	// Field is the most bytes of one string; 0: as many as fit.
	Field int64 `json:"field,omitempty"`
	// Noise names what is taken out, of texts too: timestamps, paths, columns.
	Noise []string `json:"noise,omitempty"`
}

// Limits end a run. Tokens are output and new input (input not already sent as
// a prefix in this run).
type Limits struct {
	Steps     int64 `json:"steps,omitempty"`
	ToolCalls int64 `json:"tool_calls,omitempty"`
	Tokens    int64 `json:"tokens,omitempty"`
	// Wall is the time from the start, waiting for people excluded, in milliseconds.
	Wall int64 `json:"wall_ms,omitempty"`
	// Output is the most that one model call may write, in tokens.
	Output int64 `json:"output_tokens,omitempty"`
}

// Permission is one rule of the guard: calls that match Match get Verdict.
// Match is "effect:read" or a tool name, with * for any run of characters.
type Permission struct {
	Verdict Verdict `json:"verdict"`
	Match   string  `json:"match"`
}

// RuleSpec is one rule of the agent.
type RuleSpec struct {
	// List is where it stands: never, must or can.
	List string `json:"list"`
	// Text is what the model is told.
	Text string `json:"text"`
	// Kind says how code enforces it; empty: the model is told, and no more.
	Kind RuleKind `json:"kind,omitempty"`
	// Call, Before and After are names of tools, with * for any run of characters.
	Call   string `json:"call,omitempty"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// PhaseSpec is a part of a run that has a list of tools of its own.
type PhaseSpec struct {
	Name string `json:"name"`
	// Tools are names, with * for any run of characters; Rein's own tools are
	// always there.
	Tools []string `json:"tools"`
	// Until is the tool, or the pattern of them, whose success ends the phase;
	// empty for the last one.
	Until string `json:"until,omitempty"`
}

// WindowSpec fixes the budget: (Size - Reserve) x Margin/1,000,000.
type WindowSpec struct {
	Strategy string `json:"strategy,omitempty" rein:"keep"`
	// Size is the model's context window in tokens; 0 is unknown, and not checked.
	Size    int64 `json:"size,omitempty"`
	Reserve int64 `json:"reserve,omitempty"`
	// Margin is in parts per million.
	Margin int64 `json:"margin_ppm,omitempty"`
}

// RetrySpec says how long failed model calls, and tool calls whose failure may
// pass, are tried again.
type RetrySpec struct {
	// Tries is the most attempts for one model call, the first included.
	Tries int64 `json:"tries,omitempty"`
	// Base and Cap bound the back-off, in milliseconds.
	Base int64 `json:"base_ms,omitempty"`
	Cap  int64 `json:"cap_ms,omitempty"`
	// Idle is the most time that one attempt waits without any byte of a reply
	// that is streamed, in milliseconds. Zero leaves it to the model's client.
	Idle int64 `json:"idle_ms,omitempty"`
	// ToolTries is the most executions of one tool call whose failure may pass,
	// the first included. 0 means 3; 1: none is tried again.
	ToolTries int64 `json:"tool_tries,omitempty"`
}

// Sampling is passed to the model where it is set. Numbers are decimal text, so
// that no float is folded.
type Sampling struct {
	Temperature string `json:"temperature,omitempty"`
	TopP        string `json:"top_p,omitempty"`
	Seed        string `json:"seed,omitempty"`
	// Reasoning is the effort asked for: low, medium, high.
	Reasoning string `json:"reasoning,omitempty"`
}

// RunStarted opens every journal.
type RunStarted struct {
	Format int64 `json:"format"`
	// Root is the run at the top of the tree that this run belongs to, for
	// idempotency keys; a run that nobody started is its own root.
	Root string `json:"root" rein:"keep"`
	// Parent is the run that started or forked into this one.
	Parent string `json:"parent,omitempty" rein:"keep"`
	Spec   Spec   `json:"spec"`
}

// InputReceived is a message from outside: what to do, or to stop or pause.
type InputReceived struct {
	Kind  InputKind      `json:"kind"`
	Parts []message.Part `json:"parts,omitempty"`
	// By names who sent it, where known.
	By     string        `json:"by,omitempty"`
	Why    string        `json:"why,omitempty"`
	Tokens message.Count `json:"tokens,omitempty"`
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

// ContextCompacted replaces the oldest part of the context.
type ContextCompacted struct {
	// Upto: conversation messages before this index are replaced.
	Upto    int64         `json:"upto"`
	Summary string        `json:"summary,omitempty"`
	Before  int64         `json:"before_tokens"`
	After   int64         `json:"after_tokens"`
	Why     string        `json:"why,omitempty"`
	Tokens  message.Count `json:"tokens,omitempty"`
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
	// Partial is the text that had arrived. It is never sent back or run.
	Partial string        `json:"partial,omitempty"`
	Usage   message.Usage `json:"usage,omitzero"`
	Latency int64         `json:"latency_ms"`
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
	// For and Undoes are as in ToolStarted.
	For    string `json:"for,omitempty"`
	Undoes string `json:"undoes,omitempty"`
	// Undo is what the tool needs to know to take the call back: its own business.
	Undo jsontext.Value `json:"undo,omitempty"`
	// Seen is what this call read or wrote of files and the like.
	Seen    []Seen `json:"seen,omitempty"`
	Latency int64  `json:"latency_ms,omitempty"`
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
