package arch

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const moduleRoot = "../.."

// TestTree holds the module to the law above.
func TestTree(t *testing.T) {
	lookAtTree(t)
	tree, err := Load(moduleRoot)
	if err != nil {
		t.Fatal(err)
	}
	violations := slices.Concat(tree.Imports(&law), tree.Purity(&law), tree.State(), tree.Docs())
	for _, v := range law.Excuse(violations) {
		t.Error(v)
	}
}

// fakeLaw is a small law for the trees below.
var fakeLaw = Law{
	Rows: []Row{
		{Packages: []string{"."}},
		{Packages: []string{"loop"}},
		{Packages: []string{"model/*"}},
		{Packages: []string{"model", "tool"}},
		{Packages: []string{"internal/*"}},
	},
	RootNever: []string{"model/*"},
	Pure:      []string{"loop"},
	Integer:   []string{"loop"},
	Impure:    []Ban{{"os", "I/O"}, {"net/*", "I/O"}},
	Calls:     []Ban{{"time.Now", "clock"}},
}

// Each file breaks one rule, or keeps it by a hair; the test says which.
func TestEveryRuleCanFail(t *testing.T) {
	const doc = "// Package x answers: what?\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"a tree that keeps the law": {
			files: map[string]string{
				"model/model.go":        "package model; type Client interface{}",
				"model/a/a.go":          "package a; import _ \"fake.example/m/model\"",
				"loop/loop.go":          "package loop; import _ \"strings\"",
				"root.go":               "package m; import _ \"fake.example/m/loop\"",
				"cmd/x/main.go":         "package main; import _ \"fake.example/m/model/a\"; func main() {}",
				"model/internal/i/i.go": "package i",
				"model/b/b.go":          "package b; import _ \"fake.example/m/model/internal/i\"",
			},
		},
		"up": {
			files: map[string]string{
				"tool/tool.go":   "package tool; import _ \"fake.example/m/model/a\"",
				"model/a/a.go":   "package a",
				"model/b/b.go":   "package b; import _ \"fake.example/m/model/a\"",
				"model/model.go": "package model; import _ \"fake.example/m/tool\"",
			},
			want: []string{
				"model imports tool: which is beside it",
				"model/b imports model/a: which is beside it",
				"tool imports model/a: which is above it",
			},
		},
		"a package that nobody planned": {
			files: map[string]string{"utils/u.go": "package utils"},
			want:  []string{"utils is in no row: add it to the table, or choose a package of the table for it"},
		},
		"a root that reaches a provider through another package": {
			files: map[string]string{
				"root.go":      "package m; import _ \"fake.example/m/loop\"",
				"loop/loop.go": "package loop; import _ \"fake.example/m/model/a\"",
				"model/a/a.go": "package a; import _ \"database/sql\"",
			},
			want: []string{
				". reaches database/sql: the module's root needs no SQL",
				". reaches model/a: the module's root names no provider, SDK or driver",
				"loop imports model/a, which is not pure: loop.go:2",
			},
		},
		"impure imports and calls": {
			files: map[string]string{"loop/loop.go": `package loop

import (
	clock "time"
	_ "net/url"
	"os"
)

var A = os.Args
var B = clock.Now
var C = clock.Second
`},
			want: []string{
				"loop imports net/url (I/O): loop.go:6",
				"loop imports os (I/O): loop.go:7",
				"loop uses time.Now (clock): loop.go:11",
			},
		},
		"goroutines and channels": {
			files: map[string]string{"loop/loop.go": `package loop

func f(c chan int) {
	go f(nil)
	for range c {
	}
	select {}
}
`},
			want: []string{
				"loop starts a goroutine: loop.go:5",
				"loop uses a channel: loop.go:4",
				"loop uses a channel: loop.go:6",
				"loop uses a channel: loop.go:8",
			},
		},
		"the order of maps": {
			files: map[string]string{"loop/loop.go": `package loop

import (
	"maps"
	"slices"
)

type table map[string]int

func f(m table) {
	for range m {
	}
	for range m { // order: only counted
	}
	// order: only counted
	for range m {
	}
	for range m { // order:
	}
	_ = slices.Sorted(maps.Keys(m))
	_ = slices.Collect(maps.Keys(m))
	for range []int{} {
	}
}
`},
			want: []string{
				"loop ranges over a map without a comment \"order: why\": loop.go:12",
				"loop ranges over a map without a comment \"order: why\": loop.go:19",
				"loop uses maps.Keys without sorting or a comment \"order: why\": loop.go:22",
			},
		},
		"floating point": {
			files: map[string]string{"loop/loop.go": `package loop

type rate float32

func f(n int) int {
	var r rate
	_ = r
	return int(2.5 * 2)
}
`},
			want: []string{
				"loop uses floating point: loop.go:4",
				"loop uses floating point: loop.go:7",
				"loop uses floating point: loop.go:8",
				"loop uses floating point: loop.go:9",
			},
		},
		"state that nobody owns": {
			files: map[string]string{"tool/tool.go": `package tool

import "os"

var seen = map[string]bool{}
var fixed = map[string]bool{"a": true}
var count int

func init() {}

func f() {
	seen["a"] = fixed["a"]
	count++
	os.Args = nil
	count := 1
	count++
}
`},
			want: []string{
				"tool changes its variable count: tool.go:14",
				"tool changes its variable seen: tool.go:13",
				"tool changes the variable os.Args: tool.go:15",
				"tool has a function init: tool.go:10",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{}
			for path, text := range c.files {
				files[path] = strings.Replace(doc+text, "x answers", packageName(text)+" answers", 1)
			}
			got := check(t, files, &fakeLaw)
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(c.want, "\n\t"))
			}
		})
	}
}

