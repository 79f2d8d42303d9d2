package parse

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// pythonCase says what pyMend makes of a text, and pyValue if that is something
// else.
func pythonCase(_ testing.TB, k script) string {
	s := k.text
	text, end, st, repairs := pyMend(s, 0)
	var b strings.Builder
	showValue(&b, s, text, end, st)
	showRepairs(&b, repairs)
	if t2, e2, st2 := pyValue(s, 0); t2 != text || e2 != end || st2 != st {
		b.WriteString("without losses: ")
		showValue(&b, s, t2, e2, st2)
	}
	return strings.TrimRight(b.String(), "\n")
}

func showValue(b *strings.Builder, s, text string, end int, st state) {
	fmt.Fprintln(b, [...]string{whole: "whole", cut: "cut", broken: "broken", tooDeep: "too deep"}[st])
	if st == whole {
		fmt.Fprintf(b, "| %s\n", text)
	}
	if left := s[end:]; left != "" {
		fmt.Fprintf(b, "left: %q\n", left)
	}
}

func TestPyValue(t *testing.T) {
	runScripts(t, "testdata/typing/python.txt", pythonCase)
}

// TestPyValueBounds: depth is limited, and hostile texts are refused without
// being read again and again. That they are read in linear time is for
// BenchmarkPyHostile to show.
func TestPyValueBounds(t *testing.T) {
	deep := strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth)
	if text, end, st := pyValue(deep, 0); st != whole || text != deep || end != len(deep) {
		t.Errorf("at MaxDepth: state %d", st)
	}
	if _, end, st := pyValue("("+deep+",)", 0); st != tooDeep || end != MaxDepth {
		t.Errorf("beyond MaxDepth: state %d at %d", st, end)
	}
	for name, s := range hostilePython(1 << 16) {
		if _, end, st, _ := pyMend(s, 0); st == whole || end > len(s) {
			t.Errorf("%s: state %d at %d", name, st, end)
		}
	}
}

// hostilePython are texts of about n bytes of which no value can be made.
func hostilePython(n int) map[string]string {
	repeat := func(s string) string { return strings.Repeat(s, n/len(s)) }
	return map[string]string{
		"openers":     repeat("["),
		"braces":      repeat("{"),
		"mixed":       repeat("([{"),
		"quotes":      "[" + repeat("'a "),
		"pairs":       "['" + repeat("'a' "),
		"closers":     "['" + repeat("')]}"),
		"beside":      "[" + repeat("'' "),
		"triple":      "'''" + repeat("''"),
		"backslashes": "'" + repeat(`\`),
		"half escape": "['" + repeat(`\x4`),
		"surrogates":  "['" + repeat(`\ud83d`),
		"comments":    "[" + repeat("#\n"),
		"comment end": "[" + repeat("'a'#\n"),
		"blanks":      "['a'" + repeat(" "),
		"digits":      "[" + repeat("1_"),
		"words":       repeat("True"),
		"prefixes":    repeat("rb"),
		"parentheses": "[" + repeat("((1)),"),
		"lines":       "[" + repeat("\\\n"),
	}
}

// FuzzPyValue reads anything and holds what pyMend and pyValue promise.
func FuzzPyValue(f *testing.F) {
	for _, k := range scripts(f, "testdata/typing/python.txt") {
		f.Add(k.text)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, end, st, repairs := pyMend(s, 0)
		if end < 0 || end > len(s) || st == cut && end != len(s) {
			t.Fatalf("state %d at %d of %d", st, end, len(s))
		}
		if st != whole {
			if text != "" || repairs != nil {
				t.Fatalf("state %d with %q %v", st, text, repairs)
			}
			return
		}
		if !jsontext.Value(text).IsValid() || !utf8.ValidString(text) || text != trim(text) {
			t.Fatalf("not JSON: %q", text)
		}
		// A string's end depends on what follows it, a container's does not.
		if c := s[0]; c == '[' || c == '{' || c == '(' {
			if got, e, st, _ := pyMend(s[:end], 0); got != text || e != end || st != whole {
				t.Fatalf("%q alone is %q, state %d", s[:end], got, st)
			}
			for n := range min(end, 64) {
				if got, _, st, _ := pyMend(s[:n], 0); st == whole {
					t.Fatalf("%q of %q is %q", s[:n], s[:end], got)
				}
			}
		}
		if t2, e2, st2 := pyValue(s, 0); st2 == whole && !lossy(repairs) && (t2 != text || e2 != end) {
			t.Fatalf("%q is %q to %d with losses allowed, %q to %d without", s, text, end, t2, e2)
		}
		// What is written is JSON as Python reads it.
		if again, e, st := pyValue(text, 0); st != whole || e != len(text) || again != text {
			t.Fatalf("%q, read again: %q, state %d", text, again, st)
		}
	})
}
