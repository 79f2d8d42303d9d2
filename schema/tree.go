package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// The sizes that this package reads. Beyond them a text is refused, not cut.
const (
	// MaxBytes is the largest JSON text, in bytes.
	MaxBytes = 4 << 20
	// MaxDepth is the deepest nesting of lists and objects.
	MaxDepth = 64
	// maxNumber is the longest number, in characters.
	maxNumber = 1000
)

// A tree is one parsed JSON text, as a list of nodes without pointers. Members
// of an object are linked in the order of their names as UTF-16 (the canonical
// order); document order is the order of the indices.
type tree struct {
	buf   []byte // every text that was parsed, and decoded strings
	nodes []node
	dec   jsontext.Decoder
	in    bytes.Buffer
	order []int32 // members of the objects that are being parsed
}

// none is the index of no node.
const none int32 = -1

// A node is one JSON value.
type node struct {
	kind kind
	// raw: the text as written is already canonical (numbers), or has no
	// escapes (strings).
	raw bool
	// rawName is the same for the member's name.
	rawName bool
	// name is the decoded name of a member of an object.
	name span
	// text is a number as written or a string decoded.
	text span
	// first is the first item or member, next the next one of the parent.
	first, next int32
	// count is the number of items or members.
	count int32
}

type span struct{ from, to int32 }

// kind is a JSON type, as a bit so that a set of them fits in a byte.
type kind uint8

const (
	kindNull kind = 1 << iota
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
	// kindInteger is in sets only: a number without a fraction.
	kindInteger
	anyKind = kindNull | kindBool | kindNumber | kindString | kindArray | kindObject
)

func (t *tree) bytes(s span) []byte { return t.buf[s.from:s.to] }

// isTrue says which of the two a boolean is.
func (n *node) isTrue() bool { return n.raw }

// parse adds the one JSON value in src and returns its index. An error is a
// [*TextError]; what was added by then is of no use.
func (t *tree) parse(src []byte) (int32, error) {
	if len(src) > MaxBytes {
		return none, &TextError{Message: fmt.Sprintf("the text has %d bytes; at most %d are taken", len(src), MaxBytes)}
	}
	if len(t.buf)+len(src) > 1<<30 {
		return none, &TextError{Message: "the text holds too much text in strings"}
	}
	base := int32(len(t.buf))
	t.buf = append(t.buf, src...)
	text := t.buf[base:len(t.buf):len(t.buf)]
	t.in = *bytes.NewBuffer(text)
	t.dec.Reset(&t.in, uniqueElsewhere)
	p := parser{tree: t, src: text, base: base}
	n, err := p.value(0)
	if err == nil {
		if _, end := t.dec.ReadToken(); end != io.EOF {
			err = &TextError{Offset: t.dec.InputOffset(), Message: "there is more text after the JSON value"}
		}
	}
	if err != nil {
		t.order = t.order[:0]
		return none, p.textError(err)
	}
	return n, nil
}

// uniqueElsewhere: object finds duplicate names without the memory that the
// decoder would need.
var uniqueElsewhere = jsontext.AllowDuplicateNames(true)

type parser struct {
	*tree
	src  []byte
	base int32
}

func (p *parser) value(depth int) (int32, error) {
	switch p.dec.PeekKind() {
	case '{':
		return p.object(depth + 1)
	case '[':
		return p.array(depth + 1)
	}
	v, err := p.dec.ReadValue()
	if err != nil {
		return none, err
	}
	at := p.add(node{first: none, next: none})
	n := &p.nodes[at]
	switch v.Kind() {
	case 'n':
		n.kind = kindNull
	case 't', 'f':
		n.kind, n.raw = kindBool, v.Kind() == 't'
	case '"':
		n.kind = kindString
		n.text, n.raw, err = p.str(v)
	default:
		n.kind = kindNumber
		to := p.base + int32(p.dec.InputOffset())
		n.text = span{to - int32(len(v)), to}
		n.raw, err = p.number(v)
	}
	return at, err
}

func (p *parser) add(n node) int32 {
	p.nodes = append(p.nodes, n)
	return int32(len(p.nodes) - 1)
}

// str returns where the decoded text of the string just read stands, and
// whether that is as written.
func (p *parser) str(v jsontext.Value) (span, bool, error) {
	if bytes.IndexByte(v, '\\') < 0 {
		to := p.base + int32(p.dec.InputOffset())
		return span{to - int32(len(v)) + 1, to - 1}, true, nil
	}
	from := int32(len(p.buf))
	var err error
	p.buf, err = jsontext.AppendUnquote(p.buf, v)
	return span{from, int32(len(p.buf))}, false, err
}

