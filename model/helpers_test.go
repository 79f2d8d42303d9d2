package model

import (
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		status int
		header map[string]string
		want   message.Count
	}{
		{"absent is unknown", 429, nil, 0},
		{"seconds", 429, map[string]string{"Retry-After": "20"}, message.Known(20_000)},
		{"zero is known", 429, map[string]string{"Retry-After": "0"}, message.Known(0)},
		{"decimals are rounded up", 429, map[string]string{"Retry-After": "1.0001"}, message.Known(1001)},
		{"leading point", 429, map[string]string{"Retry-After": ".5"}, message.Known(500)},
		{"date", 503, map[string]string{"Retry-After": "Sun, 01 Mar 2026 12:00:30 GMT"}, message.Known(30_000)},
		{"date against the server's own clock", 503, map[string]string{"Retry-After": "Sun, 01 Mar 2026 15:00:30 GMT", "Date": "Sun, 01 Mar 2026 15:00:00 GMT"}, message.Known(30_000)},
		{"date that has passed", 503, map[string]string{"Retry-After": "Sun, 01 Mar 2026 11:00:00 GMT"}, message.Known(0)},
		{"milliseconds go first", 429, map[string]string{"Retry-After-Ms": "1500.2", "Retry-After": "2"}, message.Known(1501)},
		{"nonsense", 429, map[string]string{"Retry-After": "soon"}, 0},
		{"negative", 429, map[string]string{"Retry-After": "-5"}, 0},
		{"a point only", 429, map[string]string{"Retry-After": "."}, 0},
		{"more than an integer holds", 429, map[string]string{"Retry-After": strings.Repeat("9", 40)}, message.Known(maxWait)},
		{"a day too far", 429, map[string]string{"Retry-After": "99999999"}, message.Known(maxWait)},
		{"resets of what is used up", 429, map[string]string{
			"X-Ratelimit-Reset-Requests": "1s", "X-Ratelimit-Remaining-Requests": "10",
			"X-Ratelimit-Reset-Tokens": "1m2.5s", "X-Ratelimit-Remaining-Tokens": "0"}, message.Known(62_500)},
		{"the longest of several", 429, map[string]string{"X-Ratelimit-Reset-Requests": "120ms", "X-Ratelimit-Reset-Tokens": "7.66s"}, message.Known(7660)},
		{"microseconds are rounded up", 429, map[string]string{"X-Ratelimit-Reset-Requests": "120.1ms"}, message.Known(121)},
		{"Unix seconds", 429, map[string]string{"X-Ratelimit-Reset": "1772366410"}, message.Known(10_000)},
		{"Unix milliseconds", 429, map[string]string{"X-Ratelimit-Reset": "1772366410000"}, message.Known(10_000)},
		{"RFC 3339", 429, map[string]string{"Anthropic-Ratelimit-Tokens-Reset": "2026-03-01T12:01:00Z", "Anthropic-Ratelimit-Tokens-Remaining": "0"}, message.Known(60_000)},
		{"resets mean nothing with other faults", 500, map[string]string{"X-Ratelimit-Reset-Tokens": "1m"}, 0},
		{"but Retry-After does", 500, map[string]string{"Retry-After": "1"}, message.Known(1000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := http.Header{}
			for k, v := range c.header {
				h.Set(k, v)
			}
			if got := RetryAfter(c.status, h, now); got != c.want {
				t.Errorf("got %d, want %d", got-1, c.want-1)
			}
		})
	}
}

// FuzzRetryAfter holds that no header makes a wait negative or endless.
func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"1", "1.5", "-1", "9e9", "1m", "-5h", "Sun, 01 Mar 2026 12:00:30 GMT", "2026-03-01T12:01:00Z", "1772366410000", "99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, name := range []string{"Retry-After", "Retry-After-Ms", "X-Ratelimit-Reset"} {
			if ms, ok := RetryAfter(429, http.Header{name: {s}}, time.Unix(0, 0)).Get(); ok && (ms < 0 || ms > maxWait) {
				t.Errorf("%s: %q: %d ms", name, s, ms)
			}
		}
	})
}

func TestStatusClass(t *testing.T) {
	for status, want := range map[int]event.ErrorClass{
		204: event.ClassBadReply, 307: event.ClassNotFound,
		400: event.ClassBadRequest, 401: event.ClassAuth, 402: event.ClassQuota, 403: event.ClassAuth, 404: event.ClassNotFound,
		408: event.ClassTimeout, 409: event.ClassServer, 413: event.ClassOverflow, 422: event.ClassBadRequest, 429: event.ClassRate,
		500: event.ClassServer, 501: event.ClassBadRequest, 502: event.ClassServer, 503: event.ClassServer, 504: event.ClassTimeout, 529: event.ClassServer,
	} {
		if got := StatusClass(status); got != want {
			t.Errorf("%d is %s, want %s", status, got, want)
		}
	}
}

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("a", 199) + "é" + "tail"
	for in, want := range map[string]string{
		"":                           "",
		" <html>\r\n\t<body>\x00hi ": "<html> <body> hi",
		"\xff\xfe":                   "\ufffd",
		long:                         strings.Repeat("a", 199) + "…",
	} {
		if got := Excerpt([]byte(in)); got != want || !utf8.ValidString(got) {
			t.Errorf("%q: got %q", in, got)
		}
	}
}

func TestRedact(t *testing.T) {
	e := &Error{Message: "bad key sk-12345678, really sk-12345678; and short abc", Code: "sk-12345678"}
	e.Redact("sk-12345678", "abc", "")
	if e.Message != "bad key [key], really [key]; and short abc" || e.Code != "[key]" {
		t.Errorf("got %q, %q", e.Message, e.Code)
	}
}

func TestResolve(t *testing.T) {
	load := func(r message.Ref) ([]byte, error) {
		if r.SHA256 == "gone" {
			return nil, errors.New("no such body")
		}
		return []byte("body of " + r.SHA256), nil
	}
	m := message.Message{Role: message.User, Parts: []message.Part{
		{Kind: message.Text, Text: "see"},
		{Kind: message.Text, Ref: &message.Ref{SHA256: "t"}},
		{Kind: message.Image, MediaType: "image/png", Ref: &message.Ref{SHA256: "i"}},
		{Kind: message.Image, URL: "https://x.test/a.png", Ref: &message.Ref{SHA256: "gone"}},
		{Kind: message.Reasoning, Ref: &message.Ref{SHA256: "r"}},
	}}
	before := append([]message.Part(nil), m.Parts...)
	got, err := Resolve(m, load)
	if err != nil {
		t.Fatal(err)
	}
	if got.Parts[1].Text != "body of t" || got.Parts[2].URL != "data:image/png;base64,Ym9keSBvZiBp" || got.Parts[3].URL != "https://x.test/a.png" || got.Parts[4].Text != "body of r" {
		t.Errorf("got %+v", got.Parts)
	}
	if !reflect.DeepEqual(m.Parts, before) {
		t.Error("the message itself was changed")
	}
	m.Parts[2].Ref.SHA256 = "gone"
	if _, err := Resolve(m, load); err == nil || !strings.Contains(err.Error(), "part 2 of a user message") {
		t.Errorf("got %v", err)
	}
}
