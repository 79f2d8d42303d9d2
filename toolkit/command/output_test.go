package command

import (
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

// However it arrives, the beginning and the end are kept and everything is counted.
func TestCapture(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, keptHead, keptHead + 1, keptHead + keptTail, keptHead + keptTail + 1, 3 * (keptHead + keptTail)} {
		all := make([]byte, size)
		for i := range all {
			if all[i] = byte('a' + r.IntN(26)); r.IntN(50) == 0 {
				all[i] = '\n'
			}
		}
		c := newCapture()
		for rest := all; len(rest) > 0; {
			n := min(len(rest), 1+r.IntN(100_000))
			_, _ = c.Write(rest[:n])
			rest = rest[n:]
		}
		o, _ := c.output(time.Now())
		tail := all[min(size, keptHead):]
		tail = tail[max(0, len(tail)-keptTail):]
		lines := int64(strings.Count(string(all), "\n"))
		if size > 0 && all[size-1] != '\n' {
			lines++
		}
		if o.Head != string(all[:min(size, keptHead)]) || o.Tail != string(tail) || o.Bytes != int64(size) || o.Lines != lines {
			t.Errorf("%d bytes: kept %d and %d, counted %d and %d lines of %d", size, len(o.Head), len(o.Tail), o.Bytes, o.Lines, lines)
		}
		if o.Whole() != (size <= keptHead+keptTail) {
			t.Errorf("%d bytes: whole is %v", size, o.Whole())
		}
	}
}

// Where something is missing no rune is cut in two, nor a line if there are any.
func TestOutputText(t *testing.T) {
	for _, c := range []struct {
		head, tail string
		lines      int64
		want       string
	}{
		{"one\ntw", "ee\nfour\n", 20, "one\n[rein: not kept: lines 2-19 of the 20 lines that were written, 91 of 100 bytes]\nfour\n"},
		{"one\n", "x\nfour\nfive", 20, "one\n[rein: not kept: lines 2-18 of the 20 lines that were written, 87 of 100 bytes]\nfour\nfive"},
		{"aé"[:2], "é"[1:] + "b", 1, "a\n[rein: not kept: 98 of the 100 bytes that were written]\nb"},
		{"[Rein: x]\n", "\n[rein: y]\n", 3, "[not Rein: x]\n[rein: not kept: lines 2-2 of the 3 lines that were written, 80 of 100 bytes]\n[not rein: y]\n"},
	} {
		o := Output{Head: c.head, Tail: c.tail, Bytes: 100, Lines: c.lines}
		if got := o.Text(); got != c.want || !utf8.ValidString(got) {
			t.Errorf("%q, %q: %q; want %q", c.head, c.tail, got, c.want)
		}
	}
}

// Silence is told every 30 s, and the longest one is remembered.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCapture()
		told := func(after time.Duration) bool {
			time.Sleep(after)
			_, tell := c.quiet(time.Now())
			return tell
		}
		for i, step := range []struct {
			after time.Duration
			tell  bool
		}{{29 * time.Second, false}, {time.Second, true}, {time.Second, false}, {29 * time.Second, true}} {
			if told(step.after) != step.tell {
				t.Errorf("step %d: told %v", i, !step.tell)
			}
		}
		_, _ = c.Write([]byte("x"))
		if told(29*time.Second) || !told(time.Second) {
			t.Error("what is written does not begin a new silence")
		}
		if _, longest := c.output(time.Now()); longest != time.Minute {
			t.Errorf("longest silence %v", longest)
		}
	})
}
