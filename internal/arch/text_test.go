package arch

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// stray is text that has no place in the repository. The patterns are written
// so that they don't match themselves.
var stray = []struct {
	what string
	re   *regexp.Regexp
}{
	{"a secret key", regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{32,}`)},
	{"an access key", regexp.MustCompile(`\bAKIA[0-9A-Z]{16}\b`)},
	{"an access token", regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{36}`)},
	{"an API key", regexp.MustCompile(`\bAIza[0-9A-Za-z_-]{35}`)},
	{"a private key", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY`)},
	{"a path of one machine", regexp.MustCompile(`(^|[^A-Za-z0-9_./-])/(root|work)/[A-Za-z0-9._]`)},
	{"a path of one machine", regexp.MustCompile(`/(home|Users)/[A-Za-z0-9._-]+/(go|src|work|repos?|\.cache)/`)},
	{"a package registry's host", regexp.MustCompile(`(registry\.npmjs|files\.pythonhosted|proxy\.golang|repo\.maven|deb\.debian)\.(org|apache|com)`)},
	{"an address that may be a person's", regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b`)},
}

// example are addresses and hosts that belong to nobody (RFC 2606).
var example = regexp.MustCompile(`(?i)(@|\.)example(\.(com|org|net))?$|\.(test|invalid|localhost)$`)

// TestTreeText looks for secrets, machine paths, registries and people in every
// text file that is, or would be, committed.
func TestTreeText(t *testing.T) {
	lookAtTree(t)
	names := committed(t)
	if len(names) < 20 {
		t.Fatalf("found only %d files in the module", len(names))
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(moduleRoot, name))
		if err != nil || !utf8.Valid(text) {
			continue // deleted and not yet committed, or not text
		}
		for _, s := range strays(string(text)) {
			t.Errorf("%s:%s", name, s)
		}
	}
}

// strays returns "line: what: text" for each stray text.
func strays(text string) []string {
	var out []string
	for i, line := range strings.Split(text, "\n") {
		for _, s := range stray {
			for _, m := range s.re.FindAllString(line, -1) {
				if !example.MatchString(m) {
					out = append(out, fmt.Sprintf("%d: %s: %s", i+1, s.what, m))
				}
			}
		}
	}
	return out
}

func TestStrayTextIsFound(t *testing.T) {
	long := strings.Repeat("a1B2", 10)
	for _, c := range []struct {
		text string
		want int
	}{
		{"key: sk-" + long, 1},
		{"AKIA" + strings.Repeat("Q", 16), 1},
		{"ghp" + "_" + long[:36], 1},
		{"AIza" + long[:35], 1},
		{"-----BEGIN RSA " + "PRIVATE KEY-----", 1},
		{"see /wo" + "rk/shared/x.md", 1},
		{"open(\"/ro" + "ot/.bashrc\")", 1},
		{"/home/ann" + "/go/pkg", 1},
		{"https://registry.npm" + "js.org/x", 1},
		{"write to ann" + "@company.io", 1},
		{"write to ann@desk.example, bob@example.com or x@y.test", 0},
		{"sk-short, /works/fine, ./root/x, a/root/b, go get x@v1.2.3", 0},
	} {
		if got := strays(c.text); len(got) != c.want {
			t.Errorf("%q: found %q, want %d", c.text, got, c.want)
		}
	}
}

// committed returns the files of the module relative to its root: what git has
// or would take, or without git everything but what is built.
func committed(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = moduleRoot
	if out, err := cmd.Output(); err == nil && len(out) > 0 {
		var names []string
		for name := range bytes.SplitSeq(bytes.TrimRight(out, "\x00"), []byte{0}) {
			names = append(names, string(name))
		}
		return names
	}
	var names []string
	err := filepath.WalkDir(moduleRoot, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && slices.Contains([]string{".git", "bin", "node_modules", ".cache"}, d.Name()) {
			return filepath.SkipDir
		}
		if err == nil && d.Type().IsRegular() {
			rel, relErr := filepath.Rel(moduleRoot, path)
			names, err = append(names, rel), relErr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
