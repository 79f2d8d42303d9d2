package parse

import (
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
)

// pyBlock is the calls of one block, or of one list that nothing marks.
type pyBlock struct {
	r *reading
	d *dialect.Dialect
	// list: they stand in brackets.
	list  bool
	calls []event.ParsedCall
	// sure: the list must have its closing bracket. closed: it has.
	sure, closed bool
	// torn: the text ends in something of which too little is left to say what
	// it was.
	torn bool
	// strange is where something begins that is no call; -1 for nowhere. argued:
	// it is an argument, which the last call lacks.
	strange int
	argued  bool
	// foreign shows the first value among the calls that is none.
	foreign string
	// last is where the last call begins.
	last int
}

// readPython reads calls as Python writes them, in a list, with commas or only
// line ends between. Some families write JSON between the same markers.
func (r *reading) readPython(d *dialect.Dialect, start, body int) (block, bool) {
	i := skip(r.s, body)
	if jsonCalls(r.s, i) {
		return r.readJSON(d, start, body)
	}
	p := pyBlock{r: r, d: d, strange: -1}
	from := i
	if p.list = i < len(r.s) && r.s[i] == '['; p.list {
		i++
	}
	end := p.read(i)
	switch {
	case len(p.calls) == 0 && p.closed && p.strange < 0:
		end = r.closers(d, end)
		r.cuts = append(r.cuts, span{start, end})
		r.note("an empty list of calls was left out")
		return block{said: true, end: end, text: span{end, end}}, true
	case len(p.calls) == 0:
		return block{}, false
	}
	return p.block(from, end), true
}

// jsonCalls reports whether a JSON object, or a list of some, begins at s[i].
func jsonCalls(s string, i int) bool {
	if i < len(s) && s[i] == '[' {
		if i = skip(s, i+1); i < len(s) && s[i] == '"' {
			return true
		}
	}
	return i < len(s) && s[i] == '{'
}

// block makes a marked block of what was read from s[from] to s[end].
func (p *pyBlock) block(from, end int) block {
	b := block{calls: p.calls}
	if p.strange >= 0 {
		stop := p.r.closerStart(p.d, p.strange)
		if p.argued {
			p.lacking(stop)
		} else {
			b.problem = "something else stands among the calls: " + excerpt(p.r.s[p.strange:stop], 0)
		}
		end = stop
	}
	switch {
	case p.torn:
		b.problem, b.cut = tornProblem(len(p.calls)), true
	case b.problem == "" && p.foreign != "":
		b.problem = "something else stands among the calls: " + p.foreign
	}
	p.unclosedList()
	if !p.torn && p.strange < 0 {
		end = p.r.leftOver(p.d, p.calls, ProblemSyntax, p.last, end)
	}
	b.end = p.r.closers(p.d, end)
	if !p.torn {
		p.r.unclosed(p.d, p.calls, b.end > end)
	}
	b.end = p.r.pastCopies(p.d, p.r.s[from:end], b.end)
	return b
}

// lacking gives the last call the problem that one of its arguments stands behind
// it, where what belongs to it ends before s[end].
func (p *pyBlock) lacking(end int) {
	if c := &p.calls[len(p.calls)-1]; c.Problem == "" {
		c.Args, c.Problem, c.Repairs = strings.TrimSpace(p.r.s[p.last:end]), ProblemSyntax, nil
	}
}

// unclosedList reports that a list lacks its closing bracket, though all calls
// in it are whole.
func (p *pyBlock) unclosedList() {
	last := &p.calls[len(p.calls)-1]
	switch {
	case !p.list || p.closed || last.Problem != "":
		return
	case p.sure || p.r.in.Policy.StrictEnd:
		last.Problem = ProblemIncomplete
		return
	case p.torn || p.strange >= 0:
		return // which is said
	}
	last.Repairs = append(last.Repairs, event.Repair{Kind: RepairList})
}

// pastCopies steps over copies of a block's body, each with a closer of its own:
// a model that does not stop at the closer writes the same again.
func (r *reading) pastCopies(d *dialect.Dialect, body string, i int) int {
	if body = strings.TrimSpace(body); body == "" {
		return i
	}
	for {
		j := skip(r.s, i)
		if !strings.HasPrefix(r.s[j:], body) {
			return i
		}
		end := r.closers(d, j+len(body))
		if end == j+len(body) {
			return i
		}
		r.note("the same calls, written once more, were left out")
		i = end
	}
}

// read reads the calls from s[i] on, and returns the index after the last of
// them and the list's bracket.
func (p *pyBlock) read(i int) int {
	s := p.r.s
	for end := i; ; {
		j := end
		for j = pyGap(s, j); j < len(s) && (s[j] == ',' || s[j] == ';'); j = pyGap(s, j+1) {
			i = j + 1
		}
		switch {
		case j >= len(s):
			p.torn = p.list && i > end // something was to follow the comma
			return len(s)
		case p.list && s[j] == ']':
			p.closed = true
			return j + 1
		case p.r.closerAt(p.d, j):
			return j
		}
		name, open := pyName(s, j)
		switch {
		case name != "" && open == len(s):
			p.torn = true
			return open
		case name == "" || s[open] != '(':
			p.argued = name != "" && s[open] == '=' && len(p.calls) > 0 && i > end
			// After a list nothing else can stand in it; after lines, prose may.
			if end = p.value(j); end > j && !p.argued {
				i = end
				continue
			}
			if p.list || p.argued {
				p.strange = j
				return j
			}
			return end
		}
		p.last = j
		var more bool
		if end, more = p.call(name, open); !more {
			return end
		}
		i = end
	}
}

