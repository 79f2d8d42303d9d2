package mcp

import (
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
)

// read returns what is left of a server's output.
func read(t *testing.T, output string) (string, error) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		io.WriteString(w, output)
		w.Close()
	}()
	p := &process{stdout: r, log: slog.New(slog.DiscardHandler), redact: func(s string) string { return s }}
	out, err := io.ReadAll(newLines(p))
	return string(out), err
}

func TestLines(t *testing.T) {
	long := `{"a":"` + strings.Repeat("x", 200_000) + `"}`
	for _, c := range []struct{ name, in, want string }{
		{"messages", "{\"a\":1}\n[{\"b\":2}]\n", "{\"a\":1}\n[{\"b\":2}]\n"},
		{"lines of Windows, and white space", " {\"a\":1} \r\n\r\n\n", "{\"a\":1}\n"},
		{"banners", "Server v1 {ok}\n{\"a\":1}\n[info] up\n{half\n{}\n", "{\"a\":1}\n{}\n"},
		{"without its line's end", "{\"a\":1}", "{\"a\":1}\n"},
		{"cut off", "{\"a\":1}\n{\"b\":", "{\"a\":1}\n"},
		{"two in a line are none", "{}{}\n", ""},
		{"long", long + "\n{}\n", long + "\n{}\n"},
	} {
		if got, err := read(t, c.in); got != c.want || err != nil {
			t.Errorf("%s: got %.80q %v", c.name, got, err)
		}
	}
	if _, err := read(t, strings.Repeat("x", maxFrame+1)); err == nil {
		t.Error("a line has no bound")
	}
}

func FuzzLines(f *testing.F) {
	f.Add("banner\n{\"a\":1}\n[]")
	f.Add("{\"a\":\"\\ud800\"}\r\n\x00\xff\n")
	f.Fuzz(func(t *testing.T, in string) {
		out, err := read(t, in)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out) {
			if !isMessage([]byte(line)) {
				t.Errorf("%q was passed on", line)
			}
			if !strings.Contains(in, strings.TrimSpace(line)) {
				t.Errorf("%q was made up", line)
			}
		}
	})
}

func TestTailKeepsTheEnd(t *testing.T) {
	var x tail
	x.add([]byte("begin "))
	for range 100 {
		x.add([]byte(strings.Repeat("é", 50)))
	}
	x.add([]byte(" end\n"))
	s := x.String()
	if !strings.HasPrefix(s, "…") || !strings.HasSuffix(s, " end") || len(s) > maxStderr+len("…") {
		t.Errorf("%d bytes: %.20q … %q", len(s), s, s[len(s)-10:])
	}
}
