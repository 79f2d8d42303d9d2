package window

// Stub returns the line that stands in the place of a result for one of the
// reasons of a [event.ContextEdit]: what it was, how large, and how it can be read
// if the run offers a tool for that. It is one line of at most some 100 tokens.
func Stub(e *Entry, why string, r Reach) string { return "" }
