package parse

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/schema"
)

// RepairPython: a value is written as Python writes it, in a way that JSON with
// slips does not explain: a tuple or a set, a string with a prefix or in triple
// quotes, an escape that JSON has not, digits in groups, hexadecimal. Lossless.
const RepairPython = "python_value"

// undeclared says what a raw value is of which the schema says nothing.
type undeclared uint8

const (
	// asString: the text itself. Most suites do this.
	asString undeclared = iota
	// asJSON: the JSON value that it is from end to end, or the object or list
	// that it is but for slips that are mended without loss; else the text.
	asJSON
)

// typed returns the JSON value that a raw text stands for, by what the schema
// declares at n. Where it declares nothing, the text is a string: see [typedAs].
func typed(raw string, n schema.Node) (value string, repairs []event.Repair) {
	return typedAs(raw, n.Kinds(), asString)
}

// typedAs returns the JSON value that a raw text stands for where values of some
// kinds are declared, and what is done where none are.
//
// What the suites of the servers agree on, and this does:
//
//   - Only a string is declared: the text verbatim, whatever it looks like. It is
//     not trimmed, not decoded, and null is four letters. Which line ends belong
//     to the markup is for the grammar to say.
//   - No string is declared: white space around the text means nothing, and the
//     text is read as JSON, then as JSON with slips ([mend]), then as Python
//     ([pyValue]); each only if it takes the whole text. What can't be read is
//     handed on as a string, for the check of the arguments to report, and the
//     rest of the call stands. (A JSON value of another kind is handed on as it
//     is: the report then says what was written, and the check's conversions see
//     it. Anything but strict JSON must be of a kind that is declared.)
//   - A string or others: strict JSON of one of the others is that, so that null
//     is null only where null is declared; all else is the text verbatim. Text
//     that would have to be mended is a valid string as it stands.
//   - References and compositions count like what they stand for; so do the
//     values of an enum.
//   - A type that the call itself claims (string="true", type="number") gives way
//     to the schema, and counts where that is silent.
//
// Where the suites differ: what is declared nowhere is mostly a string (Qwen,
// Seed, MiniMax), and JSON if it can be in others (Muse Glimmer, GLM's servers,
// DSML's string="false"). That is the row's choice, by u. Where there is no
// schema at all, neither a list of tools nor one that could be read, the suites
// that test it take what is JSON for JSON.
//
// The time is linear in the text.
func typedAs(raw string, kinds schema.Kinds, u undeclared) (value string, repairs []event.Repair) {
	if kinds == schema.String || kinds == 0 && u == asString {
		return verbatim(raw)
	}
	text := trim(raw)
	kind := strictKind(text)
	switch {
	case kinds == 0:
		if kind != 0 {
			return text, nil
		}
		if value, repairs = mended(text, schema.Array|schema.Object); value != "" && !lossy(repairs) {
			return value, repairs
		}
	case kinds.Has(schema.String):
		if kind != schema.String && declares(kinds, kind, text) {
			return text, nil
		}
	default:
		if kind != 0 {
			return text, nil
		}
		if value, repairs = mended(text, kinds); value != "" {
			return value, repairs
		}
	}
	return verbatim(raw)
}

// appendTyped appends what typedAs returns. Texts, which may be long, are copied
// once.
func appendTyped(dst []byte, raw string, kinds schema.Kinds, u undeclared) ([]byte, []event.Repair) {
	if kinds == schema.String || kinds == 0 && u == asString {
		dst, err := jsontext.AppendQuote(slices.Grow(dst, len(raw)+len(raw)/16+2), raw)
		if err != nil { // it replaces what is not UTF-8
			return dst, []event.Repair{fixRepairs[fixUTF8]}
		}
		return dst, nil
	}
	value, repairs := typedAs(raw, kinds, u)
	return append(dst, value...), repairs
}

// verbatim returns the text as a JSON string.
func verbatim(raw string) (string, []event.Repair) {
	out, err := jsontext.AppendQuote(make([]byte, 0, len(raw)+len(raw)/16+2), raw)
	if err != nil { // it replaces what is not UTF-8
		return string(out), []event.Repair{fixRepairs[fixUTF8]}
	}
	return string(out), nil
}

// strictKind returns the kind of the JSON value that text is from end to end, or
// 0 if it is none.
func strictKind(text string) schema.Kinds {
	if end, st := value(text, 0); st != whole || end != len(text) || !jsontext.Value(text).IsValid() {
		return 0
	}
	return kindOf(text)
}

// kindOf returns the kind of a JSON value.
func kindOf(text string) schema.Kinds {
	switch text[0] {
	case '"':
		return schema.String
	case '{':
		return schema.Object
	case '[':
		return schema.Array
	case 't', 'f':
		return schema.Boolean
	case 'n':
		return schema.Null
	}
	return schema.Number
}

// declares reports whether a JSON value of a kind is of one of the kinds. For a
// number where only integers are declared, it has to look at the text.
func declares(kinds, kind schema.Kinds, text string) bool {
	if kind == schema.Number && !kinds.Has(schema.Number) {
		units, frac, _ := strings.Cut(text, ".")
		return kinds.Has(schema.Integer) && !strings.ContainsAny(units, "eE") && strings.Trim(frac, "0") == ""
	}
	return kinds.Has(kind)
}

func lossy(repairs []event.Repair) bool {
	return slices.ContainsFunc(repairs, func(r event.Repair) bool { return r.Lossy })
}

// mended returns the value of one of the kinds that text, which is not strict
// JSON, is from end to end, or "" if it is none.
//
// It may be JSON with slips or Python; mostly both give the same. They differ
// in escapes: '\x41' is four characters for one and A for the other. Single
// quotes show that Python was being written, so then Python's reading counts;
// without them a backslash too few is likelier, as in "\d". Strings beside each
// other are one for Python, but here a comma may as well be missing: that is
// neither.
func mended(text string, kinds schema.Kinds) (value string, repairs []event.Repair) {
	value, repairs = mendAll(text)
	if value == "" || lossy(repairs) || strings.IndexByte(text, '\'') >= 0 {
		p := pyReader{s: text}
		py, st := p.value()
		isPython := st == whole && p.i == len(text) && !p.joined
		if isPython && (value == "" || lossy(repairs) || p.single && p.escaped) {
			value = py
			repairs = append([]event.Repair{{Kind: RepairPython}}, p.done.list()...)
		}
	}
	if value == "" || !declares(kinds, kindOf(value), value) && !numeric(kinds, value) {
		return "", nil
	}
	return value, repairs
}

// numeric reports whether value is a number and some number is declared: a
// fraction where an integer is declared is for the check to report.
func numeric(kinds schema.Kinds, value string) bool {
	return kindOf(value) == schema.Number && kinds.Has(schema.Number|schema.Integer)
}

// mendAll reads text as JSON with slips, from end to end. Closing brackets that
// are too many belong to nothing here.
func mendAll(text string) (value string, repairs []event.Repair) {
	value, end, st, repairs := mend(text, 0)
	switch {
	case st != whole:
		return "", nil
	case end == len(text):
		return value, repairs
	case surplus(text, end) == len(text):
		return value, append(repairs, event.Repair{Kind: RepairClosers})
	}
	return "", nil
}