func TestPackageComments(t *testing.T) {
	got := check(t, map[string]string{
		"tool/tool.go":   "package tool",
		"model/model.go": "// Package model answers: what is asked?\n// And more.\npackage model",
		"model/a/a.go":   "// Package a is one model.\npackage a",
		"model/b/b.go":   "// Package b answers: a question. Or is it?\npackage b",
		"loop/loop.go":   "// Package other answers: what?\npackage loop",
		"internal/i.go":  "package internal",
		"cmd/x/main.go":  "package main; func main() {}",
	}, &Law{Rows: []Row{{Packages: []string{"model/*", "model", "tool", "loop", "internal"}}}})
	want := []string{
		`loop: the package comment does not begin with "Package loop answers: "`,
		`model/a: the package comment does not begin with "Package a answers: "`,
		`model/b: the package comment's first sentence is not a question`,
		`tool has no package comment`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func TestExceptionsHaveToBeNeeded(t *testing.T) {
	l := Law{Except: map[string]string{
		"tool has a function init": "a reason",
		"tool does nothing wrong":  "a reason",
	}}
	got := l.Excuse([]string{"tool has a function init: tool.go:1", "model has a function init: m.go:1"})
	want := []string{
		"model has a function init: m.go:1",
		`the exception "tool does nothing wrong" excuses nothing: take it out`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// check writes a module and returns what is wrong with it, sorted.
func check(t *testing.T, files map[string]string, l *Law) []string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "go.mod", "module fake.example/m\n\ngo 1.26\n")
	for _, path := range slices.Sorted(maps.Keys(files)) {
		write(t, dir, path, files[path])
	}
	tree, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Concat(tree.Imports(l), tree.Purity(l), tree.State(), tree.Docs())
	slices.Sort(got)
	return l.Excuse(got)
}

func write(t *testing.T, dir, path, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// packageName returns the word after the first "package ".
func packageName(text string) string {
	_, rest, _ := strings.Cut(text, "package ")
	name, _, _ := strings.Cut(strings.NewReplacer("\n", ";").Replace(rest), ";")
	return name
}
