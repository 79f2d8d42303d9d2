package openai

import (
	"math/rand"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/modeltest"
)

func text(s string) message.Part { return message.Part{Kind: message.Text, Text: s} }

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
			{Kind: message.Reasoning, Text: "Two things to ", Provider: "openai:acme", Opaque: jsontext.Value(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"a\u002fb"}]}`)},
			{Kind: message.Reasoning, Text: "look up.", Provider: "anthropic", Opaque: jsontext.Value(`{"signature":"not for this server"}`)},
			text("I will look."),
			{Kind: message.ToolCall, ID: "c1", Name: "read_file", Args: `{"path": "a.md"}`, Provider: "openai:acme", Opaque: jsontext.Value(`{"extra_content":{"google":{"thought_signature":"Cp=="}}}`)},
			{Kind: message.ToolCall, ID: "c2", Name: "get_now", Args: ""},
			{Kind: message.ToolCall, ID: "c3", Name: "write_file", Args: `{"path":"b.md","content":"cut o`},
		}},
		message.Result("c1", "read_file", "line 1\n\tline 2", false),
		message.Result("c2", "get_now", "2026-03-01T12:00:00Z", false),
		{Role: message.Tool, ToolCallID: "c3", ToolName: "write_file", Failed: true, Parts: []message.Part{text(`{"ok":false}`), text("second part"), {Kind: message.Image, MediaType: "image/png", URL: "data:image/png;base64,AAAA"}}},
		message.NewText(message.System, "a notice after results"),
		message.NewText(message.System, "and another"),
		message.NewText(message.User, "what the user says next"),
		{Role: message.User, Parts: []message.Part{
			text("Look at these:"),
			{Kind: message.Image, URL: "https://example.test/a.png"},
			{Kind: message.Image, URL: "data:image/png;base64,iVBORw0KGgo="},
			{Kind: message.File, Name: "a.pdf", MediaType: "application/pdf", URL: "data:application/pdf;base64,JVBERi0="},
			{Kind: message.File, Name: "b.pdf", URL: "https://example.test/b.pdf"},
			{Kind: message.Image, Ref: &message.Ref{SHA256: "not resolved"}},
			text("What are they?"),
		}},
		message.NewText(message.System, "a notice after images"),
		message.NewText(message.Assistant, "Pictures."),
		message.NewText(message.System, "a notice after an answer"),
		{Role: message.User, Parts: []message.Part{text("one"), text("two"), {Kind: message.Image, Name: "c.png"}}},
		{Role: message.Assistant},
		{Role: message.User, Parts: []message.Part{{Kind: message.Image, MediaType: "image/png", Ref: &message.Ref{SHA256: "abc"}, URL: "data:image/png;base64,AAAA"}}},
		message.NewText(message.System, "a notice after a body out of line"),
		{Role: message.Tool, ToolCallID: "c9", Parts: []message.Part{{Kind: message.Text, Ref: &message.Ref{SHA256: "def"}, Text: "a long result"}}},
		{Role: message.Tool, ToolCallID: "c10", Parts: []message.Part{{Kind: message.File, Name: "d.bin", Ref: &message.Ref{SHA256: "ghi"}}}},
	}
}

func params() *model.Params {
	return &model.Params{
		Model: "acme-1",
		Tools: []event.ToolSpec{
			{Name: "get_now", Description: "The time in \"UTC\" <now>."},
			{Name: "read_file", Description: "Reads a file.", Schema: jsontext.Value("{\n  \"type\": \"object\", \"properties\": {\"path\": {\"type\": \"string\", \"description\": \"\\u003cpath\\u003e\"}}, \"required\": [\"path\"]}")},
		},
		Stream: true,
	}
}

// strictTool is one whose schema strict mode takes.
func strictTool() event.ToolSpec {
	return event.ToolSpec{Name: "set_level", Schema: jsontext.Value(`{"type":"object","properties":{"level":{"type":"integer"},"why":{"type":"string","minLength":1,"format":"uri","default":"none"}},"required":["level","why"],"additionalProperties":false}`)}
}

