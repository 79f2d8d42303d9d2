package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rein.example/rein/internal/yamltree"
	"rein.example/rein/schema"
)

// Error is everything that was found wrong with an agent file, in the order of
// the file, at most 20 problems.
type Error struct {
	Problems []Problem
}

// Problem is one thing that is wrong.
type Problem struct {
	// File is the file's name. Line and Column count from 1; both are 0 where
	// the problem is the file as a whole.
	File         string
	Line, Column int
	// Setting says where in the description, such as tools[0].files.root.
	Setting string
	// Message says what is wrong and what is allowed there.
	Message string
}

// String returns file:line:column: setting: message.
func (p Problem) String() string {
	s := p.File
	if p.Line > 0 {
		s += fmt.Sprintf(":%d:%d", p.Line, p.Column)
	}
	if p.Setting != "" {
		s += ": " + p.Setting
	}
	return s + ": " + p.Message
}

// Error returns the problems, one a line.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

const maxProblems = 20

// report collects problems while a file is read.
type report struct {
	file     string
	problems []Problem
	// onlyNames: what was found wrong does not mean that tools are missing.
	onlyNames bool
}

func (r *report) add(at yamltree.Pos, setting, format string, args ...any) {
	r.problems = append(r.problems, Problem{r.file, at.Line, at.Column, setting, fmt.Sprintf(format, args...)})
}

// err returns what was collected, or nil.
func (r *report) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return &Error{r.problems[:min(len(r.problems), maxProblems)]}
}

// unknown says that a key or word is not known, and what is.
func unknown(what, word string, known []string) string {
	s := fmt.Sprintf("there is no %s %q", what, excerpt(word))
	if near := schema.Nearest(word, known); len(near) > 0 {
		s += "; did you mean " + orList(near) + "?"
	} else {
		s += ";"
	}
	return s + " allowed here: " + strings.Join(known, ", ")
}

// excerpt returns the beginning of a text that a person wrote.
func excerpt(s string) string {
	const most = 60
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}
