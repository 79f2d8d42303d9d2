package catalog

// Quirks say how a server of OpenAI's wires differs in what it takes. The zero
// value is what nearly all take. They decide bytes, so they are part of an
// encoder's options, and a journal keeps them.
type Quirks struct {
	// MaxTokens names the member that bounds the reply: "max_tokens" (empty
	// means this) or "max_completion_tokens" (OpenAI: its reasoning models
	// refuse the older one).
	MaxTokens string `json:"max_tokens,omitempty"`
	// Reasoning names the member in which an assistant message's reasoning is
	// sent back: "reasoning_content" (DeepSeek and Moonshot, which need it
	// while tools run) or "reasoning". Empty sends none back. Opaque data goes
	// back in any case.
	Reasoning string `json:"reasoning,omitempty"`
	// SystemAnywhere: system messages may stand in mid-conversation. Otherwise
	// they become labelled blocks of the message before.
	SystemAnywhere bool `json:"system_anywhere,omitempty"`
	// NoParallelCalls: the server refuses more than one call in a reply, and is
	// told so.
	NoParallelCalls bool `json:"no_parallel_calls,omitempty"`
	// NoStream: the server refuses to answer in pieces, or does it wrongly, such as
	// one that has no tool calls in streams. It is then asked for whole replies.
	NoStream bool `json:"no_stream,omitempty"`
	// NoStreamOptions: the server refuses the member that asks for usage in a
	// stream. Usage is then unknown, unless the server gives it all the same.
	NoStreamOptions bool `json:"no_stream_options,omitempty"`
	// NoToolChoice: the server ignores tool_choice (Ollama), so that a request
	// without tools must leave them out, whatever that does to its cache.
	NoToolChoice bool `json:"no_tool_choice,omitempty"`
	// RawArguments: arguments of past calls are sent as the model wrote them
	// even if they are not a JSON object. Most servers other than OpenAI parse
	// them to fill a chat template and refuse the whole conversation if one is
	// broken, so that otherwise these are sent as {"invalid_arguments":"…"}.
	RawArguments bool `json:"raw_arguments,omitempty"`
	// ToolImages: a tool result may hold images. Otherwise a line of text says
	// that there was one.
	ToolImages bool `json:"tool_images,omitempty"`
	// Schema says how an answer's form is asked for: "json_schema" (empty means
	// this), "json_object" (DeepSeek: valid JSON only, so the prompt must hold
	// the schema) or "none".
	Schema string `json:"schema,omitempty"`
	// NoStrict: the server refuses, or has no meaning for, tools that say "strict",
	// so that none does. For Chat Completions only.
	NoStrict bool `json:"no_strict,omitempty"`
	// NoEncryptedReasoning: the model or server refuses to be asked for its
	// reasoning in encrypted form. For the Responses API only, which otherwise
	// asks, but for OpenAI's models that are known not to reason.
	NoEncryptedReasoning bool `json:"no_encrypted_reasoning,omitempty"`
	// Summaries asks for summaries of the reasoning, for showing, wherever an
	// effort is asked for. For the Responses API only; OpenAI refuses it to
	// organisations that it has not verified.
	Summaries bool `json:"summaries,omitempty"`
}

// Deviation is a way in which servers differ in what they send. Decoders
// understand all of them from any server, since a proxy may stand between; the
// table says where each was seen, and a recording shows it.
type Deviation string

// The deviations that are known.
const (
	// NoCallIndex: pieces of tool calls come without an index.
	NoCallIndex Deviation = "no_call_index"
	// SameCallIndex: every call has index 0, and only ids tell calls apart.
	SameCallIndex Deviation = "same_call_index"
	// NoCallID: calls come without an id.
	NoCallID Deviation = "no_call_id"
	// WholeCalls: a call comes in one piece, however long.
	WholeCalls Deviation = "whole_calls"
	// CallsAndStop: a reply with calls ends with "stop".
	CallsAndStop Deviation = "calls_and_stop"
	// ObjectArguments: arguments are an object instead of a text that holds one.
	ObjectArguments Deviation = "object_arguments"
	// RepeatedCallName: id and name come again in every piece of a call.
	RepeatedCallName Deviation = "repeated_call_name"
	// BrokenArguments: the first piece of a call's arguments gets lost.
	BrokenArguments Deviation = "broken_arguments"
	// UsageInChoice: usage stands inside the last choice.
	UsageInChoice Deviation = "usage_in_choice"
	// UsageInOwnMember: usage stands in a member of the vendor's own.
	UsageInOwnMember Deviation = "usage_in_own_member"
	// UsageRunning: every chunk has a running total.
	UsageRunning Deviation = "usage_running"
	// UsageNull: usage is null until the end.
	UsageNull Deviation = "usage_null"
	// UsageAbsent: usage is never given.
	UsageAbsent Deviation = "usage_absent"
	// UsageCacheHits: what was cached stands in prompt_cache_hit_tokens.
	UsageCacheHits Deviation = "usage_cache_hits"
	// ReasoningApart: the output does not include the reasoning, the total does.
	ReasoningApart Deviation = "reasoning_apart"
	// ReasoningContent: reasoning comes in reasoning_content.
	ReasoningContent Deviation = "reasoning_content"
	// ReasoningMember: reasoning comes in reasoning.
	ReasoningMember Deviation = "reasoning"
	// ReasoningDetails: reasoning comes with signed details, to be sent back.
	ReasoningDetails Deviation = "reasoning_details"
	// ReasoningParts: reasoning comes as a part of the content.
	ReasoningParts Deviation = "reasoning_parts"
	// ErrorField: an error in mid-stream comes in a field of the stream's own.
	ErrorField Deviation = "error_field"
	// ErrorChunk: an error in mid-stream comes as a chunk, under status 200.
	ErrorChunk Deviation = "error_chunk"
	// NoDone: the stream ends without [DONE].
	NoDone Deviation = "no_done"
	// Comments: comment lines keep the connection alive.
	Comments Deviation = "comments"
	// FilterChunk: a chunk without choices comes first, about the prompt's filter.
	FilterChunk Deviation = "filter_chunk"
	// Refusal: a refusal comes in a member of its own.
	Refusal Deviation = "refusal"
)
