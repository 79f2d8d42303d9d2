package anthropic

import "rein.example/rein/event"

// finishOf maps the wire's word for why a model stopped. In each case the
// reason for what follows stands beside it. A word that is not in the table is
// an error, never a success: it is kept as it is in RawFinish.
func finishOf(word string) event.Finish {
	switch word {

	// Run the tools.
	case "tool_use": // the model waits for results
		return event.FinishToolCalls

	// Stop: the model said all it had to say. With calls in the reply this is
	// read as tool_use, since endpoints of other vendors say end_turn there, too.
	case "end_turn", // a natural end
		"stop_sequence": // a text was met that ends a reply
		return event.FinishStop

	// Resume with more room: the reply was cut off, so calls in it are not run.
	case "max_tokens", // the request's own bound
		"model_context_window_exceeded": // the window is full
		return event.FinishLength

	// Resume as it is: the server's own tools met its limit of rounds in the
	// middle of the turn. The reply goes back unchanged, and the model goes on.
	case "pause_turn":
		return event.FinishPause

	// Stop as refused: calls in a refused reply are not run.
	case "refusal": // the model, or a filter while it streamed
		return event.FinishContentFilter
	}
	// Also "compaction": the server has shortened a history that is not its own
	// to shorten, which Rein never asks for.
	return event.FinishError
}
