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
	Phases []PhaseSpec `json:"phases,omitempty"`
	Window WindowSpec  `json:"window,omitzero"`
	// Accept is what code can see of whether the task is finished.
	Accept AcceptSpec `json:"accept,omitzero"`
	// Check: before an answer or a submit ends a run that has acted, the model is
	// asked once to hold each part of the request against what was done.
	Check bool `json:"check,omitempty"`
	// ReadBack is after how many steps the goal is read back, each time; 0: never.
	ReadBack int64     `json:"read_back,omitempty"`
	Retry    RetrySpec `json:"retry,omitzero"`
	Sampling Sampling  `json:"sampling,omitzero"`
	// Retrieve: material is asked for before the first request, and after each
	// input that begins a new turn.
	Retrieve bool `json:"retrieve,omitempty"`
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
	// Agent: the tool is another agent, of that name; a call of it is a run of its own.
	Agent string `json:"agent,omitempty"`
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
	// Work is the time that models and tools took, in milliseconds: without waits
	// for people, for rate limits and between two tries.
	Work int64 `json:"work_ms,omitempty"`
	// Cost is in millionths of a US dollar. What costs an unknown amount ends the
	// run before it is spent.
	Cost int64 `json:"cost_micros,omitempty"`
	// Output is the most that one model call may write, in tokens.
	Output int64 `json:"output_tokens,omitempty"`
}

// AcceptSpec is what must hold before a run may say that it is done.
type AcceptSpec struct {
	// Files must exist, and differ from what they were when the run began; they and
	// all files that the run wrote must have been read after their last change.
	Files []string `json:"files,omitempty"`
	// IDs must stand in the answer or the submitted result.
	IDs []string `json:"ids,omitempty"`
	// Fields must have a value in the submitted result; JSON pointers or names.
	Fields []string `json:"fields,omitempty"`
	// Calls are tools (with * for any run of characters) that must have succeeded.
	Calls []string `json:"calls,omitempty"`
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

// WindowSpec fixes the budget, (Size - Reserve) x Margin/1,000,000, and what is
// done when it is nearly used up.
type WindowSpec struct {
	// Strategy names what a compaction keeps (package window); empty: nothing is
	// compacted, as in journals from before there were any.
	Strategy string `json:"strategy,omitempty" rein:"keep"`
	// Size is the model's context window in tokens; 0 is unknown, and not checked.
	Size    int64 `json:"size,omitempty"`
	Reserve int64 `json:"reserve,omitempty"`
	// Margin is in parts per million.
	Margin int64 `json:"margin_ppm,omitempty"`
	// Keep is how many of the last groups (a reply and its results) stay whole
	// as long as the request fits its budget; 0: what the strategy has as its own.
	Keep int64 `json:"keep,omitempty"`
	// Trigger and Target are parts of the budget, per million: a compaction begins
	// above the one and lands at the other or below. 0: the strategy's own.
	Trigger int64 `json:"trigger_ppm,omitempty"`
	Target  int64 `json:"target_ppm,omitempty"`
	// Shares are the parts of the budget that blocks may have, per million, by the
	// block's name; one that is not in the list has the default (package window).
	Shares []BlockShare `json:"shares,omitempty"`
	// Tokenizer names what counted the spec: o200k_base, cl100k_base, a file's
	// hash, a server's; empty: an estimate.
	Tokenizer string `json:"tokenizer,omitempty"`
}

// BlockShare is the part of the budget that one block may have.
type BlockShare struct {
	Name string `json:"name"`
	// Share is in parts per million.
	Share int64 `json:"share_ppm"`
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
