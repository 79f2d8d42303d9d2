package openai

import "rein.example/rein/event"

// finishOf maps the wire's word for why a model stopped. In each case the
// reason for what follows stands beside it. A word that is not in the table is
// an error, never a success: it is kept as it is in RawFinish.
func finishOf(word string) event.Finish {
	switch word {

	// Run the tools.
	case "tool_calls", // OpenAI: the model waits for results
		"function_call", // its older name
		"tool_use":      // Anthropic models behind proxies
		return event.FinishToolCalls

	// Stop: the model said all it had to say. With calls in the reply this is
	// read as tool_calls, since Ollama, Gemini and others say stop there too.
	case "stop", // OpenAI: a natural end or a stop sequence
		"eos", "eos_token", // text-generation-inference, Together
		"stop_sequence", "end_turn": // Anthropic models behind proxies
		return event.FinishStop

	// Resume with more room: the reply was cut off, so calls in it are not run.
	case "length", // OpenAI: max tokens reached
		"max_tokens",   // Anthropic models behind proxies
		"model_length": // Mistral: the window is full
		return event.FinishLength

	// Stop as refused: calls in a filtered reply are not run.
	case "content_filter", // OpenAI, Azure
		"sensitive",        // Zhipu
		"safety", "SAFETY", // Gemini behind proxies
		"recitation", "RECITATION",
		"PROHIBITED_CONTENT", "BLOCKLIST", "SPII":
		return event.FinishContentFilter

	// Not a reply to act on, though the server closed it in order. Listed to
	// say why; they fare like any word that is not known.
	case "error", // OpenRouter, Mistral: the model's server failed
		"abort",                                              // SGLang, vLLM: the request was given up
		"insufficient_system_resource",                       // DeepSeek: interrupted for lack of capacity
		"network_error",                                      // Zhipu
		"MALFORMED_FUNCTION_CALL", "malformed_function_call", // Gemini: it wrote a call that it could not read itself
		"UNEXPECTED_TOOL_CALL": // Gemini: a call where none was allowed
		return event.FinishError
	}
	// Also "function_call_filter: …" (Gemini behind its OpenAI endpoint), which
	// is the malformed call again.
	return event.FinishError
}
