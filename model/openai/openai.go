// Package openai answers: how does one talk to a server that speaks OpenAI's
// Chat Completions, or its Responses?
//
// Besides OpenAI these are Ollama, vLLM, llama.cpp, DeepSeek, Qwen, OpenRouter,
// Groq, Mistral, Azure and many more, each a little different; [Quirks] names
// the differences in what they take, and the decoders tolerate the differences
// in what they send. [New] makes a client of Chat Completions, which all of them
// speak, and [NewResponses] one of Responses, on which OpenAI's models keep their
// reasoning from one call to the next. The wires are this package's own, over
// net/http:
//
//   - An [Encoder] or [ResponsesEncoder] writes a request's exact bytes, one
//     fragment a message. The messages are the last member of the body, so that
//     each request of a conversation begins with the bytes of the one before.
//   - A reply is complete only with its finish_reason, or on the other wire with
//     response.completed or response.incomplete. A stream that ends before is an
//     error of class incomplete, whatever had arrived, and however cleanly the
//     connection was closed; what follows it is welcome but not needed.
//   - Whatever a server reports as an error, with a status or in mid-stream, is
//     classified by its own type and code where it gives them.
//   - Some servers go on after the finish_reason of Chat Completions. Once more
//     of the reply has come there, only [DONE] or a body that ends in order
//     completes it; one whose connection breaks is incomplete.
//   - A character that a server cuts in two is put together again; bytes that
//     are no text become U+FFFD. Arguments of calls that hold such bytes are
//     left invalid, with the control character U+001A in their place.
//   - What a filter refuses is a reply that ends as filtered, also where the
//     server reports it as an error.
package openai

import (
	"net/http"
	"time"

	"rein.example/rein/model"
	"rein.example/rein/model/internal/wire"
)

// DefaultBaseURL is used for the provider "openai" when no other is given.
const DefaultBaseURL = "https://api.openai.com/v1"

// Options say which model on which server. Only Model is required, and BaseURL
// for providers other than "openai".
type Options struct {
	// Model is the model's name as the server knows it.
	Model string
	// BaseURL is what "/chat/completions" or "/responses" is appended to,
	// usually ending in "/v1". A query is kept (Azure's api-version).
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
	// Quirks say how the server differs; nil means [QuirksOf] or
	// [ResponsesQuirksOf] the provider.
	Quirks *Quirks
}

// Client calls one model on one server. It implements [model.Client] and is
// safe for concurrent use.
type Client struct {
	server  *wire.Server
	encoder *Encoder
	url     string
}

var (
	_ model.Client = (*Client)(nil)
	_ model.Keyed  = (*Client)(nil)
)

// New returns a client. It does no I/O. The error says which option is wrong
// and what to do; it never shows the key.
func New(o Options) (*Client, error) {
	server, q, err := open(&o, "/chat/completions", QuirksOf)
	if err != nil {
		return nil, err
	}
	encoder, err := NewEncoder(o.Provider, q)
	if err != nil {
		return nil, err
	}
	return &Client{server: server, encoder: encoder, url: server.Base.JoinPath("chat", "completions").String()}, nil
}

// open fills in what o leaves open and returns its server, and its quirks or
// else those that known gives. endpoint is the path of the client's wire.
func open(o *Options, endpoint string, known func(provider, host string) Quirks) (*wire.Server, Quirks, error) {
	if o.Provider == "" {
		o.Provider = "openai"
	}
	fallback := ""
	if o.Provider == "openai" {
		fallback = DefaultBaseURL
		if o.KeyName == "" {
			o.KeyName = "OPENAI_API_KEY"
		}
	}
	server, err := wire.Open(wire.Settings{
		Provider: o.Provider, Model: o.Model, BaseURL: o.BaseURL, Default: fallback, Endpoint: endpoint,
		Key: o.Key, KeyName: o.KeyName, KeyHeader: "Authorization", KeyPrefix: "Bearer ", KeyHost: "api.openai.com",
		HTTPClient: o.HTTPClient, Header: o.Header, Window: o.Window, MaxOutput: o.MaxOutput, Price: o.Price,
		Timeout: o.Timeout, Idle: o.Idle, Kind: "a compatible server",
	})
	if err != nil {
		return nil, Quirks{}, err
	}
	q := known(o.Provider, server.Base.Hostname())
	if o.Quirks != nil {
		q = *o.Quirks
	}
	server.Info.NoParallelCalls, server.Info.NoStream = q.NoParallelCalls, q.NoStream
	return server, q, nil
}

// Info describes the model.
func (c *Client) Info() model.Info { return c.server.Info }

// Encoder returns the client's encoder, an [*Encoder].
func (c *Client) Encoder() model.Encoder { return c.encoder }

// Check reports, without I/O, what keeps every call from succeeding: a missing
// key where one is needed. The error is an [*model.Error] of class auth.
func (c *Client) Check() error { return c.server.Check() }

// LimitKey names what the server's limits count by; see [model.Keyed].
func (c *Client) LimitKey() string { return c.server.LimitKey() }
