package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rein.example/rein/config"
	"rein.example/rein/model/catalog"
)

// sentOut keeps the requests of a client and answers none.
type sentOut []*http.Request

func (s *sentOut) RoundTrip(r *http.Request) (*http.Response, error) {
	*s = append(*s, r)
	return nil, errors.New("nobody answers")
}

// The key that a file names is its own provider's: with any other provider on
// the command line, or to fall back to, it is not sent, and neither is anything
// to the file's server.
func TestFileKeyStaysWithItsProvider(t *testing.T) {
	const own = "key-that-the-file-names"
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"MYKEY": own, "AZURE_OPENAI_ENDPOINT": "https://desk.openai.azure.com/"}
	for _, p := range catalog.Providers() {
		for _, name := range p.Keys {
			env[name] = "usual-key-in-" + name
		}
	}
	var warned bytes.Buffer
	a := &app{err: &warned, env: func(name string) string { return env[name] }}
	const fileHost = "llm.acme.example"
	requests := 0
	check := func(what string, cfg *config.Agent, p *catalog.Provider, i int) {
		t.Helper()
		targets, err := a.targets(cfg)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		var sent sentOut
		client, err := targets[i].client(&http.Client{Transport: &sent})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		_, _ = client.Call(t.Context(), question(client.Encoder(), "m"), nil)
		if len(sent) == 0 {
			t.Errorf("%s: nothing was sent", what)
		}
		for _, r := range sent {
			requests++
			head := fmt.Sprint(r.Header)
			if strings.Contains(head+r.URL.String(), own) || r.URL.Hostname() == fileHost {
				t.Errorf("%s: the file's key or requests go to %s", what, r.URL.Host)
			}
			if len(p.Keys) > 0 && p.NeedsKey && !strings.Contains(head, "usual-key-in-"+p.Keys[0]) {
				t.Errorf("%s: its usual key is not sent", what)
			}
			if len(p.Keys) == 0 && strings.Contains(head, "usual-key") {
				t.Errorf("%s: gets a key", what)
			}
		}
	}
	for _, from := range catalog.Providers() {
		for _, to := range catalog.Providers() {
			if from.Name == to.Name {
				continue
			}
			for _, text := range []string{"key_env: MYKEY", "key_file: key", "key_env: MYKEY\nbase_url: https://" + fileHost + "/v1"} {
				what := from.Name + " to " + to.Name + ", " + text
				cfg, err := config.Parse("agent.yaml", []byte("model: "+from.Name+"/m\nfallback: ["+to.Name+"/f]\n"+text))
				if err != nil {
					t.Fatal(err)
				}
				cfg.BaseDir = dir
				check(what+", as fallback", cfg, &to, 1)
				with, err := cfg.With(config.Changes{Model: to.Name + "/m"})
				if err != nil {
					t.Fatal(err)
				}
				check(what, with, &to, 0)
				if k := a.keyFor(cfg, config.Changes{Model: to.Name + "/m", BaseURL: "https://x.example"}); k == "MYKEY" {
					t.Errorf("%s: a server on the command line gets %s", what, k)
				}
			}
		}
	}
	if requests == 0 || warned.Len() > 0 {
		t.Errorf("%d requests, %s", requests, &warned)
	}
}

// The same from the command line: the server sees no key, and with its own
// provider it does.
func TestRunKeepsTheFilesKey(t *testing.T) {
	b := newBox(t)
	b.env["MYKEY"] = "key-that-the-file-names"
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer s.Close()
	file := b.file("agent.yaml", "model: openai/x\nkey_env: MYKEY\nretry: fast\n")
	b.rein("run", "-f", file, "-m", "ollama/q", "--base-url", s.URL, "hi")
	b.rein("run", "-f", file, "--base-url", s.URL, "hi")
	if len(seen) != 2 || seen[0] != "" || seen[1] != "Bearer key-that-the-file-names" {
		t.Errorf("the server got %q", seen)
	}
}

// Who reads the error knows where to look.
func TestRefusedKeyIsNamed(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer s.Close()
	b := newBox(t)
	b.file("secrets/desk", "key-in-a-file-1234")
	for text, want := range map[string]string{
		"model: openai/x\nkey_file: secrets/desk": "check the key file secrets/desk",
		"model: openai/x":                         "set OPENAI_API_KEY, and key_env: OPENAI_API_KEY",
		"model: openai-chat/x":                    "set OPENAI_API_KEY, and key_env: OPENAI_API_KEY",
		"model: openai-responses/x":               "set OPENAI_API_KEY, and key_env: OPENAI_API_KEY",
	} {
		p := b.rein("run", "-f", b.file("agent.yaml", text+"\nretry: fast\nbase_url: "+s.URL+"\n"), "hi")
		if all := p.out + p.err; p.code != 1 || !strings.Contains(all, want) || strings.Contains(all, "KEY_FILE") || strings.Contains(all, "key-in-a-file") {
			t.Errorf("%s: exit %d, %s", text, p.code, all)
		}
	}
}

func TestPlainHTTPIsWarnedOf(t *testing.T) {
	for base, warns := range map[string]bool{
		"http://llm.acme.example/v1": true, "http://10.0.0.7:8000/v1": true, "http://localhost.acme.example/v1": true,
		"https://llm.acme.example/v1": false, "http://127.0.0.1:1/v1": false, "http://127.9.9.9/v1": false, "http://localhost:1/v1": false, "http://[::1]:1/v1": false,
	} {
		for _, key := range []string{"key_env: MYKEY", "retry: fast"} {
			cfg, err := config.Parse("agent.yaml", []byte("model: openai/x\nbase_url: "+base+"\n"+key+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			a := &app{err: &out, env: func(string) string { return "a-key-of-a-provider" }}
			if _, err := a.targets(cfg); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(out.String(), "unencrypted"); got != (warns && key == "key_env: MYKEY") || strings.Contains(out.String(), "a-key") {
				t.Errorf("%s, %s: %q", base, key, &out)
			}
		}
	}
}
