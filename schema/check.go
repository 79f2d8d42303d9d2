package schema

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// valid reports whether a value validates, as far as there was work left to
// find out.
func (c *checker) valid(at int32, r *rule) bool {
	return c.check(at, r) && c.work > 0
}

// check reports whether a value validates. Without c.report it stops at the
// first problem; with it, it collects all. It is the only place that knows what
// the keywords mean.
func (c *checker) check(at int32, r *rule) bool {
	if c.work--; c.work <= 0 {
		return false
	}
	if r.never {
		return c.problem(at, "is not allowed here", "")
	}
	n := &c.nodes[at]
	if r.types != 0 && !c.isType(n, r.types) {
		return c.problem(at, "is "+c.show(at), c.want(r))
	}
	ok := true
	if r.enum != nil && !c.isOne(at, r.enum) || r.only != nil && !c.isOne(at, r.only) {
		ok = c.problem(at, "is "+c.show(at), c.want(r))
	}
	if ok || c.report {
		switch n.kind {
		case kindNumber:
			ok = c.checkNumber(at, r) && ok
		case kindString:
			ok = c.checkString(at, r) && ok
		case kindArray:
			ok = c.checkArray(at, r) && ok
		case kindObject:
			ok = c.checkObject(at, r) && ok
		}
	}
	if ok || c.report {
		ok = c.checkOthers(at, r) && ok
	}
	return ok
}

// problem records a problem if they are wanted, and returns false. Callers that
// build a message pay for it only then: see [checker.show].
func (c *checker) problem(at int32, message, want string) bool {
	if c.report {
		c.problems = append(c.problems, found{at, Problem{Pointer: string(c.path), Message: message, Want: want}})
	}
	return false
}

// want describes a rule in a problem. Like show it costs nothing otherwise.
func (c *checker) want(r *rule) string {
	if !c.report {
		return ""
	}
	return r.words(0)
}

func (c *checker) unknownMember(r *rule, name []byte) string {
	if !c.report {
		return ""
	}
	return r.memberWords(name)
}

// isType reports whether the value is of one of the types.
func (c *checker) isType(n *node, set kind) bool {
	if set&n.kind != 0 {
		return true
	}
	return set&kindInteger != 0 && n.kind == kindNumber && (n.raw || parseNum(c.bytes(n.text)).integer())
}

func (c *checker) isOne(at int32, list []constant) bool {
	n := &c.nodes[at]
	for i := range list {
		if list[i].kind == n.kind && c.isConstant(at, n, &list[i]) {
			return true
		}
	}
	return false
}

func (c *checker) isConstant(at int32, n *node, k *constant) bool {
	c.work--
	switch n.kind {
	case kindNull:
		return true
	case kindBool:
		return n.isTrue() == k.bool
	case kindString:
		return bytes.Equal(c.bytes(n.text), k.text)
	case kindNumber:
		return parseNum(c.bytes(n.text)).compare(k.num) == 0
	default:
		c.scratch = c.exact(c.scratch[:0], at)
		c.work -= len(c.scratch)
		return bytes.Equal(c.scratch, k.exact)
	}
}

func (c *checker) checkNumber(at int32, r *rule) bool {
	if r.min == nil && r.max == nil && r.above == nil && r.below == nil && r.multiple == nil {
		return true
	}
	v := parseNum(c.bytes(c.nodes[at].text))
	if r.min != nil && v.compare(*r.min) < 0 || r.max != nil && v.compare(*r.max) > 0 ||
		r.above != nil && v.compare(*r.above) <= 0 || r.below != nil && v.compare(*r.below) >= 0 ||
		r.multiple != nil && !c.multiple(v, *r.multiple) {
		return c.problem(at, "is "+c.show(at), c.want(r))
	}
	return true
}

func (c *checker) multiple(v, m num) bool {
	c.work -= 10 + v.digits()
	return v.multiple(m)
}

func (c *checker) checkString(at int32, r *rule) bool {
	if r.minLength < 0 && r.maxLength < 0 && r.pattern == nil {
		return true
	}
	s := c.bytes(c.nodes[at].text)
	c.work -= len(s) / 16
	if r.minLength > 0 || r.maxLength >= 0 {
		length := int64(utf8.RuneCount(s))
		if length < r.minLength || r.maxLength >= 0 && length > r.maxLength {
			return c.problem(at, c.counted(length, "character"), c.want(r))
		}
	}
	if r.pattern != nil {
		c.work -= len(s)
		if !r.pattern.Match(s) {
			return c.problem(at, "is "+c.show(at), c.want(r))
		}
	}
	return true
}

func (c *checker) checkArray(at int32, r *rule) bool {
	n := &c.nodes[at]
	ok := true
	if count := int64(n.count); r.minItems >= 0 && count < r.minItems || r.maxItems >= 0 && count > r.maxItems {
		ok = c.problem(at, c.counted(count, "item"), c.want(r))
	}
	if r.unique && (ok || c.report) && !c.unique(at) {
		ok = c.problem(at, "has equal items", "items that all differ")
	}
	if r.contains != nil && (ok || c.report) {
		ok = c.checkContains(at, r) && ok
	}
	if len(r.prefix) == 0 && r.items == nil {
		return ok
	}
	i := 0
	for item := n.first; item != none && (ok || c.report); item = c.nodes[item].next {
		if s := r.item(i); s != nil {
			mark := c.enterItem(i)
			ok = c.check(item, s) && ok
			c.path = c.path[:mark]
		}
		i++
	}
	return ok
}

