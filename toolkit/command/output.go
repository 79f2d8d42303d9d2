package command

import (
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"rein.example/rein/tool"
)

// How much of what a program writes is kept, in bytes: the beginning, and the
// end, where what went wrong usually stands.
const (
	keptHead = 128 << 10
	keptTail = 384 << 10
)

// Output is what a program has written, stdout and stderr together, in the order
// in which it came.
type Output struct {
	// Head is the beginning. Tail is the end, if not everything is in Head; what
	// is between them, if anything, was not kept.
	Head, Tail string
	// Bytes and Lines count everything.
	Bytes, Lines int64
}

// Whole reports whether everything was kept.
func (o *Output) Whole() bool { return int64(len(o.Head)+len(o.Tail)) == o.Bytes }

// Text returns what was kept, whole lines, with a remark for what was not; see
// [tool.NotKept]. What looks like a remark in the output is marked as not being one.
func (o *Output) Text() string {
	if o.Whole() {
		text, _ := tool.Disown(o.Head + o.Tail)
		return text
	}
	head, tail := o.Head, o.Tail
	if i := strings.LastIndexByte(head, '\n'); i >= 0 {
		head = head[:i+1]
	} else {
		head = whole(head)
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i+1 < len(tail) {
		tail = tail[i+1:]
	} else {
		tail = from(tail)
	}
	gone := tool.NotKept(o.gap(head, tail))
	if !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	head, _ = tool.Disown(head)
	tail, _ = tool.Disown(tail)
	return head + gone + "\n" + tail
}

// gap says what of the output is not in what was kept of both ends.
func (o *Output) gap(head, tail string) string {
	gone := o.Bytes - int64(len(head)+len(tail))
	first := int64(strings.Count(head, "\n")) + 1
	last := o.Lines - int64(strings.Count(tail, "\n"))
	if tail != "" && !strings.HasSuffix(tail, "\n") {
		last--
	}
	if !strings.HasSuffix(head, "\n") || last < first { // inside a line
		return fmt.Sprintf("%d of the %d bytes that were written", gone, o.Bytes)
	}
	return fmt.Sprintf("lines %d-%d of the %d lines that were written, %d of %d bytes", first, last, o.Lines, gone, o.Bytes)
}

// whole takes a rune that is cut off the end.
func whole(s string) string {
	for n := 1; n <= utf8.UTFMax && n <= len(s); n++ {
		if utf8.RuneStart(s[len(s)-n]) {
			if !utf8.FullRuneInString(s[len(s)-n:]) {
				return s[:len(s)-n]
			}
			return s
		}
	}
	return s
}

// from takes a rune that is cut off the beginning.
func from(s string) string {
	for n := 0; n < utf8.UTFMax && n < len(s); n++ {
		if utf8.RuneStart(s[n]) {
			return s[n:]
		}
	}
	return s
}

// capture keeps the beginning and the end of what is written into it.
type capture struct {
	mu   sync.Mutex
	head []byte
	tail []byte // a ring once it is full
	at   int    // where the ring goes on
	// bytes and breaks count everything; last is its last byte.
	bytes, breaks int64
	last          byte

	written time.Time // last
	silence time.Duration
	told    time.Duration
}

func newCapture() *capture { return &capture{written: time.Now()} }

// Write keeps what belongs to the beginning or, so far, to the end.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	if n == 0 {
		return 0, nil
	}
	now := time.Now()
	c.silence, c.written, c.told = max(c.silence, now.Sub(c.written)), now, 0
	c.bytes += int64(n)
	c.last = p[n-1]
	for _, b := range p {
		if b == '\n' {
			c.breaks++
		}
	}
	if room := keptHead - len(c.head); room > 0 {
		k := min(room, len(p))
		c.head, p = append(c.head, p[:k]...), p[k:]
	}
	if len(p) > keptTail {
		p = p[len(p)-keptTail:]
	}
	if room := keptTail - len(c.tail); room > 0 {
		k := min(room, len(p))
		c.tail, p = append(c.tail, p[:k]...), p[k:]
	}
	for len(p) > 0 {
		k := copy(c.tail[c.at:], p)
		c.at, p = (c.at+k)%len(c.tail), p[k:]
	}
	return n, nil
}

// quiet returns for how long nothing was written, if that is worth a word again.
func (c *capture) quiet(now time.Time) (since time.Duration, tell bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	since = now.Sub(c.written)
	if since < c.told+SilentAfter {
		return since, false
	}
	c.told = since
	return since, true
}

// output returns what was written so far, and the longest silence.
func (c *capture) output(now time.Time) (Output, time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := Output{Head: string(c.head), Tail: string(c.tail[c.at:]) + string(c.tail[:c.at]), Bytes: c.bytes, Lines: c.breaks}
	if c.bytes > 0 && c.last != '\n' {
		o.Lines++
	}
	return o, max(c.silence, now.Sub(c.written))
}
