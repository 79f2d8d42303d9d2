package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"rein.example/rein/event"
	"rein.example/rein/schema"
	"rein.example/rein/tool"
)

// env is a workspace with its tools, called as an engine calls them: arguments
// checked, results shaped, what was seen remembered.
type env struct {
	t       *testing.T
	dir     string
	tools   map[string]tool.Tool
	seen    []event.Seen
	attempt int
	limit   int
}

type args map[string]any

func newEnv(t *testing.T, files map[string]string) *env {
	t.Helper()
	e := &env{t: t, dir: t.TempDir(), tools: map[string]tool.Tool{}, attempt: 1}
	for name, content := range files {
		e.put(name, content)
	}
	list, closer, err := Tools(e.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closer.Close() })
	for _, tl := range list {
		e.tools[tl.Definition().Name] = tl
	}
	return e
}

func (e *env) put(name, content string) {
	e.t.Helper()
	p := filepath.Join(e.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) get(name string) string {
	data, err := os.ReadFile(filepath.Join(e.dir, filepath.FromSlash(name)))
	if err != nil {
		return "(" + err.Error()[strings.LastIndex(err.Error(), ": ")+2:] + ")"
	}
	return string(data)
}

// call returns the text that the model is shown, or the error's.
func (e *env) call(name string, a args) string {
	e.t.Helper()
	text, err := e.try(e.t.Context(), name, a)
	if err != nil {
		return err.Type + ": " + err.Message + " | " + err.Hint
	}
	return text
}

func (e *env) try(ctx context.Context, name string, a args) (string, *tool.Error) {
	e.t.Helper()
	tl := e.tools[name]
	raw, err := json.Marshal(a, json.Deterministic(true))
	if err != nil {
		e.t.Fatal(err)
	}
	s, err := schema.Compile(tl.Definition().Schema)
	if err != nil {
		e.t.Fatal(err)
	}
	canonical, _, problems := s.Check(raw)
	if problems != nil {
		e.t.Fatalf("%s: %s", raw, schema.Text(problems))
	}
	r, err := tl.Run(ctx, &tool.Call{ID: "c", Key: "k", Args: canonical, Attempt: e.attempt, Seen: e.seen})
	if err != nil {
		var told *tool.Error
		if !errors.As(err, &told) {
			e.t.Fatalf("%s %s: not an error for the model: %v", name, raw, err)
		}
		if strings.Contains(told.Message+told.Hint, e.dir) {
			e.t.Fatalf("%s %s: names the host's path: %v", name, raw, told)
		}
		return "", told
	}
	parts, _ := tool.Shape(r, &tool.View{Spec: &event.ToolSpec{Name: name, Effect: event.Read, ResultTokens: int64(e.limit)},
		Count: func(s string) int { return (len(s) + 3) / 4 }})
	e.fold(r.Seen)
	return parts[0].Text, nil
}

// fold remembers what was seen, as a run does: a new version replaces the old.
func (e *env) fold(seen []event.Seen) {
	for _, s := range seen {
		var kept []event.Seen
		for _, k := range e.seen {
			if k.Resource != s.Resource || k.Version == s.Version && !s.Wrote {
				kept = append(kept, k)
			}
		}
		e.seen = append(kept, s)
	}
}

// step is one call and what it must say: a text, or the beginning and the end of
// one with ⋯ between, or the type of an error and something in it.
type step struct {
	tool string
	args args
	want string
}

func (e *env) steps(steps ...step) {
	e.t.Helper()
	for i, s := range steps {
		got := e.call(s.tool, s.args)
		before, after, wild := strings.Cut(s.want, "⋯")
		if wild && strings.HasPrefix(got, before) && strings.HasSuffix(got[len(before):], after) || got == s.want {
			continue
		}
		e.t.Errorf("step %d, %s %v:\n got %q\nwant %q", i+1, s.tool, s.args, got, s.want)
	}
}

func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("line ")
		b.WriteString(strings.Repeat("x", i%7))
		b.WriteString("\n")
	}
	return b.String()
}

