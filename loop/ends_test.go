package loop_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Every reason for which a run finishes and every cause for which it pauses has a
// script that ends so: a new one comes with a script that shows when.
func TestEveryEndHasAScript(t *testing.T) {
	shown := map[string]string{} // "finished answered": a script
	scripts, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range scripts {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			shown[strings.TrimSpace(line)] = name
		}
	}
	for _, end := range []struct{ typ, status string }{{"Reason", "finished"}, {"Cause", "paused"}} {
		words := wordsOf(t, end.typ)
		if len(words) < 4 {
			t.Errorf("only %d words of type event.%s were found", len(words), end.typ)
		}
		for _, w := range words {
			if shown[end.status+" "+w] == "" {
				t.Errorf("no script in testdata ends with %q", end.status+" "+w)
			}
		}
	}
}

// wordsOf returns the constants of a type of package event.
func wordsOf(t *testing.T, typ string) (words []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "../event/words.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := v.Type.(*ast.Ident); ok && id.Name == typ {
			for _, x := range v.Values {
				w, err := strconv.Unquote(x.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				words = append(words, w)
			}
		}
		return true
	})
	return words
}
