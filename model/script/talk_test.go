package script

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

var rewrite = flag.Bool("rewrite", false, "rewrite testdata/*.txt with what happens now")

// TestTalks plays the conversations in testdata/*.txt. Each file is a list of
// commands; those with an answer have it below four dashes:
//
//	script      the script that is played from here on, or its error
//	system, user TEXT, tools NAMES, notools, schema NAME    the next request
//	result TEXT answers the next open call
//	play        sends the request and prints the reply, which joins the conversation
//
// Every file must go the same way in process, over HTTP, and over HTTP in a stream.
func TestTalks(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		for _, wire := range []string{"process", "http", "stream"} {
			t.Run(filepath.Base(file)+"/"+wire, func(t *testing.T) {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				got := newTalk(t, wire).run(string(text))
				if *rewrite && wire == "process" {
					if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				} else if got != string(text) {
					t.Errorf("%s goes differently:\n%s", file, firstDifference(string(text), got))
				}
			})
		}
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range w {
		if i >= len(g) || w[i] != g[i] {
			return fmt.Sprintf("line %d\nwant: %s\ngot:  %s", i+1, w[i], strings.Join(g[min(i, len(g)):min(i+4, len(g))], "\n      "))
		}
	}
	return "more lines than wanted"
}

type talk struct {
	t      *testing.T
	wire   string
	client model.Client
	url    string
	// the conversation
	messages []message.Message
	open     []message.Part
	params   model.Params
}

func newTalk(t *testing.T, wire string) *talk { return &talk{t: t, wire: wire} }

