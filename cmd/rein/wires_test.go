package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// recorded are two replies as each wire streams them: a text with a call, then
// an answer. What each says is the same.
var recorded = []struct {
	provider, base, env string
	replies             [2][]string
}{
	{"openai-chat", "/v1", "OPENAI_API_KEY", [2][]string{{
		`{"id":"chatcmpl-1","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":"Let me calculate."},"finish_reason":null}]}`,
		`{"id":"chatcmpl-1","model":"m-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"calculator","arguments":"{\"expression\":\"12*8+100\"}"}}]},"finish_reason":null}]}`,
		`{"id":"chatcmpl-1","model":"m-1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`,
		`{"id":"chatcmpl-1","model":"m-1","choices":[],"usage":{"prompt_tokens":200,"completion_tokens":20,"total_tokens":220,"prompt_tokens_details":{"cached_tokens":0}}}`,
		`[DONE]`,
	}, {
		`{"id":"chatcmpl-2","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":"It is 196."},"finish_reason":"stop"}]}`,
		`{"id":"chatcmpl-2","model":"m-1","choices":[],"usage":{"prompt_tokens":240,"completion_tokens":6,"total_tokens":246,"prompt_tokens_details":{"cached_tokens":0}}}`,
		`[DONE]`,
	}}},
	{"openai-responses", "/v1", "OPENAI_API_KEY", [2][]string{{
		`{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"m-1","output":[]}}`,
		`{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","status":"in_progress","content":[]}}`,
		`{"type":"response.output_text.delta","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Let me calculate."}`,
		`{"type":"response.output_item.done","sequence_number":3,"output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Let me calculate.","annotations":[]}]}}`,
		`{"type":"response.output_item.added","sequence_number":4,"output_index":1,"item":{"type":"function_call","id":"fc_1","call_id":"call_a","name":"calculator","arguments":"","status":"in_progress"}}`,
		`{"type":"response.function_call_arguments.done","sequence_number":5,"item_id":"fc_1","output_index":1,"arguments":"{\"expression\":\"12*8+100\"}"}`,
		`{"type":"response.output_item.done","sequence_number":6,"output_index":1,"item":{"type":"function_call","id":"fc_1","call_id":"call_a","name":"calculator","arguments":"{\"expression\":\"12*8+100\"}","status":"completed"}}`,
		`{"type":"response.completed","sequence_number":7,"response":{"id":"resp_1","object":"response","status":"completed","model":"m-1","output":[{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Let me calculate.","annotations":[]}]},{"type":"function_call","id":"fc_1","call_id":"call_a","name":"calculator","arguments":"{\"expression\":\"12*8+100\"}","status":"completed"}],"usage":{"input_tokens":200,"input_tokens_details":{"cached_tokens":0},"output_tokens":20,"total_tokens":220}}}`,
	}, {
		`{"type":"response.created","sequence_number":0,"response":{"id":"resp_2","object":"response","status":"in_progress","model":"m-1","output":[]}}`,
		`{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"type":"message","id":"msg_2","role":"assistant","status":"in_progress","content":[]}}`,
		`{"type":"response.output_text.delta","sequence_number":2,"item_id":"msg_2","output_index":0,"content_index":0,"delta":"It is 196."}`,
		`{"type":"response.output_item.done","sequence_number":3,"output_index":0,"item":{"type":"message","id":"msg_2","role":"assistant","status":"completed","content":[{"type":"output_text","text":"It is 196.","annotations":[]}]}}`,
		`{"type":"response.completed","sequence_number":4,"response":{"id":"resp_2","object":"response","status":"completed","model":"m-1","output":[{"type":"message","id":"msg_2","role":"assistant","status":"completed","content":[{"type":"output_text","text":"It is 196.","annotations":[]}]}],"usage":{"input_tokens":240,"input_tokens_details":{"cached_tokens":0},"output_tokens":6,"total_tokens":246}}}`,
	}}},
	{"anthropic", "", "ANTHROPIC_API_KEY", [2][]string{{
		`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"usage":{"input_tokens":200,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Let me calculate."}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"call_a","name":"calculator","input":{}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"expression\":\"12*8+100\"}"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":20}}`,
		`{"type":"message_stop"}`,
	}, {
		`{"type":"message_start","message":{"id":"msg_2","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"usage":{"input_tokens":240,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"It is 196."}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":6}}`,
		`{"type":"message_stop"}`,
	}}},
	{"gemini", "/v1beta", "GEMINI_API_KEY", [2][]string{{
		`{"responseId":"r1","modelVersion":"m-1","candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"Let me calculate."}]}}]}`,
		`{"responseId":"r1","modelVersion":"m-1","candidates":[{"index":0,"content":{"role":"model","parts":[{"functionCall":{"name":"calculator","args":{"expression":"12*8+100"}},"thoughtSignature":"c2ln"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":200,"cachedContentTokenCount":0,"candidatesTokenCount":20,"totalTokenCount":220}}`,
	}, {
		`{"responseId":"r2","modelVersion":"m-1","candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"It is 196."}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":240,"cachedContentTokenCount":0,"candidatesTokenCount":6,"totalTokenCount":246}}`,
	}}},
}

