package schema

// applyDefaults fills in the defaults of missing members, everywhere in a valid
// value, or nowhere if it were not valid then.
func (c *checker) applyDefaults(at int32, r *rule) {
	c.track = true
	m := c.mark()
	c.defaultsAll(at, r)
	if len(c.undo) > m.undo && !c.valid(at, r) {
		c.back(m)
	}
}

func (c *checker) defaultsAll(at int32, r *rule) {
	if c.work--; c.work <= 0 {
		return
	}
	c.defaultsHere(at, r)
	for s := range r.certain {
		i := 0
		for m := c.nodes[at].first; m != none; m = c.nodes[m].next {
			var inner *rule
			mark := len(c.path)
			if c.nodes[at].kind == kindArray {
				inner = s.item(i)
				c.enterItem(i)
				i++
			} else {
				name := c.bytes(c.nodes[m].name)
				if known := s.member(name); known != nil {
					inner = known.rule
				}
				c.enter(name)
			}
			if inner != nil {
				c.defaultsAll(m, inner)
			}
			c.path = c.path[:mark]
		}
	}
}

// defaultsHere fills in the defaults of an object's missing members and reports
// whether there were any.
func (c *checker) defaultsHere(at int32, r *rule) bool {
	if c.nodes[at].kind != kindObject {
		return false
	}
	any := false
	for s := range r.certain {
		for i := range s.members {
			m := &s.members[i]
			if m.rule == nil || m.rule.value == nil || c.find(at, m.name) != none {
				continue
			}
			mark := c.enter(m.name)
			if c.insert(at, m.name, m.rule.value) {
				c.repaired(Default, false)
				any = true
			}
			c.path = c.path[:mark]
		}
	}
	return any
}

// certain yields the rule and those that apply whenever it does, by $ref and
// allOf; at most maxVisits, so that references that fan out end.
func (r *rule) certain(yield func(*rule) bool) {
	left := maxVisits
	r.yieldCertain(yield, &left)
}

func (r *rule) yieldCertain(yield func(*rule) bool, left *int) bool {
	if *left--; *left < 0 || !yield(r) || r.ref != nil && !r.ref.yieldCertain(yield, left) {
		return false
	}
	for _, s := range r.all {
		if !s.yieldCertain(yield, left) {
			return false
		}
	}
	return true
}

// insert adds a member in its canonical place.
func (c *checker) insert(at int32, name, value []byte) bool {
	c.work -= len(value)
	m, err := c.parse(value)
	if err != nil {
		return false // it was parsed when the schema was compiled
	}
	from := int32(len(c.buf))
	c.buf = append(c.buf, name...)
	c.nodes[m].name = span{from, int32(len(c.buf))}
	object := c.nodes[at]
	object.count++
	before := none
	for i := object.first; i != none && compareUTF16(c.bytes(c.nodes[i].name), name) < 0; i = c.nodes[i].next {
		before = i
	}
	if before == none {
		c.nodes[m].next, object.first = object.first, m
		c.set(at, object)
		return true
	}
	c.nodes[m].next = c.nodes[before].next
	c.undo = append(c.undo, change{before, c.nodes[before]})
	c.nodes[before].next = m
	c.set(at, object)
	return true
}

// round reports numbers that the canonical form rounds. Integers must not be: an
// id that is off by one is another id.
func (c *checker) round(at int32) bool {
	n := &c.nodes[at]
	ok := true
	switch n.kind {
	case kindNumber:
		switch {
		case !c.inexact(n):
		case parseNum(c.bytes(n.text)).integer():
			c.report = true
			return c.problem(at, "is "+c.show(at)+", which has more digits than JSON numbers can carry", "an integer that a double holds exactly, as all up to 2^53 are, or a string")
		default:
			c.repaired(Rounded, true)
		}
	case kindArray:
		i := 0
		for m := n.first; m != none; m = c.nodes[m].next {
			mark := c.enterItem(i)
			ok = c.round(m) && ok
			c.path = c.path[:mark]
			i++
		}
	case kindObject:
		for m := n.first; m != none; m = c.nodes[m].next {
			mark := c.enter(c.bytes(c.nodes[m].name))
			ok = c.round(m) && ok
			c.path = c.path[:mark]
		}
	}
	return ok
}

// needsRound reports whether any number is not in canonical form as written.
func (c *checker) needsRound() bool {
	for i := range c.nodes {
		if n := &c.nodes[i]; n.kind == kindNumber && !n.raw {
			return true
		}
	}
	return false
}
