// Package schema answers: what arguments are right?
//
// [Compile] reads a JSON Schema (2020-12, as tools use it); [Schema.Check] holds
// the arguments that a model wrote against it. Models miss a schema in a few
// typical ways that leave no doubt about what was meant: "5" for 5, a single
// value for a list of one, the whole object inside a string. Check makes these
// conversions where a value does not validate, keeps them only where the result
// does, and reports each; for anything else it says what is wrong, where, and
// what would be right. The result is canonical JSON (RFC 8785), so that equal
// arguments have equal bytes and hashes.
//
// [For] makes a schema from a Go type; [Canonical] is the canonical form alone.
//
// The package is pure and deterministic: the same schema and text give the same
// result, conversions and problems in the same order.
package schema

import (
	"bytes"
	"fmt"
	"slices"
)

// A Schema is a compiled JSON Schema. It is safe for concurrent use.
type Schema struct {
	root *rule
	// defaults: some member has one.
	defaults bool
}

// Repair is a change that made arguments valid.
type Repair struct {
	// Kind is one of the words below.
	Kind string
	// Where is a JSON pointer into the arguments as they will run; empty for
	// all of them.
	Where string
	// Lossy: the change lost something that was written.
	Lossy bool
}

// The kinds of repairs.
const (
	// StringToNumber: "5" where a number is declared.
	StringToNumber = "string_to_number"
	// StringToBoolean: "true" where a boolean is declared.
	StringToBoolean = "string_to_boolean"
	// NumberToString: 1234 where a string is declared; the text as written.
	NumberToString = "number_to_string"
	// ValueToList: a lone value where a list is declared, but no string that
	// begins like a list.
	ValueToList = "value_to_list"
	// JSONString: a string that holds the declared object or list as JSON.
	JSONString = "json_string"
	// NoArguments: nothing, "" or null for an empty object.
	NoArguments = "no_arguments"
	// Unwrapped: the object stood under one spurious key.
	Unwrapped = "unwrapped"
	// Default: a missing member got the schema's default.
	Default = "default"
	// Rounded: a fraction with more digits than JSON numbers carry. The only
	// lossy one.
	Rounded = "rounded"
)

// Problem says what is wrong with one value.
type Problem struct {
	// Pointer is a JSON pointer to the value, or to the member that is missing;
	// empty for the arguments as a whole.
	Pointer string
	// Message says what is wrong, such as `is the string "abc"`.
	Message string
	// Want says what would be right, such as "an integer of at least 1"; empty
	// where Message says it all.
	Want string
}

// String returns the problem as one line for the model.
func (p Problem) String() string {
	where := p.Pointer
	if where == "" {
		where = "the value"
	}
	s := where + " " + p.Message
	if p.Want != "" {
		s += "; wanted: " + p.Want
	}
	return s
}

// Text returns problems as lines for the model, each after "- ".
func Text(problems []Problem) string {
	var b []byte
	for i, p := range problems {
		if i > 0 {
			b = append(b, '\n')
		}
		b = append(append(b, "- "...), p.String()...)
	}
	return string(b)
}

// Check holds args, a JSON text as a model wrote it, against the schema. Without
// problems it returns the arguments in canonical form, with the safe
// conversions and defaults that were applied; else canonical is nil and the
// problems are all there are (at most [MaxProblems]), in document order.
//
// A value is converted only where it does not validate and its type is not among
// the declared ones, and only if the result validates. Texts beyond [MaxBytes]
// or [MaxDepth], duplicate names, invalid UTF-8, text after the value, integers
// that JSON numbers cannot carry exactly, and texts that take too long to check
// are problems.
func (s *Schema) Check(args []byte) (canonical []byte, repairs []Repair, problems []Problem) {
	return s.CheckIn(new(Scratch), args)
}

// CheckIn is Check with memory that is kept from call to call.
func (s *Schema) CheckIn(memory *Scratch, args []byte) (canonical []byte, repairs []Repair, problems []Problem) {
	c := memory.checker()
	root, ok := c.read(args, true)
	if !ok {
		return nil, nil, c.take()
	}
	if !c.valid(root, s.root) && !c.fixRoot(root, s.root) {
		c.explain(root, s.root)
		return nil, nil, c.take()
	}
	if s.defaults {
		c.applyDefaults(root, s.root)
	}
	if c.needsRound() {
		c.track = true
		if !c.round(root) {
			return nil, nil, c.take()
		}
	}
	canonical = c.tree.canonical(make([]byte, 0, len(args)+16), root)
	if len(c.repairs) == 0 {
		return canonical, nil, nil
	}
	// What runs is the text as it is now: hold that against the schema.
	if problems = s.Validate(canonical); problems != nil {
		return nil, nil, problems
	}
	repairs = slices.Clone(c.repairs)
	return canonical, repairs, nil
}

