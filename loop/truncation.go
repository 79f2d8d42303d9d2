package loop

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

const (
	// alarmAt is how many calls of one tool with different arguments give results
	// of the same size before the tool is suspected of cutting them in silence.
	alarmAt = 5
	// alarmSize is the smallest size that counts, in bytes: short results are often
	// of the same size for honest reasons.
	alarmSize = 1000
	// alarmSizes is how many sizes of one tool are remembered.
	alarmSizes = 16
)

// sameSize are results of one tool that have the same size, in bytes or in
// characters.
type sameSize struct {
	size  int64
	unit  string
	calls []event.Hash // of their arguments, different ones
}

// suspect looks at the size of a result, as the tool gave it. Whether Rein has
// shown less of it does not matter: that is said. A tool that knows what it read
// of how much says that too, and a size that was asked for is none to wonder at.
func (m *Machine) suspect(c *call, d *event.ToolFinished) {
	t := c.tool
	if t == nil || t.suspected || c.attempt == 0 || d.ID == "" || d.Status != event.StatusSuccess || len(d.Seen) > 0 || d.Size < alarmSize || t.Harness {
		return
	}
	size := sameSize{d.Size, "bytes", nil}
	if t.sameAs(c, size) >= alarmAt {
		m.alarm(c, size)
		return
	}
	if n, ok := characters(d); ok && n != d.Size {
		if size = (sameSize{n, "characters", nil}); t.sameAs(c, size) >= alarmAt {
			m.alarm(c, size)
		}
	}
}

// characters counts those of a result, if all of it stands in the outcome.
func characters(d *event.ToolFinished) (int64, bool) {
	if len(d.Parts) != 1 || d.Parts[0].Kind != message.Text || int64(len(d.Parts[0].Text)) != d.Size {
		return 0, false
	}
	return int64(utf8.RuneCountInString(d.Parts[0].Text)), true
}

// sameAs notes the size of a call's result, and returns how many results with
// different arguments have had it.
func (t *toolInfo) sameAs(c *call, size sameSize) int {
	if asked(c.args, size.size) {
		return 0
	}
	at := -1
	for i := range t.sizes {
		if t.sizes[i].size == size.size && t.sizes[i].unit == size.unit {
			at = i
		}
	}
	if at < 0 {
		if len(t.sizes) == alarmSizes {
			t.sizes = append(t.sizes[:0], t.sizes[1:]...)
		}
		at = len(t.sizes)
		t.sizes = append(t.sizes, size)
	}
	s := &t.sizes[at]
	for _, h := range s.calls {
		if h == c.hash {
			return len(s.calls)
		}
	}
	s.calls = append(s.calls, c.hash)
	return len(s.calls)
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

// alarm tells the model, once for each tool, that results are not to be trusted
// to be whole.
func (m *Machine) alarm(c *call, s sameSize) {
	c.tool.suspected, c.tool.sizes = true, nil
	m.remarks = append(m.remarks, &event.NoticeAdded{Kind: event.NoticeTruncation, Call: c.ID, Text: fmt.Sprintf(
		"%d calls of %s with different arguments have each returned exactly %s %s: the tool seems to cut its results silently. "+
			"What you did not see in them may be there all the same. Before you say that something is missing, or write it anew, look for it in another way: read smaller parts, or search.",
		alarmAt, c.Name, thousands(s.size), s.unit)})
}

// thousands writes a number with commas.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i := range len(s) {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
