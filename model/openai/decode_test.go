package openai

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/modeltest"
)

// decode pushes payloads and returns what they make.
func decode(payloads ...string) (*model.Reply, error) {
	return modeltest.Decode(newDecoder(true, "openai:acme", nil), payloads...)
}

func delta(s string) string {
	return `{"choices":[{"index":0,"delta":` + s + `,"finish_reason":null}]}`
}

const stop = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`

// Tool calls arrive in many ways; this is the table of how they are put together.
func TestCallAssembly(t *testing.T) {
	calls := func(s string) string { return delta(`{"tool_calls":[` + s + `]}`) }
	for _, c := range []struct {
		name   string
		deltas []string
		want   string // id name args, one call after the other
	}{
		{"in pieces by index", []string{calls(`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`), calls(`{"index":0,"function":{"arguments":"{\"x\""}}`), calls(`{"index":0,"function":{"arguments":":1}"}}`)}, `a f {"x":1}`},
		{"name in pieces", []string{calls(`{"index":0,"id":"a","function":{"name":"get_"}}`), calls(`{"index":0,"function":{"name":"now","arguments":"{}"}}`)}, `a get_now {}`},
		{"interleaved", []string{calls(`{"index":0,"id":"a","function":{"name":"f"}},{"index":1,"id":"b","function":{"name":"g"}}`), calls(`{"index":1,"function":{"arguments":"{1"}},{"index":0,"function":{"arguments":"{0"}}`), calls(`{"index":0,"function":{"arguments":"}"}},{"index":1,"function":{"arguments":"}"}}`)}, `a f {0}|b g {1}`},
		{"index does not begin at 0", []string{calls(`{"index":1,"id":"a","function":{"name":"f","arguments":"{}"}}`)}, `a f {}`},
		{"id after the name", []string{calls(`{"index":0,"function":{"name":"f"}}`), calls(`{"index":0,"id":"a","function":{"arguments":"{}"}}`)}, `a f {}`},
		{"first piece without index", []string{calls(`{"id":"a","function":{"name":"f","arguments":"{"}}`), calls(`{"index":0,"function":{"arguments":"}"}}`)}, `a f {}`},
		{"no index at all, ids in every piece", []string{calls(`{"id":"a","function":{"name":"f","arguments":"{"}},{"id":"b","function":{"name":"g","arguments":"["}}`), calls(`{"id":"a","function":{"arguments":"}"}},{"id":"b","function":{"arguments":"]"}}`)}, `a f {}|b g []`},
		{"index null", []string{calls(`{"index":null,"id":"a","function":{"name":"f","arguments":"{}"}}`), calls(`{"index":null,"id":"b","function":{"name":"g","arguments":"{}"}}`)}, `a f {}|b g {}`},
		{"index is an id's own but both come", []string{calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}`), calls(`{"index":1,"id":"a","function":{"arguments":"}"}}`)}, `a f {}`},
		{"one id for two calls", []string{calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`), calls(`{"index":1,"id":"a","function":{"name":"g","arguments":"{}"}}`)}, `a f {}|call_1 g {}`},
		{"a new id at the same index", []string{calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`), calls(`{"index":0,"id":"b","function":{"name":"f","arguments":"{}"}}`)}, `a f {}|b f {}`},
		{"a new id at the same index, and pieces without one", []string{calls(`{"index":0,"id":"a","function":{"name":"f"}}`), calls(`{"index":0,"function":{"arguments":"{\"x\":1}"}}`), calls(`{"index":0,"id":"b","function":{"name":"g"}}`), calls(`{"index":0,"function":{"arguments":"{}"}}`)}, `a f {"x":1}|b g {}`},
		{"no ids, one chunk", []string{calls(`{"index":0,"function":{"name":"f","arguments":""}},{"index":0,"function":{"name":"f","arguments":""}}`)}, `call_1 f |call_2 f `},
		{"no ids, after whole arguments", []string{calls(`{"function":{"name":"f","arguments":"{\"x\":1}"}}`), calls(`{"function":{"name":"f","arguments":"{\"x\":2}"}}`)}, `call_1 f {"x":1}|call_2 f {"x":2}`},
		{"no ids, the name said again at the end", []string{calls(`{"index":0,"function":{"name":"f","arguments":"{}"}}`), calls(`{"index":0,"function":{"name":"f","arguments":""}}`)}, `call_1 f {}`},
		{"an id is missing beside call_1", []string{calls(`{"index":0,"function":{"name":"f","arguments":"{}"}},{"index":1,"id":"call_1","function":{"name":"g","arguments":"{}"}}`)}, `call_2 f {}|call_1 g {}`},
		{"empty id later on", []string{calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}`), calls(`{"index":0,"id":"","function":{"name":"","arguments":"}"}}`)}, `a f {}`},
		{"null everywhere", []string{calls(`{"index":0,"id":"a","type":null,"function":{"name":"f","arguments":null}}`), calls(`{"index":0,"id":null,"function":{"name":null,"arguments":"{}"}}`)}, `a f {}`},
		{"arguments as an object", []string{calls(`{"index":0,"id":"a","function":{"name":"f","arguments":{"x": [1]}}}`)}, `a f {"x": [1]}`},
		{"id as a number", []string{calls(`{"index":0,"id":7,"function":{"name":"f","arguments":"{}"}}`)}, `call_1 f {}`},
		{"no function", []string{calls(`{"index":0,"id":"a"}`)}, `a  `},
		{"not a list", []string{delta(`{"tool_calls":null}`), delta(`{"tool_calls":{}}`), delta(`{"tool_calls":[null,3,{},{"index":0}]}`), calls(`{"id":"a","function":{"name":"f","arguments":"{}"}}`), delta(`{"tool_calls":[null]}`)}, `a f {}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := decode(append(c.deltas, stop)...)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range r.Message.Parts {
				got = append(got, fmt.Sprintf("%s %s %s", p.ID, p.Name, p.Args))
			}
			if s := strings.Join(got, "|"); s != c.want {
				t.Errorf("got  %s\nwant %s", s, c.want)
			}
			if r.Finish != event.FinishToolCalls {
				t.Errorf("finish %s", r.Finish)
			}
		})
	}
}

