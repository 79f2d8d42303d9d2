package parse

import (
	"sort"
	"strings"

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
	// openers and markup by the anchor and the byte after it; longest first.
	openers map[[2]byte][]*opener
	markup  map[[2]byte][]string
	// tags are the rows that an element of a name begins.
	tags map[string][]*dialect.Dialect
}

func compile(rows []*dialect.Dialect) *index {
	x := &index{openers: map[[2]byte][]*opener{}, markup: map[[2]byte][]string{}, tags: map[string][]*dialect.Dialect{}}
	byText := map[string]*opener{}
	var order []*opener
	wraps := map[string]bool{}
	for _, d := range rows {
		for _, text := range d.Open {
			o := byText[text]
			if o == nil {
				o = &opener{text: text, anchor: anchor(text)}
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
	}
	for _, list := range x.openers {
		sort.SliceStable(list, func(a, b int) bool { return len(list[a].text) > len(list[b].text) })
	}
	return x
}

func (x *index) addMarkup(s string) {
	k := key(s)
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
	for _, o := range table.openers[key(s[i:])] {
		if start := i - o.anchor; start >= 0 && strings.HasPrefix(s[start:], o.text) {
			out = append(out, o)
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
