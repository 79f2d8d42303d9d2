package gemini

import (
	"math/rand"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/modeltest"
)

func text(s string) message.Part { return message.Part{Kind: message.Text, Text: s} }

func signature(s string) jsontext.Value { return jsontext.Value(`{"thoughtSignature":"` + s + `"}`) }

// conversation has one of everything that an encoder meets.
func conversation() (system, messages []message.Message) {
	system = []message.Message{
		message.NewText(message.System, "Use the tools.\nNever guess."),
		message.NewText(message.System, "Rules: <none> & \"quoted\""),
	}
	return system, []message.Message{
		message.NewText(message.User, "Grüße, 東京 🗼 \u2028 <b>&amp;</b> \\ \x01 \xff"),
		message.NewText(message.System, "a notice after the user"),
		{Role: message.Assistant, Parts: []message.Part{
			{Kind: message.Reasoning, Text: "Two things to look up.", Provider: "gemini"},
			{Kind: message.Reasoning, Text: "", Provider: "gemini", Opaque: signature("QQ=")},
			{Kind: message.Reasoning, Text: "not for this wire", Provider: "anthropic", Opaque: jsontext.Value(`{"signature":"no"}`)},
			text("I will look."),
			{Kind: message.ToolCall, ID: "gemini-f8Q2", Name: "read_file", Args: `{"path": "a.md", "at": 1.50}`, Provider: "gemini", Opaque: signature("Cp\\u002f==")},
			{Kind: message.ToolCall, ID: "r1_4_1", Name: "get_now", Args: "", Provider: "gemini"},
			{Kind: message.ToolCall, ID: "r1_4_2", Name: "write_file", Args: `{"path":"b.md","content":"cut o`, Provider: "gemini"},
		}},
		message.Result("gemini-f8Q2", "read_file", "line 1\n\tline 2", false),
		message.Result("r1_4_1", "get_now", "2026-03-01T12:00:00Z", false),
		{Role: message.Tool, ToolCallID: "r1_4_2", ToolName: "write_file", Failed: true, Parts: []message.Part{text(`{"ok":false}`), text("second part"), {Kind: message.Image, Name: "plot.png", MediaType: "image/png", URL: "data:image/png;base64,AAAA"}}},
		message.NewText(message.System, "a notice after results"),
		message.NewText(message.System, "and another"),
		message.NewText(message.User, "what the user says next"),
		{Role: message.Assistant, Parts: []message.Part{
			text("Half"), {Kind: message.Text, Provider: "gemini", Opaque: signature("c2ln")},
		}},
		{Role: message.User, Parts: []message.Part{
			text("Look at these:"),
			{Kind: message.Image, URL: "https://example.test/a.png"},
			{Kind: message.Image, URL: "data:image/png;base64,iVBORw0KGgo="},
			{Kind: message.File, Name: "a.pdf", MediaType: "application/pdf", URL: "data:;base64,JVBERi0="},
			{Kind: message.File, Name: "b.pdf", MediaType: "application/pdf", URL: "https://example.test/b.pdf"},
			{Kind: message.File, Name: "c.txt", URL: "data:text/plain,not%20base64"},
			{Kind: message.Image, Ref: &message.Ref{SHA256: "not resolved"}},
			text(""),
			text("What are they?"),
		}},
		{Role: message.Assistant, Parts: []message.Part{
			// Another model made this call, so that it has no signature.
			{Kind: message.ToolCall, ID: "call_7", Name: "get_now", Args: "{}", Provider: "openai", Opaque: jsontext.Value(`{"id":"x"}`)},
			{Kind: message.ToolCall, ID: "call_8", Name: "", Args: `[]`},
			{Kind: message.Image, URL: "https://example.test/drawn.png"},
		}},
		message.Result("call_7", "get_now", "", false),
		message.Result("call_8", "", "no such tool", true),
		{Role: message.Assistant},
		message.NewText(message.Assistant, "Two replies in a row."),
		message.NewText(message.System, "a notice after an answer"),
		{Role: message.User},
		{Role: message.User, Parts: []message.Part{{Kind: message.Image, MediaType: "image/png", Ref: &message.Ref{SHA256: "abc"}, URL: "data:image/png;base64,AAAA"}}},
		{Role: message.Tool, ToolCallID: "c9", ToolName: "read_file", Parts: []message.Part{{Kind: message.Text, Ref: &message.Ref{SHA256: "def"}, Text: "a long result"}}},
		{Role: message.Tool, ToolCallID: "c10", ToolName: "read_file", Parts: []message.Part{{Kind: message.File, Name: "d.bin", Ref: &message.Ref{SHA256: "ghi"}}}},
	}
}

