package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"rein.example/rein/config"
	"rein.example/rein/model/catalog"
)

// outside is what the command finds beyond its process, for tests to replace.
type outside struct {
	// local returns the address of a port of this machine; nil looks for none.
	local func(port int) string
	// http sends requests that only look; nil makes one.
	http *http.Client
}

// onThisMachine is the address of a port of this machine.
func onThisMachine(port int) string { return fmt.Sprintf("http://127.0.0.1:%d", port) }

const (
	// localWait bounds how long a server on this machine may take to say which
	// models it has.
	localWait = 500 * time.Millisecond
	// maxList is the most bytes of a list of models, and maxModels the most of its
	// entries that are looked at.
	maxList   = 4 << 20
	maxModels = 2000
)

// choose returns the agent with a model: its own, or else the first that can be
// found, of a provider whose key is there or on this machine.
func (a *app) choose(cfg *config.Agent) (*config.Agent, error) {
	if cfg.Model != "" || cfg.BaseURL != "" || cfg.KeyEnv != "" || cfg.KeyFile != "" {
		return cfg, nil // who names a server or key has to name the model
	}
	found := a.keyed()
	if len(found) == 0 {
		ctx, cancel := context.WithTimeout(context.Background(), 2*localWait)
		defer cancel()
		found = a.running(ctx)
	}
	for _, c := range found {
		chosen, err := cfg.With(config.Changes{Model: c.model, BaseURL: c.baseURL})
		if err != nil {
			continue // a name that no agent file could hold
		}
		a.say("no model is named: using %s, %s", c.model, c.where)
		return chosen, nil
	}
	return nil, errors.New(`no model is named, and none was found. There are three ways to get one:
  - a key: set OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY or another that rein doctor lists
  - a server on this machine: start Ollama, llama.cpp, vLLM or LM Studio with a model
  - any other server: -m openai/NAME --base-url URL, or model and base_url in agent.yaml
rein demo needs none of them`)
}

// candidate is a model that can be used, as far as one sees.
type candidate struct {
	// model is "provider/model", and baseURL where it is if that is not its
	// provider's usual place.
	model, baseURL string
	// where says how it was found.
	where string
}

// keyed returns a model of each provider whose key is there.
func (a *app) keyed() []candidate {
	var out []candidate
	for _, p := range catalog.Providers() {
		if k := a.usualKey(&p); p.Default != "" && k.value != "" {
			out = append(out, candidate{model: p.Name + "/" + p.Default, where: "with the key in " + k.name + priced(&p, p.Default)})
		}
	}
	return out
}

// running returns the models of the servers on this machine that write text.
func (a *app) running(ctx context.Context) []candidate {
	var out []candidate
	for _, s := range a.localServers(ctx) {
		for _, m := range s.models {
			if strings.Contains(strings.ToLower(m.ID), "embed") {
				continue
			}
			c := candidate{model: s.provider.Name + "/" + m.ID, where: "at " + s.baseURL}
			if s.baseURL != s.provider.BaseURL {
				c.baseURL = s.baseURL
			}
			out = append(out, c)
		}
	}
	return out
}

// priced says what a model costs, if that is known.
func priced(p *catalog.Provider, name string) string {
	m, _ := p.Lookup(name)
	if m.Price == nil {
		return ""
	}
	return fmt.Sprintf(" ($%s in, $%s out per million tokens)", perMillion(m.Price.Input), perMillion(m.Price.Output))
}

// perMillion writes a price as dollars.
func perMillion(n int64) string {
	s := fmt.Sprintf("%d.%06d", n/1_000_000, n%1_000_000)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// localServer is a server of models on this machine.
type localServer struct {
	provider *catalog.Provider
	baseURL  string
	models   []listed
	err      error // why it could not be asked, if something is there
}

// localServers asks the usual ports of this machine for their models, all at
// once, and returns those that answer like a server of models.
func (a *app) localServers(ctx context.Context) []localServer {
	if a.outside.local == nil {
		return nil
	}
	var found []localServer
	for _, p := range catalog.Providers() {
		if p.Local() {
			found = append(found, localServer{provider: &p, baseURL: a.outside.local(p.Port) + "/v1"})
		}
	}
	var wg sync.WaitGroup
	for i := range found {
		s := &found[i]
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, localWait)
			defer cancel()
			s.models, s.err = a.list(ctx, s.baseURL+"/models", nil)
		})
	}
	wg.Wait()
	var out []localServer
	for _, s := range found {
		if s.err == nil {
			out = append(out, s)
		}
	}
	return out
}

// looker returns the client that only looks: it follows no redirect, which could
// lead a key elsewhere.
func (a *app) looker() *http.Client {
	if a.outside.http != nil {
		return a.outside.http
	}
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// list asks a server for its models.
func (a *app) list(ctx context.Context, address string, header http.Header) ([]listed, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("the address cannot be read")
	}
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := a.looker().Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the address, which may hold a key
		}
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxList+1))
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return nil, fmt.Errorf("the key is refused (HTTP %d)", resp.StatusCode)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("HTTP %d", resp.StatusCode)
	case len(body) > maxList:
		return nil, fmt.Errorf("the list of models has more than %d bytes", maxList)
	}
	return readList(body)
}

// listed is a model as a server lists it.
type listed struct {
	ID string `json:"id"`
	// Window is the size of the context in tokens, 0 if the server does not say.
	Window int64 `json:"window,omitempty"`
}

// readList reads a list of models, in the form of OpenAI, which Anthropic's is
// too, or in Gemini's.
func readList(body []byte) ([]listed, error) {
	var l struct {
		Data *[]struct {
			ID  string `json:"id"`
			Max int64  `json:"max_model_len"` // vLLM
		} `json:"data"`
		Models *[]struct {
			Name   string `json:"name"`
			Window int64  `json:"inputTokenLimit"`
		} `json:"models"`
	}
	if err := json.Unmarshal(body, &l); err != nil || l.Data == nil && l.Models == nil {
		return nil, errors.New("what answers is no server of models")
	}
	out := []listed{}
	add := func(id string, window int64) {
		if id != "" && len(id) <= 200 && len(out) < maxModels && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) {
			out = append(out, listed{id, max(window, 0)})
		}
	}
	if l.Data != nil { // llama.cpp has both
		for _, m := range *l.Data {
			add(m.ID, m.Max)
		}
		return out, nil
	}
	for _, m := range *l.Models {
		add(strings.TrimPrefix(m.Name, "models/"), m.Window)
	}
	return out, nil
}
