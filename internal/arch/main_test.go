package arch

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestMain opens every folder of the module and looks at every file. These tests
// read the tree through other commands, which go test doesn't see; what it sees
// here makes it run them again after any change instead of trusting its cache.
func TestMain(m *testing.M) {
	err := filepath.WalkDir(moduleRoot, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == ".git" || d.Name() == "bin") {
			return filepath.SkipDir
		}
		if err == nil {
			_, err = os.Stat(path)
		}
		return err
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "read the module's tree:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
