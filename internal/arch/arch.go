// Package arch answers: does the tree still have the shape that its design
// promises?
//
// It reads the module's packages with the go command and checks them against a
// [Law]: imports point down only, pure packages stay pure, every package begins
// with its question. The law itself stands in this package's test, as tables.
// Every check returns the violations that it found, one a line, in a fixed order.
package arch

import (
	"fmt"
	"slices"
	"strings"
)

// Law is what a tree has to keep. Packages are named relative to the module:
// "." is its root, "model/*" stands for everything below model.
type Law struct {
	// Rows from the top to the bottom. A package may import packages of lower
	// rows; of its own row only its contract, the package that it lies in.
	Rows []Row
	// Root lists what the module's root may reach, through any number of
	// imports, outside the module and the standard library.
	Root []string
	// RootNever lists packages of the module that the root may not reach.
	RootNever []string
	// Pure are the packages that do nothing but compute. They may import
	// packages of the module only where those are pure or in PureMayImport.
	Pure, PureMayImport []string
	// Integer are the pure packages that may not use floating point at all.
	Integer []string
	// Impure are imports that no pure package may have; Calls are functions and
	// variables, such as "time.Now".
	Impure, Calls []Ban
	// Except are violations that were thought about, each as it is reported up
	// to the first ": ", with the reason. An exception that excuses nothing is
	// reported.
	Except map[string]string
}

// Row is one row of the design's table.
type Row struct {
	Packages []string
	// About says what the row is for.
	About string
}

// Ban is something that pure packages may not use, and why.
type Ban struct{ Name, Why string }

// Excuse returns the violations without those that the law excepts, and with
// the exceptions that are not needed.
func (l *Law) Excuse(violations []string) []string {
	var out []string
	used := map[string]bool{}
	for _, v := range violations {
		what, _, _ := strings.Cut(v, ": ")
		if _, ok := l.Except[what]; ok {
			used[what] = true
			continue
		}
		out = append(out, v)
	}
	var idle []string
	for what := range l.Except { // order: sorted below
		if !used[what] {
			idle = append(idle, fmt.Sprintf("the exception %q excuses nothing: take it out", what))
		}
	}
	slices.Sort(idle)
	return append(out, idle...)
}

// Imports returns the imports that point up or sideways, the packages that no
// row has, and what the root reaches that it should not.
func (t *Tree) Imports(l *Law) []string {
	var out []string
	for _, p := range t.Packages {
		if p.Name == "main" {
			continue // a command may import everything, and nobody imports it
		}
		row := l.row(p.Path)
		if row < 0 {
			out = append(out, fmt.Sprintf("%s is in no row: add it to the table, or choose a package of the table for it", p.Path))
			continue
		}
		for _, imported := range p.Imports {
			q, ok := t.relative(imported)
			if !ok {
				continue
			}
			switch r := l.row(q); {
			case r < 0 || r > row: // unknown packages are reported by themselves
			case r < row:
				out = append(out, fmt.Sprintf("%s imports %s: which is above it", p.Path, q))
			case !contract(p.Path, q):
				out = append(out, fmt.Sprintf("%s imports %s: which is beside it", p.Path, q))
			}
		}
	}
	return append(out, t.rootReach(l)...)
}

// contract reports whether q is the package that p implements, or an internal
// package that the two parts of one package share.
func contract(p, q string) bool {
	if strings.HasPrefix(p, q+"/") {
		return true
	}
	top, _, inside := strings.Cut(q, "/internal/")
	return inside && (p == top || strings.HasPrefix(p, top+"/")) || bothInternal(p, q)
}

func bothInternal(p, q string) bool {
	return strings.HasPrefix(p, "internal/") && strings.HasPrefix(q, "internal/")
}

func (t *Tree) rootReach(l *Law) []string {
	root := t.byPath["."]
	if root == nil {
		return nil
	}
	var out []string
	for _, dep := range root.Deps {
		rel, ours := t.relative(dep)
		switch {
		case ours && matches(l.RootNever, rel):
			out = append(out, fmt.Sprintf(". reaches %s: the module's root names no provider, SDK or driver", rel))
		case !ours && !t.standard[dep] && !matches(l.Root, dep):
			out = append(out, fmt.Sprintf(". reaches %s: which is not among what the module's root may need", dep))
		case dep == "database/sql":
			out = append(out, ". reaches database/sql: the module's root needs no SQL")
		}
	}
	return out
}

// Docs returns the packages whose documentation does not begin with a question.
// Commands and internal packages are free to begin otherwise.
func (t *Tree) Docs() []string {
	var out []string
	for _, p := range t.Packages {
		if p.Name == "main" || internal(p.Path) {
			continue
		}
		begin := "Package " + p.Name + " answers: "
		question, _, asks := strings.Cut(p.Doc, "?")
		switch {
		case p.Doc == "":
			out = append(out, p.Path+" has no package comment")
		case !strings.HasPrefix(p.Doc, begin):
			out = append(out, fmt.Sprintf("%s: the package comment does not begin with %q", p.Path, begin))
		case !asks || strings.Contains(question, ". "):
			out = append(out, fmt.Sprintf("%s: the package comment's first sentence is not a question", p.Path))
		}
	}
	return out
}

func internal(path string) bool {
	return slices.Contains(strings.Split(path, "/"), "internal")
}

// row returns the index of the row that has the package, or -1. A package named
// by itself goes before a pattern.
func (l *Law) row(path string) int {
	at := -1
	for i, row := range l.Rows {
		if slices.Contains(row.Packages, path) {
			return i
		}
		if at < 0 && matches(row.Packages, path) {
			at = i
		}
	}
	return at
}

// matches reports whether one of the patterns is the path, or is "x/*" with the
// path below x.
func matches(patterns []string, path string) bool {
	for _, p := range patterns {
		if p == path {
			return true
		}
		if below, ok := strings.CutSuffix(p, "/*"); ok && strings.HasPrefix(path, below+"/") {
			return true
		}
	}
	return false
}
