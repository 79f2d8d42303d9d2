package portable

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of the values that are looked for wherever they stand, in bytes: shorter ones
// stand in text that has nothing to do with them.
const (
	minKnown = 8
	maxKnown = 1 << 10
	// mostKnown and mostKnownBytes are how many values are kept, so that the time to
	// look for them, and the memory, stay small.
	mostKnown      = 1000
	mostKnownBytes = 256 << 10
)

// automaton finds the values that names have shown to be secrets where no name
// stands beside them. It is that of Aho and Corasick (1975): a text is read once,
// however many values there are.
type automaton struct {
	values map[string]string // by value, as what it is known; looked up only
	list   []knownValue      // in the order in which they were added
	size   int
	built  int // how many of the list are in nodes
	nodes  []knownNode
	steps  map[uint64]int32 // from a node, by a byte; looked up only
	first  [256]int32       // the steps from the beginning
}

type knownValue struct {
	text, secret, kind string // secret: the value that the text stands for
}

type knownNode struct {
	fall int32 // the longest ending of what was read that begins a value, too
	is   int32 // the longest value that ends here, from 1; 0 for none
}

// add keeps a value that was found as what kind says. It is also looked for as it stands
// in a JSON string.
func (k *automaton) add(kind, value string) {
	value = strings.TrimSpace(value)
	if scheme, rest, ok := strings.Cut(value, " "); ok && schemes[strings.ToLower(scheme)] {
		value = strings.TrimSpace(rest)
	}
	if len(value) < minKnown || len(value) > maxKnown || isCommon(kind, value) || placeholder(value) || strings.Contains(value, markerOpen) {
		return
	}
	k.keep(knownValue{value, value, kind})
	if quoted, err := jsontext.AppendQuote(nil, value); err == nil && len(quoted) != len(value)+2 {
		k.keep(knownValue{string(quoted[1 : len(quoted)-1]), value, kind})
	}
}

func (k *automaton) keep(v knownValue) {
	if _, ok := k.values[v.text]; ok || len(k.list) >= mostKnown || k.size+len(v.text) > mostKnownBytes {
		return
	}
	if k.values == nil {
		k.values = map[string]string{}
	}
	v.text = strings.Clone(v.text)
	k.values[v.text] = v.kind
	k.list = append(k.list, v)
	k.size += len(v.text)
}

// isCommon reports whether a value may stand in much that is no secret: a word or a name
// in a program; and, but of passwords, several words. Journals say their own words so.
func isCommon(kind, value string) bool {
	const word = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_."
	if !passwords[kind] {
		return strings.ContainsAny(value, " \t\r\n") || strings.Trim(value, word) == ""
	}
	inner := value[1:] // a word may begin with a capital
	return strings.Trim(value, word) == "" && (strings.ToLower(inner) == inner || strings.ToUpper(value) == value)
}

func step(node int32, c byte) uint64 { return uint64(node)<<8 | uint64(c) }

// build makes the automaton of the values that there are now.
func (k *automaton) build() {
	k.nodes, k.steps, k.first, k.built = make([]knownNode, 1, k.size+1), make(map[uint64]int32, k.size), [256]int32{}, len(k.list)
	type child struct {
		from, to int32
		c        byte
	}
	depth := make([][]child, maxKnown*6+1)
	for i, v := range k.list {
		at := int32(0)
		for j := 0; j < len(v.text); j++ {
			next, ok := k.steps[step(at, v.text[j])]
			if !ok {
				next = int32(len(k.nodes))
				k.nodes = append(k.nodes, knownNode{})
				k.steps[step(at, v.text[j])] = next
				depth[j] = append(depth[j], child{at, next, v.text[j]})
			}
			at = next
		}
		k.nodes[at].is = int32(i + 1)
	}
	for _, c := range depth[0] {
		k.first[c.c] = c.to
	}
	for _, level := range depth[1:] {
		for _, c := range level {
			fall := k.next(k.nodes[c.from].fall, c.c)
			k.nodes[c.to].fall = fall
			if k.nodes[c.to].is == 0 {
				k.nodes[c.to].is = k.nodes[fall].is
			}
		}
	}
}

// next returns the node after a byte.
func (k *automaton) next(at int32, c byte) int32 {
	for at != 0 {
		if to, ok := k.steps[step(at, c)]; ok {
			return to
		}
		at = k.nodes[at].fall
	}
	return k.first[c]
}

// place is where a value stands in a text; what it is.
type place struct {
	from, to int
	v        *knownValue
}

// find returns where values stand in a text, from left to right. Of those that overlap
// the one that holds the others counts, or else all as one.
func (k *automaton) find(s string) []place {
	if k.built != len(k.list) {
		k.build()
	}
	if len(k.list) == 0 {
		return nil
	}
	var out []place
	at := int32(0)
	for i := 0; i < len(s); i++ {
		if at = k.next(at, s[i]); k.nodes[at].is == 0 {
			continue
		}
		v := &k.list[k.nodes[at].is-1]
		p := place{i + 1 - len(v.text), i + 1, v}
		if inNumber(s, p) {
			continue
		}
		for len(out) > 0 && out[len(out)-1].to > p.from {
			last := out[len(out)-1]
			if out = out[:len(out)-1]; last.from < p.from {
				p.from, p.v = last.from, last.v
			}
		}
		out = append(out, p)
	}
	return slices.Clip(out)
}

// inNumber reports whether a value of digits is only a part of a longer number.
func inNumber(s string, p place) bool {
	if strings.Trim(p.v.text, "0123456789") != "" {
		return false
	}
	digit := func(i int) bool { return i >= 0 && i < len(s) && '0' <= s[i] && s[i] <= '9' }
	return digit(p.from-1) || digit(p.to) || p.from > 1 && s[p.from-1] == '.' && digit(p.from-2)
}

// knownIn returns a text without the values that are known, outside of markers.
func (r *Redactor) knownIn(s string) string {
	if r.apart || len(r.known.list) == 0 || len(s) < minKnown {
		return s
	}
	var out strings.Builder
	done, from := 0, 0
	take := func(to int) {
		for _, p := range r.known.find(s[from:to]) {
			out.WriteString(s[done : from+p.from])
			out.WriteString(r.marker(p.v.kind, p.v.secret))
			done = from + p.to
		}
	}
	for i := 0; i < len(s); i++ {
		if s[i] != '[' && s[i] != '{' {
			continue
		}
		if end, ok := markerAt(s, i); ok {
			take(i)
			from, i = end, end-1
		}
	}
	take(len(s))
	if done == 0 {
		return s
	}
	out.WriteString(s[done:])
	return out.String()
}
