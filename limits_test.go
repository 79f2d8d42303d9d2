package rein_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"rein.example/rein"
)

// The table in Preset's documentation is the one that runs use.
func TestPresetDocumentation(t *testing.T) {
	source, err := os.ReadFile("limits.go")
	if err != nil {
		t.Fatal(err)
	}
	_, names, _ := rein.Preset("")
	for name := range strings.SplitSeq(names, ", ") {
		l, _, ok := rein.Preset(name)
		if !ok {
			t.Fatalf("there is no preset %s", name)
		}
		wall := fmt.Sprintf("%dm", l.Wall/time.Minute.Milliseconds())
		if l.Wall%time.Hour.Milliseconds() == 0 {
			wall = fmt.Sprintf("%dh", l.Wall/time.Hour.Milliseconds())
		}
		row := fmt.Sprintf(`(?m)^//\s+%s\s+%d\s+%d\s+%d\s+%s$`, name, l.Steps, l.ToolCalls, l.Tokens, wall)
		if !regexp.MustCompile(row).Match([]byte(strings.ReplaceAll(string(source), ",", ""))) {
			t.Errorf("the documentation of Preset does not say: %s %d %d %d %s", name, l.Steps, l.ToolCalls, l.Tokens, wall)
		}
	}
}
