package diff

import "rein.example/rein/event"

// PairKind says how two steps compare.
type PairKind string

// The kinds of pairs.
const (
	// Same: the same calls with the same outcomes, or the same words.
	Same PairKind = "same"
	// Outcome: the same calls, and at least one had another outcome.
	Outcome PairKind = "outcome"
	// Said: as Same, but something else was said to the model right before.
	Said PairKind = "input"
	// InA and InB: only one run has such a step there.
	InA PairKind = "only_a"
	InB PairKind = "only_b"
)

// Pair is two steps that stand against each other, or one that nothing stands
// against.
type Pair struct {
	Kind PairKind
	// A and B are indices of steps, -1 for none.
	A, B int
}

// Align pairs the steps of two runs, in order: a longest common subsequence on calls
// and outcomes (answers by their text); in the gaps of that, one on calls alone, so
// that the same call with another outcome is found as such. exact is false where the
// runs are so long, and have so little in common, that not all was looked for: it
// takes bounded time in any case.
func Align(a, b []Step) (pairs []Pair, exact bool) {
	al := aligner{a: a, b: b, exact: true}
	all, acts := interner[event.Hash]{}, interner[event.Hash]{}
	al.actsA, al.actsB = acts.all(hashes(a, (*Step).acts)), acts.all(hashes(b, (*Step).acts))
	spans, exact := common(all.all(hashes(a, (*Step).all)), all.all(hashes(b, (*Step).all)))
	al.exact = exact
	i, j := 0, 0
	for _, s := range append(spans, span{len(a), len(b), 0}) {
		al.gap(i, s.a, j, s.b)
		for k := range s.n {
			al.pairs = append(al.pairs, Pair{Same, s.a + k, s.b + k})
		}
		i, j = s.a+s.n, s.b+s.n
	}
	return al.pairs, al.exact
}

// hashes returns a hash of each step.
func hashes(steps []Step, of func(*Step) event.Hash) []event.Hash {
	out := make([]event.Hash, len(steps))
	for i := range steps {
		out[i] = of(&steps[i])
	}
	return out
}

// aligner pairs the steps of two runs.
type aligner struct {
	a, b         []Step
	actsA, actsB []int32
	pairs        []Pair
	exact        bool
}

// gap pairs steps between those that are the same in all.
func (al *aligner) gap(a0, a1, b0, b1 int) {
	var spans []span
	if a0 < a1 && b0 < b1 {
		var exact bool
		spans, exact = common(al.actsA[a0:a1], al.actsB[b0:b1])
		al.exact = al.exact && exact
	}
	i, j := a0, b0
	for _, s := range append(spans, span{a1 - a0, b1 - b0, 0}) {
		for ; i < a0+s.a; i++ {
			al.pairs = append(al.pairs, Pair{InA, i, -1})
		}
		for ; j < b0+s.b; j++ {
			al.pairs = append(al.pairs, Pair{InB, -1, j})
		}
		for range s.n {
			al.pairs = append(al.pairs, Pair{kind(&al.a[i], &al.b[j]), i, j})
			i, j = i+1, j+1
		}
	}
}

// kind compares two steps with the same calls.
func kind(a, b *Step) PairKind {
	for i := range min(len(a.Calls), len(b.Calls)) {
		if !sameOutcome(a.Calls[i], b.Calls[i]) {
			return Outcome
		}
	}
	if a.inputs != b.inputs {
		return Said
	}
	return Same
}