func TestTools(t *testing.T) {
	e := newEnv(t, nil)
	for name, effect := range map[string]event.Effect{
		"read_file": event.Read, "list_dir": event.Read, "find_files": event.Read, "search_files": event.Read, "write_file": event.Repeatable, "delete_file": event.Repeatable, "edit_file": event.Repeatable,
	} {
		d := e.tools[name].Definition()
		if d.Effect != effect || d.Doc.What == "" || d.Doc.When == "" || d.Doc.Returns == "" {
			t.Errorf("%s: %+v", name, d)
		}
	}
	list, closer, err := Tools(e.dir, &Options{ReadOnly: true})
	if err != nil || len(list) != 4 {
		t.Errorf("read-only: %d tools, %v", len(list), err)
	}
	closer.Close()
	e.put("file", "")
	for _, dir := range []string{filepath.Join(e.dir, "none"), filepath.Join(e.dir, "file")} {
		if _, _, err := Tools(dir, nil); err == nil {
			t.Errorf("%s is a workspace", dir)
		}
	}
	if _, _, err := Tools(e.dir, &Options{MaxBytes: -1}); err == nil {
		t.Error("a negative size")
	}
}

func TestRead(t *testing.T) {
	e := newEnv(t, map[string]string{
		"notes.md": "one\ntwo\nthree\n", "open.txt": "one\ntwo", "empty": "", "crlf.txt": "a\r\nb\r\n", "mixed.txt": "a\r\nb\n",
		"long.txt": numbers(3000), "docs/a.md": "x\n", "docs/sub/b.md": "x\n", "ünï.txt": "ü\n",
		"logo.png": "\x89PNG\r\n\x1a\n", "data.bin": "ab\x00c", "latin1.txt": "one\ncaf\xe9\n", "wide.txt": strings.Repeat("ä", 40_000) + "\nend\n",
	})
	e.limit = 500
	e.steps(
		step{"read_file", args{"path": "notes.md"}, "[rein: lines 1-3 of 3 of notes.md (all)]\none\ntwo\nthree\n"},
		step{"read_file", args{"path": "./notes.md", "from_line": 2}, "[rein: lines 2-3 of 3 of notes.md (to the end); unchanged since you read it]\ntwo\nthree\n"},
		step{"read_file", args{"path": filepath.Join(e.dir, "notes.md"), "from_line": 2, "lines": 1}, "[rein: lines 2-2 of 3 of notes.md; go on with from_line=3; unchanged since you read it]\ntwo\n"},
		step{"read_file", args{"path": "open.txt"}, "[rein: lines 1-2 of 2 of open.txt (all); no line break at the end]\none\ntwo"},
		step{"read_file", args{"path": "empty"}, "[rein: empty is an empty file: it has no lines]"},
		step{"read_file", args{"path": "crlf.txt"}, "[rein: lines 1-2 of 2 of crlf.txt (all); CRLF line ends]\na\nb\n"},
		step{"read_file", args{"path": "mixed.txt"}, "[rein: lines 1-2 of 2 of mixed.txt (all)]\na\r\nb\n"},
		step{"read_file", args{"path": "docs//sub/./b.md"}, "[rein: lines 1-1 of 1 of docs/sub/b.md (all)]\nx\n"},
		step{"read_file", args{"path": "ünï.txt"}, "[rein: lines 1-1 of 1 of ünï.txt (all)]\nü\n"},
		step{"read_file", args{"path": "long.txt"}, "[rein: lines 1-215 of 3000 of long.txt; go on with from_line=216]\n⋯\nline xxxx"},
		step{"read_file", args{"path": "long.txt", "from_line": 215, "lines": 2}, "[rein: lines 215-216 of 3000 of long.txt; go on with from_line=217]\n⋯\nline xxxxx\n"},
		step{"read_file", args{"path": "long.txt", "from_line": 3001}, "past_end: long.txt has 3000 lines; line 3001 is past its end | read from a line between 1 and 3000"},
		step{"read_file", args{"path": "wide.txt"}, "[rein: only the beginning of line 1 of 2 of wide.txt, which is too long; search_files finds text inside it; go on with from_line=2]\nää⋯[rein: cut: 1500 of 80000 bytes of this line shown]"},
		step{"read_file", args{"path": "wide.txt", "from_line": 2}, "[rein: lines 2-2 of 2 of wide.txt (to the end)]\nend\n"},
		step{"read_file", args{"path": "docs"}, "is_directory: docs is a directory | ⋯"},
		step{"read_file", args{"path": "note.md"}, `not_found: there is no "note.md" | did you mean notes.md? the workspace holds ⋯`},
		step{"read_file", args{"path": "doc/a.md"}, `not_found: there is no "doc/a.md" | did you mean docs? ⋯`},
		step{"read_file", args{"path": "b.md"}, `not_found: there is no "b.md" | did you mean docs/sub/b.md? ⋯`},
		step{"read_file", args{"path": "docs/a.md/x"}, "not_directory: docs/a.md is a file, so that there is nothing below it | ⋯"},
		step{"read_file", args{"path": "logo.png"}, "not_text: logo.png is not text that can be shown: a PNG image, 8 bytes | ⋯"},
		step{"read_file", args{"path": "data.bin"}, "not_text: data.bin is not text that can be shown: binary data, 4 bytes | ⋯"},
		step{"read_file", args{"path": "latin1.txt"}, "not_text: latin1.txt is not text that can be shown: bytes that are not UTF-8, the first on line 2, 9 bytes | ⋯"},
	)
}

