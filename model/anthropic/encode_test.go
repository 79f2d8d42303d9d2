package anthropic

import (
	"bytes"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/modeltest"
)

func text(s string) message.Part { return message.Part{Kind: message.Text, Text: s} }

// own is a block that the server wants back.
func own(s string) message.Part {
	return message.Part{Kind: message.Reasoning, Provider: "anthropic", Opaque: jsontext.Value(s)}
}

func call(id, name, args string) message.Part {
	return message.Part{Kind: message.ToolCall, ID: id, Name: name, Args: args}
}

// conversation has one of everything that an encoder meets.
func conversation() (system, messages []message.Message) {
	system = []message.Message{
		message.NewText(message.System, "Use the tools.\nNever guess."),
		message.NewText(message.System, " \n"),
		message.NewText(message.System, "Rules: <none> & \"quoted\""),
	}
	thinking := own(`{"type":"thinking","thinking":"Two things to look up.","signature":"a\u002fb=="}`)
	thinking.Text = "Two things to [secret] look up." // as redacted: the opaque data is what counts
	withMore := call("toolu_3", "write_file", `{"path":"b.md","content":"cut o`)
	withMore.Provider, withMore.Opaque = "anthropic", jsontext.Value(`{"caller":{"type":"direct"},"\u0069d":"x","cache_control":{}}`)
	return system, []message.Message{
		message.NewText(message.User, "Grüße, 東京 🗼 \u2028 <b>&amp;</b> \\ \x01 \xff"),
		message.NewText(message.System, "a notice after the user"),
		{Role: message.Assistant, Parts: []message.Part{
			thinking,
			own(` {"type":"redacted_thinking","data":"Emw="} `),
			{Kind: message.Reasoning, Text: "thought by another", Provider: "openai", Opaque: jsontext.Value(`{"reasoning_details":[1]}`)},
			{Kind: message.Reasoning, Text: "thought without a signature"},
			text(""), text("I will look."), text("\n\n"),
			call("toolu_1", "read_file", "{\"path\": \"a\\u002emd\"}"),
			call("c7_1", "get_now", ""),
			withMore,
			call("functions.run:0", "no such tool!", `{"a":1,"a":2}`),
		}},
		message.Result("toolu_1", "read_file", "line 1\n\tline 2", false),
		message.Result("c7_1", "get_now", " ", false),
		{Role: message.Tool, ToolCallID: "toolu_3", ToolName: "write_file", Failed: true, Parts: []message.Part{text(`{"ok":false}`), text("second part")}},
		{Role: message.Tool, ToolCallID: "functions.run:0", Parts: []message.Part{text("See:"), {Kind: message.Image, URL: "data:image/png;base64,AAAA"}, text(""), {Kind: message.File, Name: "a.txt", URL: "data:text/plain;charset=utf-8;base64,aGVsbG8="}}},
		message.NewText(message.System, "a notice after results"),
		message.NewText(message.System, "and another"),
		message.NewText(message.User, "what the user says next"),
		{Role: message.User, Parts: []message.Part{
			text("Look at these:"),
			{Kind: message.Image, URL: "https://example.test/a.png"},
			{Kind: message.Image, URL: "data:image/jpg;base64,iVBORw0KGgo="},
			{Kind: message.Image, Name: "c.bmp", URL: "data:image/bmp;base64,Qk0="},
			{Kind: message.Image, MediaType: "image/webp", URL: "data:;base64,UklG"},
			{Kind: message.File, Name: "a.pdf", MediaType: "application/pdf", URL: "data:application/pdf;base64,JVBERi0="},
			{Kind: message.File, Name: "b.pdf", URL: "https://example.test/b.pdf"},
			{Kind: message.File, Name: "c.json", URL: "data:application/json;base64,eyJhIjrDqX0="},
			{Kind: message.File, Name: "d.zip", URL: "data:application/zip;base64,UEs="},
			{Kind: message.File, Name: "e.txt", URL: "data:text/plain;base64,not base64"},
			{Kind: message.Image, URL: "ftp://example.test/f.png"},
			{Kind: message.Image, Ref: &message.Ref{SHA256: "not resolved"}},
			text("What are they?"),
		}},
		message.NewText(message.Assistant, "Pictures."),
		message.NewText(message.Assistant, "And files."),
		message.NewText(message.System, "a notice after an answer"),
		{Role: message.Assistant},
		{Role: message.User},
		{Role: message.Assistant, Parts: []message.Part{own(`{"type":"thinking","thinking":"only","signature":"s"}`)}},
		message.NewText(message.User, "go on"),
		{Role: message.Assistant, Parts: []message.Part{text("I search."), own(`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}}`), own(`{"no":"type"}`), own(`{"type":"broken"`), own(`[]`)}},
		{Role: message.Assistant, Parts: []message.Part{own(`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}`), text("Found.")}},
		{Role: message.User, Parts: []message.Part{{Kind: message.Image, MediaType: "image/png", Ref: &message.Ref{SHA256: "abc"}, URL: "data:image/png;base64,AAAA"}}},
		message.NewText(message.System, ""),
		{Role: message.Assistant, Parts: []message.Part{call("toolu_9", "read_file", `{"path":"long.md"}`)}},
		{Role: message.Tool, ToolCallID: "toolu_9", Parts: []message.Part{{Kind: message.Text, Ref: &message.Ref{SHA256: "def"}, Text: "a long result"}}},
		{Role: message.Tool, ToolCallID: "", Parts: []message.Part{{Kind: message.File, Name: "d.bin", Ref: &message.Ref{SHA256: "ghi"}}}},
	}
}

