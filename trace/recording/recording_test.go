package recording_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"

	"rein.example/rein/message"
	"rein.example/rein/trace/recording"
)

// TestScripts plays testdata/*.txt: read reads its input and prints what the
// conversations say, and what had to be changed. Rewrite with:
//
//	go test ./trace/recording -run TestScripts -rewrite
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if filepath.Base(path) == "fuzz" {
			t.Skip("seeds")
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "read" {
				d.Fatalf(t, "no directive %q", d.Cmd)
			}
			var l recording.Limits
			d.MaybeScanArgs(t, "bytes", &l.Bytes)
			d.MaybeScanArgs(t, "messages", &l.Messages)
			var b strings.Builder
			for c, err := range recording.Read(strings.NewReader(d.Input), l) {
				if err != nil {
					fmt.Fprintln(&b, "error:", err)
					continue
				}
				print(&b, c)
			}
			return b.String()
		})
	})
}

// print writes a conversation as a script's reader wants it.
func print(b *strings.Builder, c *recording.Conversation) {
	fmt.Fprintln(b, c.ID)
	if c.Format != recording.ChatCompletions {
		fmt.Fprintf(b, "  %s of %s, %s\n", c.Format, c.Agent, c.Model)
	}
	for _, l := range c.Labels {
		fmt.Fprintf(b, "  label %s: %s\n", l.Name, l.Value)
	}
	for _, t := range c.Tools {
		fmt.Fprintf(b, "  offers %s: %s %s\n", t.Name, t.Description, t.Schema)
	}
	for _, s := range c.System {
		fmt.Fprintf(b, "  system: %s\n", s)
	}
	for i := range c.Messages {
		m := &c.Messages[i]
		fmt.Fprintf(b, "  %s", m.Role)
		if c.Facts != nil && c.Facts[i] != (recording.Fact{}) {
			f := c.Facts[i]
			fmt.Fprintf(b, " (at %d, %q, in %s, cached %s, out %s)", f.Time, f.Model, f.Usage.Input, f.Usage.Cached, f.Usage.Output)
		}
		if m.Role == message.Tool {
			fmt.Fprintf(b, " %s of %s", m.ToolCallID, m.ToolName)
		}
		if m.Failed {
			b.WriteString(" failed")
		}
		b.WriteString(":")
		for _, p := range m.Parts {
			switch p.Kind {
			case message.ToolCall:
				fmt.Fprintf(b, " [%s %s(%s)]", p.ID, p.Name, p.Args)
			case message.Text:
				fmt.Fprintf(b, " %.80s", p.Text)
			default:
				fmt.Fprintf(b, " <%s %s%s>", p.Kind, p.Text, p.URL)
			}
		}
		b.WriteString("\n")
	}
	for _, r := range c.Repairs {
		fmt.Fprintf(b, "  repaired: %s (%s)\n", r, r.Kind)
	}
}

// TestMuch: of what would take much more memory or time than its bytes, nothing is made;
// what comes after it is read.
func TestMuch(t *testing.T) {
	calls := func(n int) string {
		return `[{"role":"assistant","tool_calls":[` + strings.Repeat(`{},`, n-1) + `{}]}]`
	}
	step := func(n int) string {
		return `{"schema_version":"ATIF-v1.7","steps":[{"source":"agent","message":"","tool_calls":[` + strings.Repeat(`{},`, n-1) + `{}]}]}`
	}
	for _, c := range []struct{ text, want string }{
		{calls(256), ""}, {calls(257), "257 calls"}, {step(256), ""}, {step(257), "257 calls"},
		{`{"messages":[` + strings.Repeat(`1,`, 20_000) + `1]}`, "JSON values"},
		{`[{"role":"user","content":"` + strings.Repeat(`,[\",`, 20_000) + `"}]`, ""},
		{`{"messages":[{"role":"user","content":"x"}],"tools":[` + strings.Repeat(`{},`, 20_000) + `{}]}`, "JSON values"},
	} {
		var errs []string
		n := 0
		for _, err := range recording.Read(strings.NewReader(c.text+"\n"+`[{"role":"user","content":"a"}]`), recording.Limits{Messages: 100}) {
			if n++; err != nil {
				errs = append(errs, err.Error())
			}
		}
		if n != 2 || (len(errs) > 0) != (c.want != "") || len(errs) > 1 || c.want != "" && !strings.Contains(errs[0], c.want) {
			t.Errorf("%.60s: %d, %q, want %q", c.text, n, errs, c.want)
		}
	}
}

