package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"rein.example/rein/model/script"
)

// box is a user with a home of their own.
type box struct {
	t   *testing.T
	dir string
	env map[string]string
	in  string
	// terminal: stdin and stderr are one.
	terminal bool
	played   func(*script.Server)
}

func newBox(t *testing.T) *box {
	dir := t.TempDir()
	return &box{t: t, dir: dir, env: map[string]string{"HOME": dir, "XDG_DATA_HOME": filepath.Join(dir, "data"), "USER": "greta"}}
}

// printed is what a command line gave.
type printed struct {
	out, err string
	code     int
}

// rein runs a command line in this process.
func (b *box) rein(args ...string) printed {
	b.t.Helper()
	var out, err bytes.Buffer
	a := &app{self: "rein", in: strings.NewReader(b.in), out: &out, err: &err,
		played: b.played, asks: b.terminal, shows: b.terminal,
		env: func(name string) string { return b.env[name] }}
	code := a.main(context.Background(), args)
	return printed{out.String(), err.String(), code}
}

// ok runs a command line that has to succeed and returns its stdout.
func (b *box) ok(args ...string) string {
	b.t.Helper()
	p := b.rein(args...)
	if p.code != 0 {
		b.t.Fatalf("rein %s: exit %d\n%s%s", strings.Join(args, " "), p.code, p.out, p.err)
	}
	return p.out
}

// decode runs a command line with --json and decodes what it prints.
func (b *box) decode(v any, args ...string) printed {
	b.t.Helper()
	p := b.rein(append(args, "--json")...)
	if err := json.Unmarshal([]byte(p.out), v); err != nil {
		b.t.Fatalf("rein %s: %v\nexit %d\n%s%s", strings.Join(args, " "), err, p.code, p.out, p.err)
	}
	return p
}

// file writes a file and returns its path.
func (b *box) file(name, text string) string {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// server plays a script over HTTP and returns it with its base URL.
func server(t *testing.T, text string) (*script.Server, string) {
	t.Helper()
	s := script.Handler(script.MustParse(text), nil)
	return s, serve(t, s)
}

// serve starts a server and returns its base URL.
func serve(t *testing.T, s *script.Server) string {
	t.Helper()
	url, err := s.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return url
}
