package schema

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// resolve finds the schema that a reference names.
func (c *compiler) resolve(ref reference) *rule {
	fragment, local := strings.CutPrefix(ref.target, "#")
	if !local || fragment != "" && fragment[0] != '/' {
		c.fail(ref.from, "$ref", "%q: only places in the same document (#/…) can be referred to: %w", ref.target, ErrUnsupported)
		return nil
	}
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		c.fail(ref.from, "$ref", "%q is not a reference", ref.target)
		return nil
	}
	at := c.root
	for token := range jsontext.Pointer(pointer).Tokens() {
		if at = c.step(at, token); at == none {
			c.fail(ref.from, "$ref", "there is no %s in the schema", pointer)
			return nil
		}
	}
	return c.rule(at, pointer)
}

func (c *compiler) step(at int32, token string) int32 {
	n := &c.tree.nodes[at]
	i := 0
	for m := n.first; m != none; m = c.tree.nodes[m].next {
		if n.kind == kindObject && string(c.tree.bytes(c.tree.nodes[m].name)) == token {
			return m
		}
		if n.kind == kindArray && strconv.Itoa(i) == token {
			return m
		}
		i++
	}
	return none
}

// acyclic refuses schemas that apply themselves to the same value again.
func acyclic(rules []*rule) error {
	const (
		open = 1
		done = 2
	)
	state := map[*rule]int{}
	var visit func(*rule) error
	visit = func(r *rule) (err error) {
		if state[r] == open {
			return fmt.Errorf("schema at %s refers to itself without a member or item between", r.pointer+"/")
		}
		if state[r] == done {
			return nil
		}
		state[r] = open
		r.each(func(s *rule) {
			if err == nil {
				err = visit(s)
			}
		})
		state[r] = done
		return err
	}
	for _, r := range rules {
		if err := visit(r); err != nil {
			return err
		}
	}
	return nil
}

// accepts returns the set of types that values of the rule can have, by what is
// known of its subschemas.
func (r *rule) accepts() kind { return r.combined((*rule).known) }

// anything is the set of all types.
const anything = anyKind | kindInteger

// combined returns the set of types that the rule leaves of those that of gives
// for the subschemas of $ref, allOf, anyOf and oneOf.
func (r *rule) combined(of func(*rule) kind) kind {
	if r.never {
		return 0
	}
	set := anything
	if r.types != 0 {
		set = r.types
		if set&kindNumber != 0 {
			set |= kindInteger
		}
	}
	for _, list := range [][]constant{r.enum, r.only} {
		var e kind
		for i := range list {
			e |= list[i].kind
			if list[i].kind == kindNumber {
				e |= kindInteger
			}
		}
		if list != nil {
			set &= e
		}
	}
	if r.ref != nil {
		set &= of(r.ref)
	}
	for _, s := range r.all {
		set &= of(s)
	}
	for _, list := range [][]*rule{r.any, r.one} {
		var u kind
		for _, s := range list {
			u |= of(s)
		}
		if len(list) > 0 {
			set &= u
		}
	}
	return set
}

// known is what is known of the rule's types so far: anything, at first.
func (r *rule) known() kind {
	if r.takes == 0 && !r.never {
		return anything
	}
	return r.takes
}

// checkDefaults keeps the defaults that validate.
func (c *compiler) checkDefaults(s *Schema) {
	for _, p := range c.defaults {
		v := c.tree.canonical(nil, p.at)
		sub := Schema{root: p.rule}
		if c.exactNumbers(p.at) && len(sub.Validate(v)) == 0 {
			p.rule.value = slices.Clone(v)
			s.defaults = true
		}
	}
}

// exactNumbers reports whether the canonical form of a value is the same value.
func (c *compiler) exactNumbers(at int32) bool {
	n := &c.tree.nodes[at]
	if n.kind == kindNumber {
		return !c.tree.inexact(n)
	}
	for i := n.first; i != none; i = c.tree.nodes[i].next {
		if !c.exactNumbers(i) {
			return false
		}
	}
	return true
}