func params() *model.Params {
	return &model.Params{
		Model: "claude-sonnet-4-5",
		Tools: []event.ToolSpec{
			{Name: "get_now", Description: "The time in \"UTC\" <now>."},
			{Name: "read_file", Description: "Reads a file.", Schema: jsontext.Value("{\n  \"type\": \"object\", \"properties\": {\"path\": {\"type\": \"string\", \"description\": \"\\u003cpath\\u003e\"}}, \"required\": [\"path\"]}")},
		},
		MaxOutput: 4096,
		Stream:    true,
	}
}

const closed = `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false}`

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
		{"plain", "anthropic", Quirks{}, func(p *model.Params) { p.Sampling = event.Sampling{Temperature: "0.7", TopP: "0.9", Seed: "42"} }},
		{"budget", "anthropic", QuirksOf("claude-sonnet-4-5"), func(p *model.Params) {
			p.Sampling = event.Sampling{Temperature: "0.7", Reasoning: "high"}
			p.Schema = jsontext.Value(closed)
		}},
		{"adaptive", "anthropic", QuirksOf("claude-opus-4-6"), func(p *model.Params) {
			p.Model, p.MaxOutput = "claude-opus-4-6", 0
			p.Sampling = event.Sampling{TopP: "0.9", Reasoning: "low"}
			p.Schema = jsontext.Value(closed)
		}},
		{"bound", "anthropic", QuirksOf("claude-opus-5-5"), func(p *model.Params) {
			p.Model = "claude-opus-5-5"
			p.Sampling = event.Sampling{Temperature: "1"}
		}},
		{"final", "anthropic", Quirks{CacheTTL: "1h", MaxTokens: 2000}, func(p *model.Params) { p.NoTools, p.Stream = true, false }},
		{"other-vendor", "acme", Quirks{NoCache: true, Thinking: "none", Schema: "none"}, func(p *model.Params) {
			p.Model = "acme-1"
			p.Sampling = event.Sampling{TopP: "0.9", Reasoning: "high"}
			p.Schema = jsontext.Value(closed)
		}},
		// A tool whose schema the server takes is strict; a reply ends at the texts given.
		{"strict", "anthropic", Quirks{}, func(p *model.Params) {
			p.Strict, p.Stop = true, []string{"\nObservation:"}
			p.Tools = append(p.Tools, event.ToolSpec{Name: "set_level", Schema: jsontext.Value(`{"type":"object","properties":{"level":{"enum":[1,2],"minimum":1},"why":{"type":["string","null"]}},"required":["level"],"additionalProperties":false}`)})
		}},
		{"bare", "anthropic", Quirks{}, func(p *model.Params) {
			*p = model.Params{Sampling: event.Sampling{Temperature: "warm", Reasoning: "medium"}, MaxOutput: 2000, Schema: jsontext.Value(`{"type":"object"}`)}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := NewEncoder(c.provider, c.quirks)
			if err != nil {
				t.Fatal(err)
			}
			p := params()
			c.set(p)
			modeltest.RequestBytes(t, "testdata/requests/"+c.name+".txt", e, p, system, messages, func(options jsontext.Value) (model.Encoder, error) { return EncoderOf(options) })
		})
	}
}

// Whatever the order of the messages, the body stays well-formed.
func TestAnyOrderOfMessages(t *testing.T) {
	system, messages := conversation()
	modeltest.AnyOrder(t, params(), system, messages, func(random *rand.Rand) (model.Encoder, error) {
		return NewEncoder("anthropic", Quirks{NoCache: random.Intn(2) == 0})
	}, nil)
}

