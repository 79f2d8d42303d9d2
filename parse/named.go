package parse

import (
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
)

// readNamed reads a call whose name stands before its arguments.
func (r *reading) readNamed(d *dialect.Dialect, start, body int) (block, bool) {
	switch d.ID {
	case "mistral_tool_calls":
		return r.readMistral(d, start, body)
	case "deepseek_v3_fence", "deepseek_v31":
		return r.readDeepSeek(d, body)
	case "kimi_k2":
		return r.readKimi(d, start, body)
	case "harmony":
		return r.readHarmony(d, start, body)
	case "functionary_v31":
		return r.readFunctionary(d, body)
	}
	return block{}, false
}

// nameEnd returns the end of the tool's name that begins at s[i]; i if none
// does.
func nameEnd(s string, i int) int {
	end := i
	for end < len(s) && nameByte(s[end]) && end-i <= maxToolName {
		end++
	}
	if end-i > maxToolName {
		return i
	}
	return end
}

// nameStart returns where the tool's name begins that ends before s[i], not
// before from; i if there is none.
func nameStart(s string, from, i int) int {
	k := i
	for k > from && nameByte(s[k-1]) && i-k <= maxToolName {
		k--
	}
	if i-k > maxToolName {
		return i
	}
	return k
}

// nameByte reports whether c can stand in a tool's name.
func nameByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' ||
		c == '_' || c == '-' || c == '.' || c == ':' || c == '/'
}

// wordBefore returns the word that ends before s[i] and blanks, and where it
// begins. It reaches back no further than what was taken last.
func (r *reading) wordBefore(i int) (word string, at int) {
	for i > r.from && (r.s[i-1] == ' ' || r.s[i-1] == '\t') {
		i--
	}
	at = nameStart(r.s, r.from, i)
	return r.s[at:i], at
}

// arguments reads the arguments at s[i] into c, and returns the index after
// them: a JSON value, or all that stands before the next marker of d if they are
// none.
func (r *reading) arguments(d *dialect.Dialect, i int, c *event.ParsedCall) (end int) {
	i = skip(r.s, i)
	stop := r.nextMarker(d, i)
	switch {
	case i == len(r.s):
		// Nothing says that there would have been none.
		c.Args, c.Problem, c.Repairs = "", ProblemIncomplete, nil
		return i
	case i == stop:
		c.Args, c.Problem, c.Repairs = arguments("")
		return i
	case r.s[i] == '{':
		return r.objectOf(d, i, c)
	case r.s[i] == '"':
		if end, st := stringEnd(r.s, i); st == whole {
			c.Args, c.Problem, c.Repairs = arguments(r.s[i:end])
			if stop = r.beyond(d, end); stop > end && c.Problem == "" {
				c.Args, c.Problem, c.Repairs = trim(r.s[i:stop]), ProblemInvalid, nil
				end = stop
			}
			return end
		}
	}
	c.Args, c.Problem, _ = arguments(r.s[i:stop])
	return stop
}

// objectOf reads the object at s[i] into c. What can't be read to its end as it
// stands ends before the next marker of d that is no part of it.
func (r *reading) objectOf(d *dialect.Dialect, i int, c *event.ParsedCall) (end int) {
	text, end, st, repairs := mend(r.s, i)
	r.spend(end - i)
	stop := len(r.s)
	if st != whole {
		stop = r.breakAt(d, i)
		text, end, st, repairs = mend(r.s[i:stop], 0)
		end += i
		r.spend(stop - i)
		if st == cut && r.ended(d, stop) {
			if all, ok := withClosers(r.s[i:stop]); ok {
				r.spend(stop - i)
				if text, end, st, repairs = mend(all, 0); st == whole && end == len(all) {
					c.Args, c.Repairs = text, repaired(repairs, event.Repair{Kind: RepairClosers})
					return stop
				}
				st = cut
			}
		}
	}
	switch {
	case st != whole:
		if c.Args, c.Problem, _ = arguments(r.s[i:stop]); c.Problem == "" {
			c.Problem = ProblemInvalid // not reached: mend says the same of both
		}
		return stop
	case len(text) > MaxText:
		c.Problem = ProblemLimit
	}
	c.Args, c.Repairs = text, repairs
	if j := surplus(r.s, end); j > end {
		if k := skip(r.s, j); k == len(r.s) || r.s[k] == '`' || k == r.nextMarker(d, k) {
			c.Repairs = repaired(c.Repairs, event.Repair{Kind: RepairClosers})
			end = j
		}
	}
	if stop = r.beyond(d, end); stop > end && c.Problem == "" {
		c.Args, c.Problem, c.Repairs = trim(r.s[i:stop]), ProblemInvalid, nil
		end = stop
	}
	return end
}