// TestReaderFails: what the input itself fails with ends the reading.
func TestReaderFails(t *testing.T) {
	broken := errors.New("the disk is gone")
	in := io.MultiReader(strings.NewReader(`[{"role":"user","content":"hello"}]`+"\n"), iotest.ErrReader(broken))
	var got []string
	for c, err := range recording.Read(in, recording.Limits{}) {
		if err != nil {
			if !errors.Is(err, broken) {
				t.Errorf("got %v", err)
			}
			got = append(got, "error")
			continue
		}
		got = append(got, c.Messages[0].PlainText())
	}
	if fmt.Sprint(got) != "[hello error]" {
		t.Error(got)
	}
}

// TestStops: a caller that has enough is not given more.
func TestStops(t *testing.T) {
	in := strings.Repeat(`[[{"role":"user","content":"a"}],[{"role":"user","content":"b"}]]`+"\n", 3)
	n := 0
	for range recording.Read(strings.NewReader(in), recording.Limits{}) {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Error(n)
	}
}

// TestRealOnes: recordings of other agents are read whole.
func TestRealOnes(t *testing.T) {
	for _, want := range []struct {
		file          string
		conversations int
	}{{"trajectories.jsonl", 43}, {"tau-airline-gpt4o-runs.json", 120}} {
		f, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", want.file))
		if err != nil {
			t.Skipf("the recordings are not here: %v", err)
		}
		defer f.Close()
		n := 0
		for c, err := range recording.Read(f, recording.Limits{}) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			for _, r := range c.Repairs {
				if r.Kind == recording.UnknownPart || r.Kind == recording.BadText || r.Kind == recording.OrphanResult {
					t.Errorf("%s: %s", c.ID, r)
				}
			}
		}
		if n != want.conversations {
			t.Errorf("%s: %d conversations, want %d", want.file, n, want.conversations)
		}
	}
}

// FuzzRead: whatever is read is bounded, valid text, and paired.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}]`,
		`{"id":3,"messages":[{"role":"tool","tool_call_id":"x","content":"late"}]}`,
		"{\"task_id\":1,\n\"traj\":[{\"role\":\"function\",\"name\":\"f\",\"content\":null}]}",
		`[[{"role":"system","content":"\ud800"}],{"messages":[{"role":"user","content":["a",{"type":"image_url","image_url":"u"}]}]}]`,
		"\xEF\xBB\xBF[]\n{}\n[[[[",
		`{"schema_version":"ATIF-v1.7","agent":{"name":"a"},"steps":[{"source":"user","message":"x"},{"source":"agent","message":"","tool_calls":[{"tool_call_id":"c","function_name":"f","arguments":{}}],"observation":{"results":[{"source_call_id":"c","content":"y"},{"content":[{"type":"audio"}]}]},"metrics":{"prompt_tokens":1}}],"subagent_trajectories":[{"schema_version":"ATIF-v1.7","steps":[]}]}`,
		`[{"role":"assistant","function_call":{"name":"","arguments":{"a":[1]}}},{"role":"function","content":[{"x":"` + "\xff" + `"}]}]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		n := 0
		for c, err := range recording.Read(strings.NewReader(string(in)), recording.Limits{Bytes: 1 << 16, Messages: 100}) {
			if n++; n > len(in) {
				t.Fatal("more conversations than bytes")
			}
			if err != nil {
				continue
			}
			if len(c.Messages)+len(c.System) == 0 {
				t.Error("an empty conversation")
			}
			if again := message.Pair(c.Messages); len(again) != len(c.Messages) || len(again) > 0 && &again[0] != &c.Messages[0] {
				t.Error("not paired")
			}
			var b strings.Builder
			print(&b, c)
			if !utf8.ValidString(b.String()) {
				t.Errorf("not UTF-8: %q", b.String())
			}
		}
	})
}
