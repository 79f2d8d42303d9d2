package diff

import (
	"slices"
	"strings"

	"rein.example/rein/message"
)

// What varies by itself in the remark with which Rein ends what a command wrote (package
// toolkit/command): how long it took, was silent, and the numbers of processes.
const (
	tookOpen    = "; took "
	silentOpen  = "it wrote nothing for "
	runningOpen = "that it had started still "
	sizeOpen    = ", of "
	sizeClose   = " bytes "
)

// steady returns a result without what is another time at every run of the same
// command, whatever came of it: durations and numbers of processes in Rein's own
// remarks. What commands write is left as it is, since only whoever wrote it can know
// what that means. Other texts are returned as they are.
func steady(s string) string {
	if !strings.Contains(s, tookOpen) || !strings.Contains(s, remarkOpen) {
		return s
	}
	lines := strings.Split(s, "\n")
	found := false
	for i, l := range lines {
		if strings.HasPrefix(l, remarkOpen) && strings.HasSuffix(l, "]") && strings.Contains(l, tookOpen) {
			lines[i], found = steadySummary(l), true
		}
	}
	if !found {
		return s
	}
	// The size of the whole, in the first line of a result that was cut, counts the
	// digits of those times as well.
	if first := lines[0]; strings.HasPrefix(first, remarkOpen) {
		if before, rest, ok := strings.Cut(first, sizeOpen); ok {
			if digits := leading(rest, isDigit); digits > 0 && strings.HasPrefix(rest[digits:], sizeClose) {
				lines[0] = before + sizeOpen + "…" + rest[digits:]
			}
		}
	}
	return strings.Join(lines, "\n")
}

// timed reports whether [steady] may change a text among these.
func timed(parts []message.Part) bool {
	return slices.ContainsFunc(parts, func(p message.Part) bool { return strings.Contains(p.Text, tookOpen) })
}

// steadySummary takes out of one remark what varies.
func steadySummary(s string) string {
	var parts []string
	for p := range strings.SplitSeq(strings.TrimSuffix(s, "]"), "; ") {
		switch {
		case strings.HasPrefix(p, "took "):
			p = "took …"
		case strings.HasPrefix(p, silentOpen):
			continue // it is there only if it was long
		case strings.Contains(p, runningOpen) || strings.HasPrefix(p, "could not be ended: "):
			p = withoutNumbers(p)
		}
		parts = append(parts, p)
	}
	return strings.Join(parts, "; ") + "]"
}

// withoutNumbers takes out the numbers of processes: those before their names in
// brackets.
func withoutNumbers(s string) string {
	var out strings.Builder
	for s != "" {
		n := leading(s, isDigit)
		if n > 0 && strings.HasPrefix(s[n:], " (") {
			s = "…" + s[n:]
			n = len("…")
		}
		n = max(n, 1)
		out.WriteString(s[:n])
		s = s[n:]
	}
	return out.String()
}

// leading returns how many bytes a text begins with are of a kind.
func leading(s string, is func(byte) bool) int {
	n := 0
	for n < len(s) && is(s[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
