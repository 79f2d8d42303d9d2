package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReplace(t *testing.T) {
	const from, to = "a.example/x", "b.example/y/z"
	for _, c := range []struct{ in, want string }{
		{`import "a.example/x"`, `import "b.example/y/z"`},
		{`import "a.example/x/event"`, `import "b.example/y/z/event"`},
		{"module a.example/x\n", "module b.example/y/z\n"},
		{"a.example/x", "b.example/y/z"},
		{"See a.example/x. Then go on", "See b.example/y/z. Then go on"},
		{"go get a.example/x@latest", "go get b.example/y/z@latest"},
		{"a.example/x a.example/x", "b.example/y/z b.example/y/z"},
		// Other words that only contain it.
		{"a.example/xylophone", "a.example/xylophone"},
		{"a.example/x-tools", "a.example/x-tools"},
		{"a.example/x.git", "a.example/x.git"},
		{"aa.example/x", "aa.example/x"},
		{"www.a.example/x", "www.a.example/x"},
		{"nothing", "nothing"},
	} {
		if got := replace(c.in, from, to); got != c.want {
			t.Errorf("replace(%q)\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

func TestRenameSortsImportsAndLeavesOtherFilesAlone(t *testing.T) {
	dir := t.TempDir()
	files := map[string]struct{ before, after string }{
		"go.mod": {"module m.example/rein\n", "module a.example/r\n"},
		"x.go": {
			"package x\n\nimport (\n\t_ \"b.example/other\"\n\t_ \"m.example/rein/event\"\n)\n",
			"package x\n\nimport (\n\t_ \"a.example/r/event\"\n\t_ \"b.example/other\"\n)\n",
		},
		"binary":      {"m.example/rein\x00", "m.example/rein\x00"},
		".git/config": {"m.example/rein", "m.example/rein"},
		"broken.go":   {"package (m.example/rein", "package (a.example/r"},
	}
	for name, f := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(f.before), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	n, err := rename(dir, "a.example/r")
	if err != nil || n != 3 {
		t.Fatalf("rename changed %d files, want 3; error %v", n, err)
	}
	for name, f := range files {
		if got, _ := os.ReadFile(filepath.Join(dir, name)); string(got) != f.after {
			t.Errorf("%s is now %q, want %q", name, got, f.after)
		}
	}
}

func TestRenameRefusesWhatIsNoModulePath(t *testing.T) {
	for _, to := range []string{"", "rein", "a.example/x y", "/a.example"} {
		if _, err := rename(t.TempDir(), to); err == nil {
			t.Errorf("rename to %q succeeded", to)
		}
	}
}
