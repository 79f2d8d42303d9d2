package parse

import (
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
)

// readBuiltIn reads what follows <|python_tag|> and is no JSON: a call of a
// built-in tool, as in brave_search.call(query="x"), or code, which is reported
// since nobody can say for which tool it is.
func (r *reading) readBuiltIn(d *dialect.Dialect, body int) (block, bool) {
	stop := r.nextMarker(d, body)
	text := trim(r.s[body:stop])
	if text == "" || !r.spend(stop-body) {
		return block{}, false
	}
	end := r.closers(d, stop)
	if b, ok := r.builtInCall(d, body, stop); ok {
		return b, true
	}
	return block{end: end, problem: "what stands after " + d.Open[0] + " is code and not a call of a tool: " + excerpt(text, 0)}, true
}

// builtInCall reads NAME.call(…) in s[i:stop].
func (r *reading) builtInCall(d *dialect.Dialect, i, stop int) (block, bool) {
	const method = ".call"
	i = skip(r.s, i)
	end := nameEnd(r.s, i)
	name, ok := strings.CutSuffix(r.s[i:end], method)
	if !ok || name == "" || end >= stop || r.s[end] != '(' {
		return block{}, false
	}
	c := event.ParsedCall{Name: name}
	p := pyCall{s: r.s[:stop], i: end + 1, node: r.params(name)}
	switch p.read() {
	case whole:
		c.Args, c.Repairs = p.args, p.repairs
	case cut:
		c.Args, c.Problem = trim(r.s[end:stop]), ProblemIncomplete
		p.i = stop
	case tooDeep:
		c.Args, c.Problem = trim(r.s[end:stop]), ProblemLimit
		p.i = stop
	default:
		c.Args, c.Problem = trim(r.s[end:stop]), ProblemInvalid
		p.i = stop
	}
	calls := []event.ParsedCall{c}
	return block{calls: calls, end: r.closers(d, r.leftOver(d, calls, ProblemSyntax, end, p.i))}, true
}
