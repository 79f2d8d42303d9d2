package bpe

// texts are many texts, one after the other in one string.
type texts struct {
	all    []byte
	joined string   // all, once it is complete
	ends   []uint32 // of each
}

func newTexts(n int) *texts { return &texts{ends: make([]uint32, 0, n), all: make([]byte, 0, 8*n)} }

// add adds the text that its parts make together.
func (t *texts) add(parts ...string) {
	for _, p := range parts {
		t.all = append(t.all, p...)
	}
	t.ends = append(t.ends, uint32(len(t.all)))
}

// join adds text a and text b as one.
func (t *texts) join(a, b uint32) {
	t.all = append(t.all, t.all[t.begin(a):t.ends[a]]...)
	t.all = append(t.all, t.all[t.begin(b):t.ends[b]]...)
	t.ends = append(t.ends, uint32(len(t.all)))
}

// complete ends the adding: at may be used.
func (t *texts) complete() {
	t.joined = string(t.all)
	t.all = nil
}

func (t *texts) begin(i uint32) uint32 {
	if i == 0 {
		return 0
	}
	return t.ends[i-1]
}

// at returns a text.
func (t *texts) at(i uint32) string { return t.joined[t.begin(i):t.ends[i]] }

// size returns the bytes of a text.
func (t *texts) size(i uint32) int { return int(t.ends[i] - t.begin(i)) }

func (t *texts) len() int { return len(t.ends) }