func TestFinishWords(t *testing.T) {
	for word, want := range map[string]event.Finish{
		"stop": event.FinishStop, "end_turn": event.FinishStop,
		"tool_calls": event.FinishToolCalls, "function_call": event.FinishToolCalls,
		"length": event.FinishLength, "model_length": event.FinishLength,
		"content_filter": event.FinishContentFilter, "sensitive": event.FinishContentFilter,
		"error": event.FinishError, "insufficient_system_resource": event.FinishError, "MALFORMED_FUNCTION_CALL": event.FinishError,
		"function_call_filter: UNEXPECTED_TOOL_CALL": event.FinishError, "Stop": event.FinishError, "anything else": event.FinishError,
	} {
		r, err := decode(`{"choices":[{"delta":{"content":"x"},"finish_reason":"` + word + `"}]}`)
		if err != nil || r.Finish != want || r.RawFinish != word {
			t.Errorf("%q: %v (%q), %v", word, r.Finish, r.RawFinish, err)
		}
	}
	if _, err := decode(delta(`{"content":"x"}`), `{"choices":[{"delta":{},"finish_reason":""}]}`); err == nil {
		t.Error("an empty finish_reason ended the reply")
	}
	r, err := decode(delta(`{"content":"x"}`), stop, `{"choices":[],"usage":null}`, `{"choices":[{"delta":{"content":""},"finish_reason":null}]}`, `nonsense`, `{"error":{"message":"late"}}`, `[DONE]`, `nonsense`)
	if err != nil || r.Finish != event.FinishStop {
		t.Errorf("what follows the end changed it: %v, %v", r, err)
	}
}