// The reply of a server goes back to it as it came.
func TestReplyGoesBack(t *testing.T) {
	for _, r := range modeltest.Load(t, "testdata/replies") {
		if r.Name != "pause-turn" && r.Name != "thinking-call" && r.Name != "redacted" {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			c, err := factory(modeltest.Play(&r, modeltest.Plan{}), "http://model.test")
			if err != nil {
				t.Fatal(err)
			}
			reply, err := c.Call(t.Context(), &model.Request{Stream: true}, nil)
			if err != nil {
				t.Fatal(err)
			}
			question := message.NewText(message.User, "?")
			body := modeltest.Body(c.Encoder(), &model.Params{}, nil, []message.Message{question, reply.Message})
			modeltest.Golden(t, "testdata/replies/"+r.Name+".back", string(body)+"\n")
		})
	}
}

func TestThinkingBudget(t *testing.T) {
	for _, c := range []struct {
		effort string
		most   int64
		want   string
	}{
		{"low", 16_384, "3276"}, {"medium", 16_384, "8192"}, {"high", 16_384, "13108"}, {"xhigh", 16_384, "8192"},
		{"low", 4096, "1024"},      // no less
		{"high", 128_000, "32000"}, // no more
		{"high", 4096, "3072"},     // the answer needs room
		{"high", 2048, "1024"},
		{"high", 2047, ""},
		{"", 16_384, ""},
	} {
		e, err := NewEncoder("anthropic", Quirks{})
		if err != nil {
			t.Fatal(err)
		}
		head := string(e.Head(nil, &model.Params{MaxOutput: c.most, Sampling: event.Sampling{Reasoning: c.effort, Temperature: "1"}}, nil))
		_, rest, _ := strings.Cut(head, `"thinking":{"type":"enabled","budget_tokens":`)
		got, _, _ := strings.Cut(rest, "}")
		if got != c.want || strings.Contains(head, "temperature") == (c.want != "") {
			t.Errorf("%s of %d: got %q in %s", c.effort, c.most, got, head)
		}
	}
}

func TestFormattable(t *testing.T) {
	for schema, want := range map[string]bool{
		closed: true,
		`{"type":"object","properties":{"a":{"type":"string","enum":["x",null,1]},"b":{"type":"array","items":{"$ref":"#/$defs/x"},"minItems":1}},"additionalProperties":false,"$defs":{"x":{"anyOf":[{"type":"null"},{"const":"y"}]}}}`: true,
		`{"type":"array","items":{"type":"integer"},"description":"numbers","title":"n","default":[{"a":1}]}`:                                                                                                                            true,
		`{"type":"object"}`: false,
		`{"type":["object","null"],"properties":{},"additionalProperties":{}}`: false,
		`{"type":"array","items":{"type":"object"}}`:                           false,
		`{"type":"integer","minimum":1}`:                                       false,
		`{"type":"string","pattern":"^a"}`:                                     false,
		`{"type":"array","minItems":2}`:                                        false,
		`{"enum":[{}]}`:                                                        false,
		`{"const":[]}`:                                                         false,
		`{"$ref":"other.json"}`:                                                false,
		`{"$ref":"#"}`:                                                         false,
		`{"$defs":{"x":{"items":{"$ref":"#/$defs/x"}}},"$ref":"#/$defs/x"}`: false,
		`{"oneOf":[]}`: false,
		`{"type":"object","additionalProperties":false,"properties":{"a":`: false,
		`true`: false,
		`[]`:   false,
		strings.Repeat(`{"items":`, 100) + `{}` + strings.Repeat(`}`, 100): false,
		`{"type":"string","type":"string"}`:                                false,
	} {
		if got := formattable(jsontext.Value(schema)); got != want {
			t.Errorf("%.80s: %v, want %v", schema, got, want)
		}
	}
}

