package stats

import "slices"

// mostNames is how many tools, models, reasons or kinds of errors are told apart in
// one list; what comes after that is counted together, as Others. Names are written
// by models, servers and configurations.
const mostNames = 500

// Others stands for what is in no line of its own.
const Others = "(others)"

// named are totals by name. The zero value is ready.
type named[T any] struct {
	index map[string]*T
	names []string // in the order in which they came
}

// at returns the total of a name.
func (n *named[T]) at(name string) *T {
	t := n.index[name]
	if t != nil {
		return t
	}
	if len(n.names) >= mostNames && name != Others {
		return n.at(Others)
	}
	if n.index == nil {
		n.index = map[string]*T{}
	}
	t = new(T)
	n.index[name], n.names = t, append(n.names, name)
	return t
}

// sorted calls each with every total, by name.
func (n *named[T]) sorted(each func(name string, t *T)) {
	for _, name := range slices.Sorted(slices.Values(n.names)) {
		each(name, n.index[name])
	}
}

// tally is a number of something.
type tally struct{ n int64 }

// modelTotal is what was asked of one model.
type modelTotal struct {
	answered, failed, open, retries int64
	tokens                          Tokens
	cost                            Cost
	errors                          named[tally]
	latency                         spread
}

// merge adds another total.
func (t *modelTotal) merge(o *modelTotal) {
	t.answered, t.failed, t.open, t.retries = t.answered+o.answered, t.failed+o.failed, t.open+o.open, t.retries+o.retries
	t.tokens.merge(&o.tokens)
	t.cost.merge(&o.cost)
	merge(&t.errors, &o.errors)
	t.latency.merge(&o.latency)
}

// toolTotal is what was done with one tool.
type toolTotal struct {
	calls, retries   int64
	statuses, errors named[tally]
	latency          spread
}

// merge adds another total.
func (t *toolTotal) merge(o *toolTotal) {
	t.calls, t.retries = t.calls+o.calls, t.retries+o.retries
	merge(&t.statuses, &o.statuses)
	merge(&t.errors, &o.errors)
	t.latency.merge(&o.latency)
}

// merge adds tallies by name.
func merge(to, from *named[tally]) {
	from.sorted(func(name string, t *tally) { to.at(name).n += t.n })
}
