package rehearsal_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"rein.example/rein/engine/rehearsal"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/trace/recording"
)

// TestScripts plays testdata/*.txt: play rehearses the conversations of its input and
// prints the messages of each request, what was changed, and how it ends. Rewrite with:
//
//	go test ./engine/rehearsal -run TestScripts -rewrite
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "play" {
				d.Fatalf(t, "no directive %q", d.Cmd)
			}
			var b strings.Builder
			for c, err := range recording.Read(strings.NewReader(d.Input), recording.Limits{}) {
				if err != nil {
					d.Fatalf(t, "%v", err)
				}
				play(t, &b, c)
			}
			return b.String()
		})
	})
}

func play(t *testing.T, b *strings.Builder, c *recording.Conversation) {
	s := rehearsal.Prepare(c)
	fmt.Fprintln(b, s.ID)
	for _, r := range s.Repairs {
		fmt.Fprintf(b, "  repaired: %s\n", r)
	}
	r := run(t, s, rehearsal.Config{Strategy: rehearsal.Everything, Sent: func(c *loop.CallModel, _ [][]byte) {
		fmt.Fprintf(b, "  request %d:", c.Step)
		for i := range c.Messages {
			m := &c.Messages[i]
			fmt.Fprintf(b, " %s(%s", m.Role, strings.ReplaceAll(m.PlainText(), "\n", "\\n"))
			for _, p := range m.Parts {
				if p.Kind == message.ToolCall {
					fmt.Fprintf(b, " [%s %s %s]", p.ID, p.Name, p.Args)
				}
			}
			if m.Failed {
				b.WriteString(" failed")
			}
			b.WriteString(")")
		}
		b.WriteString("\n")
	}})
	fmt.Fprintf(b, "  %d calls, %d messages\n", r.Calls, r.Messages)
	if r.Ended != "" {
		fmt.Fprintf(b, "  ended: %s\n", r.Ended)
	}
}
