package schema

import (
	"cmp"
	"slices"
)

// walk goes through the rules that apply to the value of a place, and takes what
// is wanted out of each. Compile has seen to it that rules don't come round to
// themselves, but not that they are few.
type walk struct {
	want want
	name string // of the member
	item int    // its index
	left int    // of maxVisits

	// What was found: the rules of the place asked for, of which one is kept
	// without memory of its own, or the answer.
	first     *rule
	firstMust bool
	must, may []*rule
	declared  bool
	names     []string
}

type want uint8

const (
	wantMember want = iota
	wantItem
	wantDeclared
	wantNames
)

// node visits the rules of a place and those that they refer to.
func (w *walk) node(n Node) {
	switch {
	case n.rule == nil:
	case n.more == nil:
		w.rule(n.rule, true)
	default:
		w.rules(n.more.must, true)
		w.rules(n.more.may, false)
	}
}

// rule visits a rule, then those of $ref and allOf, which must hold as well,
// then those of which some may hold.
func (w *walk) rule(r *rule, must bool) {
	if r == nil || w.left <= 0 {
		return
	}
	w.left--
	w.visit(r, must)
	w.rule(r.ref, must)
	w.rules(r.all, must)
	w.rules(r.any, must && len(r.any) == 1)
	w.rules(r.one, must && len(r.one) == 1)
	w.rule(r.then, false)
	w.rule(r.els, false)
	for i := range r.dependent {
		w.rule(r.dependent[i].rule, false)
	}
}

func (w *walk) rules(list []*rule, must bool) {
	for _, s := range list {
		if w.left <= 0 {
			return
		}
		w.rule(s, must)
	}
}

// visit takes what is wanted out of one rule.
func (w *walk) visit(r *rule, must bool) {
	switch w.want {
	case wantMember:
		w.member(r, must)
	case wantItem:
		w.add(r.item(w.item), must)
	case wantDeclared:
		w.declared = w.declared || r.property(w.name) != nil
	case wantNames:
		w.list(r)
	}
}

// property returns what the rule says of a name under properties, or nil.
func (r *rule) property(name string) *rule {
	if m := r.member([]byte(name)); m != nil && m.rule != nil && !m.rule.never {
		return m.rule
	}
	return nil
}

func (w *walk) member(r *rule, must bool) {
	m := r.member([]byte(w.name))
	found := m != nil && m.rule != nil
	if found {
		w.add(m.rule, must)
	}
	for i := range r.patterns {
		if len(w.name) <= maxMatched && r.patterns[i].pattern.MatchString(w.name) {
			found = true
			w.add(r.patterns[i].rule, must)
		}
	}
	if !found {
		w.add(r.additional, must)
	}
}

// list adds the rule's own names, in the order of the text.
func (w *walk) list(r *rule) {
	members := slices.Clone(r.members)
	slices.SortFunc(members, func(a, b member) int { return cmp.Compare(a.at, b.at) })
	for i := range members {
		if len(w.names) == maxNames {
			return
		}
		name := string(members[i].name)
		if r.property(name) != nil && !slices.Contains(w.names, name) {
			w.names = append(w.names, name)
		}
	}
}

// add makes r one of the rules of the place asked for.
func (w *walk) add(r *rule, must bool) {
	switch {
	case r == nil || r.never:
		return
	case w.first == nil:
		w.first, w.firstMust = r, must
		return
	case w.must == nil && w.may == nil:
		if r == w.first {
			w.firstMust = w.firstMust || must
			return
		}
		w.put(w.first, w.firstMust)
	}
	w.put(r, must)
}

func (w *walk) put(r *rule, must bool) {
	list := &w.may
	if must {
		list = &w.must
	}
	if !slices.Contains(*list, r) {
		*list = append(*list, r)
	}
}

// place returns what was found as a place.
func (w *walk) place() Node {
	switch {
	case w.first == nil:
		return Node{}
	case w.must == nil && w.may == nil:
		return Node{rule: w.first}
	}
	return Node{rule: w.first, more: &several{must: w.must, may: w.may}}
}

// settle works out the types that rules declare: those that remain of the
// subschemas' and, where no type is named, those of the values that the keywords
// are about. Subschemas mostly come later in the list, so one round is mostly
// enough; what a few don't reach counts as not declared.
func settle(rules []*rule) {
	for _, r := range rules {
		r.says = anything
	}
	for range 8 {
		changed := false
		for _, r := range slices.Backward(rules) {
			says := r.combined(func(s *rule) kind { return s.says })
			if says == anything {
				says = r.implied()
			}
			changed = changed || says != r.says
			r.says = says
		}
		if !changed {
			return
		}
	}
}

// implied returns the types of the values that the rule's keywords are about,
// or all if it has none.
func (r *rule) implied() kind {
	var set kind
	if len(r.members)+len(r.patterns)+len(r.dependent) > 0 || r.additional != nil || r.names != nil ||
		r.minProperties >= 0 || r.maxProperties >= 0 {
		set |= kindObject
	}
	if len(r.prefix) > 0 || r.items != nil || r.contains != nil || r.unique || r.minItems >= 0 || r.maxItems >= 0 {
		set |= kindArray
	}
	if r.pattern != nil || r.minLength >= 0 || r.maxLength >= 0 {
		set |= kindString
	}
	if r.min != nil || r.max != nil || r.above != nil || r.below != nil || r.multiple != nil {
		set |= kindNumber | kindInteger
	}
	if set == 0 {
		return anything
	}
	return set
}
