package tool

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"rein.example/rein/message"
)

// noticePrefix begins everything that Rein says inside a result. It is reserved:
// tools that write what a model gives them refuse text that holds it.
const noticePrefix = "[rein: "

// Notice returns a remark of the harness inside a result, marked as such.
func Notice(text string) string { return noticePrefix + text + "]" }

// HasNotice reports whether a text holds a notice, which then was copied from a
// result.
func HasNotice(text string) bool { return strings.Contains(text, noticePrefix) }

// Shaping says what [Shape] has made of a result. Sizes are of text, in bytes.
type Shaping struct {
	// Size is the whole text's, Shown what is shown of it, notices included.
	Size, Shown int64
	// Cut: less than everything is shown. Full is the whole text then.
	Cut  bool
	Full string
}

// Shape returns what the model is shown of a result, at most limit tokens by
// count (0 is [DefaultResultTokens]); images and files are left as they are. A
// longer text is cut to whole lines, the first or the last as r.Keep says, after
// a first line that says what is shown, of how much, and how to get the rest.
// Only a line that alone is over the limit is cut inside, between two runes,
// with a mark. Binary data are described; single bytes that are not UTF-8 are
// replaced and counted in the first line. A result without text says so.
//
// Where r.Lines is set, cutting changes r.Seen to what is really shown: use it
// after Shape only.
//
// count must not grow when text is taken away. It is called about 25 times for a
// text that is cut, with at most about twice what is shown. A limit that is too
// small for the first line alone is exceeded by it.
func Shape(r *Result, limit int, count func(string) int) ([]message.Part, Shaping) {
	if limit <= 0 {
		limit = DefaultResultTokens
	}
	if r == nil || r.empty() {
		text := "The tool succeeded; it returned nothing."
		return Text(text).Parts, Shaping{Shown: int64(len(text))}
	}
	texts, others := split(r.Parts)
	if len(texts) == 0 {
		return r.Parts, Shaping{}
	}
	text := strings.Join(texts, "\n")
	s := shaper{limit: limit, count: count, text: text, keep: r.Keep}
	if !s.readable() {
		r.dropSeen(0)
		return s.done(r, s.text, others, text)
	}
	s.text, s.bad = validText(s.text)
	if n := strings.Count(s.text, "\x00"); n > 0 {
		s.text, s.bad = strings.ReplaceAll(s.text, "\x00", "\uFFFD"), s.bad+n
	}
	if s.fits(s.text) && s.bad == 0 {
		if len(texts) == 1 {
			return r.Parts, Shaping{Size: int64(len(text)), Shown: int64(len(text))}
		}
		return s.done(r, s.text, others, text)
	}
	if r.Lines != nil && s.bad == 0 {
		return s.done(r, s.numbered(r), others, text)
	}
	r.dropSeen(0)
	return s.done(r, s.cut(), others, text)
}

// split returns the texts that are in line, and the other parts.
func split(parts []message.Part) (texts []string, others []message.Part) {
	for _, p := range parts {
		if p.Kind == message.Text && p.Ref == nil {
			texts = append(texts, p.Text)
		} else {
			others = append(others, p)
		}
	}
	return texts, others
}

type shaper struct {
	limit int
	count func(string) int
	text  string
	keep  Keep
	bad   int
}

func (s *shaper) done(r *Result, shown string, others []message.Part, full string) ([]message.Part, Shaping) {
	info := Shaping{Size: int64(len(full)), Shown: int64(len(shown)), Cut: shown != full}
	if info.Cut {
		info.Full = full
	}
	return append([]message.Part{{Kind: message.Text, Text: shown}}, others...), info
}

// maxTokenBytes is more than any tokenizer puts into one token (o200k: 128), so
// that a text which is much too long need not be counted.
const maxTokenBytes = 256

func (s *shaper) fits(text string) bool {
	return len(text) <= s.limit || len(text)/maxTokenBytes <= s.limit && s.count(text) <= s.limit
}

// readable replaces a text that is no text by a description.
func (s *shaper) readable() bool {
	bad := strings.Count(s.text, "\x00") * 10
	for i := 0; i < len(s.text); {
		r, size := utf8.DecodeRuneInString(s.text[i:])
		if r == utf8.RuneError && size == 1 {
			bad++
		}
		i += size
	}
	if bad*10 <= len(s.text) && bad < 10_000 {
		return true
	}
	s.text = Notice(fmt.Sprintf("the result is not text but %d bytes of binary data, which are not shown", len(s.text)))
	return false
}

