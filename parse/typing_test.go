package parse

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/schema"
)

// typingCase says what a raw text becomes, and what the check of the arguments
// makes of that. The settings are "schema …", of the value alone, and
// "undeclared json" for a row that reads what is not declared as JSON.
func typingCase(t testing.TB, k script) string {
	declared := k.settings["schema"]
	if declared == "" {
		declared = "true"
	}
	s, err := schema.Compile([]byte(declared))
	if err != nil {
		t.Fatalf("%s: %v", k.name, err)
	}
	value, repairs := typed(k.text, s.Root())
	if k.settings["undeclared"] == "json" {
		value, repairs = typedAs(k.text, s.Root().Kinds(), asJSON)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| %s\n", strings.ReplaceAll(value, "\n", "\n| "))
	showRepairs(&b, repairs)
	canonical, conversions, problems := s.Check([]byte(value))
	for _, r := range conversions {
		fmt.Fprintf(&b, "check: %s: %s\n", r.Kind, canonical)
	}
	for _, p := range problems {
		fmt.Fprintf(&b, "check: %s\n", p)
	}
	return strings.TrimRight(b.String(), "\n")
}

func TestTyped(t *testing.T) {
	runScripts(t, "testdata/typing/typing.txt", typingCase)
}

// TestTypedByClaim: what a call says of its own values counts where the schema
// is silent, so a grammar asks with kinds.
func TestTypedByClaim(t *testing.T) {
	for _, c := range []struct {
		raw   string
		kinds schema.Kinds
		want  string
	}{
		{"1", schema.Number, "1"},
		{"1", schema.String, `"1"`},
		{"true", schema.Boolean, "true"},
		{"plain words", schema.Object, `"plain words"`},
		{"null", schema.Null, "null"},
	} {
		if got, repairs := typedAs(c.raw, c.kinds, asString); got != c.want || repairs != nil {
			t.Errorf("%s as %v: %s %v", c.raw, c.kinds, got, repairs)
		}
	}
}

// FuzzTyped holds, for any text and any kinds, that the result is JSON; that a
// declared string is the text; and that nothing stands for it but a value of a
// kind that is declared, or strict JSON.
func FuzzTyped(f *testing.F) {
	for _, file := range []string{"typing", "python"} {
		for i, k := range scripts(f, "testdata/typing/"+file+".txt") {
			f.Add(k.text, uint8(i), i%2 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, raw string, bits uint8, json bool) {
		kinds, u := schema.Kinds(bits&127), asString
		if json {
			u = asJSON
		}
		got, repairs := typedAs(raw, kinds, u)
		if !jsontext.Value(got).IsValid() || !utf8.ValidString(got) {
			t.Fatalf("not JSON: %q", got)
		}
		if got[0] == '"' && unquote(got) == raw {
			if repairs != nil {
				t.Fatalf("%q as it stands, with %v", raw, repairs)
			}
			return
		}
		if !utf8.ValidString(raw) {
			return
		}
		switch strict := got == trim(raw); {
		case kinds == schema.String || kinds == 0 && u == asString:
			t.Fatalf("%q became %s where a string is declared", raw, got)
		case strict && repairs != nil || !strict && repairs == nil:
			t.Fatalf("%q became %s with %v", raw, got, repairs)
		case kinds.Has(schema.String) && (!strict || !declares(kinds, kindOf(got), got)):
			t.Fatalf("%q became %s, of %b", raw, got, kinds)
		case !strict && kinds != 0 && !declares(kinds, kindOf(got), got) && !numeric(kinds, got):
			t.Fatalf("%q became %s, of %b", raw, got, kinds)
		}
		if again, r := typedAs(got, kinds, u); again != got || r != nil {
			t.Fatalf("%s, typed again: %s %v", got, again, r)
		}
	})
}
