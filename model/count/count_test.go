package count

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rein.example/rein/tokens"
)

var _ tokens.Measurer = (*Counter)(nil)

// words is what the servers here count: words, and more for the framing.
func words(text string) int { return len(strings.Fields(text)) }

// replies are how each server answers, given the words.
var replies = map[Server]func(n int) string{
	LlamaCpp:  func(n int) string { return `{"tokens":[` + strings.TrimSuffix(strings.Repeat("7,", n), ",") + `]}` },
	VLLM:      func(n int) string { return fmt.Sprintf(`{"count":%d,"max_model_len":4096,"tokens":[1]}`, n) },
	Anthropic: func(n int) string { return fmt.Sprintf(`{"input_tokens":%d}`, n+7) },
	Gemini:    func(n int) string { return fmt.Sprintf(`{"totalTokens":%d,"promptTokensDetails":[]}`, n+1) },
}

// requests are what each server is sent.
var requests = map[Server]struct{ path, header, body string }{
	LlamaCpp:  {"/tokenize", "Authorization: Bearer secret-key", `{"content":"one two three","add_special":false,"parse_special":false}`},
	VLLM:      {"/tokenize", "Authorization: Bearer secret-key", `{"model":"m","prompt":"one two three","add_special_tokens":false}`},
	Anthropic: {"/v1/messages/count_tokens", "X-Api-Key: secret-key", `{"model":"m","messages":[{"role":"user","content":"one two three"}]}`},
	Gemini:    {"/v1beta/models/m:countTokens", "X-Goog-Api-Key: secret-key", `{"contents":[{"role":"user","parts":[{"text":"one two three"}]}]}`},
}

// bases are ways to write where each server is.
var bases = map[Server][]string{
	LlamaCpp: {"", "/", "/v1", "/v1/chat/completions"}, VLLM: {"/v1"}, Anthropic: {"", "/v1", "/v1/messages"}, Gemini: {"/v1beta", "/v1beta/models"},
}

// textOf returns the text that a request is about.
func textOf(t testing.TB, body []byte) string {
	var r struct {
		Content  string
		Prompt   string
		Messages []struct{ Content string }
		Contents []struct{ Parts []struct{ Text string } }
	}
	if err := json.Unmarshal(body, &r); err != nil {
		t.Error(err)
	}
	for _, m := range r.Messages {
		return m.Content
	}
	for _, c := range r.Contents {
		return c.Parts[0].Text
	}
	return r.Content + r.Prompt
}

func TestServers(t *testing.T) {
	for kind, want := range requests {
		t.Run(string(kind), func(t *testing.T) {
			var asked atomic.Int64
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				if name, value, _ := strings.Cut(want.header, ": "); r.Header.Get(name) != value || r.Method != http.MethodPost {
					t.Errorf("%s with %v", r.Method, r.Header)
				}
				if r.URL.Path != want.path || r.URL.RawQuery != "tenant=x" {
					t.Errorf("asked at %s", r.URL)
				}
				text := textOf(t, body)
				if text == "one two three" && string(body) != want.body {
					t.Errorf("sent %s, want %s", body, want.body)
				}
				fmt.Fprint(w, replies[kind](words(text)))
			}))
			defer srv.Close()
			for _, base := range bases[kind] {
				c, err := New(Options{Server: kind, Model: "m", BaseURL: srv.URL + base + "?tenant=x", Key: "secret-key"})
				if err != nil {
					t.Fatal(err)
				}
				for range 2 { // the second time it is known
					if n, method := c.Measure("one two three"); n != 3 || method != tokens.Exact {
						t.Errorf("%d tokens (%s), want 3 (exact): %v", n, method, c.Err())
					}
				}
			}
			// Those that count messages are first asked what a message is by itself.
			want := len(bases[kind])
			if endpoints[kind].framed {
				want *= 2
			}
			if int(asked.Load()) != want {
				t.Errorf("asked %d times, want %d", asked.Load(), want)
			}
		})
	}
}

// transport is a server without a network: synctest's clock stands still while one waits
// for the network.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func respond(status int, body string) (*http.Response, error) {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

