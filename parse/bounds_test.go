package parse_test

import (
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/parse"
)

// said parses a text with the tools of the test cases.
func said(text string) parse.Result {
	m := message.NewText(message.Assistant, text)
	return parse.Parse(parse.Input{Message: &m, Finish: event.FinishStop, Tools: tools, Base: "c7", TextCalls: true})
}

// called parses one native call with these arguments.
func called(args string) parse.Result {
	m := message.Message{Role: message.Assistant, Parts: []message.Part{
		{Kind: message.ToolCall, ID: "k", Name: "read_file", Args: args}}}
	return parse.Parse(parse.Input{Message: &m, Finish: event.FinishToolCalls, Tools: tools, Base: "c7"})
}

func TestTextInManyParts(t *testing.T) {
	m := message.Message{Role: message.Assistant}
	for _, r := range `{"name":"get_now","arguments":{}}` {
		m.Parts = append(m.Parts, message.Part{Kind: message.Text, Text: string(r)})
	}
	r := parse.Parse(parse.Input{Message: &m, Tools: tools, Base: "c7", TextCalls: true})
	if len(r.Calls) != 1 || r.Calls[0].Name != "get_now" {
		t.Fatalf("got %+v", r)
	}
}

func TestDepthLimit(t *testing.T) {
	nest := func(n int) string {
		return `{"a":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}`
	}
	if p := called(nest(parse.MaxDepth)).Calls[0].Problem; p != "" {
		t.Errorf("%d levels: problem %q", parse.MaxDepth, p)
	}
	if p := called(nest(parse.MaxDepth + 1)).Calls[0].Problem; p != parse.ProblemLimit {
		t.Errorf("%d levels: problem %q", parse.MaxDepth+1, p)
	}
	// A million brackets are refused at once, wherever they stand.
	for c, want := range map[string]string{
		"[":                                parse.ProblemLimit,
		"{":                                parse.ProblemInvalid, // two may be doubled braces, three are nothing
		`{"a":`:                            parse.ProblemLimit,
		`[{"name":"get_now","arguments":[`: parse.ProblemLimit,
	} {
		deep := strings.Repeat(c, 1_000_000/len(c))
		if p := called(deep).Calls[0].Problem; p != want {
			t.Errorf("a million of %q as arguments: problem %q, want %q", c, p, want)
		}
		if r := said(deep); len(r.Calls) > 0 && r.Calls[0].Problem == "" {
			t.Errorf("a million of %q as text is a call: %+v", c, r.Calls[0].Name)
		}
	}
}

func TestSizeLimit(t *testing.T) {
	long := strings.Repeat("x", parse.MaxText)
	if p := called(`{"path":"` + long + `"}`).Calls[0].Problem; p != parse.ProblemLimit {
		t.Errorf("arguments over the limit: problem %q", p)
	}
	r := said(`{"name":"read_file","arguments":{"path":"` + long + `"}}`)
	if r.Format != parse.Text || len(r.Notes) != 1 {
		t.Errorf("a text over the limit: format %s, notes %q", r.Format, r.Notes)
	}
}

func TestCallLimit(t *testing.T) {
	const n = parse.MaxCalls + 3
	m := message.Message{Role: message.Assistant}
	for range n {
		m.Parts = append(m.Parts, message.Part{Kind: message.ToolCall, Name: "get_now"})
	}
	r := parse.Parse(parse.Input{Message: &m, Finish: event.FinishToolCalls, Base: "c7"})
	if len(r.Calls) != n {
		t.Fatalf("%d native calls of %d kept: each needs its result", len(r.Calls), n)
	}
	for i, c := range r.Calls {
		if over := i >= parse.MaxCalls; over != (c.Problem == parse.ProblemLimit) {
			t.Fatalf("call %d: problem %q", i, c.Problem)
		}
	}

	one := `{"name":"get_now","arguments":{}}`
	for what, text := range map[string]string{
		"list":   "[" + strings.Repeat(one+",", n-1) + one + "]",
		"fences": strings.Repeat("```json\n"+one+"\n```\n", n),
	} {
		r := said(text)
		if len(r.Calls) != parse.MaxCalls || len(r.Problems) != 1 {
			t.Errorf("%s: %d calls, problems %q", what, len(r.Calls), r.Problems)
		}
	}
}

// Where reasoning ends, what stands before is a draft, however much it is.
func TestManyDraftsAreNotRun(t *testing.T) {
	one := `<tool_call>{"name":"get_now","arguments":{}}</tool_call>` + "\n"
	drafts := strings.Repeat(one, 3*parse.MaxCalls)
	for text, calls := range map[string]int{
		drafts: parse.MaxCalls,
		drafts + "I need none.</think>It is noon.":           0,
		drafts + "I need one.</think>" + one:                 1,
		drafts + "<think>I need them.</think>Here they are.": parse.MaxCalls,
	} {
		if r := said(text); len(r.Calls) != calls {
			t.Errorf("%d calls of %d drafts and %q, want %d", len(r.Calls), 3*parse.MaxCalls, text[len(drafts):], calls)
		}
	}
}

func TestNotesAreBounded(t *testing.T) {
	r := said(strings.Repeat("```json\n{\"name\":\""+strings.Repeat("x", 1000)+"\",\"args\":{}}\n```\n", 100))
	if len(r.Notes) == 0 || len(r.Notes) > 8 || len(r.Notes[0]) > 200 {
		t.Errorf("%d notes, the first of %d bytes", len(r.Notes), len(r.Notes[0]))
	}
}

func TestEvent(t *testing.T) {
	// In the event, Text stands only where the calls were taken out of the text.
	r := said("Reading.\n```json\n{\"name\":\"get_now\",\"arguments\":{}}\n```")
	if e := r.Event("c6.0", &message.Message{Parts: []message.Part{{Kind: message.Text, Text: "An answer."}}}); e.ID != "c6.0" || e.Format != parse.JSONFence || e.Text != "Reading." || len(e.Calls) != 1 {
		t.Errorf("got %+v", e)
	}
	r = said("An answer.")
	if e := r.Event("c6.0", &message.Message{Parts: []message.Part{{Kind: message.Text, Text: "An answer."}}}); e.Format != parse.Text || e.Text != "" {
		t.Errorf("got %+v", e)
	}
}

func TestObject(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"total": 196}`, `{"total": 196}`},
		{"\n {\"total\":196} \n", `{"total":196}`},
		{"<think>196?</think>{\"total\":196}", `{"total":196}`},
		{"Here it is:\n```json\n{\"total\":196}\n```\nDone.", `{"total":196}`},
		{"```\n{\"total\":196}\n```", `{"total":196}`},
		{"```json\n{\"total\":196}", `{"total":196}`},
		{"```json\n{\"total\":196}\n```\n```json\n{\"total\":197}\n```", ""}, // which?
		{"```yaml\n{\"total\":196}\n```", ""},
		{`{"total": 19`, ""},
		{`{"total":1,"total":2}`, ""},
		{`[1]`, ""},
		{"The total is 196.", ""},
		{"", ""},
	} {
		if got := string(parse.Object(c.text)); got != c.want {
			t.Errorf("Object(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}
