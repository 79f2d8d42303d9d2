package parse

import (
	"slices"
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
)

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
	e := elements{nameIsKey: d.NameIsKey, marked: true, named: name, strict: r.in.Policy.StrictEnd, has: r.has}
	end := r.elements(&e, d, i)
	if len(e.calls) == 0 && i < body {
		return block{}, false
	}
	e.answers = len(e.calls) > 0
	e.calls = r.asking(d, e.calls)
	b := block{back: back, content: e.content, calls: e.calls}
	end = r.spareClosers(&e.group, end)
	if e.ended == whole && !e.data {
		end = r.leftOver(d, b.calls, ProblemInvalid, e.last, end)
	}
	b.end = r.closers(d, end)
	r.listEnd(&e, b.calls, b.end > end)
	if e.data && b.end == end {
		b.end = r.behindCalls(d, &e, b.calls, end)
	}
	if e.ended == whole {
		r.unclosed(d, b.calls, b.end > end)
	}
	r.misshapen(d, name, b.calls, r.s[i] == '[')
	return r.withCalls(b, &e, d, r.s[i:end]), true
}

// withCalls says of a block with the JSON text what became of its calls, if
// there are none.
func (r *reading) withCalls(b block, e *elements, d *dialect.Dialect, text string) block {
	switch {
	case len(b.calls) > 0:
		switch {
		case e.torn:
			b.problem = tornProblem(len(b.calls))
		case e.strange != "":
			b.problem = "something else stands among the calls: " + e.strange
		}
	case e.answers:
		b.said, b.text = true, span{b.end, b.end}
	case !e.torn && trim(strings.Trim(text, "[ \t\r\n]")) == "":
		r.note("an empty list of calls was left out")
		b.said, b.text = true, span{b.end, b.end}
	default:
		b.problem = "what stands after " + d.Open[0] + " does not name a tool: " + excerpt(text, 0)
	}
	return b
}

// elements reads the JSON at s[i]. What can't be read to its end as it stands
// ends before the next marker of d that is no part of it.
func (r *reading) elements(e *elements, d *dialect.Dialect, i int) (end int) {
	again := *e
	end = e.read(r.s, i)
	r.spend(end - i + e.again())
	if e.ended == whole || !r.spend(0) {
		return end
	}
	stop := r.breakAt(d, i)
	*e = again
	e.resume = true
	end = i + e.read(r.s[i:stop], 0)
	e.last += i
	r.spend(stop - i + e.again())
	if e.ended == cut && r.ended(d, stop) && r.spend(0) {
		r.completed(e, again, i, stop)
	}
	if e.ended != whole {
		end = stop
	}
	return end
}

// completed reads the JSON in s[i:stop], of which only brackets at its end are
// missing, once more with them.
func (r *reading) completed(e *elements, again elements, i, stop int) {
	text, ok := withClosers(r.s[i:stop])
	if !ok {
		return
	}
	r.spend(stop - i)
	again.resume = true
	again.read(text, 0)
	n := len(again.calls)
	if again.ended != whole || n == 0 || again.calls[n-1].Problem != "" {
		return
	}
	c := &again.calls[n-1]
	c.Repairs = repaired(c.Repairs, event.Repair{Kind: RepairClosers})
	again.last += i
	*e = again
}

// listEnd says of the last call of a list whose elements are whole that the
// list's bracket is missing, though the block was closed, if it is.
func (r *reading) listEnd(e *elements, calls []event.ParsedCall, closed bool) {
	n := len(calls)
	if !e.list || e.shut || e.torn || !closed || e.ended != whole || n == 0 || calls[n-1].Problem != "" {
		return
	}
	c := &calls[n-1]
	c.Repairs = add(c.Repairs, event.Repair{Kind: RepairList})
}

// behindCalls steps over JSON at s[i] that is no call and stands behind calls: a
// result that the model made up or, where the last call has no arguments, these.
func (r *reading) behindCalls(d *dialect.Dialect, e *elements, calls []event.ParsedCall, i int) (end int) {
	n := len(calls)
	if n == 0 || !slices.Contains(calls[n-1].Repairs, event.Repair{Kind: RepairEmpty}) {
		return r.overResult(d, i)
	}
	end = r.nextMarker(d, i)
	c := &calls[n-1]
	c.Args, c.Problem, c.Repairs = trim(r.s[e.last:end]), ProblemParams, nil
	return r.closers(d, end)
}

// has reports whether the tool that is meant by a name declares a parameter.
func (r *reading) has(tool, key string) bool {
	tool = r.toolName(tool)
	return r.declares(tool) && r.params(tool).Declared(key)
}

// breakAt returns where the JSON at s[i], which has no end or a fault, ends at
// the latest: at the next marker of d that stands in no string of it. A string
// that ends where none can lacks its own quote and has the next one's; one that
// does not end goes on to the end of the text, whatever stands in it.
func (r *reading) breakAt(d *dialect.Dialect, i int) int {
	s, from := r.s, i
	stop := r.nextMarker(d, i)
	for ; i < stop && stop < len(s); i++ {
		q := s[i]
		if q != '"' && (q != '\'' || !opensValue(s, from, i)) {
			continue
		}
		end := quoteEnd(s, i+1, q)
		if end > len(s) {
			stop = len(s)
			break
		}
		if end > stop {
			if k := skip(s, end); k < len(s) && !goesOn(s[k]) {
				break
			}
			stop = r.nextMarker(d, end)
		}
		i = end - 1
	}
	r.spend(min(i, len(s)) - from)
	return stop
}

// opensValue reports whether a value or a name can begin at s[i], by what stands
// before it.
func opensValue(s string, from, i int) bool {
	for i > from && blank(s[i-1]) {
		i--
	}
	return i > from && strings.IndexByte("{[,:", s[i-1]) >= 0
}

// quoteEnd returns the index after the next quote q at or after s[i] that no
// backslash stands before, or len(s)+1.
func quoteEnd(s string, i int, q byte) int {
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case q:
			return i + 1
		}
	}
	return len(s) + 1
}

// nextMarker returns where the next marker of d stands at or after s[i], or
// len(s).
func (r *reading) nextMarker(d *dialect.Dialect, i int) int {
	at := r.closerStart(d, i)
	if d.ID == functionary32 {
		at = min(at, r.spot(recipientMark, i))
	}
	for _, list := range [...][]string{d.Open, d.Wrap} {
		for _, m := range list {
			at = min(at, r.spot(m, i))
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
	name = trim(r.s[k+len(d.Head) : start])
	if nameEnd(name, 0) != len(name) {
		return "", 0 // that of another message
	}
	return name, start - k
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
		c.Repairs = repaired(c.Repairs, event.Repair{Kind: RepairClosers})
		return j
	}
	return i
}

// misshapen gives calls the problem that their JSON has not the shape of d, or
// that the header names another tool. list: they stand in one.
func (r *reading) misshapen(d *dialect.Dialect, name string, calls []event.ParsedCall, list bool) {
	for i := range calls {
		switch c := &calls[i]; {
		case c.Problem != "":
		case d.Shape == dialect.OneObject && list, d.Shape == dialect.ListOfThem && !list:
			c.Problem = ProblemShape
		case name != "" && c.Name != name:
			c.Problem = ProblemTwoNames
		}
	}
}