// value steps over the value at s[j] in a list of calls, if it is an element of
// its own; j if not.
func (p *pyBlock) value(j int) (end int) {
	s := p.r.s
	if !p.list || len(p.calls) == 0 {
		return j
	}
	_, end, st := pyValue(s, j)
	p.r.spend(end - j)
	if k := skip(s, end); st != whole || k == len(s) || s[k] != ',' && s[k] != ']' {
		return j
	}
	if p.foreign == "" {
		p.foreign = excerpt(s[j:end], 0)
	}
	return end
}

// closerAt reports whether a closer of d stands at s[i].
func (r *reading) closerAt(d *dialect.Dialect, i int) bool {
	for _, c := range d.Close {
		if strings.HasPrefix(r.s[i:], c) {
			return true
		}
	}
	return false
}

// call takes the call of that name whose parenthesis stands at s[open], and
// returns the index after it. more is false where nobody can say what follows.
func (p *pyBlock) call(name string, open int) (end int, more bool) {
	r := p.r
	c := pyCall{s: r.s, i: open + 1, node: r.params(r.toolName(name))}
	st := c.read()
	cost := c.i - open
	if st != whole {
		cost *= 4 // it will be read again
	}
	if more = r.spend(cost); !more {
		p.strange = c.i
	}
	limit := len(r.s)
	if st != whole {
		// What seems to go on beyond the closer may only lack a quote.
		if limit = r.closerStart(p.d, open); limit < len(r.s) && c.i > limit {
			c = pyCall{s: r.s[:limit], i: open + 1, node: c.node}
			st = c.read()
		}
		if st == cut && limit < len(r.s) {
			st = broken // the model did end it
		}
	}
	end = c.i
	out := event.ParsedCall{Name: r.toolName(name), Args: c.args, Repairs: c.repairs}
	if st != whole {
		end = limit
		if next, ok := pySkip(r.s[:limit], open+1); ok && st != cut {
			end = next
		} else {
			more = false
		}
		raw := strings.TrimSpace(r.s[open+1 : end])
		out = event.ParsedCall{Name: out.Name, Args: strings.TrimSuffix(raw, ")"), Problem: ProblemSyntax}
		r.spend(end - open)
	}
	switch {
	case st == cut:
		out.Args, out.Problem = strings.TrimSpace(r.s[open+1:end]), ProblemIncomplete
	case st == tooDeep || len(out.Args) > MaxText:
		out.Problem = ProblemLimit
	}
	if len(p.calls) <= MaxCalls {
		p.calls = append(p.calls, out)
	}
	return end, more
}

// pythonic and gemma are the rows by which calls are read that nothing marks.
var (
	pythonic, _ = dialect.Find("pythonic_list")
	gemma, _    = dialect.Find("gemma4")
)

// pythonList takes the list of Python calls at s[i]. The first of them must name
// a tool, and the list must end its line: prose has brackets too.
func (r *reading) pythonList(i int) int {
	if !r.bareAllowed(dialect.Python) || i > 0 && letter(r.s[i-1]) {
		return 0
	}
	name, open := pyName(r.s, skip(r.s, i+1))
	if name == "" || open == len(r.s) || r.s[open] != '(' || !r.spend(open-i) {
		return 0
	}
	offered := r.in.declared(r.toolName(name))
	named, value := pyArgued(r.s, open+1)
	if !named && !(offered && value) {
		return 0
	}
	d := r.only
	if d == nil {
		d = pythonic
	}
	p := pyBlock{r: r, d: d, list: true, strange: -1}
	end := p.read(i + 1)
	first := ""
	if len(p.calls) > 0 {
		first = p.calls[0].Problem
	}
	switch {
	case p.argued && offered:
		end = lineOf(r.s, end)
		p.lacking(end)
	case len(p.calls) == 0 || p.strange >= 0 || p.foreign != "" || p.closed && !endsLine(r.s, end):
		return 0
	case !offered && (first != "" || !p.closed):
		return 0
	}
	if !p.closed && !r.lineStart(i) {
		p.sure = true // it may have been about to be spoken of
	}
	p.unclosedList()
	f := found{from: i, format: d.ID, kind: loose}
	f.calls, f.end = p.calls, end
	if p.torn {
		f.problem, f.cut = tornProblem(len(p.calls)), true
	}
	r.add(f)
	return end
}

// endsLine reports whether nothing but blanks and marks stand between s[i] and
// the end of the line.
func endsLine(s string, i int) bool {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i == len(s) || s[i] == '\n' || s[i] == '<'
}