// namedBlock makes the block of calls whose arguments end before s[end].
func (r *reading) namedBlock(d *dialect.Dialect, calls []event.ParsedCall, end int) block {
	shut := r.closers(d, end)
	closed := shut > end
	if !closed {
		// Something may stand between the arguments and the closer.
		if k := r.closerStart(d, end); k < len(r.s) && k == r.nextMarker(d, end) {
			closed = true
		}
	}
	r.unclosed(d, calls, closed)
	return block{calls: calls, end: shut}
}

// recipientName returns the name of the tool that a header names, without the
// namespace that models are told of. Where no such tool is offered, words of the
// header that ran into it are no part of it.
func (r *reading) recipientName(name string) string {
	if name = r.toolName(name); r.in.declared(name) {
		return name
	}
	name = strings.TrimPrefix(name, namespace)
	for _, word := range [...]string{"commentary", "analysis", "json", "code"} {
		if short, ok := strings.CutSuffix(name, word); ok && r.in.declared(short) {
			return short
		}
	}
	return name
}

// namespace is where models are told that the request's tools are.
const namespace = "functions."

// readFunctionary reads <function=NAME>{…}</function>.
func (r *reading) readFunctionary(d *dialect.Dialect, body int) (block, bool) {
	end := nameEnd(r.s, body)
	if end == body || end == len(r.s) || r.s[end] != '>' {
		return block{}, false
	}
	i := skip(r.s, end+1)
	if r.only == nil && (i == len(r.s) || r.s[i] != '{') || !r.spend(0) {
		return block{}, false // raw parameters: another dialect
	}
	c := event.ParsedCall{Name: r.s[body:end]}
	stop := r.arguments(d, i, &c)
	if r.only == nil && c.Problem != "" && strings.Contains(r.s[i:stop], "<parameter") {
		return block{}, false
	}
	return r.namedBlock(d, []event.ParsedCall{c}, stop), true
}

// namedBefore takes the JSON object at s[i] as the arguments of the tool whose
// name stands before it, on a line of its own or at the beginning of its line.
func (r *reading) namedBefore(i int) int {
	if r.s[i] != '{' || !r.bareAllowed(dialect.Named) || len(r.in.Tools) == 0 {
		return 0
	}
	k := i
	for k > r.from && blank(r.s[k-1]) {
		k--
	}
	at := nameStart(r.s, r.from, k)
	if at == k || !r.in.declared(r.s[at:k]) || !r.lineStart(at) || !r.spend(i-at) {
		return 0
	}
	return r.recipientCall(at, r.s[at:k], i)
}

// recipientCall takes the arguments at s[i] of the tool whose name stands at
// s[at].
func (r *reading) recipientCall(at int, name string, i int) int {
	var e elements
	if callish(r.s, i) {
		// The object may name the tool itself.
		end := e.read(r.s, i)
		if r.spend(end - i + e.again()); len(e.calls) > 0 {
			return 0
		}
	}
	d, _ := dialect.Find(functionary32)
	c := event.ParsedCall{Name: name}
	end := i
	if r.s[i] == '{' {
		end = r.objectOf(d, i, &c)
	} else {
		end = r.spot(recipientMark, i)
		c.Args, c.Problem, _ = arguments(r.s[i:end])
	}
	f := found{from: at, format: d.ID, kind: loose}
	f.calls, f.end = []event.ParsedCall{c}, end
	r.add(f)
	return end
}

// functionary32 is the dialect whose only mark is recipientMark.
const functionary32 = "functionary_v32"

// recipientMark begins the name of whom a message is for, on a line of its own.
const recipientMark = ">>>"

// recipientLine takes the message at s[i] whose recipient stands after the mark: a
// tool, or all, for whom it is content.
func (r *reading) recipientLine(i int) int {
	if !strings.HasPrefix(r.s[i:], recipientMark) || !r.bareAllowed(dialect.Named) || !r.lineStart(i) {
		return 0
	}
	at := i + len(recipientMark)
	end := nameEnd(r.s, at)
	if end == at || end == len(r.s) || r.s[end] != '\n' {
		return 0
	}
	name, body := r.s[at:end], skip(r.s, end)
	if name == "all" && !r.in.declared(name) {
		r.cuts = append(r.cuts, span{i, end + 1})
		r.from = end + 1
		return end + 1
	}
	if !r.offered(name) || body == len(r.s) || !r.spend(0) {
		return 0
	}
	if r.in.AnyName && r.only == nil && r.s[body] != '{' {
		return 0 // a quoted mail
	}
	r.contentForAll(i)
	return r.recipientCall(i, name, body)
}

// contentForAll cuts the word off that says that the text before s[i] is for
// all: the mark before it stood in the prompt.
func (r *reading) contentForAll(i int) {
	const all = "all\n"
	if r.from == 0 && strings.HasPrefix(r.s[:i], all) {
		r.cuts = append(r.cuts, span{0, len(all)})
	}
}
