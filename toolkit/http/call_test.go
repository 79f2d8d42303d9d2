package http

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// call makes a configured request.
func call(t *testing.T, c Call) tool.Tool {
	t.Helper()
	c.AllowPrivate = true
	if c.Name == "" {
		c.Name = "send"
	}
	c.Doc.What = "Sends."
	x, err := NewCall(&c)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// A request is made of its template: what is secret and what is configured wins, and
// values lead to no other place.
func TestRequest(t *testing.T) {
	var got string
	here := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = fmt.Sprintf("%s %s %s|%s|%s|%s", r.Method, r.RequestURI, body, r.Header.Get("X-Tenant"), r.Header.Get("Authorization"), r.Header.Get("Idempotency-Key"))
		fmt.Fprint(w, `{"ok":true}`)
	})
	get := call(t, Call{
		URL: here + "/v1/orders/{id}?view=full&q={words}", Auth: Auth{Header: http.Header{"Authorization": {"Bearer token-123456"}}, Query: url.Values{"api_key": {"k/1"}}},
		Params: map[string]Param{"words": {Optional: true}, "tags": {Type: "list", Optional: true}, "tenant": {In: "header", As: "X-Tenant", Optional: true}},
	})
	post := call(t, Call{
		Method: "POST", URL: here + "/v1/orders/{id}/lines",
		Params: map[string]Param{"count": {Type: "integer"}, "note": {Optional: true}},
	})
	for _, c := range []struct {
		tool tool.Tool
		args args
		want string
	}{
		{get, args{"id": "7"}, "GET /v1/orders/7?view=full&api_key=k%2F1 ||Bearer token-123456|"},
		{get, args{"id": "a/b c?d#e", "words": "x&y=z", "tags": []string{"p", "q,r"}, "tenant": "north"}, "GET /v1/orders/a%2Fb%20c%3Fd%23e?view=full&tags=p&tags=q%2Cr&q=x%26y%3Dz&api_key=k%2F1 |north|Bearer token-123456|"},
		{post, args{"id": "7", "count": 3}, `POST /v1/orders/7/lines {"count":3}|||key-1`},
	} {
		text, r, e := run(t, c.tool, c.args)
		if e != nil || got != c.want {
			t.Errorf("%+v\n%s\nwant\n%s", e, got, c.want)
		} else if text != `{"ok":true}` || string(r.Value) != text {
			t.Errorf("result %q", text)
		}
	}
	got = ""
	for _, id := range []string{"", ".", "..", "../..", `..\x`, "a/../b", "%2e%2E", "a\x00b", "a\nb"} {
		if _, _, e := run(t, get, args{"id": id}); e == nil || e.Type != typeInvalid || !e.NoEffect || got != "" {
			t.Errorf("%q: %+v, %s", id, e, got)
		}
	}
	if _, _, e := run(t, get, args{"id": "7", "tenant": "a\r\nX-Other: b"}); e == nil || e.Type != typeInvalid || got != "" {
		t.Errorf("%+v, %s", e, got)
	}
}

// What statuses mean, by what the request may change.
func TestStatuses(t *testing.T) {
	status := 0
	here := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "3")
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		if status != 204 && status != 304 {
			fmt.Fprintf(w, "the token is token-123456")
		}
	})
	secrets := event.NewSecrets()
	if err := secrets.Hide("DESK_TOKEN", "token-123456"); err != nil {
		t.Fatal(err)
	}
	tools := map[event.Effect]tool.Tool{}
	for effect, method := range map[event.Effect]string{event.Repeatable: "PUT", event.Once: "POST"} {
		tools[effect] = call(t, Call{Method: method, URL: here + "/x", Secrets: secrets})
	}
	tools[event.Read] = call(t, Call{URL: here + "/x", Secrets: secrets, Success: []int{200, 404}})
	for _, c := range []struct {
		status int
		effect event.Effect
		want   string // the error's type, and the words retryable, no-effect, unknown
	}{
		{200, event.Once, "success"},
		{202, event.Once, "success"},
		{204, event.Repeatable, "success"},
		{404, event.Read, "success"},
		{204, event.Read, "server_error retryable"}, // not among its successes
		{400, event.Once, "rejected no-effect"},
		{401, event.Read, "unauthorized no-effect"},
		{403, event.Once, "unauthorized no-effect"},
		{404, event.Once, "not_found no-effect"},
		{409, event.Once, "conflict"},
		{422, event.Repeatable, "rejected no-effect"},
		{429, event.Once, "rate_limited retryable no-effect"},
		{408, event.Once, "server_error unknown"},
		{500, event.Read, "server_error retryable"},
		{500, event.Repeatable, "server_error retryable unknown"},
		{502, event.Once, "server_error unknown"},
		{503, event.Once, "server_error unknown"},
		{501, event.Once, "server_error no-effect"},
		{303, event.Once, "redirected unknown"},
		{307, event.Once, "redirected no-effect"},
		{308, event.Repeatable, "redirected no-effect"},
	} {
		status = c.status
		_, _, e := run(t, tools[c.effect], args{})
		got := "success"
		if e != nil {
			got = e.Type
			for _, w := range []struct {
				is   bool
				word string
			}{{e.Retryable, " retryable"}, {e.NoEffect, " no-effect"}, {e.Unknown, " unknown"}} {
				if w.is {
					got += w.word
				}
			}
			if strings.Contains(e.Message, "token-123456") || c.status != 204 && !strings.Contains(e.Message, "{{secret:DESK_TOKEN}}") || e.RetryAfter != 3*time.Second {
				t.Errorf("%d %s: %+v", c.status, c.effect, e)
			}
		}
		if got != c.want {
			t.Errorf("%d %s: %s, want %s", c.status, c.effect, got, c.want)
		}
	}
}

