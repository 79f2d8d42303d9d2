package gemini

import "rein.example/rein/event"

// finishOf maps the wire's word for why a model stopped. In each case the reason
// for what follows stands beside it. A word that is not in the table is an
// error, never a success: it is kept as it is in RawFinish. The word
// FINISH_REASON_UNSPECIFIED does not get here: the reply goes on, or if it does
// not, it is incomplete.
func finishOf(word string) event.Finish {
	switch word {

	// Stop: the model said all it had to say. With calls in the reply this is
	// read as tool_calls (run the tools): the wire has no word of its own for
	// a model that waits for results.
	case "STOP":
		return event.FinishStop

	// Resume with more room: the reply was cut off, so calls in it are not run.
	case "MAX_TOKENS",
		"CONTINUATION": // the limit of one request, whatever was asked for
		return event.FinishLength

	// Stop as refused: what there is of the reply is not to be acted on.
	case "SAFETY",
		"RECITATION", // it would repeat a protected text
		"BLOCKLIST", "PROHIBITED_CONTENT",
		"SPII", // personal data
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return event.FinishContentFilter

	// Not a reply to act on, though the server closed it in order. Listed to
	// say why; they fare like any word that is not known.
	case "MALFORMED_FUNCTION_CALL", // the model wrote a call that the server could not read
		"UNEXPECTED_TOOL_CALL",      // a call where none was allowed
		"TOO_MANY_TOOL_CALLS",       // the server gave the model up
		"MALFORMED_RESPONSE",        // the server could not read the reply
		"MISSING_THOUGHT_SIGNATURE", // nor the history
		"LANGUAGE",                  // a language that the model does not speak
		"NO_IMAGE", "IMAGE_OTHER",   // of models that draw
		"OTHER": // unknown to the server itself
		return event.FinishError
	}
	return event.FinishError
}
