// Package anthropic answers: how does one talk to a server that speaks
// Anthropic's Messages API?
//
// Besides Anthropic these are gateways and other vendors' endpoints of the same
// form; [Quirks] names what models and servers differ in. The wire is this
// package's own, over net/http:
//
//   - An [Encoder] writes a request's exact bytes, one fragment a message, with
//     the messages as the last member of the body. The wire knows two roles only,
//     so results, the user's words and notices that follow each other share one
//     message. Cache breakpoints are placed on the last system block and on the
//     last block of what stays.
//   - Thinking and whatever else the server alone understands comes back to it
//     unchanged, in the place where it stood.
//   - A reply is complete with message_stop, or with a stop_reason and every
//     block closed. A stream that ends before is an error of class incomplete,
//     whatever had arrived, and however cleanly the connection was closed.
//   - An error is classified by its own type, in mid-stream as with a status.
//   - A character that a server cuts in two is put together again; bytes that
//     are no text become U+FFFD. Arguments of calls that hold such bytes are
//     left invalid, with the control character U+001A in their place. Thinking that
//     holds some is shown and not sent back: what was signed is another text.
//   - What a filter refuses is a reply that ends as filtered, also where the
//     server reports it as an error.
package anthropic

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"rein.example/rein/model"
	"rein.example/rein/model/internal/wire"
)

const (
	// DefaultBaseURL is used for the provider "anthropic" when no other is given.
	DefaultBaseURL = "https://api.anthropic.com"
	// DefaultAPIVersion is the anthropic-version that is sent when no other is
	// given: the one that every server of this wire knows.
	DefaultAPIVersion = "2023-06-01"
	// noSamplingSince is the version from which on temperature and top_p are
	// refused, whatever the model.
	noSamplingSince = "2026-10-21"
	// bindingBeta lets a request say what is to become of thinking that does
	// not fit the conversation any more; see [Quirks.BoundThinking].
	bindingBeta = "thinking-binding-controls-2026-08-01"
)

// Options say which model on which server. Only Model is required, and BaseURL
// for providers other than "anthropic".
type Options struct {
	// Model is the model's name as the server knows it.
	Model string
	// BaseURL is what "/v1/messages" is appended to. One that ends in "/v1" or
	// in the whole path is taken as well; a query is kept.
	BaseURL string
	// Key is sent as x-api-key; empty sends none. KeyName is the environment
	// variable that it comes from, for error messages; empty means
	// ANTHROPIC_API_KEY for the provider "anthropic" and no name for others. A
	// server that wants a bearer token gets it through Header.
	Key, KeyName string
	// Provider is the name before the slash in "provider/model"; empty means
	// "anthropic".
	Provider string
	// APIVersion is sent as anthropic-version; empty means DefaultAPIVersion.
	APIVersion string
	// Betas are sent as anthropic-beta, such as
	// "interleaved-thinking-2025-05-14", with which Claude 4 and 4.5 also think
	// between tool calls.
	Betas []string
	// HTTPClient sends the requests; nil makes one with [model.NewHTTPClient].
	// Share one between clients of the same server. Its transport must honour
	// contexts; its CheckRedirect is not used, as redirects are not followed.
	HTTPClient *http.Client
	// Header is added to every request. Its values never show in errors.
	Header http.Header
	// Window and MaxOutput describe the model, in tokens; 0 is unknown. The wire
	// wants every request to bound its reply: one that names no bound asks for
	// MaxOutput, or for [DefaultMaxTokens] if that is unknown.
	Window, MaxOutput int64
	// Price is what tokens cost; nil is unknown.
	Price *model.Price
	// Timeout and Idle are for requests that name none; 0 means
	// [model.DefaultTimeout] and [model.DefaultIdle].
	Timeout, Idle time.Duration
	// Quirks say what model and server differ in; nil means [QuirksOf] the
	// model, with MaxTokens from MaxOutput.
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
	if o.Provider == "" {
		o.Provider = "anthropic"
	}
	fallback := ""
	if o.Provider == "anthropic" {
		fallback = DefaultBaseURL
		if o.KeyName == "" {
			o.KeyName = "ANTHROPIC_API_KEY"
		}
	}
	if o.APIVersion == "" {
		o.APIVersion = DefaultAPIVersion
	}
	q := QuirksOf(o.Model)
	q.MaxTokens = max(o.MaxOutput, 0)
	q.NoSampling = q.NoSampling || o.APIVersion >= noSamplingSince
	if o.Quirks != nil {
		q = *o.Quirks
	}
	encoder, err := NewEncoder(o.Provider, q)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Provider, err)
	}
	own, plain, err := headers(&o, q.BoundThinking)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Provider, err)
	}
	keyHost := "api.anthropic.com"
	if own.Get("Authorization") != "" {
		keyHost = "" // the other way to show who one is
	}
	server, err := wire.Open(wire.Settings{
		Provider: o.Provider, Model: o.Model, BaseURL: o.BaseURL, Default: fallback, Endpoint: "/messages",
		Key: o.Key, KeyName: o.KeyName, KeyHeader: "X-Api-Key", KeyHost: keyHost,
		HTTPClient: o.HTTPClient, Header: own, Plain: plain, Window: o.Window, MaxOutput: o.MaxOutput, Price: o.Price,
		Timeout: o.Timeout, Idle: o.Idle, Kind: "a server of the Messages API",
	})
	if err != nil {
		return nil, err
	}
	base := *server.Base
	base.Path = strings.TrimSuffix(base.Path, "/v1")
	return &Client{server: server, encoder: encoder, url: base.JoinPath("v1", "messages").String()}, nil
}

// headers returns the headers that o adds to every request, and those that the
// wire wants. Betas may be named in either place.
func headers(o *Options, bound bool) (own, plain http.Header, err error) {
	own = http.Header{}
	for name, values := range o.Header {
		own[http.CanonicalHeaderKey(name)] = values
	}
	betas := slices.Clone(o.Betas)
	for _, line := range own.Values("Anthropic-Beta") {
		for word := range strings.SplitSeq(line, ",") {
			betas = append(betas, strings.TrimSpace(word))
		}
	}
	own.Del("Anthropic-Beta")
	if bound && !slices.Contains(betas, bindingBeta) {
		betas = append(betas, bindingBeta)
	}
	for _, word := range append(slices.Clip(betas), o.APIVersion) {
		if word == "" || !wire.IsHeaderText(word) {
			return nil, nil, fmt.Errorf("%q is no API version or beta: write them like %q", word, DefaultAPIVersion)
		}
	}
	plain = http.Header{"Anthropic-Version": {o.APIVersion}}
	if len(betas) > 0 {
		plain.Set("Anthropic-Beta", strings.Join(betas, ","))
	}
	return own, plain, nil
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

// Call sends one request and returns the complete reply; see [model.Client].
func (c *Client) Call(ctx context.Context, req *model.Request, sink func(model.Delta)) (*model.Reply, error) {
	p := wire.Protocol{
		Decoder: func(stream bool, emit func(model.Delta)) wire.Decoder {
			return newDecoder(stream, c.encoder.opaque, emit)
		},
		Fault: serverError,
		Reply: replyName, Terminal: "stop_reason",
	}
	return c.server.Do(ctx, &p, c.url, req, sink)
}