func TestUsage(t *testing.T) {
	u := func(s string) string { return `{"choices":[],"usage":` + s + `}` }
	k := message.Known
	modeltest.Usage(t, func(chunks ...string) (*model.Reply, error) { return decode(append(chunks, stop)...) }, []modeltest.UsageCase{
		{"absent", nil, message.Usage{}},
		{"null", []string{u(`null`)}, message.Usage{}},
		{"zeros are no count", []string{u(`{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`)}, message.Usage{}},
		{"null first", []string{u(`null`), u(`{"prompt_tokens":5,"completion_tokens":2}`)}, message.Usage{Input: k(5), Output: k(2)}},
		{"null last", []string{u(`{"prompt_tokens":5,"completion_tokens":2}`), u(`null`)}, message.Usage{Input: k(5), Output: k(2)}},
		{"zeros last", []string{u(`{"prompt_tokens":5,"completion_tokens":2}`), u(`{"prompt_tokens":0,"completion_tokens":0}`)}, message.Usage{Input: k(5), Output: k(2)}},
		{"the last counts", []string{u(`{"prompt_tokens":5,"completion_tokens":1}`), u(`{"prompt_tokens":5,"completion_tokens":9}`)}, message.Usage{Input: k(5), Output: k(9)}},
		{"nothing was written", []string{u(`{"prompt_tokens":5,"completion_tokens":0}`)}, message.Usage{Input: k(5), Output: k(0)}},
		{"details", []string{u(`{"prompt_tokens":5,"completion_tokens":9,"total_tokens":14,"prompt_tokens_details":{"cached_tokens":4,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":7}}`)}, message.Usage{Input: k(5), Cached: k(4), Output: k(9), Reasoning: k(7)}},
		{"written to the cache", []string{u(`{"prompt_tokens":1000,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":700,"cache_write_tokens":200}}`)}, message.Usage{Input: k(1000), Cached: k(700), CacheWrite: k(200), Output: k(9)}},
		{"DeepSeek's cache", []string{u(`{"prompt_tokens":1000,"completion_tokens":9,"prompt_cache_hit_tokens":700,"prompt_cache_miss_tokens":300}`)}, message.Usage{Input: k(1000), Cached: k(700), Output: k(9)}},
		{"what was cached, counted apart", []string{u(`{"prompt_tokens":100,"completion_tokens":9,"total_tokens":109,"prompt_tokens_details":{"cached_tokens":700,"cache_write_tokens":200}}`)}, message.Usage{Input: k(1000), Cached: k(700), CacheWrite: k(200), Output: k(9)}},
		{"details are null", []string{u(`{"prompt_tokens":5,"completion_tokens":9,"prompt_tokens_details":null,"completion_tokens_details":null,"cost":0.1}`)}, message.Usage{Input: k(5), Output: k(9)}},
		{"reasoning only in the total", []string{u(`{"prompt_tokens":5,"completion_tokens":9,"total_tokens":114,"completion_tokens_details":{"reasoning_tokens":100}}`)}, message.Usage{Input: k(5), Output: k(109), Reasoning: k(100)}},
		{"odd numbers", []string{u(`{"prompt_tokens":-5,"completion_tokens":1.5,"total_tokens":1e99}`)}, message.Usage{Invalid: true}},
		{"fewer than none cached", []string{u(`{"prompt_tokens":5,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":-5}}`)}, message.Usage{Input: k(5), Output: k(9), Invalid: true}},
		{"a total of more", []string{u(`{"prompt_tokens":1000,"completion_tokens":20,"total_tokens":5000}`)}, message.Usage{Input: k(1000), Output: k(20), Total: k(5000)}},
		{"a total of more than the reasoning", []string{u(`{"prompt_tokens":5,"completion_tokens":9,"total_tokens":114,"completion_tokens_details":{"reasoning_tokens":7}}`)}, message.Usage{Input: k(5), Output: k(9), Reasoning: k(7), Total: k(114)}},
		{"a total of more, and the model has reasoned", []string{delta(`{"reasoning":"hm"}`), u(`{"prompt_tokens":5,"completion_tokens":9,"total_tokens":114}`)}, message.Usage{Input: k(5), Output: k(109)}},
		{"a total of less", []string{u(`{"prompt_tokens":1000,"completion_tokens":20,"total_tokens":900}`)}, message.Usage{Input: k(1000), Output: k(20), Total: k(900)}},
		{"more cached than went in, and another total", []string{u(`{"prompt_tokens":5300,"completion_tokens":20,"total_tokens":9999,"prompt_tokens_details":{"cached_tokens":6000}}`)}, message.Usage{Input: k(5300), Cached: k(6000), Output: k(20), Total: k(9999)}},
		{"what was cached, counted apart but in the total", []string{delta(`{"reasoning":"hm"}`), u(`{"prompt_tokens":100,"completion_tokens":9,"total_tokens":809,"prompt_tokens_details":{"cached_tokens":700}}`)}, message.Usage{Input: k(800), Cached: k(700), Output: k(9)}},
		{"odd kinds", []string{u(`{"prompt_tokens":"5","completion_tokens":[9]}`), u(`7`), u(`"x"`)}, message.Usage{}},
	})
}

