package parse

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
)

// The kinds of [event.Repair] that reading a model's JSON can need. A repair is
// lossless if the text allows no other reading, and the reading keeps every
// character that is part of a name or a value; it is lossy if characters had to
// be replaced, or the reading is only by far the likeliest.
//
// Where two readings with different values are about as likely, nothing is
// repaired. These stay broken: NaN and Infinity, leading zeros, hexadecimal
// numbers, other words than those below, two strings or two numbers with
// nothing between them, a missing colon, a comma with nothing before it.
const (
	// RepairEscapes: a backslash in a string that begins no escape of JSON, as
	// in "\d+", "C:\users" or "\x41", is itself part of the text; \' is an
	// apostrophe. Lossless. What JSON does define is left alone, but for what
	// RepairAmbiguous says.
	RepairEscapes = "escapes"
	// RepairControls: control characters that stand raw in a string (line ends,
	// tabs, NUL, …) are escaped. Lossless.
	RepairControls = "control_characters"
	// RepairTrailingComma: a comma before a closing bracket is dropped. Lossless.
	RepairTrailingComma = "trailing_comma"
	// RepairMissingComma: a comma is put between two members, or between two
	// elements of which the first is no string, and not both are numbers.
	// Lossless.
	RepairMissingComma = "missing_comma"
	// RepairSingleQuotes: strings in single quotes, as Python prints them.
	// Lossless.
	RepairSingleQuotes = "single_quotes"
	// RepairTypographicQuotes: strings in “…”, „…“, ‘…’ or ‚…‘. Lossless.
	RepairTypographicQuotes = "typographic_quotes"
	// RepairBareNames: member names without quotes: letters, digits, '_', '$',
	// '-' and '.', or a whole number. Lossless.
	RepairBareNames = "bare_names"
	// RepairLiterals: Python's True, False and None. Lossless.
	RepairLiterals = "python_literals"
	// RepairNumbers: +1, .5 and 1. become 1, 0.5 and 1.0. Lossless.
	RepairNumbers = "numbers"
	// RepairComments: comments outside strings are dropped: // and # to the end
	// of the line, /* … */. Lossless: they hold no value. # needs a blank after
	// it, and so does // where a value could begin, since #fff and //host/share
	// may be meant as values.
	RepairComments = "comments"
	// RepairSpace: white space that JSON does not have is dropped outside
	// strings: no-break and other spaces of Unicode, form feeds, and \n, \r or
	// \t written out with the backslash. Lossless.
	RepairSpace = "white_space"
	// RepairDoubledBraces: an object in {{ }}, the way templates escape braces.
	// Lossless.
	RepairDoubledBraces = "doubled_braces"
	// RepairDuplicateObject: the whole object is written twice or more, byte for
	// byte, with nothing between. Lossless.
	RepairDuplicateObject = "duplicate_object"
	// RepairDuplicateNames: a member stands twice in an object, both times with
	// the same value. Lossless. With different values it is broken.
	RepairDuplicateNames = "duplicate_names"
	// RepairDoubleEncoded: the object stands encoded in a JSON string. Lossless.
	RepairDoubleEncoded = "double_encoded"
	// RepairClosers: the closing brackets at the very end come in the wrong
	// order, or there are too many. Lossless: with nothing but closers to
	// follow, the openers alone say how the values nest. Closers that are missing
	// are never added: what lacks one may lack members too.
	RepairClosers = "closers"
	// RepairInnerQuotes: quotes inside a string that are not escaped, as in
	// "say "hi" now". Lossy. See closing for what is taken for one.
	RepairInnerQuotes = "inner_quotes"
	// RepairAmbiguous: a string has backslashes that were not doubled, as
	// RepairEscapes says, and others that JSON may read otherwise than they were
	// meant. \b and \f are then text, as in "\bword\s", since nobody writes a
	// backspace; \n, \t and \r stay what they are, though in a path, as in
	// "C:\docs\new", that may be wrong. Lossy.
	RepairAmbiguous = "ambiguous_escapes"
	// RepairSurrogates: half of a surrogate pair, such as \ud83d alone, becomes
	// U+FFFD. Lossy.
	RepairSurrogates = "lone_surrogates"
	// RepairUTF8: bytes in a string that are not UTF-8 become U+FFFD, one for
	// each. Lossy.
	RepairUTF8 = "invalid_utf8"
)

// fix numbers the repairs; they are reported in this order.
type fix uint8

const (
	fixEscapes fix = iota
	fixControls
	fixTrailingComma
	fixMissingComma
	fixSingleQuotes
	fixTypographicQuotes
	fixBareNames
	fixLiterals
	fixNumbers
	fixComments
	fixSpace
	fixDoubledBraces
	fixDuplicateObject
	fixDuplicateNames
	fixDoubleEncoded
	fixClosers
	fixInnerQuotes
	fixAmbiguous
	fixSurrogates
	fixUTF8
)

var fixRepairs = [...]event.Repair{
	fixEscapes:           {Kind: RepairEscapes},
	fixControls:          {Kind: RepairControls},
	fixTrailingComma:     {Kind: RepairTrailingComma},
	fixMissingComma:      {Kind: RepairMissingComma},
	fixSingleQuotes:      {Kind: RepairSingleQuotes},
	fixTypographicQuotes: {Kind: RepairTypographicQuotes},
	fixBareNames:         {Kind: RepairBareNames},
	fixLiterals:          {Kind: RepairLiterals},
	fixNumbers:           {Kind: RepairNumbers},
	fixComments:          {Kind: RepairComments},
	fixSpace:             {Kind: RepairSpace},
	fixDoubledBraces:     {Kind: RepairDoubledBraces},
	fixDuplicateObject:   {Kind: RepairDuplicateObject},
	fixDuplicateNames:    {Kind: RepairDuplicateNames},
	fixDoubleEncoded:     {Kind: RepairDoubleEncoded},
	fixClosers:           {Kind: RepairClosers},
	fixInnerQuotes:       {Kind: RepairInnerQuotes, Lossy: true},
	fixAmbiguous:         {Kind: RepairAmbiguous, Lossy: true},
	fixSurrogates:        {Kind: RepairSurrogates, Lossy: true},
	fixUTF8:              {Kind: RepairUTF8, Lossy: true},
}

