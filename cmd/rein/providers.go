package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"rein.example/rein/config"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/anthropic"
	"rein.example/rein/model/catalog"
	"rein.example/rein/model/gemini"
	"rein.example/rein/model/openai"
	"rein.example/rein/schema"
)

// maxKey is the most bytes of a file that holds a key.
const maxKey = 16 << 10

// target is a model on a server.
type target struct {
	// provider is the entry of the table, name what it is called in the model's
	// name.
	provider *catalog.Provider
	name     string
	model    string
	baseURL  string
	// own: the server is the provider's, so that it may have the usual key and
	// what the table knows of the model holds.
	own bool
	key key
	// window, in tokens, and price are those that the agent gives.
	window int64
	price  *message.Price
}

// key is a provider's key and where it comes from.
type key struct {
	// name is the variable's, or another by which journals call the key.
	name, value string
	// file is the path of the file that holds it, as the agent says it.
	file string
}

// source says where a key is to be checked.
func (k *key) source() string {
	if k.file != "" {
		return "the key file " + k.file
	}
	return k.name
}

// provider returns the words before and after the slash of the agent's model.
func provider(cfg *config.Agent) (name, modelName string, err error) {
	if cfg.Model == "" {
		return "", "", fmt.Errorf("no model is named: give one with -m openai/NAME, or write model: openai/NAME into agent.yaml")
	}
	name, modelName, _ = strings.Cut(cfg.Model, "/")
	if name == demoProvider {
		return name, modelName, nil
	}
	_, err = providerNamed(name)
	return name, modelName, err
}

// providerNamed returns the provider of that name.
func providerNamed(name string) (*catalog.Provider, error) {
	if p := catalog.Find(name); p != nil {
		return p, nil
	}
	why := fmt.Sprintf("there is no provider %q", name)
	if near := schema.Nearest(name, catalog.Names()); len(near) > 0 {
		why += "; did you mean " + near[0] + "?"
	}
	return nil, fmt.Errorf("%s (known: %s; a server that speaks OpenAI's wire is openai/NAME with --base-url)", why, strings.Join(catalog.Names(), ", "))
}

// targets returns the agent's model and those that it falls back to.
func (a *app) targets(cfg *config.Agent) ([]*target, error) {
	var out []*target
	for i, full := range append([]string{cfg.Model}, cfg.Fallback...) {
		t, err := a.target(cfg, full, i == 0)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
		a.warnPlain(t)
	}
	return out, nil
}

// warnPlain says so if a target's key goes over a network that can read it.
func (a *app) warnPlain(t *target) {
	u, err := url.Parse(t.baseURL)
	if err != nil || t.key.value == "" || u.Scheme != "http" || loopback(u.Hostname()) {
		return
	}
	a.say("%s the key of %s (%s) goes to %s unencrypted: use https, or a tunnel that ends on this machine", a.paint(yellow, "warning:"), t.name, t.key.source(), u.Host)
}

// loopback reports whether a host is this machine by its name alone.
func loopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// target finds the server of a model, and its key. The agent's base_url and key
// are for its first model, and for others of the same provider.
func (a *app) target(cfg *config.Agent, full string, first bool) (*target, error) {
	t := &target{}
	t.name, t.model, _ = strings.Cut(full, "/")
	firstName, _, _ := strings.Cut(cfg.Model, "/")
	if t.name == demoProvider {
		t.provider, t.baseURL = &catalog.Provider{Name: demoProvider, Wire: catalog.Chat}, cfg.BaseURL
		return t, nil
	}
	var err error
	if t.provider, err = providerNamed(t.name); err != nil {
		return nil, err
	}
	same := t.name == firstName
	base := ""
	if same {
		base = cfg.BaseURL
	}
	if err := a.place(t, base); err != nil {
		return nil, err
	}
	if first {
		t.window, t.price = cfg.Window.Size, cfg.TokenPrice()
	}
	switch {
	case same && cfg.KeyFile != "":
		value, err := readKey(cfg.KeyFilePath())
		if err != nil {
			return nil, fmt.Errorf("read the key file that the agent names: %w", err)
		}
		t.key = key{name: "KEY_FILE", value: value, file: cfg.KeyFile}
	case same && cfg.KeyEnv != "":
		value := strings.TrimSpace(a.env(cfg.KeyEnv))
		if value == "" {
			return nil, fmt.Errorf("the environment variable %s, which the agent names for the provider's key, is not set: set it, or change key_env", cfg.KeyEnv)
		}
		t.key = key{name: cfg.KeyEnv, value: value}
	case t.own: // a key is not sent to a server that it was not meant for
		t.key = a.usualKey(t.provider)
	}
	if t.own && t.provider.NeedsKey && t.key.value == "" {
		return nil, fmt.Errorf("there is no key for %s: set %s (or name another variable with key_env, a file with key_file, or another server with --base-url)", t.provider.Title, strings.Join(t.provider.Keys, " or "))
	}
	return t, nil
}

