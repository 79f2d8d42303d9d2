package main

import (
	"strings"
	"testing"
)

const twice = `# two faults
mutant no sync before a write
file engine/a.go
<<<<
	flush()
====
	hand()
>>>>
<<<<
	end()
====
>>>>

mutant a limit off by many
file loop/b.go
<<<<
if n >= limit {
====
if n >= limit+9 {
>>>>
`

func TestParse(t *testing.T) {
	all, err := parse(twice)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 2 || all[0].name != "no sync before a write" || len(all[0].edits) != 2 || len(all[1].edits) != 1 {
		t.Fatalf("%+v", all)
	}
	if e := all[0].edits[1]; e.file != "engine/a.go" || e.old != "\tend()\n" || e.new != "" {
		t.Errorf("%+v", e)
	}
	for what, text := range map[string]string{
		"nothing changed":  "mutant a\n",
		"no file":          "mutant a\n<<<<\nx\n====\ny\n>>>>\n",
		"not closed":       "mutant a\nfile b\n<<<<\nx\n",
		"something else":   "mutant a\nfile b\nx\n",
		"a file of nobody": "file b\n",
	} {
		if all, err := parse(text); err == nil {
			t.Errorf("%s: %+v", what, all)
		}
	}
}

// Each mutant still fits the code, and there are enough of them.
func TestListFits(t *testing.T) {
	all, err := load("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Errorf("there are %d mutants, want at least 10", len(all))
	}
	for i := range all {
		if _, err := all[i].apply("../.."); err != nil {
			t.Errorf("mutant %q: %v", all[i].name, err)
		}
	}
}

func TestRead(t *testing.T) {
	f, err := read([]byte("--- FAIL: TestSimulate\n    sim_test.go:64: seed 41: run r1, event 7: bad\n\tsee it again\n"))
	if err != nil || f.seed != 41 || f.what != "run r1, event 7: bad" {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err := read([]byte("panic: oh\n" + strings.Repeat("x", 400))); err == nil {
		t.Errorf("%+v", f)
	}
}
