package main

import (
	"strings"
	"testing"

	"rein.example/rein/trace/stats"
)

// On a terminal every line keeps its width, however few columns that is, as far as its
// words do.
func TestFitted(t *testing.T) {
	const text = "run 1 of desk\n  input read anew $0.005592, output $0.000400\n\nhttps://models.example/v1/chat/completions is long\n"
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, text},
		{80, text},
		{20, "run 1 of desk\n  input read anew\n    $0.005592,\n    output $0.000400\n\nhttps://models.example/v1/chat/completions\n  is long\n"},
		{1, "run\n  1\n  of\n  desk\n  input\n    read\n    anew\n    $0.005592,\n    output\n    $0.000400\n\nhttps://models.example/v1/chat/completions\n  is\n  long\n"},
	} {
		if got := fitted(text, c.width); got != c.want {
			t.Errorf("%d columns: got\n%s\nwant\n%s", c.width, got, c.want)
		}
	}
}

// A table keeps the width of a terminal too: its cells are cut, then its last columns
// are left out. Where nobody knows the width nothing is left out.
func TestNarrowTable(t *testing.T) {
	for width := 12; width < 120; width++ {
		b := &table{head: []string{"", "STEP", "WHAT", "RESULT", "IN", "OUT"}, flexible: 2, least: 20, narrow: true,
			rows: []tableRow{{[]string{"!", "1", "provider/a-model-of-some-length", "waits for approval (call_1)", "100000", "1000"}, []string{"truncation: 3 calls have returned as much"}}}}
		for line := range strings.Lines(b.text(width)) {
			if n := textWidth(strings.TrimRight(line, "\n")); n > max(width, len(belowIndent)+leastCell) {
				t.Fatalf("%d columns: %d in %q", width, n, line)
			}
		}
		if b.narrow = false; !strings.Contains(b.text(width), "1000\n") {
			t.Fatalf("%d columns: a column is gone:\n%s", width, b.text(width))
		}
	}
}

// Where there are no runs but those of agents nothing is said of how they ended; where
// nothing was charged nobody knows what was used.
func TestStatsOfNothing(t *testing.T) {
	o := &statsObject{Report: &stats.Report{Total: stats.Group{Models: []stats.Model{{Model: "p/m", Calls: 2, Failed: 2}}}}}
	got := (&app{}).statsText(o)
	if strings.Contains(got, "runs      ") || !strings.Contains(got, "tokens    unknown\n") || !strings.Contains(got, "cost      unknown\n") || strings.Contains(got, "$0") {
		t.Errorf("got\n%s", got)
	}
}