func TestList(t *testing.T) {
	files := map[string]string{"b.txt": "hello", "a/x": "", "z/y": ""}
	e := newEnv(t, files)
	if err := os.Symlink("b.txt", filepath.Join(e.dir, "link")); err != nil {
		t.Skipf("links cannot be made here, as on Windows without the right to: %v", err)
	}
	if err := os.Mkdir(filepath.Join(e.dir, "void"), 0o755); err != nil {
		t.Fatal(err)
	}
	e.put(".rein-tmp-123", "left behind")
	e.steps(
		step{"list_dir", args{}, "[rein: the workspace holds 2 files and 3 directories]\na/\nb.txt (5 bytes)\nlink (symbolic link)\nvoid/\nz/"},
		step{"list_dir", args{"path": "./"}, "[rein: the workspace holds⋯"},
		step{"list_dir", args{"path": "a"}, "[rein: a holds 1 files and 0 directories]\nx (0 bytes)"},
		step{"list_dir", args{"path": "void"}, "void is empty: it holds no files and no directories"},
		step{"list_dir", args{"path": "b.txt"}, "not_directory: b.txt is a file | use read_file to read it"},
		step{"list_dir", args{"path": "vold"}, `not_found: there is no "vold" | did you mean void? the workspace holds a/, b.txt, link, void/, z/`},
	)
	many := newEnv(t, nil)
	for i := range 600 {
		many.put(strings.Repeat("n", 1+i%50)+string(rune('a'+i/50)), "")
	}
	got := many.call("list_dir", args{})
	if !strings.HasPrefix(got, "[rein: the first ") || !strings.Contains(got, " of 600 entries of the workspace; to see others") {
		t.Errorf("many: %.200q", got)
	}
}

