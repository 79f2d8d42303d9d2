package bpe

import "strings"

// style says how a text is cut into pieces before tokens are made of each: what
// tokenizers give as a regular expression. Those in use differ in few points, which
// are the fields, and the rest is common to all: a word may take what leads it, signs
// a space; white space leaves its last character to what follows.
type style struct {
	// cased: a word has capitals first and then small letters, and a new one begins
	// where capitals follow small ones. Marks are letters.
	cased bool
	// marked: marks are letters, and no signs.
	marked bool
	// contraction is where 's, 't, 're, 've, 'm, 'll and 'd stand. fold: capitals
	// too.
	contraction contraction
	fold        bool
	// anyLead: a word takes one character before it that is neither a letter, a
	// number nor a line end; else only a space.
	anyLead bool
	// digits is how many a piece has at most; 0 is any number, and a space before.
	digits int
	// lineEnds: signs take the line ends after them, and white space ends with its
	// last line end. slash: signs take "/" among those line ends.
	lineEnds, slash bool
}

// contraction is where contractions of English stand: nowhere, as pieces of their
// own, or at the end of words.
type contraction uint8

const (
	noContraction contraction = iota
	ownContraction
	wordContraction
)

// cutter cuts texts in a style. The text must be valid UTF-8.
type cutter struct {
	style
	*classes
	words, signs classSet // what words and runs of signs consist of
}

func newCutter(s style, t *classes) *cutter {
	c := &cutter{s, t, letters, rest}
	if s.marked {
		c.words, c.signs = letters|1<<mark, rest&^(1<<mark)
	}
	return c
}

// next returns the end of the piece that begins at i. It looks at a character a few
// times at most, but for blanks before a word and capitals after letters without
// case, which it may look at once more in the piece after: all pieces of a text
// together take linear time.
func (c *cutter) next(s string, i int) int {
	k, n := c.at(s, i)
	if c.contraction == ownContraction && s[i] == '\'' {
		if m := c.contracted(s, i); m > 0 {
			return i + m
		}
	}
	switch {
	case k.in(letters):
		return c.word(s, i, false)
	case k == number:
		return c.number(s, i)
	case k == line:
		return c.space(s, i)
	}
	// It may lead a word, or be the first of several signs or blanks.
	after, _ := c.at(s, i+n)
	if (c.anyLead || s[i] == ' ') && (after.in(c.words) || c.cased && after == mark) {
		if j := c.word(s, i+n, k == mark); j > 0 {
			return j
		}
	}
	switch {
	case k == mark && (c.cased || c.marked):
		return c.word(s, i, false)
	case c.digits == 0 && s[i] == ' ' && after == number:
		return c.number(s, i+1)
	case k.in(c.signs) || s[i] == ' ' && after.in(c.signs):
		return c.signRun(s, i+n)
	}
	return c.space(s, i)
}

// word returns the end of a word whose letters begin at i. If it would be one of
// capitals alone, and must not, it returns 0.
func (c *cutter) word(s string, i int, notCapitals bool) int {
	if !c.cased {
		return c.run(s, i, c.words)
	}
	j, caseless := i, 0 // caseless is the end of the last letter without case, or mark
	k, n := c.at(s, j)
	for k.in(1<<upper | 1<<letter | 1<<mark) {
		j += n
		if k != upper {
			caseless = j
		}
		k, n = c.at(s, j)
	}
	switch {
	case k == lower:
		j = c.run(s, j+n, 1<<lower|1<<letter|1<<mark)
	case caseless > 0:
		j = caseless // the capitals after it are a word of their own
	case notCapitals:
		return 0
	}
	if c.contraction == wordContraction && j < len(s) && s[j] == '\'' {
		j += c.contracted(s, j)
	}
	return j
}

// number returns the end of the number that begins at i, or of its first digits.
func (c *cutter) number(s string, i int) int {
	if c.digits == 0 {
		return c.run(s, i, 1<<number)
	}
	return c.upTo(s, i, c.digits)
}

// upTo returns the end of the first digits of the number that begins at i.
func (t *classes) upTo(s string, i, digits int) int {
	for range digits {
		k, n := t.at(s, i)
		if k != number {
			break
		}
		i += n
	}
	return i
}

// signRun returns the end of a run of signs, and of the line ends after it.
func (c *cutter) signRun(s string, i int) int {
	i = c.run(s, i, c.signs)
	if c.lineEnds {
		for i < len(s) && (s[i] == '\n' || s[i] == '\r' || c.slash && s[i] == '/') {
			i++
		}
	}
	return i
}

// space returns the end of white space.
func (c *cutter) space(s string, i int) int { return c.blanks(s, i, c.lineEnds) }

// blanks returns the end of white space: that of its last line end, if those count;
// else all but its last character, which goes to what follows; else all of it.
func (t *classes) blanks(s string, i int, lineEnds bool) int {
	start, last, lineEnd := i, i, 0
	k, n := t.at(s, i)
	for k.in(spaces) {
		last = i
		i += n
		if k == line {
			lineEnd = i
		}
		k, n = t.at(s, i)
	}
	switch {
	case lineEnds && lineEnd > 0:
		return lineEnd
	case k != end && last > start:
		return last
	}
	return i
}

// contracted returns the length of what stands for a word after an apostrophe, which
// is at i, the apostrophe included; 0 if nothing does.
func (c *cutter) contracted(s string, i int) int {
	first, second := c.small(s, i+1), c.small(s, i+2)
	switch {
	case first == 's', first == 't', first == 'm', first == 'd':
		return 2
	case first == 'r' && second == 'e', first == 'v' && second == 'e', first == 'l' && second == 'l':
		return 3
	case c.fold && strings.HasPrefix(s[i+1:], "\u017F"):
		return 1 + len("\u017F") // the long s, which is s in another case
	}
	return 0
}

// small returns the byte at i, 0 at the end; as a small letter if the style folds.
func (c *cutter) small(s string, i int) byte {
	if i >= len(s) {
		return 0
	}
	b := s[i]
	if c.fold && 'A' <= b && b <= 'Z' {
		b += 'a' - 'A'
	}
	return b
}
