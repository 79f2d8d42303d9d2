package parse

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"rein.example/rein/event"
)

// entityNames are the entities that XML has by name.
var entityNames = [...][2]string{{"lt;", "<"}, {"gt;", ">"}, {"amp;", "&"}, {"quot;", `"`}, {"apos;", "'"}}

// escapedTag begins a tag whose markup is written in entities.
const escapedTag = "&lt;"

// entityAt returns what the entity at s[i], which is '&', stands for, and the
// index after it. end is 0 where none stands.
func entityAt(s string, i int) (text string, end int) {
	rest := s[i+1:]
	for _, e := range entityNames {
		if strings.HasPrefix(rest, e[0]) {
			return e[1], i + 1 + len(e[0])
		}
	}
	digits, ok := strings.CutPrefix(rest, "#")
	if !ok {
		return "", 0
	}
	n := strings.IndexByte(digits[:min(len(digits), 10)], ';')
	if n <= 0 {
		return "", 0
	}
	base, number := 10, digits[:n]
	if number[0] == 'x' || number[0] == 'X' {
		base, number = 16, number[1:]
	}
	v, err := strconv.ParseUint(number, base, 32)
	if err != nil || v == 0 || !utf8.ValidRune(rune(v)) {
		return "", 0
	}
	return string(rune(v)), i + 2 + n + 1
}

// entities returns s with what its entities stand for. What is none stays.
func entities(s string) string {
	i := strings.IndexByte(s, '&')
	if i < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for from := 0; ; {
		out = append(out, s[from:i]...)
		from = i
		if text, end := entityAt(s, i); end > 0 {
			out, from, i = append(out, text...), end, end-1
		}
		k := strings.IndexByte(s[i+1:], '&')
		if k < 0 {
			return string(append(out, s[from:]...))
		}
		i += 1 + k
	}
}

// xmlText returns the text that the content of an element stands for: CDATA
// sections as they are, entities outside of them decoded. Blanks around a value
// that is one section are not part of it.
func xmlText(s string) string {
	if t := trim(s); strings.HasPrefix(t, cdataOpen) && strings.Index(t, cdataShut) == len(t)-len(cdataShut) {
		return t[len(cdataOpen) : len(t)-len(cdataShut)]
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, cdataOpen)
		b.WriteString(entities(before))
		if !ok {
			return b.String()
		}
		inside, after, _ := strings.Cut(rest, cdataShut)
		b.WriteString(inside)
		s = after
	}
}

// escaped takes the calls of a fenced block whose markup is written in entities.
func (r *reading) escaped(f found, body, shut int) found {
	for _, g := range r.decoded(body, shut) {
		f.calls = append(f.calls, g.calls...)
		f.empty, f.format = false, g.format
	}
	return f
}

// entity takes the blocks of calls that begin at s[i], which is '&', with their
// markup written in entities.
func (r *reading) entity(i int) int {
	if r.tried || !strings.HasPrefix(r.s[i:], escapedTag) || !r.lineStart(i) {
		return 0
	}
	head := entities(r.s[i:min(len(r.s), i+maxHeader)])
	t, ok := tagAt(head, 0)
	if !ok || t.shut || !callTag(t.base) && !wrapTag(t.base) && !r.in.declared(t.base) {
		return 0
	}
	r.tried = true
	list := r.decoded(i, len(r.s))
	for _, g := range list {
		r.add(g)
	}
	if len(list) == 0 {
		return 0
	}
	return r.from
}

// decoded reads a part of the text without its entities, and returns the blocks
// with calls of tools that were offered, as unmarked ones.
func (r *reading) decoded(from, to int) []found {
	if r.inner || !strings.Contains(r.s[from:to], escapedTag) {
		return nil
	}
	sub := newReading(r.in, entities(r.s[from:to]))
	sub.inner = true
	sub.scan()
	var out []found
	at, raw := 0, from // the same place in both texts
	place := func(i int) int {
		for at < i && raw < to {
			if r.s[raw] == '&' {
				if text, end := entityAt(r.s, raw); end > 0 {
					at, raw = at+len(text), end
					continue
				}
			}
			at, raw = at+1, raw+1
		}
		return raw
	}
	for _, f := range sub.found {
		if f.empty || f.kind == fenced || f.format == JSON || len(f.calls) == 0 || r.in.known(f.calls) < len(f.calls) {
			continue
		}
		f.from = place(f.from)
		f.end, f.kind = place(f.end), loose
		for k := range f.calls {
			c := &f.calls[k]
			if c.Problem == "" {
				c.Repairs = append(c.Repairs, event.Repair{Kind: RepairEscaped, Lossy: true})
			}
		}
		out = append(out, *f)
	}
	return out
}