// number reports whether the text is canonical as it is. Numbers that a double
// cannot stand for at all are errors.
func (p *parser) number(v []byte) (bool, error) {
	if plain(v) {
		return true, nil
	}
	if len(v) > maxNumber {
		return false, fmt.Errorf("a number has %d characters; at most %d are taken", len(v), maxNumber)
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f == 0 && !parseNum(v).zero() {
		return false, fmt.Errorf("the number %s is outside the range of numbers", excerpt(v))
	}
	return false, nil
}

// plain reports whether the text is an integer of at most 15 digits, which is
// its own canonical form.
func plain(v []byte) bool {
	d := v
	if d[0] == '-' {
		d = d[1:]
	}
	if len(d) > 15 || d[0] == '0' && (len(d) > 1 || len(v) > 1) {
		return false
	}
	for _, c := range d {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

func (p *parser) array(depth int) (int32, error) {
	if depth > MaxDepth {
		return none, errDeep
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return none, err
	}
	at := p.add(node{kind: kindArray, first: none, next: none})
	last := none
	for p.dec.PeekKind() != ']' {
		item, err := p.value(depth)
		if err != nil {
			return none, err
		}
		if last == none {
			p.nodes[at].first = item
		} else {
			p.nodes[last].next = item
		}
		last = item
		p.nodes[at].count++
	}
	_, err := p.dec.ReadToken()
	return at, err
}

func (p *parser) object(depth int) (int32, error) {
	if depth > MaxDepth {
		return none, errDeep
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return none, err
	}
	at := p.add(node{kind: kindObject, first: none, next: none})
	mark := len(p.order)
	for p.dec.PeekKind() != '}' {
		v, err := p.dec.ReadValue()
		if err != nil {
			return none, err
		}
		name, raw, err := p.str(v)
		if err != nil {
			return none, err
		}
		m, err := p.value(depth)
		if err != nil {
			return none, err
		}
		p.nodes[m].name, p.nodes[m].rawName = name, raw
		p.order = append(p.order, m)
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return none, err
	}
	members := p.order[mark:]
	p.sort(members)
	next := none
	for i := len(members) - 1; i >= 0; i-- {
		if next != none && bytes.Equal(p.bytes(p.nodes[next].name), p.bytes(p.nodes[members[i]].name)) {
			return none, p.duplicate(next)
		}
		p.nodes[members[i]].next = next
		next = members[i]
	}
	p.nodes[at].first, p.nodes[at].count = next, int32(len(members))
	p.order = p.order[:mark]
	return at, nil
}

// sort puts members in canonical order. Models write few, and often in order.
func (t *tree) sort(members []int32) {
	if len(members) > 12 {
		slices.SortFunc(members, func(a, b int32) int {
			return compareUTF16(t.bytes(t.nodes[a].name), t.bytes(t.nodes[b].name))
		})
		return
	}
	for i := 1; i < len(members); i++ {
		for j := i; j > 0; j-- {
			a, b := members[j-1], members[j]
			if compareUTF16(t.bytes(t.nodes[a].name), t.bytes(t.nodes[b].name)) <= 0 {
				break
			}
			members[j-1], members[j] = b, a
		}
	}
}

// compareUTF16 compares two UTF-8 texts by their UTF-16 code units. That is the
// order of the bytes, except that code points above U+FFFF (lead bytes from F0)
// come before U+E000 to U+FFFF (lead bytes EE and EF).
func compareUTF16(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		less := x < y
		if x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0) {
			less = !less
		}
		if less {
			return -1
		}
		return 1
	}
	return len(a) - len(b)
}

// duplicate reports a name that an object, just read, has twice.
func (p *parser) duplicate(at int32) error {
	pointer := p.dec.StackPointer().AppendToken(string(p.bytes(p.nodes[at].name)))
	return &TextError{Pointer: string(pointer), Offset: p.dec.InputOffset(), Message: fmt.Sprintf("the member %s appears twice", pointer)}
}

var errDeep = fmt.Errorf("lists and objects are nested more than %d deep", MaxDepth)

// TextError says why a text is not one JSON value that can be taken.
type TextError struct {
	// Offset is the byte at or after which the fault lies.
	Offset int64
	// Pointer is the value that it lies in, as far as that is known.
	Pointer string
	// Message says what is wrong.
	Message string
	// Cut: the text ends in the middle of a value.
	Cut bool
}

// Error says what is wrong and where.
func (e *TextError) Error() string {
	if e.Offset == 0 {
		return e.Message
	}
	return fmt.Sprintf("%s (at byte %d)", e.Message, e.Offset)
}

func (p *parser) textError(err error) *TextError {
	var e *TextError
	if errors.As(err, &e) {
		return e
	}
	e = &TextError{Offset: p.dec.InputOffset(), Pointer: string(p.dec.StackPointer()), Message: err.Error()}
	var s *jsontext.SyntacticError
	switch {
	case errors.As(err, &s):
		e.Offset, e.Pointer = s.ByteOffset, string(s.JSONPointer)
		switch {
		case errors.Is(s.Err, io.ErrUnexpectedEOF):
			e.Cut, e.Message = true, "the text ends in the middle of a value: it was cut off"
		case s.Err != nil:
			e.Message = "not valid JSON: " + s.Err.Error()
		}
	case errors.Is(err, io.EOF):
		e.Cut, e.Message = true, "there is no JSON value"
	}
	return e
}
