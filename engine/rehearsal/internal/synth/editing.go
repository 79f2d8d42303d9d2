package synth

import (
	"fmt"
	"strings"
)

// shelf are the files that the editing agent works on.
type shelf struct {
	paths []string
	files map[string][]string // lines
}

func (t *talk) makeShelf() {
	s := &shelf{files: map[string][]string{}}
	for i := range 14 {
		path := fmt.Sprintf("src/%s/%s_%d.go", t.pick(nouns), t.pick(nouns), i)
		s.paths = append(s.paths, path)
		for range 30 + t.r.IntN(140) {
			s.files[path] = append(s.files[path], t.line())
		}
	}
	t.shelf = s
}

// line makes up a line of a program.
func (t *talk) line() string {
	switch t.r.IntN(6) {
	case 0:
		return ""
	case 1:
		return "// " + t.sentence()
	case 2:
		return fmt.Sprintf("func %s(%s int) int {", t.name(), t.pick(nouns))
	case 3:
		return fmt.Sprintf("\tif %s > %d {", t.name(), t.r.IntN(500))
	case 4:
		return fmt.Sprintf("\t\treturn %s + %d", t.name(), t.r.IntN(90))
	}
	return fmt.Sprintf("\t%s := %s(%d)", t.name(), t.name(), t.r.IntN(9000))
}

// read shows up to n lines of a file, from a line.
func (t *talk) read(path string, from, n int) act {
	lines := t.shelf.files[path]
	to := min(from-1+n, len(lines))
	var b strings.Builder
	for i := from - 1; i < to; i++ {
		fmt.Fprintf(&b, "%d\t%s\n", i+1, lines[i])
	}
	return act{tool: "read", args: map[string]any{"path": path, "offset": from}, result: b.String()}
}

// editing is one task of an agent that edits files.
func editing(t *talk) {
	t.tools("read: reads lines of a file", "edit: replaces a text in a file", "search: finds lines", "run: runs the tests of a folder")
	if t.shelf == nil {
		t.makeShelf()
		t.c.System = []string{"You work on a small program. Read before you edit, and run the tests after it. Answer in a few sentences."}
	}
	path := t.pick(t.shelf.paths)
	what := t.name()
	t.user(t.pick([]string{
		"Please make " + what + " in " + path + " do what its comment says.",
		"In " + path + ": rename " + what + " to something shorter and fix who uses it. " + t.sentence(),
		"The tests around " + path + " fail since yesterday. Find out why. I think it has to do with " + what + ".",
		"Can you look at " + path + "? " + t.prose(4),
	}))
	var hits strings.Builder
	for range 3 + t.r.IntN(25) {
		fmt.Fprintf(&hits, "%s:%d: %s\n", t.pick(t.shelf.paths), 1+t.r.IntN(160), strings.TrimSpace(t.line()))
	}
	t.do("Let me look where it is used.", act{tool: "search", args: map[string]any{"pattern": what}, result: hits.String()})
	for range 3 + t.r.IntN(6) {
		t.edit(path)
		if t.chance(40) {
			path = t.pick(t.shelf.paths)
		}
	}
	t.say("Done. " + t.prose(2+t.r.IntN(4)))
}

// edit reads a place, changes it and runs the tests.
func (t *talk) edit(path string) {
	from := 1 + t.r.IntN(20)
	acts := []act{t.read(path, from, 40+t.r.IntN(80))}
	if t.chance(25) {
		acts = append(acts, t.read(t.pick(t.shelf.paths), 1, 60))
	}
	t.do(t.pick([]string{"", "", "First I read the place.", t.sentence()}), acts...)
	at := t.r.IntN(len(t.shelf.files[path]))
	old := t.shelf.files[path][at]
	line := t.line()
	args := map[string]any{"path": path, "old": old, "new": line}
	if t.chance(15) {
		t.do("", act{tool: "edit", args: args, failed: true, result: "error: the text to replace stands in " + path + " more than once; give more of the lines around it"})
		t.do("It needs more context.", t.read(path, max(at-10, 1), 24))
		args["old"] = old + "\n"
	}
	t.shelf.files[path][at] = line
	t.do("", act{tool: "edit", args: args, result: fmt.Sprintf("edited %s, line %d", path, at+1)})
	if t.chance(60) {
		t.do(t.pick([]string{"", "Now the tests."}), act{tool: "run", args: map[string]any{"folder": path[:strings.LastIndexByte(path, '/')]}, result: t.testRun()})
	}
}

func (t *talk) testRun() string {
	var b strings.Builder
	for range 4 + t.r.IntN(40) {
		fmt.Fprintf(&b, "--- PASS: Test_%s (0.%02ds)\n", t.name(), t.r.IntN(100))
	}
	if t.chance(30) {
		fmt.Fprintf(&b, "--- FAIL: Test_%s\n    got %d, want %d\nFAIL\n", t.name(), t.r.IntN(100), t.r.IntN(100))
	} else {
		b.WriteString("PASS\n")
	}
	return b.String()
}
