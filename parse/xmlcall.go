package parse

import (
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
)

// readCall reads the call that m opens. It reports false where that is only
// spoken of.
func (x *xmlReader) readCall(m mark) (c event.ParsedCall, end int, ok bool) {
	t := &m.tag
	x.begin(t)
	c.Name = x.tool
	if !plausible(c.Name) {
		return c, 0, false
	}
	b := xmlBody{x: x, from: t.end}
	if t.empty {
		b.ended, b.end = shutOwn, t.end
	} else {
		b.read()
	}
	switch {
	case b.ended == ranOut && len(x.params) == 0 && b.json == "" && b.problem == "":
		if !x.meant(t) {
			x.r.spend(4 * (b.end - t.from))
			return c, 0, false
		}
		c.Problem = ProblemIncomplete
	case b.problem != "":
		if b.problem == ProblemParams && !x.wrapped && !x.r.offered(c.Name) {
			x.r.spend(4 * (b.end - t.from))
			return c, 0, false
		}
		c.Problem = b.problem
	case b.ended == ranOut && (x.d.NeedsEnd || x.r.in.Policy.StrictEnd):
		c.Problem, x.shut = ProblemIncomplete, true
	default:
		c.Args, c.Problem, x.repairs = x.r.given(x.d, x.tool, b.json, x.params, x.repairs)
	}
	if c.Problem != "" {
		c.Args = strings.TrimSpace(x.r.s[b.from:max(b.from, b.to)])
		return c, b.end, true
	}
	if b.ended == ranOut {
		x.shut = true
		x.repairs = add(x.repairs, event.Repair{Kind: RepairBlock})
	}
	c.Repairs = x.repairs
	return c, b.end, true
}

// cutProblem says that a block of calls is cut off where it does not yet say
// which tool is meant, after n calls.
func cutProblem(n int) string {
	if n == 0 {
		return "a call is cut off before it says which tool is meant"
	}
	return tornProblem(n)
}

// begin makes ready for the call that t opens.
func (x *xmlReader) begin(t *tag) {
	x.tool = x.name(t.name)
	x.call, x.param, x.space = t.base, "", t.space
	x.node = x.r.params(x.tool)
	x.known = x.r.declares(x.tool)
	x.params, x.repairs, x.letters = nil, nil, false
	x.noted(t)
}

// name returns the tool that a name in a tag means.
func (x *xmlReader) name(s string) string {
	s = trim(s)
	if half := len(s) / 2; len(s) > 2 && s[half] == '.' && s[:half] == s[half+1:] && !x.r.in.declared(s) {
		return s[:half] // Muse Glimmer's template writes names twice
	}
	return x.r.toolName(s)
}

// plausible reports whether a tool could have the name.
func plausible(name string) bool {
	return name != "" && len(name) <= maxHeader && strings.IndexFunc(name, func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7f
	}) >= 0 && strings.IndexByte(name, '\n') < 0
}

// meant reports whether an opening tag after which nothing comes is a call that
// was cut off, and not one that the text speaks of.
func (x *xmlReader) meant(t *tag) bool {
	if x.wrapped || t.space != "" {
		return true
	}
	return x.r.lineStart(t.from) && skip(x.r.s, t.end) == len(x.r.s)
}

// noted takes down what was odd about a tag.
func (x *xmlReader) noted(t *tag) {
	x.letters = x.letters || t.marks
	if t.bare || t.marks {
		x.repairs = add(x.repairs, event.Repair{Kind: RepairTags})
	}
}

// xmlBody is what stands in the element of a call.
type xmlBody struct {
	x *xmlReader
	// The body stands between from and to; end is the index after the call.
	from, to, end int
	ended         xmlEnd
	// json is the object that stands there instead of parameters.
	json    string
	problem string
}

type xmlEnd uint8

const (
	ranOut  xmlEnd = iota // the text or the block's own tokens end it
	shutOwn               // its closing tag
	implied               // the block's closing tag, or the next call
)

