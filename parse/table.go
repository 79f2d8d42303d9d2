package parse

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"rein.example/rein/dialect"
)

// opener is a marker and the rows that it may begin.
type opener struct {
	text string
	// anchor is where in text the byte stands that the scan stops at.
	anchor int
	rows   []*dialect.Dialect
	// wraps: it may also stand around blocks, and then carries nothing.
	wraps bool
}

func (o *opener) special() bool {
	for _, d := range o.rows {
		if d.Special {
			return true
		}
	}
	return false
}

// table is the dialects, ready to be looked up by what stands in a text. It is
// made once and never changed.
var table = compile(dialect.All())

type index struct {
	// second are the bytes that follow the anchor of some marker; before are
	// those before an anchor that is the marker's last byte.
	second, before [256]bool
	// openers and markup by the anchor and the byte after it; longest first.
	openers map[[2]byte][]*opener
	markup  map[[2]byte][]string
	// wraps are the markers around blocks; true: of a row with special openers.
	wraps map[string]bool
	// tags are the rows that an element of a name begins.
	tags map[string][]*dialect.Dialect
	// heads are what stands in openers before their anchors, where something does.
	heads []string
}

func compile(rows []*dialect.Dialect) *index {
	x := &index{openers: map[[2]byte][]*opener{}, markup: map[[2]byte][]string{}, tags: map[string][]*dialect.Dialect{},
		wraps: map[string]bool{}}
	byText := map[string]*opener{}
	var order []*opener
	wraps := map[string]bool{}
	for _, d := range rows {
		for _, text := range d.Open {
			o := byText[text]
			if o == nil {
				o = &opener{text: text, anchor: anchor(text)}
				if o.anchor > 0 && !slices.Contains(x.heads, text[:o.anchor]) {
					x.heads = append(x.heads, text[:o.anchor])
				}
				byText[text] = o
				order = append(order, o)
			}
			o.rows = append(o.rows, d)
		}
		for _, t := range d.Tags {
			x.tags[t] = append(x.tags[t], d)
		}
		for _, w := range d.Wrap {
			wraps[w] = true
			x.wraps[w] = x.wraps[w] || d.Special
			x.addMarkup(w)
		}
		for _, c := range d.Close {
			x.addMarkup(c)
		}
	}
	for _, c := range dialect.Control() {
		x.addMarkup(c)
	}
	for _, o := range order {
		o.wraps = wraps[o.text]
		k := key(o.text[o.anchor:])
		x.openers[k] = append(x.openers[k], o)
		if k[1] != 0 {
			x.second[k[1]] = true
		} else {
			x.before[o.text[o.anchor-1]] = true
		}
	}
	for _, spans := range [...][]dialect.Span{dialect.Thinking(), dialect.Echoes()} {
		for _, t := range spans {
			for _, m := range [...]string{t.Open, t.Close} {
				if m[0] == '<' || m[0] == '[' {
					x.second[m[1]] = true
				}
			}
		}
	}
	for _, list := range x.openers { // order: each list is sorted by itself
		sort.SliceStable(list, func(a, b int) bool { return len(list[a].text) > len(list[b].text) })
	}
	return x
}

// begins reports whether a marker of any kind may stand at s[i], which is '<' or
// '[', by the byte after it: elements begin with a letter or with what decorates
// it, other markers as the table has them.
func (x *index) begins(s string, i int) bool {
	if i > 0 && x.before[s[i-1]] {
		return true
	}
	if i+1 == len(s) {
		return false
	}
	c := s[i+1]
	if c == '/' && i+2 < len(s) && !wordByte(s[i+2]) && s[i+2] != '|' && s[i+2] < utf8.RuneSelf {
		return false // no closing tag
	}
	return x.second[c] || s[i] == '<' && (c|0x20 >= 'a' && c|0x20 <= 'z' || c == '/' || c == '_' || c >= 0x80)
}

func (x *index) addMarkup(s string) {
	k := key(s)
	if k[0] == '<' || k[0] == '[' { // where the scan stops
		x.second[k[1]] = true
	}
	for _, have := range x.markup[k] {
		if have == s {
			return
		}
	}
	list := append(x.markup[k], s)
	sort.SliceStable(list, func(a, b int) bool { return len(list[a]) > len(list[b]) })
	x.markup[k] = list
}

// anchor returns where the first byte of a marker is that the scan stops at.
func anchor(text string) int {
	i := strings.IndexAny(text, "<[")
	if i < 0 {
		panic("parse: the marker " + text + " has no < and no [ to be found by")
	}
	return i
}

func key(s string) (k [2]byte) {
	copy(k[:], s)
	return k
}

// openersAt returns the openers whose anchor is s[i], the longest first.
func openersAt(s string, i int) []*opener {
	var out []*opener
	for _, k := range [...][2]byte{key(s[i:]), {s[i]}} { // some end with their anchor
		for _, o := range table.openers[k] {
			if start := i - o.anchor; start >= 0 && strings.HasPrefix(s[start:], o.text) {
				out = append(out, o)
			}
		}
		if k[1] == 0 {
			break
		}
	}
	return out
}

// markupAt returns the length of the marker at s[i] that says nothing by itself.
func markupAt(s string, i int) int {
	for _, m := range table.markup[key(s[i:])] {
		if strings.HasPrefix(s[i:], m) {
			return len(m)
		}
	}
	return 0
}
