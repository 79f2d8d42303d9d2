package files

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

func TestWrite(t *testing.T) {
	e := newEnv(t, map[string]string{"a.txt": "one\ntwo\n", "long.txt": numbers(1000), "crlf.txt": "a\r\nb\r\n", "bin": "\x00", "empty": ""})
	e.limit = 500
	const notRead = "not_read: a.txt exists and was not read in this run | read it with read_file first, then write it again, or change only a part of it with edit_file"
	e.steps(
		step{"write_file", args{"path": "new.txt", "content": "x\ny"}, "created new.txt: 2 lines, 3 bytes"},
		step{"write_file", args{"path": "new.txt", "content": "z\n"}, "wrote new.txt: 1 line, 2 bytes (before: 2 lines, 3 bytes)"},
		step{"write_file", args{"path": "deep/er/new.txt", "content": ""}, "created deep/er/new.txt: 0 lines, 0 bytes"},
		step{"write_file", args{"path": "a.txt", "content": "three\n"}, notRead},
		step{"write_file", args{"path": "a.txt", "content": "one\ntwo\n"}, "a.txt already has exactly this content (2 lines, 8 bytes); nothing was written, and nothing needs to be"},
		step{"write_file", args{"path": "a.txt", "content": "three\n"}, "wrote a.txt: 1 line, 6 bytes (before: 2 lines, 8 bytes)"},
	)
	e.put("a.txt", "changed\n")
	e.steps(
		step{"write_file", args{"path": "a.txt", "content": "four\n"}, "stale: a.txt has changed since it was read; what you know of it is no longer true | read it again with read_file, then write it⋯"},
		step{"read_file", args{"path": "a.txt"}, "[rein: lines 1-1 of 1 of a.txt (all)]\nchanged\n"},
		step{"write_file", args{"path": "a.txt", "content": "four\n"}, "wrote a.txt: 1 line, 5 bytes (before: 1 line, 8 bytes)"},
		// A part is not the whole.
		step{"read_file", args{"path": "long.txt", "lines": 10}, "[rein: lines 1-10 of 1000 of long.txt; go on with from_line=11]⋯"},
		step{"write_file", args{"path": "long.txt", "content": "short\n"}, "not_read: lines 11-1000 of 1000 of long.txt were not read in this run | read them with read_file and from_line=11, then write⋯"},
		step{"read_file", args{"path": "long.txt", "from_line": 900}, "⋯"},
		step{"write_file", args{"path": "long.txt", "content": "short\n"}, "not_read: lines 11-899 of 1000 of long.txt were not read in this run | ⋯"},
		step{"read_file", args{"path": "empty"}, "⋯"},
		step{"write_file", args{"path": "empty", "content": "x"}, "wrote empty: 1 line, 1 bytes (before: 0 lines, 0 bytes)"},
		step{"read_file", args{"path": "crlf.txt"}, "⋯"},
		step{"write_file", args{"path": "crlf.txt", "content": "c\n"}, "wrote crlf.txt: 1 line, 2 bytes (before: 2 lines, 6 bytes); the line ends changed from CRLF to LF"},
		step{"write_file", args{"path": "x.txt", "content": "a\n[rein: lines 1-20 of 60 of x.txt; go on with from_line=21]\n"}, "notice_in_content: content holds a remark of Rein's, [rein …], which is about a result and not part of the file | ⋯"},
		step{"write_file", args{"path": "x.txt", "content": "a\x00"}, "not_text: content holds a NUL character | ⋯"},
		step{"write_file", args{"path": "bin", "content": "a"}, "not_text: bin is not text⋯"},
		step{"write_file", args{"path": "deep", "content": "a"}, "is_directory: deep is a directory | ⋯"},
		step{"write_file", args{"path": ".", "content": "a"}, "is_directory: the workspace itself is a directory | ⋯"},
		step{"write_file", args{"path": "a.txt/b", "content": "a"}, "not_directory: a.txt is a file, so that there is nothing below it | ⋯"},
		step{"write_file", args{"path": ".rein-tmp-1", "content": "a"}, "invalid_path: \".rein-tmp-1\" is a name that is reserved | ⋯"},
	)
	for name, want := range map[string]string{"a.txt": "four\n", "new.txt": "z\n", "long.txt": numbers(1000), "crlf.txt": "c\n", "x.txt": "(no such file or directory)"} {
		if got := e.get(name); got != want {
			t.Errorf("%s holds %.40q", name, got)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(e.dir, "*", temporary+"*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// TestReadCutByTheLimit: lines that the result's limit cut away were not seen.
func TestReadCutByTheLimit(t *testing.T) {
	e := newEnv(t, map[string]string{"a.txt": numbers(300)})
	e.limit = 200
	text := e.call("read_file", args{"path": "a.txt"})
	var first, last, total int
	if _, err := fmt.Sscanf(text, "[rein: lines %d-%d of %d of a.txt;", &first, &last, &total); err != nil || last >= 299 || strings.Count(text, "\n") != last {
		t.Fatalf("%q: %v", text, err)
	}
	want := fmt.Sprintf("not_read: lines %d-300 of 300 of a.txt were not read in this run", last+1)
	if got := e.call("write_file", args{"path": "a.txt", "content": "x"}); !strings.HasPrefix(got, want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
	for next := last + 1; next <= 300; {
		text := e.call("read_file", args{"path": "a.txt", "from_line": next})
		if _, err := fmt.Sscanf(text, "[rein: lines %d-%d of", &first, &last); err != nil || first != next {
			t.Fatalf("%q", text)
		}
		next = last + 1
	}
	if got := e.call("write_file", args{"path": "a.txt", "content": "x"}); !strings.HasPrefix(got, "wrote a.txt") {
		t.Error(got)
	}
}

func TestEdit(t *testing.T) {
	e := newEnv(t, map[string]string{
		"a.go": "func a() {\n\treturn 1\n}\n\nfunc b() {\n\treturn 2\n}\n", "crlf.txt": "one\r\ntwo\r\nthree\r\n", "unread.txt": "hello\n", "dup.txt": "x\ny\nx\ny\nx\n", "over.txt": "aaa\n",
		"long.txt": strings.ReplaceAll(numbers(1000), "line \n", "mark\n"),
	})
	e.limit = 500
	for _, name := range []string{"a.go", "crlf.txt", "dup.txt", "over.txt", "long.txt"} {
		e.call("read_file", args{"path": name})
	}
	e.steps(
		step{"edit_file", args{"path": "a.go", "old": "return 1", "new": "return 10"}, "edited a.go: 1 replacement, on line 2; it has 7 lines, 48 bytes now"},
		step{"edit_file", args{"path": "a.go", "old": "return 2\n}\n", "new": "return 20\n}\n\nfunc c() {}\n"}, "edited a.go: 1 replacement, on line 6; it has 9 lines, 62 bytes now"},
		step{"edit_file", args{"path": "a.go", "old": "func", "new": "fn"}, "several_matches: old occurs 3 times in a.go, on lines 1, 5, 9 | add lines before or after to old and new, so that it occurs once, or set all to true"},
		step{"edit_file", args{"path": "a.go", "old": "return  10", "new": "x"}, "no_match: old does not occur in a.go | line 2 is similar: \"\treturn 10\"; line 6 is similar: \"\treturn 20\"; copy the text exactly as read_file shows it"},
		step{"edit_file", args{"path": "a.go", "old": "    return 10\n", "new": "x"}, "no_match: old does not occur in a.go | line 2 begins like it, but what follows or its white space differs; copy⋯"},
		step{"edit_file", args{"path": "a.go", "old": "something else entirely", "new": "x"}, "no_match: old does not occur in a.go | copy the text exactly as read_file shows it"},
		step{"edit_file", args{"path": "a.go", "old": "x", "new": "x"}, "nothing_to_change: old and new are the same | ⋯"},
		step{"edit_file", args{"path": "a.go", "old": "func a", "new": "[rein: lines 1-2 of 3]"}, "notice_in_content: new holds⋯"},
		step{"edit_file", args{"path": "b.go", "old": "a", "new": "b"}, "not_found: there is no \"b.go\" | did you mean a.go? ⋯"},
		step{"edit_file", args{"path": "crlf.txt", "old": "one\ntwo", "new": "1\n2"}, "edited crlf.txt: 1 replacement, on line 1; it has 3 lines, 13 bytes now"},
		step{"edit_file", args{"path": "unread.txt", "old": "hello", "new": "x"}, "not_read: unread.txt exists and was not read in this run | read it with read_file first, then edit it again"},
		step{"edit_file", args{"path": "unread.txt", "old": "hallo", "new": "x"}, "no_match: old does not occur in unread.txt | read the file with read_file first; line 1 is similar: \"hello\"; ⋯"},
		step{"edit_file", args{"path": "dup.txt", "old": "x\ny\n", "new": "z\n", "all": true}, "edited dup.txt: 2 replacements, on lines 1, 3; it has 3 lines, 6 bytes now"},
		step{"edit_file", args{"path": "over.txt", "old": "aa", "new": "b"}, "several_matches: old occurs 2 times in over.txt, on lines 1, 1 | ⋯"},
		step{"edit_file", args{"path": "long.txt", "old": "line xxxxxx\nmark\nline x\n", "new": "x", "all": true}, "not_read: lines 2⋯"},
	)
	for name, want := range map[string]string{
		"a.go": "func a() {\n\treturn 10\n}\n\nfunc b() {\n\treturn 20\n}\n\nfunc c() {}\n", "crlf.txt": "1\r\n2\r\nthree\r\n", "dup.txt": "z\nz\nx\n", "over.txt": "aaa\n", "unread.txt": "hello\n",
	} {
		if got := e.get(name); got != want {
			t.Errorf("%s holds %q", name, got)
		}
	}
	e.put("a.go", "func a() {}\n")
	e.steps(step{"edit_file", args{"path": "a.go", "old": "func a", "new": "func z"}, "stale: a.go has changed since it was read; ⋯"})
}

// TestEditOfAPart: an edit does not make the unread rest of a file known.
func TestEditOfAPart(t *testing.T) {
	e := newEnv(t, map[string]string{"a.txt": "1\n2\n3\n4\n5\n"})
	e.steps(
		step{"read_file", args{"path": "a.txt", "from_line": 2, "lines": 2}, "⋯"},
		step{"edit_file", args{"path": "a.txt", "old": "2\n", "new": "two\ntwo and a half\n"}, "edited a.txt: 1 replacement, on line 2; it has 6 lines, 27 bytes now"},
		step{"edit_file", args{"path": "a.txt", "old": "two and", "new": "2 and"}, "edited a.txt: ⋯"},
		step{"edit_file", args{"path": "a.txt", "old": "4", "new": "four"}, "not_read: lines 5-5 of 6 of a.txt were not read in this run | read them with read_file and from_line=5, then edit it again"},
		step{"write_file", args{"path": "a.txt", "content": "x"}, "not_read: lines 1-1 of 6 of a.txt⋯"},
		step{"read_file", args{"path": "a.txt", "lines": 1}, "⋯"},
		step{"read_file", args{"path": "a.txt", "from_line": 5}, "⋯"},
		step{"write_file", args{"path": "a.txt", "content": "x"}, "wrote a.txt: ⋯"},
	)
}

// TestSecondAttempt: after a crash the same call is carried out again.
func TestSecondAttempt(t *testing.T) {
	e := newEnv(t, map[string]string{"a.txt": "price: 5\nname: x\n", "b.txt": "x x\n", "c.txt": "1\n2\n3\n"})
	e.call("read_file", args{"path": "a.txt"})
	e.call("read_file", args{"path": "b.txt"})
	e.call("read_file", args{"path": "c.txt", "lines": 2})
	before := slices.Clone(e.seen)
	again := func(s step) {
		t.Helper()
		e.seen, e.attempt = slices.Clone(before), 2 // the outcome was lost
		e.steps(s)
		e.attempt = 1
	}
	// new contains old: doing it twice would give 555.
	edit := args{"path": "a.txt", "old": "5", "new": "55"}
	e.call("edit_file", edit)
	again(step{"edit_file", edit, "edited a.txt: the replacement had been made already, by an earlier attempt of this call"})
	if got := e.get("a.txt"); got != "price: 55\nname: x\n" {
		t.Errorf("a.txt holds %q", got)
	}
	e.steps(step{"write_file", args{"path": "a.txt", "content": "done\n"}, "wrote a.txt: ⋯"})

	all := args{"path": "b.txt", "old": "x", "new": "y", "all": true}
	e.call("edit_file", all)
	again(step{"edit_file", all, "edited b.txt: the replacement had been made already⋯"})

	part := args{"path": "c.txt", "old": "2", "new": "two"}
	e.call("edit_file", part)
	again(step{"edit_file", part, "edited c.txt: the replacement had been made already⋯"})
	e.steps(step{"write_file", args{"path": "c.txt", "content": "x"}, "not_read: lines 3-3 of 3 of c.txt⋯"})

	write := args{"path": "new.txt", "content": "n\n"}
	e.call("write_file", write)
	again(step{"write_file", write, "new.txt already has exactly this content⋯"})

	// Somebody else's change is not ours.
	e.put("b.txt", "y x\n")
	again(step{"edit_file", all, "stale: b.txt has changed⋯"})
	// What a first attempt left behind is cleared away.
	e.put(".rein-tmp-0000000000000000", "left")
	if got := e.call("list_dir", args{}); strings.Contains(got, temporary) {
		t.Error(got)
	}
}

func TestModeIsKept(t *testing.T) {
	e := newEnv(t, map[string]string{"run.sh": "#!/bin/sh\n"})
	if err := os.Chmod(filepath.Join(e.dir, "run.sh"), 0o750); err != nil {
		t.Fatal(err)
	}
	e.call("read_file", args{"path": "run.sh"})
	e.steps(step{"edit_file", args{"path": "run.sh", "old": "sh\n", "new": "sh\necho\n"}, "edited run.sh: ⋯"})
	info, err := os.Stat(filepath.Join(e.dir, "run.sh"))
	if err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestSizes(t *testing.T) {
	dir := t.TempDir()
	list, closer, err := Tools(dir, &Options{MaxBytes: 10})
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	e := &env{t: t, dir: dir, tools: map[string]tool.Tool{}, attempt: 1}
	for _, tl := range list {
		e.tools[tl.Definition().Name] = tl
	}
	e.put("a", strings.Repeat("x", 11))
	e.put("b", "123456789\n")
	e.steps(
		step{"read_file", args{"path": "a"}, "[rein: lines 1-1 of 1 of a (all); no line break at the end]\nxxxxxxxxxxx"},
		step{"edit_file", args{"path": "a", "old": "x", "new": "y"}, "too_large: a has 11 bytes or more; files up to 10 are changed and searched | ⋯"},
		step{"read_file", args{"path": "b"}, "[rein: lines 1-1 of 1 of b (all)]\n123456789\n"},
		step{"write_file", args{"path": "c", "content": strings.Repeat("x", 11)}, "too_large: content has 11 bytes; files up to 10 are written | ⋯"},
		step{"edit_file", args{"path": "b", "old": "1", "new": "100"}, "too_large: ⋯"},
		step{"search_files", args{"pattern": "x"}, "Nothing found: none of the 1 file that were searched contains \"x\" (left out: 1 too large). ⋯"},
	)
}

// TestCancelledWrite: a call that is given up before the rename changes nothing.
func TestCancelledWrite(t *testing.T) {
	e := newEnv(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := e.try(ctx, "write_file", args{"path": "a.txt", "content": "x"})
	if err == nil || err.Type != "cancelled" || !err.NoEffect || e.get("a.txt") != "(no such file or directory)" {
		t.Errorf("%+v, %q", err, e.get("a.txt"))
	}
	if left, _ := os.ReadDir(e.dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestParallelWrites(t *testing.T) {
	e := newEnv(t, map[string]string{"n.txt": "0\n"})
	e.call("read_file", args{"path": "n.txt"})
	seen := slices.Clone(e.seen)
	var wg sync.WaitGroup
	won := make([]bool, 8)
	for i := range won {
		wg.Go(func() {
			a := fmt.Sprintf(`{"path":"n.txt","old":"0","new":"%d"}`, i+1)
			_, err := e.tools["edit_file"].Run(context.Background(), &tool.Call{Args: []byte(a), Key: fmt.Sprint(i), Attempt: 1, Seen: seen})
			won[i] = err == nil
			name := fmt.Sprintf("f%d", i)
			if _, err := e.tools["write_file"].Run(context.Background(), &tool.Call{Args: []byte(`{"path":"` + name + `","content":"x"}`), Attempt: 1}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	n := slices.Index(won, true)
	if n < 0 || slices.Contains(won[n+1:], true) || e.get("n.txt") != fmt.Sprintf("%d\n", n+1) {
		t.Errorf("%v, file %q", won, e.get("n.txt"))
	}
}

// TestCarry compares what is known after changes with a count byte by byte.
func TestCarry(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	word := func(n int) string {
		var b strings.Builder
		for range rng.IntN(n) {
			b.WriteByte("ab\n"[rng.IntN(3)])
		}
		return b.String()
	}
	for range 5000 {
		text := word(20)
		lines := make([]bool, countLines(text))
		for i := range lines {
			lines[i] = rng.IntN(3) > 0
		}
		var changes []change
		for at := 0; at < len(text) && rng.IntN(3) > 0; {
			at += rng.IntN(len(text) - at)
			end := at + 1 + rng.IntN(min(4, len(text)-at))
			changes = append(changes, change{at, text[at:end], word(5)})
			at = end
		}
		got := carry(text, lines, changes)

		var after strings.Builder
		var known []bool
		from, line := 0, 0
		for _, c := range append(changes, change{at: len(text)}) {
			for _, b := range []byte(text[from:c.at]) {
				after.WriteByte(b)
				known = append(known, lines[line])
				if b == '\n' {
					line++
				}
			}
			line += strings.Count(c.old, "\n")
			after.WriteString(c.new)
			for range len(c.new) {
				known = append(known, true)
			}
			from = c.at + len(c.old)
		}
		var want []bool
		at := 0
		for l := range strings.Lines(after.String()) {
			want = append(want, !slices.Contains(known[at:at+len(l)], false))
			at += len(l)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q %v, %+v:\n got %v\nwant %v", text, lines, changes, got, want)
		}
	}
}

func TestSeenRanges(t *testing.T) {
	f := newFile("1\n2\n3\n4\n")
	for _, test := range []struct {
		lines []bool
		want  []event.Seen
	}{
		{[]bool{true, true, true, true}, []event.Seen{{Wrote: true}}},
		{[]bool{true, false, true, true}, []event.Seen{{From: 1, To: 1}, {From: 3, To: 4}}},
		{[]bool{false, false, false, false}, []event.Seen{{}}},
	} {
		got := seenRanges("a", f, test.lines)
		for i := range test.want {
			test.want[i].Resource, test.want[i].Version, test.want[i].Total = "a", f.version, 4
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%v: %+v", test.lines, got)
		}
	}
}

// A file is deleted only by somebody who has seen it as it is.
func TestDelete(t *testing.T) {
	e := newEnv(t, map[string]string{"a": "one\ntwo\n", "d/b": "x\n"})
	e.steps(
		step{"delete_file", args{"path": "a"}, "not_read: a exists and was not read in this run⋯"},
		step{"read_file", args{"path": "a", "lines": 1}, "[rein: lines 1-1 of 2⋯"},
		step{"delete_file", args{"path": "a"}, "deleted a: it had 2 lines"},
		step{"delete_file", args{"path": "a"}, "not_found: ⋯"},
		step{"delete_file", args{"path": "d"}, "is_directory: ⋯"},
		step{"delete_file", args{"path": "../x"}, "outside_workspace: ⋯"},
		step{"read_file", args{"path": "d/b"}, "[rein: lines 1-1 of 1⋯"},
	)
	e.put("d/b", "changed\n")
	e.steps(step{"delete_file", args{"path": "d/b"}, "stale: ⋯"})
	e.attempt = 2
	e.steps(step{"delete_file", args{"path": "a"}, "a is gone: an earlier attempt⋯"})
	if got := e.get("a") + e.get("d/b"); got != "(no such file or directory)changed\n" {
		t.Errorf("the files are %q", got)
	}
}

// TestEditOfALongLine: a line that is too long to be shown whole can be edited,
// and does not count as read for a whole overwrite; the refusal says the way.
func TestEditOfALongLine(t *testing.T) {
	e := newEnv(t, map[string]string{"min.js": strings.Repeat("var a;", 8000) + "var needle=1;\nend\n"})
	e.steps(
		step{"edit_file", args{"path": "min.js", "old": "needle=1", "new": "needle=2"}, "not_read: min.js exists and was not read⋯"},
		step{"read_file", args{"path": "min.js"}, "[rein: only the beginning of line 1 of 2⋯"},
		step{"read_file", args{"path": "min.js", "from_line": 2}, "⋯"},
		step{"write_file", args{"path": "min.js", "content": "x\n"}, "not_read: lines 1-1 of 2 of min.js were not read in this run | line 1 is too long to be shown whole, so it never counts as read: leave it as it is, and change what is needed with edit_file"},
		step{"edit_file", args{"path": "min.js", "old": "needle=1", "new": "needle=2"}, "edited min.js: 1 replacement, on line 1⋯"},
		step{"edit_file", args{"path": "min.js", "old": "needle=2", "new": "needle=3"}, "not_read: lines 1-1 of 2⋯"},
	)
}

// TestRefusalsAreFinal: what is refused for want of reading is not worth the same
// call again, so that nothing tries it by itself.
func TestRefusalsAreFinal(t *testing.T) {
	f := newFile("a\nb\n")
	for _, k := range []known{{}, {any: true}, {any: true, current: true, lines: []bool{true, false}}} {
		if e := tool.ErrorOf(k.unseen("a.txt", f, 1, 2, "write it again")); e == nil || e.Retryable || !e.NoEffect {
			t.Errorf("%+v: %+v", k, e)
		}
	}
}