// Reasoning comes under up to three names, of which one is enough, and with
// opaque data, which is put together but never changed.
func TestReasoning(t *testing.T) {
	for _, c := range []struct {
		name   string
		deltas []string
		text   string
		opaque string
	}{
		{"reasoning_content", []string{`{"reasoning_content":"a"}`, `{"reasoning_content":"b"}`}, "ab", ""},
		{"reasoning", []string{`{"reasoning":"a"}`, `{"reasoning":"b"}`}, "ab", ""},
		{"both, the same", []string{`{"reasoning":"a","reasoning_content":"a"}`, `{"reasoning_content":"b","reasoning":"b"}`}, "ab", ""},
		{"details only", []string{`{"reasoning_details":[{"type":"reasoning.summary","summary":"a","index":0}]}`, `{"reasoning_details":[{"type":"reasoning.summary","summary":"b","index":0}]}`}, "ab", `[{"type":"reasoning.summary","summary":"ab","index":0}]`},
		{"encrypted entries stay apart", []string{`{"reasoning_details":[{"type":"reasoning.encrypted","data":"x\u002f1","id":"r1","index":0}]}`, `{"reasoning_details":[{"type":"reasoning.encrypted","data":"x2","id":"r2","index":0}]}`}, "", `[{"type":"reasoning.encrypted","data":"x\u002f1","id":"r1","index":0},{"type":"reasoning.encrypted","data":"x2","id":"r2","index":0}]`},
		{"two blocks", []string{`{"reasoning_details":[{"type":"reasoning.text","text":"a","index":0},{"type":"reasoning.text","text":"b","index":1}]}`, `{"reasoning_details":[{"type":"reasoning.text","text":"c","index":0,"signature":null}]}`, `{"reasoning_details":[{"type":"reasoning.text","index":0,"signature":"s"}]}`}, "abc", `[{"type":"reasoning.text","text":"ac","index":0,"signature":"s"},{"type":"reasoning.text","text":"b","index":1}]`},
		{"without an index", []string{`{"reasoning_details":[{"type":"reasoning.text","text":"a"}]}`, `{"reasoning_details":[{"type":"reasoning.text","text":"b"}]}`, `{"reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}`, `{"reasoning_details":[{"type":"reasoning.text","text":"c"}]}`}, "abc", `[{"type":"reasoning.text","text":"ab"},{"type":"reasoning.encrypted","data":"x"},{"type":"reasoning.text","text":"c"}]`},
		{"odd kinds", []string{`{"reasoning":{"a":1},"reasoning_content":null,"reasoning_details":[null,1]}`}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var chunks []string
			for _, d := range c.deltas {
				chunks = append(chunks, delta(d))
			}
			r, err := decode(append(chunks, stop)...)
			if err != nil {
				t.Fatal(err)
			}
			var p message.Part
			if len(r.Message.Parts) > 0 {
				p = r.Message.Parts[0]
			}
			want := c.opaque
			if want != "" {
				want = `{"reasoning_details":` + want + `}`
			}
			if p.Text != c.text || string(p.Opaque) != want || (want != "") != (p.Provider == "openai:acme") {
				t.Errorf("got %q, %s of %q", p.Text, p.Opaque, p.Provider)
			}
		})
	}
}

