package loop

import (
	"fmt"
	"strconv"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/guard"
)

// alarmAt is how many calls of one tool with different arguments give results of the
// same size before the tool is suspected of cutting them in silence.
const alarmAt = 5

// suspect looks at the size of a result.
func (m *Machine) suspect(c *call, d *event.ToolFinished) {
	t := c.tool
	if t == nil || t.suspected || c.attempt == 0 || t.Harness {
		return
	}
	if same := t.sizes.Add(c.args, c.hash, d); same.Calls >= alarmAt && same.Suspicious() {
		m.alarm(c, same)
	}
}

// alarm tells the model, once for each tool, that results are not to be trusted
// to be whole.
func (m *Machine) alarm(c *call, s guard.Same) {
	c.tool.suspected = true
	c.tool.sizes.Forget()
	m.remarks = append(m.remarks, &event.NoticeAdded{Kind: event.NoticeTruncation, Call: c.ID, Text: fmt.Sprintf(
		"%d calls of %s with different arguments have each returned exactly %s %s: the tool seems to cut its results silently. "+
			"What you did not see in them may be there all the same. Before you say that something is missing, or write it anew, look for it in another way: read smaller parts, or search.",
		alarmAt, c.Name, thousands(s.Size), s.Unit)})
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
