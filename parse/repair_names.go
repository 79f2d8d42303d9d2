package parse

import "bytes"

// dropDuplicates returns JSON without the members whose name and value an
// earlier one of the same object has: names as they decode, values byte for
// byte. It reports false if a name comes twice with different values.
//
// text is valid but for its duplicates. The time is linear but for the
// comparisons, which are linear for each level on which whole values repeat:
// every such level doubles the text, so there are few.
func dropDuplicates(text string) ([]byte, bool) {
	d := deduper{
		out:  make([]byte, 0, len(text)),
		seen: map[memberKey]extent{},
		open: make([]container, 1, 8),
	}
	for i := 0; i < len(text); {
		end := tokenEnd(text, i)
		name := d.before(text[i:end])
		d.out = append(d.out, text[i:end]...)
		if !d.after(text[i], name) {
			return nil, false
		}
		i = end
	}
	return d.out, true
}

// tokenEnd returns the index after the token at text[i]. White space is one
// token a byte.
func tokenEnd(text string, i int) int {
	c := text[i]
	if c == '"' {
		end, _ := stringEnd(text, i)
		return end
	}
	for i++; scalar(c) && i < len(text) && scalar(text[i]); i++ {
	}
	return i
}

type deduper struct {
	out     []byte
	open    []container // the outermost stands for what the value is in
	objects int         // how many were opened, arrays among them
	seen    map[memberKey]extent
}

// container is an object or array whose end has not been read.
type container struct {
	object bool
	number int // no other has it
	named  bool
	name   string
	comma  int // offsets in out: the last comma, and where the value begins
	value  int
}

// memberKey is a name in an object.
type memberKey struct {
	container int
	name      string
}

// extent is where a value stands in out.
type extent struct{ from, to int }

func (d *deduper) top() *container { return &d.open[len(d.open)-1] }

// before notes what a token begins, before it is written. It reports whether it
// is a member's name.
func (d *deduper) before(token string) (name bool) {
	top := d.top()
	switch c := token[0]; {
	case c == '"' && top.object && !top.named:
		top.name, top.named = unquote(token), true
		return true
	case c == ',':
		top.comma, top.named = len(d.out), false
	case c == '"' || c == '{' || c == '[' || scalar(c):
		top.value = len(d.out)
	}
	return false
}

// after notes what a token that begins with c ends, after it was written. It
// reports false at a contradiction.
func (d *deduper) after(c byte, name bool) bool {
	switch {
	case c == '{' || c == '[':
		d.objects++
		d.open = append(d.open, container{object: c == '{', number: d.objects})
	case c == '}' || c == ']':
		d.open = d.open[:len(d.open)-1]
		return len(d.open) > 0 && d.end()
	case !name && (c == '"' || scalar(c)):
		return d.end()
	}
	return true
}

// end drops the member whose value has ended if it repeats another. It reports
// false if it contradicts another.
func (d *deduper) end() bool {
	c := d.top()
	if !c.object {
		return true
	}
	k, v := memberKey{c.number, c.name}, extent{c.value, len(d.out)}
	first, ok := d.seen[k]
	if !ok {
		d.seen[k] = v
		return true
	}
	if !bytes.Equal(d.out[first.from:first.to], d.out[v.from:v.to]) {
		return false
	}
	d.out = d.out[:c.comma]
	return true
}
