package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/modeltest"
)

// respond pushes the data of events and returns what they make.
func respond(events ...string) (*model.Reply, error) {
	return modeltest.Decode(newResponsesDecoder(true, "openai-responses:acme", nil), events...)
}

const responseDone = `{"type":"response.completed","response":{"status":"completed"}}`

// How a response ends, and in which of three ways the run goes on.
func TestResponsesFinish(t *testing.T) {
	const call = `{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}}`
	ended := func(kind, response string) string {
		return `{"type":"response.` + kind + `","response":` + response + `}`
	}
	for _, c := range []struct {
		name, end      string
		finish, called event.Finish // without and with a call in the reply; empty is an error
		raw            string
	}{
		{"completed", responseDone, event.FinishStop, event.FinishToolCalls, "completed"},
		{"completed without a word", `{"type":"response.completed"}`, event.FinishStop, event.FinishToolCalls, "completed"},
		{"no room", ended("incomplete", `{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}`), event.FinishLength, event.FinishLength, "max_output_tokens"},
		{"filtered", ended("incomplete", `{"incomplete_details":{"reason":"content_filter"}}`), event.FinishContentFilter, event.FinishContentFilter, "content_filter"},
		{"for another reason", ended("incomplete", `{"incomplete_details":{"reason":"something_new"}}`), event.FinishError, event.FinishError, "something_new"},
		{"for no reason", ended("incomplete", `{"incomplete_details":null}`), event.FinishError, event.FinishError, "incomplete"},
		{"completed by name, not by status", ended("completed", `{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}`), event.FinishLength, event.FinishLength, "max_output_tokens"},
		{"failed by status", ended("completed", `{"status":"failed","error":{"code":"server_error","message":"x"}}`), "", "", ""},
		{"failed", ended("failed", `{"status":"failed","error":{"code":"server_error","message":"x"}}`), "", "", ""},
		{"an error", `{"type":"error","code":"server_error","message":"x"}`, "", "", ""},
		{"still going", ended("in_progress", `{"status":"in_progress"}`), "", "", ""},
	} {
		for _, try := range []struct {
			events []string
			want   event.Finish
		}{{[]string{c.end}, c.finish}, {[]string{call, c.end}, c.called}} {
			r, err := respond(try.events...)
			if try.want == "" {
				if err == nil {
					t.Errorf("%s: a reply that ended with %s", c.name, r.Finish)
				}
				continue
			}
			if err != nil || r.Finish != try.want || r.RawFinish != c.raw {
				t.Errorf("%s: %+v, %v", c.name, r, err)
			}
		}
	}
	r, err := respond(`{"type":"response.refusal.delta","output_index":0,"delta":"no"}`, `{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}}`, responseDone)
	if err != nil || r.Finish != event.FinishContentFilter || r.RawFinish != "refusal" {
		t.Errorf("a refusal with a call: %+v, %v", r, err)
	}
	r, err = respond(responseDone, `nonsense`, `{"type":"error","message":"late"}`, `[DONE]`)
	if err != nil || r.Finish != event.FinishStop {
		t.Errorf("what follows the end changed it: %v, %v", r, err)
	}
}