// What writes reaches the server once, though package net/http would send a request
// with an idempotency key again when a connection breaks that was used before. What
// was cut off is of unknown outcome; the next try has the same key.
func TestWriteIsSentOnce(t *testing.T) {
	var mu sync.Mutex // a request that is cut off may still be handled
	var keys []string
	seen := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(keys)
	}
	here := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		keys = append(keys, r.Header.Get(KeyHeader))
		n := len(keys)
		mu.Unlock()
		if n%2 == 0 {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, "done")
	})
	for effect, method := range map[event.Effect]string{event.Once: "POST", event.Repeatable: "DELETE"} {
		mu.Lock()
		keys = nil
		mu.Unlock()
		x := call(t, Call{Method: method, URL: here + "/x"})
		if _, _, e := run(t, x, args{}); e != nil { // leaves a used connection, if any
			t.Fatal(e)
		}
		_, _, e := run(t, x, args{})
		if e == nil || e.Type != tool.TypeConnection || !e.Unknown || e.NoEffect || e.Retryable != (effect == event.Repeatable) {
			t.Errorf("%s: %+v", method, e)
		}
		if n := len(seen()); n != 2 {
			t.Errorf("%s: two calls were sent %d times", method, n)
		}
		if _, _, e := run(t, x, args{}); e != nil || fmt.Sprint(seen()) != "[key-1 key-1 key-1]" {
			t.Errorf("%s: %+v, keys %v", method, e, seen())
		}
	}
}

// A time that is over after a write was sent leaves its outcome to the harness, which
// calls it unknown; before anything was sent it is proven to have had no effect.
func TestTimeouts(t *testing.T) {
	release := make(chan struct{})
	got := make(chan struct{}, 1)
	here := serve(t, func(w http.ResponseWriter, r *http.Request) { got <- struct{}{}; <-release })
	t.Cleanup(func() { close(release) })
	x := call(t, Call{Method: "POST", URL: here + "/x"})
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-got; cancel(nil) }()
	if _, err := x.Run(ctx, &tool.Call{Args: jsontext.Value(`{}`), Key: "k"}); !errors.Is(err, context.Canceled) {
		t.Errorf("after sending: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, _, e := runIn(t, ctx, x, args{}); e == nil || !e.NoEffect || e.Unknown {
		t.Errorf("before sending: %+v", e)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	x = call(t, Call{Method: "POST", URL: "http://" + l.Addr().String() + "/x"})
	if _, _, e := run(t, x, args{}); e == nil || !e.NoEffect || !e.Retryable || e.Type != tool.TypeConnection {
		t.Errorf("nobody listens: %+v", e)
	}
}

// An answer that breaks off after a success: a read is asked for again, a write is
// done all the same.
func TestCutAnswers(t *testing.T) {
	here := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, `{"id":`)
	})
	if _, _, e := run(t, call(t, Call{URL: here + "/x"}), args{}); e == nil || e.Type != tool.TypeConnection || !e.Retryable {
		t.Errorf("%+v", e)
	}
	text, _, e := run(t, call(t, Call{Method: "POST", URL: here + "/x"}), args{})
	if e != nil || !strings.HasPrefix(text, "send succeeded.") || !strings.Contains(text, "not kept: what follows the first 6 bytes") {
		t.Errorf("%q, %+v", text, e)
	}
}

// A request can answer whether something was done, as confirm tools do.
func TestConfirms(t *testing.T) {
	status := 200
	here := serve(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(status) })
	x := call(t, Call{URL: here + "/{idempotency_key}", Done: []int{200}, NotDone: []int{404}})
	for s, want := range map[int]string{200: `{"done":true}`, 404: `{"done":false}`} {
		status = s
		if _, r, e := run(t, x, args{"idempotency_key": "k"}); e != nil || string(r.Value) != want {
			t.Errorf("%d: %+v, %+v", s, r, e)
		}
	}
	status = 500
	if _, _, e := run(t, x, args{"idempotency_key": "k"}); e == nil {
		t.Error("500 answers")
	}
}