func TestWireNames(t *testing.T) {
	for _, id := range []string{"toolu_01AbC-9", "c17_2", strings.Repeat("x", 128)} {
		if got := wireID(id); got != id {
			t.Errorf("%q became %q", id, got)
		}
	}
	seen := map[string]string{}
	for _, id := range []string{"", "functions.run:0", "functions.run.0", "é", "\xff", strings.Repeat("x", 129), strings.Repeat("x", 130)} {
		got := wireID(id)
		if clean(got) != got || len(got) > maxName || !strings.HasPrefix(got, "call_") || seen[got] != "" || got != wireID(id) {
			t.Errorf("%q became %q", id, got)
		}
		seen[got] = "taken"
	}
	for in, want := range map[string]string{"read_file": "read_file", "": "unnamed", "no such tool!": "no_such_tool_", strings.Repeat("x", 200): strings.Repeat("x", 128)} {
		if got := wireName(in); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
}

// FuzzMessage holds that no text, id or argument breaks a body.
func FuzzMessage(f *testing.F) {
	f.Add("text", "id", "name", `{"a":1}`, `{"type":"thinking","thinking":"x","signature":"y"}`, uint8(0))
	f.Add("\x00\xff\u2028\"\\", "", "\n", `{"a":`, `{"type":"x"`, uint8(255))
	f.Add(" ", "data:image/png;base64,AA", "text/plain", "", `{"type":"server_tool_use"}`, uint8(3))
	f.Fuzz(func(t *testing.T, s, id, name, args, opaque string, bits uint8) {
		if bytes.Contains([]byte(opaque), []byte(`\u`)) {
			return // it goes back as it came, escapes and all
		}
		e, err := NewEncoder("anthropic", Quirks{NoCache: bits&1 != 0})
		if err != nil {
			t.Fatal(err)
		}
		block := own(opaque)
		last := call(id, name, args)
		last.Provider, last.Opaque = "anthropic", block.Opaque
		modeltest.CheckEncoder(t, e, &model.Params{Model: name, Tools: []event.ToolSpec{{Name: name, Description: s, Schema: block.Opaque}}, Schema: block.Opaque, SchemaName: id}, nil, []message.Message{
			{Role: message.User, Parts: []message.Part{text(s), {Kind: message.Image, URL: id, Name: name, MediaType: s}, {Kind: message.File, URL: "data:" + name + ";base64," + id}}},
			{Role: message.Assistant, Parts: []message.Part{block, text(s), last}},
			message.Result(id, name, s, bits&2 != 0),
			message.NewText(message.System, s),
			{Role: message.Tool, ToolCallID: id, Parts: []message.Part{{Kind: message.Image, URL: s}}},
			message.NewText(message.Role(name), s),
			{Role: message.Assistant, Parts: []message.Part{text(s), block}},
		})
	})
}

func BenchmarkMessage(b *testing.B) {
	e, err := NewEncoder("anthropic", Quirks{})
	if err != nil {
		b.Fatal(err)
	}
	_, messages := conversation()
	modeltest.BenchmarkMessage(b, e, messages[2])
}

// The server refuses a whole request that has too much to compile: what is beyond
// its bounds is sent as ever.
func TestStrictTools(t *testing.T) {
	object := func(properties, required string) jsontext.Value {
		return jsontext.Value(`{"type":"object","properties":{` + properties + `},"required":[` + required + `],"additionalProperties":false}`)
	}
	many := func(n int, one string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `%q:%s`, fmt.Sprint("p", i), one)
			if i < n-1 {
				b.WriteByte(',')
			}
		}
		return b.String()
	}
	for name, tc := range map[string]struct {
		schemas []jsontext.Value
		strict  []int // the indexes of those that are
	}{
		"what it takes":           {[]jsontext.Value{object(`"a":{"type":"string"}`, `"a"`), object(`"a":{"type":"string"}`, ``), object(``, ``)}, []int{0, 1, 2}},
		"what it does not":        {[]jsontext.Value{nil, object(`"a":{"type":"string","x-note":"mine"}`, ``), jsontext.Value(`{"type":"object"}`), jsontext.Value(`{"type":"string"}`), jsontext.Value(`{"ty`)}, nil},
		"optional parameters":     {[]jsontext.Value{object(many(20, `{"type":"string"}`), ``), object(many(5, `{"type":"string"}`), ``), object(many(4, `{"type":"string"}`), ``)}, []int{0, 2}},
		"parameters of two kinds": {[]jsontext.Value{object(many(16, `{"anyOf":[{"type":"string"},{"type":"null"}]}`), `"p0","p1","p2","p3","p4","p5","p6","p7","p8","p9","p10","p11","p12","p13","p14","p15"`), object(`"a":{"type":["string","null"]}`, `"a"`), object(``, ``)}, []int{0, 2}},
		"twenty tools":            {slices.Repeat([]jsontext.Value{object(``, ``)}, 22), []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}},
	} {
		var s strictTools
		var got []int
		for i, schema := range tc.schemas {
			if _, ok := s.take(schema); ok {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, tc.strict) {
			t.Errorf("%s: %v are strict, not %v", name, got, tc.strict)
		}
	}
}