// place sets where the target's server is; base is what the agent says, if
// anything.
func (a *app) place(t *target, base string) error {
	p := t.provider
	switch {
	case base != "":
		t.baseURL = base
		if u, err := url.Parse(base); err == nil {
			t.own = p.Is(u.Hostname()) && u.Scheme == "https"
		}
	case p.BaseURL != "":
		t.baseURL, t.own = p.BaseURL, true
	default:
		u, err := url.Parse(strings.TrimSpace(a.env(p.BaseURLEnv)))
		if err != nil || u.Host == "" {
			return fmt.Errorf("nobody knows where your %s is: set %s to its address, or base_url in agent.yaml", p.Title, p.BaseURLEnv)
		}
		if strings.Trim(u.Path, "/") == "" {
			u.Path = p.BasePath
		}
		t.baseURL, t.own = u.String(), true
	}
	return nil
}

// usualKey returns the key that the environment has for a provider; its value is
// empty if there is none.
func (a *app) usualKey(p *catalog.Provider) key {
	for _, name := range p.Keys {
		if value := strings.TrimSpace(a.env(name)); value != "" {
			return key{name: name, value: value}
		}
	}
	if len(p.Keys) == 0 {
		return key{}
	}
	return key{name: p.Keys[0]}
}

// keyFor returns the variable whose key a server gets that is named on the
// command line, "" for none. Whoever names the server here means it to have the
// usual key; an agent file that came from somebody else does not get it sent that
// way.
func (a *app) keyFor(cfg *config.Agent, c config.Changes) string {
	full := cfg.Model
	if c.Model != "" {
		full = c.Model
	}
	if c.BaseURL == "" || (cfg.KeyEnv != "" || cfg.KeyFile != "") && !cfg.OtherProvider(full) {
		return ""
	}
	name, _, _ := strings.Cut(full, "/")
	p := catalog.Find(name)
	if p == nil {
		return ""
	}
	if k := a.usualKey(p); k.value != "" {
		return k.name
	}
	return ""
}

func readKey(path string) (string, error) {
	if err := config.Regular(path); err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	if err != nil {
		return "", err
	}
	value := strings.TrimSpace(string(text))
	if value == "" || len(text) > maxKey {
		return "", fmt.Errorf("%s does not hold one key", filepath.Base(path))
	}
	return value, nil
}

// wire returns the wire that the target's server is spoken to on.
func (t *target) wire() catalog.Wire {
	if t.own {
		return t.provider.Speaks(t.model)
	}
	return t.provider.Wire
}

// client returns the client of a model that is really called; hc sends its
// requests, nil for one of its own.
func (t *target) client(hc *http.Client) (model.Client, error) {
	var info catalog.Model
	if t.own {
		info, _ = t.provider.Lookup(t.model)
	}
	if t.window > 0 {
		info.Window = t.window
	}
	if t.price != nil {
		info.Price = t.price
	}
	o := openai.Options{
		Provider: t.name, Model: t.model, BaseURL: t.baseURL, Key: t.key.value, KeyName: t.key.source(),
		HTTPClient: hc, Window: info.Window, MaxOutput: info.MaxOutput, Price: info.Price,
	}
	if o.KeyName == "" && len(t.provider.Keys) > 0 { // a server that the agent names
		o.KeyName = fmt.Sprintf("%[1]s, and key_env: %[1]s in the agent's file", t.provider.Keys[0])
	}
	if t.provider.KeyHeader != "" && t.key.value != "" {
		o.Key, o.Header = "", http.Header{t.provider.KeyHeader: {t.key.value}}
	}
	switch t.wire() {
	case catalog.Responses:
		return openai.NewResponses(o)
	case catalog.Messages:
		return anthropic.New(anthropic.Options{
			Provider: o.Provider, Model: o.Model, BaseURL: o.BaseURL, Key: o.Key, KeyName: o.KeyName,
			HTTPClient: hc, Window: o.Window, MaxOutput: o.MaxOutput, Price: o.Price,
		})
	case catalog.Gemini:
		return gemini.New(gemini.Options{
			Provider: o.Provider, Model: o.Model, BaseURL: o.BaseURL, Key: o.Key, KeyName: o.KeyName,
			HTTPClient: hc, Window: o.Window, MaxOutput: o.MaxOutput, Price: o.Price,
		})
	}
	return openai.New(o)
}
