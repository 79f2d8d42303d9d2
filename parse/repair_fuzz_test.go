package parse

import (
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
)

// FuzzRepair reads anything, and holds what mend promises of every text.
func FuzzRepair(f *testing.F) {
	for _, file := range mendFiles(f) {
		for _, k := range mendCases(f, file) {
			s, _ := k.text(f)
			f.Add(s, uint16(len(s)/2))
		}
	}
	f.Fuzz(func(t *testing.T, s string, at uint16) { mendHolds(t, s, int(at)) })
}

// mendHolds checks what mend promises of s, and of a part of it of at bytes.
func mendHolds(t *testing.T, s string, at int) {
	text, end, st, repairs := mend(s, 0)
	if end < 0 || end > len(s) || (st == cut && end != len(s)) {
		t.Fatalf("state %d at %d of %d", st, end, len(s))
	}
	if object, st, repairs := unwrapString(s); st == whole {
		if v := jsontext.Value(object); !v.IsValid() || v.Kind() != '{' || len(repairs) == 0 {
			t.Fatalf("unwrapped %q to %q %v", s, object, repairs)
		}
	}
	strict := s != "" && !blank(s[0]) && !blank(s[len(s)-1]) && jsontext.Value(s).IsValid()
	if strict && st != tooDeep && (st != whole || text != s || end != len(s) || repairs != nil) {
		t.Fatalf("strict JSON became %q, state %d, left %q, %v", text, st, s[end:], repairs)
	}
	if st != whole {
		if text != "" || repairs != nil {
			t.Fatalf("state %d with %q %v", st, text, repairs)
		}
		return
	}
	if !jsontext.Value(text).IsValid() || !utf8.ValidString(text) {
		t.Fatalf("not JSON: %q", text)
	}
	if (repairs == nil) != (text == s[:end]) {
		t.Fatalf("%q became %q with %v", s[:end], text, repairs)
	}
	if again, e, st, r := mend(text, 0); again != text || e != len(text) || st != whole || r != nil {
		t.Fatalf("%q, mended again: %q, state %d, left %q, %v", text, again, st, text[e:], r)
	}
	if s[0] == '{' || s[0] == '[' {
		whollyThere(t, s[:end], text, repairs, at)
	}
}

// whollyThere checks that a container is itself without what follows it, and
// that no part of it is taken for a value that ends where the part does.
func whollyThere(t *testing.T, s, text string, repairs []event.Repair, at int) {
	if got, end, st, r := mend(s, 0); got != text || end != len(s) || st != whole || !slices.Equal(r, repairs) {
		t.Fatalf("%q alone is %q, state %d, left %q, %v; was %q %v", s, got, st, s[end:], r, text, repairs)
	}
	copies := slices.ContainsFunc(repairs, func(r event.Repair) bool { return r.Kind == RepairDuplicateObject })
	if copies {
		return
	}
	parts := []int{at % len(s)}
	if len(s) <= 100 {
		parts = parts[:0]
		for n := range s {
			parts = append(parts, n)
		}
	}
	for _, n := range parts {
		if got, end, st, _ := mend(s[:n], 0); st == whole && end == n {
			t.Fatalf("%q of %q is %q", s[:n], s, got)
		}
	}
}

// Every text of a few pieces, so that no combination of slips is left to chance.
func TestMendEveryShortText(t *testing.T) {
	pieces := []string{"{", "}", "[", "]", ",", ":", `"`, `'`, "a", "1", ".", " ", `\`, "# ", "“", "\xff"}
	most := 4
	if testing.Short() {
		most = 3
	}
	var build func(s string, left int)
	build = func(s string, left int) {
		mendHolds(t, s, 1)
		if left == 0 {
			return
		}
		for _, p := range pieces {
			build(s+p, left-1)
		}
	}
	for _, start := range []string{"", `{"a":`, `{"a":"`, `["b",`, `{'a':'b`, `{{"a":1`} {
		build(start, most)
	}
}
