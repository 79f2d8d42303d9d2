package anthropic

import (
	"bytes"
	"context"
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

const key = "sk-ant-secret-0123456789abcdef"

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

const ok = `{"type":"message","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn"}`

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		o    Options
		says string
	}{
		{Options{}, "no model is named"},
		{Options{Model: "m", Provider: "acme"}, "set base_url"},
		{Options{Model: "m", BaseURL: "localhost:8080"}, "must begin with http"},
		{Options{Model: "m", BaseURL: "http://me:" + key + "@x.test"}, "holds a user or password"},
		{Options{Model: "m", BaseURL: "http://x.test/%zz" + key}, "cannot be read"},
		{Options{Model: "m", Key: key + "\nX-Evil: 1"}, "check ANTHROPIC_API_KEY"},
		{Options{Model: "m", Key: "ключ", Provider: "acme", BaseURL: "http://x.test", KeyName: "ACME_KEY"}, "check ACME_KEY"},
		{Options{Model: "m", APIVersion: "2023 06"}, "no API version or beta"},
		{Options{Model: "m", Betas: []string{"a\r\nb"}}, "no API version or beta"},
		{Options{Model: "m", Header: http.Header{"anthropic-beta": {"a,,b"}}}, "no API version or beta"},
		{Options{Model: "m", Quirks: &Quirks{Thinking: "deep"}}, "use one of adaptive, budget, none"},
		{Options{Model: "m", Quirks: &Quirks{CacheTTL: "2h"}}, "use one of 5m, 1h"},
		{Options{Model: "m", Quirks: &Quirks{Schema: "xml"}}, "use one of json_schema, none"},
		{Options{Model: "m", Quirks: &Quirks{MaxTokens: -1}}, "0 for unknown"},
		{Options{Model: "m", Quirks: &Quirks{BoundThinking: true}}, "goes with thinking"},
	} {
		_, err := New(c.o)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c.o, err)
		} else if strings.Contains(err.Error(), key) || strings.Contains(err.Error(), "ключ") {
			t.Errorf("the key shows: %v", err)
		}
	}
}

// What is known of models by their names.
func TestQuirksOf(t *testing.T) {
	first := Quirks{Thinking: "none", Schema: "none"}
	four := Quirks{Schema: "none"}
	last := Quirks{Thinking: "adaptive", NoSampling: true, BoundThinking: true}
	free := Quirks{Thinking: "adaptive", NoSampling: true}
	for name, want := range map[string]Quirks{
		"claude-2.1": first, "claude-3-haiku-20240307": first, "claude-3-5-sonnet-latest": first,
		"claude-3-7-sonnet-20250219": four, "claude-opus-4-20250514": four, "claude-opus-4-1": four, "claude-sonnet-4@20250514": four,
		"claude-opus-4-5-20251101": {}, "us.anthropic.claude-sonnet-4-5-20250929-v1:0": {}, "anthropic/claude-haiku-4.5": {},
		"claude-opus-4-6": {Thinking: "adaptive"}, "anthropic.claude-opus-4-6-v1": {Thinking: "adaptive"}, "Claude-Sonnet-4-6": {Thinking: "adaptive"},
		"claude-opus-4-7": free, "claude-opus-4-8-20260528": free, "claude-opus-5": free, "claude-sonnet-5": free, "claude-fable-5": free, "claude-mythos-preview": free,
		"claude-opus-5-5": last, "claude-fable-5-1": last, "claude-haiku-5-5-20261007": last, "claude-opus-6": last, "claude-sonnet-12-1": last,
		"kimi-k2": {Schema: "none"}, "MiniMax-M2": {Schema: "none"}, "": {Schema: "none"},
	} {
		if got := QuirksOf(name); got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
		if q := QuirksOf(name); q.check() != nil {
			t.Errorf("%s: %v", name, q.check())
		}
	}
}

