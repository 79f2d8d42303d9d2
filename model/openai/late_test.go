package openai

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/model"
	"rein.example/rein/model/modeltest"
)

// Some servers go on after the finish_reason. What has come then is only a
// complete reply once [DONE] has come, or the body has ended in order.
func TestMoreAfterTheFinish(t *testing.T) {
	text, more := delta(`{"content":"one"}`), delta(`{"content":", two"}`)
	call := delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`)
	usage := `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}`
	fault := `{"error":{"message":"the server is gone","type":"server_error"}}`
	const broken, clean, stall = "broken", "clean", "stall"
	for _, c := range []struct {
		name   string
		events []string
		end    string
		want   string // the text of the reply, or the error's class
	}{
		{"nothing more", []string{text, stop}, broken, "one"},
		{"usage", []string{text, stop, usage}, broken, "one"},
		{"an empty delta", []string{text, stop, delta(`{"role":"assistant","content":""}`)}, broken, "one"},
		{"nothing more, and an error", []string{text, stop, fault}, clean, "one"},
		{"text, and the connection breaks", []string{text, stop, more}, broken, "incomplete"},
		{"text, usage, and the connection breaks", []string{text, stop, more, usage}, broken, "incomplete"},
		{"text and a second finish_reason, and the connection breaks", []string{text, stop, more, stop}, broken, "incomplete"},
		{"text, and the body ends", []string{text, stop, more}, clean, "one, two"},
		{"text, and [DONE]", []string{text, stop, more, "[DONE]"}, broken, "one, two"},
		{"text, and the body ends in the middle of an event", []string{text, stop, more, more[:len(more)-9]}, clean, "incomplete"},
		{"text, and half of [DONE]", []string{text, stop, more, "[DO"}, clean, "one, two"},
		{"text, and an error", []string{text, stop, more, fault}, clean, "server"},
		{"text, and no JSON", []string{text, stop, more, "nonsense }"}, clean, "bad_reply"},
		{"text, and silence", []string{text, stop, more}, stall, "timeout"},
		{"a call, and the connection breaks", []string{text, stop, call}, broken, "incomplete"},
		{"a call, and the body ends", []string{text, stop, call}, clean, "one +call"},
		{"a refusal, and the connection breaks", []string{text, stop, delta(`{"refusal":"no"}`)}, broken, "incomplete"},
		{"reasoning, and the connection breaks", []string{text, stop, delta(`{"reasoning":"hm"}`)}, broken, "incomplete"},
		{"a signature, and the connection breaks", []string{text, stop, delta(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}`)}, broken, "incomplete"},
		{"text, and the same again with every finish_reason", []string{strings.Replace(text, "null", `"stop"`, 1), strings.Replace(more, "null", `"stop"`, 1)}, clean, "one, two"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				body := "data: " + strings.Join(c.events, "\n\ndata: ")
				if last := c.events[len(c.events)-1]; strings.HasSuffix(last, "}") || last == "[DONE]" {
					body += "\n\n"
				}
				r := modeltest.Recording{Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: []byte(body), Stream: true}
				plan := modeltest.Plan{Cut: len(body) + 1, Clean: c.end == clean, Stall: c.end == stall}
				client, err := factory(modeltest.Play(&r, plan), "http://model.test/v1")
				if err != nil {
					t.Fatal(err)
				}
				begin := time.Now()
				reply, err := client.Call(t.Context(), &model.Request{Stream: true, Idle: time.Minute}, nil)
				got := ""
				if e := (*model.Error)(nil); errors.As(err, &e) {
					got = string(e.Class)
					if e.Partial != "one, two" && e.Partial != "one" {
						t.Errorf("partial %q", e.Partial)
					}
				} else {
					got = reply.Message.PlainText()
					if reply.Message.Calls() > 0 {
						got += " +call"
					}
					if want := event.FinishStop; reply.Message.Calls() == 0 && reply.Finish != want {
						t.Errorf("finish %s", reply.Finish)
					}
				}
				if got != c.want {
					t.Errorf("got %q (%v), want %q", got, err, c.want)
				}
				// While it goes on, the server has its usual time.
				if took := time.Since(begin); (c.end == stall) != (took == time.Minute) {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// A reply that is too much of what it should be is not blamed on the base URL.
func TestTooMuch(t *testing.T) {
	one := `{"id":"","function":{"name":"f","arguments":"{}"}}`
	for _, c := range []struct{ body, want string }{
		{delta(`{"tool_calls":[` + one + strings.Repeat(","+one, maxCalls) + `]}`), "the reply has more than 256 tool calls"},
		{delta(`{"reasoning_details":[` + strings.Repeat(`{},`, maxDetails) + `{}]}`), "the reply has more than 4096 reasoning details"},
	} {
		r := modeltest.Recording{Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: []byte("data: " + c.body + "\n\n"), Stream: true}
		client, err := factory(modeltest.Play(&r, modeltest.Plan{}), "http://model.test/v1")
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Call(t.Context(), &model.Request{Stream: true}, nil)
		if e := (*model.Error)(nil); !errors.As(err, &e) || e.Class != event.ClassBadReply || e.Code != event.CodeReplyLimit || e.Message != c.want {
			t.Errorf("got %.200v, want %s", err, c.want)
		}
	}
}
