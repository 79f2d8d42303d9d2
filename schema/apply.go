package schema

// checkOthers holds the value against the subschemas that apply to it as a whole.
func (c *checker) checkOthers(at int32, r *rule) bool {
	ok := r.ref == nil || c.check(at, r.ref)
	for _, s := range r.all {
		if ok || c.report {
			ok = c.check(at, s) && ok
		}
	}
	if len(r.any) > 0 && (ok || c.report) {
		ok = c.checkAny(at, r, r.any) && ok
	}
	if len(r.one) > 0 && (ok || c.report) {
		ok = c.checkOne(at, r) && ok
	}
	if r.not != nil && (ok || c.report) && c.quiet(at, r.not) {
		ok = c.problem(at, "is "+c.show(at)+", which is not allowed", c.want(r))
	}
	if r.iff != nil && (ok || c.report) {
		then := r.els
		if c.quiet(at, r.iff) {
			then = r.then
		}
		if then != nil {
			ok = c.check(at, then) && ok
		}
	}
	return ok
}

// quiet checks without recording problems.
func (c *checker) quiet(at int32, r *rule) bool {
	report := c.report
	c.report = false
	ok := c.check(at, r)
	c.report = report
	return ok
}

func (c *checker) checkAny(at int32, r *rule, list []*rule) bool {
	for _, s := range list {
		if c.quiet(at, s) {
			return true
		}
	}
	if !c.report {
		return false
	}
	// If only one of them is of the value's type, that one was meant.
	var meant *rule
	for _, s := range list {
		if c.isType(&c.nodes[at], s.takes) {
			if meant != nil {
				return c.problem(at, "is "+c.show(at)+", which fits none of the alternatives", c.want(r))
			}
			meant = s
		}
	}
	if meant == nil || meant.takes == anyKind|kindInteger {
		return c.problem(at, "is "+c.show(at), c.want(r))
	}
	return c.check(at, meant)
}

func (c *checker) checkOne(at int32, r *rule) bool {
	count := 0
	for _, s := range r.one {
		if c.quiet(at, s) {
			count++
		}
	}
	switch count {
	case 1:
		return true
	case 0:
		return c.checkAny(at, r, r.one)
	default:
		return c.problem(at, "fits more than one of the alternatives", "a value that fits exactly one of them")
	}
}