func fake(t *testing.T, o Options, f transport) *Counter {
	t.Helper()
	o.Model, o.Key = "m", "secret-key"
	if o.Server == "" {
		o.Server = LlamaCpp
	}
	o.HTTPClient = &http.Client{Transport: f}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Whatever is wrong, there is a figure, and it says that it is an estimate.
func TestServerFails(t *testing.T) {
	const text = "The ferry to the island leaves at nine."
	estimate := tokens.Estimate{}.Count(text)
	for name, f := range map[string]transport{
		"an error":          func(*http.Request) (*http.Response, error) { return respond(500, "secret-key is broken") },
		"a wrong key":       func(*http.Request) (*http.Response, error) { return respond(401, `{"error":"secret-key?"}`) },
		"no such path":      func(*http.Request) (*http.Response, error) { return respond(404, "") },
		"no connection":     func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") },
		"no JSON":           func(*http.Request) (*http.Response, error) { return respond(200, "<html>") },
		"no count":          func(*http.Request) (*http.Response, error) { return respond(200, `{"count":3}`) },
		"a text":            func(*http.Request) (*http.Response, error) { return respond(200, `{"tokens":"3"}`) },
		"less than nothing": func(*http.Request) (*http.Response, error) { return respond(200, `{"tokens":-3}`) },
		"an absurd count":   func(*http.Request) (*http.Response, error) { return respond(200, `{"tokens":9999999999999}`) },
		"half a reply":      func(*http.Request) (*http.Response, error) { return respond(200, `{"tokens":[1,2`) },
		"an endless reply": func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(endless{})}, nil
		},
	} {
		c := fake(t, Options{}, f)
		if n, method := c.Measure(text); n != estimate || method != tokens.Estimated {
			t.Errorf("%s: %d tokens (%s), want %d (estimated)", name, n, method, estimate)
		}
		if err := c.Err(); err == nil || strings.Contains(err.Error(), "secret-key") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

// A server that says nothing is waited for once, then left alone for longer and longer.
func TestSilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, dead := 0, true
		c := fake(t, Options{Timeout: 2 * time.Second}, func(r *http.Request) (*http.Response, error) {
			asked++
			if dead {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return respond(200, `{"tokens":[1,2]}`)
		})
		start := time.Now()
		for i := range 100 {
			c.Count(fmt.Sprint("text ", i))
		}
		if waited := time.Since(start); asked != 1 || waited != 2*time.Second {
			t.Errorf("asked %d times, and waited %v", asked, waited)
		}
		time.Sleep(firstPause)
		c.Count("again")
		time.Sleep(firstPause) // half of what it is by now
		c.Count("and again")
		if asked != 2 {
			t.Errorf("asked %d times, want 2", asked)
		}
		dead = false
		time.Sleep(firstPause)
		if n, method := c.Measure("back to life"); n != 2 || method != tokens.Exact || c.Err() != nil {
			t.Errorf("%d tokens (%s): %v", n, method, c.Err())
		}
		c.Count("another text")
		if asked != 4 {
			t.Errorf("asked %d times, want 4", asked)
		}
	})
}

// What a server asks to wait, and what it will never do, are honoured.
func TestPause(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		header string
		wait   time.Duration // after which it is asked again
	}{
		"a fault that passes":      {503, "", firstPause},
		"a rate limit that says":   {429, "60", time.Minute},
		"a rate limit that is mad": {429, "999999", mostPause},
		"no such path":             {404, "", mostPause},
		"a wrong key":              {403, "", mostPause},
		"a text that it refuses":   {400, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				counter := fake(t, Options{}, func(*http.Request) (*http.Response, error) {
					asked++
					r, err := respond(c.status, "no")
					if c.header != "" {
						r.Header.Set("Retry-After", c.header)
					}
					return r, err
				})
				counter.Count("one")
				time.Sleep(c.wait - time.Nanosecond)
				counter.Count("two")
				before := asked
				time.Sleep(time.Nanosecond)
				counter.Count("three")
				if want := 1; c.wait == 0 && before != 2 || c.wait > 0 && before != want || asked != before+1 {
					t.Errorf("asked %d times before %v, and %d in all", before, c.wait, asked)
				}
			})
		})
	}
}