func TestBadPayloads(t *testing.T) {
	for _, c := range []struct {
		in   string
		want event.ErrorClass
	}{
		{`{"choices":[`, event.ClassBadReply},
		{`{"choices":[]}{}`, event.ClassBadReply},
		{`{"choices":[]} x`, event.ClassBadReply},
		{`[]`, event.ClassBadReply},
		{`"text"`, event.ClassBadReply},
		{`ping`, event.ClassBadReply},
		{`{"id":"a","id":"b"}`, event.ClassBadReply},
		{delta(`{"content":"a","content":"b"}`), event.ClassBadReply},
		{delta(`{"tool_calls":[{"function":{"name":"f"},"extra_content":"` + "\xff" + `"}]}`), event.ClassBadReply},
		{delta(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"\ud83d"}]}`), event.ClassBadReply},
		{strings.Repeat(`{"a":`, 20_000), event.ClassBadReply},
		{delta(`{"tool_calls":[` + strings.Repeat(`{"function":{"name":"f"}},`, maxCalls) + `{"function":{"name":"f"}}]}`), event.ClassBadReply},
		{delta(`{"reasoning_details":[` + strings.Repeat(`{},`, maxDetails) + `{}]}`), event.ClassBadReply},
		{`{"error":{"message":"x"}}`, event.ClassServer},
		{`{"error":"x"}`, event.ClassServer},
		{`{"type":"error","message":"x"}`, event.ClassServer},
		{`{"message":"x","code":"invalid_api_key"}`, event.ClassAuth},
		{`{"choices":[{"delta":{},"error":{"code":429,"message":"x"}}]}`, event.ClassRate},
	} {
		_, err := decode(c.in)
		if e := (*model.Error)(nil); !errors.As(err, &e) || e.Class != c.want {
			t.Errorf("%.60s: %v", c.in, err)
		}
	}
	for _, in := range []string{`null`, ``, `{}`, `{"error":null}`, `{"error":""}`, `{"choices":null}`, `{"choices":[null]}`, `{"choices":[{}]}`, `{"choices":[{"delta":null}]}`, `{"choices":[{"delta":{"content":7}}]}`, `{"object":7,"id":null,"unknown":[{}]}`, `{"type":"ping"}`, "{\"id\":\"\xff\",\"\xff\":[\"\\ud83d\"]}"} {
		if r, err := decode(in, stop); err != nil || len(r.Message.Parts) != 0 {
			t.Errorf("%s is not tolerated: %v", in, err)
		}
	}
}

func anyDecoder(stream bool) modeltest.Decoder {
	return newDecoder(stream, "openai:acme", func(model.Delta) {})
}

func FuzzStream(f *testing.F) {
	e, err := NewEncoder("acme", Quirks{})
	if err != nil {
		f.Fatal(err)
	}
	modeltest.FuzzDecoder(f, "testdata/replies", anyDecoder, e, "finish_reason")
}

func BenchmarkDecode(b *testing.B) {
	going := func(e []byte) bool { return bytes.Contains(e, []byte(`"finish_reason":null`)) }
	modeltest.BenchmarkDecode(b, "testdata/replies", anyDecoder, going, "openai-text", "openai-call", "deepseek-reasoning-call")
}
