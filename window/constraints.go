package window

import "slices"

// Constraints returns what a text demands, word for word, in its order: lines and
// sentences with words like must, never, only, at most, don't, in several languages.
// They have at most most tokens by an estimate; when there are more, those stay that
// say most for their size.
func Constraints(text string, most int64) []string {
	return measure{million}.constraints(text, most)
}

func (m measure) constraints(text string, most int64) []string {
	f := newFinder(m, extent{bytes: len(text) / 8})
	f.only = binds | bounds
	f.add(source{}, text)
	var out []string
	chosen := f.best(most, 0)
	slices.Sort(chosen)
	for _, i := range chosen {
		out = append(out, f.facts[i].text)
	}
	return out
}
