package loop

import (
	"strconv"

	"rein.example/rein/event"
)

const (
	// leastAgain is how many things must be read again between two rewrites of the
	// context, and be at least half of what is read, for the reading to go in circles.
	leastAgain = 3
	// againNotice is for how many spaces between rewrites in a row that must be so
	// before the model is told, and then each time as many more.
	againNotice = 2
)

// rereads watches whether a run reads the same again after each rewrite of its
// context: then what it needs is larger than its window, and reading it once more
// does not help, as the next rewrite takes it away again. A run that writes gets on.
type rereads struct {
	known map[readKey]readBefore // looked up only
	// space counts the rewrites; reads, again and wrote are of what came since the
	// last: what was read, what of it had been read before, and whether anything was
	// written.
	space        int64
	reads, again int64
	wrote        bool
	// circles counts the spaces in a row that went in circles, and lastReads and
	// lastAgain are of the last of them; told is of how many the model was told.
	circles, told        int64
	lastReads, lastAgain int64
}

// readKey is what was read: the same call.
type readKey struct {
	tool string
	args event.Hash
}

// readBefore is when it was read last, and what it said.
type readBefore struct {
	space   int64
	outcome uint64
}

// call folds a call, of whose outcome outcome is the hash.
func (r *rereads) call(c *call, outcome uint64) {
	switch {
	case c.done.Status != event.StatusSuccess:
		return
	case c.tool.Effect.Writes():
		r.wrote = true
		return
	}
	if r.known == nil {
		r.known = map[readKey]readBefore{}
	}
	key, now := readKey{c.Name, c.hash}, readBefore{r.space, outcome}
	r.reads++
	if b, ok := r.known[key]; ok && b.space < r.space && b.outcome == now.outcome {
		r.again++
	}
	r.known[key] = now
}

// rewritten folds that the context was rewritten.
func (r *rereads) rewritten() {
	if r.again >= leastAgain && 2*r.again >= r.reads && !r.wrote {
		r.circles++
		r.lastReads, r.lastAgain = r.reads, r.again
	} else {
		r.circles, r.told = 0, 0
	}
	r.space++
	r.reads, r.again, r.wrote = 0, 0, false
}

// found returns what the model is to be told, if there is anything new.
func (r *rereads) found() (f finding, ok bool) {
	if r.circles < r.told+againNotice {
		return f, false
	}
	r.told = r.circles
	return finding{text: "Before the context was last made smaller, " + strconv.FormatInt(r.lastAgain, 10) + " of the " + strconv.FormatInt(r.lastReads, 10) +
		" things that you read were ones that you had read before, unchanged; it was so the time before as well. All of it does not fit at once. " +
		"Work on it in parts: read one thing, say in your reply what matters of it, then read the next; do not read again what you have a note of."}, true
}
