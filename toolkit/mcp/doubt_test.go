package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// What a once call has come to is taken from the server's answer to it, and
// from nothing else. Nothing happened only where that says so: the request was turned
// away, or not understood. A call is sent once, whatever comes back.
//
// answer writes what the server says to a call with an id, in the place of its
// result.
func TestDoubtAfterSending(t *testing.T) {
	status := func(n int, body string) func(http.ResponseWriter, string) {
		return func(w http.ResponseWriter, id string) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(n)
			fmt.Fprintf(w, body, id)
		}
	}
	rpc := func(n, code int) func(http.ResponseWriter, string) {
		return status(n, `{"jsonrpc":"2.0","id":%s,"error":{"code":`+fmt.Sprint(code)+`,"message":"no luck"}}`)
	}
	stream := func(text string) func(http.ResponseWriter, string) {
		return func(w http.ResponseWriter, id string) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, text)
		}
	}
	const said = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"x\"}}\n\n"
	for _, c := range []struct {
		name   string
		again  int // status of the answer to the attempt to take up a stream
		answer func(w http.ResponseWriter, id string)
		want   string
	}{
		{"a parse error", 0, rpc(200, -32700), "tool_error no_effect"},
		{"an invalid request", 0, rpc(200, -32600), "tool_error no_effect"},
		{"no such method", 0, rpc(200, -32601), "not_found no_effect"},
		{"invalid parameters", 0, rpc(200, -32602), "invalid_arguments no_effect"},
		{"an internal error", 0, rpc(200, -32603), "tool_error unknown"},
		{"an internal error that is called a bad request", 0, rpc(400, -32603), "connection_lost unknown"},
		{"an error of the server's own", 0, rpc(200, -32000), "tool_error unknown"},
		{"an application's error", 0, rpc(200, 17), "tool_error unknown"},
		{"a page to open first", 0, rpc(200, -32042), "needs_input unknown"},
		{"an answer that is none", 0, status(200, "thanks"), "connection_lost unknown"},
		{"an answer of another kind", 0, func(w http.ResponseWriter, _ string) { fmt.Fprint(w, "<html>") }, "connection_lost unknown"},
		{"a stream that is cut", 0, stream(said), "connection_lost unknown"},
		{"a stream that cannot be taken up", 405, stream("id: 1\n" + said), "connection_lost unknown"},
		{"a stream whose session is gone", 404, stream("id: 1\n" + said), "connection_lost unknown"},
		{"a stream that may not be taken up", 401, stream("id: 1\n" + said), "connection_lost unknown"},
		{"a bad request", 0, status(400, "no"), "tool_error no_effect"},
		{"an unknown session", 0, status(404, "session not found"), "session_lost no_effect retryable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int64
			w := serveWeb(t, "desk", t.TempDir(), func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					r.Body = io.NopCloser(bytes.NewReader(body))
					switch {
					case bytes.Contains(body, []byte(`"tools/call"`)):
						calls.Add(1)
						c.answer(w, idOf(body))
					case r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") != "":
						w.WriteHeader(c.again)
					default:
						next.ServeHTTP(w, r)
					}
				})
			})
			s := open(t, Options{URL: "http://" + w.addr, Logger: logger(t)})
			_, e, _ := call(t, s, "place_order", `{}`)
			if got := outcome(e); got != c.want {
				t.Errorf("%s, want %s: %+v", got, c.want, e)
			}
			if n := calls.Load(); n != 1 {
				t.Errorf("it was sent %d times", n)
			}
		})
	}
}

// outcome says in a few words what an error proves.
func outcome(e *tool.Error) string {
	if e == nil {
		return "success"
	}
	s := e.Type
	for _, f := range []struct {
		is   bool
		name string
	}{{e.Unknown, "unknown"}, {e.NoEffect, "no_effect"}, {e.Retryable, "retryable"}, {e.Ended, "ended"}} {
		if f.is {
			s += " " + f.name
		}
	}
	return s
}

func idOf(body []byte) string {
	dec := jsontext.NewDecoder(bytes.NewReader(body))
	for depth := 0; ; {
		tok, err := dec.ReadToken()
		if err != nil {
			return "null"
		}
		if tok.Kind() == '{' {
			depth++
		}
		if depth == 1 && tok.Kind() == '"' && tok.String() == "id" {
			if v, err := dec.ReadValue(); err == nil {
				return string(v)
			}
		}
	}
}

// A server that has forgotten its sessions is asked again in a new one: within the
// call where that does no harm, and by the next execution of a once call, which stands
// in the journal by itself. A second 404 is not about the session.
func TestForgottenSession(t *testing.T) {
	for _, c := range []struct {
		tool  string
		twice bool
		want  []string // of one execution after another
		sent  int64
	}{
		{"set_note", false, []string{"success"}, 2},
		{"set_note", true, []string{"tool_error no_effect"}, 2},
		{"place_order", false, []string{"session_lost no_effect retryable", "success"}, 2},
		{"place_order", true, []string{"session_lost no_effect retryable", "tool_error no_effect"}, 2},
	} {
		t.Run(fmt.Sprint(c.tool, c.twice), func(t *testing.T) {
			var calls atomic.Int64
			w := serveWeb(t, "desk", t.TempDir(), func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					r.Body = io.NopCloser(bytes.NewReader(body))
					if bytes.Contains(body, []byte(`"tools/call"`)) && (calls.Add(1) == 1 || c.twice) {
						http.Error(w, "session not found", http.StatusNotFound)
						return
					}
					next.ServeHTTP(w, r)
				})
			})
			s := open(t, Options{URL: "http://" + w.addr, Effects: map[string]event.Effect{"set_note": event.Repeatable}, Logger: logger(t)})
			var got []string
			for attempt := range c.want {
				_, err := find(t, s, c.tool).Run(t.Context(), &tool.Call{Run: "r1", ID: "c1", Args: []byte(`{}`), Key: "k1", Attempt: attempt + 1})
				var e *tool.Error
				if err != nil && !errors.As(err, &e) {
					t.Fatal(err)
				}
				got = append(got, outcome(e))
			}
			if !slices.Equal(got, c.want) || calls.Load() != c.sent {
				t.Errorf("%s, sent %d times; want %s and %d", strings.Join(got, ", "), calls.Load(), strings.Join(c.want, ", "), c.sent)
			}
		})
	}
}