// The request on the wire is what the encoder wrote and nothing else.
func TestRequestOnTheWire(t *testing.T) {
	for _, c := range []struct {
		name, path, want string
		set              func(*Options)
		headers          map[string]string
	}{
		{"plain", "", "/v1/messages", nil, map[string]string{"Anthropic-Beta": ""}},
		{"ends in /v1", "/v1/", "/v1/messages", nil, nil},
		{"whole endpoint, below a path, with a query", "/anthropic/v1/messages?beta=true", "/anthropic/v1/messages?beta=true", nil, nil},
		{"betas", "", "/v1/messages", func(o *Options) {
			o.Betas = []string{"a-2025"}
			o.Header = http.Header{"anthropic-beta": {"b-2025, c-2025"}, "x-title": {"Rein"}}
		}, map[string]string{"Anthropic-Beta": "a-2025,b-2025,c-2025", "X-Title": "Rein"}},
		{"bound thinking needs a beta", "", "/v1/messages", func(o *Options) { o.Model, o.Betas = "claude-opus-5-5", []string{"a-2025"} }, map[string]string{"Anthropic-Beta": "a-2025," + bindingBeta}},
		{"version", "", "/v1/messages", func(o *Options) { o.APIVersion = "2026-10-21" }, map[string]string{"Anthropic-Version": "2026-10-21"}},
		{"bearer", "", "/v1/messages", func(o *Options) { o.Key, o.Header = "", http.Header{"Authorization": {"Bearer t"}} }, map[string]string{"X-Api-Key": "", "Authorization": "Bearer t"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, got, sent := record(t, 200, "application/json", ok)
			o := Options{Model: "claude-sonnet-4-5", BaseURL: url + c.path, Key: " " + key + "\n"}
			if c.set != nil {
				c.set(&o)
			}
			client, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			system, messages := conversation()
			p := params()
			p.Stream = false
			e := client.Encoder()
			req := &model.Request{Body: [][]byte{e.Head(nil, p, system)}}
			var prev *message.Message
			for i := range messages {
				req.Body = append(req.Body, e.Message(nil, prev, &messages[i]))
				prev = &messages[i]
			}
			req.Body = append(req.Body, e.Close(nil, p, prev))
			if _, err := client.Call(t.Context(), req, nil); err != nil {
				t.Fatal(err)
			}
			if want := modeltest.Body(e, p, system, messages); !bytes.Equal(sent.Bytes(), want) || req.Bytes() != int64(len(want)) {
				t.Errorf("sent %s\nwant %s", sent, want)
			}
			if got.Method != "POST" || got.URL.String() != c.want || got.ContentLength != req.Bytes() {
				t.Errorf("%s %s, %d bytes", got.Method, got.URL, got.ContentLength)
			}
			headers := map[string]string{"X-Api-Key": key, "Anthropic-Version": "2023-06-01", "Content-Type": "application/json", "Accept": "application/json", "Authorization": ""}
			for name, value := range c.headers {
				headers[name] = value
			}
			for name, want := range headers {
				if s := got.Header.Get(name); s != want {
					t.Errorf("%s: %q, want %q", name, s, want)
				}
			}
		})
	}
}

// Options become quirks unless these are given.
func TestQuirksOfClient(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want Quirks
	}{
		{Options{Model: "claude-opus-4-6", MaxOutput: 128_000}, Quirks{Thinking: "adaptive", MaxTokens: 128_000}},
		{Options{Model: "claude-opus-4-6", APIVersion: "2026-10-21"}, Quirks{Thinking: "adaptive", NoSampling: true}},
		{Options{Model: "claude-opus-4-6", APIVersion: "2026-10-21", MaxOutput: 5, Quirks: &Quirks{NoCache: true}}, Quirks{NoCache: true}},
	} {
		client, err := New(c.o)
		if err != nil {
			t.Fatal(err)
		}
		if client.encoder.quirks != c.want {
			t.Errorf("%+v: got %+v", c.o, client.encoder.quirks)
		}
	}
	for most, want := range map[int64]string{0: `"max_tokens":128000,`, 1000: `"max_tokens":1000,`, 200_000: `"max_tokens":128000,`} {
		client, err := New(Options{Model: "claude-opus-4-6", MaxOutput: 128_000})
		if err != nil {
			t.Fatal(err)
		}
		if head := string(client.Encoder().Head(nil, &model.Params{MaxOutput: most}, nil)); !strings.Contains(head, want) {
			t.Errorf("a reply of %d: %s", most, head)
		}
	}
}

