package anthropic

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
	return modeltest.Decode(newDecoder(true, "anthropic", nil), payloads...)
}

func begin(index int, block string) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, index, block)
}

func delta(index int, d string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, index, d)
}

func end(index int) string { return fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index) }

func arguments(index int, s string) string {
	return delta(index, `{"type":"input_json_delta","partial_json":`+s+`}`)
}

func because(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `"}}`
}

// Every stop_reason, and whether calls beside it may run.
func TestStopReasons(t *testing.T) {
	tool := []string{begin(0, `{"type":"tool_use","id":"a","name":"f","input":{}}`), end(0)}
	for _, c := range []struct {
		word            string
		alone, withCall event.Finish
	}{
		{"end_turn", event.FinishStop, event.FinishToolCalls},
		{"stop_sequence", event.FinishStop, event.FinishToolCalls},
		{"tool_use", event.FinishToolCalls, event.FinishToolCalls},
		{"pause_turn", event.FinishPause, event.FinishToolCalls},
		{"max_tokens", event.FinishLength, event.FinishLength},
		{"model_context_window_exceeded", event.FinishLength, event.FinishLength},
		{"refusal", event.FinishContentFilter, event.FinishContentFilter},
		{"compaction", event.FinishError, event.FinishError},
		{"End_Turn", event.FinishError, event.FinishError},
		{"anything else", event.FinishError, event.FinishError},
	} {
		alone, err := decode(because(c.word))
		if err != nil || alone.Finish != c.alone || alone.RawFinish != c.word {
			t.Errorf("%q: %+v, %v", c.word, alone, err)
		}
		with, err := decode(append(tool, because(c.word))...)
		if err != nil || with.Finish != c.withCall || with.RawFinish != c.word || with.Message.Calls() != 1 {
			t.Errorf("%q with a call: %+v, %v", c.word, with, err)
		}
	}
}

