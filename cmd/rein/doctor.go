package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/anthropic"
	"rein.example/rein/model/catalog"
	"rein.example/rein/trace"
)

// diagnosis is what doctor has found. What is not known is null.
type diagnosis struct {
	Version   string             `json:"version"`
	Providers []providerFound    `json:"providers"`
	Local     []localFound       `json:"local"`
	Sandbox   map[string]offered `json:"sandbox"`
	Store     storeFound         `json:"store"`
	Terminal  terminalFound      `json:"terminal"`
	// Catalog is where windows and prices come from.
	Catalog string `json:"catalog"`
}

// providerFound is a provider, and whether it can be used.
type providerFound struct {
	Name    string `json:"name"`
	BaseURL string `json:"base_url,omitempty"`
	// KeyEnv is the variable that holds the key, null if none does.
	KeyEnv *string `json:"key_env"`
	// LookedFor are the variables that would.
	LookedFor []string `json:"looked_for"`
	// Test is null where there was nothing to test.
	Test *tested `json:"test"`

	target *target
	model  string // to begin with
}

// localFound is a server on this machine.
type localFound struct {
	Name    string  `json:"name"`
	BaseURL string  `json:"base_url"`
	Found   bool    `json:"found"` // something answers; Test says what
	Test    *tested `json:"test"`
	// Models are the names that -m takes.
	Models []string `json:"models"`

	target *target
}

// tested is what a server said.
type tested struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	// Models is how many the server lists.
	Models int `json:"models"`
	// Call is one call of a model; null if none was asked for.
	Call *called `json:"call"`
}

// called is one small call of a model.
type called struct {
	Model   string     `json:"model"`
	OK      bool       `json:"ok"`
	Error   string     `json:"error,omitempty"`
	Latency int64      `json:"latency_ms"`
	CostUSD *trace.USD `json:"cost_usd"`
}

// offered is a layer of a sandbox.
type offered struct {
	Offered bool   `json:"offered"`
	Detail  string `json:"detail"`
}

// terminalFound is what rein was started from.
type terminalFound struct {
	Asks   bool `json:"asks"`
	Shows  bool `json:"shows"`
	Colour bool `json:"colour"`
}

const (
	// listWait bounds how long a provider may take to list its models, and
	// callWait how long to answer.
	listWait = 5 * time.Second
	callWait = 30 * time.Second
	// probeOutput is the most tokens of an answer: the least that every server
	// takes.
	probeOutput = 16
)

func (a *app) doctorCommand() *cobra.Command {
	var probe, offline bool
	cmd := &cobra.Command{
		Use: "doctor [--probe] [--offline]", Short: "Show what this machine offers: models, sandbox, store", Args: exactly(),
		Long: `Shows which providers have a key in the environment, which servers of models run
on this machine, what a sandbox could be made of, and where runs are kept. It
changes nothing. Keys are named and never shown.

Each provider with a key is asked for its list of models, which costs nothing. With
--probe each is also asked one question: about 30 tokens, less than a tenth of a
cent. Exits 1 if no model can be reached or the store cannot be used.`,
		Example: `  rein doctor
  rein doctor --probe
  rein doctor --offline --json`,
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().BoolVar(&probe, "probe", false, "ask each model that was found one question, which costs a few tokens")
	cmd.Flags().BoolVar(&offline, "offline", false, "send nothing to other machines")
	cmd.MarkFlagsMutuallyExclusive("probe", "offline")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		d := a.diagnose(cmd.Context(), probe, offline)
		var err error
		if a.json {
			err = a.print(d)
		} else {
			err = a.write([]byte(a.writeReport(d)))
		}
		switch {
		case err != nil:
			return err
		case d.Store.Error != "":
			return failed(fmt.Errorf("the store cannot be used: %s", d.Store.Error))
		case !d.reaches(offline):
			return failed(fmt.Errorf("no model can be reached: set a key, start a server on this machine, or name one with -m openai/NAME --base-url URL; %s needs none", a.next("demo")))
		}
		return nil
	}
	return cmd
}

// reaches reports whether a model was found that answers, as far as was tested.
func (d *diagnosis) reaches(offline bool) bool {
	ok := func(t *tested) bool { return t != nil && t.OK && (t.Call == nil || t.Call.OK) }
	return slices.ContainsFunc(d.Providers, func(p providerFound) bool { return ok(p.Test) || offline && p.KeyEnv != nil }) ||
		slices.ContainsFunc(d.Local, func(l localFound) bool { return ok(l.Test) && len(l.Models) > 0 })
}

