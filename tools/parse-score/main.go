// Command parse-score answers: how many recorded replies does rein parse read as
// they are meant?
//
// It runs rein parse --jsonl over a file of recordings, once without a word about
// the dialect and once with it, and prints the score of each dialect and the
// replies that are read otherwise. A recording is a line such as
//
//	{"case": "a name", "format": "the dialect's id", "text": "what was written",
//	 "tools": [{"name", "parameters"}], "tags": ["a word"],
//	 "expect": [{"name": "f", "arguments": {}}]}
//
// Servers disagree on what some texts mean: those tagged policy_…, empty_name or
// unparsable_args are counted by themselves. An expected call with an
// "arguments_kind" has no object for arguments, so that none may run.
//
//	go run ./parse-score -rein ../bin/rein FILE
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"sort"
	"strings"
	"text/tabwriter"
)

func main() {
	rein := flag.String("rein", "rein", "the command to run")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "parse-score: name one file of recordings")
		os.Exit(2)
	}
	file, err := os.ReadFile(flag.Arg(0))
	if err == nil {
		var rows []recording
		if rows, err = read(file); err == nil {
			var s *score
			if s, err = measure(rows, command(*rein)); err == nil {
				s.print(os.Stdout)
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "parse-score:", err)
		os.Exit(1)
	}
}

// recording is a text that a model wrote, and what it means.
type recording struct {
	Case   string   `json:"case"`
	Format string   `json:"format"`
	Tags   []string `json:"tags"`
	Expect []struct {
		Name string `json:"name"`
		Args any    `json:"arguments"`
		Kind string `json:"arguments_kind"`
	} `json:"expect"`

	line []byte
}

// policy reports whether servers disagree on what the text means.
func (r *recording) policy() bool {
	for _, t := range r.Tags {
		if strings.HasPrefix(t, "policy_") || t == "empty_name" || t == "unparsable_args" {
			return true
		}
	}
	return false
}

func read(file []byte) ([]recording, error) {
	var rows []recording
	for i, line := range bytes.Split(bytes.TrimSpace(file), []byte("\n")) {
		r := recording{line: line}
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// parser reads lines and returns one for each, as rein parse --jsonl does.
type parser func(lines []byte, format string) ([]byte, error)

// command is the parser of a rein command.
func command(rein string) parser {
	return func(lines []byte, format string) ([]byte, error) {
		args := []string{"parse", "--jsonl"}
		if format != "" {
			args = append(args, "--format", format)
		}
		cmd := exec.Command(rein, args...)
		cmd.Stdin, cmd.Stderr = bytes.NewReader(lines), os.Stderr
		out, err := cmd.Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == 1 {
			err = nil // some text has a problem, which its line says
		}
		if err != nil {
			err = fmt.Errorf("run %s %s: %w", rein, strings.Join(args, " "), err)
		}
		return out, err
	}
}

// parsed is what is needed of an output line.
type parsed struct {
	Format string `json:"format"`
	Calls  []struct {
		Name string `json:"name"`
		Args any    `json:"arguments"`
	} `json:"calls"`
	Problems []struct {
		Problem string `json:"problem"`
		Message string `json:"message"`
	} `json:"problems"`
	Notes []string `json:"notes"`
}

// miss says how a result differs from what the recording means; empty: not.
func (r *recording) miss(p *parsed) string {
	n := 0
	for _, e := range r.Expect {
		if e.Kind != "" {
			continue
		}
		if n >= len(p.Calls) {
			return fmt.Sprintf("%d calls and no %s", len(p.Calls), e.Name)
		}
		if c := p.Calls[n]; c.Name != e.Name || !reflect.DeepEqual(c.Args, e.Args) {
			return fmt.Sprintf("%s %s where %s %s is meant", c.Name, text(c.Args), e.Name, text(e.Args))
		}
		n++
	}
	if n < len(p.Calls) {
		return fmt.Sprintf("%d calls where %d are meant", len(p.Calls), n)
	}
	return ""
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// tally counts the texts that are read as meant.
type tally struct{ good, all int }

// ways are the two in which the file is read.
var ways = [2]string{"recognised", "told"}

type score struct {
	dialects map[string]*[2]tally
	all      [2]tally
	policy   [2]tally
	// rest are the lines about what is read otherwise.
	rest []string
}

func measure(rows []recording, parse parser) (*score, error) {
	s := &score{dialects: map[string]*[2]tally{}}
	groups := map[string][]recording{}
	for _, r := range rows {
		groups[r.Format] = append(groups[r.Format], r)
	}
	var formats []string
	for f := range groups {
		formats = append(formats, f)
	}
	sort.Strings(formats)
	for _, f := range formats {
		s.dialects[f] = &[2]tally{}
		for way, told := range [2]string{"", f} {
			if err := s.group(groups[f], way, told, parse); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// group reads the texts of one dialect in one way.
func (s *score) group(rows []recording, way int, told string, parse parser) error {
	var in bytes.Buffer
	for _, r := range rows {
		in.Write(append(r.line, '\n'))
	}
	out, err := parse(in.Bytes(), told)
	if err != nil {
		return err
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if len(lines) != len(rows) {
		return fmt.Errorf("%s: %d lines came back for %d", rows[0].Format, len(lines), len(rows))
	}
	for i := range rows {
		var p parsed
		if err := json.Unmarshal(lines[i], &p); err != nil {
			return fmt.Errorf("%s: %w", rows[i].Case, err)
		}
		s.count(&rows[i], &p, way)
	}
	return nil
}

func (s *score) count(r *recording, p *parsed, way int) {
	why := r.miss(p)
	counts := []*tally{&s.dialects[r.Format][way], &s.all[way]}
	if r.policy() {
		counts = []*tally{&s.policy[way]}
	}
	for _, c := range counts {
		c.all++
		if why == "" {
			c.good++
		}
	}
	if why == "" {
		return
	}
	line := fmt.Sprintf("%s (%s, %s; tags: %s)\n    %s; read as %s", r.Case, r.Format, ways[way], strings.Join(r.Tags, ", "), why, p.Format)
	for _, q := range p.Problems {
		line += fmt.Sprintf("\n    %s: %s", q.Problem, strings.ReplaceAll(q.Message, "\n", " "))
	}
	for _, n := range p.Notes {
		line += "\n    note: " + n
	}
	s.rest = append(s.rest, line)
}

func (s *score) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "dialect\t%s\t%s\n", ways[0], ways[1])
	var formats []string
	for f := range s.dialects {
		formats = append(formats, f)
	}
	sort.Strings(formats)
	row := func(name string, t *[2]tally) {
		fmt.Fprintf(w, "%s\t%d of %d\t%d of %d\n", name, t[0].good, t[0].all, t[1].good, t[1].all)
	}
	for _, f := range formats {
		row(f, s.dialects[f])
	}
	row("all", &s.all)
	row("where servers disagree", &s.policy)
	_ = w.Flush() // to a terminal or a file; nothing can be done about it
	if len(s.rest) > 0 {
		fmt.Fprintf(out, "\nread otherwise:\n")
	}
	for _, line := range s.rest {
		fmt.Fprintln(out, line)
	}
}
