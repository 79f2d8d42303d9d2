// Package modeltest answers: does a provider's client survive what servers and
// networks really do?
//
// A [Wire] says what the checks have to know of a wire, and its Test runs them all:
// a new wire has to get through the same as the others. A [Recording] is one HTTP
// response, as a file that can be read and edited. [Play] answers every request with
// it inside the process, cut off or split anywhere; [Serve] does the same over a real
// socket. On top stand the checks: for replies [CutEverywhere], [SplitEverywhere],
// [OverHTTP], [Cancel], what users of other clients reported of servers, and text that
// is none; for requests [CheckEncoder] and [CheckPrefixes]. The rest is for the tables
// that each wire has of its own.
//
// It is for tests only.
package modeltest

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"rein.example/rein/message"
	"rein.example/rein/model"
)

// Recording is one response of a server.
type Recording struct {
	// Name is the file's name without folder and ending.
	Name   string
	Status int
	Header http.Header
	Body   []byte
	// Terminal is the text that completes the reply: no cut before the end of
	// its last occurrence in Body may succeed, and every cut after it must.
	// Empty for a response that is an error as a whole.
	Terminal string
	// Stream is what the request asks for.
	Stream bool
	// Path is the file.
	Path string
}

// Load reads the recordings of a folder, files named *.http, in order of name. A
// file is the response as on the wire: a status line, headers, an empty line
// and the body, byte for byte. Three headers are for the test and not sent:
// X-Note says what is to be seen, X-Terminal is Recording.Terminal as a Go
// string literal, and X-Request is "stream" or "whole".
func Load(t testing.TB, dir string) []Recording {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.http"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recordings in %s (%v)", dir, err)
	}
	var all []Recording
	for _, path := range paths {
		r, err := read(path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, r)
	}
	return all
}

func read(path string) (Recording, error) {
	r := Recording{Path: path, Name: strings.TrimSuffix(filepath.Base(path), ".http"), Header: http.Header{}}
	raw, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	head, body, ok := bytes.Cut(raw, []byte("\n\n"))
	if !ok {
		return r, fmt.Errorf("no empty line after the headers")
	}
	r.Body = body
	for i, line := range strings.Split(string(head), "\n") {
		if i == 0 {
			if _, err := fmt.Sscanf(line, "HTTP/1.1 %d", &r.Status); err != nil {
				return r, fmt.Errorf("status line %q: %w", line, err)
			}
			continue
		}
		name, value, ok := strings.Cut(line, ": ")
		if !ok {
			return r, fmt.Errorf("header %q has no value", line)
		}
		switch textproto.CanonicalMIMEHeaderKey(name) {
		case "X-Note":
		case "X-Terminal":
			if r.Terminal, err = strconv.Unquote(value); err != nil {
				return r, fmt.Errorf("X-Terminal is no Go string: %w", err)
			}
			if !bytes.Contains(body, []byte(r.Terminal)) {
				return r, fmt.Errorf("the body has no %q", r.Terminal)
			}
		case "X-Request":
			if value != "stream" && value != "whole" {
				return r, fmt.Errorf("X-Request is %q: use stream or whole", value)
			}
			r.Stream = value == "stream"
		default:
			r.Header.Add(name, value)
		}
	}
	return r, nil
}

// complete returns the offset from which on a cut body is a complete reply, or
// -1 if it never is. A status that is an error says so by itself, however much of
// the body comes.
func (r *Recording) complete() int {
	if r.Terminal == "" || r.Status >= 300 {
		return -1
	}
	return bytes.LastIndex(r.Body, []byte(r.Terminal)) + len(r.Terminal)
}

var update = flag.Bool("update", false, "write the golden files anew")

// Golden compares got with the file at path, or writes it with -update.
func Golden(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (write it with -update)", err)
	}
	if got != string(want) {
		t.Errorf("%s differs (write it anew with -update)\n--- got\n%s\n--- want\n%s", path, got, want)
	}
}

// Format prints what a call gave, for people and golden files. The time to the
// first piece is left out.
func Format(r *model.Reply, err error) string {
	var b strings.Builder
	if err != nil {
		e, ok := err.(*model.Error)
		if !ok {
			return fmt.Sprintf("not a model.Error: %T %v\n", err, err)
		}
		fmt.Fprintf(&b, "error %s\n", e.Class)
		if e.Status != 0 {
			fmt.Fprintf(&b, "status %d\n", e.Status)
		}
		if e.Code != "" {
			fmt.Fprintf(&b, "code %s\n", e.Code)
		}
		fmt.Fprintf(&b, "message %s\n", e.Message)
		if ms, ok := e.RetryAfter.Get(); ok {
			fmt.Fprintf(&b, "retry after %d ms\n", ms)
		}
		if e.Asked != 0 || e.Limit != 0 {
			fmt.Fprintf(&b, "asked %d tokens of %d\n", e.Asked, e.Limit)
		}
		if e.Partial != "" {
			fmt.Fprintf(&b, "partial %q\n", e.Partial)
		}
		formatUsage(&b, e.Usage)
		return b.String()
	}
	if r == nil {
		return "neither reply nor error\n"
	}
	fmt.Fprintf(&b, "finish %s (%q)\nmodel %q id %q\n", r.Finish, r.RawFinish, r.Model, r.ID)
	formatUsage(&b, r.Usage)
	if r.Mended != 0 {
		fmt.Fprintf(&b, "mended in %d places\n", r.Mended)
	}
	fmt.Fprintf(&b, "role %s\n", r.Message.Role)
	for _, p := range r.Message.Parts {
		switch p.Kind {
		case message.ToolCall:
			fmt.Fprintf(&b, "call %s %s %s\n", p.ID, p.Name, p.Args)
		default:
			fmt.Fprintf(&b, "%s %q\n", p.Kind, p.Text)
		}
		if p.Opaque != nil {
			fmt.Fprintf(&b, "  opaque of %s: %s\n", p.Provider, p.Opaque)
		}
	}
	return b.String()
}

func formatUsage(b *strings.Builder, u message.Usage) {
	if u == (message.Usage{}) {
		b.WriteString("usage unknown\n")
		return
	}
	b.WriteString("usage")
	for _, c := range []struct {
		name string
		n    message.Count
	}{{"input", u.Input}, {"cached", u.Cached}, {"written", u.CacheWrite}, {"output", u.Output}, {"reasoning", u.Reasoning}} {
		if n, ok := c.n.Get(); ok {
			fmt.Fprintf(b, " %s %d", c.name, n)
		}
	}
	if n, ok := u.Total.Get(); ok {
		fmt.Fprintf(b, ", but total %d", n)
	}
	if u.Invalid {
		b.WriteString(", and a figure that is no number of tokens")
	}
	b.WriteString("\n")
}
