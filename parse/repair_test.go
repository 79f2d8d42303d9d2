package parse

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// A mendCase is one case of a file in testdata/repair:
//
//	== what it shows
//	unwrap        the text is a string that may hold an object; default: a value
//	| …           the text, or
//	q "…"         the text as a Go string, for what a file can't show
//	=>
//	whole         or cut, broken, too deep
//	| …           the value as strict JSON
//	left: "…"     what follows the value, or the fault
//	repair: KIND  perhaps lossy
//
// go test ./parse -run TestMend -update rewrites what stands after =>.
type mendCase struct{ scriptText }

func mendCases(t testing.TB, file string) []mendCase {
	t.Helper()
	var out []mendCase
	for _, c := range scriptTexts(t, file) {
		out = append(out, mendCase{c})
	}
	return out
}

func mendFiles(t testing.TB) []string {
	t.Helper()
	files, _ := filepath.Glob("testdata/repair/*.txt")
	if len(files) == 0 {
		t.Fatal("no cases in testdata/repair")
	}
	return files
}

func (k mendCase) text(t testing.TB) (text string, unwrap bool) {
	t.Helper()
	var lines []string
	for line := range strings.SplitSeq(k.input, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "unwrap":
			unwrap = true
		case "|":
			lines = append(lines, rest)
		case "q":
			s, err := strconv.Unquote(rest)
			if err != nil {
				t.Fatalf("%s: %v", k.name, err)
			}
			lines = append(lines, s)
		default:
			t.Fatalf("%s: what is %q?", k.name, line)
		}
	}
	return strings.Join(lines, "\n"), unwrap
}

