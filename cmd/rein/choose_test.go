package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"rein.example/rein/config"
	"rein.example/rein/event"
	"rein.example/rein/model/catalog"
	"rein.example/rein/model/script"
)

// look runs a command line as rein does, with what is found outside.
func (b *box) look(o outside, args ...string) printed {
	b.t.Helper()
	var out, err bytes.Buffer
	a := &app{self: "rein", in: strings.NewReader(b.in), out: &out, err: &err, outside: o,
		asks: b.terminal, shows: b.terminal, env: func(name string) string { return b.env[name] }}
	code := a.main(context.Background(), args)
	return printed{out.String(), err.String(), code}
}

// machine has a server at one port: it lists models, and plays a script.
func machine(t *testing.T, port int, models, text string) outside {
	t.Helper()
	played := script.Handler(script.MustParse(text), nil)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(models)) })
	mux.Handle("/", played)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return outside{local: func(p int) string {
		if p == port {
			return s.URL
		}
		return "http://127.0.0.1:1" // nobody
	}}
}

const ollamaList = `{"object":"list","data":[{"id":"nomic-embed-text"},{"id":"qwen3:4b"}]}`

// Without a model, a server on this machine is used; the run says which, so that
// it can go on with it.
func TestChooseALocalServer(t *testing.T) {
	b := newBox(t)
	o := machine(t, 11434, ollamaList, hello)
	p := b.look(o, "run", "--events", "hi")
	if p.code != 0 || !strings.Contains(p.err, "using ollama/qwen3:4b, at http://127.0.0.1") {
		t.Errorf("exit %d, %s", p.code, p.err)
	}
	e, err := event.DecodeEvent([]byte(strings.SplitN(p.out, "\n", 2)[0]))
	if err != nil {
		t.Fatal(err)
	}
	if s := e.Data.(*event.RunStarted).Spec; s.Model != "ollama/qwen3:4b" || !strings.Contains(s.Config, o.local(11434)+"/v1") || len(s.Prices) != 0 {
		t.Errorf("the run has model %q, prices %v, configuration %s", s.Model, s.Prices, s.Config)
	}
}

func TestNothingToChoose(t *testing.T) {
	b := newBox(t)
	for name, list := range map[string]string{
		"no server":        "",
		"something else":   "<html>",
		"no models":        `{"data":[]}`,
		"only embeddings":  `{"data":[{"id":"nomic-embed-text"}]}`,
		"a name with room": `{"data":[{"id":"two words"}]}`,
	} {
		p := b.look(machine(t, 8080, list, hello), "run", "hi")
		if p.code != 2 || !strings.Contains(p.err, "three ways") || !strings.Contains(p.err, "ANTHROPIC_API_KEY") || p.out != "" {
			t.Errorf("%s: exit %d, %s", name, p.code, p.err)
		}
	}
}

// A key that is there goes before a server, in the order of the table; what names
// a server or key but no model is not completed by guessing.
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		file, env string // env is a variable that is set
		want      string // the model; "" stays without
	}{
		{"{}", "OPENAI_API_KEY", "openai/" + catalog.Find("openai").Default},
		{"{}", "GOOGLE_API_KEY", "gemini/" + catalog.Find("gemini").Default},
		{"{}", "MISTRAL_API_KEY", "mistral/mistral-medium-latest"},
		{"{}", "AZURE_OPENAI_API_KEY", "ollama/qwen3:4b"}, // where it is is not known
		{"{}", "", "ollama/qwen3:4b"},
		{"model: deepseek/deepseek-v4-pro", "OPENAI_API_KEY", "deepseek/deepseek-v4-pro"},
		{"base_url: https://llm.acme.example/v1", "OPENAI_API_KEY", ""},
		{"key_env: ACME_KEY", "OPENAI_API_KEY", ""},
	} {
		cfg, err := config.Parse("agent.yaml", []byte(c.file))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		a := &app{err: &out, outside: machine(t, 11434, ollamaList, hello), env: func(name string) string {
			if name == c.env {
				return "a-key-of-a-provider"
			}
			return ""
		}}
		if got, err := a.choose(cfg); err != nil || got.Model != c.want {
			t.Errorf("%s, %s: %q, %v; want %q", c.file, c.env, got.Model, err, c.want)
		}
		if strings.Contains(out.String(), "a-key-of-a-provider") {
			t.Errorf("the key is shown: %s", out.String())
		}
	}
}

