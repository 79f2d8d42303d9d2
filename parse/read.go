package parse

import (
	"slices"
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
)

// read lets the grammar of a row read a block whose opener stands at s[start]
// and whose body begins at s[body]. It reports false where the body is not of
// the row's form, so that the next row may try; a body that is, but is broken
// or cut off, gives calls with problems.
func (r *reading) read(d *dialect.Dialect, start, body int) (block, bool) {
	switch d.Grammar {
	case dialect.JSON:
		if b, ok := r.readJSON(d, start, body); ok || d.ID != "llama3_json" {
			return b, ok
		}
		return r.readBuiltIn(d, body)
	case dialect.Named:
		return r.readNamed(d, start, body)
	case dialect.Python:
		return r.readPython(d, start, body)
	case dialect.Braces:
		return r.readBraces(d, start, body)
	}
	return block{}, false
}

// readJSON reads an object that names a tool, several, or a list of them.
func (r *reading) readJSON(d *dialect.Dialect, start, body int) (block, bool) {
	i := skip(r.s, body)
	if r.s[body-1] == '[' {
		i = body - 1 // the opener ends with the list's bracket
	}
	if i == len(r.s) || r.s[i] != '{' && r.s[i] != '[' || !r.spend(0) {
		return block{}, false
	}
	name, back := r.header(d, start)
	e := elements{nameIsKey: d.NameIsKey, marked: true, named: name}
	end := r.elements(&e, d, i)
	g := &e.group
	b := block{calls: r.asking(d, g.calls), content: g.content, back: back}
	end = r.spareClosers(g, end)
	shut := r.closers(d, end)
	if g.data && shut == end {
		shut = r.overResult(d, end)
	}
	b.end = shut
	if e.ended == whole {
		r.unclosed(d, b.calls, shut > end)
	}
	if d.Shape == dialect.OneObject && r.s[i] == '[' || d.Shape == dialect.ListOfThem && r.s[i] == '{' {
		misshapen(b.calls, ProblemShape)
	}
	for k := range b.calls {
		if c := &b.calls[k]; name != "" && c.Name != name {
			misshapen(b.calls[k:k+1], ProblemTwoNames)
		}
	}
	switch {
	case len(b.calls) == 0 && len(g.calls) > 0:
		b.said, b.text = true, span{b.end, b.end}
	case len(b.calls) == 0:
		b.problem = "what stands after " + d.Open[0] + " does not name a tool: " + excerpt(r.s[i:b.end], 0)
	case g.torn:
		b.problem = tornProblem(len(b.calls))
	}
	return b, true
}

// elements reads the JSON at s[i]. What can't be read to its end as it stands
// may only lack a quote, and then seems to go on: what follows the closer, or
// begins another block, is not part of it.
func (r *reading) elements(e *elements, d *dialect.Dialect, i int) (end int) {
	blank := *e
	end = e.read(r.s, i)
	r.spend(end - i)
	if e.ended == whole || !r.spend(0) {
		return end
	}
	stop := min(r.closerStart(d, i), r.nextOpener(d, i))
	*e = blank
	e.resume = true
	end = i + e.read(r.s[i:stop], 0)
	r.spend(4 * (stop - i))
	if e.ended != whole {
		end = stop
	}
	return end
}

// nextOpener returns where the next block of d begins that is surely no part of
// a string that s[i] stands in, or len(s): one with an object whose first quote
// is not escaped, as it would be in a string of JSON.
func (r *reading) nextOpener(d *dialect.Dialect, i int) int {
	at := len(r.s)
	for _, o := range d.Open {
		k := r.spot(o, i)
		for j := skip(r.s, k+len(o)); k < at && j < len(r.s); {
			if r.s[j] == '[' {
				j = skip(r.s, j+1)
			}
			if j < len(r.s) && r.s[j] == '{' {
				j = skip(r.s, j+1)
			}
			if j < len(r.s) && r.s[j] == '"' {
				at = k
			}
			break
		}
	}
	return at
}

// header returns the tool's name that stands between the head of d and the
// opener at s[start], and how many bytes that is with the head.
func (r *reading) header(d *dialect.Dialect, start int) (name string, back int) {
	if d.Head == "" {
		return "", 0
	}
	from := max(r.from, start-maxHeader)
	k := strings.LastIndex(r.s[from:start], d.Head)
	if k < 0 {
		return "", 0
	}
	k += from
	return trim(r.s[k+len(d.Head) : start]), start - k
}

// maxHeader is how long the header of a call is taken to be, in bytes.
const maxHeader = 256

// asking returns calls without those by which a model of d says that it calls
// nothing.
func (r *reading) asking(d *dialect.Dialect, calls []event.ParsedCall) []event.ParsedCall {
	if len(d.Answering) == 0 {
		return calls
	}
	out := calls[:0:0]
	for _, c := range calls {
		if slices.Contains(d.Answering, c.Name) && !r.in.declared(c.Name) {
			r.note("a call of " + quote(c.Name) + " was left out: it says that no tool is called")
			continue
		}
		out = append(out, c)
	}
	return out
}

// overResult steps over JSON after the calls of a block that is none, up to the
// closer.
func (r *reading) overResult(d *dialect.Dialect, i int) int {
	end, ok := r.closer(d, i)
	if !ok {
		return i
	}
	r.note("JSON after the calls was left out: the model seems to have made up a result")
	return r.closers(d, end)
}

// unclosed says of the calls of a block whose JSON is whole that the closer is
// missing, if it is.
func (r *reading) unclosed(d *dialect.Dialect, calls []event.ParsedCall, closed bool) {
	n := len(calls)
	if closed || d.EndsTurn || len(d.Close) == 0 || n == 0 {
		return
	}
	c := &calls[n-1]
	switch {
	case c.Problem != "":
	case r.in.Policy.StrictEnd:
		c.Problem = ProblemIncomplete
	default:
		c.Repairs = append(c.Repairs, event.Repair{Kind: RepairBlock})
	}
}

// spareClosers steps over brackets that close nothing, right before a marker or
// the end of the text, and marks the call that they follow.
func (r *reading) spareClosers(g *group, i int) int {
	j := i
	for j < len(r.s) && (blank(r.s[j]) || r.s[j] == '}' || r.s[j] == ']') {
		j++
	}
	if n := len(g.calls); n > 0 && skip(r.s, i) < j && (j == len(r.s) || r.s[j] == '<' || r.s[j] == '[') {
		c := &g.calls[n-1]
		c.Repairs = append(c.Repairs, event.Repair{Kind: RepairClosers})
		return j
	}
	return i
}

// misshapen gives calls without a problem one.
func misshapen(calls []event.ParsedCall, problem string) {
	for i := range calls {
		if calls[i].Problem == "" {
			calls[i].Problem = problem
		}
	}
}
