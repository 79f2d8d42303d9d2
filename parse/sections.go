package parse

import (
	"slices"
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
)

// The tokens of Kimi K3's sections.
const (
	sectionOpen = "<|open|>"
	sectionShut = "<|close|>"
	sectionSep  = "<|sep|>"
)

// section is the head or the end of a section.
type section struct {
	from, end int
	shut      bool
	kind      string
	attrs     [][2]string
	// unended: what ends its head is missing, so that nobody can say where its
	// content begins.
	unended bool
}

func (c *section) attr(key string) string {
	for _, a := range c.attrs {
		if a[0] == key {
			return a[1]
		}
	}
	return ""
}

// sectionAt reads the head or end of a section at s[i].
func (r *reading) sectionAt(i int) (c section, ok bool) {
	rest, open := strings.CutPrefix(r.s[i:], sectionOpen)
	if !open {
		if rest, c.shut = strings.CutPrefix(rest, sectionShut); !c.shut {
			return c, false
		}
	}
	body := len(r.s) - len(rest)
	n := r.separator(body) - body
	if n < 0 {
		return c, false
	}
	head := rest[:n]
	if k := strings.Index(head, sectionShut); k >= 0 {
		// Its own separator is missing: that is the one of the next.
		c.unended, head, n = true, head[:k], k-len(sectionSep)
	}
	c.from, c.end = i, len(r.s)-len(rest)+n+len(sectionSep)
	head = trim(head)
	c.kind = head[:word(head, 0)]
	if !c.shut {
		c.attrs = sectionAttributes(head[len(c.kind):])
	}
	return c, c.kind != ""
}

// separator returns where the separator of a head stands that goes on at s[i], or
// -1. It does not look again where it found that none begins.
func (r *reading) separator(i int) int {
	from, limit := i, min(len(r.s), i+maxTag)
	known := r.sepless.from <= i && i < r.sepless.to
	if known {
		from = min(r.sepless.to, limit)
	}
	if k := strings.Index(r.s[from:limit], sectionSep); k >= 0 {
		return from + k
	}
	if !known {
		r.sepless = span{i, i}
	}
	r.sepless.to = max(r.sepless.to, limit-len(sectionSep)+1)
	return -1
}

// sectionAttributes reads key="value" as often as it comes. Values may hold
// anything but quotes, for which entities stand.
func sectionAttributes(s string) (out [][2]string) {
	for len(out) < maxNested {
		s = trim(s)
		n := word(s, 0)
		rest, ok := strings.CutPrefix(s[n:], `="`)
		if n == 0 || !ok {
			return out
		}
		value, rest, ok := strings.Cut(rest, `"`)
		if !ok {
			return out
		}
		out, s = append(out, [2]string{s[:n], entities(value)}), rest
	}
	return out
}

// readSections reads the section at s[start].
func (r *reading) readSections(d *dialect.Dialect, start, body int) (block, bool) {
	c, ok := r.sectionAt(start)
	if !ok {
		// The text may end in the head of a section of calls.
		rest := r.s[body:]
		if len(rest) < maxTag && strings.HasPrefix(trim(rest), "call") && !strings.Contains(rest, sectionSep) {
			return block{end: len(r.s), cut: true, problem: cutProblem(0)}, true
		}
		return block{}, false
	}
	switch {
	case c.shut:
		return block{said: true, text: span{c.end, c.end}, end: c.end}, true
	case c.kind == "response" || c.kind == "think":
		stop, end := r.sectionEnd(c.end, c.kind)
		return block{said: c.kind == "response", reasoning: c.kind == "think", text: span{c.end, stop}, end: end}, true
	case c.kind == "call":
		return r.sectionCalls(d, start, true)
	case c.kind == "tools":
		return r.sectionCalls(d, c.end, false)
	}
	return block{}, false
}

// sectionEnd returns where the end of a section of that kind stands at or after
// s[i], and the index after it. Both are len(s) if there is none; the head of
// another section at the outermost level is one too.
func (r *reading) sectionEnd(i int, kind string) (stop, end int) {
	for {
		at := min(r.spot(sectionShut, i), r.spot(sectionOpen, i))
		if at == len(r.s) {
			return at, at
		}
		c, ok := r.sectionAt(at)
		switch {
		case ok && c.shut && c.kind == kind:
			return at, c.end
		case ok && !c.shut && (c.kind == "tools" || c.kind == "response" || c.kind == "think"):
			return at, at
		}
		i = at + 1
	}
}

