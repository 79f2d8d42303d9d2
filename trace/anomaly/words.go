package anomaly

import (
	"strconv"
	"strings"

	"rein.example/rein/internal/cut"
)

// number writes a number with commas.
func number(n int64) string {
	s := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i := range len(s) {
		if i > 0 && (len(s)-i)%3 == 0 && s[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// duration writes milliseconds as people say them.
func duration(ms int64) string {
	switch {
	case ms < 1000:
		return number(ms) + " ms"
	case ms < 10_000:
		return strconv.FormatInt(ms/1000, 10) + "." + strconv.FormatInt(ms%1000/100, 10) + " s"
	case ms < 120_000:
		return number(ms/1000) + " s"
	case ms < 7_200_000:
		return number(ms/60_000) + " min"
	}
	return number(ms/3_600_000) + " h"
}

// maxQuoted is the longest quotation, in bytes.
const maxQuoted = 160

// clip returns the beginning of a text that somebody wrote, on one line.
func clip(s string) string {
	s = strings.Join(strings.Fields(s[:min(len(s), 4*maxQuoted)]), " ")
	if len(s) <= maxQuoted {
		return strings.ToValidUTF8(s, "")
	}
	return strings.ToValidUTF8(s[:cut.Down(s, maxQuoted)], "") + "…"
}

// plural returns "1 time", "2 times".
func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return number(n) + " " + what + "s"
}