// item returns the rule of the i-th item, nil for anything.
func (r *rule) item(i int) *rule {
	if i < len(r.prefix) {
		return r.prefix[i]
	}
	return r.items
}

func (c *checker) checkContains(at int32, r *rule) bool {
	var count int64
	for item := c.nodes[at].first; item != none; item = c.nodes[item].next {
		if c.quiet(item, r.contains) {
			count++
		}
	}
	if count < r.minContains || r.maxContains >= 0 && count > r.maxContains {
		if !c.report {
			return false
		}
		want := "at least " + plural(r.minContains, "such item")
		if r.maxContains >= 0 {
			want = "from " + strconv.FormatInt(r.minContains, 10) + " to " + plural(r.maxContains, "such item")
		}
		return c.problem(at, "has "+plural(count, "item")+" that are "+c.want(r.contains), want)
	}
	return true
}

// unique reports whether all items differ.
func (c *checker) unique(at int32) bool {
	n := &c.nodes[at]
	if n.count < 2 {
		return true
	}
	seen := make(map[string]struct{}, n.count)
	for item := n.first; item != none; item = c.nodes[item].next {
		c.scratch = c.exact(c.scratch[:0], item)
		c.work -= 1 + len(c.scratch)/16
		if _, twice := seen[string(c.scratch)]; twice {
			return false
		}
		seen[string(c.scratch)] = struct{}{}
	}
	return true
}

func (c *checker) checkObject(at int32, r *rule) bool {
	n := &c.nodes[at]
	ok := true
	if count := int64(n.count); r.minProperties >= 0 && count < r.minProperties || r.maxProperties >= 0 && count > r.maxProperties {
		ok = c.problem(at, c.counted(count, "member"), c.want(r))
	}
	// Both lists are in canonical order: go through them side by side.
	j := 0
	for m := n.first; m != none && (ok || c.report); m = c.nodes[m].next {
		name := c.bytes(c.nodes[m].name)
		for j < len(r.members) && compareUTF16(r.members[j].name, name) < 0 {
			ok = c.missing(at, &r.members[j]) && ok
			j++
		}
		var known *rule
		if j < len(r.members) && bytes.Equal(r.members[j].name, name) {
			known = r.members[j].rule
			j++
		}
		if ok || c.report {
			ok = c.checkMember(m, name, known, r) && ok
		}
	}
	for ; j < len(r.members) && (ok || c.report); j++ {
		ok = c.missing(at, &r.members[j]) && ok
	}
	for i := range r.dependent {
		if ok || c.report {
			ok = c.checkDependent(at, &r.dependent[i]) && ok
		}
	}
	return ok
}

func (c *checker) missing(at int32, m *member) bool {
	if !m.required {
		return true
	}
	mark := c.enter(m.name)
	want := ""
	if m.rule != nil {
		want = c.want(m.rule)
	}
	c.problem(at, "is missing", want)
	c.path = c.path[:mark]
	return false
}

func (c *checker) checkMember(at int32, name []byte, known, r *rule) bool {
	if known == nil && len(r.patterns) == 0 && r.additional == nil && r.names == nil {
		return true
	}
	mark := c.enter(name)
	ok := true
	if known != nil {
		ok = c.check(at, known)
	}
	for i := range r.patterns {
		c.work -= len(name)
		if r.patterns[i].pattern.Match(name) {
			known = r.patterns[i].rule
			ok = c.check(at, known) && ok
		}
	}
	if known == nil && r.additional != nil {
		if r.additional.never {
			ok = c.problem(at, c.unknownMember(r, name), "")
		} else {
			ok = c.check(at, r.additional) && ok
		}
	}
	if r.names != nil && !c.checkName(name, r.names) {
		ok = c.problem(at, "has a name that is not allowed", c.want(r.names))
	}
	c.path = c.path[:mark]
	return ok
}

// checkName holds a member's name, as a string, against a rule.
func (c *checker) checkName(name []byte, r *rule) bool {
	from := int32(len(c.buf))
	c.buf = append(c.buf, name...)
	at := int32(len(c.nodes))
	c.nodes = append(c.nodes, node{kind: kindString, text: span{from, int32(len(c.buf))}, first: none, next: none})
	ok := c.quiet(at, r)
	c.nodes, c.buf = c.nodes[:at], c.buf[:from]
	return ok
}

func (c *checker) checkDependent(at int32, d *dependency) bool {
	if c.find(at, d.name) == none {
		return true
	}
	ok := true
	for _, need := range d.need {
		if c.find(at, need) == none {
			mark := c.enter(need)
			ok = c.problem(at, "is missing", "it together with "+string(d.name))
			c.path = c.path[:mark]
		}
	}
	if d.rule != nil && (ok || c.report) {
		ok = c.check(at, d.rule) && ok
	}
	return ok
}

// find returns the member of that name.
func (c *checker) find(at int32, name []byte) int32 {
	for m := c.nodes[at].first; m != none; m = c.nodes[m].next {
		c.work--
		if bytes.Equal(c.bytes(c.nodes[m].name), name) {
			return m
		}
	}
	return none
}

// enter appends a member's name to the path and returns what to cut it back to.
func (c *checker) enter(name []byte) int {
	mark := len(c.path)
	if c.track {
		c.path = append(c.path, jsontext.Pointer("").AppendToken(string(name))...)
	}
	return mark
}

func (c *checker) enterItem(i int) int {
	mark := len(c.path)
	if c.track {
		c.path = strconv.AppendInt(append(c.path, '/'), int64(i), 10)
	}
	return mark
}