// sectionCalls reads the calls from s[i] on. closed: no section stands around
// them that must be closed.
func (r *reading) sectionCalls(d *dialect.Dialect, i int, closed bool) (block, bool) {
	var b block
	for more := true; more; {
		i = skip(r.s, i)
		c, ok := r.sectionAt(i)
		switch {
		case ok && !c.shut && c.kind == "call" && len(b.calls) <= MaxCalls:
			var call event.ParsedCall
			call, i = r.sectionCall(d, &c)
			b.calls = append(b.calls, call)
		case ok && c.shut:
			more, i = c.kind != "tools", c.end
			closed = closed || !more
		case !ok && strings.HasPrefix(r.s[i:], sectionOpen):
			b.problem, b.cut, i, more = cutProblem(len(b.calls)), true, len(r.s), false
		default:
			more = false
		}
	}
	if len(b.calls) == 0 && b.problem == "" {
		b.problem = "a section of calls holds none"
	}
	b.end = i
	if n := len(b.calls); n > 0 && len(b.calls[n-1].Repairs) > 0 {
		closed = closed || slices.Contains(b.calls[n-1].Repairs, event.Repair{Kind: RepairBlock})
	}
	r.unclosed(d, b.calls, closed || b.problem != "")
	return b, true
}

// sectionCall reads the call whose head is c.
func (r *reading) sectionCall(d *dialect.Dialect, c *section) (call event.ParsedCall, end int) {
	call.Name = r.toolName(c.attr("tool"))
	var list []param
	i, to, closed := c.end, -1, false
	for call.Problem == "" && !closed {
		i = skip(r.s, i)
		a, ok := r.sectionAt(i)
		switch {
		case ok && a.shut && a.kind == "argument":
			i = a.end
		case ok && a.shut:
			closed = true
			if a.kind == "call" {
				i = a.end
			} else {
				call.Repairs = add(call.Repairs, event.Repair{Kind: RepairTags})
			}
		case ok && a.kind == "argument":
			p := param{name: a.attr("key")}
			switch a.attr("type") {
			case "":
			case "string":
				p.claim = claimsText
			default:
				p.claim = claimsJSON
			}
			stop, next, open := r.sectionValue(a.end)
			switch {
			case open:
				call.Problem = ProblemIncomplete
			case p.name == "", a.unended:
				call.Problem = ProblemParams
			case stop == next:
				call.Repairs = add(call.Repairs, event.Repair{Kind: RepairTags})
			}
			p.raw = r.s[a.end:stop]
			list, i = append(list, p), next
		case ok && a.kind == "call":
			closed = true
			call.Repairs = add(call.Repairs, event.Repair{Kind: RepairTags})
		case i == len(r.s) && len(list) > 0 && !r.in.Policy.StrictEnd:
			closed = true
			call.Repairs = add(call.Repairs, event.Repair{Kind: RepairBlock})
		case i == len(r.s), strings.HasPrefix(r.s[i:], sectionOpen), strings.HasPrefix(r.s[i:], sectionShut):
			call.Problem = ProblemIncomplete
			i = len(r.s)
		default:
			call.Problem = ProblemParams
			to, i = r.sectionEnd(i, "call")
		}
	}
	if call.Problem == "" {
		var more []event.Repair
		call.Args, call.Problem, more = r.assemble(d, call.Name, list)
		call.Repairs = append(call.Repairs, more...)
	}
	if call.Problem == "" && call.Name == "" {
		call.Problem = ProblemNoName
	}
	if call.Problem != "" {
		if to < 0 {
			to = i
		}
		call.Args, call.Repairs = strings.TrimSpace(r.s[c.end:max(to, c.end)]), nil
	}
	return call, i
}

// sectionValue returns where the value at s[i] ends and where to go on. open: it
// does not end.
func (r *reading) sectionValue(i int) (stop, next int, open bool) {
	for {
		at := min(r.spot(sectionShut, i), r.spot(sectionOpen, i))
		if at == len(r.s) {
			return at, at, true
		}
		c, ok := r.sectionAt(at)
		switch {
		case ok && c.shut && c.kind == "argument":
			return at, c.end, false
		case ok && (c.kind == "argument" || c.kind == "call" || c.kind == "tools"):
			return at, at, false
		}
		i = at + 1
	}
}
