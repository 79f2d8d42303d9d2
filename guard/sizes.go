package guard

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

const (
	// leastSize is the smallest size that counts, in bytes: short results are often
	// of the same size for honest reasons.
	leastSize = 1000
	// maxSizes is how many sizes of one tool are remembered, and maxSameCalls how many
	// calls of each.
	maxSizes, maxSameCalls = 16, 64
	// leastLines is how many lines results of a form have at least.
	leastLines = 5
	// aboveLimit is by how much a size may be above a round limit, for the words that
	// some tools put in the place of what they have cut; belowLimit by how much below.
	aboveLimit, belowLimit = 16, 2
)

// Sizes remembers which sizes the results of one tool have had, to find out one that
// cuts them without a word: calls with different arguments give results of the same
// size then. The zero value is ready; it is not safe for concurrent use.
type Sizes struct {
	// Slack is by how much sizes may differ and still be the same.
	Slack int64
	list  []sameSize
}

// sameSize are results that have the same size, in bytes or in characters.
type sameSize struct {
	size  int64
	unit  string
	calls []event.Hash // of their arguments, different ones
	// lines is how many lines the first had, 0 if that is not known; uneven: another
	// had more or fewer.
	lines  int
	uneven bool
}

// Same says how many calls with different arguments have given results of one size.
type Same struct {
	Size int64
	// Unit is "bytes" or "characters".
	Unit  string
	Calls int
	// Form: all had the same number of lines, some at least: they are of a form that is
	// of one size, such as a table with columns of fixed width.
	Form bool
}

// Round reports whether the size lies at a limit that people choose: some thousand,
// decimal or binary.
func (s Same) Round() bool {
	for _, unit := range []int64{1000, 1024} {
		if over := s.Size % unit; over <= aboveLimit || over >= unit-belowLimit {
			return true
		}
	}
	return false
}

// Suspicious reports whether the size is one to wonder at, and not that of a form.
func (s Same) Suspicious() bool { return s.Round() || !s.Form }

// Add notes the size of a result, as the tool gave it, of a call with such arguments,
// and returns how many have had it: in bytes or, if more have had that, in characters.
// Whether Rein has shown less of it does not matter: that is said. A tool that knows
// what it read of how much says that too, and a size that was asked for is none to
// wonder at: both give zero, as do short results and failures.
func (s *Sizes) Add(args []byte, hash event.Hash, d *event.ToolFinished) Same {
	if d.ID == "" || d.Status != event.StatusSuccess || len(d.Seen) > 0 || d.Size < leastSize {
		return Same{}
	}
	text, whole := wholeText(d)
	size, lines := d.Size, 0
	if whole {
		text = withoutRemarks(text)
		size, lines = int64(len(text)), strings.Count(text, "\n")+1
	}
	if size < leastSize {
		return Same{}
	}
	same := s.note(args, hash, size, "bytes", lines)
	if n := int64(utf8.RuneCountInString(text)); whole && n != size {
		if chars := s.note(args, hash, n, "characters", lines); chars.Calls > same.Calls {
			same = chars
		}
	}
	return same
}

// Forget forgets all sizes.
func (s *Sizes) Forget() { s.list = nil }

// wholeText returns the text of a result, if all of it stands in the outcome.
func wholeText(d *event.ToolFinished) (string, bool) {
	if len(d.Parts) != 1 || d.Parts[0].Kind != message.Text || int64(len(d.Parts[0].Text)) != d.Size {
		return "", false
	}
	return d.Parts[0].Text, true
}

// withoutRemarks returns a result without the line of Rein's own that it may begin or
// end with, such as how long a command took: the tool has not written it.
func withoutRemarks(text string) string {
	const remark = "[rein: "
	if strings.HasPrefix(text, remark) {
		_, text, _ = strings.Cut(text, "\n")
	}
	if at := strings.LastIndexByte(text, '\n'); at >= 0 && strings.HasPrefix(text[at+1:], remark) {
		text = text[:at]
	}
	return text
}

func (s *Sizes) note(args []byte, hash event.Hash, size int64, unit string, lines int) Same {
	if asked(args, size) {
		return Same{}
	}
	at := -1
	for i := range s.list {
		if k := &s.list[i]; k.unit == unit && size-k.size <= s.Slack && k.size-size <= s.Slack {
			at = i
		}
	}
	if at < 0 {
		if len(s.list) == maxSizes {
			s.list = append(s.list[:0], s.list[1:]...)
		}
		at = len(s.list)
		s.list = append(s.list, sameSize{size: size, unit: unit, lines: lines})
	}
	k := &s.list[at]
	k.uneven = k.uneven || k.lines != lines
	known := len(k.calls) == maxSameCalls
	for _, h := range k.calls {
		known = known || h == hash
	}
	if !known {
		k.calls = append(k.calls, hash)
	}
	return Same{k.size, unit, len(k.calls), !k.uneven && lines >= leastLines}
}

// asked reports whether a number stands in the arguments.
func asked(args []byte, n int64) bool {
	want := strconv.AppendInt(nil, n, 10)
	for from := 0; ; {
		i := bytes.Index(args[from:], want)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(want)
		if (i == 0 || !digit(args[i-1])) && (end == len(args) || !digit(args[end])) {
			return true
		}
		from = end
	}
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