// testdata/requests holds the exact bytes of requests, as other programs and old
// journals know them: a change there needs a new version of the encoder.
func TestRequestBytes(t *testing.T) {
	system, messages := conversation()
	for _, c := range []struct {
		name     string
		provider string
		quirks   Quirks
		set      func(*model.Params)
	}{
		{"plain", "acme", Quirks{}, nil},
		{"openai", "openai", QuirksOf("openai", "api.openai.com"), func(p *model.Params) {
			p.MaxOutput = 4096
			p.Sampling = event.Sampling{Temperature: "0.7", TopP: "1", Seed: "42", Reasoning: "low"}
			p.Schema, p.SchemaName = jsontext.Value(`{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false}`), "verdict"
		}},
		{"deepseek", "deepseek", QuirksOf("deepseek", "api.deepseek.com"), func(p *model.Params) {
			p.MaxOutput = 100
			p.Schema = jsontext.Value(`{"type":"object"}`)
		}},
		{"final", "acme", Quirks{NoParallelCalls: true}, func(p *model.Params) { p.NoTools, p.Stream = true, false }},
		{"final-ollama", "ollama", QuirksOf("ollama", "127.0.0.1"), func(p *model.Params) { p.NoTools = true }},
		{"mistral", "mistral", QuirksOf("mistral", "api.mistral.ai"), nil},
		{"every-quirk", "acme", Quirks{Reasoning: "reasoning", NoParallelCalls: true, NoStreamOptions: true, ToolImages: true, RawArguments: true, SystemAnywhere: true, Schema: "none"}, func(p *model.Params) {
			p.Schema = jsontext.Value(`{}`)
		}},
		// What can be strict is, and nothing else; a reply ends at the texts given.
		{"strict", "acme", Quirks{}, func(p *model.Params) {
			p.Strict, p.Stop = true, []string{"\nObservation:", "###"}
			p.Tools = append(p.Tools, strictTool())
		}},
		// DeepSeek has no strict tools at its usual address.
		{"strict-deepseek", "deepseek", QuirksOf("deepseek", "api.deepseek.com"), func(p *model.Params) {
			p.Strict, p.Tools = true, append(p.Tools, strictTool())
		}},
		{"loose-schema", "acme", Quirks{}, func(p *model.Params) {
			p.Tools = nil
			p.Sampling = event.Sampling{Temperature: "warm", Seed: "\"1\""}
			p.Schema = jsontext.Value(`{"type":"object","properties":{"note":{"type":"string"}}}`)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := NewEncoder(c.provider, c.quirks)
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

// Whatever the order of the messages, the body stays well-formed.
func TestAnyOrderOfMessages(t *testing.T) {
	system, messages := conversation()
	modeltest.AnyOrder(t, params(), system, messages, func(random *rand.Rand) (model.Encoder, error) {
		return NewEncoder("acme", Quirks{SystemAnywhere: random.Intn(2) == 0, ToolImages: random.Intn(2) == 0})
	}, nil)
}

// FuzzMessage holds that no text, id or argument breaks a body.
func FuzzMessage(f *testing.F) {
	f.Add("text", "id", "name", `{"a":1}`, `{"reasoning_details":[1]}`, uint8(0))
	f.Add("\x00\xff\u2028\"\\", "", "\n", `{"a":`, `{"reasoning_details":`, uint8(255))
	f.Fuzz(func(t *testing.T, s, id, name, args, opaque string, bits uint8) {
		e, err := NewEncoder("acme", Quirks{SystemAnywhere: bits&1 != 0, ToolImages: bits&2 != 0, RawArguments: bits&4 != 0, Reasoning: "reasoning"})
		if err != nil {
			t.Fatal(err)
		}
		modeltest.CheckEncoder(t, e, &model.Params{Model: name, Tools: []event.ToolSpec{{Name: name, Description: s, Schema: jsontext.Value(opaque)}}, Schema: jsontext.Value(opaque), SchemaName: id}, nil, []message.Message{
			{Role: message.User, Parts: []message.Part{text(s), {Kind: message.Image, URL: id, Name: name}}},
			{Role: message.Assistant, Parts: []message.Part{
				{Kind: message.Reasoning, Text: s, Provider: "openai:acme", Opaque: jsontext.Value(opaque)},
				{Kind: message.ToolCall, ID: id, Name: name, Args: args, Provider: "openai:acme", Opaque: jsontext.Value(opaque)}}},
			message.Result(id, name, s, false),
			message.NewText(message.System, s),
			{Role: message.Tool, ToolCallID: id, Parts: []message.Part{{Kind: message.Image, URL: s}}},
			message.NewText(message.Role(name), s),
		})
	})
}

func BenchmarkMessage(b *testing.B) {
	e, err := NewEncoder("acme", Quirks{})
	if err != nil {
		b.Fatal(err)
	}
	_, messages := conversation()
	modeltest.BenchmarkMessage(b, e, messages[2])
}
