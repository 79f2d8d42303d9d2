package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"rein.example/rein/dialect"
)

// asText is a model that has no tool calls of its own: it writes them as text, in
// the form that it was asked for, over a server that knows nothing of them.
const asText = `
turns:
  - say: |
%s
    expect: {contains: [calculator, example_note is not one of your tools]}
  - say: |
%s
    expect: {contains: [calculator returned, "96"]}
  - say: It is 196.
    expect: {contains: ["196"]}
`

// A model that is asked for a dialect finishes a task with tools, whichever dialect
// that is. The server gets to see no tools and no roles but three, the user's and
// the model's in turn; and every request can be printed as it was sent.
func TestModelsWithoutToolCalls(t *testing.T) {
	for _, name := range dialect.Promptable() {
		t.Run(name, func(t *testing.T) {
			w, _ := dialect.WriterFor(name)
			says := func(before, expression string) string {
				text := w.Calls([]byte(before), []dialect.Call{{Name: "calculator", Args: fmt.Sprintf(`{"expression":%q}`, expression)}})
				return "      " + strings.ReplaceAll(string(text), "\n", "\n      ")
			}
			s, url := server(t, fmt.Sprintf(asText, says("I calculate.\n", "12*8"), says("", "96+100")))
			b := newBox(t)
			file := b.file("agent.yaml", "name: desk\nmodel: openai/any\nbase_url: "+url+"\ntools: [calculator]\npermissions: {allow: [effect:read]}\ncalls: {dialect: "+name+"}\n")
			var got resultObject
			if p := b.decode(&got, "run", "-f", file, "What is 12*8+100?"); p.code != 0 || got.Answer != "It is 196." || got.ToolCalls != 2 {
				t.Fatalf("exit %d, %+v\n%s", p.code, got, p.err)
			}
			bodies := s.Received()
			if len(bodies) != 4 {
				t.Fatalf("the server received %d requests", len(bodies))
			}
			for i, body := range bodies {
				if sent := b.ok(checkedLast("request", got.Run, i, len(bodies))...); sent != string(body) {
					t.Errorf("request %d is not what the server received:\n%s\n%s", i+1, sent, body)
				}
				plainConversation(t, body)
			}
			var r requested
			b.decode(&r, "request", got.Run, "--step", "3")
			if !r.Exact {
				t.Error("the last request cannot be made again")
			}
		})
	}
}

// checkedLast returns the command line about the i-th of n requests of a run: a step's
// each, but for the last, which is the completion check after the last step.
func checkedLast(command, run string, i, n int) []string {
	if i == n-1 {
		return []string{command, run, "--step", fmt.Sprint(i), "--purpose", "completion-check"}
	}
	return []string{command, run, "--step", fmt.Sprint(i + 1)}
}

// plainConversation checks that a body has no tools, calls or results but in words.
func plainConversation(t *testing.T, body []byte) {
	t.Helper()
	var r map[string]any
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	if r["tools"] != nil || r["tool_choice"] != nil {
		t.Errorf("the server was told of tools: %s", body)
	}
	want := "system"
	for _, m := range r["messages"].([]any) {
		m := m.(map[string]any)
		if m["role"] != want || m["tool_calls"] != nil {
			t.Errorf("a message is of %v, not of %s, in %s", m["role"], want, body)
		}
		if want = "user"; m["role"] == "user" {
			want = "assistant"
		}
	}
}

// The request after a call that did not fit its schema asks for calls that do; it
// and those around it can be printed as they were sent.
func TestStrictRequestIsWhatTheServerReceived(t *testing.T) {
	s, url := server(t, `
turns:
  - call: {name: calculator, arguments: {formula: 12*8}}
  - call: {name: calculator, arguments: {expression: 12*8}}
  - say: It is 96.
`)
	b := newBox(t)
	file := b.file("agent.yaml", "name: desk\nmodel: openai/any\nbase_url: "+url+"\ntools: [calculator]\npermissions: {allow: [effect:read]}\n")
	var got resultObject
	if p := b.decode(&got, "run", "-f", file, "What is 12*8?"); p.code != 0 || got.Answer != "It is 96." {
		t.Fatalf("exit %d, %+v\n%s", p.code, got, p.err)
	}
	bodies := s.Received()
	for i, body := range bodies {
		if sent := b.ok(checkedLast("request", got.Run, i, len(bodies))...); sent != string(body) {
			t.Errorf("step %d is not what the server received:\n%s\n%s", i+1, sent, body)
		}
		if form := strings.Contains(string(body), `"json_schema"`); form != (i == len(bodies)-1) {
			t.Errorf("request %d: the answer is to have a form: %v", i+1, form)
		}
		if strict := strings.Contains(string(body), `"strict":true}}`); strict != (i == 1) {
			t.Errorf("step %d: calls are held to their schema: %v", i+1, strict)
		}
	}
}
