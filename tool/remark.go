package tool

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"rein.example/rein/message"
)

// noticePrefix begins everything that Rein says inside a result. It is reserved:
// tools that write what a model gives them refuse text that holds it, and in what
// others say it is marked as theirs.
const noticePrefix = "[rein: "

// Notice returns a remark of the harness inside a result, marked as such. A tool
// that puts one into a result says so there: see [Result].
func Notice(text string) string { return noticePrefix + text + "]" }

// HasNotice reports whether a text holds a notice, which then was copied from a
// result.
func HasNotice(text string) bool { return strings.Contains(text, noticePrefix) }

// disownedMark begins what looks like a remark, or disownedNotice the label of a
// notice, and is somebody else's.
const (
	disownedMark   = "[not "
	disownedNotice = disownedMark + "a "
)

// noticeWords are those of [message.NoticeLabel].
var noticeWords = strings.Fields(strings.Trim(message.NoticeLabel, "[]"))

// Disown returns a text that somebody else wrote with what could be taken for a
// remark of Rein's, or for the label of a notice ([message.NoticeLabel]), marked as
// not being one, "[not rein: …]" and "[not a notice from the harness]", and how
// often that was necessary. Case and white space don't hide either.
func Disown(text string) (string, int) {
	var out strings.Builder
	n, copied := 0, 0
	for i := 0; i < len(text); i++ {
		if text[i] != '[' {
			continue
		}
		mark := markFor(text[i+1:])
		if mark == "" {
			continue
		}
		out.WriteString(text[copied:i])
		out.WriteString(mark)
		n, copied = n+1, i+1
	}
	if n == 0 {
		return text, 0
	}
	out.WriteString(text[copied:])
	return out.String(), n
}

// Clean returns a text of somebody else's that a model is told for its own, such as the
// description of a tool, as a person who reviews it sees it: without control characters
// other than line ends and tabs, without characters that only format, in which
// instructions can be hidden, and without bytes that are no text. Remarks of Rein's are
// marked as [Disown] does it, and the ends trimmed.
func Clean(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, text)
	text, _ = Disown(text)
	return strings.TrimSpace(text)
}

// looksLikeRemark reports whether Disown would change a text.
func looksLikeRemark(text string) bool {
	for {
		i := strings.IndexByte(text, '[')
		if i < 0 {
			return false
		}
		if text = text[i+1:]; markFor(text) != "" {
			return true
		}
	}
}

// markFor returns what to write instead of a bracket if the text after it goes on
// as a remark or a notice does, else "".
func markFor(s string) string {
	s = trimBlanks(s)
	if rest, ok := cutWord(s, "rein"); ok && strings.HasPrefix(trimBlanks(rest), ":") {
		return disownedMark
	}
	for _, w := range noticeWords {
		var ok bool
		if s, ok = cutWord(s, w); !ok {
			return ""
		}
		s = trimBlanks(s)
	}
	return disownedNotice
}

// cutWord cuts a word in ASCII from the beginning of s, whatever its case.
func cutWord(s, word string) (rest string, ok bool) {
	if len(s) < len(word) || !strings.EqualFold(s[:len(word)], word) {
		return s, false
	}
	return s[len(word):], true
}

// maxBlanks bounds the white space that is looked past: a longer gap looks like
// no label.
const maxBlanks = 4

// trimBlanks leaves out at most a few blanks, line breaks and characters without a
// width.
func trimBlanks(s string) string {
	for range maxBlanks {
		r, size := utf8.DecodeRuneInString(s)
		if size == 0 || !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r) {
			break
		}
		s = s[size:]
	}
	return s
}

// disown marks remarks in the text as somebody else's.
func (s *shaper) disown() {
	var n int
	s.text, n = Disown(s.text)
	s.disowned(n)
}

func (s *shaper) disowned(n int) {
	switch {
	case n == 0:
		return
	case n == 1:
		s.note("what looks like a remark of Rein's in the result is not one, and is marked so")
	default:
		s.note("what looks like %d remarks of Rein's in the result are not, and are marked so", n)
	}
	s.lossy = true
}
