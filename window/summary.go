package window

import "rein.example/rein/event"

// SummaryTokens returns the most that the summary of a plan may have, in tokens.
func SummaryTokens(v *View, p *Plan) int64 { return 0 }

// SummaryPrompt returns the text that asks for the summary of what a plan takes out
// of the context. It is to be the last message of a request that is otherwise the
// one the run is at, so that its prefix is cached; the request offers the tools
// that it offered before, for the same reason, and the text forbids their use.
func SummaryPrompt(v *View, p *Plan) string { return "" }

// CheckSummary refuses a summary that cannot stand in the place of what p takes out
// of the context: an empty one, one that was cut off or refused, calls of tools,
// one that is not smaller than what leaves or larger than was asked for by half, an
// echo of what was to be summarised, and one that says that there is nothing to
// summarise. text is what the model wrote, finish why it stopped, calls how many
// tools it called, size the tokens of text by the counter that counted the entries.
//
// A summary that lost facts of the earlier one is not refused as long as it says
// anything: [TakeSnapshot] carries those on.
func CheckSummary(text string, finish event.Finish, calls int, v *View, p *Plan, size int64) error {
	return nil
}