// Each error says what to do, and none shows a key.
func TestMessages(t *testing.T) {
	echo := fmt.Sprintf(`{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key: %s. Also hdr-secret-1."}}`, key)
	options := func(base string) Options {
		return Options{Model: "claude-sonnet-4-5", BaseURL: base, Key: key, Header: http.Header{"X-Gateway-Key": {"hdr-secret-1"}}}
	}
	modeltest.Advice(t, options, func(o Options) (model.Client, error) { return New(o) }, []string{key, "hdr-secret-1"}, []modeltest.AdviceCase[Options]{
		{"wrong key", 401, echo, nil, event.ClassAuth, []string{"invalid x-api-key: [key]. Also [key]", "check ANTHROPIC_API_KEY"}},
		{"no key sent", 401, `{"error":"who are you?"}`, func(o *Options) { o.Key, o.Header = "", nil }, event.ClassAuth, []string{"who are you?; no key was sent: set ANTHROPIC_API_KEY"}},
		{"unknown provider's key", 403, `{}`, func(o *Options) { o.Provider, o.KeyName = "acme", "" }, event.ClassAuth, []string{"check the provider's key"}},
		{"no key, and nothing is sent", 500, ``, func(o *Options) { o.Key, o.Header, o.BaseURL = "", nil, "" }, event.ClassAuth, []string{"there is no key for https://api.anthropic.com: set ANTHROPIC_API_KEY"}},
		{"model", 404, `{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}`, nil, event.ClassNotFound, []string{"model: claude-9; check that http://", `has the model "claude-sonnet-4-5"`}},
		{"quota", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}`, nil, event.ClassQuota, []string{"waiting does not lift this"}},
		{"web page", 200, "<html>sign in</html>", nil, event.ClassBadReply, []string{"<html>sign in</html>", "base URL"}},
		{"redirect", 307, "", func(o *Options) { o.BaseURL += "/redirect" }, event.ClassNotFound, []string{"redirects to https://elsewhere.test/x, which is not followed"}},
		{"the version may be named", 400, `{"error":{"type":"invalid_request_error","message":"anthropic-version: 2023-06-01 is not valid"}}`, nil, event.ClassBadRequest, []string{"2023-06-01 is not valid"}},
		{"nobody there", 0, "", func(o *Options) { o.BaseURL = "http://127.0.0.1:1/v1?api-key=" + key }, event.ClassNetwork, []string{"nothing answers at http://127.0.0.1:1: is the server running there?"}},
	})
}

// What comes is told as it comes, and only for showing.
func TestDeltas(t *testing.T) {
	modeltest.Deltas(t, factory, "testdata/replies/thinking-call.http",
		model.Delta{Reasoning: "The stock decides. "}, model.Delta{Reasoning: "I \"look\" \u2028 first."}, model.Delta{Text: "Let me look."}, model.Delta{Call: "get_stock"})
}

func TestInfo(t *testing.T) {
	price := &model.Price{Input: 1}
	c, err := New(Options{Model: "m", Provider: "acme", BaseURL: "http://x.test/v1/", Window: 8, MaxOutput: 4, Price: price, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	want := model.Info{Provider: "acme", Model: "m", Window: 8, MaxOutput: 4, Price: price}
	if c.Info() != want || c.url != "http://x.test/v1/messages" || c.Check() != nil {
		t.Errorf("got %+v, %s, %v", c.Info(), c.url, c.Check())
	}
}
