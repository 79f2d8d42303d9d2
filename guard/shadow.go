package guard

import (
	"fmt"

	"rein.example/rein/event"
)

// Shadowed returns a line for each permission that can never matter, because
// others that are as strict or stricter match every call that it matches. Such
// a permission does no harm, but its author believes that it does something.
func (p *Policy) Shadowed() []string {
	var out []string
	for i := range p.rules {
		if by := p.shadow(i); by != "" {
			out = append(out, fmt.Sprintf("permission %d, %q, never matters: %s always decides first", i+1, p.rules[i].text, by))
		}
	}
	return out
}

// shadow names what covers rule i, or returns nothing.
func (p *Policy) shadow(i int) string {
	r := &p.rules[i]
	// The three classes together are every call.
	by := map[event.Effect]string{}
	for j := range p.rules {
		s := &p.rules[j]
		if j == i || strictness(s.Verdict) < strictness(r.Verdict) {
			continue
		}
		if strictness(s.Verdict) == strictness(r.Verdict) && j > i && r.covers(s) {
			continue // the two are the same, and the first one counts
		}
		if r.Verdict == event.Allow && s.Verdict == event.Allow && s.broad() && !r.broad() {
			continue // of sensitive tools only r is a permission
		}
		if s.covers(r) {
			return fmt.Sprintf("%q", s.text)
		}
		if s.effect != "" && by[s.effect] == "" {
			by[s.effect] = s.text
		}
	}
	if r.effect == "" && len(by) == 3 {
		return fmt.Sprintf("one of %q, %q and %q", by[event.Read], by[event.Repeatable], by[event.Once])
	}
	return ""
}

// covers reports whether r matches every call that s matches.
func (r *rule) covers(s *rule) bool {
	switch {
	case r.effect != "":
		return r.effect == s.effect
	case s.effect != "":
		return r.name.text == "*"
	}
	return r.name.covers(&s.name)
}
