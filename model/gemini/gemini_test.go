package gemini

import (
	"bytes"
	"context"
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

const key = "test-secret-0123456789abcdef"

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		o    Options
		says string
	}{
		{Options{}, "no model is named: write it as gemini/NAME"},
		{Options{Model: "m", BaseURL: "localhost:8080/v1"}, "must begin with http"},
		{Options{Model: "m", BaseURL: "http://x.test/%zz" + key}, "cannot be read"},
		{Options{Model: "m", Key: key + "\nX-Evil: 1"}, "check GEMINI_API_KEY"},
		{Options{Model: "m", Key: "ключ", Provider: "acme", KeyName: "ACME_KEY"}, "check ACME_KEY"},
		{Options{Model: "m", Quirks: &Quirks{Thinking: "hard"}}, "use one of level, budget, none"},
	} {
		_, err := New(c.o)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c.o, err)
		} else if strings.Contains(err.Error(), key) || strings.Contains(err.Error(), "ключ") {
			t.Errorf("the key shows: %v", err)
		}
	}
}

// The request on the wire is what the encoder wrote and nothing else. The
// address says which model, and how the reply is to come.
func TestRequestOnTheWire(t *testing.T) {
	for _, c := range []struct {
		model, base string
		stream      bool
		want        string
	}{
		{"gemini-3-flash", "/v1beta", false, "/v1beta/models/gemini-3-flash:generateContent"},
		{"gemini-3-flash", "/v1beta/models/", true, "/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse"},
		{"tunedModels/mine", "/v1beta?via=proxy", true, "/v1beta/tunedModels/mine:streamGenerateContent?alt=sse&via=proxy"},
		{"gemini-3-flash", "", false, "/models/gemini-3-flash:generateContent"},
	} {
		var got *http.Request
		var sent bytes.Buffer
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r.Clone(context.Background())
			io.Copy(&sent, r.Body)
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"candidates":[{"content":{"parts":[{"text":"ok"}]},"finishReason":"STOP"}]}`)
		}))
		client, err := New(Options{Model: c.model, BaseURL: s.URL + c.base, Key: " " + key + "\n", Header: http.Header{"x-title": {"Rein"}}})
		if err != nil {
			t.Fatal(err)
		}
		system, messages := conversation()
		p, e := params(), client.Encoder()
		req := &model.Request{Stream: c.stream, Body: [][]byte{e.Head(nil, p, system)}}
		var prev *message.Message
		for i := range messages {
			req.Body = append(req.Body, e.Message(nil, prev, &messages[i]))
			prev = &messages[i]
		}
		req.Body = append(req.Body, e.Close(nil, p, prev))
		if _, err := client.Call(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
		s.Close()
		if want := modeltest.Body(e, p, system, messages); !bytes.Equal(sent.Bytes(), want) {
			t.Errorf("sent %s\nwant %s", &sent, want)
		}
		if got.Method != "POST" || got.URL.String() != c.want || got.ContentLength != req.Bytes() {
			t.Errorf("%s %s, %d bytes, want %s", got.Method, got.URL, got.ContentLength, c.want)
		}
		for name, want := range map[string]string{"X-Goog-Api-Key": key, "Content-Type": "application/json", "X-Title": "Rein", "Authorization": ""} {
			if got.Header.Get(name) != want {
				t.Errorf("%s: %q", name, got.Header.Get(name))
			}
		}
	}
}

// Each error says what to do, and none shows a key.
func TestMessages(t *testing.T) {
	options := func(base string) Options {
		return Options{Model: "gemini-9", BaseURL: base + "/v1beta", Key: key}
	}
	modeltest.Advice(t, options, func(o Options) (model.Client, error) { return New(o) }, []string{key}, []modeltest.AdviceCase[Options]{
		{"wrong key", 400, fmt.Sprintf(`{"error":{"status":"INVALID_ARGUMENT","message":"API key not valid: %s."}}`, key), nil, event.ClassAuth, []string{"API key not valid: [key]; check GEMINI_API_KEY"}},
		{"no key sent", 403, `{"error":{"status":"PERMISSION_DENIED","message":"who are you?"}}`, func(o *Options) { o.Key = "" }, event.ClassAuth, []string{"who are you?; no key was sent: set GEMINI_API_KEY"}},
		{"no key, and nothing is sent", 500, ``, func(o *Options) { o.Key, o.BaseURL = "", "" }, event.ClassAuth, []string{"there is no key for https://generativelanguage.googleapis.com/v1beta: set GEMINI_API_KEY"}},
		{"model", 404, `{"error":{"status":"NOT_FOUND","message":"no such model"}}`, nil, event.ClassNotFound, []string{"no such model; check that http://", `has the model "gemini-9"`}},
		{"quota", 429, `{"error":{"status":"RESOURCE_EXHAUSTED","message":"out of money. limit: 0"}}`, nil, event.ClassQuota, []string{"waiting does not lift this"}},
		{"nobody there", 0, "", func(o *Options) { o.BaseURL = "http://127.0.0.1:1/v1?key=" + key }, event.ClassNetwork, []string{"nothing answers at http://127.0.0.1:1: is the server running there?"}},
	})
}

// What comes is told as it comes, and only for showing.
func TestDeltas(t *testing.T) {
	modeltest.Deltas(t, factory, "testdata/replies/thoughts-then-call.http",
		model.Delta{Reasoning: "**Looking it up**\n\nThe user wants "}, model.Delta{Reasoning: "the stock.\n"}, model.Delta{Text: "Let me look."}, model.Delta{Call: "get_stock"})
}

func TestInfo(t *testing.T) {
	price := &model.Price{Input: 1}
	c, err := New(Options{Model: "gemini-3-flash", Window: 8, MaxOutput: 4, Price: price, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	want := model.Info{Provider: "gemini", Model: "gemini-3-flash", Window: 8, MaxOutput: 4, Price: price, OwnCalls: true}
	if c.Info() != want || c.Check() != nil || c.Encoder().Version() != "gemini/1" {
		t.Errorf("got %+v, %v", c.Info(), c.Check())
	}
}