// The oldest count is forgotten.
func TestRemember(t *testing.T) {
	asked := ""
	c := fake(t, Options{Remember: 2}, func(r *http.Request) (*http.Response, error) {
		body, _ := io.ReadAll(r.Body)
		asked += textOf(t, body)
		return respond(200, `{"tokens":[1]}`)
	})
	for _, text := range strings.Split("abbacabb", "") {
		c.Count(text)
	}
	if asked != "abcab" {
		t.Errorf("asked for %s", asked)
	}
}

// Texts that are not worth the way are estimated, corrected by what the server says of
// those that are.
func TestAtLeast(t *testing.T) {
	long, asked := strings.Repeat("It rains again, and the ferry is late. ", 20), 0
	c := fake(t, Options{AtLeast: 100}, func(*http.Request) (*http.Response, error) {
		asked++
		return respond(200, fmt.Sprintf(`{"tokens":%d}`, 13*tokens.Estimate{}.Count(long)/10))
	})
	const short = "It rains, and the ferry is late."
	if n, method := c.Measure(short); n != 9 || method != tokens.Estimated {
		t.Errorf("before: %d tokens (%s)", n, method)
	}
	c.Count(long)
	c.Count(long + " ")
	if n, method := c.Measure(short); n != 12 || method != tokens.Calibrated || asked != 2 {
		t.Errorf("after: %d tokens (%s), asked %d times", n, method, asked)
	}
}

// What vendors refuse, and nobody need ask, is not sent.
func TestNotSent(t *testing.T) {
	c := fake(t, Options{Server: Anthropic}, func(*http.Request) (*http.Response, error) {
		t.Error("asked")
		return respond(500, "")
	})
	if n, method := c.Measure(" \n\t"); n < 1 || n > 3 || method != tokens.Estimated {
		t.Errorf("white space: %d tokens (%s)", n, method)
	}
	if n, method := c.Measure(""); n != 0 || method != tokens.Exact {
		t.Errorf("nothing: %d tokens (%s)", n, method)
	}
	if n, method := c.Measure(strings.Repeat("a", MaxText+1)); n < 1 || method != tokens.Estimated {
		t.Errorf("too much: %d tokens (%s)", n, method)
	}
}

func TestNewRefuses(t *testing.T) {
	for name, o := range map[string]Options{
		"no server":        {Model: "m"},
		"an unknown one":   {Server: "abacus", Model: "m"},
		"no model":         {Server: LlamaCpp},
		"no URL":           {Server: LlamaCpp, Model: "m", BaseURL: "here"},
		"a key with lines": {Server: LlamaCpp, Model: "m", Key: "secret\nkey"},
	} {
		if _, err := New(o); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	c := fake(t, Options{Server: Gemini, Remember: 3}, func(*http.Request) (*http.Response, error) { return respond(200, `{"totalTokens":2}`) })
	done := make(chan bool)
	for i := range 8 {
		go func() {
			for j := range 50 {
				c.Measure(fmt.Sprint(i, " text ", j%5))
			}
			done <- true
		}()
	}
	for range 8 {
		<-done
	}
	if len(c.remembered) > 3 || len(c.order) > 3 {
		t.Errorf("%d counts are kept", len(c.remembered))
	}
}

// FuzzReadCount holds that a reply is a count in range or an error.
func FuzzReadCount(f *testing.F) {
	for _, reply := range replies {
		f.Add(reply(3))
	}
	f.Add(`{"tokens":[{"id":1,"piece":"a"},{"id":2,"piece":[195]}]}`)
	f.Add(`{"tokens":1e3}`)
	f.Add("{\"tokens\":null,\"\xff\":0}")
	f.Fuzz(func(t *testing.T, reply string) {
		n, err := readCount(strings.NewReader(reply), "tokens")
		if n < 0 || n > mostTokens || err != nil && n != 0 {
			t.Fatalf("%d, %v", n, err)
		}
	})
}