func TestSearch(t *testing.T) {
	e := newEnv(t, map[string]string{
		"a.md": "apple\nBanana\napple pie\r\n", "src/x.go": "package x // apple\n", "src/deep/y.go": "no fruit\n",
		"bin": "apple\x00", ".git/config": "apple", "long.txt": strings.Repeat("é", 300) + "needle" + strings.Repeat("é", 300) + "\n", "big.txt": numbers(500),
	})
	e.steps(
		step{"search_files", args{"pattern": "apple"}, "[rein: 3 lines in 2 of 5 files searched contain \"apple\" (left out: 1 not text, 1 version control or too deep)]\na.md:1: apple\na.md:3: apple pie\nsrc/x.go:1: package x // apple"},
		step{"search_files", args{"pattern": "apple", "glob": "*.go"}, "[rein: 1 line of 2 files searched contains \"apple\" (left out: 1 version control or too deep)]\nsrc/x.go:1: package x // apple"},
		step{"search_files", args{"pattern": "apple", "path": "src"}, "[rein: 1 line of 2 files searched contains \"apple\"]\nsrc/x.go:1: package x // apple"},
		step{"search_files", args{"pattern": "apple", "path": "a.md"}, "[rein: 2 lines in 1 of 1 file searched contain \"apple\"]\na.md:1: apple\na.md:3: apple pie"},
		step{"search_files", args{"pattern": "banana"}, "Nothing found: none of the 5 files that were searched contains \"banana\" (left out: 1 not text, 1 version control or too deep). No further call is needed to be sure of that; other spellings or case may still occur."},
		step{"search_files", args{"pattern": "(?i)^BANANA$", "regex": true}, "[rein: 1 line of 5 files searched matches \"(?i)^BANANA$\" (left out: 1 not text, 1 version control or too deep)]\na.md:2: Banana"},
		step{"search_files", args{"pattern": "a.ple"}, "Nothing found: ⋯"},
		step{"search_files", args{"pattern": "needle"}, "[rein: 1 line of 5 files searched contains \"needle\" (left out: 1 not text, 1 version control or too deep)]\nlong.txt:1: [rein: bytes 483-722 of 1206]éé⋯éé"},
		step{"find_files", args{"glob": "src/**/*.go"}, "[rein: 2 files whose name matches \"src/**/*.go\" (left out: 1 version control or too deep)]\nsrc/deep/y.go\nsrc/x.go"},
		step{"find_files", args{"glob": "*.rs"}, "Nothing found: there is no file whose name matches \"*.rs\" (left out: 1 version control or too deep). No further call⋯"},
		step{"search_files", args{"pattern": "line"}, "[rein: 500 lines in 1 of 5 files searched contain \"line\" (left out: 1 not text, 1 version control or too deep); the first 200 follow: narrow⋯\nbig.txt:200: line xxx"},
		step{"search_files", args{"pattern": "(", "regex": true}, "invalid_pattern: the regular expression \"(\" cannot be read: missing closing ): `(` | ⋯"},
		step{"search_files", args{"pattern": "a\nb"}, "invalid_pattern: the pattern has a line break⋯"},
		step{"search_files", args{"pattern": "a", "glob": "[a"}, "invalid_pattern: the glob \"[a\" cannot be used: a [ is not closed | ⋯"},
		step{"search_files", args{"pattern": "a", "path": "scr"}, `not_found: there is no "scr" | did you mean src? ⋯`},
		step{"search_files", args{"pattern": "a", "path": ".."}, `outside_workspace: ".." goes up with .. | ⋯`},
	)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := e.tools["search_files"].Run(ctx, &tool.Call{Args: []byte(`{"pattern":"apple"}`)})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// The entries that are shown are the first by name, of however many.
func TestListDirShowsTheFirst(t *testing.T) {
	e := newEnv(t, nil)
	const n = 2*maxListed + 50
	for i := range n {
		e.put(fmt.Sprintf("f%05d", i*7919%n), "")
	}
	e.put("a\nb", "")
	got := e.call("list_dir", args{})
	want := fmt.Sprintf("of %d entries", n+1)
	lines := strings.Split(got, "\n")
	if !strings.Contains(lines[0], want) || lines[1] != `"a\nb" (0 bytes)` || lines[2] != "f00000 (0 bytes)" || lines[len(lines)-1] != fmt.Sprintf("f%05d (0 bytes)", len(lines)-3) {
		t.Errorf("want %s, and the first of them:\n%s … %s", want, strings.Join(lines[:3], "\n"), lines[len(lines)-1])
	}
	if got := e.call("find_files", args{"glob": "a*"}); !strings.Contains(got, "\n"+`"a\nb"`) {
		t.Errorf("search_files: %s", got)
	}
}

func TestShownName(t *testing.T) {
	for in, want := range map[string]string{
		"a.txt": "a.txt", "größe 5.txt": "größe 5.txt", "a\nb (3 bytes)": `"a\nb (3 bytes)"`, "\x1b[2J": `"\x1b[2J"`,
		"\u202etxt.exe": `"\u202etxt.exe"`, "a\xff": `"a\xff"`,
	} {
		if got := shownName(in); got != want {
			t.Errorf("%q is shown as %s, want %s", in, got, want)
		}
	}
}
