package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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
	// err says, after "but", why what is there gave no list of models.
	err error
}

// localServers asks the usual ports of this machine for their models, all at
// once, and returns those where something is, whatever it answers.
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
			var connected atomic.Bool
			ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
			s.models, s.err = a.list(ctx, s.baseURL+"/models", nil)
			var none *noAnswer
			switch {
			case errors.As(s.err, &none) && !connected.Load():
				s.provider = nil
			case errors.Is(s.err, context.DeadlineExceeded):
				s.err = fmt.Errorf("it gave no list of models within %v", localWait)
			}
		})
	}
	wg.Wait()
	return slices.DeleteFunc(found, func(s localServer) bool { return s.provider == nil })
}

// looker returns the client that only looks: it follows no redirect, which could
// lead a key elsewhere.
func (a *app) looker() *http.Client {
	if a.outside.http != nil {
		return a.outside.http
	}
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// noAnswer is why no answer of HTTP came.
type noAnswer struct{ err error }

func (e *noAnswer) Error() string { return e.err.Error() }
func (e *noAnswer) Unwrap() error { return e.err }

// list asks a server for its models. The error is a [*noAnswer] if there was no
// answer at all.
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
		return nil, &noAnswer{err}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxList+1))
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode == http.StatusUnauthorized && len(header) == 0:
		return nil, errors.New("it wants a key (HTTP 401)")
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return nil, fmt.Errorf("it redirects elsewhere (HTTP %d), which is not followed", resp.StatusCode)
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
// too, or in Gemini's. Entries that cannot be read are left out: one odd model
// does not hide the others.
func readList(body []byte) ([]listed, error) {
	lenient := json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	members := map[string]jsontext.Value{}
	dec := jsontext.NewDecoder(bytes.NewReader(body), lenient)
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, errNoList
	}
	for dec.PeekKind() == '"' {
		t, err := dec.ReadToken()
		if err != nil {
			return nil, errNoList
		}
		name := t.String()
		v, err := dec.ReadValue()
		if _, twice := members[name]; err != nil || twice {
			return nil, errNoList
		}
		members[name] = v.Clone()
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, errNoList
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errNoList
	}
	data, models := members["data"], members["models"]
	out := []listed{}
	add := func(id string, window int64) {
		if id != "" && len(id) <= 200 && len(out) < maxModels && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) {
			out = append(out, listed{id, max(window, 0)})
		}
	}
	var entries []jsontext.Value
	read := 0 // of the entries
	switch {
	case data.Kind() == '[': // llama.cpp has both
		if err := json.Unmarshal(data, &entries, lenient); err != nil {
			return nil, errNoList
		}
		for _, e := range entries {
			var m struct {
				ID  string `json:"id"`
				Max int64  `json:"max_model_len"` // vLLM
			}
			if json.Unmarshal(e, &m) == nil {
				read++
				add(m.ID, m.Max)
			}
		}
	case models.Kind() == '[':
		if err := json.Unmarshal(models, &entries, lenient); err != nil {
			return nil, errNoList
		}
		for _, e := range entries {
			var m struct {
				Name   string `json:"name"`
				Window int64  `json:"inputTokenLimit"`
			}
			if json.Unmarshal(e, &m) == nil {
				read++
				add(strings.TrimPrefix(m.Name, "models/"), m.Window)
			}
		}
	case data.Kind() == 'n' && string(members["object"]) == `"list"`: // Ollama without a model
	default:
		return nil, errNoList
	}
	if read == 0 && len(entries) > 0 {
		return nil, errNoList
	}
	return out, nil
}

var errNoList = errors.New("what it says is no list of models")
