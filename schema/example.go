package schema

import (
	"iter"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// The limits of an example. A schema that needs more has none.
const (
	maxExample       = 400     // bytes: what a hint can hold beside the schema
	maxExampleDepth  = 4       // lists and objects in the outermost one
	maxExampleVisits = 256     // subschemas that are looked at
	maxExampleWork   = 100_000 // as of maxWork
)

// Example returns a small object that validates, in canonical form and of at
// most 400 bytes; nil where none was found, and where the schema is not one of
// objects. It is for showing a model the form of a call.
//
// Only required members are in it. A value is, by what the schema has: its
// const, its default, the first of its examples or of its enum, the first of its
// alternatives; else "<NAME>" for a string of the member NAME, the minimum or 1
// for a number, false, the fewest items, an object of the same kind. The
// placeholder of strings is none that could pass for a real value: small models
// copy what they are shown.
//
// Patterns and lengths of strings are not met on purpose; where "<NAME>" does
// not happen to fit, there is no example.
func (s *Schema) Example() jsontext.Value {
	e := exampler{checker: newChecker(), visits: maxExampleVisits}
	e.work = maxExampleWork
	v := e.value(s.root, "value", 0)
	if len(v) == 0 || v[0] != '{' {
		return nil
	}
	return v
}

// exampler looks for values that validate. What it tries is held against the
// schema by the checker, so a guess here can be simple.
type exampler struct {
	*checker
	visits int
}

// value returns the first candidate that is right by the rule, in canonical
// form, or nil. name is that of the member that it is for.
func (e *exampler) value(r *rule, name string, depth int) []byte {
	if depth > maxExampleDepth {
		return nil
	}
	rules := e.certain(r)
	for v := range e.candidates(rules, name, depth) {
		if v = e.right(v, r); v != nil {
			return v
		}
	}
	return nil
}

// right returns the value in canonical form if it validates, else nil.
func (e *exampler) right(v []byte, r *rule) []byte {
	if v == nil || len(v) > maxExample || e.work <= 0 {
		return nil
	}
	e.nodes, e.buf, e.order = e.nodes[:0], e.buf[:0], e.order[:0]
	at, err := e.parse(v)
	if err != nil {
		return nil
	}
	canonical := e.canonical(nil, at)
	// Canonical numbers may be rounded: what is shown must validate.
	if e.nodes, e.buf = e.nodes[:0], e.buf[:0]; len(canonical) > maxExample {
		return nil
	}
	if at, err = e.parse(canonical); err != nil || !e.valid(at, r) {
		return nil
	}
	return canonical
}

// certain returns the rules that apply whenever r does, r first.
func (e *exampler) certain(r *rule) []*rule {
	var out []*rule
	for s := range r.certain {
		if e.visits--; e.visits < 0 {
			break
		}
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// candidates yields values to try for rules that all apply, the best first: what
// the schema's author wrote, then what the alternatives come to, then what the
// types do.
func (e *exampler) candidates(rules []*rule, name string, depth int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		_ = written(rules, yield) && e.alternatives(rules, name, depth, yield) && e.typed(rules, name, depth, yield)
	}
}

// written yields the values that the schema has itself. Like what follows it
// reports whether more are wanted.
func written(rules []*rule, yield func([]byte) bool) bool {
	for _, of := range []func(*rule) []byte{
		func(r *rule) []byte { return firstOf(r.only) },
		func(r *rule) []byte { return r.value },
		func(r *rule) []byte { return r.sample },
		func(r *rule) []byte { return firstOf(r.enum) },
	} {
		for _, r := range rules {
			if v := of(r); v != nil && !yield(v) {
				return false
			}
		}
	}
	return true
}

func firstOf(list []constant) []byte {
	if len(list) == 0 {
		return nil
	}
	return list[0].value
}

// alternatives yields the values of the schemas of anyOf and oneOf, null last.
func (e *exampler) alternatives(rules []*rule, name string, depth int, yield func([]byte) bool) bool {
	var null []byte
	for s := range branches(rules) {
		if e.visits--; e.visits < 0 {
			return true
		}
		v := e.value(s, name, depth)
		switch {
		case string(v) == "null":
			null = v
		case v != nil && !yield(v):
			return false
		}
	}
	return null == nil || yield(null)
}

// branches yields the schemas of anyOf and oneOf, in order.
func branches(rules []*rule) iter.Seq[*rule] {
	return func(yield func(*rule) bool) {
		for _, r := range rules {
			for _, list := range [][]*rule{r.any, r.one} {
				for _, s := range list {
					if !yield(s) {
						return
					}
				}
			}
		}
	}
}

// typed yields a value or more of each type that the rules leave.
func (e *exampler) typed(rules []*rule, name string, depth int, yield func([]byte) bool) bool {
	says := anything
	for _, r := range rules {
		says &= r.says
	}
	has := func(k kind) bool { return says&k != 0 }
	if depth == 0 {
		return !has(kindObject) || e.objects(rules, depth, yield)
	}
	return !(has(kindString) && !yield(placeholder(name)) ||
		has(kindNumber|kindInteger) && !numbers(rules, yield) ||
		has(kindBool) && !yield([]byte("false")) ||
		has(kindArray) && !yield(e.array(rules, name, depth)) ||
		has(kindObject) && !e.objects(rules, depth, yield) ||
		has(kindNull) && !yield([]byte("null")))
}

func placeholder(name string) []byte {
	v, err := jsontext.AppendQuote(nil, "<"+name+">")
	if err != nil {
		return nil // a name is valid UTF-8, or it would not have been parsed
	}
	return v
}

// numbers yields the minimum, or 1 where there is none, then what may do where
// that does not.
func numbers(rules []*rule, yield func([]byte) bool) bool {
	for _, r := range rules {
		if r.min != nil && !yield([]byte(r.min.String())) {
			return false
		}
	}
	if !yield([]byte("1")) || !yield([]byte("0")) {
		return false
	}
	for _, r := range rules {
		for _, n := range []*num{r.max, r.multiple} {
			if n != nil && !yield([]byte(n.String())) {
				return false
			}
		}
	}
	return true
}

// array returns a list of as many items as there must be.
func (e *exampler) array(rules []*rule, name string, depth int) []byte {
	var least int64
	for _, r := range rules {
		least = max(least, r.minItems)
	}
	v := []byte{'['}
	for i := 0; int64(i) < least; i++ {
		item := e.inner(rules, func(r *rule) *rule { return r.item(i) }, name, depth+1)
		if item == nil || len(v)+len(item) > maxExample {
			return nil
		}
		if i > 0 {
			v = append(v, ',')
		}
		v = append(v, item...)
	}
	return append(v, ']')
}

// objects yields the object of what the rules ask for, then with what each of
// the alternatives asks for.
func (e *exampler) objects(rules []*rule, depth int, yield func([]byte) bool) bool {
	if !yield(e.object(rules, depth)) {
		return false
	}
	for s := range branches(rules) {
		if e.visits < 0 {
			return true
		}
		if more := slices.Concat(rules, e.certain(s)); !yield(e.object(more, depth)) {
			return false
		}
	}
	return true
}

// object returns an object of the required members.
func (e *exampler) object(rules []*rule, depth int) []byte {
	v := []byte{'{'}
	var names []string
	for _, r := range rules {
		for i := range r.members {
			name := string(r.members[i].name)
			if !r.members[i].required || slices.Contains(names, name) {
				continue
			}
			names = append(names, name)
			member := e.inner(rules, func(r *rule) *rule { return r.property(name) }, name, depth+1)
			if member == nil || len(v)+len(member) > maxExample {
				return nil
			}
			if len(v) > 1 {
				v = append(v, ',')
			}
			v, _ = jsontext.AppendQuote(v, name)
			v = append(append(v, ':'), member...)
		}
	}
	return append(v, '}')
}

// inner returns a value for a member or an item: by the first of the rules that
// speaks of it, or by none.
func (e *exampler) inner(rules []*rule, of func(*rule) *rule, name string, depth int) []byte {
	if e.visits--; e.visits < 0 {
		return nil
	}
	for _, r := range rules {
		if s := of(r); s != nil {
			return e.value(s, name, depth)
		}
	}
	return placeholder(name)
}