// Descriptions that are wrong are refused when the agent starts.
func TestCallMistakes(t *testing.T) {
	doc := tool.Doc{What: "x"}
	for _, c := range []struct {
		call Call
		want string
	}{
		{Call{Name: "x", URL: "https://a.example/"}, "does not say what it does"},
		{Call{Name: "x", Doc: doc, URL: "https://{host}.example/"}, "cannot stand in the host"},
		{Call{Name: "x", Doc: doc, URL: "a.example/x"}, "https://host/path"},
		{Call{Name: "x", Doc: doc, URL: "https://a.example/{a}/{a}"}, "the same parameter twice"},
		{Call{Name: "x", Doc: doc, URL: "https://a.example/?q=a{b}"}, "a whole value"},
		{Call{Name: "x", Doc: doc, URL: "https://a.example/{b"}, "the form {name}"},
		{Call{Name: "x", Doc: doc, URL: "https://a.example/../b"}, ". or .."},
		{Call{Name: "x", Doc: doc, URL: "https://a.example/#b"}, "fragment"},
		{Call{Name: "x", Doc: doc, URL: "https://a:b@a.example/"}, "a user"},
		{Call{Name: "x y", Doc: doc, URL: "https://a.example/"}, "tool name"},
		{Call{Name: "x", Doc: doc, Method: "TRACE", URL: "https://a.example/"}, "the method"},
		{Call{Name: "x", Doc: doc, URL: "https://a.example/", Params: map[string]Param{"b": {In: "body"}}}, "no body"},
		{Call{Name: "x", Doc: doc, URL: "https://a.example/", Params: map[string]Param{"b": {In: "path"}}}, "no {b} there"},
		{Call{Name: "x", Doc: doc, URL: "https://a.example/{b}", Params: map[string]Param{"b": {In: "query"}}}, "in its path"},
		{Call{Name: "x", Doc: doc, URL: "https://a.example/{b}", Params: map[string]Param{"b": {Optional: true}}}, "cannot be optional"},
		{Call{Name: "x", Doc: doc, URL: "https://a.example/", Params: map[string]Param{"b": {In: "header", As: "Authorization"}}}, "cannot be a parameter"},
		{Call{Name: "x", Doc: doc, URL: "https://a.example/", Params: map[string]Param{"b": {Type: "date"}}}, "the type"},
		{Call{Name: "x", Doc: doc, URL: "https://a.example/", Params: map[string]Param{"b": {Type: "integer", Enum: []string{"1"}}}}, "enum and pattern"},
		{Call{Name: "x", Doc: doc, Method: "POST", URL: "https://a.example/", Done: []int{200}}, "only reads"},
		{Call{Name: "x", Doc: doc, URL: "https://a.example/", Header: http.Header{"Host": {"b.example"}}}, "cannot be set"},
		{Call{Name: "x", Doc: doc, URL: "https://a.example/", Header: http.Header{"X-A": {"b\r\nX-B: c"}}}, "control characters"},
		{Call{Name: "x", Doc: doc, URL: "https://a.example/", KeyHeader: "Connection"}, "cannot carry"},
		{Call{Name: "x", Doc: doc, URL: "https://a.example/", Success: []int{99}}, "the status 99"},
	} {
		if _, err := NewCall(&c.call); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.call, err)
		}
	}
}

// FuzzTemplate: whatever a template is and whatever stands in its holes, the request
// goes to the template's host, below the fixed beginning of its path.
func FuzzTemplate(f *testing.F) {
	for _, s := range [][2]string{
		{"https://a.example/x/{id}/y?q={q}", "7"}, {"https://a.example/x/{a}{b}", ".."}, {"http://a.example:81/%41/{a}", "a/b%2f\x00"}, {"https://a.example", ""},
		{"https://a.example/x/{a}", "//evil.example/"}, {"https://a.example/x/p{a}", "\\..\\"}, {"https://a.example/{a}?{b}=c", "@"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		p, err := parseTemplate(text)
		if err != nil {
			return
		}
		u, err := p.fill(func(string) string { return value })
		if err != nil {
			return
		}
		again, err := url.Parse(u.String())
		if err != nil {
			t.Fatalf("%q with %q: %v", text, value, err)
		}
		if again.Host != p.base.Host || again.Scheme != p.base.Scheme || again.RawQuery != "" || again.Fragment != "" || again.User != nil {
			t.Errorf("%q with %q leads to %s", text, value, again)
		}
		if n := strings.Count(again.EscapedPath(), "/"); n != len(p.path) {
			t.Errorf("%q with %q has the path %s", text, value, again.EscapedPath())
		}
		for _, s := range strings.Split(again.Path, "/") {
			if s == ".." && len(p.holes()) > 0 {
				t.Errorf("%q with %q leads up: %s", text, value, again.Path)
			}
		}
	})
}