// diagnose looks around.
func (a *app) diagnose(ctx context.Context, probe, offline bool) *diagnosis {
	d := &diagnosis{
		Version: builtVersion(), Sandbox: sandboxLayers(), Store: a.lookAtStore(ctx), Catalog: catalog.Source(),
		Terminal: terminalFound{Asks: a.asks, Shows: a.shows, Colour: a.paint(dim, "") != ""},
	}
	seen := map[string]bool{}
	for _, p := range catalog.Providers() {
		if p.Local() || seen[p.BaseURL] {
			continue
		}
		seen[p.BaseURL] = true
		d.Providers = append(d.Providers, a.lookFor(p))
	}
	var wg sync.WaitGroup
	for i := range d.Providers {
		f := &d.Providers[i]
		if f.target == nil || offline {
			continue
		}
		wg.Go(func() {
			f.Test = a.ask(ctx, f.target)
			if probe && f.Test.OK && f.model != "" {
				f.Test.Call = a.try(ctx, f.target, f.model)
			}
		})
	}
	locals := a.localServers(ctx)
	for _, p := range catalog.Providers() {
		if p.Local() {
			d.Local = append(d.Local, localFound{Name: p.Name, BaseURL: p.BaseURL, Models: []string{}})
		}
	}
	for _, s := range locals {
		i := slices.IndexFunc(d.Local, func(l localFound) bool { return l.Name == s.provider.Name })
		l := &d.Local[i]
		l.BaseURL, l.Found, l.Test = s.baseURL, true, &tested{OK: s.err == nil, Models: len(s.models)}
		if s.err != nil {
			l.Test.Error = clip(fmt.Sprintf("something answers at %s, but %v", s.baseURL, s.err), 200)
			continue
		}
		l.target = &target{provider: s.provider, name: s.provider.Name, baseURL: s.baseURL}
		first := ""
		for _, m := range s.models {
			l.Models = append(l.Models, l.Name+"/"+m.ID)
			if first == "" && !strings.Contains(strings.ToLower(m.ID), "embed") {
				first = m.ID
			}
		}
		if probe && first != "" {
			wg.Go(func() { l.Test.Call = a.try(ctx, l.target, first) })
		}
	}
	wg.Wait()
	return d
}

// lookFor returns what there is of a provider; its target is nil if it cannot be
// asked.
func (a *app) lookFor(p catalog.Provider) providerFound {
	f := providerFound{Name: p.Name, BaseURL: p.BaseURL, LookedFor: p.Keys, model: p.Default}
	if p.BaseURLEnv != "" {
		f.LookedFor = append([]string{p.BaseURLEnv}, p.Keys...)
	}
	t := &target{provider: &p, name: p.Name, key: a.usualKey(&p)}
	if t.key.value == "" {
		return f
	}
	f.KeyEnv = &t.key.name
	if err := a.place(t, ""); err != nil {
		f.Test = &tested{Error: err.Error()}
		return f
	}
	f.BaseURL, f.target = t.baseURL, t
	a.warnPlain(t)
	return f
}

// ask asks a provider for its models.
func (a *app) ask(ctx context.Context, t *target) *tested {
	ctx, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	u, err := url.Parse(t.baseURL)
	if err != nil {
		return &tested{Error: "its base URL cannot be read"}
	}
	header := http.Header{}
	switch {
	case t.key.value == "":
	case t.provider.KeyHeader != "":
		header.Set(t.provider.KeyHeader, t.key.value)
	case t.provider.Wire == catalog.Messages:
		header.Set("X-Api-Key", t.key.value)
		header.Set("Anthropic-Version", anthropic.DefaultAPIVersion)
		if !strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/v1") {
			u = u.JoinPath("v1")
		}
	case t.provider.Wire == catalog.Gemini:
		header.Set("X-Goog-Api-Key", t.key.value)
	default:
		header.Set("Authorization", "Bearer "+t.key.value)
	}
	list, err := a.list(ctx, u.JoinPath("models").String(), header)
	if err != nil {
		return &tested{Error: clip(err.Error(), 200)}
	}
	return &tested{OK: true, Models: len(list)}
}

// try asks a model one question.
func (a *app) try(ctx context.Context, t *target, name string) *called {
	t.model = name
	c := &called{Model: t.name + "/" + name}
	client, err := t.client(a.outside.http)
	if err != nil {
		c.Error = clip(err.Error(), 200)
		return c
	}
	start := time.Now()
	reply, err := client.Call(ctx, question(client.Encoder(), name), nil)
	c.Latency = time.Since(start).Milliseconds()
	if err != nil {
		c.Error = clip(err.Error(), 200)
		return c
	}
	c.OK = true
	if cost, ok := reply.Usage.Cost(client.Info().Price); ok {
		c.CostUSD = usd(message.Known(cost.Total()))
	}
	return c
}

// question is a request that costs as little as one can.
func question(e model.Encoder, name string) *model.Request {
	p := &model.Params{Model: name, MaxOutput: probeOutput, Sampling: event.Sampling{}}
	m := message.NewText(message.User, "Answer with the word ok.")
	body := e.Head(nil, p, nil)
	body = e.Message(body, nil, &m)
	body = e.Close(body, p, &m)
	return &model.Request{Body: [][]byte{body}, Timeout: callWait, Idle: callWait}
}
