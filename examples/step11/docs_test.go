package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"rein.example/rein/trace/anomaly"
)

var update = flag.Bool("update", false, "rewrite docs/tracing.md with what the commands print now")

// What docs/tracing.md says that the commands print is what they print, and its table of
// anomalies is the list of them.
func TestDocs(t *testing.T) {
	l := newLook(t)
	file := filepath.Join("..", "..", "docs", "tracing.md")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// Ids have their day and random letters; these stand for them, as long as they are.
	names := strings.NewReplacer(l.a, "260105-silentaa", l.b, "260105-honestbb")
	ids := strings.NewReplacer("260105-silentaa", l.a, "260105-honestbb", l.b)
	blocks := 0
	now := regexp.MustCompile("(?s)```text\n\\$ rein ([^\n]*)\n.*?```").ReplaceAllStringFunc(string(page), func(block string) string {
		blocks++
		command, _, _ := strings.Cut(strings.TrimPrefix(block, "```text\n$ rein "), "\n")
		out := names.Replace(l.rein(strings.Fields(ids.Replace(command))...))
		return "```text\n$ rein " + command + "\n" + shorten(out) + "```"
	})
	now = regexp.MustCompile("(?s)(<!-- anomalies: [^\n]*\n).*?(<!-- end of anomalies -->)").ReplaceAllStringFunc(now, func(table string) string {
		first, _, _ := strings.Cut(table, "\n")
		return first + "\n" + kinds() + "<!-- end of anomalies -->"
	})
	if blocks != 4 || !strings.Contains(now, "| `truncation` |") {
		t.Errorf("the page has the output of %d commands, and should have 4 and the table of anomalies", blocks)
	}
	if now == string(page) {
		return
	}
	if !*update {
		t.Fatalf("docs/tracing.md does not have what the commands print now; look at it, and run the test with -update:\n%s", different(string(page), now))
	}
	if err := os.WriteFile(file, []byte(now), 0o666); err != nil {
		t.Fatal(err)
	}
}

// widest is the most characters of a line of output on the page.
const widest = 150

// shorten leaves out the middle of long lines, and says so with an ellipsis.
func shorten(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(line); n > widest {
			runes := []rune(line)
			line = string(runes[:widest*2/3]) + " … " + string(runes[n-widest/3:])
		}
		out.WriteString(line)
	}
	return out.String()
}

// kinds is the table of all kinds of anomalies.
func kinds() string {
	var out strings.Builder
	out.WriteString("| kind | level | what is there | what it usually means | look at |\n|---|---|---|---|---|\n")
	for _, k := range anomaly.Kinds() {
		var levels []string
		for _, l := range k.Levels {
			levels = append(levels, string(l))
		}
		look := strings.NewReplacer("{run}", "RUN", "{step}", "N", "{after}", "N+1", "{call}", "CALL").Replace(k.Look)
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s | `rein %s` |\n", k.Name, strings.Join(levels, ", "), k.Finds, k.Means, look)
	}
	return out.String()
}

// different is where two texts differ first.
func different(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d\n  there  %s\n  now    %s", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines, now %d", len(x), len(y))
}
