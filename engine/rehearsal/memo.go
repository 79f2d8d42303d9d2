package rehearsal

import "rein.example/rein/tokens"

// memo is a counter that remembers: the same texts are counted for each strategy and
// budget. It is not safe for concurrent use.
type memo struct {
	tokens.Counter
	known map[string]int
}

// leastKept is the length in bytes from which on a text's count is remembered.
const leastKept = 64

func (m *memo) Count(text string) int {
	if len(text) < leastKept {
		return m.Counter.Count(text)
	}
	n, ok := m.known[text]
	if !ok {
		n = m.Counter.Count(text)
		m.known[text] = n
	}
	return n
}
