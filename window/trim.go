package window

// Trim is the last resort, when a summary cannot be had or was not enough: it asks
// nobody. The oldest groups leave first, then old results become stubs, then the
// last group's own results are shortened to head and tail, then what users said
// between their first and their last message, then those two, each with a line
// that says so. It lands at v.Target if that can be done by giving up groups and
// results; what users said is shortened only as far as v.Budget needs. The zero
// Plan: nothing more can be given up, and what is too large is what stands before
// the conversation.
func Trim(v *View) Plan { return Plan{} }
