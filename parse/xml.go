package parse

import (
	"slices"
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
	"rein.example/rein/schema"
)

// tagged takes the block that an element at s[i] begins, whatever prefix and
// decoration its name has. The rows of openers that stand there were tried.
func (r *reading) tagged(i int, openers []*opener) int {
	if r.s[i] != '<' {
		return 0
	}
	t, ok := r.tagAt(i)
	if !ok || !callTag(t.base) && !wrapTag(t.base) && !paramTag(t.base) {
		return 0
	}
	if t.shut {
		return r.orphan(t)
	}
	if r.repeated(r.s[i:t.end], t.end) {
		return 0
	}
	for _, d := range tagRows(&t, r.only != nil) {
		if r.only != nil && r.only != d || tried(openers, t.end-i, d) {
			continue
		}
		b, ok := r.read(d, i, t.end)
		if !ok {
			continue
		}
		if callTag(t.base) && t.space == "" && r.in.known(b.calls) == 0 && !r.lineStart(i) {
			r.spend(4 * (b.end - i))
			return 0 // markup of another kind, within a line
		}
		return r.take(d, b, i)
	}
	return 0
}

// tried reports whether one of the openers is n bytes long and one of d's.
func tried(openers []*opener, n int, d *dialect.Dialect) bool {
	for _, o := range openers {
		if o.anchor == 0 && len(o.text) == n && slices.Contains(o.rows, d) {
			return true
		}
	}
	return false
}

// orphan takes a closing tag that closes nothing: one in a namespace of calls,
// or right after what was taken last.
func (r *reading) orphan(t tag) int {
	if t.torn || t.space == "" && !(r.fresh(t.from) && len(r.found) > 0) {
		return 0
	}
	r.markup = append(r.markup, span{t.from, t.end})
	return t.end
}

// tagRows returns the rows that a tag may begin, by its namespace if a row has
// it. all: also those of any namespace.
func tagRows(t *tag, all bool) []*dialect.Dialect {
	name := t.base
	if t.assigned {
		name += "="
	}
	if t.space == "" {
		return table.tags[name]
	}
	own := table.tags[t.space+":"+name]
	if len(own) == 0 {
		return table.tags[name]
	}
	if all {
		return append(own[:len(own):len(own)], table.tags[name]...)
	}
	return own
}

// xmlReader reads the calls of one block of elements.
type xmlReader struct {
	r *reading
	d *dialect.Dialect
	values
	// call, param and space are the names and the namespace of the elements, once
	// one was read: others within values are text.
	call, param, space string
	// paramSpace is the namespace of the parameter that is being read.
	paramSpace string

	b block
	// wrapped: an opener stands around the calls; shut: its closer was read.
	// json: calls may stand there as JSON.
	wrapped, shut, json bool

	// Of the call that is being read: its tool, what that declares, whether its
	// tags held letters for white space, its parameters, and what was mended.
	tool    string
	node    schema.Node
	known   bool
	letters bool
	params  []param
	repairs []event.Repair
}

// readXML reads a block of elements. start is where the opener stands, which may
// be the tag of the first call itself.
func (r *reading) readXML(d *dialect.Dialect, start, body int) (block, bool) {
	if !r.spend(1) {
		return block{}, false
	}
	i, wrapped := start, false
	if t, ok := r.tagAt(start); !ok || t.torn || wrapTag(t.base) {
		i, wrapped = body, true
	}
	json := wrapped && r.s[start:body] != "<tool_call>" // those are other rows'
	if j := skip(r.s, i); j == len(r.s) || r.s[j] != '<' && !(json && (r.s[j] == '{' || r.s[j] == '[')) && d.ID != step3 {
		return block{}, false
	}
	x := r.spare.xml
	if r.spare.xml = nil; x == nil {
		x = new(xmlReader)
	}
	*x = xmlReader{r: r, d: d, wrapped: wrapped, json: json, values: values{r: r, marks: x, cdata: d.Entities}}
	b, ok := x.block(i)
	r.spare.xml = x
	return b, ok
}

// step3 is the dialect whose blocks begin with the kind of the call.
const step3 = "step3"

// block reads the calls from s[i] on.
func (x *xmlReader) block(i int) (block, bool) {
	s := x.r.s
	headed := true
	if x.d.ID == step3 && x.wrapped {
		i, headed = x.header(i)
	}
	for first := true; ; first = false {
		i = x.wrappers(i)
		switch {
		case i == len(s) || x.tail(i):
			return x.finish(i, len(s))
		case first && x.json && (s[i] == '{' || s[i] == '['):
			b, ok := x.r.readJSON(x.d, i, i)
			return b, ok && len(b.calls) > 0
		}
		m := x.outside(i)
		switch {
		case m.kind == openCall && x.mine(&m.tag):
		case m.kind == openParam && m.tag.space == dsmlSpace && first:
			return x.misplaced(i)
		case m.tag.torn && (callTag(m.tag.base) || paramTag(m.tag.base)) && x.wrapped:
			x.b.problem = cutProblem(len(x.b.calls))
			x.b.cut = true
			return x.finish(len(s), len(s))
		default:
			return x.finish(i, i)
		}
		c, end, ok := x.readCall(m)
		if !ok {
			return x.finish(i, i)
		}
		if !headed && c.Problem == "" {
			c.Problem = ProblemShape
		}
		if len(x.b.calls) <= MaxCalls {
			x.b.calls = append(x.b.calls, c)
		}
		i = end
	}
}

