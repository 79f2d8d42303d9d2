package modeltest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/internal/sse"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// recorded are the faults that users of other clients reported of servers, and that
// have another shape on each wire: the recording that a wire names for one must give
// what is wanted.
var recorded = []struct {
	// name is what goes wrong, and comes of it elsewhere.
	name string
	// want is how the formatted reply begins, also what it holds further on.
	want, also string
}{
	{"a failure in mid-stream is taken for what its status of 200 says", "error server", "status 200"},
	{"a failure that matches no event is passed over", "error server", ""},
	{"a failure in another vendor's form is passed over", "error ", ""},
	{"a failure after the end spoils the reply", "finish stop", ""},
	{"an orderly end of the connection is taken for that of the reply", "error incomplete", ""},
	{"an end that does not say how it ended is taken for a good one", "error incomplete", ""},
	{"a state that is no success is taken for one", "finish length", ""},
	{"a reason to end that is not known is taken for a good one", "finish error", ""},
	{"a reason to end with a text behind it is taken for a good one", "finish error", ""},
	{"a call that the server could not read is taken for an answer", "finish error", ""},
	{"a cut after the reason makes clients ask again for ever", "finish stop", ""},
	{"a call that the length has cut off is mended and run", "finish length", "call "},
	{"two calls at one index become one", "finish tool_calls", "call c2 get_time"},
	{"usage of null at first counts as 0", "finish stop", "usage input"},
	{"usage that is not given counts as 0", "finish stop", "usage unknown"},
	{"usage that grows from event to event is added up", "finish ", "usage input"},
	{"a prompt that was refused is an empty answer", "finish content_filter", ""},
}

// faults plays what servers and what stands between do wrong, over real
// connections: what was reported of each wire, and what can happen to all of them
// alike.
func (w *Wire) faults(t *testing.T) {
	for _, f := range recorded {
		t.Run(f.name, func(t *testing.T) {
			name := w.Faults[f.name]
			switch {
			case name == "":
				t.Fatal("the wire names no recording of it, and does not say why it cannot happen")
			case strings.Contains(name, " "):
				t.Skip(name)
			}
			r := w.recording(t, name)
			reply, err := w.served(t, Serve(t, r, Plan{}), r.Stream)
			if got := Format(reply, err); !strings.HasPrefix(got, f.want) || !strings.Contains(got, f.also) {
				t.Errorf("%s.http gives\n%s", name, got)
			}
		})
	}
	for name := range w.Faults {
		known := false
		for _, f := range recorded {
			known = known || f.name == name
		}
		if !known {
			t.Errorf("%q is none of the faults", name)
		}
	}
	t.Run("form of the stream", w.forms)
	t.Run("refusals", w.refusals)
	t.Run("pages", w.pages)
	t.Run("lines", w.lines)
	t.Run("silence", w.silence)
	t.Run("signs of life", w.signsOfLife)
	t.Run("connections", w.connections)
	t.Run("connections that stay", w.reuse)
}

// served asks a server, with a client of its own.
func (w *Wire) served(t *testing.T, s *httptest.Server, stream bool) (*model.Reply, error) {
	t.Helper()
	hc := model.NewHTTPClient()
	t.Cleanup(hc.CloseIdleConnections)
	return call(t.Context(), w.New, hc, s.URL+"/v1", stream, nil)
}

// hello are the events of a reply that is nothing but a text.
func (w *Wire) hello() []string { return w.Say(message.Text, `"Hel"`, `"lo."`) }

// wantHello checks that a call gave the reply of hello.
func wantHello(t *testing.T, reply *model.Reply, err error) {
	t.Helper()
	if err != nil || reply.Message.PlainText() != "Hello." || reply.Finish != event.FinishStop {
		t.Errorf("got %s", Format(reply, err))
	}
}

