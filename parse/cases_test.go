package parse

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"rein.example/rein/event"
)

// A script is one case of a file in testdata/typing:
//
//	== what it shows
//	WORD …   settings, each on its line
//	| …      the text, or
//	q "…"    the text as a Go string, for what a file can't show
//	=>
//	what was made of it
//
// go test ./parse -run 'TestPyValue|TestTyped' -update rewrites what stands
// after =>.
type script struct {
	scriptText
	// text and settings are what input says.
	text     string
	settings map[string]string
}

// scriptText is a case as it stands in a file of them.
type scriptText struct{ name, input, want string }

// scriptTexts reads a file of cases: a line "== name", what goes in, a line "=>" and
// what comes of it.
func scriptTexts(t testing.TB, file string) []scriptText {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []scriptText
	for _, s := range strings.Split("\n"+string(b), "\n== ")[1:] {
		head, want, ok := strings.Cut(s, "\n=>\n")
		if !ok {
			t.Fatalf("%s: %q has no =>", file, head)
		}
		name, input, _ := strings.Cut(head, "\n")
		out = append(out, scriptText{name, input, strings.TrimRight(want, "\n")})
	}
	return out
}

func scripts(t testing.TB, file string) []script {
	t.Helper()
	var out []script
	for _, c := range scriptTexts(t, file) {
		k := script{scriptText: c, settings: map[string]string{}}
		k.read(t)
		out = append(out, k)
	}
	if len(out) == 0 {
		t.Fatalf("no cases in %s", file)
	}
	return out
}

func (k *script) read(t testing.TB) {
	t.Helper()
	var lines []string
	for line := range strings.SplitSeq(k.input, "\n") {
		switch word, rest, _ := strings.Cut(line, " "); word {
		case "|":
			lines = append(lines, rest)
		case "q":
			s, err := strconv.Unquote(rest)
			if err != nil {
				t.Fatalf("%s: %v", k.name, err)
			}
			lines = append(lines, s)
		default:
			k.settings[word] = rest
		}
	}
	k.text = strings.Join(lines, "\n")
}

// runScripts holds what run makes of every case against the file, or writes it
// there.
func runScripts(t *testing.T, file string, run func(testing.TB, script) string) {
	t.Helper()
	f := flag.Lookup("update")
	update := f != nil && f.Value.String() == "true"
	var out strings.Builder
	for _, k := range scripts(t, file) {
		got := run(t, k)
		fmt.Fprintf(&out, "== %s\n%s\n=>\n%s\n\n", k.name, k.input, got)
		if update {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
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

func showRepairs(b *strings.Builder, repairs []event.Repair) {
	for _, r := range repairs {
		fmt.Fprintf(b, "repair: %s", r.Kind)
		if r.Lossy {
			b.WriteString(", lossy")
		}
		b.WriteByte('\n')
	}
}
