package parse

import (
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
	"rein.example/rein/schema"
)

// toolTags reads one call whose element is named after the tool.
type toolTags struct {
	r *reading
	d *dialect.Dialect
	values
	node    schema.Node
	params  []param
	repairs []event.Repair
	// json is the object that stands there instead of parameters.
	json string
	// undeclared: there are parameters that the tool does not have.
	undeclared bool
}

var toolTagsRow, _ = dialect.Find("tool_tags")

// element takes the element at s[i] if it is named after a tool of the request.
func (r *reading) element(i int) int {
	d := toolTagsRow
	if i+1 == len(r.s) || !wordByte(r.s[i+1]) || !r.bareAllowed(dialect.Tree) || !r.spend(1) {
		return 0
	}
	c, end, ok := r.toolElement(d, i)
	if !ok {
		return 0
	}
	r.add(found{block: block{calls: []event.ParsedCall{c}, end: end}, from: i, format: d.ID, kind: loose})
	return end
}

// readToolTags reads elements named after tools between markers, or elements
// with the tool's name and its arguments.
func (r *reading) readToolTags(d *dialect.Dialect, start, body int) (block, bool) {
	var b block
	for i := body; len(b.calls) <= MaxCalls; {
		i = skip(r.s, i)
		c, end, ok := r.toolElement(d, i)
		if !ok {
			c, end, ok = r.namedElement(d, i)
		}
		if !ok {
			break
		}
		b.calls, b.end = append(b.calls, c), end
		i = end
	}
	if len(b.calls) == 0 {
		return b, false
	}
	end := r.closers(d, b.end)
	r.unclosed(d, b.calls, end > b.end)
	b.end = end
	return b, true
}

// toolElement reads the call that the element at s[i] is, if it is named after a
// tool that was offered.
func (r *reading) toolElement(d *dialect.Dialect, i int) (c event.ParsedCall, end int, ok bool) {
	if i == len(r.s) || r.s[i] != '<' {
		return c, 0, false
	}
	t, ok := r.tagAt(i)
	if !ok || t.shut || t.torn || t.assigned || t.space != "" {
		return c, 0, false
	}
	if r.in.AnyName && r.only == d {
		return r.anyElement(t)
	}
	if !r.in.declared(t.base) {
		return c, 0, false
	}
	x := r.spare.elements
	if r.spare.elements = nil; x == nil {
		x = new(toolTags)
	}
	*x = toolTags{r: r, d: d, node: r.params(t.base), values: values{r: r, marks: x, owner: t.base}}
	c, end, ok = x.call(t)
	r.spare.elements = x
	return c, end, ok
}

// anyElement reads the call that an element with elements in it is where nobody
// knows which tools there are.
func (r *reading) anyElement(t tag) (c event.ParsedCall, end int, ok bool) {
	if !r.spend(0) {
		return c, 0, false
	}
	x := tree{s: r.s}
	b, end, st := x.branch(t, nil)
	r.spend(end - t.from)
	if st != whole || b.leaf {
		return c, 0, false
	}
	args, ok, repairs := treeObject(nil, b.kids, schema.Node{}, asJSON)
	return event.ParsedCall{Name: t.base, Args: string(args), Repairs: repairs}, end, ok
}

func (x *toolTags) call(t tag) (c event.ParsedCall, end int, ok bool) {
	s := x.r.s
	c.Name = t.base
	for _, a := range attributesOf(s[t.from:t.end]) {
		x.params = append(x.params, param{name: a[0], raw: a[1]})
		x.undeclared = x.undeclared || !x.node.Declared(a[0])
	}
	end = t.end
	shut := t.empty
	if !t.empty {
		end, shut, c.Problem = x.body(t.end)
	}
	switch {
	case !shut && len(x.params) == 0 && x.json == "" && c.Problem != ProblemIncomplete,
		c.Problem == ProblemParams && !x.r.lineStart(t.from):
		x.r.spend(4 * (end - t.from))
		return c, 0, false // it is only spoken of
	case c.Problem != "":
	case x.undeclared:
		c.Problem = ProblemParams
	case !shut && x.r.in.Policy.StrictEnd:
		c.Problem = ProblemIncomplete
	default:
		c.Args, c.Problem, x.repairs = x.r.given(x.d, c.Name, x.json, x.params, x.repairs)
	}
	if c.Problem != "" {
		body := s[t.end:max(end, t.end)]
		c.Args = strings.TrimSpace(strings.TrimSuffix(body, "</"+t.base+">"))
		return c, end, true
	}
	if !shut {
		x.repairs = add(x.repairs, event.Repair{Kind: RepairBlock})
	}
	c.Repairs = x.repairs
	return c, end, true
}