func params() *model.Params {
	return &model.Params{
		Model: "gemini-3-flash",
		Tools: []event.ToolSpec{
			{Name: "get_now", Description: "The time in \"UTC\" <now>.", Schema: jsontext.Value(`{"type":"object","properties":{},"additionalProperties":false}`)},
			{Name: "read_file", Description: "Reads a file.", Schema: jsontext.Value("{\n  \"type\": \"object\", \"properties\": {\"path\": {\"type\": \"string\", \"description\": \"\\u003cpath\\u003e\"}, \"lines\": {\"type\": \"integer\", \"exclusiveMinimum\": 0, \"default\": 100}}, \"required\": [\"path\"], \"additionalProperties\": false}")},
			{Name: "no_schema"},
		},
		Stream: true,
	}
}

// testdata/requests holds the exact bytes of requests, as other programs and old
// journals know them: a change there needs a new version of the encoder.
func TestRequestBytes(t *testing.T) {
	system, messages := conversation()
	for _, c := range []struct {
		name   string
		quirks Quirks
		set    func(*model.Params)
	}{
		{"latest", QuirksOf("gemini-3-flash"), nil},
		{"everything", QuirksOf("gemini-3-pro"), func(p *model.Params) {
			p.MaxOutput = 4096
			p.Sampling = event.Sampling{Temperature: "0.7", TopP: "1", Seed: "42", Reasoning: "low"}
			p.Schema, p.SchemaName = jsontext.Value(`{"type":"object","properties":{"ok":{"type":"boolean"},"why":{"type":["string","null"]}},"required":["ok","why"],"additionalProperties":false}`), "verdict"
		}},
		{"gemini-2.5", QuirksOf("gemini-2.5-pro"), func(p *model.Params) { // tools go before the schema
			p.Sampling.Reasoning = "high"
			p.Schema = jsontext.Value(`{"type":"object","properties":{"ok":{"type":"boolean"}}}`)
		}},
		{"gemini-2.0", QuirksOf("models/gemini-2.0-flash"), func(p *model.Params) { p.Sampling.Reasoning = "high" }},
		{"final", QuirksOf("gemini-3-flash"), func(p *model.Params) { p.NoTools, p.Stream = true, false }},
		{"check", QuirksOf("gemini-2.5-flash"), func(p *model.Params) { // no tools, so the schema can be asked for
			p.NoTools = true
			p.Schema = jsontext.Value(`{"type":"object","properties":{"missing":{"type":"array","items":{"type":"string"}}},"required":["missing"]}`)
		}},
		{"strict", QuirksOf("gemini-3-flash"), func(p *model.Params) { p.Strict, p.Stop = true, []string{"\nObservation:"} }},
		{"strict-gemini-2.0", QuirksOf("gemini-2.0-flash"), func(p *model.Params) { p.Strict = true }},
		{"strict-final", QuirksOf("gemini-3-flash"), func(p *model.Params) { p.Strict, p.NoTools = true, true }},
		{"odd", Quirks{}, func(p *model.Params) {
			p.Tools = []event.ToolSpec{{Name: "broken", Schema: jsontext.Value(`{"type":`)}, {Name: "any", Schema: jsontext.Value(`{}`)}}
			p.Sampling = event.Sampling{Temperature: "warm", Seed: "\"1\"", Reasoning: "somewhat"}
			p.Schema = jsontext.Value(`not a schema`)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := NewEncoder(c.quirks)
			if err != nil {
				t.Fatal(err)
			}
			p := params()
			if c.set != nil {
				c.set(p)
			}
			modeltest.RequestBytes(t, "testdata/requests/"+c.name+".txt", e, p, system, messages, func(options jsontext.Value) (model.Encoder, error) { return EncoderOf(options) })
		})
	}
}

// How much to think is asked for in three ways.
func TestThinking(t *testing.T) {
	for _, c := range []struct{ model, effort, want string }{
		{"gemini-3-flash", "", ``},
		{"gemini-3-flash", "none", `{"thinkingLevel":"MINIMAL"}`},
		{"gemini-3-flash", "minimal", `{"thinkingLevel":"MINIMAL","includeThoughts":true}`},
		{"gemini-3-flash", "medium", `{"thinkingLevel":"MEDIUM","includeThoughts":true}`},
		{"gemini-3.1-pro-preview", "none", `{"thinkingLevel":"LOW"}`},
		{"gemini-3.1-pro-preview", "max", `{"thinkingLevel":"HIGH","includeThoughts":true}`},
		{"gemini-3.1-pro-preview", "a lot", ``},
		{"gemini-2.5-flash", "none", `{"thinkingBudget":0}`},
		{"gemini-2.5-pro", "none", `{"thinkingBudget":128}`},
		{"gemini-2.5-pro", "low", `{"thinkingBudget":1024,"includeThoughts":true}`},
		{"gemini-2.0-flash", "high", ``},
		{"gemma-3-27b-it", "high", ``},
	} {
		e, err := NewEncoder(QuirksOf(c.model))
		if err != nil {
			t.Fatal(err)
		}
		want := `{"contents":[`
		if c.want != "" {
			want = `{"generationConfig":{"thinkingConfig":` + c.want + `},"contents":[`
		}
		if got := e.Head(nil, &model.Params{Sampling: event.Sampling{Reasoning: c.effort}}, nil); string(got) != want {
			t.Errorf("%s, %q: %s, want %s", c.model, c.effort, got, want)
		}
	}
	if _, err := NewEncoder(Quirks{Thinking: "hard"}); err == nil || !strings.Contains(err.Error(), "use one of level, budget, none") {
		t.Errorf("an unknown word: %v", err)
	}
	if _, err := EncoderOf(jsontext.Value(`{"quirks":{"thinking":`)); err == nil {
		t.Error("broken options are taken")
	}
}

