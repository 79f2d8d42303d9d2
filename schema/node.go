package schema

// Kinds is a set of JSON types.
type Kinds uint8

// The types of [Kinds].
const (
	String Kinds = 1 << iota
	// Number is any number. Where it is set, Integer is not.
	Number
	// Integer is a number without a fraction.
	Integer
	Boolean
	Array
	Object
	Null
)

// Has reports whether at least one of some is in the set.
func (k Kinds) Has(some Kinds) bool { return k&some != 0 }

// The limits of a question to a [Node]. What lies beyond counts as not declared,
// so that a schema whose references fan out costs no more than any other.
const (
	maxVisits = 256 // subschemas that are looked at
	maxNames  = 256 // of Names
	// maxMatched is the longest name that patternProperties are held against, in
	// bytes.
	maxMatched = 256
)

// A Node is a place in a schema: what is declared of the value there. It is for
// readers that must know what a raw text is meant to be before there is a value
// to check. The zero Node is a place of which nothing is declared.
//
// References and allOf are followed. Of anyOf, oneOf, then, else and
// dependentSchemas all branches are, as if each could apply: a Node says what
// may stand there, and [Schema.Check] whether it is right. not and if declare
// nothing.
//
// A Node is a small value. Its methods may be called at once, and don't
// allocate unless several subschemas declare the same place.
type Node struct {
	rule *rule // nil for nothing
	// more is set where several rules speak of the place, the first included.
	more *several
}

// several are the rules of one place.
type several struct {
	must []*rule // all of them apply
	may  []*rule // each of them could
}

// Root returns the place of the whole value. That of a nil Schema is the zero
// Node.
func (s *Schema) Root() Node {
	if s == nil {
		return Node{}
	}
	return Node{rule: s.root}
}

// Member returns the place of a member of that name: by properties and
// patternProperties, else by a schema in additionalProperties. It is the zero
// Node where none of them declares the name.
func (n Node) Member(name string) Node {
	w := walk{want: wantMember, name: name, left: maxVisits}
	w.node(n)
	return w.place()
}

// Item returns the place of the i-th item, counted from 0: by prefixItems and
// items. It is the zero Node for a negative i.
func (n Node) Item(i int) Node {
	if i < 0 {
		return Node{}
	}
	w := walk{want: wantItem, item: i, left: maxVisits}
	w.node(n)
	return w.place()
}

// Declared reports whether name is under properties.
func (n Node) Declared(name string) bool {
	w := walk{want: wantDeclared, name: name, left: maxVisits}
	w.node(n)
	return w.declared
}

// Names returns the names under properties, each once, in the order of the
// schema's text; at most 256 of them.
func (n Node) Names() []string {
	w := walk{want: wantNames, left: maxVisits}
	w.node(n)
	return w.names
}

// Kinds returns the types that are declared there: by type, or by the values of
// enum and const. Where no type is named, the keywords that are for values of
// one type count as naming it: pattern means a string, properties an object. 0
// says that nothing is declared, or that nothing can be right.
func (n Node) Kinds() Kinds {
	if n.rule == nil {
		return 0
	}
	if n.more == nil {
		return n.rule.says.exported()
	}
	set := anything
	for _, r := range n.more.must {
		set &= r.says
	}
	var union kind
	for _, r := range n.more.may {
		union |= r.says
	}
	if len(n.more.may) > 0 {
		set &= union
	}
	return set.exported()
}

// exported returns the set as users see it.
func (k kind) exported() Kinds {
	if k == anything {
		return 0
	}
	var out Kinds
	for _, t := range exportedKinds {
		if k&t.in != 0 {
			out |= t.out
		}
	}
	if out.Has(Number) {
		out &^= Integer
	}
	return out
}

var exportedKinds = [...]struct {
	in  kind
	out Kinds
}{
	{kindString, String}, {kindNumber, Number}, {kindInteger, Integer}, {kindBool, Boolean},
	{kindArray, Array}, {kindObject, Object}, {kindNull, Null},
}