func (k mendCase) run(t testing.TB) string {
	t.Helper()
	s, unwrap := k.text(t)
	var b strings.Builder
	text, end, st, repairs := mend(s, 0)
	left := s[end:]
	if unwrap {
		text, st, repairs = unwrapString(s)
		left = ""
	}
	fmt.Fprintln(&b, [...]string{whole: "whole", cut: "cut", broken: "broken", tooDeep: "too deep"}[st])
	if st == whole {
		for line := range strings.SplitSeq(text, "\n") {
			fmt.Fprintf(&b, "| %s\n", line)
		}
	}
	if len(left) > 40 {
		left = left[:40] + "…"
	}
	if left != "" {
		fmt.Fprintf(&b, "left: %q\n", left)
	}
	for _, r := range repairs {
		fmt.Fprintf(&b, "repair: %s", r.Kind)
		if r.Lossy {
			b.WriteString(", lossy")
		}
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

func TestMend(t *testing.T) {
	f := flag.Lookup("update")
	update := f != nil && f.Value.String() == "true"
	for _, file := range mendFiles(t) {
		var out strings.Builder
		for _, k := range mendCases(t, file) {
			got := k.run(t)
			fmt.Fprintf(&out, "== %s\n%s\n=>\n%s\n\n", k.name, k.input, got)
			if update {
				continue
			}
			t.Run(filepath.Base(file)+"/"+k.name, func(t *testing.T) {
				if got != k.want {
					t.Errorf("%s\ngot:\n%s\nwant:\n%s", k.input, got, k.want)
				}
			})
		}
		if update {
			if err := os.WriteFile(file, []byte(strings.TrimRight(out.String(), "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Every kind of repair has a case, so that the files are complete.
func TestEveryRepairHasACase(t *testing.T) {
	shown := map[string]bool{}
	for _, file := range mendFiles(t) {
		for _, k := range mendCases(t, file) {
			for line := range strings.SplitSeq(k.want, "\n") {
				if kind, ok := strings.CutPrefix(line, "repair: "); ok {
					shown[kind] = true
				}
			}
		}
	}
	for _, r := range fixRepairs {
		want := r.Kind
		if r.Lossy {
			want += ", lossy"
		}
		if !shown[want] {
			t.Errorf("no case shows %q", want)
		}
	}
}

// A value in the middle of a text, as a dialect's reader finds it.
func TestMendInText(t *testing.T) {
	for _, c := range []struct{ before, value, after, want string }{
		{`Sure. `, `{"a":1}`, ` and so on`, `{"a":1}`},
		{`f(x=`, `[1,2]`, `, y=3)`, `[1,2]`},
		{`f(x=`, `'a'`, `, y=3)`, `"a"`},
		{`f(x=`, `.5`, `, y=3)`, `0.5`},
		{`f(x=`, `True`, `)`, `true`},
		{`f(x=`, `“a”`, `)`, `"a"`},
		{`<t>`, `{'a':1}`, `</t>`, `{"a":1}`},
		{`<t>`, `{"a":[1}]`, `</t>`, `{"a":[1]}`},
		{"```\n", `{"a":[1}]`, "\n```", `{"a":[1]}`},
		{`[`, `{"a":1}`, `,{"a":2}]`, `{"a":1}`},
		{`[`, `{'a':1}`, `]`, `{"a":1}`},
		{``, `{"a":1}`, `{"a":2}`, `{"a":1}`},
		{``, `{"a":1}{"a":1}`, `{"a":2}`, `{"a":1}`},
		{``, `{'a':1}{'a':1}`, ``, `{"a":1}`},
		{``, `{"a":1}`, ` {"a":1}`, `{"a":1}`}, // two of them are two
		{``, `[1]`, `[1]`, `[1]`},
		{``, `"a"`, `"a"`, `"a"`},
		{``, `{"a":1}`, `}]}`, `{"a":1}`},
	} {
		s := c.before + c.value + c.after
		text, end, st, _ := mend(s, len(c.before))
		if text != c.want || st != whole || s[len(c.before):end] != c.value {
			t.Errorf("%s: %s, state %d, left %q", s, text, st, s[end:])
		}
	}
}

func TestSurplus(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{
		{"", 0}, {" ", 0}, {"x", 0}, {"}", 1}, {" ] } x", 4}, {"}\n", 1}, {"},", 1}, {"{}", 0},
	} {
		if got := surplus(c.text, 0); got != c.want {
			t.Errorf("surplus(%q) = %d, want %d", c.text, got, c.want)
		}
	}
}

func TestMendDepth(t *testing.T) {
	nest := func(n int) string {
		return strings.Repeat(`{'a':[`, n/2) + "0" + strings.Repeat("],}", n/2)
	}
	if text, end, st, _ := mend(nest(MaxDepth), 0); st != whole || end != len(nest(MaxDepth)) || !jsontext.Value(text).IsValid() {
		t.Errorf("%d levels: state %d", MaxDepth, st)
	}
	if _, end, st, _ := mend(nest(MaxDepth+2), 0); st != tooDeep || end != MaxDepth/2*len(`{'a':[`) {
		t.Errorf("%d levels: state %d at %d", MaxDepth+2, st, end)
	}
}

// Whatever is wrong with a megabyte of text, it is read once: there is an end,
// and if there is a value it is JSON. BenchmarkMend shows the times.
func TestMendHostile(t *testing.T) {
	for _, h := range hostileTexts() {
		text, end, st, _ := mend(h.text, 0)
		if end < 0 || end > len(h.text) || (st == whole) != (text != "") {
			t.Errorf("%s: state %d at %d", h.name, st, end)
		}
		if st == whole && (!jsontext.Value(text).IsValid() || !utf8.ValidString(text)) {
			t.Errorf("%s: not JSON", h.name)
		}
		if st != h.want {
			t.Errorf("%s: state %d, want %d", h.name, st, h.want)
		}
	}
}

type hostileText struct {
	name, text string
	want       state
}

func hostileTexts() []hostileText {
	const size = 1 << 20
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	return []hostileText{
		{"brackets", fill("["), tooDeep},
		{"braces", fill("{"), broken},
		{"objects", fill(`{"a":`), tooDeep},
		{"closers", `{"a":[1` + fill("}"), broken},
		{"closers of both kinds", `{"a":[1` + fill("}]"), whole},
		{"quotes", `{"a":` + fill(`"`), broken},
		{"single quotes", `{"a":` + fill(`'`), broken},
		{"quotes with spaces", `{"a":"` + fill(`" `), broken},
		{"inner quotes", `{"a":"` + fill(` "b"`) + `"}`, whole},
		{"inner quotes, cut off", `{"a":"` + fill(` "b" c`), cut},
		{"apostrophes", `{"a":'` + fill(`b'c`) + `'}`, whole},
		{"quotes before spaces", `{"a":"b` + fill(`"        `), broken},
		{"quotes before line ends", `{"a":"b` + fill(`"\n\n\n\n`), broken},
		{"strings side by side", `["a"` + fill(` "a"`) + `]`, broken},
		{"members without commas", `{"a":1` + fill(` "a":1`) + `}`, whole},
		{"backslashes", `{"a":"` + fill(`\`), cut},
		{"odd escapes", `{"a":"` + fill(`\d`) + `"}`, whole},
		{"half escapes", `{"a":"` + fill(`\u12`) + `"}`, whole},
		{"half pairs", `{"a":"` + fill(`\ud83d`) + `"}`, whole},
		{"control characters", `{"a":"` + fill("\x00") + `"}`, whole},
		{"bytes that are no text", `{"a":"` + fill("\xff") + `"}`, whole},
		{"comments", `{"a":` + fill("/**/") + `1}`, whole},
		{"open comments", `{"a":` + fill("/* "), cut},
		{"line comments", `{"a":` + fill("// \n") + `1}`, whole},
		{"slashes", `{"a":` + fill("/"), broken},
		{"spaces", `{"a":` + fill(" "), cut},
		{"odd spaces", `{"a":` + fill(`\n`), cut},
		{"trailing commas", `[` + fill(`[1,],`) + `]`, whole},
		{"spaces after trailing commas", `[` + fill(`[1,                ],`) + `]`, whole},
		{"commas", `[1` + fill(`,`), broken},
		{"copies", fill("{}"), whole},
		{"copies that differ at the end", fill(`{"a":1}`) + `{"a":2}`, whole},
		{"one member many times", `{"a":1` + fill(`,"a":1`) + `}`, whole},
		{"members that repeat on every level", `{"z":` + doubling(size) + `}`, whole},
		{"many members", `{"a":1` + distinct(size) + `,"a":1}`, whole},
		{"a long number", fill("1"), whole},
		{"a long word", `{"a":` + fill("x"), cut},
		{"a long name", `{` + fill("x"), cut},
		{"typographic quotes", `{` + fill("“"), broken},
		{"doubled braces", `[` + fill("{{}},") + `]`, whole},
	}
}

// doubling is an object that holds the same object twice, and so on down.
func doubling(size int) string {
	s := "1"
	for len(s) < size/2 {
		s = `{"a":` + s + `,"a":` + s + `}`
	}
	return s
}

func distinct(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString(`,"b` + strconv.Itoa(i) + `":1`)
	}
	return b.String()
}
