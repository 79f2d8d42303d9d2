package parse

import (
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
)

// The elements in which a tool's name and its arguments stand where models write
// both as fields of a call.
var (
	nameTags = [...]string{"name", "tool_name", "function_name", "tool"}
	argsTags = [...]string{"arguments", "args", "parameters", "params", "input"}
)

// namedElement reads a call that is written as a name element, and one with the
// arguments: as JSON, or as elements.
func (r *reading) namedElement(d *dialect.Dialect, i int) (c event.ParsedCall, end int, ok bool) {
	name, i, ok := r.field(i, nameTags[:])
	if !ok || !toolish(trim(name)) {
		return c, 0, false
	}
	c.Name = r.toolName(trim(name))
	node := r.params(c.Name)
	start := skip(r.s, i)
	raw, end, ok := r.field(start, argsTags[:])
	text := trim(raw)
	switch {
	case ok && (text == "" || text[0] == '{'):
		c.Args, c.Problem, c.Repairs = arguments(text)
		return c, end, true
	case ok:
		w := tree{s: text + "</" + argsTags[0] + ">"}
		b, stop, st := w.branch(tag{base: argsTags[0]}, nil)
		if st == whole && stop == len(w.s) && !b.leaf {
			if args, ok, repairs := treeObject(nil, b.kids, node, asString); ok {
				c.Args, c.Repairs = string(args), repairs
				return c, end, true
			}
		}
		c.Args, c.Problem = text, ProblemParams
		return c, end, true
	case start == len(r.s):
		c.Problem = ProblemIncomplete
		return c, start, true
	}
	stop := r.closerStart(d, start)
	c.Args, c.Problem = strings.TrimSpace(r.s[start:stop]), ProblemParams
	switch {
	case c.Args == "":
		c.Args, c.Problem = "{}", ""
	case stop == len(r.s):
		c.Problem = ProblemIncomplete
	}
	return c, stop, true
}

// field returns the text of the element at s[i], if it has one of the names.
func (r *reading) field(i int, names []string) (text string, end int, ok bool) {
	if i >= len(r.s) || r.s[i] != '<' {
		return "", i, false
	}
	for _, name := range names {
		if !strings.HasPrefix(r.s[i+1:], name+">") {
			continue
		}
		from := i + len(name) + 2
		k := r.spot("</"+name+">", from)
		if k == len(r.s) {
			return "", i, false
		}
		return r.s[from:k], k + len(name) + 3, true
	}
	return "", i, false
}
