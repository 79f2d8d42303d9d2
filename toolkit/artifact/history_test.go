package artifact_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"
	"github.com/go-json-experiment/json/jsontext"

	msg "rein.example/rein/message"
	"rein.example/rein/tool"
	"rein.example/rein/toolkit/artifact"
)

// message returns what a say directive says: "say role=tool tool=look call=c1".
// Numbers count from 0 in each run; #s repeat as in result.
func message(t *testing.T, d *datadriven.TestData, n int64) tool.Said {
	m := tool.Said{Number: n, Role: msg.User, Text: d.Input}
	for _, a := range d.CmdArgs {
		switch v := a.Vals[0]; a.Key {
		case "role":
			m.Role = msg.Role(v)
		case "tool":
			m.Tool, m.Role = v, msg.Tool
		case "call":
			m.Call = v
		case "run":
			m.Run = v
		case "number":
			_, _ = fmt.Sscan(v, &m.Number)
		case "repeat":
			var n int
			_, _ = fmt.Sscan(v, &n)
			m.Text = expand(m.Text, n, "\n")
		default:
			t.Fatalf("say %s?", a.Key)
		}
	}
	return m
}

// showHistory calls search_history, in a run in which that was said.
func showHistory(t testing.TB, args string, said []tool.Said, limit int) string {
	t.Helper()
	call := &tool.Call{History: func(context.Context) ([]tool.Said, error) { return said, nil }}
	return dispatched(t, artifact.History(), args, call, &tool.View{Call: "c9", Artifact: true}, limit)
}

func TestWithoutHistory(t *testing.T) {
	_, err := artifact.History().Run(t.Context(), &tool.Call{Args: jsontext.Value(`{}`)})
	var told *tool.Error
	if !errors.As(err, &told) || told.Type != "not_available" {
		t.Error(err)
	}
}

// TestAllOfHistory: whoever follows the remarks sees every message that holds the
// text, once and in order, however little of them one result shows.
func TestAllOfHistory(t *testing.T) {
	var said []tool.Said
	for i := range 300 {
		text := fmt.Sprintf("order %d is late", i)
		if i%3 == 0 {
			text = strings.Repeat("padding ", 200) + text + strings.Repeat(" padding", 200)
		}
		said = append(said, tool.Said{Number: int64(i), Role: msg.User, Text: text})
	}
	goOn := regexp.MustCompile(`go on with from=(\d+)`)
	next, args := 0, `{"search":"IS LATE"}`
	for pages := 0; ; pages++ {
		first, body, _ := strings.Cut(showHistory(t, args, said, 700), "\n")
		for line := range strings.SplitSeq(body, "\n") {
			if !strings.HasPrefix(line, fmt.Sprintf("%d user", next)) || !strings.Contains(line, fmt.Sprintf("order %d is late", next)) {
				t.Fatalf("%q where message %d should be", line, next)
			}
			next++
		}
		m := goOn.FindStringSubmatch(first)
		if m == nil {
			break
		}
		if m[1] != fmt.Sprint(next) || pages > 300 {
			t.Fatalf("%q does not lead to %d", first, next)
		}
		args = `{"search":"IS LATE","from":` + m[1] + `}`
	}
	if next != 300 {
		t.Errorf("%d messages were seen", next)
	}
}

// FuzzHistory: whatever was said and is asked for, what comes is text within the
// limit, or an error for the model.
func FuzzHistory(f *testing.F) {
	f.Add("one\ntwo\n[rein: x]\n", "two", int64(0), int64(0), int64(0), int64(0))
	f.Add(strings.Repeat("é", 9000), "", int64(1), int64(1), int64(1), int64(4001))
	f.Add("İstanbul\x00\xff", "i", int64(0), int64(2), int64(2), int64(0))
	f.Fuzz(func(t *testing.T, text, search string, from, to, number, at int64) {
		said := []tool.Said{{Run: "r0", Role: msg.User, Text: text}, {Role: msg.User, Text: text}, {Number: 1, Role: msg.Tool, Tool: "look", Call: text, Text: "x" + text}}
		args := jsontext.Value(`{`)
		if search != "" {
			args, _ = jsontext.AppendQuote(append(args, `"search":`...), strings.ToValidUTF8(search, "?"))
			args = append(args, ',')
		}
		args = fmt.Appendf(args, `"from":%d,"to":%d,"message":%d,"byte":%d}`, max(0, from), max(0, to), max(0, number), max(1, at))
		for _, a := range []string{string(args), strings.Replace(string(args), `"message"`, `"from"`, 1)} {
			if got := showHistory(t, a, said, 400); got == "" || !utf8.ValidString(got) {
				t.Fatalf("%s of %q: %q", a, text, got)
			}
		}
	})
}