func (k *talk) run(text string) string {
	var out strings.Builder
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		out.WriteString(lines[i] + "\n")
		verb, rest, _ := strings.Cut(lines[i], " ")
		if verb == "" || verb == "#" {
			continue
		}
		if verb != "script" && verb != "play" {
			k.do(verb, rest)
			continue
		}
		var input []string
		for i++; i < len(lines) && lines[i] != "----"; i++ {
			input = append(input, lines[i])
			out.WriteString(lines[i] + "\n")
		}
		for i++; i < len(lines) && lines[i] != ""; i++ {
		}
		i-- // the empty line is printed next
		out.WriteString("----\n" + k.ask(verb, rest, strings.Join(input, "\n")))
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

func (k *talk) do(verb, rest string) {
	switch verb {
	case "system", "user":
		k.messages = append(k.messages, message.NewText(message.Role(verb), rest))
	case "tools":
		k.params.Tools = nil
		for name := range strings.FieldsSeq(rest) {
			k.params.Tools = append(k.params.Tools, event.ToolSpec{Name: name, Schema: jsontext.Value(`{"type":"object"}`)})
		}
	case "notools":
		k.params.NoTools = rest == ""
	case "schema":
		k.params.SchemaName, k.params.Schema = rest, nil
		if rest != "" {
			k.params.Schema = jsontext.Value(`{"type":"object"}`)
		}
	case "result":
		k.messages = append(k.messages, message.Result(k.open[0].ID, k.open[0].Name, rest, false))
		k.open = k.open[1:]
	default:
		k.t.Fatalf("no command %q", verb)
	}
}

func (k *talk) ask(verb, rest, input string) string {
	if verb == "script" {
		s, err := Parse([]byte(input))
		if err != nil {
			return err.Error() + "\n"
		}
		*k = talk{t: k.t, wire: k.wire, client: New(s, nil)}
		server := httptest.NewServer(Handler(s, nil))
		k.t.Cleanup(server.Close)
		k.url = server.URL + "/v1"
		return "ok\n"
	}
	k.params.Model, k.params.Stream = "script", k.wire == "stream"
	reply, err := k.send()
	if err != nil {
		e := err.(*model.Error)
		s := "error: " + string(e.Class)
		if e.Status != 0 {
			s += fmt.Sprintf(", status %d", e.Status)
		}
		if e.Code != "" {
			s += ", code " + e.Code
		}
		if ms, ok := e.RetryAfter.Get(); ok {
			s += fmt.Sprintf(", retry after %d ms", ms)
		}
		if e.Code == codeMismatch || strings.Contains(rest, "message") {
			s += "\n  " + e.Message
		}
		return s + "\n"
	}
	k.messages = append(k.messages, reply.Message)
	var s string
	for _, p := range reply.Message.Parts {
		switch p.Kind {
		case message.ToolCall:
			s += fmt.Sprintf("call %s %s %s\n", p.ID, p.Name, p.Args)
			k.open = append(k.open, p)
		default:
			s += fmt.Sprintf("%s %q\n", p.Kind, p.Text)
		}
	}
	s += "finish " + reply.RawFinish + "\n"
	if strings.Contains(rest, "usage") {
		u, err := json.Marshal(reply.Usage)
		if err != nil {
			k.t.Fatal(err)
		}
		s += fmt.Sprintf("usage %s\n", u)
	}
	return s
}

func (k *talk) send() (*model.Reply, error) {
	if k.wire == "process" {
		req := inProcess(k.client, &k.params, k.messages)
		return k.client.Call(context.Background(), req, nil)
	}
	return postChat(k.t, k.url, chatBody(k.t, &k.params, k.messages))
}

// inProcess builds a request with the client's encoder.
func inProcess(c model.Client, p *model.Params, messages []message.Message) *model.Request {
	enc := c.Encoder()
	var system []message.Message
	for len(messages) > 0 && messages[0].Role == message.System {
		system, messages = append(system, messages[0]), messages[1:]
	}
	body := [][]byte{enc.Head(nil, p, system)}
	var last *message.Message
	for i := range messages {
		body = append(body, enc.Message(nil, last, &messages[i]))
		last = &messages[i]
	}
	return &model.Request{Body: append(body, enc.Close(nil, p, last)), Stream: p.Stream}
}

// chatBody is a second, independent writer of the wire's requests.
func chatBody(t *testing.T, p *model.Params, messages []message.Message) []byte {
	t.Helper()
	type object = map[string]any
	var list []object
	for _, m := range messages {
		o := object{"role": string(m.Role)}
		if s := m.PlainText(); s != "" || m.Calls() == 0 {
			o["content"] = s
		}
		if m.Role == message.Tool {
			o["tool_call_id"] = m.ToolCallID
		}
		var calls []object
		for _, c := range m.Parts {
			if c.Kind == message.ToolCall {
				calls = append(calls, object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": c.Args}})
			}
		}
		if calls != nil {
			o["tool_calls"] = calls
		}
		list = append(list, o)
	}
	r := object{"model": p.Model, "messages": list, "stream": p.Stream}
	if p.Stream {
		r["stream_options"] = object{"include_usage": true}
	}
	var tools []object
	for _, s := range p.Tools {
		tools = append(tools, object{"type": "function", "function": object{"name": s.Name, "parameters": s.Schema}})
	}
	if tools != nil {
		r["tools"] = tools
		if p.NoTools {
			r["tool_choice"] = "none"
		}
	}
	if p.SchemaName != "" {
		r["response_format"] = object{"type": "json_schema", "json_schema": object{"name": p.SchemaName, "schema": p.Schema}}
	}
	b, err := json.Marshal(r, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// postChat is a small client of the wire that reports failures as model.Error.
func postChat(t *testing.T, url string, body []byte) (*model.Reply, error) {
	t.Helper()
	resp, err := http.Post(url+"/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, &model.Error{Class: event.ClassNetwork, Err: err}
	}
	defer resp.Body.Close()
	data, readErr := io.ReadAll(resp.Body)
	var failure struct {
		Error apiError `json:"error"`
	}
	_ = json.Unmarshal(data, &failure)
	kind := resp.Header.Get("Content-Type")
	switch {
	case resp.StatusCode != http.StatusOK:
		var wait message.Count
		var ms int64
		if _, err := fmt.Sscan(resp.Header.Get("Retry-After-Ms"), &ms); err == nil {
			wait = message.Known(ms)
		}
		return nil, classified(resp.StatusCode, data, wait)
	case strings.HasPrefix(kind, "text/html"):
		return nil, &model.Error{Class: event.ClassBadReply, Status: 200}
	case failure.Error.Type != "":
		return nil, classified(0, data, 0)
	case kind == "application/json" && readErr == nil:
		return readWhole(t, data), nil
	case kind == "text/event-stream":
		return readStream(t, data)
	}
	return nil, &model.Error{Class: event.ClassIncomplete, Partial: string(data), Err: readErr}
}

func readWhole(t *testing.T, data []byte) *model.Reply {
	t.Helper()
	var r chatResponse
	if err := json.Unmarshal(data, &r, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("the body %s: %v", data, err)
	}
	return gather(&r, r.Choices[0].Message, *r.Choices[0].FinishReason)
}

func readStream(t *testing.T, data []byte) (*model.Reply, error) {
	t.Helper()
	whole := &chatOutput{}
	var last chatResponse
	var usage *chatUsage
	finish, done := "", false
	for line := range strings.SplitSeq(string(data), "\n") {
		payload, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		if done = payload == "[DONE]"; done {
			break
		}
		var failure struct {
			Error apiError `json:"error"`
		}
		if json.Unmarshal([]byte(payload), &failure) == nil && failure.Error.Type != "" {
			return nil, classified(0, []byte(payload), 0)
		}
		var chunk chatResponse
		if err := json.Unmarshal([]byte(payload), &chunk, json.RejectUnknownMembers(true)); err != nil {
			break // a line that was cut
		}
		if last = chunk; chunk.Usage != nil {
			usage = chunk.Usage
		}
		if len(chunk.Choices) == 0 {
			continue
		}
		d := chunk.Choices[0].Delta
		whole.ReasoningContent += d.ReasoningContent
		if d.Content != nil {
			if whole.Content == nil {
				whole.Content = new(string)
			}
			*whole.Content += *d.Content
		}
		for _, c := range d.ToolCalls {
			if *c.Index == len(whole.ToolCalls) {
				whole.ToolCalls = append(whole.ToolCalls, chatCallPart{ID: c.ID, Function: chatCallOutput{Name: c.Function.Name}})
			}
			whole.ToolCalls[*c.Index].Function.Arguments += c.Function.Arguments
		}
		if f := chunk.Choices[0].FinishReason; f != nil {
			finish = *f
		}
	}
	if finish == "" {
		partial := ""
		if whole.Content != nil {
			partial = *whole.Content
		}
		return nil, &model.Error{Class: event.ClassIncomplete, Partial: partial}
	}
	if !done {
		t.Errorf("the stream has no [DONE]: %s", data)
	}
	last.Usage = usage
	return gather(&last, whole, finish), nil
}

// gather makes a reply of what a response holds.
func gather(r *chatResponse, o *chatOutput, finish string) *model.Reply {
	reply := &model.Reply{RawFinish: finish, Finish: finishOf(finish), Model: r.Model, ID: r.ID}
	reply.Message.Role = message.Assistant
	if o.ReasoningContent != "" {
		reply.Message.Parts = append(reply.Message.Parts, message.Part{Kind: message.Reasoning, Text: o.ReasoningContent})
	}
	if o.Content != nil && *o.Content != "" {
		reply.Message.Parts = append(reply.Message.Parts, message.Part{Kind: message.Text, Text: *o.Content})
	}
	for _, c := range o.ToolCalls {
		reply.Message.Parts = append(reply.Message.Parts, message.Part{Kind: message.ToolCall, ID: c.ID, Name: c.Function.Name, Args: c.Function.Arguments})
	}
	if u := r.Usage; u != nil {
		set := func(dst *message.Count, n *int64) {
			if n != nil {
				*dst = message.Known(*n)
			}
		}
		set(&reply.Usage.Input, u.Prompt)
		set(&reply.Usage.Output, u.Completion)
		if u.InDetails != nil {
			set(&reply.Usage.Cached, u.InDetails.Cached)
		}
		if u.OutDetails != nil {
			set(&reply.Usage.Reasoning, u.OutDetails.Reasoning)
		}
	}
	return reply
}
