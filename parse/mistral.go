package parse

import (
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
)

// The markers of Mistral's models after the first.
const (
	mistralArgs = "[ARGS]"
	mistralID   = "[CALL_ID]"
)

// readMistral reads what follows [TOOL_CALLS]: a list in JSON, or a name and its
// arguments; or what stands around the other markers where that one was lost.
func (r *reading) readMistral(d *dialect.Dialect, start, body int) (block, bool) {
	if !r.spend(0) {
		return block{}, false
	}
	if r.s[start:body] != d.Open[0] {
		return r.mistralLost(d, start)
	}
	i := skip(r.s, body)
	if i == len(r.s) {
		return block{}, false
	}
	if c := r.s[i]; c == '{' || c == '[' && !strings.HasPrefix(r.s[i:], mistralArgs) && !strings.HasPrefix(r.s[i:], mistralID) {
		if b, ok := r.readJSON(d, start, body); ok && (len(b.calls) > 0 || c == '[') {
			return b, true
		}
	}
	c, at, ok := r.mistralHead(i)
	if !ok {
		return block{}, false
	}
	back := 0
	if c.Name == "" {
		// Some write the name before the marker.
		if name, k := r.wordBefore(start); r.in.declared(name) || r.in.AnyName && name != "" && r.lineStart(k) {
			c.Name, back = name, start-k
		} else {
			c.Problem = ProblemNoName
		}
	}
	b := r.mistralCalls(d, c, at)
	b.back = back
	return b, true
}

// mistralLost reads a call from the second or third marker, at s[start]: the
// name stands before it.
func (r *reading) mistralLost(d *dialect.Dialect, start int) (block, bool) {
	name, at := r.wordBefore(start)
	if name == "" || !r.offered(name) || r.in.AnyName && !r.lineStart(at) {
		return block{}, false
	}
	c, args, ok := r.mistralHead(at)
	if !ok {
		return block{}, false
	}
	b := r.mistralCalls(d, c, args)
	b.back = start - at
	return b, true
}

// mistralCalls reads the arguments of c at s[i], and calls that follow without
// a marker of their own, of tools of the request.
func (r *reading) mistralCalls(d *dialect.Dialect, c event.ParsedCall, i int) block {
	var calls []event.ParsedCall
	for {
		problem := c.Problem
		end := r.arguments(d, i, &c)
		if problem != "" {
			c.Problem = problem
		}
		calls = append(calls, c)
		next, at, ok := r.mistralHead(skip(r.s, end))
		if !ok || !r.in.declared(next.Name) || c.Problem != "" {
			return block{calls: calls, end: end}
		}
		c, i = next, at
	}
}

// mistralHead reads NAME[CALL_ID]ID[ARGS] at s[i], of which parts may be
// missing, and returns where the arguments begin.
func (r *reading) mistralHead(i int) (c event.ParsedCall, args int, ok bool) {
	end := nameEnd(r.s, i)
	c.Name = r.s[i:end]
	j := skip(r.s, end)
	if strings.HasPrefix(r.s[j:], mistralID) {
		j = skip(r.s, j+len(mistralID))
		end = nameEnd(r.s, j)
		c.WireID = r.s[j:end]
		j = skip(r.s, end)
	}
	switch {
	case strings.HasPrefix(r.s[j:], mistralArgs):
		return c, j + len(mistralArgs), true
	case j == len(r.s):
		return c, j, r.offered(c.Name) && c.Name != ""
	}
	return c, j, r.s[j] == '{'
}