// playRecorded streams a recorded reply.
func playRecorded(w http.ResponseWriter, reply []string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, data := range reply {
		var named struct {
			Type string `json:"type"`
		}
		if json.Unmarshal([]byte(data), &named) == nil && named.Type != "" {
			fmt.Fprintf(w, "event: %s\n", named.Type)
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
}

// One agent.yaml runs on every wire as it is, and leaves the same journal, up to
// what belongs to the provider: its names, ids and signatures, the bytes of its
// requests, and the cache figures that only some report.
func TestOneAgentOnEveryWire(t *testing.T) {
	var first string
	for _, wire := range recorded {
		b := newBox(t)
		b.env[wire.env] = "a-key-for-the-test"
		agent := b.file("agent.yaml", "name: desk\ntools: [calculator]\npermissions: {allow: [effect:read]}\nrules: {must: [answer in one sentence]}\n")
		var asked atomic.Int64
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n := asked.Add(1) - 1
			if n > 1 {
				http.Error(w, "a third request", http.StatusBadRequest)
				return
			}
			playRecorded(w, wire.replies[n])
		}))
		defer srv.Close()
		p := b.rein("run", "-f", agent, "-m", wire.provider+"/m-1", "--base-url", srv.URL+wire.base, "--events", "What is 12*8+100?")
		if p.code != 0 {
			t.Errorf("%s: exit %d\n%s", wire.provider, p.code, p.err)
			continue
		}
		var lines []string
		for line := range strings.Lines(p.out) {
			var e map[string]any
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%s: %v in %s", wire.provider, err, line)
			}
			text, err := json.Marshal(common(e))
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, string(text))
		}
		got := strings.Join(lines, "\n")
		if first == "" {
			first = got
			if !strings.Contains(got, "It is 196.") || !strings.Contains(got, `196`) {
				t.Errorf("%s: the journal lacks the result or the answer:\n%s", wire.provider, got)
			}
		}
		if got != first {
			t.Errorf("%s left another journal than %s:\n%s", wire.provider, recorded[0].provider, differing(first, got))
		}
	}
}

// providers are the members of events that belong to a provider or a moment.
var providers = []string{"ts", "run", "prev", "hash", "root", "model", "seed", "config", "base_dir", "window", "prices", "encoder", "options",
	"sha256", "bytes", "raw_finish", "response_id", "latency_ms", "first_ms", "opaque", "provider", "cache_write_tokens",
	"reasoning_tokens", "id", "call", "tool_call_id", "wire_id", "budget", "tokens", "blocks"}

// common drops from an event, at any depth, what belongs to the provider.
func common(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if slices.Contains(providers, k) {
				delete(v, k)
			} else {
				v[k] = common(x)
			}
		}
	case []any:
		for i := range v {
			v[i] = common(v[i])
		}
	}
	return v
}

// differing returns the lines in which two journals differ.
func differing(a, b string) string {
	left, right := strings.Split(a, "\n"), strings.Split(b, "\n")
	var out strings.Builder
	for i := range max(len(left), len(right)) {
		var l, r string
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		if l != r {
			fmt.Fprintf(&out, "- %s\n+ %s\n", l, r)
		}
	}
	return out.String()
}
