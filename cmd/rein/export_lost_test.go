package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rein.example/rein/trace/portable"
)

// What the store has lost and what belongs in an export is told: on stderr, in --json, and
// by the exit code. A page says the same at its end. Whole results, of which models have
// seen a part, belong in neither trajectories nor spans.
func TestExportSaysWhatIsLost(t *testing.T) {
	b := newBox(t)
	run := readingRun(t, b)
	if err := os.RemoveAll(filepath.Join(b.dir, "data", "rein", "rein.db.artifacts")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, format, content string
		lost                  bool
	}{{"html", "html", "", true}, {"atif", "atif", "", false}, {"otlp", "otlp", "", false}, {"otlp with what was said", "otlp", "SPAN_ONLY", false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", c.content)
			file := filepath.Join(b.dir, "out")
			var x portable.Exported
			p := b.decode(&x, "export", run, "--format", c.format, "-o", file)
			if told := strings.Contains(p.err, "left out:") && strings.Contains(p.err, "is missing"); (p.code == 1) != c.lost || told != c.lost || (len(x.Left) > 0) != c.lost {
				t.Errorf("exit %d, %q, %s", p.code, x.Left, p.err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if c.format == "html" && (strings.Contains(string(text), "Nothing is left out") || !strings.Contains(string(text), "Missing from this page:")) {
				t.Error("the page says at its end that nothing is left out")
			}
		})
	}
}
