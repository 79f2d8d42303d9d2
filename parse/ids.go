package parse

import "strconv"

// ids hands out call ids that are unique in the run.
type ids struct {
	base string
	// before reports ids of earlier replies.
	before func(string) bool
	// total is the number of calls of this reply; used are the ids given so
	// far, kept only where there is a second call to compare with.
	total int
	used  map[string]struct{}
}

// maxID is the longest id of a model's own that is kept, in bytes. Providers
// take back what they made themselves; the bound is for people, who type ids,
// and for hostile servers.
const maxID = 128

// take returns the id of call n of the reply, and the model's own where that
// cannot be kept: because it is empty, was used before, or is not printable
// ASCII of reasonable length. A derived id follows from the base and the call's
// place only, so that reading the reply again gives the same.
func (g *ids) take(n int, own string) (id, wire string) {
	id = own
	if !sound(own) || g.taken(own) {
		wire = own
		id = g.derive(n)
	}
	if g.total > 1 {
		if g.used == nil {
			g.used = make(map[string]struct{}, g.total)
		}
		g.used[id] = struct{}{}
	}
	return id, wire
}

func (g *ids) derive(n int) string {
	base := g.base
	if base == "" {
		base = "call"
	}
	id := base + "_" + strconv.Itoa(n)
	if !g.taken(id) {
		return id
	}
	// A model wrote this very id itself, by chance or to confuse.
	for k := 1; ; k++ {
		if next := id + "_" + strconv.Itoa(k); !g.taken(next) {
			return next
		}
	}
}

func (g *ids) taken(id string) bool {
	if _, ok := g.used[id]; ok {
		return true
	}
	return g.before != nil && g.before(id)
}

// sound reports whether a model's own id can serve as it is.
func sound(id string) bool {
	if id == "" || len(id) > maxID {
		return false
	}
	for i := 0; i < len(id); i++ {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return true
}
