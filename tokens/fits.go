package tokens

import "unicode/utf8"

// perToken is the most bytes a token of ordinary text has on average, with much to
// spare: only runs of one sign have more.
const perToken = 24

// Fits reports whether a text has at most limit tokens, and counts only if that is
// in question. What fits in bytes fits. Of a text that is far too long only the
// beginning is counted: as much as can have limit tokens in ordinary text. If that
// alone has more, so has the text, and 50 MB are not counted to learn that they are
// more than 2,000 tokens.
func Fits(c Counter, text string, limit int) bool {
	if len(text) <= limit {
		return true
	}
	if limit <= 0 {
		return false // a text has one token at least
	}
	if head := limit * perToken; head/perToken == limit && len(text)/2 > head {
		for range utf8.UTFMax - 1 {
			if utf8.RuneStart(text[head]) {
				break
			}
			head--
		}
		// One more than the limit could be the last word, cut in two.
		if c.Count(text[:head]) > limit+1 {
			return false
		}
	}
	return c.Count(text) <= limit
}
