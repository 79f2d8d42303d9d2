package script

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"rein.example/rein/message"
	"rein.example/rein/model"
)

// FuzzParse: no file makes Parse panic, every error is a ParseError, and what
// was read can be played.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for block := range strings.SplitSeq(string(text), "script\n") {
			script, _, _ := strings.Cut(block, "----")
			f.Add([]byte(script))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data)
		if err != nil {
			if e := (*ParseError)(nil); !errors.As(err, &e) || e.Message == "" {
				t.Fatalf("the error is %v (%T)", err, err)
			}
			return
		}
		c := New(s, nil)
		messages := []message.Message{message.NewText(message.User, "Go")}
		for range 5 {
			conv, _, err := decode(bytesOf(inProcess(c, &model.Params{}, messages)))
			if err != nil {
				t.Fatal(err)
			}
			conv.mayCall, conv.tools = true, []string{"a"}
			r, _, err := c.player.play(conv)
			if err != nil {
				return
			}
			if w := newWire(&chatRequest{Stream: true}, r, testTime); !utf8.Valid(bytes.Join(w.pieces, nil)) {
				t.Fatalf("the stream is not UTF-8: %q", w.pieces)
			}
			reply := message.Message{Role: message.Assistant, Parts: r.calls}
			messages = append(messages, reply)
			for _, call := range r.calls {
				messages = append(messages, message.Result(call.ID, call.Name, `{"time": 1}`, false))
			}
			if _, _, err := decode(bytesOf(inProcess(c, &model.Params{}, messages))); err != nil {
				return // ids that the script made equal
			}
		}
	})
}

// FuzzRequest: no body makes the server's reader panic, and what it takes has
// its calls and results in pairs.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(hello))
	f.Add([]byte(`{"model":"m","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":[{"type":"text","text":"b"}]}],"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"none"}`))
	f.Add([]byte(`{"model":"m","messages":[],"response_format":{"type":"json_schema"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		req, problem := readChat(body)
		if (req == nil) == (problem == nil) {
			t.Fatalf("request %v, problem %v", req, problem)
		}
		if problem != nil {
			if problem.Message == "" {
				t.Fatal("the problem says nothing")
			}
			return
		}
		open := 0
		for _, m := range req.conversation.messages {
			if m.role == message.Tool {
				open--
			} else if open != 0 {
				t.Fatalf("%d calls without a result", open)
			}
			open += len(m.calls)
		}
		if open != 0 {
			t.Fatalf("%d calls without a result", open)
		}
	})
}

var testTime = time.Unix(1_700_000_000, 0)