// forms are the ways in which servers and proxies write a stream of events, and
// what they put into it.
func (w *Wire) forms(t *testing.T) {
	plain := strings.Join(w.hello(), "\n\n") + "\n\n"
	for _, c := range []struct{ name, body string }{
		{"as it should be", plain},
		{"CRLF", strings.ReplaceAll(plain, "\n", "\r\n")},
		{"CR alone", strings.ReplaceAll(plain, "\n", "\r")},
		{"data: without a space", strings.ReplaceAll(plain, "data: ", "data:")},
		{"without the names of events", withoutNames(plain)},
		{"a byte order mark", "\ufeff" + plain},
		{"without the last empty line", strings.TrimRight(plain, "\n")},
		{"comments, and fields that mean nothing here", ": hello\n\nretry: 10\n" + strings.ReplaceAll(plain, "\n\n", "\n\n: PROCESSING\n\nid: 7\n: PROCESSING\n")},
		{"empty lines before it, while a request waits its turn", strings.Repeat("\n", 100) + plain},
		{"null between the events", strings.ReplaceAll(plain, "\n\n", "\n\ndata: null\n\n")},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := streamOf(c.body)
			for _, p := range []Plan{{}, {Bytewise: true}} {
				reply, err := w.served(t, Serve(t, &r, p), true)
				wantHello(t, reply, err)
			}
		})
	}
	for _, payload := range w.Empty {
		t.Run("an event that says nothing: "+payload, func(t *testing.T) {
			r := streamOf(strings.ReplaceAll(plain, "\n\n", "\n\ndata: "+payload+"\n\n"))
			reply, err := w.served(t, Serve(t, &r, Plan{}), true)
			wantHello(t, reply, err)
		})
	}
	t.Run("nothing said", func(t *testing.T) { // an answer that is empty, and not none
		reply, err := w.served(t, Serve(t, stream(w.Say(message.Text)), Plan{}), true)
		if err != nil || reply.Finish != event.FinishStop || len(reply.Message.Parts) != 0 {
			t.Errorf("got %s", Format(reply, err))
		}
	})
	t.Run("line ends of other alphabets", func(t *testing.T) {
		const text = "a\u2028b\u2029c\u0085d"
		reply, err := w.served(t, Serve(t, stream(w.Say(message.Text, quoted(text))), Plan{}), true)
		if err != nil || reply.Message.PlainText() != text {
			t.Errorf("got %s", Format(reply, err))
		}
	})
}

