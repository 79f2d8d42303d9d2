package window

import (
	"strings"
	"unicode/utf8"
)

const (
	// maxPiece is the longest piece, in bytes; longer ones are cut between words.
	maxPiece = 320
	// longLine is how long a line is that is taken apart into sentences.
	longLine = 100
)

// pieces calls f with each piece of a text that can stand for itself, in order: a
// line, a sentence of a long line, some members of a long line of JSON. Pieces have
// no white space around them, at least one letter or digit, and at most maxPiece
// bytes, unless they are one word. The time is linear.
func pieces(text string, f func(piece string)) {
	for text != "" {
		line, after, _ := strings.Cut(text, "\n")
		text = after
		for line != "" {
			one, more, _ := strings.Cut(line, "\r")
			line = more
			piecesOf(strings.TrimSpace(one), f)
		}
	}
}

// piecesOf is pieces for one line.
func piecesOf(line string, f func(piece string)) {
	if len(line) <= longLine {
		piece(line, f)
		return
	}
	for line != "" {
		n, whole := sentence(line), true
		if n > maxPiece {
			n, whole = clause(line)
		}
		if whole {
			piece(line[:n], f)
		}
		line = strings.TrimLeft(line[n:], " \t")
	}
}

func piece(s string, f func(string)) {
	if s = strings.TrimSpace(s); len(s) > 1 && wordy(s) {
		f(s)
	}
}

// sentence returns the length of the first sentence, or more than maxPiece.
func sentence(s string) int {
	for i := 0; i < len(s) && i <= maxPiece; i++ {
		switch s[i] {
		case '.', '!', '?':
			if i+2 < len(s) && s[i+1] == ' ' && starts(s[i+2:]) && !abbreviated(s[:i]) {
				return i + 1
			}
		case 0xE3, 0xEF:
			if strings.HasPrefix(s[i:], "。") || strings.HasPrefix(s[i:], "！") || strings.HasPrefix(s[i:], "？") {
				return i + 3
			}
		}
	}
	if len(s) <= maxPiece {
		return len(s)
	}
	return maxPiece + 1
}

// starts reports whether a sentence may begin so.
func starts(s string) bool {
	switch k := kinds[s[0]]; k {
	case upper, digit, high, dollar:
		return true
	case opens:
		return true
	}
	return strings.IndexByte("\"'`*([{<- ", s[0]) >= 0
}

// abbreviated reports whether the full stop after s belongs to its last word: a
// single letter, or a title and the like.
func abbreviated(s string) bool {
	last := s[strings.LastIndexAny(s, " (")+1:]
	if len(last) == 1 && (kinds[last[0]] == upper || kinds[last[0]] == lower) {
		return true
	}
	switch strings.ToLower(last) {
	case "e.g", "i.e", "mr", "mrs", "ms", "dr", "st", "no", "nr", "vs", "cf", "approx", "bzw", "z.b":
		return true
	}
	return false
}

// clause returns where to cut a line that begins with no short sentence: after an
// item of JSON, a semicolon or a comma, else at a space, at least in the middle of
// the longest piece, else before the last character of a script without spaces. A
// word that is longer than a piece is cut off as a whole, and is no piece.
func clause(line string) (n int, whole bool) {
	s := line[:maxPiece]
	half := len(s) / 2
	for _, sep := range [...]string{"}, ", "},", "; ", ", \"", ",\"", ", ", " | ", " "} {
		if i := strings.LastIndex(s[half:], sep); i >= 0 {
			return half + i + len(strings.TrimRight(sep, " \"")), true
		}
	}
	for i := len(s) - 1; i >= half; i-- {
		if utf8.RuneStart(s[i]) && s[i] >= utf8.RuneSelf {
			return i, true
		}
	}
	if i := strings.LastIndexByte(s, ' '); i > 0 {
		return i, true
	}
	if i := strings.IndexAny(line, " \t"); i >= 0 {
		return i, false
	}
	return len(line), false
}
