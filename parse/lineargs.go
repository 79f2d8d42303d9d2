package parse

import (
	"strings"

	"rein.example/rein/event"
)

// lineInput reads the arguments from s[i] on: a JSON object, perhaps in a fence,
// or a text up to the next label. It returns the index after them.
func (r *reading) lineInput(c *event.ParsedCall, i int) (end int) {
	s := r.s
	i = skip(s, i)
	body := i
	if n := run(s, i); n >= 3 {
		if j := fenceBody(s, i+n); j < len(s) && s[j] == '{' {
			body = j
		}
	}
	if body < len(s) && s[body] == '{' && r.spend(0) {
		text, stop, st, repairs := mend(s, body)
		r.spend(stop - body)
		if st == whole {
			c.Args, c.Repairs = text, repairs
			if end = surplus(s, stop); end > stop {
				c.Repairs = append(c.Repairs, event.Repair{Kind: RepairClosers})
			}
			return r.lineEnd(c, body, overFence(s, end, run(s, i)))
		}
	}
	end = r.nextLabel(i)
	in := lineText{raw: trim(s[i:end]), node: r.params(c.Name), last: end == len(s), strict: r.in.Policy.StrictEnd}
	c.Args, c.Problem, c.Repairs = in.arguments()
	return end
}

// lineEnd gives a call whose JSON stands in s[from:end] the problem that the JSON
// goes on behind that, if it does, and returns the index after it.
func (r *reading) lineEnd(c *event.ParsedCall, from, end int) int {
	if c.Problem != "" || !goesOnAsJSON(r.s, end) {
		return end
	}
	stop := r.nextLabel(end)
	if !goesOnAsJSON(r.s[:stop], end) {
		return end
	}
	c.Args, c.Problem, c.Repairs = trim(r.s[from:stop]), ProblemInvalid, nil
	return stop
}

// lineText is what stands as the input of a call and is not a whole JSON object.
type lineText struct {
	raw  string
	node place // of the tool's arguments
	// last: the reply ends with it. strict: a text without marks is then taken
	// for cut off.
	last, strict bool
}

// arguments makes arguments of it.
func (t *lineText) arguments() (args, problem string, repairs []event.Repair) {
	names := t.node.Names()
	none := len(names) == 0 && t.node.Kinds() != 0 // the tool has no parameters
	switch {
	case t.raw == "" && t.last && !none:
		return "", ProblemIncomplete, nil
	case none && nothing(t.raw):
		return "{}", "", []event.Repair{{Kind: RepairEmpty}}
	case t.raw == "" || t.raw[0] == '{' || len(names) != 1 || len(t.raw) > MaxText:
		return arguments(t.inFence())
	}
	value, st := t.value(t.node.Member(names[0]).Kinds().Has(textOnly))
	if st == cut && t.last {
		return t.raw, ProblemIncomplete, nil
	}
	if st == whole && value[0] == '"' && check(value) == "" {
		if inner := trim(unquote(value)); inner != "" && inner[0] == '{' {
			return arguments(value)
		}
	}
	if st == whole {
		if args, ok := sole(value, t.node); ok {
			return args, "", []event.Repair{{Kind: RepairSole}}
		}
	}
	return arguments(t.raw)
}

// value reads a value for the tool's only parameter. A text may stand in quotes,
// in a fence or as it is; but with an empty line in it, nobody can say where it
// ends.
func (t *lineText) value(isText bool) (string, state) {
	if n := run(t.raw, 0); n >= 3 {
		body, ok := strings.CutSuffix(t.raw[n:], t.raw[:n])
		if line := strings.IndexByte(body, '\n'); ok && line >= 0 && isText {
			return string(jsonString(nil, strings.TrimSuffix(body[line+1:], "\n"))), whole
		}
		return "", cut
	}
	if t.raw[0] == '`' && isText {
		body, shut, _ := strings.Cut(t.raw[1:], "`")
		if shut == "" && body != "" && len(t.raw) == len(body)+2 {
			return string(jsonString(nil, body)), whole
		}
		if strings.Count(t.raw, "`")%2 == 1 || body == "" {
			return "", cut
		}
	}
	text, end, st := pyValue(t.raw, 0)
	switch {
	case st == whole && end == len(t.raw) && (text[0] == '"' || !isText):
		return text, whole
	case !isText || st == cut && (t.raw[0] == '"' || t.raw[0] == '\''):
		return "", st
	case strings.Contains(t.raw, "\n\n"):
		return "", broken
	case t.last && t.strict:
		return "", cut
	}
	return string(jsonString(nil, t.raw)), whole
}

// inFence returns the object that stands in a fence, or else the text itself.
func (t *lineText) inFence() string {
	if n := run(t.raw, 0); n >= 3 {
		if j := fenceBody(t.raw, n); j < len(t.raw) && t.raw[j] == '{' {
			return t.raw[j:]
		}
	}
	return t.raw
}

// nothing reports whether a text says that there are no arguments.
func nothing(raw string) bool {
	for _, w := range [...]string{"", "None", "none", "null", "N/A", "n/a", `""`} {
		if raw == w {
			return true
		}
	}
	return false
}

// fenceBody returns the index of what stands in a fence, after the backticks
// before s[i] and an info word.
func fenceBody(s string, i int) int {
	for i < len(s) && letter(s[i]) {
		i++
	}
	return skip(s, i)
}

// overFence steps over the end of a fence of n backticks, if there is one.
func overFence(s string, i, n int) int {
	if j := skip(s, i); n >= 3 && run(s, j) >= 3 {
		return j + run(s, j)
	}
	return i
}

// blob takes the call that a JSON object at s[i], perhaps in a fence, makes of
// the members action and action_input.
func (r *reading) blob(from, i int) int {
	s, body, ticks := r.s, i, run(r.s, i)
	if ticks >= 3 {
		body = fenceBody(s, i+ticks)
	}
	if body == len(s) || s[body] != '{' || !r.spend(0) {
		return 0
	}
	text, end, st, repairs := mend(s, body)
	if st != whole {
		end = r.nextLabel(body)
		text = s[body:end]
	}
	r.spend(end - body)
	var c event.ParsedCall
	var raw string
	for m := newMembers(text); ; {
		key, v, ok := m.next()
		if !ok {
			break
		}
		switch {
		case key == "action" && v != "" && v[0] == '"' && m.state == whole:
			c.Name = r.toolName(unquote(v))
		case key == "action_input":
			raw = v
		}
	}
	if c.Name == "" {
		return 0
	}
	switch {
	case st == tooDeep:
		c.Args, c.Problem = raw, ProblemLimit
	case st == cut:
		c.Args, c.Problem = raw, ProblemIncomplete
	case st == broken:
		c.Args, c.Problem = raw, ProblemInvalid
	default:
		end = overFence(s, surplus(s, end), ticks)
		if c.Name == answerWord && raw != "" && raw[0] == '"' {
			r.answer = unquote(raw)
			r.thoughtUpTo(from)
			r.cuts = append(r.cuts, span{0, end})
			r.from = end
			return end
		}
		in := lineText{raw: raw, node: r.params(c.Name)}
		c.Args, c.Problem, c.Repairs = in.arguments()
		c.Repairs = append(c.Repairs, repairs...)
		end = r.lineEnd(&c, body, end)
	}
	return r.lineCall(from, end, c)
}
