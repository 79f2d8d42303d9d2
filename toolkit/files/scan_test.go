package files

import (
	"crypto/sha256"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

// scanText makes a pass over a text that comes in pieces of random sizes.
func scanText(text string, from, count int64, most int, r *rand.Rand) (*scan, string) {
	s := &scan{from: from, count: count, sum: sha256.New(), line: 1}
	for rest := text; rest != ""; {
		n := min(len(rest), 1+r.IntN(most))
		if what := s.feed([]byte(rest[:n])); what != "" {
			return nil, what
		}
		rest = rest[n:]
	}
	if len(s.rest) > 0 {
		return nil, badBytes(s.breaks + 1)
	}
	s.end()
	return s, ""
}

// wanted is what a pass has to find, worked out from the whole text.
func wanted(text string, from, count int64) (body string, shown int64) {
	for i, l := range strings.SplitAfter(text, "\n") {
		if l == "" || int64(i)+1 < from {
			continue
		}
		if len(body)+len(l) > maxRead || count > 0 && shown == count {
			break
		}
		body, shown = body+l, shown+1
	}
	return body, shown
}

func checkScan(t *testing.T, text string, from, count int64, most int, r *rand.Rand) {
	t.Helper()
	s, what := scanText(text, from, count, most, r)
	if want := notText([]byte(text)); want != what {
		// Which of two reasons is found first depends on the pieces.
		if want == "" || what == "" {
			t.Fatalf("%.100q is %q, want %q", text, what, want)
		}
		return
	}
	if what != "" {
		return
	}
	body, shown := wanted(text, from, count)
	f := newFile(text)
	if string(s.body) != body || s.shown != shown || s.version != f.version || s.lines != f.lines || s.crlf != allCRLF(text) || s.broken != strings.HasSuffix(text, "\n") {
		t.Fatalf("%.200q from %d, %d lines: %d lines shown (want %d) of %d (want %d), crlf %v, broken %v", text, from, count, s.shown, shown, s.lines, f.lines, s.crlf, s.broken)
	}
}

// A pass in pieces finds what one over the whole text finds.
func TestScan(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	words := []string{"a", "é", "日本", "\n", "\r\n", "\r", "", "long " + strings.Repeat("x", 500), "\n\n"}
	for range 3000 {
		var b strings.Builder
		for range r.IntN(40) {
			b.WriteString(words[r.IntN(len(words))])
		}
		checkScan(t, b.String(), 1+r.Int64N(6), r.Int64N(4), 1+r.IntN(20), r)
	}
	long := strings.Repeat("y", maxRead+10)
	for _, text := range []string{long, long + "\nz\n", "a\n" + long + "\nz\n", strings.Repeat("0123456789\n", 5000), "a\xff", "a\n\xe6\x97", "a\x00", "PK\x03\x04"} {
		for from := range int64(4) {
			checkScan(t, text, from+1, 0, 1000, r)
		}
	}
	s, _ := scanText("a\n"+long+"\nz\n", 2, 0, 1000, r)
	if s.shown != 0 || s.longSize != int64(len(long)) || !strings.HasPrefix(string(s.long), strings.Repeat("y", longShown)) {
		t.Errorf("a long line: %d shown, %d of %d bytes", s.shown, len(s.long), s.longSize)
	}
}

func FuzzScan(f *testing.F) {
	f.Add("a\nb\r\nc", int64(2), int64(1), 3)
	f.Add("\xe6\x97\xa5\n", int64(1), int64(0), 1)
	f.Fuzz(func(t *testing.T, text string, from, count int64, most int) {
		if from < 1 || count < 0 || most < 1 || most > 1<<20 {
			return
		}
		checkScan(t, text, from, count, most, rand.New(rand.NewPCG(1, 2)))
	})
}

// However large a file is, reading lines of it takes the same memory.
func TestScanMemory(t *testing.T) {
	piece := []byte(strings.Repeat("a line of some ordinary length, as programs write them\n", 2000))
	const pieces = 3000 // 330 MB, 6,000,000 lines
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s := &scan{from: 5_999_999, sum: sha256.New(), line: 1}
	for range pieces {
		if what := s.feed(piece); what != "" {
			t.Fatal(what)
		}
	}
	s.end()
	runtime.ReadMemStats(&after)
	if s.lines != 6_000_000 || s.shown != 2 {
		t.Errorf("%d lines, %d shown", s.lines, s.shown)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
}

func TestSawAll(t *testing.T) {
	e := newEnv(t, map[string]string{"f": strings.Repeat("x\n", 20)})
	for _, read := range []args{{"path": "f", "from_line": 11, "lines": 10}, {"path": "f", "from_line": 1, "lines": 5}, {"path": "f", "from_line": 6, "lines": 5}} {
		if got := e.call("read_file", read); strings.Contains(got, "unchanged since") {
			t.Errorf("%v: %s", read, got)
		}
	}
	if got := e.call("read_file", args{"path": "f"}); !strings.Contains(got, "(all); unchanged since you read it]") {
		t.Errorf("%.100s", got)
	}
}