// Each model is opened on its provider's wire, at its place, with its key, its
// window and its price.
func TestTargets(t *testing.T) {
	env := map[string]string{
		"OPENAI_API_KEY": "key-of-openai", "ANTHROPIC_API_KEY": "key-of-anthropic", "GOOGLE_API_KEY": "key-of-google",
		"AZURE_OPENAI_API_KEY": "key-of-azure", "AZURE_OPENAI_ENDPOINT": "https://desk.openai.azure.com/", "DESK_KEY": "key-of-desk",
		"MOONSHOT_API_KEY": "key-of-moonshot",
	}
	a := &app{env: func(name string) string { return env[name] }}
	for _, c := range []struct {
		file, base, key, encoder string
		window, input            int64 // 0: unknown
	}{
		{"model: openai/gpt-5.1", "https://api.openai.com/v1", "key-of-openai", "openai-responses/1", 400_000, 1_250_000},
		{"model: openai/gpt-4o", "https://api.openai.com/v1", "key-of-openai", "openai-chat/2", 128_000, 2_500_000},
		{"model: openai-chat/gpt-5.1", "https://api.openai.com/v1", "key-of-openai", "openai-chat/2", 400_000, 1_250_000},
		{"model: openai/gpt-5.1\nbase_url: https://llm.acme.example/v1", "https://llm.acme.example/v1", "", "openai-chat/2", 0, 0},
		{"model: openai/gpt-5.1\nbase_url: http://api.openai.com/v1", "http://api.openai.com/v1", "", "openai-chat/2", 0, 0}, // not encrypted
		{"model: openai/any\nbase_url: https://llm.acme.example/v1\nkey_env: DESK_KEY\nwindow: {size: 32768}\nprice: {input: 2, output: 3}", "https://llm.acme.example/v1", "key-of-desk", "openai-chat/2", 32_768, 2_000_000},
		{"model: openai-responses/any\nbase_url: https://llm.acme.example/v1", "https://llm.acme.example/v1", "", "openai-responses/1", 0, 0},
		{"model: anthropic/claude-haiku-4-5", "https://api.anthropic.com", "key-of-anthropic", "anthropic-messages/1", 200_000, 1_000_000},
		{"model: anthropic/claude-haiku-4-5\nprice: {input: 9, output: 9}", "https://api.anthropic.com", "key-of-anthropic", "anthropic-messages/1", 200_000, 9_000_000},
		{"model: google/gemini-2.5-pro", "https://generativelanguage.googleapis.com/v1beta", "key-of-google", "gemini/1", 1_048_576, 1_250_000},
		{"model: azure/gpt-5", "https://desk.openai.azure.com/openai/v1", "key-of-azure", "openai-chat/2", 400_000, 1_250_000},
		{"model: moonshot/kimi-k3", "https://api.moonshot.ai/v1", "key-of-moonshot", "openai-chat/2", 1_048_576, 3_000_000},
		{"model: ollama/qwen3:4b", "http://127.0.0.1:11434/v1", "", "openai-chat/2", 0, 0},
	} {
		cfg, err := config.Parse("agent.yaml", []byte(c.file))
		if err != nil {
			t.Fatal(err)
		}
		targets, err := a.targets(cfg)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		client, err := targets[0].client(nil)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		info := client.Info()
		var input int64
		if info.Price != nil {
			input = info.Price.Input
		}
		if tt := targets[0]; tt.baseURL != c.base || tt.key.value != c.key || client.Encoder().Version() != c.encoder || info.Window != c.window || input != c.input || info.Name() != cfg.Model {
			t.Errorf("%s: %s at %s, key %q, %s, window %d, price %d", c.file, info.Name(), tt.baseURL, tt.key.value, client.Encoder().Version(), info.Window, input)
		}
		if _, err := encoderOfClient(client.Encoder()); err != nil {
			t.Errorf("%s: a journal's request could not be built again: %v", c.file, err)
		}
	}
	for file, want := range map[string]string{
		"model: deepseek/x":                      "DEEPSEEK_API_KEY",
		"model: glm/x":                           "ZHIPU_API_KEY or ZAI_API_KEY",
		"model: opnai/x":                         "did you mean openai?",
		"model: openai/x\nfallback: [mistral/y]": "MISTRAL_API_KEY",
		"model: openai/x\nfallback: [no/y]":      `no provider "no"`,
	} {
		cfg, err := config.Parse("agent.yaml", []byte(file))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.targets(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", file, err)
		}
	}
	env["AZURE_OPENAI_ENDPOINT"] = ""
	cfg, _ := config.Parse("agent.yaml", []byte("model: azure/x"))
	if _, err := a.targets(cfg); err == nil || !strings.Contains(err.Error(), "AZURE_OPENAI_ENDPOINT") {
		t.Errorf("azure without a place: %v", err)
	}
}

// base_url and key_env are the first model's, and not sent to other providers.
func TestFallbackKeysAndPlaces(t *testing.T) {
	a := &app{env: func(name string) string {
		return map[string]string{"DESK_KEY": "key-of-desk", "ANTHROPIC_API_KEY": "key-of-anthropic"}[name]
	}}
	cfg, err := config.Parse("agent.yaml", []byte("model: openai/a\nbase_url: https://llm.acme.example/v1\nkey_env: DESK_KEY\nwindow: {size: 4096}\nfallback: [openai/b, anthropic/claude-haiku-4-5]\n"))
	if err != nil {
		t.Fatal(err)
	}
	targets, err := a.targets(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		base, key string
		window    int64
	}{
		{"https://llm.acme.example/v1", "key-of-desk", 4096},
		{"https://llm.acme.example/v1", "key-of-desk", 0},
		{"https://api.anthropic.com", "key-of-anthropic", 0},
	} {
		if got := targets[i]; got.baseURL != want.base || got.key.value != want.key || got.window != want.window {
			t.Errorf("model %d: %s, key %q, window %d", i, got.baseURL, got.key.value, got.window)
		}
	}
}

