//go:build unix

package files

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rein.example/rein/tool"
)

// TestNothingLeadsOut tries the ways out of a workspace that are known.
func TestNothingLeadsOut(t *testing.T) {
	e := newEnv(t, map[string]string{"in.txt": "inside\n", "sub/s.txt": "sub\n"})
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret.txt")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	sibling := e.dir + "_secret"
	if err := os.Mkdir(sibling, 0o755); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(sibling)
	if err := os.WriteFile(filepath.Join(sibling, "x"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(e.dir, name) }
	for _, err := range []error{
		os.Symlink(secret, at("link")), os.Symlink(outside, at("dirlink")), os.Symlink("../"+filepath.Base(outside), at("updir")),
		os.Symlink("in.txt", at("inlink")), os.Symlink("/proc/self/root", at("proc")), os.Symlink("loop", at("loop")),
		os.Link(secret, at("hard")), syscall.Mkfifo(at("pipe"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{
		"../" + filepath.Base(outside) + "/secret.txt", "sub/../../x", "..", "sub/..", "in.txt/..", secret, "/etc/passwd", "//etc/passwd", sibling + "/x",
		"../" + filepath.Base(sibling) + "/x", "link", "dirlink/secret.txt", "dirlink/../secret.txt", "updir/secret.txt", "proc" + secret, "loop", "hard", "pipe",
		"/proc/self/root" + secret, "~/x", "~", "in.txt\x00.png", "a\nb", "\x1b[0m", strings.Repeat("a/", 3000), strings.Repeat("a", 300), "", "/", "sub/\u0085",
	} {
		for name, a := range map[string]args{
			"read_file": {"path": p}, "write_file": {"path": p, "content": "overwritten"}, "edit_file": {"path": p, "old": "secret", "new": "overwritten"},
			"list_dir": {"path": p}, "search_files": {"path": p, "pattern": "secret"},
		} {
			if p == "" && name != "list_dir" && name != "search_files" {
				continue // the schema refuses it
			}
			got, err := e.try(t.Context(), name, a)
			if err == nil && p == "" {
				continue // the workspace itself
			}
			if err == nil && strings.HasPrefix(got, "Nothing found") && (p == "hard" || p == "pipe") {
				continue // left out of a search
			}
			if err == nil || err.Type == "io_error" && p != "loop" || err.Hint == "" {
				t.Errorf("%s %q: %q, %+v", name, p, got, err)
			}
		}
	}
	if data, err := os.ReadFile(secret); err != nil || string(data) != "secret" {
		t.Errorf("the secret is now %q, %v", data, err)
	}
	e.steps(
		step{"search_files", args{"pattern": "secret"}, "Nothing found: none of the 2 files⋯"},
		step{"read_file", args{"path": "inlink"}, "[rein: lines 1-1 of 1 of inlink (all)]\ninside\n"},
		step{"write_file", args{"path": "inlink", "content": "x"}, "symbolic_link: inlink is a symbolic link, which is not replaced | change the file that it points to by its own path: the link says \"in.txt\""},
		step{"edit_file", args{"path": "inlink", "old": "inside", "new": "x"}, "symbolic_link: ⋯"},
		step{"write_file", args{"path": "dirlink/new.txt", "content": "x"}, "outside_workspace: dirlink/new.txt leads out of the workspace through a symbolic link | ⋯"},
	)
}

// TestSwappedLink: a name that changes between a file and a link to the outside
// never shows the outside.
func TestSwappedLink(t *testing.T) {
	e := newEnv(t, map[string]string{"x": "inside\n"})
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		x, y := filepath.Join(e.dir, "x"), filepath.Join(e.dir, ".rein-tmp-y")
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if i%2 == 0 {
				_ = os.Symlink(secret, y)
			} else {
				_ = os.WriteFile(y, []byte("inside\n"), 0o600)
			}
			_ = os.Rename(y, x)
		}
	}()
	read := e.tools["read_file"]
	for range 2000 {
		r, err := read.Run(t.Context(), &tool.Call{Args: []byte(`{"path":"x"}`)})
		if err == nil && strings.Contains(r.Parts[0].Text, "secret") {
			t.Error("the outside was shown")
			break
		}
	}
	close(stop)
	<-done
}

func TestClean(t *testing.T) {
	hosts := []string{"/srv/work", "/real/work"}
	for _, test := range []struct{ path, want string }{
		{"a.txt", "a.txt"}, {"./a.txt", "a.txt"}, {"a//b/./c/", "a/b/c"}, {".", "."}, {"./", "."}, {"a..b", "a..b"}, {"...", "..."}, {" a ", " a "},
		{"/srv/work/a/b", "a/b"}, {"/srv/work", "."}, {"/srv/work/", "."}, {"/real/work//a", "a"}, {`a\b`, `a\b`}, {"c:d", "c:d"},
		{"/srv/work/../x", ""}, {"/srv/works/a", ""}, {"/srv", ""}, {"/", ""}, {"..", ""}, {"a/../b", ""}, {"", ""}, {"a\x00", ""}, {"\u202e", "\u202e"},
	} {
		got, err := clean(test.path, hosts)
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("clean(%q) = %q, %v; want %q", test.path, got, err, test.want)
		}
	}
}

// FuzzClean: a path that is taken is relative, goes nowhere up, and is its own
// clean form.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"a/b", "../x", "/srv/work/../../etc", "././/..", "/srv/work//./a\\..\\b", "~/.ssh", "a\x00b", "C:\\x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := clean(s, []string{"/srv/work"})
		if err != nil {
			if err.Hint == "" || got != "" {
				t.Fatalf("%q: %q, %+v", s, got, err)
			}
			return
		}
		if got != path.Clean(got) || path.IsAbs(got) || got == ".." || strings.HasPrefix(got, "../") || !filepath.IsLocal(got) {
			t.Fatalf("%q becomes %q", s, got)
		}
		if again, err := clean(got, []string{"/srv/work"}); err != nil && !strings.HasPrefix(got, "~") || err == nil && again != got {
			t.Fatalf("%q becomes %q, and that %q, %v", s, got, again, err)
		}
	})
}

