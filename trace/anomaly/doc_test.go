package anomaly_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"rein.example/rein/trace"
	"rein.example/rein/trace/anomaly"
)

// The list of kinds in the package's comment is the one of the code. Rewrite with:
//
//	go test ./trace/anomaly -run TestDocListsKinds -rewrite
func TestDocListsKinds(t *testing.T) {
	const file, begin, end = "doc.go", "// The kinds, from what explains most to what explains least:\n//\n", "package anomaly\n"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := strings.Cut(string(b), begin)
	if !ok {
		t.Fatalf("%s has no line %q", file, begin)
	}
	var list strings.Builder
	for _, k := range anomaly.Kinds() {
		level := string(k.Levels[0])
		for _, l := range k.Levels[1:] {
			level += " or " + string(l)
		}
		list.WriteString("//   - " + k.Name + " (" + level + "): " + k.Finds + ". It usually means: " + k.Means + ". Look at: rein " + k.Look + "\n")
	}
	want := head + begin + list.String() + end
	if want == string(b) {
		return
	}
	if f := flag.Lookup("rewrite"); f != nil && f.Value.String() == "true" {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("the list in %s is not that of the code: run the test with -rewrite", file)
}

// Every kind says all that there is to say, comes once, and is found in a script.
func TestKinds(t *testing.T) {
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	var scripts strings.Builder
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		b, err := os.ReadFile("testdata/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		scripts.Write(b)
	}
	seen := map[string]bool{}
	for _, k := range anomaly.Kinds() {
		if seen[k.Name] || k.Finds == "" || k.Means == "" || k.Look == "" || len(k.Levels) == 0 {
			t.Errorf("%+v", k)
		}
		seen[k.Name] = true
		for _, l := range k.Levels {
			if l != trace.Warning && l != trace.Notice {
				t.Errorf("%s comes as %q", k.Name, l)
			}
			if !strings.Contains(scripts.String(), " "+string(l)+" "+k.Name+": ") {
				t.Errorf("no script finds a %s as a %s", k.Name, l)
			}
		}
	}
	if !strings.Contains(scripts.String(), "nothing\n") {
		t.Error("no script finds nothing")
	}
}