func (b *xmlBody) read() {
	x, s := b.x, b.x.r.s
	for i := b.from; ; {
		i = skip(s, i)
		b.to, b.end = i, i
		if i == len(s) || x.tail(i) {
			b.end = len(s)
			return
		}
		m := x.outside(i)
		switch m.kind {
		case openParam:
			if i = b.param(m); b.problem != "" {
				b.over(i)
				return
			}
			continue
		case shutParam:
			x.repairs = add(x.repairs, event.Repair{Kind: RepairTags})
			i = m.end
			continue
		case shutCall:
			b.ended, b.end = shutOwn, m.end
			return
		case shutWrap, openCall, openWrap:
			b.ended = implied
			return
		}
		switch {
		case m.tag.torn && s[i] == '<' && (paramTag(m.tag.base) || callTag(m.tag.base)):
			b.problem, b.to, b.end = ProblemIncomplete, len(s), len(s)
			return
		case markerAt(s, i):
			return
		case s[i] == '{' && len(x.params) == 0 && b.json == "":
			if i = b.object(i); b.problem != "" {
				return
			}
			continue
		}
		n := x.nextMark(i)
		if b.json != "" && (n < len(s) || goesOnAsJSON(s, i)) {
			if surplus(s, i) == trimBlank(s, n) {
				x.repairs = add(x.repairs, event.Repair{Kind: RepairClosers})
				i = n
				continue
			}
			b.problem = ProblemInvalid
			b.over(i)
			return
		}
		if n == len(s) && b.json != "" {
			return
		}
		if n == len(s) || len(x.params) == 0 && b.json == "" {
			b.problem = ProblemParams
			b.over(i)
			return
		}
		if valueAt(s[:n], i) {
			b.problem = ProblemParams
			b.over(i)
			return
		}
		x.repairs = add(x.repairs, event.Repair{Kind: RepairStray, Lossy: true})
		i = n
	}
}

// param reads the parameter that m opens.
func (b *xmlBody) param(m mark) (next int) {
	x := b.x
	t := &m.tag
	x.noted(t)
	if m.name == "" || b.json != "" {
		b.problem = ProblemParams
		return m.end
	}
	p := param{name: m.name}
	switch t.text {
	case "true":
		p.claim = claimsText
	case "false":
		p.claim = claimsJSON
	}
	x.param, x.own, x.paramSpace = t.base, t.base, t.space
	x.params = append(x.params, p)
	if t.empty {
		return m.end
	}
	v := x.value(m.end)
	if v.open {
		if b.problem = ProblemParams; v.next == len(x.r.s) {
			b.problem = ProblemIncomplete
		}
		return v.next
	}
	if v.implied {
		x.repairs = add(x.repairs, event.Repair{Kind: RepairTags})
	}
	if v.stray && x.holdsMore(v) {
		b.problem = ProblemParams
		return v.next
	}
	if v.stray {
		x.repairs = add(x.repairs, event.Repair{Kind: RepairStray, Lossy: true})
	}
	x.params[len(x.params)-1].raw = x.text(v)
	return v.next
}

// text returns the text that a raw value stands for.
func (x *xmlReader) text(v rawValue) string {
	raw := ownLines(x.d, x.r.s[v.from:v.to], v.implied)
	if !x.d.Entities {
		return raw
	}
	if x.letters && strings.ContainsAny(raw, "ĠĊ") {
		raw = strings.NewReplacer("Ġ", " ", "Ċ", "\n").Replace(raw)
		x.repairs = add(x.repairs, event.Repair{Kind: RepairLetters, Lossy: true})
	}
	return xmlText(raw)
}

// ownLines returns a raw value without the line breaks that only set it on lines
// of its own, or that stand where its closing tag is missing.
func ownLines(d *dialect.Dialect, raw string, implied bool) string {
	own := d.OwnLines
	if own {
		n := len(raw)
		raw = withoutBreak(raw, true)
		own = !d.Inline || len(raw) < n
	}
	if own || implied {
		raw = withoutBreak(raw, false)
	}
	return raw
}

// withoutBreak returns s without the line break at its beginning or its end.
func withoutBreak(s string, front bool) string {
	if front {
		return strings.TrimPrefix(strings.TrimPrefix(s, "\r"), "\n")
	}
	if t, ok := strings.CutSuffix(s, "\n"); ok {
		return strings.TrimSuffix(t, "\r")
	}
	return s
}

// object reads the object that stands where parameters should.
func (b *xmlBody) object(i int) (next int) {
	x, s := b.x, b.x.r.s
	_, end, st, _ := mend(s, i)
	x.r.spend(end - i)
	if st == whole {
		b.json = s[i:end]
		return end
	}
	b.over(i)
	switch {
	case st == tooDeep:
		b.problem = ProblemLimit
	case st == cut && b.ended == ranOut:
		b.problem = ProblemIncomplete
	default:
		b.problem = ProblemInvalid
	}
	return b.end
}

// over steps to the end of a call that can't be read.
func (b *xmlBody) over(i int) {
	x := b.x
	for {
		i = x.nextMark(i)
		b.to, b.end = i, i
		if i == len(x.r.s) {
			b.ended = ranOut
			return
		}
		m := x.inside(i)
		switch {
		case m.kind == shutCall:
			b.ended, b.end = shutOwn, m.end
			return
		case m.kind == shutWrap:
			b.ended = implied
			return
		}
		i = m.end
	}
}
