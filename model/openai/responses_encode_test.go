package openai

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/modeltest"
)

// responsesConversation is conversation with the opaque data of this wire, and
// what only it takes.
func responsesConversation() (system, messages []message.Message) {
	const opaque = "openai-responses:acme"
	system, messages = conversation()
	messages[2].Parts = []message.Part{
		{Kind: message.Reasoning, Text: "Two things to look up.", Provider: opaque, Opaque: jsontext.Value(`{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Two things to look up."}],"encrypted_content":"gA\u002fA=="}`)},
		{Kind: message.Reasoning, Text: "not for this wire", Provider: "openai:acme", Opaque: jsontext.Value(`{"reasoning_details":[1]}`)},
		{Kind: message.Text, Text: "I will look.", Provider: opaque, Opaque: jsontext.Value(`{"id":"msg_1","status":"completed","phase":"commentary"}`)},
		{Kind: message.ToolCall, ID: "c1", Name: "read_file", Args: `{"path": "a.md"}`, Provider: opaque, Opaque: jsontext.Value(`{"id":"fc_1","status":"completed"}`)},
		{Kind: message.ToolCall, ID: "c2", Name: "get_now", Args: "", Provider: opaque, Opaque: jsontext.Value(`{"id":"fc_2","namespace":"time"}`)},
		{Kind: message.ToolCall, ID: "c3", Name: "write_file", Args: `{"path":"b.md","content":"cut o`},
	}
	return system, append(messages,
		message.Message{Role: message.Assistant, Parts: []message.Part{
			// A reference to reasoning that the server did not keep, and so no ids.
			{Kind: message.Reasoning, Provider: opaque, Opaque: jsontext.Value(`{"id":"rs_2","type":"reasoning","summary":[]}`)},
			{Kind: message.ToolCall, ID: "c11", Name: "get_now", Args: "{}", Provider: opaque, Opaque: jsontext.Value(`{"id":"fc_3"}`)},
			// Reasoning that leads to nothing.
			{Kind: message.Reasoning, Provider: opaque, Opaque: jsontext.Value(`{"id":"rs_3","type":"reasoning","summary":[],"encrypted_content":"gA=="}`)},
		}},
		message.Result("c11", "get_now", "", false),
		message.Message{Role: message.Assistant, Parts: []message.Part{
			{Kind: message.Reasoning, Provider: opaque, Opaque: jsontext.Value(`{"id":"ws_1","type":"web_search_call"}`)},
			{Kind: message.Reasoning, Text: "plain", Provider: opaque, Opaque: jsontext.Value(`{"id":"rs_4","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"plain"}]}`)},
			text(""), text("Done."),
		}},
	)
}

// testdata/responses/requests holds the exact bytes of requests, as other
// programs and old journals know them: a change there needs a new version of the
// encoder.
func TestResponsesRequestBytes(t *testing.T) {
	system, messages := responsesConversation()
	for _, c := range []struct {
		name   string
		quirks Quirks
		set    func(*model.Params)
	}{
		{"plain", Quirks{}, nil},
		{"openai", ResponsesQuirksOf("openai", "api.openai.com"), func(p *model.Params) {
			p.MaxOutput = 4096
			p.Sampling = event.Sampling{Temperature: "0.7", TopP: "1", Seed: "42", Reasoning: "low"}
			p.Schema, p.SchemaName = jsontext.Value(`{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false}`), "verdict"
		}},
		{"gpt-4o", ResponsesQuirksOf("openai", "api.openai.com"), func(p *model.Params) { p.Model = "gpt-4o-mini" }},
		{"final", Quirks{NoParallelCalls: true}, func(p *model.Params) { p.NoTools, p.Stream = true, false }},
		{"final-ollama", ResponsesQuirksOf("ollama", "127.0.0.1"), func(p *model.Params) { p.NoTools = true }},
		{"every-quirk", Quirks{NoParallelCalls: true, RawArguments: true, Schema: "json_object", NoEncryptedReasoning: true, Summaries: true}, func(p *model.Params) {
			p.Sampling.Reasoning = "high"
			p.Schema = jsontext.Value(`{}`)
		}},
		{"loose-schema", Quirks{}, func(p *model.Params) {
			p.Tools = []event.ToolSpec{{Name: "broken", Schema: jsontext.Value(`{"type":`)}}
			p.Sampling = event.Sampling{Temperature: "warm"}
			p.Schema = jsontext.Value(`{"type":"object","properties":{"note":{"type":"string"}}}`)
		}},
		{"strict", Quirks{}, func(p *model.Params) { p.Strict, p.Tools = true, append(p.Tools, strictTool()) }},
		{"no-schema", Quirks{Schema: "none"}, func(p *model.Params) { p.Tools, p.Schema = nil, jsontext.Value(`{}`) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := NewResponsesEncoder("acme", c.quirks)
			if err != nil {
				t.Fatal(err)
			}
			p := params()
			if c.set != nil {
				c.set(p)
			}
			modeltest.RequestBytes(t, "testdata/responses/requests/"+c.name+".txt", e, p, system, messages, func(options jsontext.Value) (model.Encoder, error) { return ResponsesEncoderOf(options) })
		})
	}
	if _, err := ResponsesEncoderOf(jsontext.Value(`{"quirks":{"schema":"xml"}}`)); err == nil {
		t.Error("a quirk that is none is taken")
	}
}

