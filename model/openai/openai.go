// Package openai answers: how does one talk to a server that speaks OpenAI's
// Chat Completions?
//
// Besides OpenAI these are Ollama, vLLM, llama.cpp, DeepSeek, Qwen, OpenRouter,
// Groq, Mistral, Azure and many more, each a little different; [Quirks] names
// the differences in what they take, and the decoder tolerates the differences
// in what they send. The wire is this package's own, over net/http:
//
//   - An [Encoder] writes a request's exact bytes, one fragment a message. The
//     messages are the last member of the body, so that each request of a
//     conversation begins with the bytes of the one before.
//   - A reply is complete only with a finish_reason. A stream that ends before
//     is an error of class incomplete, whatever had arrived, and however
//     cleanly the connection was closed; what follows it ([DONE], usage) is
//     welcome but not needed.
//   - Whatever a server reports as an error, with a status or in mid-stream, is
//     classified by its own type and code where it gives them.
package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/model"
)

// DefaultBaseURL is used for the provider "openai" when no other is given.
const DefaultBaseURL = "https://api.openai.com/v1"

// Options say which model on which server. Only Model is required, and BaseURL
// for providers other than "openai".
type Options struct {
	// Model is the model's name as the server knows it.
	Model string
	// BaseURL is what "/chat/completions" is appended to, usually ending in
	// "/v1". A query is kept (Azure's api-version).
	BaseURL string
	// Key is sent as a bearer token; empty sends none. KeyName is the
	// environment variable that it comes from, for error messages; empty means
	// OPENAI_API_KEY for the provider "openai" and no name for others.
	Key, KeyName string
	// Provider is the name before the slash in "provider/model"; empty means
	// "openai".
	Provider string
	// HTTPClient sends the requests; nil makes one with [model.NewHTTPClient].
	// Share one between clients of the same server. Its transport must honour
	// contexts; its CheckRedirect is not used, as redirects are not followed.
	HTTPClient *http.Client
	// Header is added to every request: an organisation, or Azure's api-key.
	// Its values never show in errors.
	Header http.Header
	// Window and MaxOutput describe the model, in tokens; 0 is unknown.
	Window, MaxOutput int64
	// Price is what tokens cost; nil is unknown.
	Price *model.Price
	// Timeout and Idle are for requests that name none; 0 means
	// [model.DefaultTimeout] and [model.DefaultIdle].
	Timeout, Idle time.Duration
	// Quirks say how the server differs; nil means [QuirksOf] the provider.
	Quirks *Quirks
}

// Client calls one model on one server. It implements [model.Client] and is
// safe for concurrent use.
type Client struct {
	info    model.Info
	encoder *Encoder
	http    *http.Client
	url     string
	base    string // for messages: without query
	header  http.Header
	secrets []string
	keyName string
	keyless bool // a key is needed and there is none
	timeout time.Duration
	idle    time.Duration
}

// New returns a client. It does no I/O. The error says which option is wrong
// and what to do; it never shows the key.
func New(o Options) (*Client, error) {
	if o.Provider == "" {
		o.Provider = "openai"
	}
	if o.Model == "" {
		return nil, fmt.Errorf("%s: no model is named: write it as %s/NAME", o.Provider, o.Provider)
	}
	if o.BaseURL == "" {
		if o.Provider != "openai" {
			return nil, fmt.Errorf("%s: no base URL is given for this provider: set base_url", o.Provider)
		}
		o.BaseURL = DefaultBaseURL
	}
	base, err := parseBase(o.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Provider, err)
	}
	if o.KeyName == "" && o.Provider == "openai" {
		o.KeyName = "OPENAI_API_KEY"
	}
	o.Key = strings.TrimSpace(o.Key) // a file's or shell's line end
	if !isHeaderText(o.Key) {
		return nil, fmt.Errorf("%s: the key has characters that no key has: check %s", o.Provider, orKey(o.KeyName))
	}
	q := QuirksOf(o.Provider, base.Hostname())
	if o.Quirks != nil {
		q = *o.Quirks
	}
	encoder, err := NewEncoder(o.Provider, q)
	if err != nil {
		return nil, err
	}
	c := &Client{
		info: model.Info{
			Provider: o.Provider, Model: o.Model, Window: o.Window, MaxOutput: o.MaxOutput,
			Price: o.Price, NoParallelCalls: q.NoParallelCalls,
		},
		encoder: encoder,
		http:    o.HTTPClient,
		header:  http.Header{},
		keyName: o.KeyName,
		timeout: o.Timeout,
		idle:    o.Idle,
	}
	if c.http == nil {
		c.http = model.NewHTTPClient()
	}
	for name, values := range o.Header {
		c.header[http.CanonicalHeaderKey(name)] = append([]string(nil), values...)
		c.secrets = append(c.secrets, values...)
	}
	c.header.Set("Content-Type", "application/json")
	if o.Key != "" {
		c.header.Set("Authorization", "Bearer "+o.Key)
		c.secrets = append(c.secrets, o.Key)
	}
	c.keyless = base.Hostname() == "api.openai.com" && c.header.Get("Authorization") == ""
	c.url = base.JoinPath("chat", "completions").String()
	base.RawQuery = ""
	c.base = base.String()
	return c, nil
}

// Info describes the model.
func (c *Client) Info() model.Info { return c.info }

// Encoder returns the client's encoder, an [*Encoder].
func (c *Client) Encoder() model.Encoder { return c.encoder }

// Check reports, without I/O, what keeps every call from succeeding: a missing
// key where one is needed. The error is an [*model.Error] of class auth.
func (c *Client) Check() error {
	if c.keyless {
		return &model.Error{Class: event.ClassAuth, Message: fmt.Sprintf("there is no key for %s: set %s", c.base, orKey(c.keyName))}
	}
	return nil
}

// parseBase checks and normalises a base URL. Its errors don't quote it: a
// mistyped one may hold a key.
func parseBase(s string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(s))
	switch {
	case err != nil:
		return nil, errors.New("the base URL cannot be read: write it like http://127.0.0.1:8080/v1")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("the base URL must begin with http:// or https://")
	case u.Host == "":
		return nil, errors.New("the base URL names no host: write it like http://127.0.0.1:8080/v1")
	case u.User != nil:
		return nil, errors.New("the base URL holds a user or password: put the key where keys belong")
	}
	u.Fragment = ""
	// A whole endpoint is a common slip.
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions")
	return u, nil
}

// isHeaderText reports whether s can stand in a header.
func isHeaderText(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func orKey(name string) string {
	if name == "" {
		return "the provider's key"
	}
	return name
}

var _ model.Client = (*Client)(nil)

// Call sends one request and returns the complete reply; see [model.Client].
func (c *Client) Call(ctx context.Context, req *model.Request, sink func(model.Delta)) (*model.Reply, error) {
	reply, err := c.call(ctx, req, sink)
	if err != nil {
		e := asError(err)
		c.advise(e)
		e.Redact(c.secrets...)
		return nil, e
	}
	return reply, nil
}