// fixes is a set of repairs.
type fixes uint32

func (f *fixes) add(x fix) { *f |= 1 << x }

func (f fixes) has(x fix) bool { return f>>x&1 != 0 }

// list names the repairs of the set; nil for none.
func (f fixes) list() []event.Repair {
	var list []event.Repair
	for x := range fixRepairs {
		if f.has(fix(x)) {
			list = append(list, fixRepairs[x])
		}
	}
	return list
}

// mend reads one JSON value as models write it, beginning at s[i], and returns
// it as strict JSON: RFC 8259, valid UTF-8, no duplicate names. repairs name
// what was changed; they are nil when the text was strict already, and then text
// is the substring itself.
//
// Only if st is whole is there a text. A value that the end of s cuts off is
// cut, with end = len(s), and never completed. broken and tooDeep come with the
// index of the fault: reading can go on from there, and stays linear. What
// follows a whole value is left to the caller, but for copies of it
// ([RepairDuplicateObject]) and what shows that it did not end there (endedEarly).
// Closers that are too many are left too, since they may belong to what the value
// stands in: see surplus. Where anything else is left and nothing should be, the
// value is not what the model meant.
//
// The end of s must be the end of what the model wrote: of a text that is still
// being streamed, a value can look whole ([RepairClosers]) that is not.
//
// The time is linear in end-i. Strict JSON costs one copy, for its check.
func mend(s string, i int) (text string, end int, st state, repairs []event.Repair) {
	m := mender{s: s, i: i, start: i, copied: i}
	if st = m.read(); st != whole {
		return "", m.i, st, nil
	}
	text, ok := m.strict()
	if !ok {
		return "", m.i, broken, nil
	}
	end = m.i
	if written := s[i:end]; written[0] == '{' {
		for strings.HasPrefix(s[end:], written) {
			end += len(written)
			m.done.add(fixDuplicateObject)
		}
	}
	if m.endedEarly() {
		return "", end, broken, nil
	}
	return text, end, whole, m.done.list()
}

// endedEarly reports whether a quotation mark follows an object or array, so that
// the bracket that seemed to end it may have stood in a string, as in
//
//	{"text": "a list: ["x"]}"}
//
// Marks that stand around the whole value say nothing.
func (m *mender) endedEarly() bool {
	if c := m.s[m.start]; c != '{' && c != '[' {
		return false
	}
	next := skip(m.s, m.i)
	if next >= len(m.s) {
		return false
	}
	mark, _ := quoteAt(m.s, next)
	return mark != noQuote && (m.start == 0 || m.s[m.start-1] != m.s[next])
}

// strict returns what was read, if it is strict JSON now.
func (m *mender) strict() (string, bool) {
	if m.done == 0 {
		text := m.s[m.start:m.i]
		if jsontext.Value(text).IsValid() {
			return text, true
		}
		return m.withoutDuplicates(text)
	}
	// What makes a quote part of a string is what follows it. Where that had to
	// be repaired as well, it is no witness.
	if m.done.has(fixInnerQuotes) &&
		(m.done.has(fixMissingComma) || m.done.has(fixClosers) || m.done.has(fixBareNames)) {
		return "", false
	}
	if m.drives && m.done.has(fixEscapes) {
		m.done.add(fixAmbiguous)
	}
	m.flush(m.i)
	text := string(m.out)
	if jsontext.Value(m.out).IsValid() {
		return text, true
	}
	return m.withoutDuplicates(text)
}

// withoutDuplicates returns text without the members that repeat one before
// them, if that is all that was wrong with it.
func (m *mender) withoutDuplicates(text string) (string, bool) {
	b, ok := dropDuplicates(text)
	if !ok || !jsontext.Value(b).IsValid() {
		return "", false
	}
	m.done.add(fixDuplicateNames)
	return string(b), true
}

// surplus returns the index after the closing brackets, and the white space
// among them, that follow a whole value at s[i]. There are none if that is i. A
// caller that knows them to belong to nothing reports [RepairClosers].
func surplus(s string, i int) int {
	end := i
	for j := i; j < len(s); j++ {
		switch {
		case s[j] == '}' || s[j] == ']':
			end = j + 1
		case !blank(s[j]):
			return end
		}
	}
	return end
}

// unwrapString opens a JSON string that holds a JSON object, once. text is the
// string as it stands, in its quotes; object is strict JSON. st is broken where
// the string holds anything else, or anything more, than one object.
//
// It is for places where only an object can stand, such as a call's arguments:
// elsewhere a string that looks like an object is a string.
func unwrapString(text string) (object string, st state, repairs []event.Repair) {
	if text == "" || text[0] != '"' {
		return "", broken, nil
	}
	b, err := jsontext.AppendUnquote(nil, text)
	if err != nil {
		return "", broken, nil
	}
	inner := trim(string(b))
	if inner == "" || inner[0] != '{' {
		return "", broken, nil
	}
	object, end, st, repairs := mend(inner, 0)
	if st == whole && surplus(inner, end) != len(inner) {
		return "", broken, nil
	}
	if st != whole {
		return "", st, nil
	}
	var done fixes
	done.add(fixDoubleEncoded)
	if end != len(inner) {
		done.add(fixClosers)
	}
	return object, whole, append(done.list(), repairs...)
}
