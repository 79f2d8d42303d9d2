package tool

import "strings"

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

// disownedMark begins what looks like a remark and is somebody else's.
const disownedMark = "[not "

// Disown returns a text that somebody else wrote with what could be taken for a
// remark of Rein's marked as not being one, "[not rein: …]", and how often that
// was necessary. Case and white space don't hide such a remark.
func Disown(text string) (string, int) {
	var out strings.Builder
	n, copied := 0, 0
	for i := 0; i < len(text); i++ {
		if text[i] != '[' || !remarkAt(text[i+1:]) {
			continue
		}
		out.WriteString(text[copied:i])
		out.WriteString(disownedMark)
		n, copied = n+1, i+1
	}
	if n == 0 {
		return text, 0
	}
	out.WriteString(text[copied:])
	return out.String(), n
}

// looksLikeRemark reports whether Disown would change a text.
func looksLikeRemark(text string) bool {
	for {
		i := strings.IndexByte(text, '[')
		if i < 0 {
			return false
		}
		if text = text[i+1:]; remarkAt(text) {
			return true
		}
	}
}

// remarkAt reports whether a text goes on, after a bracket, as a remark does.
func remarkAt(s string) bool {
	const name = "rein"
	s = trimBlanks(s)
	return len(s) > len(name) && strings.EqualFold(s[:len(name)], name) && strings.HasPrefix(trimBlanks(s[len(name):]), ":")
}

// trimBlanks leaves out at most a few blanks: a longer gap looks like none.
func trimBlanks(s string) string {
	for k := 0; k < 4 && s != "" && (s[0] == ' ' || s[0] == '\t'); k++ {
		s = s[1:]
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
