package parse

import (
	"strings"
	"unicode/utf8"
)

const (
	// repeatWindow is how much of the end of a text is searched for a passage that
	// comes again and again, in bytes.
	repeatWindow = 4 << 10
	// A passage of fewer than shortPassage bytes, such as a rule of dashes, must fill
	// manyShort bytes; one of fewer than longPassage must come manyTimes and fill
	// leastFilled; a longer one, a paragraph, must come longTimes.
	shortPassage = 8
	manyShort    = 1 << 10
	longPassage  = 256
	manyTimes    = 6
	leastFilled  = 256
	longTimes    = 3
)

// Repeats looks whether a text ends with the same passage again and again, as models
// do that have lost themselves: the last time may be cut off. It returns how often
// the passage comes, 0 if it does not, and where it has come once: text[:again] ends
// with it, at the end of a line if it has one.
//
// The passage is the shortest one for which that holds. It takes time linear in the
// stretch that is repeated.
func Repeats(text string) (again int, times int64) {
	if len(text) < leastFilled {
		return 0, 0
	}
	w := text[max(0, len(text)-repeatWindow):]
	var runs [repeatWindow]uint16
	borders(&runs, w)
	period := 0
	for p := 1; p < len(w) && period == 0; p++ {
		if repeated(p, p+int(runs[p])) {
			period = p
		}
	}
	if period == 0 {
		return 0, 0
	}
	from := len(text) - period // where the stretch begins
	for from > 0 && text[from-1] == text[from-1+period] {
		from--
	}
	again = from + period
	for n := 1; n < utf8.UTFMax && again < len(text) && !utf8.RuneStart(text[again]); n++ {
		again++
	}
	if i := strings.IndexByte(text[again:min(again+period, len(text))], '\n'); i >= 0 && text[again-1] != '\n' {
		again += i + 1 // whole lines
	}
	return again, int64((len(text) - from + period/2) / period)
}

// repeated reports whether a passage of so many bytes that fills so many is one that
// comes again and again.
func repeated(passage, filled int) bool {
	switch {
	case passage < shortPassage:
		return filled >= manyShort
	case passage < longPassage:
		return filled >= leastFilled && filled >= manyTimes*passage
	}
	return filled >= longTimes*passage
}

// borders sets runs[p] to how many bytes before the last p of s are equal to those
// that stand p later, counted from the end: the Z-function of s read backwards. So s
// ends with a stretch of p plus so many bytes that has the period p.
func borders(runs *[repeatWindow]uint16, s string) {
	n := len(s)
	at := func(i int) byte { return s[n-1-i] }
	for i, l, r := 1, 0, 0; i < n; i++ {
		same := 0
		if i < r {
			same = min(r-i, int(runs[i-l]))
		}
		for i+same < n && at(same) == at(i+same) {
			same++
		}
		if i+same > r {
			l, r = i, i+same
		}
		runs[i] = uint16(same)
	}
}
