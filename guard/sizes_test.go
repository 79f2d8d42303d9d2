package guard

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

func TestAskedSize(t *testing.T) {
	for _, c := range []struct {
		args string
		want bool
	}{{`{"limit":8000}`, true}, {`{"limit":80001,"at":18000}`, false}, {`{"at":180008000,"limit":8000}`, true}, {`{}`, false}, {`8000`, true}} {
		if got := asked([]byte(c.args), 8000); got != c.want {
			t.Errorf("%s: %v", c.args, got)
		}
	}
}

// Sizes are the same in bytes or in characters, exactly or nearly; a call that comes
// again, a failure and a tool that says what it has seen add nothing.
func TestSizes(t *testing.T) {
	text := func(bytes, wide int) *event.ToolFinished {
		s := strings.Repeat("é", wide) + strings.Repeat("x", bytes-2*wide)
		return &event.ToolFinished{ID: "1.0", Status: event.StatusSuccess, Size: int64(len(s)), Parts: []message.Part{{Kind: message.Text, Text: s}}}
	}
	rows := func(n, columns int, remark string) *event.ToolFinished {
		s := strings.Repeat(strings.Repeat("x", columns)+"\n", n) + remark
		return &event.ToolFinished{ID: "1.0", Status: event.StatusSuccess, Size: int64(len(s)), Parts: []message.Part{{Kind: message.Text, Text: s}}}
	}
	failed, seen := text(2000, 0), text(2000, 0)
	failed.Status, seen.Seen = event.StatusError, []event.Seen{{Resource: "a"}}
	for name, c := range map[string]struct {
		slack   int64
		results []*event.ToolFinished
		args    []string
		want    Same
	}{
		"bytes":      {0, []*event.ToolFinished{text(2000, 0), text(2000, 0)}, []string{"a", "b"}, Same{2000, "bytes", 2, false}},
		"characters": {0, []*event.ToolFinished{text(2001, 1), text(2003, 3)}, []string{"a", "b"}, Same{2000, "characters", 2, false}},
		"again":      {0, []*event.ToolFinished{text(2000, 0), text(2000, 0)}, []string{"a", "a"}, Same{2000, "bytes", 1, false}},
		"near":       {1, []*event.ToolFinished{text(2000, 0), text(1999, 0)}, []string{"a", "b"}, Same{2000, "bytes", 2, false}},
		"not near":   {0, []*event.ToolFinished{text(2000, 0), text(1999, 0)}, []string{"a", "b"}, Same{1999, "bytes", 1, false}},
		// A table with columns of fixed width, and what a command's output is told with.
		"form":    {0, []*event.ToolFinished{rows(100, 24, ""), rows(100, 24, "")}, []string{"a", "b"}, Same{2500, "bytes", 2, true}},
		"uneven":  {0, []*event.ToolFinished{rows(100, 24, ""), rows(50, 49, "")}, []string{"a", "b"}, Same{2500, "bytes", 2, false}},
		"remarks": {0, []*event.ToolFinished{rows(1, 1999, "[rein: exit code 0; took 9ms]"), rows(1, 1999, "[rein: exit code 0; took 480ms]")}, []string{"a", "b"}, Same{1999, "bytes", 2, false}},
		"short":   {0, []*event.ToolFinished{text(900, 0), text(900, 0)}, []string{"a", "b"}, Same{}},
		"failed":  {0, []*event.ToolFinished{text(2000, 0), failed}, []string{"a", "b"}, Same{}},
		"seen":    {0, []*event.ToolFinished{text(2000, 0), seen}, []string{"a", "b"}, Same{}},
	} {
		s := Sizes{Slack: c.slack}
		var got Same
		for i, d := range c.results {
			got = s.Add([]byte(c.args[i]), sha256.Sum256([]byte(c.args[i])), d)
		}
		if got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
	for same, want := range map[Same]bool{{Size: 4096}: true, {Size: 4000, Form: true}: true, {Size: 1272, Form: true}: false, {Size: 1272}: true} {
		if same.Suspicious() != want {
			t.Errorf("%+v is suspicious: %v", same, !want)
		}
	}
	s := Sizes{}
	for i := range 1000 {
		args := fmt.Sprint("of call ", i)
		if got := s.Add([]byte(args), sha256.Sum256([]byte(args)), text(2000, 0)); got.Calls > maxSameCalls {
			t.Fatalf("%d calls are remembered", got.Calls)
		}
	}
}
