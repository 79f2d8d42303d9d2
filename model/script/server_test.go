package script

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

func serve(t *testing.T, script string, o *ServerOptions) (*Server, string) {
	t.Helper()
	h := Handler(MustParse(script), o)
	url, err := h.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return h, url
}

const hello = `{"model":"m","messages":[{"role":"user","content":"Go"}]}`

// Requests are judged as strictly as by the strictest real server.
func TestRefusals(t *testing.T) {
	_, url := serve(t, "turns: [Hi]", nil)
	const (
		user   = `{"role":"user","content":"Go"}`
		call1  = `{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}`
		call2  = `{"id":"2","type":"function","function":{"name":"f","arguments":"{}"}}`
		calls  = `{"role":"assistant","tool_calls":[` + call1 + `,` + call2 + `]}`
		one    = `{"role":"tool","tool_call_id":"1","content":"a"}`
		two    = `{"role":"tool","tool_call_id":"2","content":[{"type":"text","text":"b"}]}`
		tools  = `"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]`
		schema = `"response_format":{"type":"json_schema","json_schema":{"name":"s","strict":true,"schema":{}}}`
	)
	chat := func(messages string, more ...string) string {
		return `{"model":"m","messages":[` + messages + `]` + strings.Join(append([]string{""}, more...), ",") + `}`
	}
	tests := []struct {
		name, body string
		param, why string // none: it is taken
	}{
		{"plain", hello, "", ""},
		{"parallel results in any order", chat(user + "," + calls + "," + two + "," + one + "," + user), "", ""},
		{"developer, parts, null content", chat(`{"role":"developer","content":[{"type":"text","text":"x"}]},{"role":"assistant","content":null,"tool_calls":[` + call1 + `]},` + one), "", ""},
		{"reasoning sent back", chat(user + `,{"role":"assistant","content":"a","reasoning_content":"b"},` + user), "", ""},
		{"image", chat(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}`), "", ""},
		{"every option", chat(user, tools, schema, `"tool_choice":"none","parallel_tool_calls":false,"stream":true,"stream_options":{"include_usage":true},"temperature":0.5,"top_p":1,"max_completion_tokens":5,"seed":1,"n":1`), "", ""},
		{"forced call", chat(user, tools, `"tool_choice":{"type":"function","function":{"name":"f"}}`), "", ""},

		{"not JSON", `{"model":`, "", "not a chat request"},
		{"two values", hello + hello, "", "not a chat request"},
		{"duplicate member", `{"model":"m","model":"m","messages":[` + user + `]}`, "", "duplicate"},
		{"other case", `{"Model":"m","messages":[` + user + `]}`, "", "unknown"},
		{"bad UTF-8", "{\"model\":\"\xff\",\"messages\":[]}", "", "UTF-8"},
		{"misspelt member", chat(user, `"max_token":5`), "", "max_token"},
		{"no model", `{"messages":[` + user + `]}`, "model", "name a model"},
		{"no messages", chat(""), "messages.[0]", "no message"},
		{"unknown role", chat(`{"role":"robot","content":"x"}`), "messages.[0].role", "not a role"},
		{"no content", chat(`{"role":"user"}`), "messages.[0].content", "content"},
		{"null content without calls", chat(user + `,{"role":"assistant","content":null}`), "messages.[1].content", "content"},
		{"empty parts", chat(`{"role":"user","content":[]}`), "messages.[0].content", "1 to"},
		{"part without text", chat(`{"role":"user","content":[{"type":"text"}]}`), "messages.[0].content.[0].text", "missing"},
		{"image from a tool", chat(user + `,{"role":"assistant","tool_calls":[` + call1 + `]},{"role":"tool","tool_call_id":"1","content":[{"type":"image_url","image_url":{}}]}`), "messages.[2].content.[0].type", "no parts of type"},
		{"call not answered", chat(user + "," + calls + "," + one), "messages.[1]", "not answered: 2"},
		{"call answered later", chat(user + "," + calls + "," + one + "," + user + "," + two), "messages.[1]", "not answered: 2"},
		{"call answered twice", chat(user + "," + calls + "," + one + "," + two + "," + one), "messages.[4]", "once"},
		{"result of no call", chat(user + "," + one), "messages.[1]", "must answer"},
		{"result without id", chat(user + `,{"role":"tool","content":"a"}`), "messages.[1].tool_call_id", "tool_call_id"},
		{"user with an id", chat(`{"role":"user","content":"a","tool_call_id":"1"}`), "messages.[0].tool_call_id", "no other"},
		{"user that calls", chat(`{"role":"user","content":"a","tool_calls":[` + call1 + `]}`), "messages.[0].tool_calls", "only an assistant"},
		{"no calls in the list", chat(`{"role":"assistant","content":"a","tool_calls":[]}`), "messages.[0].tool_calls", "empty"},
		{"same id twice", chat(`{"role":"assistant","tool_calls":[` + call1 + `,` + call1 + `]},` + one), "messages.[0]", "two tool calls"},
		{"call without id", chat(`{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f","arguments":""}}]}`), "messages.[0]", "no id"},
		{"call without type", chat(`{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":""}}]}`), "messages.[0].tool_calls.[0].type", "function"},
		{"call without arguments", chat(`{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f"}}]}`), "messages.[0].tool_calls.[0].function.arguments", "missing"},
		{"arguments not text", chat(`{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":{}}}]}`), "", "arguments"},
		{"odd function name", chat(`{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"a b","arguments":""}}]}`), "messages.[0].tool_calls.[0].function.name", "not the name"},
		{"no tools in the list", chat(user, `"tools":[]`), "tools", "empty"},
		{"tool of another type", chat(user, `"tools":[{"type":"web","function":{"name":"f"}}]`), "tools.[0].type", "function"},
		{"tool with an odd name", chat(user, `"tools":[{"type":"function","function":{"name":"f.g"}}]`), "tools.[0].function.name", "must match"},
		{"tool with odd parameters", chat(user, `"tools":[{"type":"function","function":{"name":"f","parameters":true}}]`), "tools.[0].function.parameters", "object"},
		{"choice without tools", chat(user, `"tool_choice":"none"`), "tool_choice", "only allowed with tools"},
		{"parallel without tools", chat(user, `"parallel_tool_calls":true`), "parallel_tool_calls", "only allowed with tools"},
		{"unknown choice", chat(user, tools, `"tool_choice":"any"`), "tool_choice", "none, auto, required"},
		{"choice of another tool", chat(user, tools, `"tool_choice":{"type":"function","function":{"name":"g"}}`), "tool_choice", "not among"},
		{"odd choice", chat(user, tools, `"tool_choice":5`), "tool_choice", "none, auto, required"},
		{"stream options without stream", chat(user, `"stream_options":{"include_usage":true}`), "stream_options", "stream is true"},
		{"several choices", chat(user, `"n":2`), "n", "1"},
		{"no room for a reply", chat(user, `"max_tokens":0`), "max_completion_tokens", "at least 1"},
		{"both limits", chat(user, `"max_tokens":5,"max_completion_tokens":5`), "max_tokens", "exclude"},
		{"too hot", chat(user, `"temperature":2.5`), "temperature", "0 to 2"},
		{"top_p", chat(user, `"top_p":-1`), "top_p", "0 to 1"},
		{"unknown format", chat(user, `"response_format":{"type":"xml"}`), "response_format.type", "json_schema"},
		{"schema without name", chat(user, `"response_format":{"type":"json_schema","json_schema":{"schema":{}}}`), "response_format.json_schema.name", "name"},
		{"schema that is none", chat(user, `"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":[]}}`), "response_format.json_schema.schema", "object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, problem := readChat([]byte(tt.body))
			if tt.why == "" {
				if problem != nil {
					t.Fatalf("refused: %+v", *problem)
				}
				if tt.name == "every option" && (req.conversation.mayCall || req.conversation.schema != "s") {
					t.Errorf("read as %+v", req.conversation)
				}
				return
			}
			if problem == nil {
				t.Fatal("it is taken")
			}
			if problem.Param != tt.param || !strings.Contains(problem.Message, tt.why) {
				t.Errorf("the problem is %+v", *problem)
			}
			_, err := postChat(t, url, []byte(tt.body))
			e := classIs(t, err, event.ClassBadRequest)
			if e.Status != 400 || e.Message != problem.Message {
				t.Errorf("over the wire it is %+v", e)
			}
		})
	}
}

func TestReceivedAreTheBytes(t *testing.T) {
	h, url := serve(t, "turns: [{say: Hi, faults: [{status: 500}]}]", nil)
	bodies := []string{hello, hello + " \n", `{"model":"m","messages":[]}`, "{"}
	for _, b := range bodies {
		_, _ = postChat(t, url, []byte(b))
	}
	got := h.Received()
	if len(got) != len(bodies) {
		t.Fatalf("%d bodies", len(got))
	}
	for i, b := range bodies {
		if string(got[i]) != b {
			t.Errorf("body %d is %q, not %q", i, got[i], b)
		}
	}
}

func TestReceivedIsBounded(t *testing.T) {
	for keep, want := range map[int64]int{-1: 0, int64(2*len(hello) + 1): 2, 1: 0} {
		h, url := serve(t, "turns: [Hi]", &ServerOptions{Keep: keep})
		for range 5 {
			if _, err := postChat(t, url, []byte(hello)); err != nil {
				t.Fatal(err)
			}
		}
		if got := len(h.Received()); got != want {
			t.Errorf("keep %d: %d bodies, want %d", keep, got, want)
		}
	}
}

func TestDoors(t *testing.T) {
	_, url := serve(t, "model: tiny\nturns: [Hi]", &ServerOptions{Key: "sesame", MaxBody: 200})
	tests := []struct {
		name, method, path, key, kind, body string
		status                              int
		says                                string
	}{
		{"the list of models", "GET", "/models", "sesame", "", "", 200, `"id":"tiny"`},
		{"one model", "GET", "/models/tiny", "sesame", "", "", 200, `"id":"tiny"`},
		{"a model that is not there", "GET", "/models/a/b", "sesame", "", "", 404, "there is tiny"},
		{"no key", "GET", "/models", "", "", "", 401, "invalid_api_key"},
		{"wrong key", "POST", "/chat/completions", "open", "application/json", hello, 401, "invalid_api_key"},
		{"wrong model", "POST", "/chat/completions", "sesame", "application/json", hello, 404, "there is tiny"},
		{"right model", "POST", "/chat/completions", "sesame", "application/json; charset=utf-8", strings.Replace(hello, `"m"`, `"tiny"`, 1), 200, "Hi"},
		{"a form", "POST", "/chat/completions", "sesame", "application/x-www-form-urlencoded", hello, 415, "application/json"},
		{"a long body", "POST", "/chat/completions", "sesame", "application/json", hello + strings.Repeat(" ", 200), 413, "longer than 200"},
		{"another path", "POST", "/completions", "sesame", "application/json", hello, 404, "there is no POST"},
		{"another method", "PUT", "/chat/completions", "sesame", "application/json", hello, 404, "there is no PUT"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, err := http.NewRequest(tt.method, url+tt.path, strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if tt.kind != "" {
				req.Header.Set("Content-Type", tt.kind)
			}
			if tt.key != "" {
				req.Header.Set("Authorization", "Bearer "+tt.key)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != tt.status || !strings.Contains(string(body), tt.says) {
				t.Errorf("%s %s (error %v)", resp.Status, body, err)
			}
			if kind := resp.Header.Get("Content-Type"); kind != "application/json" {
				t.Errorf("the answer is %s", kind)
			}
		})
	}
}

// The faults are real ones: headers, status lines and connections that end.
func TestFaultsOnTheWire(t *testing.T) {
	for _, stream := range []bool{false, true} {
		body := strings.Replace(hello, "{", fmt.Sprintf(`{"stream":%t,`, stream), 1)
		_, url := serve(t, `
turns:
  - say: The answer.
    faults:
      - {status: 429, retry_after: 1500ms}
      - {status: 503, body: "<b>busy</b>"}
      - {html: true}
      - {cut: 30}
      - {stall: 10ms}
      - {close: true}
      - {cut: 1000000}`, nil)
		send := func() (*http.Response, []byte, error) {
			resp, err := http.Post(url+"/chat/completions", "application/json", strings.NewReader(body))
			if err != nil {
				return nil, nil, err
			}
			defer resp.Body.Close()
			data, err := io.ReadAll(resp.Body)
			return resp, data, err
		}
		resp, _, err := send()
		if err != nil || resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "2" || resp.Header.Get("Retry-After-Ms") != "1500" {
			t.Errorf("429: %v %v", resp, err)
		}
		resp, data, err := send()
		if err != nil || resp.StatusCode != 503 || string(data) != "<b>busy</b>" || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
			t.Errorf("503: %v %q %v", resp, data, err)
		}
		resp, data, err = send()
		if err != nil || resp.StatusCode != 200 || !bytes.HasPrefix(data, []byte("<!DOCTYPE")) {
			t.Errorf("html: %v %q %v", resp, data, err)
		}
		resp, data, err = send()
		if !errors.Is(err, io.ErrUnexpectedEOF) || resp.StatusCode != 200 || len(data) != 30 {
			t.Errorf("cut: %v %q %v", resp, data, err)
		}
		resp, data, err = send()
		if !errors.Is(err, io.ErrUnexpectedEOF) || resp.StatusCode != 200 || len(data) != 0 {
			t.Errorf("stall: %v %q %v", resp, data, err)
		}
		if resp, _, err = send(); err == nil {
			t.Errorf("close: %v", resp)
		}
		if _, data, err = send(); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(string(data), "answer") {
			t.Errorf("cut at the last byte: %q %v", data, err)
		}
		if _, data, err = send(); err != nil {
			t.Errorf("the last try: %q %v", data, err)
		}
	}
}

// Close ends a stall at once instead of sitting it out, and the server can be
// closed again.
func TestCloseEndsStalls(t *testing.T) {
	h := Handler(MustParse("turns: [{say: Hi, faults: [{stall: 10m}]}]"), nil)
	url, err := h.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Listen("127.0.0.1:0"); err == nil {
		t.Error("it listens twice")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	started := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		req, err := http.NewRequestWithContext(ctx, "POST", url+"/chat/completions", strings.NewReader(strings.Replace(hello, "{", `{"stream":true,`, 1)))
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		close(started)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		if _, err := io.ReadAll(resp.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("the stalled reply ends with %v", err)
		}
	})
	<-started
	for range 2 {
		if err := h.Close(ctx); err != nil {
			t.Error(err)
		}
	}
	ended.Wait()
	if _, err := http.Get(url + "/models"); err == nil {
		t.Error("it still answers")
	}
}

// A server that is not listening by itself can be mounted, and be closed.
func TestMounted(t *testing.T) {
	h := Handler(MustParse("turns: [Hi]"), nil)
	server := httptest.NewServer(h)
	defer server.Close()
	if _, err := postChat(t, server.URL+"/v1", []byte(hello)); err != nil {
		t.Error(err)
	}
	if err := h.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A server that is started again goes on where the conversation is.
func TestRestart(t *testing.T) {
	const script = "turns: [One., Two., {say: Three., faults: [{status: 500}]}]"
	var conversation []message.Message
	for i, want := range []string{"One.", "Two.", "Three."} {
		_, url := serve(t, script, nil) // a new process each time
		conversation = append(conversation, message.NewText(message.User, "Go on."))
		body := chatBody(t, &model.Params{Model: "m"}, conversation)
		reply, err := postChat(t, url, body)
		if i == 2 {
			classIs(t, err, event.ClassServer)
			reply, err = postChat(t, url, body)
		}
		if err != nil || reply.Message.PlainText() != want {
			t.Fatalf("turn %d: %v, error %v", i+1, reply, err)
		}
		conversation = append(conversation, reply.Message)
	}
}

// Many conversations at once: each try of a turn is counted once.
func TestConcurrent(t *testing.T) {
	h, url := serve(t, "turns: [{say: Hi, faults: [{status: 500}, {status: 500}, {status: 500}]}]", nil)
	var mu sync.Mutex
	failed := 0
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			_, err := postChat(t, url, []byte(hello))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed++
			}
		})
	}
	group.Wait()
	if failed != 3 || len(h.Received()) != 16 {
		t.Errorf("%d failed, %d received", failed, len(h.Received()))
	}
}
