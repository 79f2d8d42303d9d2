package parse

import (
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
			return overFence(s, end, run(s, i))
		}
	}
	end = r.nextLabel(i)
	c.Args, c.Problem, c.Repairs = lineArguments(trim(s[i:end]), r.params(c.Name))
	return end
}

// lineArguments reads arguments that are not a whole JSON object.
func lineArguments(raw string, node place) (args, problem string, repairs []event.Repair) {
	if n := run(raw, 0); n >= 3 {
		if j := fenceBody(raw, n); j < len(raw) && raw[j] == '{' {
			raw = raw[j:]
		}
	}
	if raw == "" || raw[0] == '{' {
		return arguments(raw)
	}
	names := node.Names()
	text := raw
	if raw[0] == '"' && check(raw) == "" {
		if text = unquote(raw); trim(text) != "" && trim(text)[0] == '{' {
			return arguments(raw)
		}
	}
	if len(names) == 1 && len(text) <= MaxText {
		value := string(jsonString(nil, text))
		if !node.Member(names[0]).Kinds().Has(textOnly) {
			var stop int
			var st state
			if value, stop, st = pyValue(raw, 0); st != whole || stop != len(raw) {
				return arguments(raw)
			}
		}
		if args, ok := sole(value, node); ok {
			return args, "", []event.Repair{{Kind: RepairSole}}
		}
	}
	if len(names) == 0 && node.Kinds() != 0 && nothing(raw) {
		return "{}", "", []event.Repair{{Kind: RepairEmpty}}
	}
	return arguments(raw)
}

// nothing reports whether a text says that there are no arguments.
func nothing(raw string) bool {
	for _, w := range [...]string{"None", "none", "null", "N/A", "n/a", `""`} {
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
		c.Args, c.Problem, c.Repairs = lineArguments(raw, r.params(c.Name))
		c.Repairs = append(c.Repairs, repairs...)
	}
	return r.lineCall(from, end, c)
}