// A model that fails for good is followed by the next. What the run cost is not
// known if the price of one of them is not.
func TestFallbackRun(t *testing.T) {
	b := newBox(t)
	_, url := server(t, `{turns: [{faults: [{status: 403}], say: Hello.}]}`)
	file := b.file("agent.yaml", "model: openai/first\nbase_url: "+url+"\nprice: {input: 1, output: 1}\nretry: fast\nfallback: [openai/second]\n")
	p := b.rein("run", "-f", file, "--events", "hi")
	if p.code != 0 || strings.Count(p.out, `"type":"model.called"`) != 2 || !strings.Contains(p.out, `"attempt":2,"model":"openai/second"`) {
		t.Fatalf("exit %d\n%s%s", p.code, p.out, p.err)
	}
	e, err := event.DecodeEvent([]byte(strings.SplitN(p.out, "\n", 2)[0]))
	if err != nil {
		t.Fatal(err)
	}
	if s := e.Data.(*event.RunStarted).Spec; len(s.Fallback) != 1 || s.Price("openai/first") == nil || s.Price("openai/second") != nil {
		t.Errorf("the run falls back to %q, at %v", s.Fallback, s.Prices)
	}
	if out := b.ok("show", "--json", e.Run); !strings.Contains(out, `"cost_usd":null`) {
		t.Errorf("the run has a cost: %s", out)
	}
}

// The cost stands in the result, in the table and in JSON.
func TestCostIsShown(t *testing.T) {
	b := newBox(t)
	_, url := server(t, "turns: [{say: It has shipped., usage: {input: 1000, output: 500}}]")
	file := b.file("agent.yaml", "model: openai/any\nbase_url: "+url+"\nprice: {input: 2, output: 10}\n")
	p := b.rein("run", "-f", file, "--json", "hi")
	if p.code != 0 || !strings.Contains(p.out, `"cost_usd":0.007000`) || !strings.Contains(p.err, "$0.007000") {
		t.Fatalf("exit %d\n%s%s", p.code, p.out, p.err)
	}
	_, rest, _ := strings.Cut(p.out, `"run":"`)
	run, _, _ := strings.Cut(rest, `"`)
	if out := b.ok("show", run); !strings.Contains(out, "cost $0.007000") {
		t.Errorf("the table has no cost:\n%s", out)
	}
	if out := b.ok("show", "--json", run); strings.Count(out, `0.007000`) != 7 { // of the run, of its one call (by itself and by then), in the sums (own, with runs below, of its model), and of all for that purpose
		t.Errorf("the trace has no cost:\n%s", out)
	}
}

func TestDollars(t *testing.T) {
	for n, want := range map[int64]string{0: "$0.000000", 7: "$0.000007", 12_345: "$0.012345", 999_999: "$0.999999", 1_000_000: "$1.00", 1_005_000: "$1.01", 1_999_999: "$2.00", 123_456_789: "$123.46"} {
		if got := dollars(*usd(known64(n))); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestReadList(t *testing.T) {
	for _, c := range []struct {
		body string
		want int // models; -1 is an error
	}{
		{ollamaList, 2},
		{`{"object":"list","data":[{"id":"m","max_model_len":4096}]}`, 1},
		{`{"models":[{"name":"models/gemini-2.5-pro","inputTokenLimit":1048576},{"name":""}]}`, 1},
		{`{"models":[{"name":"x"}],"data":[{"id":"a"},{"id":"b"}]}`, 2},
		{`{"data":[]}`, 0},
		{`{}`, -1}, {`[]`, -1}, {``, -1}, {`<html>`, -1}, {`{"data":[{"id":5}]}`, -1}, {`{"data":[],"data":[]}`, -1},
		{`{"data":[{"id":"a\u001b[31m"},{"id":"ü"},{"id":" "}]}`, 0},
	} {
		got, err := readList([]byte(c.body))
		if (err != nil) != (c.want < 0) || err == nil && len(got) != c.want {
			t.Errorf("%s: %v, %v", c.body, got, err)
		}
	}
}

func FuzzReadList(f *testing.F) {
	f.Add([]byte(ollamaList))
	f.Add([]byte(`{"models":[{"name":"models/x"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		list, err := readList(body)
		if err == nil && len(list) > maxModels {
			t.Error("too many")
		}
		for _, m := range list {
			if m.ID == "" || strings.ContainsAny(m.ID, "\x1b\n ") {
				t.Errorf("a name of %q", m.ID)
			}
		}
	})
}
