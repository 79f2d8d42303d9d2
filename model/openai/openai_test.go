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
	"time"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/modeltest"
)

const key = "sk-secret-0123456789abcdef"

// record answers with one response and keeps the request.
func record(t *testing.T, status int, contentType, body string) (url string, got *http.Request, sent *bytes.Buffer) {
	t.Helper()
	got, sent = &http.Request{}, &bytes.Buffer{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*got = *r.Clone(context.Background())
		io.Copy(sent, r.Body)
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL, got, sent
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		o    Options
		says string
	}{
		{Options{}, "no model is named"},
		{Options{Model: "m", Provider: "acme"}, "set base_url"},
		{Options{Model: "m", BaseURL: "localhost:8080/v1"}, "must begin with http"},
		{Options{Model: "m", BaseURL: "http:///v1"}, "names no host"},
		{Options{Model: "m", BaseURL: "http://me:" + key + "@x.test/v1"}, "holds a user or password"},
		{Options{Model: "m", BaseURL: "http://x.test/%zz" + key}, "cannot be read"},
		{Options{Model: "m", Key: key + "\nX-Evil: 1"}, "check OPENAI_API_KEY"},
		{Options{Model: "m", Key: "ключ", Provider: "acme", BaseURL: "http://x.test", KeyName: "ACME_KEY"}, "check ACME_KEY"},
		{Options{Model: "m", Quirks: &Quirks{Reasoning: "thoughts"}}, "use one of reasoning_content, reasoning"},
	} {
		_, err := New(c.o)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c.o, err)
		} else if strings.Contains(err.Error(), key) || strings.Contains(err.Error(), "ключ") {
			t.Errorf("the key shows: %v", err)
		}
	}
}

// The request on the wire is what the encoder wrote and nothing else.
func TestRequestOnTheWire(t *testing.T) {
	url, got, sent := record(t, 200, "application/json", `{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`)
	c, err := New(Options{Model: "acme-1", Provider: "acme", BaseURL: url + "/v1/chat/completions?api-version=1", Key: " " + key + "\n", Header: http.Header{"x-title": {"Rein"}}})
	if err != nil {
		t.Fatal(err)
	}
	system, messages := conversation()
	p := params()
	p.Stream = false
	e := c.Encoder()
	req := &model.Request{Body: [][]byte{e.Head(nil, p, system)}}
	var prev *message.Message
	for i := range messages {
		req.Body = append(req.Body, e.Message(nil, prev, &messages[i]))
		prev = &messages[i]
	}
	req.Body = append(req.Body, e.Close(nil, p, prev))
	if _, err := c.Call(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	if want := modeltest.Body(e, p, system, messages); !bytes.Equal(sent.Bytes(), want) || req.Bytes() != int64(len(want)) {
		t.Errorf("sent %s\nwant %s", sent, want)
	}
	if got.Method != "POST" || got.URL.String() != "/v1/chat/completions?api-version=1" || got.ContentLength != req.Bytes() {
		t.Errorf("%s %s, %d bytes", got.Method, got.URL, got.ContentLength)
	}
	for name, want := range map[string]string{"Authorization": "Bearer " + key, "Content-Type": "application/json", "X-Title": "Rein", "Accept": "application/json"} {
		if got.Header.Get(name) != want {
			t.Errorf("%s: %q", name, got.Header.Get(name))
		}
	}
}

// Each error says what to do, and none shows a key.
func TestMessages(t *testing.T) {
	echo := fmt.Sprintf(`{"error":{"message":"Incorrect API key provided: %s. Also hdr-secret-1.","code":"invalid_api_key"}}`, key)
	options := func(base string) Options {
		return Options{Model: "acme-1", BaseURL: base + "/v1", Key: key, Header: http.Header{"Api-Key": {"hdr-secret-1"}}}
	}
	modeltest.Advice(t, options, func(o Options) (model.Client, error) { return New(o) }, []string{key, "hdr-secret-1"}, []modeltest.AdviceCase[Options]{
		{"wrong key", 401, echo, nil, event.ClassAuth, []string{"Incorrect API key provided: [key]. Also [key]", "check OPENAI_API_KEY"}},
		{"no key sent", 401, `{"error":"who are you?"}`, func(o *Options) { o.Key, o.Header = "", nil }, event.ClassAuth, []string{"who are you?; no key was sent: set OPENAI_API_KEY"}},
		{"unknown provider's key", 403, `{}`, func(o *Options) { o.Provider, o.KeyName = "acme", "" }, event.ClassAuth, []string{"check the provider's key"}},
		{"no key, and nothing is sent", 500, ``, func(o *Options) { o.Key, o.Header, o.BaseURL = "", nil, "" }, event.ClassAuth, []string{"there is no key for https://api.openai.com/v1: set OPENAI_API_KEY"}},
		{"model", 404, `{"error":{"message":"no such model"}}`, nil, event.ClassNotFound, []string{"no such model; check that http://", `has the model "acme-1"`}},
		{"path", 404, "404 page not found\n", nil, event.ClassNotFound, []string{"404 page not found", "base URL"}},
		{"quota", 429, `{"error":{"message":"out of money","code":"insufficient_quota"}}`, nil, event.ClassQuota, []string{"waiting does not lift this"}},
		{"web page", 200, "<html>sign in</html>", nil, event.ClassBadReply, []string{"<html>sign in</html>", "base URL"}},
		{"redirect", 307, "", func(o *Options) { o.BaseURL += "/redirect" }, event.ClassNotFound, []string{"redirects to https://elsewhere.test/x, which is not followed"}},
		{"nobody there", 0, "", func(o *Options) { o.BaseURL = "http://127.0.0.1:1/v1?api-key=" + key }, event.ClassNetwork, []string{"nothing answers at http://127.0.0.1:1: is the server running there?"}},
	})
}

// What comes is told as it comes, and only for showing.
func TestDeltas(t *testing.T) {
	modeltest.Deltas(t, factory, "testdata/replies/deepseek-reasoning-call.http",
		model.Delta{Reasoning: "The user wants "}, model.Delta{Reasoning: "the stock."}, model.Delta{Text: "Let me look."}, model.Delta{Call: "get_stock"})
}

func TestCancelledBeforeTheCall(t *testing.T) {
	url, got, _ := record(t, 200, "application/json", "{}")
	c, err := New(Options{Model: "m", BaseURL: url, Provider: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("no longer wanted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	_, err = c.Call(ctx, &model.Request{}, nil)
	if e := (*model.Error)(nil); !errors.As(err, &e) || e.Class != event.ClassCancelled || !errors.Is(err, why) || got.Method != "" {
		t.Errorf("got %v after request %q", err, got.Method)
	}
}

func TestInfo(t *testing.T) {
	price := &model.Price{Input: 1}
	c, err := New(Options{Model: "m", Provider: "acme", BaseURL: "http://x.test/v1/", Window: 8, MaxOutput: 4, Price: price, Quirks: &Quirks{NoParallelCalls: true}, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	want := model.Info{Provider: "acme", Model: "m", Window: 8, MaxOutput: 4, Price: price, NoParallelCalls: true}
	if c.Info() != want || c.url != "http://x.test/v1/chat/completions" || c.Check() != nil {
		t.Errorf("got %+v, %s, %v", c.Info(), c.url, c.Check())
	}
}
