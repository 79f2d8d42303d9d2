package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json"
)

// world answers requests to hosts by what they should get; others are not there.
type world map[string]func(*http.Request) (int, string)

func (w world) RoundTrip(r *http.Request) (*http.Response, error) {
	f, ok := w[r.Method+" "+r.URL.Host+r.URL.Path]
	if !ok {
		f, ok = w[r.URL.Host]
	}
	if !ok {
		return nil, &os.PathError{Op: "dial", Path: r.URL.Host, Err: os.ErrNotExist}
	}
	code, body := f(r)
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// doctor decodes what doctor --json says.
func (b *box) doctor(o outside, args ...string) (diagnosis, printed) {
	b.t.Helper()
	p := b.look(o, append([]string{"doctor", "--json"}, args...)...)
	var d diagnosis
	if err := json.Unmarshal([]byte(p.out), &d); err != nil {
		b.t.Fatalf("exit %d: %v\n%s%s", p.code, err, p.out, p.err)
	}
	return d, p
}

func (d *diagnosis) provider(t *testing.T, name string) *providerFound {
	t.Helper()
	for i := range d.Providers {
		if d.Providers[i].Name == name {
			return &d.Providers[i]
		}
	}
	t.Fatalf("doctor does not know %s", name)
	return nil
}

// Each provider with a key is asked for its models in its own way, and a model one
// question only if that is wanted. Keys are never shown.
func TestDoctorAsksProviders(t *testing.T) {
	const openAIKey, anthropicKey, googleKey = "key-for-openai-1234", "key-for-anthropic-1234", "key-for-google-1234"
	var called atomic.Int64
	with := func(header, want, body string) func(*http.Request) (int, string) {
		return func(r *http.Request) (int, string) {
			if got := r.Header.Get(header); got != want {
				t.Errorf("%s: %s is %q", r.URL, header, got)
			}
			return 200, body
		}
	}
	hc := &http.Client{Transport: world{
		"GET api.openai.com/v1/models":    with("Authorization", "Bearer "+openAIKey, `{"data":[{"id":"gpt-5.6-terra"},{"id":"gpt-4o"}]}`),
		"GET api.anthropic.com/v1/models": with("X-Api-Key", anthropicKey, `{"data":[{"id":"claude-sonnet-5"}]}`),
		"GET generativelanguage.googleapis.com/v1beta/models": func(*http.Request) (int, string) {
			return 401, `{"error":"bad key ` + googleKey + `"}`
		},
		"POST api.anthropic.com/v1/messages": func(r *http.Request) (int, string) {
			called.Add(1)
			body, _ := io.ReadAll(r.Body)
			if !strings.Contains(string(body), `"max_tokens":16`) {
				t.Errorf("the question is not a small one: %s", body)
			}
			return 200, `{"id":"m","type":"message","role":"assistant","model":"claude-sonnet-5","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":12,"output_tokens":4}}`
		},
		"POST api.openai.com/v1/responses": func(*http.Request) (int, string) {
			called.Add(1)
			return 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`
		},
	}}
	b := newBox(t)
	b.env["OPENAI_API_KEY"], b.env["ANTHROPIC_API_KEY"], b.env["GOOGLE_API_KEY"] = openAIKey, anthropicKey, googleKey
	b.env["AZURE_OPENAI_API_KEY"] = "key-for-azure-1234"

	d, p := b.doctor(outside{http: hc})
	if p.code != 0 || called.Load() != 0 {
		t.Errorf("exit %d, %d calls, %s", p.code, called.Load(), p.err)
	}
	if f := d.provider(t, "openai"); f.KeyEnv == nil || *f.KeyEnv != "OPENAI_API_KEY" || !f.Test.OK || f.Test.Models != 2 || f.Test.Call != nil {
		t.Errorf("openai: %+v", f)
	}
	if f := d.provider(t, "anthropic"); !f.Test.OK || f.Test.Models != 1 {
		t.Errorf("anthropic: %+v", f.Test)
	}
	if f := d.provider(t, "gemini"); *f.KeyEnv != "GOOGLE_API_KEY" || f.Test.OK || !strings.Contains(f.Test.Error, "refused") {
		t.Errorf("gemini: %+v", f.Test)
	}
	if f := d.provider(t, "azure"); f.Test.OK || !strings.Contains(f.Test.Error, "AZURE_OPENAI_ENDPOINT") {
		t.Errorf("azure: %+v", f.Test)
	}
	if f := d.provider(t, "mistral"); f.KeyEnv != nil || f.Test != nil || f.LookedFor[0] != "MISTRAL_API_KEY" {
		t.Errorf("mistral: %+v", f)
	}

	d, p2 := b.doctor(outside{http: hc}, "--probe")
	if called.Load() != 2 {
		t.Errorf("%d calls", called.Load())
	}
	if c := d.provider(t, "anthropic").Test.Call; c == nil || !c.OK || c.Model != "anthropic/claude-sonnet-5" || c.CostUSD == nil || *c.CostUSD != 64 {
		t.Errorf("anthropic: %+v", c)
	}
	if c := d.provider(t, "openai").Test.Call; c == nil || c.OK || !strings.Contains(c.Error, "quota") {
		t.Errorf("openai: %+v", c)
	}
	p3 := b.look(outside{http: hc}, "doctor", "--probe")
	for _, want := range []string{"key in OPENAI_API_KEY", "answers, 1 model; anthropic/claude-sonnet-5 answered", "for $0.000064", "no key"} {
		if !strings.Contains(p3.out, want) {
			t.Errorf("the report lacks %q:\n%s", want, p3.out)
		}
	}
	for _, key := range []string{openAIKey, anthropicKey, googleKey, "key-for-azure-1234"} {
		if strings.Contains(p.out+p.err+p2.out+p2.err+p3.out+p3.err, key) {
			t.Errorf("a key is shown: %s", key)
		}
	}

	d, p = b.doctor(outside{http: &http.Client{Transport: world{}}}, "--offline")
	if p.code != 0 || d.provider(t, "openai").Test != nil {
		t.Errorf("offline: exit %d, %+v", p.code, d.provider(t, "openai"))
	}
	if _, p = b.doctor(outside{http: &http.Client{Transport: world{}}}); p.code != 1 || !strings.Contains(p.err, "no model can be reached") {
		t.Errorf("nobody answers: exit %d, %s", p.code, p.err)
	}
}

// Servers on this machine are found and, if wanted, tried.
func TestDoctorFindsLocalServers(t *testing.T) {
	b := newBox(t)
	o := machine(t, 8080, `{"data":[{"id":"nomic-embed"},{"id":"smollm2"}]}`, "turns: [ok]")
	d, p := b.doctor(o, "--probe")
	for _, l := range d.Local {
		if l.Found != (l.Name == "llamacpp") {
			t.Errorf("%+v", l)
		}
		if l.Found && (len(l.Models) != 2 || l.Models[1] != "llamacpp/smollm2" || l.Test.Call == nil || !l.Test.Call.OK || l.Test.Call.Model != "llamacpp/smollm2" || l.Test.Call.CostUSD != nil) {
			t.Errorf("%+v, %+v", l, l.Test.Call)
		}
	}
	if p.code != 0 {
		t.Errorf("exit %d, %s", p.code, p.err)
	}
}

// The store is looked at and never made.
func TestDoctorLooksAtTheStore(t *testing.T) {
	b := newBox(t)
	d, _ := b.doctor(outside{})
	if s := d.Store; s.Exists || s.Error != "" || s.Path != b.storeFile() || s.Bytes != nil {
		t.Errorf("before the first run: %+v", s)
	}
	if _, err := os.Stat(filepath.Dir(b.storeFile())); err == nil {
		t.Error("doctor has made the store's folder")
	}
	b.said()
	if d, _ = b.doctor(outside{}); !d.Store.Exists || d.Store.Error != "" || d.Store.Version == nil || *d.Store.Version != 1 || *d.Store.Bytes == 0 {
		t.Errorf("a store: %+v", d.Store)
	}
	if err := b.sql("PRAGMA user_version = 9999").Close(); err != nil {
		t.Fatal(err)
	}
	if d, p := b.doctor(outside{}); p.code != 1 || !strings.Contains(d.Store.Error, "newer") || *d.Store.Version != 9999 {
		t.Errorf("a newer store: exit %d, %+v", p.code, d.Store)
	}
	other := b.file("notes.txt", strings.Repeat("not a store\n", 20))
	if d, p := b.doctor(outside{}, "--db", other); p.code != 1 || d.Store.Error == "" || d.Store.Version != nil {
		t.Errorf("something else: exit %d, %+v", p.code, d.Store)
	}
	if d, p := b.doctor(outside{}, "--db", "postgres://u:p@h/db"); p.code != 1 || d.Store.Error == "" || strings.Contains(p.out+p.err, "u:p") {
		t.Errorf("elsewhere: exit %d, %+v", p.code, d.Store)
	}
}

func TestDoctorNamesTheLayers(t *testing.T) {
	d, _ := newBox(t).doctor(outside{})
	for _, name := range []string{"landlock", "seccomp", "user_namespaces"} {
		if o, ok := d.Sandbox[name]; !ok || o.Detail == "" {
			t.Errorf("%s: %+v", name, o)
		}
	}
	if !strings.HasPrefix(d.Catalog, "charm.land/catwalk v") {
		t.Errorf("the catalogue is from %q", d.Catalog)
	}
}