// Items are put together from their pieces; what is said when an item is done
// counts.
func TestResponsesItems(t *testing.T) {
	args := func(i int, s string) string {
		return fmt.Sprintf(`{"type":"response.function_call_arguments.delta","output_index":%d,"delta":%q}`, i, s)
	}
	item := func(kind string, i int, s string) string {
		return fmt.Sprintf(`{"type":"response.output_item.%s","output_index":%d,"item":%s}`, kind, i, s)
	}
	said := func(i int, s string) string {
		return fmt.Sprintf(`{"type":"response.output_text.delta","output_index":%d,"delta":%q}`, i, s)
	}
	for _, c := range []struct {
		name   string
		events []string
		want   string
	}{
		{"pieces of two calls, mixed", []string{item("added", 0, `{"type":"function_call","call_id":"a","name":"f"}`), item("added", 1, `{"type":"function_call","call_id":"b","name":"g"}`), args(1, "{1"), args(0, "{0"), args(0, "}"), args(1, "}")}, `call a f {0}|call b g {1}`},
		{"the end says something else", []string{args(0, `{"a":`), item("done", 0, `{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}`)}, `call a f {}`},
		{"the end says nothing", []string{args(0, `{}`), item("done", 0, `{"type":"function_call","call_id":"a","name":"f","arguments":""}`)}, `call a f {}`},
		{"arguments as an object", []string{item("done", 0, `{"type":"function_call","call_id":"a","name":"f","arguments":{"x": [1]}}`)}, `call a f {"x": [1]}`},
		{"a piece after the end", []string{item("done", 0, `{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}`), args(0, "more"), item("done", 0, `{"type":"function_call","call_id":"z","name":"z"}`)}, `call a f {}`},
		{"out of order", []string{said(2, "c"), said(0, "a"), said(1, "b")}, `text a|text b|text c`},
		{"text that was not shown", []string{said(0, "Hel"), item("done", 0, `{"content":[{"text":"Hello","type":"output_text"}],"type":"message"}`)}, `text Hello`},
		{"text that was shown otherwise", []string{said(0, "Hullo"), item("done", 0, `{"type":"message","content":[{"type":"output_text","text":"Hello"}]}`)}, `text Hello`},
		{"text that is not said again", []string{said(0, "Hello"), item("done", 0, `{"type":"message","content":[]}`)}, `text Hello`},
		{"no kind", []string{item("done", 0, `{}`), item("added", 1, `{"id":"x"}`)}, ``},
		{"no item", []string{item("done", 0, `null`), item("added", 1, `[]`), `{"type":"response.output_item.done"}`}, ``},
		{"no index", []string{`{"type":"response.output_text.delta","delta":"a"}`, `{"type":"response.output_text.delta","delta":"b","output_index":-1}`}, `text ab`},
		{"summaries and text", []string{`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"a"}`, `{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"b"}`, `{"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"delta":"c"}`}, "reasoning a\n\nb\n\nc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := respond(append(c.events, responseDone)...)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range r.Message.Parts {
				if p.Kind == message.ToolCall {
					got = append(got, "call "+p.ID+" "+p.Name+" "+p.Args)
				} else {
					got = append(got, string(p.Kind)+" "+p.Text)
				}
			}
			if s := strings.Join(got, "|"); s != c.want {
				t.Errorf("got  %q\nwant %q", s, c.want)
			}
		})
	}
}

func TestResponsesUsage(t *testing.T) {
	k := message.Known
	decode := func(usage ...string) (*model.Reply, error) {
		begun := `{"type":"response.created","response":{"usage":null}}`
		return respond(begun, `{"type":"response.completed","response":{"status":"completed","usage":`+usage[0]+`}}`)
	}
	modeltest.Usage(t, decode, []modeltest.UsageCase{
		{"null", []string{`null`}, message.Usage{}},
		{"zeros are no count", []string{`{"input_tokens":0,"output_tokens":0,"total_tokens":0}`}, message.Usage{}},
		{"nothing was written", []string{`{"input_tokens":5,"output_tokens":0}`}, message.Usage{Input: k(5), Output: k(0)}},
		{"input includes what was cached", []string{`{"input_tokens":1000,"input_tokens_details":{"cached_tokens":700},"output_tokens":50,"output_tokens_details":{"reasoning_tokens":20},"total_tokens":1050}`}, message.Usage{Input: k(1000), Cached: k(700), Output: k(50), Reasoning: k(20)}},
		{"details are null", []string{`{"input_tokens":5,"input_tokens_details":null,"output_tokens":9,"output_tokens_details":null}`}, message.Usage{Input: k(5), Output: k(9)}},
		{"what was cached, counted apart", []string{`{"input_tokens":100,"input_tokens_details":{"cached_tokens":700,"cache_write_tokens":200},"output_tokens":9}`}, message.Usage{Input: k(1000), Cached: k(700), CacheWrite: k(200), Output: k(9)}},
		{"odd numbers", []string{`{"input_tokens":-5,"output_tokens":1.5}`}, message.Usage{Invalid: true}},
		{"fewer than none cached", []string{`{"input_tokens":5,"input_tokens_details":{"cached_tokens":-5},"output_tokens":9}`}, message.Usage{Input: k(5), Output: k(9), Invalid: true}},
		{"a total of more", []string{`{"input_tokens":1000,"output_tokens":20,"total_tokens":5000}`}, message.Usage{Input: k(1000), Output: k(20), Total: k(5000)}},
		{"odd kinds", []string{`{"input_tokens":"5","output_tokens":[9]}`}, message.Usage{}},
	})
}