func TestGlob(t *testing.T) {
	for _, test := range []struct{ glob, yes, no string }{
		{"", "a a/b", ""},
		{"*.md", "a.md d/b.md .md", "a.mdx md a.md/b"},
		{"a?c", "abc x/aéc", "ac abbc"},
		{"src/*.go", "src/a.go", "a.go src/x/a.go"},
		{"src/**/*.go", "src/a.go src/x/a.go src/x/y/a.go", "a.go srcx/a.go"},
		{"**/a", "a x/a x/y/a", "b xa"},
		{"src/**", "src/a src/x/y", "a"},
		{"*.{md,txt}", "a.md a.txt", "a.go"},
		{"[a-c]x", "ax x/cx", "dx"},
		{"[!a]x", "bx", "ax"},
		{"a.b", "a.b", "axb"},
		{"./a/b", "a/b", "b"},
		{`[\d]`, `d \`, "5"},
	} {
		match, err := compileGlob(test.glob)
		if err != nil {
			t.Errorf("%q: %v", test.glob, err)
			continue
		}
		for _, s := range strings.Fields(test.yes) {
			if !match(s) {
				t.Errorf("%q does not match %q", test.glob, s)
			}
		}
		for _, s := range strings.Fields(test.no) {
			if match(s) {
				t.Errorf("%q matches %q", test.glob, s)
			}
		}
	}
	for _, bad := range []string{"[a", "{a", "[]", "[z-a]", strings.Repeat("a", 1001)} {
		if _, err := compileGlob(bad); err == nil {
			t.Errorf("%.20q is a glob", bad)
		}
	}
}

// FuzzGlob compares with path.Match where both mean the same.
func FuzzGlob(f *testing.F) {
	f.Add("a*b?.md", "axxb1.md")
	f.Add("[a-c]*", "b")
	f.Add("{a,b}", "a")
	f.Fuzz(func(t *testing.T, glob, name string) {
		match, err := compileGlob(glob)
		if err != nil || name == "" {
			return
		}
		got := match(name)
		if strings.ContainsAny(glob, `\[]{}/`) || strings.Contains(glob, "**") || glob == "" || strings.HasPrefix(glob, "./") || strings.Contains(name, "/") || strings.ToValidUTF8(glob+name, "") != glob+name {
			return
		}
		want, err := path.Match(glob, name)
		if err == nil && got != want {
			t.Fatalf("%q on %q: %v, want %v", glob, name, got, want)
		}
	})
}