// Validate returns what is wrong with a JSON text as it stands: no conversions,
// no defaults, numbers of any length taken exactly.
func (s *Schema) Validate(text []byte) []Problem {
	c := newChecker()
	root, ok := c.read(text, false)
	if !ok {
		return c.take()
	}
	if c.valid(root, s.root) {
		return nil
	}
	c.explain(root, s.root)
	return c.take()
}

// MaxProblems is the most problems that are listed; one more says how many were
// left out.
const MaxProblems = 50

// maxWork bounds the rules that are tried, and the bytes that patterns and
// comparisons read, in one check.
const maxWork = 10_000_000

// A checker is the working memory of one check.
type checker struct {
	tree
	// work is what is left of maxWork.
	work int
	// report collects problems; without it the first one ends the check. track
	// keeps path right, which only problems and repairs need.
	report   bool
	track    bool
	problems []found
	path     []byte
	repairs  []Repair
	undo     []change
	scratch  []byte

	fewNodes   [8]node
	fewBytes   [192]byte
	fewMembers [8]int32
}

// Scratch is memory for checks, one after the other. The zero value is ready.
// It is not safe for concurrent use, and nothing that a check returns is in it.
type Scratch struct{ c checker }

// keepNodes is how much memory is kept: what one unusual call needed is given
// back.
const keepNodes = 1024

// checker returns a checker for the next check.
func (m *Scratch) checker() *checker {
	c := &m.c
	c.work, c.report, c.track = maxWork, false, false
	c.problems, c.repairs = nil, c.repairs[:0]
	c.path, c.undo, c.scratch = c.path[:0], c.undo[:0], c.scratch[:0]
	if c.nodes == nil || cap(c.nodes) > keepNodes || cap(c.buf) > 64*keepNodes {
		c.nodes, c.buf, c.order = c.fewNodes[:0], c.fewBytes[:0], c.fewMembers[:0]
	}
	c.nodes, c.buf, c.order = c.nodes[:0], c.buf[:0], c.order[:0]
	return c
}

// found is a problem with its place in the document.
type found struct {
	at int32
	Problem
}

// newChecker returns memory that small arguments fit into.
func newChecker() *checker {
	c := &checker{work: maxWork}
	c.nodes, c.buf, c.order = c.fewNodes[:0], c.fewBytes[:0], c.fewMembers[:0]
	return c
}

// read parses the text. With lenient, no text at all is an empty object.
func (c *checker) read(text []byte, lenient bool) (int32, bool) {
	trimmed := bytes.TrimLeft(text, " \t\r\n")
	if lenient && len(trimmed) == 0 {
		c.repairs = append(c.repairs, Repair{Kind: NoArguments})
		text = emptyObject
	}
	root, err := c.parse(text)
	if err != nil {
		e := err.(*TextError) // parse returns no other
		p := Problem{Pointer: e.Pointer, Message: "cannot be read: " + e.Error(), Want: "one JSON value"}
		c.problems = append(c.problems, found{Problem: p})
		return none, false
	}
	return root, true
}

var emptyObject = []byte("{}")

// explain checks again and collects every problem.
func (c *checker) explain(root int32, r *rule) {
	c.report, c.track = true, true
	c.path = c.path[:0]
	if c.work > 0 {
		c.work = maxWork
		c.check(root, r)
	}
	if c.work <= 0 {
		c.problems = append(c.problems[:0], found{Problem: Problem{Message: "takes too long to check", Want: "a smaller or simpler value"}})
	}
}

// take returns the collected problems in document order.
func (c *checker) take() []Problem {
	slices.SortStableFunc(c.problems, func(a, b found) int { return int(a.at) - int(b.at) })
	out := make([]Problem, 0, min(len(c.problems), MaxProblems+1))
	for i, f := range c.problems {
		if i == MaxProblems {
			out = append(out, Problem{Message: fmt.Sprintf("has %d more problems", len(c.problems)-i)})
			break
		}
		if !slices.Contains(out, f.Problem) {
			out = append(out, f.Problem)
		}
	}
	return out
}

// Object reports whether the schema asks for an object, by its type or through
// $ref and allOf.
func (s *Schema) Object() bool {
	for r := range s.root.certain {
		if r.types == kindObject {
			return true
		}
	}
	return false
}

// Has reports whether the schema has a member of that name.
func (s *Schema) Has(name string) bool { return s.root.knows([]byte(name), 0) }
