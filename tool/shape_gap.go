package tool

import "strings"

// gapWords begin what a remark says of something that was not kept.
const gapWords = "not kept: "

// maxGaps is how many such remarks are repeated in the first line.
const maxGaps = 3

// NotKept returns the remark for a place in a result at which something is
// missing that the tool itself let go, such as the middle of a flood of output:
// nobody can read that any more. Where a result says that its remarks are the
// tool's own, [Shape] repeats it in the first line, so that totals are not taken
// for those of all that there was, and a search of the result says it too.
func NotKept(what string) string { return Notice(gapWords + plainText(what)) }

// Missing returns, of what [Shaping] says was done to a result, what says that
// something was not kept, joined; empty if everything was.
func Missing(done []string) string {
	var gaps []string
	for _, d := range done {
		if strings.HasPrefix(d, gapWords) {
			gaps = append(gaps, d)
		}
	}
	return strings.Join(gaps, "; ")
}

// hasGap reports whether a text holds a remark that [NotKept] has made.
func hasGap(text string) bool { return strings.Contains(text, noticePrefix+gapWords) }

// gaps notes what the tool says it did not keep.
func (s *shaper) gaps() {
	rest := s.full
	for range maxGaps {
		_, after, ok := strings.Cut(rest, noticePrefix+gapWords)
		if !ok {
			return
		}
		what, after, ok := strings.Cut(after, "]")
		if !ok {
			return
		}
		s.note("%s%s", gapWords, what)
		s.gap = " kept"
		rest = after
	}
}
