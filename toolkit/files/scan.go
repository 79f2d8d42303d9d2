package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"unicode/utf8"
)

// scan is one pass over a file of any size: it finds out what the file is and
// takes some lines out of it, in constant memory.
type scan struct {
	// from and count are the lines that are wanted; count 0: as many as fit.
	from, count int64

	version string // SHA-256 of the content, in hexadecimal
	lines   int64
	crlf    bool // every line ends with CR and LF
	broken  bool // the last line ends with a line break
	// body is as many of the wanted lines as fit, which are shown lines.
	body  []byte
	shown int64
	// long is the beginning of the first wanted line if that alone does not fit,
	// and longSize how many bytes it has.
	long     []byte
	longSize int64

	sum    hash.Hash
	rest   []byte // a rune that is not whole yet
	size   int64
	breaks int64
	pairs  int64 // line breaks with a CR before
	last   byte
	line   int64 // that the next byte is on, from 1
	now    []byte
	nowAll int64 // bytes of the line that is being taken
	full   bool  // nothing more is wanted
}

// scanBuffer is how much is read at once.
const scanBuffer = 128 << 10

// scanned makes the pass. It fails if the file is not text.
func (w *workspace) scanned(ctx context.Context, name string, from, count int64) (*scan, error) {
	f, info, err := w.open(name, unlimited)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := &scan{from: from, count: count, sum: sha256.New(), line: 1}
	buf := make([]byte, scanBuffer)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := f.Read(buf)
		if what := s.feed(buf[:n]); what != "" {
			return nil, notShown(name, what, max(info.Size(), s.size))
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, w.failed("read", name, err)
		}
	}
	if len(s.rest) > 0 {
		return nil, notShown(name, badBytes(s.breaks+1), s.size)
	}
	s.end()
	return s, nil
}

// feed goes on with a piece of the file. It returns what the file is if it is not
// text.
func (s *scan) feed(p []byte) string {
	if len(p) == 0 {
		return ""
	}
	if s.size == 0 {
		if what := magic(p); what != "" {
			return what
		}
	}
	if what := s.check(p); what != "" {
		return what
	}
	s.sum.Write(p)
	s.pairs += int64(bytes.Count(p, []byte("\r\n")))
	if s.last == '\r' && p[0] == '\n' {
		s.pairs++
	}
	s.breaks += int64(bytes.Count(p, []byte{'\n'}))
	s.size += int64(len(p))
	s.last = p[len(p)-1]
	s.take(p)
	return ""
}

// check looks for what is not text.
func (s *scan) check(p []byte) string {
	if bytes.IndexByte(p, 0) >= 0 {
		return "binary data"
	}
	v := p
	if len(s.rest) > 0 {
		v = append(s.rest, p...)
	}
	if s.rest = nil; utf8.Valid(v) {
		return ""
	}
	for i := 0; i < len(v); {
		r, size := utf8.DecodeRune(v[i:])
		if r == utf8.RuneError && size == 1 {
			if !utf8.FullRune(v[i:]) {
				s.rest = bytes.Clone(v[i:])
				return ""
			}
			return badBytes(1 + s.breaks + int64(bytes.Count(v[:i], []byte{'\n'})))
		}
		i += size
	}
	return ""
}

// take keeps what is wanted.
func (s *scan) take(p []byte) {
	for len(p) > 0 && !s.full {
		if s.line < s.from {
			// Whole pieces before the first wanted line need no looking at each line.
			if n := int64(bytes.Count(p, []byte{'\n'})); s.line+n < s.from {
				s.line += n
				return
			}
			i := bytes.IndexByte(p, '\n')
			s.line, p = s.line+1, p[i+1:]
			continue
		}
		i := bytes.IndexByte(p, '\n')
		piece := p
		if i >= 0 {
			piece = p[:i+1]
		}
		if room := maxRead + 1 - len(s.now); room > 0 {
			s.now = append(s.now, piece[:min(room, len(piece))]...)
		}
		s.nowAll += int64(len(piece))
		if p = p[len(piece):]; i >= 0 {
			s.line++
			s.taken()
		}
	}
}

// taken ends the line that is being taken.
func (s *scan) taken() {
	switch {
	case int64(len(s.body))+s.nowAll <= maxRead:
		s.body = append(s.body, s.now...)
		s.shown++
		s.full = s.shown == s.count
	case s.shown == 0:
		s.long, s.longSize = bytes.Clone(s.now[:longShown+utf8.UTFMax]), s.nowAll
		s.full = true
	default:
		s.full = true
	}
	s.now, s.nowAll = s.now[:0], 0
}

// end sums up at the file's end.
func (s *scan) end() {
	s.broken = s.last == '\n'
	if s.nowAll > 0 {
		s.taken()
	}
	s.longSize -= s.longBreak()
	if s.lines = s.breaks; s.size > 0 && !s.broken {
		s.lines++
	}
	s.crlf = s.breaks > 0 && s.pairs == s.breaks
	s.version = hex.EncodeToString(s.sum.Sum(nil))
}

// longBreak is how many bytes the line break of a long line has.
func (s *scan) longBreak() int64 {
	if s.long != nil && (s.from < s.line) {
		return 1
	}
	return 0
}

func notShown(name, what string, size int64) error {
	return refuse("not_text", fmt.Sprintf("%s is not text that can be shown: %s, %d bytes", name, what, size), "it cannot be read or edited here; go on without it or use a tool that is made for it")
}

func badBytes(line int64) string {
	return fmt.Sprintf("bytes that are not UTF-8, the first on line %d", line)
}
