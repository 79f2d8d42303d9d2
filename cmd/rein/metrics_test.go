package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"rein.example/rein/model/script"
	"rein.example/rein/trace/prometheus"
)

// overheard is what a command writes while somebody reads it.
type overheard struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *overheard) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *overheard) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// place finds where metrics are served in what a command has said.
var place = regexp.MustCompile(`metrics: (http://127\.0\.0\.1:[0-9]+/metrics)\n`)

// scrapeAt reads a page of metrics, which has to be in the format.
func scrapeAt(t *testing.T, url string) map[string]*dto.MetricFamily {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer resp.Body.Close()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("%s: %v", resp.Status, err)
	}
	return families
}

// While a run is carried out its metrics can be scraped; then nobody answers any more.
// Every metric that is served has its line in docs/metrics.md.
func TestMetricsOfARun(t *testing.T) {
	b := newBox(t)
	var said overheard
	s := script.Handler(script.MustParse(clumsy), nil)
	var last map[string]*dto.MetricFamily
	var url string
	models := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The model is asked: the run goes on, and somebody scrapes.
		if m := place.FindStringSubmatch(said.String()); m != nil {
			url = m[1]
			last = scrapeAt(t, url)
			if root := scrapeRoot(t, strings.TrimSuffix(url, "/metrics")); !strings.Contains(root, "/metrics") {
				t.Errorf("the root says %q", root)
			}
		}
		s.ServeHTTP(w, r)
	}))
	defer models.Close()
	file := b.file("agent.yaml", "name: teller\nmodel: openai/any\nbase_url: "+models.URL+"/v1\ntools: [clock]\nretry: fast\n")
	a := &app{self: "rein", in: strings.NewReader(""), out: io.Discard, err: &said, env: func(name string) string { return b.env[name] }}
	if code := a.main(context.Background(), []string{"run", "-f", file, "--metrics", "0", "Is it late?"}); code != 0 {
		t.Fatalf("exit %d\n%s", code, said.String())
	}
	for name, want := range map[string]int64{"rein_runs_active": 1, "rein_steps_total": 3, "rein_retries_total": 2} {
		var got int64
		for _, x := range last[name].GetMetric() {
			got += int64(x.GetCounter().GetValue() + x.GetGauge().GetValue())
		}
		if got != want {
			t.Errorf("%s was %d in the end, want %d", name, got, want)
		}
	}
	for _, name := range []string{"gen_ai_client_token_usage", "gen_ai_client_operation_duration_seconds", "go_goroutines", "target_info"} {
		if last[name] == nil {
			t.Errorf("%s was not served", name)
		}
	}
	if resp, err := http.Get(url); err == nil {
		_ = resp.Body.Close()
		t.Error("metrics are served after the run")
	}
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range last {
		if !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") && !strings.Contains(string(doc), "`"+name+"`") {
			t.Errorf("docs/metrics.md does not have %s", name)
		}
	}
	for _, m := range prometheus.Table() {
		line := "| `" + m.Name + "` | " + m.Type + " | " + m.Unit + " | " + strings.Join(m.Labels, ", ") + " | " + m.About + " |\n"
		if !strings.Contains(string(doc), line) {
			t.Errorf("docs/metrics.md lacks this line:\n%s", line)
		}
	}
}

func scrapeRoot(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url + "/")
	if err != nil {
		t.Error(err)
		return ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// An address that cannot be had is said before anything is begun.
func TestMetricsAddress(t *testing.T) {
	for at, want := range map[string]string{
		"9464": "127.0.0.1:9464", ":9464": "127.0.0.1:9464", "0": "127.0.0.1:0", "127.0.0.1:0": "127.0.0.1:0", "[::1]:80": "[::1]:80", "0.0.0.0:9464": "0.0.0.0:9464", "box:1": "box:1",
	} {
		if got, err := metricsAddr(at); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", at, got, err, want)
		}
	}
	for _, bad := range []string{"x", "70000", "-1", ":", "host:", "a:b:c", "::1", "http://127.0.0.1:9464"} {
		if got, err := metricsAddr(bad); err == nil {
			t.Errorf("%s: %s", bad, got)
		}
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	b := newBox(t)
	_, url := server(t, hello)
	for _, args := range [][]string{{"run", "hi", "-m", "openai/any", "--base-url", url}, {"chat", "-m", "openai/any", "--base-url", url}} {
		p := b.rein(append(args, "--metrics", taken.Addr().String())...)
		if p.code != 2 || !strings.Contains(p.err, "another process listens at "+taken.Addr().String()) || strings.Contains(p.err, "metrics: http") {
			t.Errorf("exit %d: %s", p.code, p.err)
		}
		if p := b.rein(append(args, "--metrics", "")...); p.code != 2 || !strings.Contains(p.err, "HOST:PORT") {
			t.Errorf("an empty address: exit %d, %s", p.code, p.err)
		}
		if p := b.rein(append(args, "--metrics", "here")...); p.code != 2 || !strings.Contains(p.err, "a port or HOST:PORT") {
			t.Errorf("exit %d: %s", p.code, p.err)
		}
	}
	if out := b.ok("runs"); out != "" {
		t.Errorf("something was begun:\n%s", out)
	}
}

// A chat, a resumed run and a fork serve theirs as well, from their beginning.
func TestMetricsElsewhere(t *testing.T) {
	b := newBox(t)
	_, url := server(t, "turns:\n  - One.\n  - Two.\n  - Three.\n")
	b.in = "hi\n"
	if p := b.rein("chat", "-m", "openai/any", "--base-url", url, "--metrics", "0"); p.code != 0 || !place.MatchString(p.err) {
		t.Errorf("chat: exit %d, %s", p.code, p.err)
	}
	b.in = ""
	if p := b.rein("fork", "last", "--step", "0", "--metrics", "0"); !place.MatchString(p.err) {
		t.Errorf("fork: %s", p.err)
	}
	if p := b.rein("resume", "last", "--metrics", "0", "--input", "Go on."); !place.MatchString(p.err) {
		t.Errorf("resume: %s", p.err)
	}
}
