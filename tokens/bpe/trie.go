package bpe

import (
	"fmt"
	"slices"
)

// trie finds the longest of many texts that another begins with. Where only one of
// them is left below a node, the node is a leaf and has it, whatever remains of it.
type trie struct {
	// nodes in order of depth; the children of node n are nodes[n].first up to
	// nodes[n+1].first, in the order of their labels.
	nodes []node
	// labels has the byte that leads to each node.
	labels []byte
	// jump has the node after each two bytes, 0 if there is none.
	jump [1 << 16]uint32
	// one has the text of each one byte, or none.
	one [256]uint32
}

type node struct {
	first uint32
	// token is the text that ends here, or a leaf's; or none.
	token uint32
	// tail is what remains of a leaf's text, of up to 3 bytes; tailed says how many,
	// and more if they are.
	tail   [tails]byte
	tailed uint8
}

// tails is how many bytes of a text a leaf has itself.
const tails = 3

// newTrie returns a trie of texts, which are not empty, and for each of them the longest
// other that it begins with, or none. No text may be there twice.
func newTrie(t *texts) (*trie, []uint32, error) {
	n := t.len()
	b := &trieBuilder{
		texts: t, t: &trie{nodes: make([]node, 0, n+n/2), labels: make([]byte, 0, n+n/2)}, parts: make([]part, 0, n+n/2),
		order: make([]uint32, n), spare: make([]uint32, n), prefix: make([]uint32, n),
	}
	for i := range b.order {
		b.order[i] = uint32(i)
	}
	b.child(0, part{0, uint32(n), none, 0})
	for at := 0; at < len(b.t.nodes); at++ {
		if err := b.fill(uint32(at)); err != nil {
			return nil, nil, err
		}
	}
	b.t.nodes = append(b.t.nodes, node{first: uint32(len(b.t.nodes)), token: none}) // ends the children of the last
	b.t.nodes, b.t.labels = slices.Clone(b.t.nodes), slices.Clone(b.t.labels)       // no more room than they need
	b.shorten()
	return b.t, b.prefix, nil
}

type trieBuilder struct {
	texts        *texts
	order, spare []uint32 // texts, those of one node side by side
	prefix       []uint32
	t            *trie
	parts        []part // of each node
}

// part is what a node stands for: order[lo:hi], which have depth bytes in common;
// above is the longest text that ends above it, or none.
type part struct{ lo, hi, above, depth uint32 }

// child adds a node.
func (b *trieBuilder) child(label byte, p part) {
	b.t.nodes = append(b.t.nodes, node{first: 0, token: none})
	b.t.labels = append(b.t.labels, label)
	b.parts = append(b.parts, p)
}

// fill gives a node its text and its children.
func (b *trieBuilder) fill(n uint32) error {
	p := b.parts[n]
	b.t.nodes[n].first = uint32(len(b.t.nodes))
	own := b.order[p.lo:p.hi]
	if len(own) == 1 {
		b.leaf(n, own[0])
		return nil
	}
	for i, t := range own {
		if uint32(b.texts.size(t)) != p.depth {
			continue
		}
		if p.lo > b.parts[n].lo {
			return fmt.Errorf("%q is there twice", b.texts.at(t))
		}
		own[0], own[i] = t, own[0]
		b.ends(n, t)
		p.lo++
		p.above = t
	}
	own = b.order[p.lo:p.hi]
	b.sort(own, p.depth)
	for len(own) > 0 {
		label := b.byteAt(own[0], p.depth)
		k := 1
		for k < len(own) && b.byteAt(own[k], p.depth) == label {
			k++
		}
		b.child(label, part{p.lo, p.lo + uint32(k), p.above, p.depth + 1})
		p.lo += uint32(k)
		own = own[k:]
	}
	return nil
}

// leaf makes a node one of a single text, whatever remains of it.
func (b *trieBuilder) leaf(n, text uint32) {
	b.ends(n, text)
	tail := b.texts.at(text)[b.parts[n].depth:]
	b.t.nodes[n].tailed = uint8(min(len(tail), tails+1))
	copy(b.t.nodes[n].tail[:], tail)
}

// ends says that a text ends at node n, or goes on below it alone.
func (b *trieBuilder) ends(n, text uint32) {
	b.t.nodes[n].token = text
	b.prefix[text] = b.parts[n].above
}

func (b *trieBuilder) byteAt(text, depth uint32) byte {
	return b.texts.joined[b.texts.begins[text]+depth]
}

// sort sorts texts by the byte at a depth: few of them by insertion, many by
// counting.
func (b *trieBuilder) sort(own []uint32, depth uint32) {
	if len(own) <= 24 {
		for i := range own {
			t := own[i]
			c := b.byteAt(t, depth)
			j := i
			for ; j > 0 && b.byteAt(own[j-1], depth) > c; j-- {
				own[j] = own[j-1]
			}
			own[j] = t
		}
		return
	}
	var count [257]uint32
	for _, t := range own {
		count[int(b.byteAt(t, depth))+1]++
	}
	for c := range 256 {
		count[c+1] += count[c]
	}
	spare := b.spare[:len(own)]
	for _, t := range own {
		c := b.byteAt(t, depth)
		spare[count[c]] = t
		count[c]++
	}
	copy(own, spare)
}

// shorten fills in the ways that spare steps.
func (b *trieBuilder) shorten() {
	t := b.t
	for c := range t.one {
		t.one[c] = none
	}
	for c := t.nodes[0].first; c < t.nodes[1].first; c++ {
		if t.nodes[c].tailed == 0 {
			t.one[t.labels[c]] = t.nodes[c].token
		}
		for d := t.nodes[c].first; d < t.nodes[c+1].first; d++ {
			t.jump[int(t.labels[c])<<8|int(t.labels[d])] = d
		}
	}
}

// longest returns the longest text that s[i:] begins with and its end in s, or none.
func (t *trie) longest(texts *texts, s string, i int) (uint32, int) {
	best, to := uint32(none), i
	at, d := uint32(0), i
	if i+1 < len(s) {
		if at = t.jump[int(s[i])<<8|int(s[i+1])]; at != 0 {
			best, to = t.one[s[i]], i+1
			d = i + 2
		}
	}
	for ; ; d++ {
		n := &t.nodes[at]
		lo, hi := n.first, t.nodes[at+1].first
		if lo == hi {
			if e := n.end(texts, s, i, d); e > 0 {
				return n.token, e
			}
			return best, to
		}
		if n.token != none {
			best, to = n.token, d
		}
		if d == len(s) {
			return best, to
		}
		// The children's labels ascend, so that c is at most c - the first label
		// from the first: where labels are dense, as those of Chinese are, there.
		c, labels := s[d], t.labels[lo:hi]
		if c < labels[0] {
			return best, to
		}
		k := min(int(c-labels[0]), len(labels)-1)
		for labels[k] > c {
			k--
		}
		if labels[k] != c {
			return best, to
		}
		at = lo + uint32(k)
	}
}

// end returns the end of a leaf's text in s, whose bytes up to d have been found; 0 if
// what remains of it isn't there.
func (n *node) end(texts *texts, s string, i, d int) int {
	rest := s[d:]
	if n.tailed > tails {
		text := texts.at(n.token)
		if len(text) > len(s)-i || rest[:i+len(text)-d] != text[d-i:] {
			return 0
		}
		return i + len(text)
	}
	k := int(n.tailed)
	if k > len(rest) {
		return 0
	}
	for x := range k {
		if rest[x] != n.tail[x] {
			return 0
		}
	}
	return d + k
}
