package guard

import "fmt"

// Names is a set of tool names: patterns, in which * stands for any run of
// characters. The zero value holds none.
type Names struct {
	list []pattern
}

// NewNames compiles patterns, at most [MaxPermissions].
func NewNames(patterns ...string) (Names, error) {
	var n Names
	if len(patterns) > MaxPermissions {
		return n, fmt.Errorf("%d names are more than %d: use patterns such as read_*", len(patterns), MaxPermissions)
	}
	for _, text := range patterns {
		p, err := newPattern(text)
		if err != nil {
			return Names{}, fmt.Errorf("%q: %w", clip(text), err)
		}
		n.list = append(n.list, p)
	}
	return n, nil
}

// Has reports whether the name is in the set.
func (n *Names) Has(name string) bool {
	for i := range n.list {
		if n.list[i].match(name) {
			return true
		}
	}
	return false
}
