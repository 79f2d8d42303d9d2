package schema

import (
	"fmt"
	"strconv"
	"strings"

	"rein.example/rein/internal/cut"
)

// maxExcerpt bounds what a message shows of a value, in bytes.
const maxExcerpt = 60

// show describes a value in a message. It costs nothing while problems are not
// wanted.
func (c *checker) show(at int32) string {
	if !c.report {
		return ""
	}
	n := &c.nodes[at]
	switch n.kind {
	case kindNull:
		return "null"
	case kindBool:
		return strconv.FormatBool(n.isTrue())
	case kindNumber:
		return "the number " + excerpt(c.bytes(n.text))
	case kindString:
		return "the string " + excerpt(c.quote(nil, n.text, n.raw))
	case kindArray:
		return "a list of " + plural(int64(n.count), "item")
	default:
		return "an object"
	}
}

func (c *checker) counted(n int64, what string) string {
	if !c.report {
		return ""
	}
	return "has " + plural(n, what)
}

func plural(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.FormatInt(n, 10) + " " + what
}

// excerpt returns the text, or its beginning at a rune's end and how much it is.
func excerpt(text []byte) string {
	if len(text) <= maxExcerpt {
		return string(text)
	}
	return fmt.Sprintf("%s… (%d bytes)", text[:cut.Down(text, maxExcerpt)], len(text))
}

// maxWords bounds how many references and alternatives are followed.
const maxWords = 4

// words says what a rule takes, in a few words.
func (r *rule) words(depth int) string {
	switch {
	case r.never:
		return "nothing"
	case r.only != nil:
		return r.only[0].show
	case r.enum != nil:
		return oneOf(r.enum)
	}
	var parts []string
	for _, t := range typeWords {
		if r.types&t.kind != 0 && (t.kind != kindInteger || r.types&kindNumber == 0) {
			parts = append(parts, r.typeWords(t.kind, t.word, depth))
		}
	}
	if r.types == 0 {
		for _, t := range typeWords { // bounds without a type
			if w := r.typeWords(t.kind, t.word, depth); w != t.word && t.kind != kindInteger {
				parts = append(parts, w)
			}
		}
	}
	if len(parts) == 0 && depth < maxWords {
		parts = r.alternatives(depth)
	}
	if len(parts) == 0 {
		return "a value that its schema allows"
	}
	return strings.Join(parts, " or ")
}

// alternatives describes what stands under $ref, allOf, anyOf and oneOf.
func (r *rule) alternatives(depth int) []string {
	if r.ref != nil {
		return []string{r.ref.words(depth + 1)}
	}
	if len(r.all) == 1 {
		return []string{r.all[0].words(depth + 1)}
	}
	var parts []string
	for _, list := range [][]*rule{r.any, r.one} {
		for i, s := range list {
			if i == 8 {
				return append(parts, fmt.Sprintf("%d other forms", len(list)-i))
			}
			parts = append(parts, s.words(depth+1))
		}
	}
	return parts
}

var typeWords = []struct {
	kind kind
	word string
}{
	{kindString, "a string"}, {kindInteger, "an integer"}, {kindNumber, "a number"}, {kindBool, "true or false"},
	{kindArray, "a list"}, {kindObject, "an object"}, {kindNull, "null"},
}

func (r *rule) typeWords(k kind, word string, depth int) string {
	switch k {
	case kindInteger, kindNumber:
		return word + r.numberWords()
	case kindString:
		word += rangeWords(r.minLength, r.maxLength, "character")
		if r.pattern != nil {
			word += " that matches " + excerpt([]byte(r.pattern.String()))
		}
	case kindArray:
		word += rangeWords(r.minItems, r.maxItems, "item")
		if r.items != nil && len(r.prefix) == 0 && depth < maxWords {
			if w := r.items.words(depth + 1); !strings.HasPrefix(w, "a value") {
				word += ", each " + w
			}
		}
	case kindObject:
		word += rangeWords(r.minProperties, r.maxProperties, "member")
	}
	return word
}

func (r *rule) numberWords() string {
	var w []string
	for _, b := range []struct {
		bound *num
		word  string
	}{{r.min, "at least"}, {r.above, "more than"}, {r.max, "at most"}, {r.below, "less than"}, {r.multiple, "a multiple of"}} {
		if b.bound != nil {
			w = append(w, b.word+" "+b.bound.String())
		}
	}
	if len(w) == 0 {
		return ""
	}
	return " of " + strings.Join(w, " and ")
}

func rangeWords(lo, hi int64, what string) string {
	switch {
	case lo > 0 && hi == lo:
		return " of " + plural(lo, what)
	case lo > 0 && hi >= 0:
		return fmt.Sprintf(" of %d to %s", lo, plural(hi, what))
	case lo > 0:
		return " of at least " + plural(lo, what)
	case hi >= 0:
		return " of at most " + plural(hi, what)
	}
	return ""
}

func oneOf(list []constant) string {
	if len(list) == 0 {
		return "nothing"
	}
	var b strings.Builder
	if len(list) > 1 {
		b.WriteString("one of ")
	}
	for i := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		if i == 20 {
			fmt.Fprintf(&b, "… (%d in all)", len(list))
			break
		}
		b.WriteString(list[i].show)
	}
	return b.String()
}

// memberWords says that a member is not known, which one may be meant, and which
// ones the rule knows.
func (r *rule) memberWords(name []byte) string {
	var known []string
	for i := range r.members {
		if r.members[i].rule != nil {
			known = append(known, string(r.members[i].name))
		}
	}
	if len(known) == 0 {
		return "is not known: there are no members"
	}
	var b strings.Builder
	b.WriteString("is not known; ")
	if near := Nearest(string(name), known); len(near) > 0 {
		fmt.Fprintf(&b, "did you mean %s? ", near[0])
	}
	b.WriteString("known: ")
	for i, k := range known {
		if i > 0 {
			b.WriteString(", ")
		}
		if i == 20 {
			fmt.Fprintf(&b, "… (%d in all)", len(known))
			break
		}
		b.WriteString(k)
	}
	return b.String()
}

// String returns the number in decimal.
func (n num) String() string {
	if n.zero() {
		return "0"
	}
	var b []byte
	if n.neg {
		b = append(b, '-')
	}
	d := append(append([]byte(nil), n.a...), n.b...)
	switch {
	case n.top > 21 || n.top < -6:
		b = append(append(b, d[0]), '.')
		b = append(b, d[1:]...)
		if len(d) == 1 {
			b = b[:len(b)-1]
		}
		return string(b) + "e" + strconv.FormatInt(n.top-1, 10)
	case n.top <= 0:
		b = append(append(b, "0."...), strings.Repeat("0", int(-n.top))...)
		return string(append(b, d...))
	case int(n.top) >= len(d):
		return string(append(append(b, d...), strings.Repeat("0", int(n.top)-len(d))...))
	default:
		return string(b) + string(d[:n.top]) + "." + string(d[n.top:])
	}
}
