package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// collected is what a collector was sent, by path.
type collected struct {
	mu  sync.Mutex
	got map[string][]byte
}

func (c *collected) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got[r.URL.Path] = append(c.got[r.URL.Path], body...)
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func (c *collected) has(path, text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Contains(c.got[path], []byte(text))
}

// A run is exported while it goes on, below the span of whoever started the command, and
// sent again later with the same ids. What was said is exported only if it is asked for.
func TestTelemetry(t *testing.T) {
	b := newBox(t)
	c := &collected{got: map[string][]byte{}}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	b.env["TRACEPARENT"] = "00-74726163652d74726163652d74726163-7370616e2d696421-01" // in letters: trace-trace-trac, span-id!
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
	b.ok("demo", "--json")
	for path, texts := range map[string][]string{
		"/v1/traces":  {"invoke_agent", "execute_tool", "trace-trace-trac", "span-id!", "gen_ai.usage.input_tokens"},
		"/v1/metrics": {"gen_ai.client.token.usage"},
		"/v1/logs":    {"gen_ai.client.operation.exception"},
	} {
		for _, text := range texts {
			if !c.has(path, text) {
				t.Errorf("%s got nothing of %q", path, text)
			}
		}
	}
	if c.has("/v1/traces", "gen_ai.output.messages") {
		t.Error("content is exported, and nobody asked for it")
	}

	delete(b.env, "TRACEPARENT")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
	live := c.got["/v1/traces"]
	c.got = map[string][]byte{}
	t.Setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_ONLY")
	b.ok("export", b.last(), "--format", "otlp", "--to", s.URL)
	if len(live) == 0 || !c.has("/v1/traces", "trace-trace-trac") || !c.has("/v1/traces", "gen_ai.input.messages") {
		t.Error("what is sent later is not the same trace, or has no content")
	}
	for _, args := range [][]string{{"--to", s.URL}, {"--format", "otlp", "--to", s.URL, "-o", "x"}} {
		if p := b.rein(append([]string{"export", b.last()}, args...)...); p.code != badUsage {
			t.Errorf("%v: exit %d, %s", args, p.code, p.err)
		}
	}
}

// Content is exported while a run goes on too, from the store that the run is written to.
func TestTelemetryWithContent(t *testing.T) {
	b := newBox(t)
	c := &collected{got: map[string][]byte{}}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
	t.Setenv("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental")
	t.Setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_AND_EVENT")
	_, url := server(t, "turns: [say: The word is heron.]\n")
	token := "gh" + "p_0123456789abcdefghijklmnopqrstuvwxyz" // looks like one, and is none
	b.ok("run", "--base-url", url, "-m", "openai/m", "The word is bittern, and token="+token+".")
	for _, path := range []string{"/v1/traces", "/v1/logs"} {
		for text, want := range map[string]bool{"gen_ai.input.messages": true, "bittern": true, "heron": true, token[:8]: false} {
			if c.has(path, text) != want {
				t.Errorf("%s has %q: %v", path, text, !want)
			}
		}
	}
	if !c.has("/v1/metrics", "gen_ai.client.inference.usage.input_tokens") {
		t.Error("metrics have other names than spans")
	}
}

// A collector that is not there, or settings that cannot be used, are told in one line,
// and the run goes on all the same.
func TestTelemetryFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	for _, protocol := range []string{"http/protobuf", "carrier pigeon"} {
		b := newBox(t)
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+l.Addr().String())
		t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
		_, url := server(t, "turns: [say: Done.]\n")
		p := b.rein("run", "--base-url", url, "-m", "openai/m", "Do it.")
		if p.code != 0 || !strings.Contains(p.out, "Done.") || strings.Count(p.err, "telemetry") != 1 {
			t.Errorf("%s: exit %d\n%s%s", protocol, p.code, p.out, p.err)
		}
		for line := range strings.Lines(p.err) {
			if strings.Contains(line, "telemetry") {
				t.Logf("%s", line)
			}
		}
	}
}
