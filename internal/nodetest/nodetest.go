// Package nodetest answers: where are the programs that others have written for
// Node.js, and that tests talk to?
package nodetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Program returns the command that runs the package's program: node and its
// script, which tools/need-mcp-servers has installed below root, the module's root.
// Where there is no Node.js, or nothing was installed, the test is skipped; in CI
// it fails instead, since there both are.
func Program(t testing.TB, root, pkg, script string) []string {
	t.Helper()
	missing := t.Skipf
	if os.Getenv("CI") != "" {
		missing = t.Fatalf
	}
	node, err := exec.LookPath("node")
	if err != nil {
		missing("there is no Node.js here, which %s needs: %v", pkg, err)
	}
	path, err := filepath.Abs(filepath.Join(root, ".cache", "mcp-servers", "node_modules", filepath.FromSlash(pkg), script))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		missing("%s is not installed; make deps does that: %v", pkg, err)
	}
	return []string{node, path}
}
