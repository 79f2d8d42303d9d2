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
	// openers and markup by the anchor and the bytes after it, longest first.
	// Tables, since they are asked at nearly each bracket of a text.
	openers byThree[*opener]
	markup  byThree[*sign]
	// echoes are the second bytes of what stands for results.
	echoes [256]bool
	// tags are the rows that an element of a name begins.
	tags map[string][]*dialect.Dialect
	// heads are what stands in openers before their anchors, where something does.
	heads []string
}

// sign is a marker that says nothing by itself.
type sign struct {
	text string
	// wraps: it stands around blocks. special: of a row with special openers.
	wraps, special bool
}

// byThree holds lists by the three bytes that something begins with, 0 for those
// that it lacks. The third is what tells most markers apart: of them there are
// only a few beginnings.
type byThree[T any] [256]*[256]*byThird[T]

// byThird holds lists by one byte, in the order of bytes.
type byThird[T any] struct {
	bytes string
	lists [][]T
}

func (x *byThree[T]) list(k key) []T {
	if x[k.a] == nil || x[k.a][k.b] == nil {
		return nil
	}
	t := x[k.a][k.b]
	if n := strings.IndexByte(t.bytes, k.c); n >= 0 {
		return t.lists[n]
	}
	return nil
}

// place returns where the list for a key is.
func (x *byThree[T]) place(k key) *[]T {
	if x[k.a] == nil {
		x[k.a] = new([256]*byThird[T])
	}
	if x[k.a][k.b] == nil {
		x[k.a][k.b] = new(byThird[T])
	}
	t := x[k.a][k.b]
	n := strings.IndexByte(t.bytes, k.c)
	if n < 0 {
		n = len(t.lists)
		t.bytes, t.lists = t.bytes+string([]byte{k.c}), append(t.lists, nil)
	}
	return &t.lists[n]
}

// key is the bytes that something begins with.
type key struct{ a, b, c byte }

// keyAt returns the bytes at s[i]; 0 for those after the end.
func keyAt(s string, i int) (k key) {
	k.a = s[i]
	if i+1 < len(s) {
		k.b = s[i+1]
	}
	if i+2 < len(s) {
		k.c = s[i+2]
	}
	return k
}

// standsAt reports whether m stands at s[i]. It looks at the byte in the middle
// first: the ends of markers are much the same.
func standsAt(s string, i int, m string) bool {
	return i >= 0 && len(s)-i >= len(m) && s[i+len(m)/2] == m[len(m)/2] && s[i:i+len(m)] == m
}

func compile(rows []*dialect.Dialect) *index {
	x := &index{tags: map[string][]*dialect.Dialect{}}
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
			m := x.addMarkup(w)
			m.wraps, m.special = true, m.special || d.Special
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
		k := keyAt(o.text, o.anchor)
		list := x.openers.place(k)
		*list = append(*list, o)
		sort.SliceStable(*list, func(a, b int) bool { return len((*list)[a].text) > len((*list)[b].text) })
		if k.b != 0 {
			x.second[k.b] = true
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
	for _, e := range dialect.Echoes() {
		x.echoes[e.Open[1]] = true
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

// addMarkup notes a marker.
func (x *index) addMarkup(s string) *sign {
	k := keyAt(s, 0)
	if k.a == '<' || k.a == '[' { // where the scan stops
		x.second[k.b] = true
	}
	list := x.markup.place(k)
	for _, have := range *list {
		if have.text == s {
			return have
		}
	}
	m := &sign{text: s}
	*list = append(*list, m)
	sort.SliceStable(*list, func(a, b int) bool { return len((*list)[a].text) > len((*list)[b].text) })
	return m
}

// anchor returns where the first byte of a marker is that the scan stops at.
func anchor(text string) int {
	i := strings.IndexAny(text, "<[")
	if i < 0 || len(text)-i == 2 {
		panic("parse: the marker " + text + " has no < and no [ to be found by, or one byte after it")
	}
	return i
}

// mostOpeners is more than any text can have at one place, so that lists of them
// need no memory of their own.
const mostOpeners = 8

// openersAt adds the openers whose anchor is s[i] to out, the longest first.
func openersAt(s string, i int, out []*opener) []*opener {
	k := keyAt(s, i)
	for _, o := range table.openers.list(k) {
		if standsAt(s, i-o.anchor, o.text) {
			out = append(out, o)
		}
	}
	for _, o := range table.openers.list(key{a: k.a}) { // some end with their anchor
		if standsAt(s, i-o.anchor, o.text) {
			out = append(out, o)
		}
	}
	return out
}

// markupAt returns the marker at s[i] that says nothing by itself, or nil.
func markupAt(s string, i int) *sign {
	for _, m := range table.markup.list(keyAt(s, i)) {
		if standsAt(s, i, m.text) {
			return m
		}
	}
	return nil
}
