package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// lookAtTree opens every folder of the module and looks at every file. Tests that
// read the tree through other commands call it: go test doesn't see what those
// read, but what it sees here makes it run the tests again after any change.
func lookAtTree(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(moduleRoot, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == ".git" || d.Name() == "bin" || d.Name() == ".cache") {
			return filepath.SkipDir
		}
		if err == nil {
			_, err = os.Stat(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