// withoutNames leaves the names of events out.
func withoutNames(body string) string {
	var b strings.Builder
	for line := range strings.Lines(body) {
		if !strings.HasPrefix(line, "event:") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// refusals are replies whose status is an error, in the form that gateways give
// them whatever stands behind.
func (w *Wire) refusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		header http.Header
		body   string
		want   string // how the formatted error begins
		also   string
	}{
		{"the wait in seconds", 429, http.Header{"Retry-After": {"20"}}, `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`, "error rate_limit\nstatus 429\n", "retry after 20000 ms\n"},
		{"the wait with a fraction", 429, http.Header{"Retry-After": {"0.0015"}}, `{"error":{"message":"slow down"}}`, "error rate_limit\n", "retry after 2 ms\n"},
		{"the wait in milliseconds", 429, http.Header{"Retry-After-Ms": {"1500"}, "Retry-After": {"2"}}, `{}`, "error rate_limit\n", "retry after 1500 ms\n"},
		{"the wait as a date", 503, http.Header{"Retry-After": {"Sun, 01 Mar 2026 12:00:30 GMT"}, "Date": {"Sun, 01 Mar 2026 12:00:00 GMT"}}, `overloaded`, "error server\nstatus 503\n", "retry after 30000 ms\n"},
		{"no wait, and not 0", 429, nil, `{"error":{"message":"slow down"}}`, "error rate_limit\n", "usage unknown"},
		{"no money, under the status of a limit that passes", 429, http.Header{"Retry-After": {"1"}}, `{"error":{"message":"You have no credits left","code":"insufficient_quota"}}`, "error quota\n", "waiting does not lift this"},
		{"a bill", 402, nil, `{"error":{"message":"pay first"}}`, "error quota\n", ""},
		{"a bill that waiting pays", 402, http.Header{"Retry-After": {"5"}}, `{"error":{"message":"wait for the next hour"}}`, "error rate_limit\n", "retry after 5000 ms\n"},
		{"a request that is too long, in words that nobody knows", 400, nil, `{"error":{"message":"Input length 131393 exceeds the maximum allowed input length of 131040 tokens."}}`, "error context_overflow\nstatus 400\n", "asked 131393 tokens of 131040\n"},
		{"a request that is too long, in words that are known", 400, nil, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 9500 tokens (5500 in the messages, 4000 in the completion)."}}`, "error context_overflow\n", "asked 9500 tokens of 8192\n"},
		{"a request that is too long, by numbers alone", 400, nil, `{"error":{"message":"too much","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}`, "error context_overflow\n", "asked 9000 tokens of 4096\n"},
		{"a request that is too long for a proxy", 413, http.Header{"Content-Type": {"text/html"}}, "<html><h1>413 Request Entity Too Large</h1></html>", "error context_overflow\n", "413 Request Entity Too Large"},
		{"a gateway's page", 502, http.Header{"Content-Type": {"text/html"}}, "<html>\n<h1>502 Bad Gateway</h1></html>", "error server\nstatus 502\n", "502 Bad Gateway"},
		{"a page that is too long to be shown", 500, nil, strings.Repeat("x", 3000), "error server\n", strings.Repeat("x", 200) + "…\n"},
		{"nothing", 504, nil, "", "error timeout\nstatus 504\n", ""},
		{"an error cut off", 500, nil, `{"error":{"message":"the server had an er`, "error server\n", ""},
		{"a prompt that a filter refuses", 400, nil, `{"error":{"message":"The prompt was filtered.","type":null,"code":"content_filter","status":400}}`, "finish content_filter (\"content_filter\")\n", "text \"The prompt was filtered.\"\n"},
		{"a wrong key", 401, nil, `{"error":{"message":"who are you?"}}`, "error auth\n", "check "},
		{"a wrong model", 404, nil, `{"error":{"message":"there is no such model"}}`, "error not_found\n", "base URL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Recording{Status: c.status, Header: c.header, Body: []byte(c.body)}
			for _, stream := range []bool{true, false} {
				reply, err := w.served(t, Serve(t, &r, Plan{}), stream)
				if got := Format(reply, err); !strings.HasPrefix(got, c.want) || !strings.Contains(got, c.also) {
					t.Errorf("stream %v: got\n%s", stream, got)
				}
			}
		})
	}
}

// pages are what comes with status 200 and is no reply: it says so, with the
// beginning of what came, and does not go on.
func (w *Wire) pages(t *testing.T) {
	const page = "<!DOCTYPE html><html><title>Sign in</title></html>"
	for _, c := range []struct{ name, kind, body, want string }{
		{"a web page", "text/html; charset=utf-8", page, "error bad_reply\nstatus 200\n"},
		{"a web page that says it is JSON", "application/json", page, "error bad_reply\n"},
		{"a web page that says it is a stream", "text/event-stream", page, "error bad_reply\n"},
		{"a text", "text/plain", "404 page not found\n", "error bad_reply\n"},
		{"other JSON", "application/json", `{"hello":"world"}`, "error bad_reply\n"},
		{"a list", "application/json", `["hello"]`, "error bad_reply\n"},
		{"nothing", "application/json", "", "error incomplete\n"},
		{"a stream of nothing", "text/event-stream", "", "error incomplete\n"},
		{"a stream of comments", "text/event-stream", ": ping\n\n: ping\n\n", "error incomplete\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Recording{Status: 200, Header: http.Header{"Content-Type": {c.kind}}, Body: []byte(c.body)}
			for _, stream := range []bool{true, false} {
				reply, err := w.served(t, Serve(t, &r, Plan{}), stream)
				if got := Format(reply, err); !strings.HasPrefix(got, c.want) || len(got) > 700 {
					t.Errorf("stream %v: got\n%s", stream, got)
				}
			}
		})
	}
}