// What a reply holds goes back as it came: every signature on its very part, in
// the same order.
func TestSignaturesGoBack(t *testing.T) {
	e, err := NewEncoder(Quirks{})
	if err != nil {
		t.Fatal(err)
	}
	for _, parts := range []string{
		`{"text":"thought","thought":true,"thoughtSignature":"YQ=="},{"text":"said","thoughtSignature":"Yg=="},{"functionCall":{"id":"f1","name":"f","args":{"a":1}},"thoughtSignature":"Yw=="},{"functionCall":{"name":"g","args":{}}}`,
		`{"functionCall":{"name":"f","args":{}},"thoughtSignature":"a+/b"},{"functionCall":{"name":"f","args":{}}},{"text":"after"}`,
		`{"text":"a"},{"text":"","thoughtSignature":"YQ=="},{"text":"b","thoughtSignature":"Yg=="},{"text":"c"}`,
		`{"text":"only thought","thought":true}`,
	} {
		r, err := decode(`{"candidates":[{"content":{"parts":[` + parts + `]},"finishReason":"STOP"}]}`)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(e.Message(nil, nil, &r.Message)); got != `{"role":"model","parts":[`+parts {
			t.Errorf("got  %s\nwant %s", got, parts)
		}
	}
}

// Whatever the order of the messages, the body stays well-formed, and roles take
// turns.
func TestAnyOrderOfMessages(t *testing.T) {
	system, messages := conversation()
	modeltest.AnyOrder(t, params(), system, messages, func(random *rand.Rand) (model.Encoder, error) {
		return NewEncoder(Quirks{Unsigned: random.Intn(2) == 0})
	}, func(body []byte) {
		before := ""
		for _, m := range regexp.MustCompile(`\{"role":"(user|model)"`).FindAllStringSubmatch(string(body), -1) {
			if m[1] == before {
				t.Fatalf("two turns of %s: %s", before, body)
			}
			before = m[1]
		}
	})
}

// FuzzMessage holds that no text, id or argument breaks a body.
func FuzzMessage(f *testing.F) {
	f.Add("text", "id", "name", `{"a":1}`, `{"thoughtSignature":"YQ=="}`, false)
	f.Add("\x00\xff\u2028\"\\", "gemini-", "\n", `{"a":`, `{"thoughtSignature":`, true)
	f.Add("data:image/png;base64,AA", "gemini-1", "f", `{"a":1,"a":2}`, `{"type":"object","properties":{"a":{"$ref":"#"}}}`, true)
	f.Fuzz(func(t *testing.T, s, id, name, args, opaque string, unsigned bool) {
		e, err := NewEncoder(Quirks{Unsigned: unsigned})
		if err != nil {
			t.Fatal(err)
		}
		modeltest.CheckEncoder(t, e, &model.Params{Model: name, Tools: []event.ToolSpec{{Name: name, Description: s, Schema: jsontext.Value(opaque)}}, Schema: jsontext.Value(opaque), SchemaName: id}, nil, []message.Message{
			{Role: message.User, Parts: []message.Part{text(s), {Kind: message.Image, URL: s, Name: name, MediaType: id}}},
			{Role: message.Assistant, Parts: []message.Part{
				{Kind: message.Reasoning, Text: s, Provider: "gemini", Opaque: jsontext.Value(opaque)},
				{Kind: message.ToolCall, ID: id, Name: name, Args: args, Provider: "gemini", Opaque: jsontext.Value(opaque)}}},
			message.Result(id, name, s, unsigned),
			message.NewText(message.System, s),
			{Role: message.Tool, ToolCallID: id, Parts: []message.Part{{Kind: message.File, URL: s}}},
			message.NewText(message.Role(name), s),
		})
	})
}

func BenchmarkMessage(b *testing.B) {
	e, err := NewEncoder(Quirks{})
	if err != nil {
		b.Fatal(err)
	}
	_, messages := conversation()
	modeltest.BenchmarkMessage(b, e, messages[2])
}
