package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTreeDependencies compares docs/dependencies.md with go.mod: every direct
// dependency has its reason written down, and no reason outlives its dependency.
func TestTreeDependencies(t *testing.T) {
	direct, all := requirements(t)
	listed := reasons(t)
	for _, module := range direct {
		if !slices.Contains(listed, module) {
			t.Errorf("docs/dependencies.md does not say why Rein depends on %s", module)
		}
	}
	for _, module := range listed {
		if !slices.Contains(all, module) {
			t.Errorf("docs/dependencies.md has %s, which go.mod does not require", module)
		}
	}
}

// requirements returns the modules that go.mod requires: those used directly,
// and all.
func requirements(t *testing.T) (direct, all []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(moduleRoot, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^(?:require)?\s+(\S+\.\S+/\S+) v\S+(.*)$`)
	for _, m := range line.FindAllStringSubmatch(string(text), -1) {
		all = append(all, m[1])
		if !strings.Contains(m[2], "// indirect") {
			direct = append(direct, m[1])
		}
	}
	if len(all) == 0 {
		t.Fatal("found no requirement in go.mod")
	}
	return direct, all
}

// reasons returns the first column of the table in docs/dependencies.md.
func reasons(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(moduleRoot, "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range regexp.MustCompile(`(?m)^\| (\S+\.\S+/\S+) \|`).FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1])
	}
	return out
}
