package bpe

// texts are many texts, one after the other in one string.
type texts struct {
	all    []byte
	joined string // all, once it is complete
	// begins has where each begins, and at last where the last ends.
	begins []uint32
}

func newTexts(n int) *texts {
	return &texts{begins: make([]uint32, 1, n+1), all: make([]byte, 0, 8*n)}
}

// add adds a text.
func (t *texts) add(s string) {
	t.all = append(t.all, s...)
	t.begins = append(t.begins, uint32(len(t.all)))
}

// join adds texts a and b as one.
func (t *texts) join(a, b uint32) {
	t.all = append(t.all, t.all[t.begins[a]:t.begins[a+1]]...)
	t.all = append(t.all, t.all[t.begins[b]:t.begins[b+1]]...)
	t.begins = append(t.begins, uint32(len(t.all)))
}

// complete ends the adding: at may be used.
func (t *texts) complete() {
	t.joined = string(t.all)
	t.all = nil
}

// at returns a text.
func (t *texts) at(i uint32) string { return t.joined[t.begins[i]:t.begins[i+1]] }

// size returns the bytes of a text.
func (t *texts) size(i uint32) int { return int(t.begins[i+1] - t.begins[i]) }

func (t *texts) len() int { return len(t.begins) - 1 }
