package schema

import (
	"regexp"
	"slices"
)

// A rule is a compiled schema or subschema.
type rule struct {
	// pointer is where it stands in the schema.
	pointer string
	// never: the schema false.
	never bool
	// types is the set of declared types; 0 is any.
	types kind
	// takes is the set of types that can validate at all, from types, $ref,
	// allOf, anyOf and oneOf together. For choosing conversions, not for
	// validation.
	takes kind
	// says is the set of types that are declared, for [Node].
	says kind
	enum []constant // nil for none
	only []constant // the const; nil for none

	min, max, above, below, multiple *num

	// -1 is none.
	minLength, maxLength int64
	pattern              *regexp.Regexp

	prefix                   []*rule
	items                    *rule // nil for anything
	minItems, maxItems       int64
	unique                   bool
	contains                 *rule
	minContains, maxContains int64

	members                      []member // in canonical order
	additional                   *rule    // nil for anything
	patterns                     []patternRule
	names                        *rule
	minProperties, maxProperties int64
	dependent                    []dependency

	ref                 *rule
	all, any, one       []*rule
	not, iff, then, els *rule
	value               []byte // the default, if it validates; nil for none
	sample              []byte // the first of examples, if it is short; nil for none
}

// member is what a schema says of a name: in properties, in required, or both.
type member struct {
	name     []byte
	rule     *rule // nil if not in properties
	required bool
	at       int32 // where it stands in properties: grows in document order
}

type patternRule struct {
	pattern *regexp.Regexp
	rule    *rule
}

// dependency is what the presence of a member asks for.
type dependency struct {
	name []byte
	need [][]byte // dependentRequired
	rule *rule    // dependentSchemas
}

// constant is a value of an enum.
type constant struct {
	kind  kind
	text  []byte // of a string, decoded
	num   num
	exact []byte // of a list or object, as tree.exact writes it
	bool  bool
	show  string // for messages
	value []byte // canonical, if it is short enough for an example; else nil
}

func newRule(pointer string) *rule {
	return &rule{
		pointer: pointer, minLength: -1, maxLength: -1, minItems: -1, maxItems: -1,
		minContains: 1, maxContains: -1, minProperties: -1, maxProperties: -1,
	}
}

// member returns what the rule says of a name, or nil. Rules have few members.
func (r *rule) member(name []byte) *member {
	lo, hi := 0, len(r.members)
	for lo < hi {
		m := (lo + hi) / 2
		switch c := compareUTF16(r.members[m].name, name); {
		case c == 0:
			return &r.members[m]
		case c < 0:
			lo = m + 1
		default:
			hi = m
		}
	}
	return nil
}

// mergeMembers sorts the members and makes one of the two entries that a name
// in properties and in required has.
func (r *rule) mergeMembers() {
	slices.SortStableFunc(r.members, func(a, b member) int { return compareUTF16(a.name, b.name) })
	out := r.members[:0]
	for _, m := range r.members {
		if n := len(out); n > 0 && string(out[n-1].name) == string(m.name) {
			last := &out[n-1]
			last.required = last.required || m.required
			if last.rule == nil {
				last.rule, last.at = m.rule, m.at
			}
			continue
		}
		out = append(out, m)
	}
	r.members = out
}

// each calls f for the subschemas that apply to the same value.
func (r *rule) each(f func(*rule)) {
	for _, list := range [][]*rule{{r.ref, r.not, r.iff, r.then, r.els}, r.all, r.any, r.one} {
		for _, s := range list {
			if s != nil {
				f(s)
			}
		}
	}
	for i := range r.dependent {
		if s := r.dependent[i].rule; s != nil {
			f(s)
		}
	}
}