// mine reports whether a row reads calls whose tag is t, where rows share what
// stands around them.
func (x *xmlReader) mine(t *tag) bool {
	if len(x.b.calls) > 0 || !x.wrapped {
		return true
	}
	return x.r.only != nil || x.d.OwnLines == (t.base == "function")
}

// header reads the kind of the call that Step-3 writes before it.
func (x *xmlReader) header(i int) (int, bool) {
	const sep = "<｜tool_sep｜>"
	k := strings.Index(x.r.s[i:min(len(x.r.s), i+maxHeader)], sep)
	if k < 0 || trim(x.r.s[i:i+k]) != "function" {
		return i, false
	}
	return i + k + len(sep), true
}

// wrappers steps over tags that stand around calls, and over closing tags of
// calls that close nothing.
func (x *xmlReader) wrappers(i int) int {
	s := x.r.s
	for opened := 0; ; {
		i = skip(s, i)
		if i == len(s) || s[i] != '<' {
			return i
		}
		m := x.outside(i)
		switch m.kind {
		case openWrap:
			if opened++; len(x.b.calls) > 0 || opened > maxRepeats {
				return i
			}
			x.wrapped = true
		case shutWrap:
			x.shut = true
		case shutCall, shutParam:
			if len(x.b.calls) == 0 {
				return i
			}
		default:
			if m.end = x.r.closers(x.d, i); m.end == i {
				return i
			}
			x.shut = true
		}
		i = m.end
	}
}

// misplaced reports a parameter where a call should begin: nothing says which
// tool is meant.
func (x *xmlReader) misplaced(i int) (block, bool) {
	r := x.r
	end, ok := r.closer(x.d, i)
	for ok {
		var next int
		if next, ok = r.closer(x.d, end); ok && strings.IndexByte(r.s[end:next], '{') < 0 {
			end = next
		} else {
			break
		}
	}
	if end == i {
		end = len(r.s)
	}
	return block{end: r.closers(x.d, end), problem: "parameters stand in no call, so that nothing says which tool is meant: " + excerpt(r.s[i:end], 0)}, true
}

// finish ends the block: what it holds ends at s[i], and with closers at s[end].
func (x *xmlReader) finish(i, end int) (block, bool) {
	n := len(x.b.calls)
	if n == 0 && x.b.problem == "" {
		return block{}, false
	}
	x.b.end = end
	if n > 0 && x.wrapped && !x.shut {
		x.r.unclosed(x.d, x.b.calls, false)
	}
	return x.b, true
}

// outside says what stands at s[i] between calls and parameters.
func (x *xmlReader) outside(i int) mark {
	if x.r.s[i] != '<' {
		return mark{}
	}
	t, ok := x.r.tagAt(i)
	if !ok {
		return mark{}
	}
	m := mark{from: t.from, end: t.end, name: t.name, tag: t}
	switch {
	case t.torn:
	case callTag(t.base):
		m.kind = openCall
	case paramTag(t.base):
		m.kind = openParam
	case wrapTag(t.base):
		m.kind = openWrap
	case x.known && !t.assigned && t.space == "" && x.node.Declared(t.base):
		m.kind, m.name = openParam, t.base
	}
	switch {
	case m.kind == noMark:
	case t.shut:
		m.kind++
		if callTag(t.base) || paramTag(t.base) || wrapTag(t.base) {
			m.name = "" // whatever is repeated there
		}
	case m.kind == openCall && t.name == "":
		m.kind = noMark
	}
	return m
}

// inside says what stands at s[i] within a value: only tags of the same form as
// those around it are more than text. Closing tags may lack their namespace.
func (x *xmlReader) inside(i int) mark {
	m := x.outside(i)
	t := &m.tag
	switch {
	case m.kind == noMark:
		return m
	case m.kind == shutParam:
		m.weak = t.space != x.paramSpace
	case m.kind == shutCall:
		m.weak = t.space != x.space
	}
	switch {
	case !t.shut && t.space != x.space, callTag(t.base) && t.base != x.call:
		return mark{}
	case m.kind != openParam && m.kind != shutParam:
		return m
	case paramTag(x.param) && (t.base != x.param || !t.shut && !t.named),
		!paramTag(x.param) && (paramTag(t.base) || t.shut && t.base != x.param):
		return mark{}
	}
	return m
}

// expected reports whether a parameter that begins in a value is the next one:
// the tool has it, and it has not come yet.
func (x *xmlReader) expected(m mark) bool {
	for i := range x.params {
		if x.params[i].name == m.name {
			return false
		}
	}
	if x.known {
		return x.node.Declared(m.name)
	}
	return lineStart(x.r.s, m.from)
}
