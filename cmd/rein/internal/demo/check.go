package demo

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// A Problem is something that is not as the task wants it.
type Problem struct {
	// Where is a path in the workspace, or "answer".
	Where string
	What  string
}

// String returns "where: what".
func (p Problem) String() string { return p.Where + ": " + p.What }

// timeMark stands in the finished order for the time of its confirmation.
const timeMark = "(the time)"

// maxFile bounds what Check reads of one file.
const maxFile = 1 << 20

var total = regexp.MustCompile(`(^|[^0-9.,])196([^0-9]|$)`)

// Check compares the workspace in dir, file by file and byte by byte, with what
// the task leads to, and the answer with what it has to name: the total, and the
// time that stands in the order's file, which must lie between the making of the
// workspace and now. It returns nothing when all is well.
func Check(dir, answer string) []Problem {
	var problems []Problem
	add := func(where, format string, args ...any) {
		problems = append(problems, Problem{where, fmt.Sprintf(format, args...)})
	}
	at, err := confirmedAt(dir)
	if err != nil {
		add(orderFile, "%v", err)
	}
	for _, p := range compare(dir, at) {
		add(p.Where, "%s", p.What)
	}
	if !total.MatchString(answer) {
		add("answer", "it does not name the total, 196")
	}
	if err == nil && !strings.Contains(answer, at) {
		add("answer", "it does not name the time of the confirmation, %s", at)
	}
	return problems
}

// confirmedAt returns the time in the order's file, if it is a plausible one.
func confirmedAt(dir string) (string, error) {
	data, err := readFile(dir, orderFile)
	if err != nil {
		return "", err
	}
	var order struct {
		ConfirmedAt string `json:"confirmed_at"`
	}
	if err := json.Unmarshal(data, &order); err != nil {
		return "", fmt.Errorf("it is not an order: %w", err)
	}
	if order.ConfirmedAt == "" {
		return "", fmt.Errorf("it is not confirmed")
	}
	at, err := time.Parse(time.RFC3339, order.ConfirmedAt)
	if err != nil {
		return order.ConfirmedAt, fmt.Errorf("confirmed_at is not a time: %w", err)
	}
	made, err := os.Stat(filepath.Join(dir, marker))
	if err != nil {
		return order.ConfirmedAt, fmt.Errorf("the age of the workspace is not known: %w", err)
	}
	const slack = 2 * time.Second // whole seconds, and file systems that round
	if at.Before(made.ModTime().Add(-slack)) || at.After(time.Now().Add(slack)) {
		return order.ConfirmedAt, fmt.Errorf("confirmed_at, %s, is not between the start of the run and now", order.ConfirmedAt)
	}
	return order.ConfirmedAt, nil
}

// compare returns what differs in the files of dir.
func compare(dir, at string) []Problem {
	var problems []Problem
	missing := map[string]bool{}
	var names []string // in order
	_ = fs.WalkDir(workspace, "workspace", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel := strings.TrimPrefix(name, "workspace/")
			missing[rel], names = true, append(names, rel)
		}
		return err // none: the tree is part of the program
	})
	err := filepath.WalkDir(dir, func(full string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, full)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if !missing[name] {
			problems = append(problems, Problem{name, "it does not belong to the workspace"})
			return nil
		}
		delete(missing, name)
		if what := differs(dir, name, at); what != "" {
			problems = append(problems, Problem{name, what})
		}
		return nil
	})
	if err != nil {
		problems = append(problems, Problem{".", "the workspace cannot be read: " + err.Error()})
	}
	for _, name := range names {
		if missing[name] {
			problems = append(problems, Problem{name, "it is missing"})
		}
	}
	return problems
}

// differs says how the file differs from what the task leads to; empty if it
// does not.
func differs(dir, name, at string) string {
	got, err := readFile(dir, name)
	if err != nil {
		return err.Error()
	}
	want, err := final(name)
	if err != nil {
		return err.Error()
	}
	if at != "" {
		want = bytes.ReplaceAll(want, []byte(timeMark), []byte(at))
	}
	if bytes.Equal(got, want) {
		return ""
	}
	before, err := initial(name)
	if err != nil {
		return err.Error()
	}
	switch {
	case bytes.Equal(want, before):
		return "it was changed, which nobody asked for"
	case bytes.Equal(got, before):
		return "nothing was done to it"
	}
	g, w := strings.SplitAfter(string(got), "\n"), strings.SplitAfter(string(want), "\n")
	if name == outboxFile && len(g) > len(w) {
		return fmt.Sprintf("%d mails were sent instead of %d", len(g)-strings.Count(string(before), "\n")-1, len(w)-strings.Count(string(before), "\n")-1)
	}
	for i := range w {
		if i >= len(g) || g[i] != w[i] {
			line := ""
			if i < len(g) {
				line = g[i]
			}
			return fmt.Sprintf("line %d is %q, and should be %q", i+1, line, w[i])
		}
	}
	return fmt.Sprintf("it has %d lines too many", len(g)-len(w))
}

func readFile(dir, name string) ([]byte, error) {
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("it is longer than %d bytes", maxFile)
	}
	return data, nil
}
