package parse_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/parse"
)

// FuzzParse reads anything, as text and as native arguments, and holds what
// Parse promises of every result.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		for _, k := range load(f, file) {
			in := k.reply(f)
			for _, p := range in.Message.Parts {
				f.Add(p.Text, p.Args, p.ID, string(in.Finish))
			}
		}
	}
	f.Add("```json {} ``` ```` ```\n``` <think> </think> ```json\n[", `{"a":"\ud83d"}`, "c7_0", "stop")
	f.Fuzz(func(t *testing.T, text, args, id, finish string) {
		asText := message.NewText(message.Assistant, text)
		asCalls := message.Message{Role: message.Assistant, Parts: []message.Part{
			{Kind: message.ToolCall, ID: id, Name: "get_now", Args: args},
			{Kind: message.ToolCall, ID: id, Name: text, Args: text},
			{Kind: message.Text, Text: text},
		}}
		for _, m := range []*message.Message{&asText, &asCalls} {
			in := parse.Input{Message: m, Finish: event.Finish(finish), Tools: tools, Base: "c7", TextCalls: true,
				Used: func(s string) bool { return s == id }}
			r := parse.Parse(in)
			if again := parse.Parse(in); fmt.Sprint(r) != fmt.Sprint(again) {
				t.Fatalf("read twice: %v and %v", r, again)
			}
			promises(t, m, &r, id)
		}
		if o := parse.Object(text); o != nil && (!o.IsValid() || o.Kind() != '{') {
			t.Fatalf("not an object: %q", o)
		}
	})
}

func promises(t *testing.T, m *message.Message, r *parse.Result, used string) {
	if n := m.Calls(); n > 0 && (r.Format != parse.Native || len(r.Calls) != n) {
		t.Fatalf("%d native calls became %d of format %s", n, len(r.Calls), r.Format)
	}
	ids := map[string]bool{}
	offered := 0
	for i := range r.Calls {
		c := &r.Calls[i]
		if c.ID == "" || c.ID == used || ids[c.ID] {
			t.Fatalf("id %q is not unique", c.ID)
		}
		ids[c.ID] = true
		if c.Problem == "" && c.Name == "" {
			t.Fatal("a call without a name would run")
		}
		if c.Problem == "" && !jsontext.Value(c.Args).IsValid() {
			t.Fatalf("a call would run with %q", c.Args)
		}
		if why, _ := parse.Explain(c); (why == "") != (c.Problem == "") {
			t.Fatalf("problem %q is explained as %q", c.Problem, why)
		}
		for _, t := range tools {
			if c.Name == t.Name {
				offered++
			}
		}
	}
	if (r.Format == parse.JSON || r.Format == parse.JSONFence) && offered == 0 {
		t.Fatal("unmarked text became calls, none of a tool that was offered")
	}
	if (r.Format == parse.Text) != (len(r.Calls) == 0 && len(r.Problems) == 0) && r.Format != parse.Text {
		t.Fatalf("format %s with %d calls", r.Format, len(r.Calls))
	}
	a := parse.Assistant(m, r.Event("x", m))
	if a.Calls() != len(r.Calls) {
		t.Fatalf("%d calls stand in the history as %d", len(r.Calls), a.Calls())
	}
	n := 0
	for _, p := range a.Parts {
		if p.Kind != message.ToolCall {
			continue
		}
		if v := jsontext.Value(p.Args); !v.IsValid() || v.Kind() != '{' || p.ID != r.Calls[n].ID {
			t.Fatalf("call %d stands in the history as %q %q", n, p.ID, p.Args)
		}
		n++
	}
}
