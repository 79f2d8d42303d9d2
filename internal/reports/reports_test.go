package reports

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

const (
	root = "../.."
	// shared has the reports themselves, which are no part of the repository.
	shared = "../../../shared/facts/reports"
)

// entry is a report and where it is tested.
type entry struct {
	line        int
	hash, class string
	tests       []string
}

// read reads a table.
func read(t *testing.T, path string) []entry {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []entry
	for n, line := range strings.Split(string(data), "\n") {
		switch text := strings.TrimSpace(line); {
		case text == "" || text[0] == '#':
		case line[0] == ' ':
			if len(list) == 0 {
				t.Fatalf("%s:%d: a test without a report", path, n+1)
			}
			list[len(list)-1].tests = append(list[len(list)-1].tests, text)
		default:
			var e entry
			head, about, _ := strings.Cut(text, ": ")
			if k, err := fmt.Sscanf(head, "%d %s %s", &e.line, &e.hash, &e.class); k != 3 || about == "" {
				t.Fatalf("%s:%d: no report: %v", path, n+1, err)
			}
			list = append(list, e)
		}
	}
	return list
}

// Every test that a table names exists.
func TestTestsExist(t *testing.T) {
	tables, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(tables) != 4 {
		t.Fatalf("%v, %v", tables, err)
	}
	known := map[string]*folder{}
	for _, table := range tables {
		for i, e := range read(t, table) {
			if e.line != i+1 {
				t.Errorf("%s: report %d stands in place %d", table, e.line, i+1)
			}
			if len(e.tests) == 0 && e.class != "later" {
				t.Errorf("%s: report %d has no test", table, e.line)
			}
			for _, test := range e.tests {
				if err := exists(known, test); err != nil {
					t.Errorf("%s: report %d: %s: %v", table, e.line, test, err)
				}
			}
		}
	}
}

// Every report has an entry, of its class and as it is now.
func TestReportsAreCovered(t *testing.T) {
	for _, name := range []string{"harness", "context", "wire-faults", "trace-eval-ui"} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(shared, name+".jsonl"))
			if err != nil {
				t.Skipf("the reports are not there: %v", err)
			}
			entries := read(t, "testdata/"+name+".txt")
			n := 0
			for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); n++ {
				sum := sha256.Sum256(s.Bytes())
				hash := hex.EncodeToString(sum[:4])
				var report struct {
					Class string `json:"class"`
				}
				if err := json.Unmarshal(s.Bytes(), &report); err != nil {
					t.Fatal(err)
				}
				switch {
				case n >= len(entries):
					t.Errorf("report %d (%s %s) has no entry", n+1, hash, report.Class)
				case entries[n].hash != hash:
					t.Errorf("report %d is another one than the entry is for: %s, not %s", n+1, hash, entries[n].hash)
				case report.Class != "" && entries[n].class != report.Class:
					t.Errorf("report %d is of class %s, not %s", n+1, report.Class, entries[n].class)
				}
			}
			if n != len(entries) {
				t.Errorf("%d reports, %d entries", n, len(entries))
			}
		})
	}
}

// folder is what a folder of Go files holds: its functions, by name, and the strings
// in the file of each.
type folder struct {
	funcs map[string]map[string]bool
	tests map[string]bool // functions in files of tests
}

// exists reports what is wrong with the name of a test.
func exists(known map[string]*folder, test string) error {
	path, rest, _ := strings.Cut(test, " ")
	if name, words, ok := strings.Cut(test, ": "); ok || rest == "" {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		if joined := strings.Join(strings.Fields(string(data)), " "); !strings.Contains(strings.ReplaceAll(joined, "# ", ""), words) {
			return fmt.Errorf("it has no %q", words)
		}
		return nil
	}
	f := known[path]
	if f == nil {
		var err error
		if f, err = open(filepath.Join(root, path)); err != nil {
			return err
		}
		known[path] = f
	}
	name, part, _ := strings.Cut(rest, "/")
	words, ok := f.funcs[name]
	switch {
	case !ok:
		return fmt.Errorf("there is no function %s", name)
	case (strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz")) && !f.tests[name]:
		return fmt.Errorf("%s is no test", name)
	case part != "" && !words[part]:
		return fmt.Errorf("its file has no %q", part)
	}
	return nil
}

// open reads the Go files of a folder.
func open(dir string) (*folder, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no Go files: %v", err)
	}
	f := &folder{map[string]map[string]bool{}, map[string]bool{}}
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		words := map[string]bool{}
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				f.funcs[n.Name.Name] = words
				f.tests[n.Name.Name] = strings.HasSuffix(file, "_test.go")
			case *ast.BasicLit:
				if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
					words[s] = true
				}
			}
			return true
		})
	}
	return f, nil
}

// A name that is wrong is found.
func TestExistsFindsFaults(t *testing.T) {
	known := map[string]*folder{}
	for test, right := range map[string]bool{
		"internal/reports TestExistsFindsFaults":           true,
		"internal/reports TestReportsAreCovered/context":   true,
		"internal/reports TestNobodyHasWritten":            false,
		"internal/reports TestTestsExist/no such case":     false,
		"internal/nowhere TestTestsExist":                  false,
		"internal/reports/doc.go":                          true,
		"internal/reports/doc.go: does not happen here":    true,
		"internal/reports/doc.go: it happens all the time": false,
		"internal/reports/none.txt":                        false,
	} {
		if err := exists(known, test); (err == nil) != right {
			t.Errorf("%s: %v", test, err)
		}
	}
}