// What a reply holds goes back as it came: every item in its place, unchanged.
func TestItemsGoBack(t *testing.T) {
	e, err := NewResponsesEncoder("acme", Quirks{RawArguments: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, items := range []string{
		`{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"a"}],"encrypted_content":"x\u002fy"},{"type":"function_call","id":"fc_1","status":"completed","call_id":"call_1","name":"f","arguments":"{\"a\": 1}"},{"id":"rs_2","type":"reasoning","summary":[],"encrypted_content":"z"},{"type":"function_call","id":"fc_2","status":"completed","call_id":"call_2","name":"g","arguments":"{}"}`,
		`{"type":"message","role":"assistant","id":"msg_1","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"Let me look."}]},{"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"}`,
		`{"type":"message","role":"assistant","id":"msg_1","status":"completed","content":[{"type":"output_text","text":""}]}`,
		`{"id":"cmp_1","type":"compaction","encrypted_content":"x"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}`,
	} {
		d := newResponsesDecoder(false, "openai-responses:acme", nil)
		if err := d.Push("", []byte(`{"object":"response","status":"completed","output":[`+items+`]}`)); err != nil || !d.Complete() {
			t.Fatal(err)
		}
		r := d.Reply()
		if got := string(e.Message(nil, nil, &r.Message)); got != items {
			t.Errorf("got  %s\nwant %s", got, items)
		}
	}
}

// Whatever the order of the messages, the body stays well-formed.
func TestResponsesAnyOrderOfMessages(t *testing.T) {
	system, messages := responsesConversation()
	modeltest.AnyOrder(t, params(), system, messages, func(random *rand.Rand) (model.Encoder, error) {
		return NewResponsesEncoder("acme", Quirks{SystemAnywhere: random.Intn(2) == 0, ToolImages: random.Intn(2) == 0})
	}, nil)
}

// What strict mode takes, on both wires.
func TestStrictable(t *testing.T) {
	object := func(properties, required string) string {
		return `{"type":"object","properties":{` + properties + `},"required":[` + required + `],"additionalProperties":false}`
	}
	for schema, want := range map[string]bool{
		object(``, ``): true,
		object(`"a":{"type":"string","description":"d","pattern":"^x"},"b":{"type":["integer","null"],"minimum":1}`, `"b","a"`): true,
		object(`"a":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/x"}]}`, `"a"`):                                                   true,
		`{"type":"object","properties":{},"additionalProperties":false}`:                                                        true,
		object(`"a":{"type":"array","items":{"enum":["x","y"]},"maxItems":3}`, `"a"`):                                           true,
		object(`"a":{"type":"string","format":"date-time"}`, `"a"`):                                                             true,

		object(`"a":{"type":"string"}`, ``):                                false, // not required
		object(`"a":{"type":"string"}`, `"a","b"`):                         false, // required but not there
		object(`"a":{}`, `"a"`):                                            false, // of no type
		object(`"a":{"type":"string","minLength":1}`, `"a"`):               false, // words that it does not take
		object(`"a":{"type":"string","default":"x"}`, `"a"`):               false,
		object(`"a":{"type":"array","uniqueItems":true}`, `"a"`):           false,
		object(`"a":{"oneOf":[{"type":"string"}]}`, `"a"`):                 false,
		object(`"a":{"type":"string","format":"uri"}`, `"a"`):              false,
		object(`"a":{"type":"string","x-note":"mine"}`, `"a"`):             false,
		object(`"a":{"type":"object","properties":{}}`, `"a"`):             false, // open
		object(`"a":{"type":"object"}`, `"a"`):                             false,
		object(`"a":true`, `"a"`):                                          false,
		`{"type":"array","items":{"type":"string"}}`:                       false, // no object at its top
		`{"type":["object","null"],"additionalProperties":false}`:          false,
		`{"anyOf":[` + object(``, ``) + `]}`:                               false,
		`{"type":"object","type":"object","additionalProperties":false}`:   false, // a name twice
		`{"allOf":[` + object(``, ``) + `]}`:                               false,
		`true`:                                                             false,
		``:                                                                 false,
		`{"type":"object","additionalProperties":false,"properties":{"a":`: false,
		object(strings.Repeat(`"a":{"type":"array","items":`, 1)+strings.Repeat(`{"type":"array","items":`, 12)+`{"type":"string"}`+strings.Repeat(`}`, 13), `"a"`): false, // too deep
	} {
		if got := strictable(jsontext.Value(schema)); got != want {
			t.Errorf("%.90s: %v, want %v", schema, got, want)
		}
	}
}

// A tool becomes strict by leaving out what only narrows values, and by nothing else.
func TestStrictly(t *testing.T) {
	for schema, want := range map[string]string{
		``: `{"type":"object","properties":{},"required":[],"additionalProperties":false}`,
		`{"type":"object","properties":{"default":{"type":"string","minLength":1,"default":""}},"required":["default"],"additionalProperties":false}`: `{"type":"object","properties":{"default":{"type":"string"}},"required":["default"],"additionalProperties":false}`,
		`{"type":"object","properties":{"at":{"type":"string","format":"date"}},"required":["at"],"additionalProperties":false}`:                      `{"type":"object","properties":{"at":{"type":"string","format":"date"}},"required":["at"],"additionalProperties":false}`,
		`{"type":"object","properties":{"a":{"type":"string","minLength":1}},"additionalProperties":false}`:                                           ``,
		`{"type":"object","properties":{"a":{"oneOf":[{"type":"string"}]}},"required":["a"],"additionalProperties":false}`:                            ``,
		`{"type":`: ``,
	} {
		got, ok := strictly(jsontext.Value(schema))
		if ok != (want != "") || ok && string(got) != want {
			t.Errorf("%s: %s, %v, want %s", schema, got, ok, want)
		}
	}
}

// FuzzResponsesMessage holds that no text, id or argument breaks a body.
func FuzzResponsesMessage(f *testing.F) {
	f.Add("text", "id", "name", `{"a":1}`, `{"type":"reasoning","encrypted_content":"x"}`, uint8(0))
	f.Add("\x00\xff\u2028\"\\", "", "\n", `{"a":`, `{"id":"x","status":`, uint8(255))
	f.Add("data:image/png;base64,AA", "fc_1", "f", ``, `{"id":"x","status":{"a":[1]},"phase":"p","type":"object"}`, uint8(3))
	f.Fuzz(func(t *testing.T, s, id, name, args, opaque string, bits uint8) {
		e, err := NewResponsesEncoder("acme", Quirks{SystemAnywhere: bits&1 != 0, ToolImages: bits&2 != 0, RawArguments: bits&4 != 0})
		if err != nil {
			t.Fatal(err)
		}
		const mine = "openai-responses:acme"
		modeltest.CheckEncoder(t, e, &model.Params{Model: name, Tools: []event.ToolSpec{{Name: name, Description: s, Schema: jsontext.Value(opaque)}}, Schema: jsontext.Value(opaque), SchemaName: id}, nil, []message.Message{
			{Role: message.User, Parts: []message.Part{text(s), {Kind: message.Image, URL: id, Name: name}}},
			{Role: message.Assistant, Parts: []message.Part{
				{Kind: message.Reasoning, Text: s, Provider: mine, Opaque: jsontext.Value(opaque)},
				{Kind: message.Text, Text: s, Provider: mine, Opaque: jsontext.Value(opaque)},
				{Kind: message.ToolCall, ID: id, Name: name, Args: args, Provider: mine, Opaque: jsontext.Value(opaque)}}},
			message.Result(id, name, s, false),
			message.NewText(message.System, s),
			{Role: message.Tool, ToolCallID: id, Parts: []message.Part{{Kind: message.File, URL: s}}},
			message.NewText(message.Role(name), s),
		})
	})
}
