package arch

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAnotherModuleCanUseRein builds the README's program in a module of its own
// that finds this one through replace, with nothing from the network.
func TestAnotherModuleCanUseRein(t *testing.T) {
	lookAtTree(t)
	dir := t.TempDir()
	write(t, dir, "go.mod", consumer(t))
	copyFile(t, filepath.Join(moduleRoot, "go.sum"), filepath.Join(dir, "go.sum"))
	write(t, dir, "main.go", readmeBlock(t, "go"))
	run(t, dir, "GOFLAGS=-mod=mod", "GOPROXY=off", "CGO_ENABLED=0", "go", "vet", ".")
	run(t, dir, "GOFLAGS=-mod=mod", "GOPROXY=off", "CGO_ENABLED=0", "go", "build", "-o", filepath.Join(dir, "app"), ".")
}

// readmeBlock returns the README's block of code in a language.
func readmeBlock(t *testing.T, language string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(moduleRoot, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "```"+language+"\n")
	block, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatalf("the README has no block of %s", language)
	}
	return block
}

// consumer returns the go.mod of a module that requires this one, and what this
// one requires, at the same versions.
func consumer(t *testing.T) string {
	t.Helper()
	gomod, err := os.ReadFile(filepath.Join(moduleRoot, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(moduleRoot)
	if err != nil {
		t.Fatal(err)
	}
	module, rest, _ := strings.Cut(strings.TrimPrefix(string(gomod), "module "), "\n")
	return "module consumer.example/app\n" + rest +
		"\nrequire " + module + " v0.0.0\n\nreplace " + module + " v0.0.0 => " + root + "\n"
}

// TestRenameModule renames a copy of the tree and compiles all of it, tests
// included.
func TestRenameModule(t *testing.T) {
	lookAtTree(t)
	copied := copyTree(t)
	run(t, copied, "make", "rename-module", "TO=other.example/gear/box")
	for _, name := range committed(t) {
		text, err := os.ReadFile(filepath.Join(copied, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if oldPath.Match(text) {
			t.Errorf("%s still has the old path", name)
		}
	}
	run(t, copied, "CGO_ENABLED=0", "go", "vet", "./...")
	run(t, copied, "CGO_ENABLED=0", "go", "-C", "tools", "vet", "./...")
}

var oldPath = regexp.MustCompile(`\brein\.` + `example/rein\b`)

// copyTree copies what is, or would be, committed.
func copyTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range committed(t) {
		from := filepath.Join(moduleRoot, name)
		if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and not yet committed
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		copyFile(t, from, to)
	}
	return dir
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, info.Mode().Perm()); err != nil {
		t.Fatal(err)
	}
}

// run runs a command in dir and returns what it printed. Leading NAME=value
// arguments are added to its environment.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	env := os.Environ()
	for strings.Contains(args[0], "=") {
		env, args = append(env, args[0]), args[1:]
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}