// lines are longer than readers of lines usually take, and longer than this one
// does.
func (w *Wire) lines(t *testing.T) {
	long := strings.Repeat("a long line ", 100_000)
	reply, err := w.served(t, Serve(t, stream(w.Say(message.Text, quoted(long))), Plan{}), true)
	if err != nil || reply.Message.PlainText() != long {
		t.Errorf("a line of %d bytes: %.300s", len(long), Format(reply, err))
	}
	endless := streamOf("data: {" + strings.Repeat(" ", sse.MaxSize))
	reply, err = w.served(t, Serve(t, &endless, Plan{}), true)
	if got := Format(reply, err); !strings.HasPrefix(got, "error bad_reply\n") || !strings.Contains(got, fmt.Sprint("longer than ", sse.MaxSize, " bytes")) && len(got) > 700 {
		t.Errorf("a line without an end: %.700s", got)
	}
}

// silence is a connection that stays open, and on which nothing comes any more.
func (w *Wire) silence(t *testing.T) {
	r := stream(w.hello())
	for _, c := range []struct {
		name   string
		server *httptest.Server
	}{
		{"before the headers", httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // or the end of the connection is not seen
			<-r.Context().Done()
		}))},
		{"after the headers", Serve(t, r, Plan{Cut: 1, Stall: true})},
		{"in the middle", Serve(t, r, Plan{Cut: len(r.Body) / 2, Stall: true})},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer c.server.Close()
			hc := model.NewHTTPClient()
			defer hc.CloseIdleConnections()
			client, err := w.New(hc, c.server.URL+"/v1")
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.Call(t.Context(), &model.Request{Body: [][]byte{[]byte("{}")}, Stream: true, Idle: 50 * time.Millisecond}, nil)
			if got := Format(nil, err); !strings.HasPrefix(got, "error timeout\n") || !strings.Contains(got, "no byte from the server for 50ms") {
				t.Errorf("got %s", got)
			}
		})
	}
}

// signsOfLife are comments on a connection on which nothing else comes: for a while
// they keep it alive, and not for ever. The clock is synctest's.
func (w *Wire) signsOfLife(t *testing.T) {
	r := stream(w.hello())
	var ends []int // of the events
	for at, e := range strings.SplitAfter(string(r.Body), "\n\n") {
		if at > 0 {
			ends = append(ends, ends[at-1]+len(e))
		} else {
			ends = append(ends, len(e))
		}
	}
	ask := func(t *testing.T, p Plan) (*model.Reply, time.Duration, error) {
		client, err := w.New(Play(r, p), base)
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		reply, err := client.Call(t.Context(), &model.Request{Stream: true, Timeout: 24 * time.Hour, Idle: time.Minute}, nil)
		return reply, time.Since(begun), err
	}
	for _, c := range []struct {
		name  string
		pause time.Duration // before each event
		alive time.Duration // between two comments
		want  string
	}{
		{"events that come slowly", 50 * time.Second, 0, ""},
		{"events that come too slowly", 70 * time.Second, 0, "no byte"},
		{"comments while an event is awaited", 9 * time.Minute, 15 * time.Second, ""},
		{"comments that come too slowly", 9 * time.Minute, 70 * time.Second, "no byte"},
		{"comments, and no event for too long", 11 * time.Minute, 15 * time.Second, "nothing but signs of life from the server for 10m0s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reply, took, err := ask(t, Plan{Splits: ends, Pause: c.pause, Alive: c.alive})
				if c.want == "" {
					wantHello(t, reply, err)
					return
				}
				if got := Format(nil, err); !strings.HasPrefix(got, "error timeout\n") || !strings.Contains(got, c.want) {
					t.Errorf("after %v: %s", took, got)
				}
			})
		})
	}
	t.Run("comments for ever", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, took, err := ask(t, Plan{Cut: ends[0] + 1, Splits: ends, Alive: 15 * time.Second, Stall: true})
			if got := Format(nil, err); !strings.HasPrefix(got, "error timeout\n") || took != model.DefaultProgress {
				t.Errorf("after %v: %s", took, got)
			}
		})
	})
}