// What makes a reply complete, and what follows it.
func TestComplete(t *testing.T) {
	open, text := begin(0, `{"type":"text","text":"x"}`), []string{begin(0, `{"type":"text","text":"x"}`), end(0)}
	for _, c := range []struct {
		name     string
		payloads []string
		ok       bool
	}{
		{"reason, every block closed", append(text, because("end_turn")), true},
		{"no block", []string{because("end_turn")}, true},
		{"a block is open", []string{open, because("end_turn")}, false},
		{"message_stop closes all", []string{open, because("end_turn"), `{"type":"message_stop"}`}, true},
		{"closed after the reason", []string{open, because("end_turn"), end(0)}, true},
		{"another block begins", append(text, because("end_turn"), begin(1, `{"type":"text","text":""}`)), false},
		{"no reason", append(text, `{"type":"message_stop"}`), false},
		{"an empty reason", append(text, because(""), `{"type":"message_stop"}`), false},
		{"null after the reason", append(text, because("end_turn"), `{"type":"message_delta","delta":{"stop_reason":null}}`), true},
		{"stop of another block", []string{open, end(1), because("end_turn")}, false},
		{"stop without an index", []string{open, `{"type":"content_block_stop"}`, because("end_turn")}, true},
		{"nonsense after the end", append(text, because("end_turn"), `nonsense`, `{"type":"error","error":{"type":"api_error"}}`, `{"type":"message_stop"}`, `nonsense`), true},
		{"[DONE] without the end", append(text, `[DONE]`), false},
	} {
		if _, err := decode(c.payloads...); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestCallAssembly(t *testing.T) {
	start := begin(0, `{"type":"tool_use","id":"a","name":"f","input":{}}`)
	for _, c := range []struct {
		name     string
		payloads []string
		want     string // id name args, one call after the other
	}{
		{"in pieces", []string{start, arguments(0, `""`), arguments(0, `"{\"x\""`), arguments(0, `":1}"`)}, `a f {"x":1}`},
		{"no pieces", []string{start}, `a f {}`},
		{"empty pieces", []string{start, arguments(0, `""`)}, `a f {}`},
		{"input with the block", []string{begin(0, `{"type":"tool_use","id":"a","name":"f","input":{"x": 1}}`)}, `a f {"x": 1}`},
		{"pieces go before", []string{begin(0, `{"type":"tool_use","id":"a","name":"f","input":{"x":1}}`), arguments(0, `"{\"x\":2}"`)}, `a f {"x":2}`},
		{"input null", []string{begin(0, `{"type":"tool_use","id":"a","name":"f","input":null}`)}, `a f `},
		{"input absent", []string{begin(0, `{"type":"tool_use","id":"a","name":"f"}`)}, `a f `},
		{"input as a string", []string{begin(0, `{"type":"tool_use","id":"a","name":"f","input":"{\"x\":1}"}`)}, `a f "{\"x\":1}"`},
		{"an object for a piece", []string{start, arguments(0, `{"x":[1]}`)}, `a f {"x":[1]}`},
		{"the opening is lost", []string{start, arguments(0, `"x\":1}"`)}, `a f x":1}`},
		{"cut off", []string{start, arguments(0, `"{\"x\":"`)}, `a f {"x":`},
		{"interleaved", []string{start, begin(1, `{"type":"tool_use","id":"b","name":"g","input":{}}`), arguments(1, `"{1"`), arguments(0, `"{0"`), arguments(0, `"}"`), arguments(1, `"}"`)}, `a f {0}|b g {1}`},
		{"one index for two", []string{start, arguments(0, `"{0}"`), end(0), begin(0, `{"type":"tool_use","id":"b","name":"g","input":{}}`), arguments(0, `"{1}"`)}, `a f {0}|b g {1}`},
		{"no index", []string{`{"type":"content_block_start","content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`, `{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{}"}}`, `{"type":"content_block_stop"}`}, `a f {}`},
		{"no id, no name", []string{begin(0, `{"type":"tool_use"}`)}, `  `},
		{"its beginning is lost", []string{arguments(0, `"{}"`)}, `  {}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := decode(append(c.payloads, because("tool_use"), `{"type":"message_stop"}`)...)
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
		})
	}
}

// Blocks of the server's own come back as they would have come whole.
func TestOpaqueBlocks(t *testing.T) {
	for _, c := range []struct {
		name     string
		payloads []string
		want     string
	}{
		{"thinking", []string{begin(0, `{"type":"thinking","thinking":"","signature":""}`), delta(0, `{"type":"thinking_delta","thinking":"a\u0001\""}`), delta(0, `{"type":"signature_delta","signature":"s1"}`)}, `{"type":"thinking","thinking":"a\u0001\"","signature":"s1"}`},
		{"a signature is whole", []string{begin(0, `{"type":"thinking","thinking":"a"}`), delta(0, `{"type":"signature_delta","signature":"s1"}`), delta(0, `{"type":"signature_delta","signature":"s2"}`)}, `{"type":"thinking","thinking":"a","signature":"s2"}`},
		{"without a signature", []string{begin(0, `{"thinking":"a","type":"thinking"}`)}, `{"thinking":"a","type":"thinking","signature":""}`},
		{"nothing was thought", []string{begin(0, `{"type":"thinking","thinking":"","signature":""}`)}, ``},
		{"names in another form", []string{begin(0, `{"\u0074ype":"thinking","thin\u006bing":"a","signature":"s"}`)}, `{"type":"thinking","thinking":"a","signature":"s"}`},
		{"redacted", []string{begin(0, `{"type":"redacted_thinking","data":"a\u002fb"}`)}, `{"type":"redacted_thinking","data":"a\u002fb"}`},
		{"a tool of the server", []string{begin(0, `{"type":"server_tool_use","id":"s","name":"n","input":{}}`), arguments(0, `"{\"q\":"`), arguments(0, `"1}"`)}, `{"type":"server_tool_use","id":"s","name":"n","input":{"q":1}}`},
		{"whose input is cut off", []string{begin(0, `{"type":"server_tool_use","id":"s","name":"n","input":{}}`), arguments(0, `"{\"q\":"`)}, `{"type":"server_tool_use","id":"s","name":"n","input":{}}`},
		{"unknown, with text", []string{begin(0, `{"type":"aside","text":"a","n":null}`), delta(0, `{"type":"text_delta","text":"b"}`), delta(0, `{"type":"aside_delta","n":1,"m":"x"}`), delta(0, `{"type":"aside_delta","n":[2],"m":"y\""}`)}, `{"type":"aside","text":"ab","n":[2],"m":"xy\""}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := decode(append(c.payloads, end(0), because("end_turn"))...)
			if err != nil {
				t.Fatal(err)
			}
			var p message.Part
			if len(r.Message.Parts) > 0 {
				p = r.Message.Parts[0]
			}
			if string(p.Opaque) != c.want || (c.want != "") != (p.Provider == "anthropic" && p.Kind == message.Reasoning) || !(p.Opaque == nil || p.Opaque.IsValid()) {
				t.Errorf("got %s of %q", p.Opaque, p.Provider)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	first := func(u string) string { return `{"type":"message_start","message":{"usage":` + u + `}}` }
	then := func(u string) string { return `{"type":"message_delta","delta":{},"usage":` + u + `}` }
	k := message.Known
	modeltest.Usage(t, func(payloads ...string) (*model.Reply, error) {
		return decode(append(payloads, because("end_turn"))...)
	}, []modeltest.UsageCase{
		{"absent", nil, message.Usage{}},
		{"null", []string{first(`null`), then(`null`)}, message.Usage{}},
		{"zeros are no count", []string{first(`{"input_tokens":0,"output_tokens":0}`), then(`{"output_tokens":0}`)}, message.Usage{}},
		{"of a message that begins the output is not known", []string{first(`{"input_tokens":5,"output_tokens":3}`)}, message.Usage{Input: k(5)}},
		{"input includes what was cached", []string{first(`{"input_tokens":5,"cache_read_input_tokens":100,"cache_creation_input_tokens":20,"output_tokens":1}`), then(`{"output_tokens":9}`)}, message.Usage{Input: k(125), Cached: k(100), CacheWrite: k(20), Output: k(9)}},
		{"all cached", []string{first(`{"input_tokens":0,"cache_read_input_tokens":100,"output_tokens":1}`)}, message.Usage{Input: k(100), Cached: k(100)}},
		{"the last counts", []string{then(`{"input_tokens":5,"output_tokens":2}`), then(`{"input_tokens":6,"output_tokens":9}`)}, message.Usage{Input: k(6), Output: k(9)}},
		{"but not a zero or null", []string{first(`{"input_tokens":5,"cache_read_input_tokens":7}`), then(`{"input_tokens":0,"cache_read_input_tokens":0,"output_tokens":9}`), then(`{"input_tokens":null,"output_tokens":null}`)}, message.Usage{Input: k(12), Cached: k(7), Output: k(9)}},
		{"thinking", []string{then(`{"input_tokens":5,"output_tokens":9,"output_tokens_details":{"thinking_tokens":4}}`)}, message.Usage{Input: k(5), Output: k(9), Reasoning: k(4)}},
		{"odd numbers and kinds", []string{first(`{"input_tokens":-5,"cache_read_input_tokens":1.5,"output_tokens":1e99}`), then(`7`), then(`{"input_tokens":"5","output_tokens":[9],"output_tokens_details":3}`)}, message.Usage{Invalid: true}},
	})
}

func TestBadPayloads(t *testing.T) {
	many := make([]string, maxBlocks+1)
	for i := range many {
		many[i] = begin(i, `{"type":"text"}`)
	}
	for _, c := range []struct {
		in   []string
		want event.ErrorClass
	}{
		{[]string{`{"type":"ping"`}, event.ClassBadReply},
		{[]string{`{"type":"ping"}{}`}, event.ClassBadReply},
		{[]string{`[]`}, event.ClassBadReply},
		{[]string{`"text"`}, event.ClassBadReply},
		{[]string{`pong`}, event.ClassBadReply},
		{[]string{`{"type":"ping","type":"ping"}`}, event.ClassBadReply},
		{[]string{strings.Repeat(`{"a":`, 20_000)}, event.ClassBadReply},
		{many, event.ClassBadReply},
		{[]string{begin(0, "{\"type\":\"server_tool_use\",\"x\":\"\xff\"}")}, event.ClassBadReply}, // it could not go back
		{[]string{begin(0, `{"type":"server_tool_use"}`), delta(0, "{\"type\":\"x_delta\",\"x\":\"\xff\"}")}, event.ClassBadReply},
		{[]string{`{"type":"error","error":{"type":"overloaded_error"}}`}, event.ClassServer},
		{[]string{`{"type":"error"}`}, event.ClassServer},
		{[]string{`{"error":"x"}`}, event.ClassServer},
		{[]string{`{"type":"rate_limit_error","message":"x"}`}, event.ClassRate},
		{[]string{`{"message":"x"}`}, event.ClassServer},
		{[]string{`{"detail":"x","code":401}`}, event.ClassAuth},
	} {
		_, err := decode(c.in...)
		if e := (*model.Error)(nil); !errors.As(err, &e) || e.Class != c.want {
			t.Errorf("%.60s: %v", c.in[0], err)
		}
	}
	for _, in := range []string{
		`null`, ``, `{}`, `{"error":null}`, `{"type":"ping"}`, `{"type":"news","message":"x"}`, `{"type":"news","data":[{}]}`,
		`{"type":"message_start"}`, `{"type":"message_start","message":"x"}`, `{"type":"message_start","message":{"id":7,"content":null}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"news_delta","news":"x"}}`, `{"type":"content_block_delta","index":-1}`,
		"{\"type\":\"\xff\",\"\xff\":\"\\ud83d\"}", `{"type":"content_block_stop","index":9}`, `{"type":"message_delta"}`, `{"type":"message_delta","delta":{"stop_reason":{}}}`,
	} {
		if r, err := decode(in, because("end_turn")); err != nil || len(r.Message.Parts) != 0 {
			t.Errorf("%s is not tolerated: %v", in, err)
		}
	}
}

func anyDecoder(stream bool) modeltest.Decoder {
	return newDecoder(stream, "anthropic", func(model.Delta) {})
}

func FuzzStream(f *testing.F) {
	e, err := NewEncoder("anthropic", Quirks{})
	if err != nil {
		f.Fatal(err)
	}
	modeltest.FuzzDecoder(f, "testdata/replies", anyDecoder, e, "stop_reason")
}

func BenchmarkDecode(b *testing.B) {
	delta := func(e []byte) bool { return bytes.HasPrefix(e, []byte("event: content_block_delta")) }
	modeltest.BenchmarkDecode(b, "testdata/replies", anyDecoder, delta, "text", "call", "thinking-call")
}