func TestResponsesBadPayloads(t *testing.T) {
	for _, c := range []struct {
		in   string
		want event.ErrorClass
	}{
		{`{"type":"response.created"`, event.ClassBadReply},
		{`{} x`, event.ClassBadReply},
		{`[]`, event.ClassBadReply},
		{`"text"`, event.ClassBadReply},
		{`ping`, event.ClassBadReply},
		{`{"type":"a","type":"b"}`, event.ClassBadReply},
		{strings.Repeat(`{"a":`, 20_000), event.ClassBadReply},
		{"{\"type\":\"response.output_item.done\",\"item\":{\"type\":\"web_search_call\",\"x\":\"\xff\"}}", event.ClassBadReply}, // it could not go back
		{`{"type":"response.completed","response":{"output":[` + strings.Repeat(`{},`, maxItems) + `{}]}}`, event.ClassBadReply},
		{`{"error":{"message":"x"}}`, event.ClassServer},
		{`{"type":"response.something","error":{"code":"rate_limit_exceeded","message":"x"}}`, event.ClassRate},
		{`{"type":"error","error":{"type":"invalid_request_error","code":"invalid_image_url","message":"x"}}`, event.ClassBadRequest},
		{`{"type":"error","code":"vector_store_timeout","message":"x"}`, event.ClassServer},
	} {
		_, err := respond(c.in)
		if e := (*model.Error)(nil); !errors.As(err, &e) || e.Class != c.want {
			t.Errorf("%.60s: %v", c.in, err)
		}
	}
	for _, in := range []string{`null`, ``, `{}`, "{\"type\":\"\xff\",\"\xff\":\"\\ud83d\"}", `{"type":7}`, `{"type":"ping"}`, `{"error":null}`, `{"type":"response.created","response":null}`, `{"type":"response.created","response":{"usage":null,"output":null}}`, `{"type":"response.output_text.delta","output_index":0,"delta":null}`, `{"type":"response.output_text.delta","output_index":0,"delta":{"a":1}}`} {
		if r, err := respond(in, responseDone); err != nil || len(r.Message.Parts) != 0 {
			t.Errorf("%s is not tolerated: %+v, %v", in, r, err)
		}
	}
}

// The request goes to the wire's own path, and keys and errors fare as on the
// other wire.
func TestResponsesOnTheWire(t *testing.T) {
	url, got, sent := record(t, 200, "application/json", `{"object":"response","status":"completed","output":[]}`)
	c, err := NewResponses(Options{Model: "acme-1", Provider: "acme", BaseURL: url + "/v1/responses/?api-version=1", Key: key, Quirks: &Quirks{NoParallelCalls: true}})
	if err != nil {
		t.Fatal(err)
	}
	system, messages := responsesConversation()
	p := params()
	body := modeltest.Body(c.Encoder(), p, system, messages)
	if _, err := c.Call(t.Context(), &model.Request{Body: [][]byte{body}}, nil); err != nil {
		t.Fatal(err)
	}
	if got.URL.String() != "/v1/responses?api-version=1" || !bytes.Equal(sent.Bytes(), body) || got.Header.Get("Authorization") != "Bearer "+key {
		t.Errorf("%s %s\n%s", got.Method, got.URL, sent)
	}
	if !c.Info().NoParallelCalls || c.Check() != nil || c.Encoder().Version() != "openai-responses/1" {
		t.Errorf("%+v, %v", c.Info(), c.Check())
	}
	if _, err := NewResponses(Options{Model: "m", Quirks: &Quirks{Schema: "xml"}}); err == nil {
		t.Error("a quirk that is none is taken")
	}
	c, err = NewResponses(Options{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.Call(context.Background(), &model.Request{}, nil); err == nil || !strings.Contains(err.Error(), "there is no key for https://api.openai.com/v1: set OPENAI_API_KEY") {
		t.Errorf("without a key: %v", err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(401)
		io.WriteString(w, `{"error":{"message":"Incorrect API key provided: `+key+`","code":"invalid_api_key"}}`)
	}))
	defer s.Close()
	c, err = NewResponses(Options{Model: "m", BaseURL: s.URL, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.Call(t.Context(), &model.Request{}, nil); err == nil || strings.Contains(fmt.Sprintf("%+v", err), key) || !strings.Contains(err.Error(), "provided: [key]; check OPENAI_API_KEY") {
		t.Errorf("a wrong key: %v", err)
	}
}

// What comes is told as it comes, and only for showing.
func TestResponsesDeltas(t *testing.T) {
	modeltest.Deltas(t, responsesFactory, "testdata/responses/replies/reasoning-then-call.http",
		model.Delta{Reasoning: "**Looking"}, model.Delta{Reasoning: " it up**"}, model.Delta{Reasoning: "\n\nThe user wants the stock."}, model.Delta{Text: "Let me look."}, model.Delta{Call: "get_stock"})
}

func anyResponsesDecoder(stream bool) modeltest.Decoder {
	return newResponsesDecoder(stream, "openai-responses:acme", nil)
}

func FuzzResponses(f *testing.F) {
	e, err := NewResponsesEncoder("acme", Quirks{})
	if err != nil {
		f.Fatal(err)
	}
	modeltest.FuzzDecoder(f, "testdata/responses/replies", anyResponsesDecoder, e, "response.completed", "response.incomplete")
}

func BenchmarkResponses(b *testing.B) {
	delta := func(e []byte) bool { return bytes.Contains(e, []byte(".delta\n")) }
	modeltest.BenchmarkDecode(b, "testdata/responses/replies", anyResponsesDecoder, delta, "text")
}