// badNote says that bytes were replaced.
func (s *shaper) badNote() string {
	if s.bad == 0 {
		return ""
	}
	if s.bad == 1 {
		return "; 1 byte that is not text is shown as \uFFFD"
	}
	return fmt.Sprintf("; %d bytes that are not text are shown as \uFFFD", s.bad)
}

// cut returns as many whole lines as fit, after a notice.
func (s *shaper) cut() string {
	lines := strings.SplitAfter(strings.TrimSuffix(s.text, "\n"), "\n")
	n := len(lines)
	compose := func(k int) string {
		switch {
		case k == n:
			return Notice("all "+lineCount(n)+" shown"+s.badNote()) + "\n" + s.text
		case s.keep == Tail:
			return s.notice(fmt.Sprintf("the last %d of %s", k, lineCount(n))) + "\n" + strings.Join(lines[n-k:], "")
		default:
			return s.notice(fmt.Sprintf("lines 1-%d of %d", k, n)) + "\n" + strings.TrimSuffix(strings.Join(lines[:k], ""), "\n")
		}
	}
	if k := s.most(n, func(k int) bool { return s.fits(compose(k)) }); k > 0 {
		return compose(k)
	}
	line, which := lines[0], "the beginning of line 1"
	if s.keep == Tail {
		line, which = lines[n-1], "the end of the last line"
	}
	return s.inside(strings.TrimSuffix(line, "\n"), s.notice(fmt.Sprintf("%s, of %s", which, lineCount(n))))
}

func (s *shaper) notice(what string) string {
	return Notice(fmt.Sprintf("%s shown, of %d bytes in all; for the rest narrow the call%s", what, len(s.text), s.badNote()))
}

func lineCount(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

// numbered cuts a result whose lines are numbered, and says in r.Seen what is left.
func (s *shaper) numbered(r *Result) string {
	_, body, _ := strings.Cut(s.text, "\n")
	lines := strings.SplitAfter(strings.TrimSuffix(body, "\n"), "\n")
	first := r.Lines.First
	compose := func(k int) string {
		return r.Lines.Heading(first, first+int64(k)-1) + "\n" + strings.TrimSuffix(strings.Join(lines[:k], ""), "\n")
	}
	k := s.most(len(lines), func(k int) bool { return s.fits(compose(k)) })
	r.dropSeen(int64(k))
	if k > 0 {
		return compose(k)
	}
	return s.inside(strings.TrimSuffix(lines[0], "\n"), r.Lines.Heading(first, first-1))
}

// dropSeen leaves k lines of what r says was read.
func (r *Result) dropSeen(k int64) {
	if r.Lines == nil {
		return
	}
	for i := range r.Seen {
		if e := &r.Seen[i]; !e.Wrote && e.From == r.Lines.First {
			e.To = e.From + k - 1
			if k == 0 {
				e.From, e.To = 0, 0
			}
		}
	}
}

// inside returns as much of one line as fits below a heading, with a mark where
// it was cut.
func (s *shaper) inside(line, heading string) string {
	compose := func(k int) string {
		if s.keep == Tail {
			from := len(line) - k
			for from < len(line) && line[from]&0xC0 == 0x80 {
				from++
			}
			return heading + "\n" + Notice(fmt.Sprintf("cut: the last %d of %d bytes of this line follow", len(line)-from, len(line))) + line[from:]
		}
		to := runeEnd(line, k)
		return heading + "\n" + line[:to] + Notice(fmt.Sprintf("cut: %d of %d bytes of this line shown", to, len(line)))
	}
	return compose(s.most(len(line), func(k int) bool { return s.fits(compose(k)) }))
}

// most returns the largest k in [0, n] for which fits holds, given that it holds
// for every smaller one; it asks about small ones first.
func (s *shaper) most(n int, fits func(k int) bool) int {
	hi := 16
	for hi < n && fits(hi) {
		hi *= 2
	}
	hi = min(hi, n)
	return sort.Search(hi, func(k int) bool { return !fits(k + 1) })
}
