// Package golden answers, in tests: is what is made now what the repository holds?
package golden

import (
	"bytes"
	"fmt"
	"os"
	"testing"
)

// Check compares got with a file, after it has written the file anew if rewrite is
// set, and fails the test where they differ, with the first line in which they do.
// how says what to do if the difference is meant, such as "run make generate".
func Check(t testing.TB, file string, got []byte, rewrite bool, how string) {
	t.Helper()
	if rewrite {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := difference(got, want); diff != "" {
		t.Errorf("%s is not what is made now; if that is meant, %s\n%s", file, how, diff)
	}
}

// difference says where got and want differ first; empty if they don't.
func difference(got, want []byte) string {
	if bytes.Equal(got, want) {
		return ""
	}
	g, w := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range max(len(g), len(w)) {
		switch {
		case i >= len(g):
			return fmt.Sprintf("line %d is missing: %s", i+1, w[i])
		case i >= len(w):
			return fmt.Sprintf("line %d is new: %s", i+1, g[i])
		case !bytes.Equal(g[i], w[i]):
			return fmt.Sprintf("line %d is   %s\nand was    %s", i+1, g[i], w[i])
		}
	}
	return ""
}