// body reads what stands in the element, from s[i] on.
func (x *toolTags) body(i int) (end int, shut bool, problem string) {
	s := x.r.s
	for {
		i = skip(s, i)
		if i == len(s) || x.tail(i) {
			return len(s), false, ""
		}
		if s[i] == '{' && len(x.params) == 0 && x.json == "" {
			_, end, st, _ := mend(s, i)
			x.r.spend(end - i)
			if st == cut {
				return len(s), false, ProblemIncomplete
			}
			if st == whole {
				x.json, i = s[i:end], end
				continue
			}
		}
		m := x.outside(i)
		switch {
		case m.kind == shutCall && m.name == x.owner:
			return m.end, true, ""
		case m.kind == openParam:
			var open bool
			if i, open = x.param(m); open {
				return i, false, ProblemIncomplete
			}
		case m.kind == shutParam || m.kind == openWrap || m.kind == shutWrap:
			i = m.end
		case s[i] == '<' && tornTag(s, i):
			return len(s), false, ProblemIncomplete
		case x.json != "":
			if end, shut, problem = x.behindJSON(i); end == i || problem != "" {
				return end, shut, problem
			}
			i = end
		case len(x.params) > 0:
			return i, false, ""
		default:
			k := x.r.spot("</"+x.owner+">", i)
			if k == len(s) {
				return i, false, ""
			}
			return k + len("</>") + len(x.owner), true, ProblemParams
		}
	}
}

// behindJSON reads what stands at s[i], behind the object that is the arguments,
// and returns where to go on; i if it is no part of the call.
func (x *toolTags) behindJSON(i int) (end int, shut bool, problem string) {
	s := x.r.s
	k := x.r.spot("</"+x.owner+">", i)
	switch {
	case k < len(s) && surplus(s, i) == trimBlank(s, k):
		x.repairs = add(x.repairs, event.Repair{Kind: RepairClosers})
		return k, false, ""
	case k < len(s):
		return k + len("</>") + len(x.owner), true, ProblemInvalid
	case goesOnAsJSON(s, i):
		return len(s), false, ProblemInvalid
	}
	return i, false, ""
}

// param reads the parameter that m opens.
func (x *toolTags) param(m mark) (next int, open bool) {
	x.params = append(x.params, param{name: m.name})
	if m.tag.empty {
		return m.end, false
	}
	x.own = m.name
	v := x.value(m.end)
	if v.open {
		return len(x.r.s), true
	}
	if v.implied {
		x.repairs = add(x.repairs, event.Repair{Kind: RepairTags})
	}
	if v.stray {
		x.repairs = add(x.repairs, event.Repair{Kind: RepairStray, Lossy: true})
		x.undeclared = x.undeclared || x.holdsMore(v)
	}
	p := &x.params[len(x.params)-1]
	p.raw = ownLines(toolTagsRow, x.r.s[v.from:v.to], v.implied)
	if kinds := x.node.Member(m.name).Kinds(); kinds.Has(schema.Array|schema.Object) && !kinds.Has(schema.String) {
		x.grown(p, x.node.Member(m.name))
	}
	return v.next, false
}

// grown reads the elements that a list or an object is written in.
func (x *toolTags) grown(p *param, n schema.Node) {
	text := trim(p.raw)
	if text == "" || text[0] != '<' {
		return
	}
	w := tree{s: text + "</>"[:2] + p.name + ">"}
	b, end, st := w.branch(tag{base: p.name}, nil)
	if st != whole || end != len(w.s) {
		return
	}
	value, ok, repairs := b.value(nil, n, asJSON)
	if !ok {
		return
	}
	p.raw, p.json = string(value), true
	x.repairs = add(x.repairs, repairs...)
}

// outside says what stands at s[i] between values.
func (x *toolTags) outside(i int) mark {
	if x.r.s[i] != '<' {
		return mark{}
	}
	return x.inside(i)
}

// inside says what stands at s[i], which is '<'.
func (x *toolTags) inside(i int) mark {
	t, ok := x.r.tagAt(i)
	if !ok || t.torn || t.assigned || t.space != "" {
		return mark{}
	}
	m := mark{from: t.from, end: t.end, name: t.base, tag: t}
	switch {
	case x.node.Declared(t.base):
		m.kind = openParam
	case x.r.in.declared(t.base):
		m.kind = openCall
	case t.base == "args" || t.base == "arguments" || t.base == "parameters" || t.base == "params":
		m.kind = openWrap
	default:
		return mark{}
	}
	if t.shut {
		m.kind++
	}
	return m
}

// expected reports whether a parameter that begins in a value is the next one.
func (x *toolTags) expected(m mark) bool {
	for i := range x.params {
		if x.params[i].name == m.name {
			return false
		}
	}
	return lineStart(x.r.s, m.from) || x.r.s[m.from-1] == '>'
}

// attributesOf returns the names and values of a tag's attributes.
func attributesOf(s string) [][2]string {
	var out [][2]string
	var t tag
	for i := word(s, 1); len(out) < maxNested; {
		j := t.over(s, i)
		if i = word(s, j); i == j {
			break
		}
		key := s[j:i]
		k := t.over(s, i)
		if k == len(s) || s[k] != '=' {
			continue
		}
		value, end, ok := t.value(s, t.over(s, k+1))
		if !ok {
			break
		}
		out, i = append(out, [2]string{key, value}), end
	}
	return out
}
