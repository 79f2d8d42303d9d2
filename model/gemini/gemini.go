// Package gemini answers: how does one talk to Google's Gemini models?
//
// It speaks generateContent of the Generative Language API. The wire is this
// package's own, over net/http:
//
//   - An [Encoder] writes a request's exact bytes, one fragment a message. The
//     contents are the last member of the body, so that each request of a
//     conversation begins with the bytes of the one before.
//   - Thoughts, and the signatures that parts come with, go back on the very part
//     that they came with, unchanged.
//   - Tools and answers are described in the subset of schemas that the API takes.
//   - A reply is complete only with a finishReason, or when the prompt was
//     refused. A stream that ends before is an error of class incomplete,
//     whatever had arrived, and however cleanly the connection was closed.
//   - Whatever the server reports as an error, with a status or in mid-stream, is
//     classified by its google.rpc status and details where it gives them.
//   - A character that a server cuts in two is put together again; bytes that
//     are no text become U+FFFD. Arguments of calls that hold such bytes are
//     left invalid, with the control character U+001A in their place.
//   - What a filter refuses is a reply that ends as filtered, also where the
//     server reports it as an error.
package gemini

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"rein.example/rein/model"
	"rein.example/rein/model/internal/wire"
)

// DefaultBaseURL is used when no other is given.
const DefaultBaseURL = "https://generativelanguage.googleapis.com/v1beta"

// Options say which model on which server. Only Model is required.
type Options struct {
	// Model is the model's name as the server knows it, such as
	// "gemini-2.5-pro"; without a slash in it, it is one of "models/".
	Model string
	// BaseURL is what "/models/NAME:generateContent" is appended to; empty means
	// [DefaultBaseURL]. A query is kept.
	BaseURL string
	// Key is sent in the header x-goog-api-key; empty sends none. KeyName is the
	// environment variable that it comes from, for error messages; empty means
	// GEMINI_API_KEY.
	Key, KeyName string
	// Provider is the name before the slash in "provider/model"; empty means
	// "gemini".
	Provider string
	// HTTPClient sends the requests; nil makes one with [model.NewHTTPClient].
	// Share one between clients of the same server. Its transport must honour
	// contexts; its CheckRedirect is not used, as redirects are not followed.
	HTTPClient *http.Client
	// Header is added to every request. Its values never show in errors.
	Header http.Header
	// Window and MaxOutput describe the model, in tokens; 0 is unknown.
	Window, MaxOutput int64
	// Price is what tokens cost; nil is unknown.
	Price *model.Price
	// Timeout and Idle are for requests that name none; 0 means
	// [model.DefaultTimeout] and [model.DefaultIdle].
	Timeout, Idle time.Duration
	// Quirks say how the model differs; nil means [QuirksOf] it.
	Quirks *Quirks
}

// Client calls one model. It implements [model.Client] and is safe for
// concurrent use.
type Client struct {
	server  *wire.Server
	encoder *Encoder
	// Where requests go: for a reply in one piece, and for a stream.
	url, streamURL string
}

var (
	_ model.Client = (*Client)(nil)
	_ model.Keyed  = (*Client)(nil)
)

// New returns a client. It does no I/O. The error says which option is wrong
// and what to do; it never shows the key.
func New(o Options) (*Client, error) {
	if o.Provider == "" {
		o.Provider = "gemini"
	}
	if o.KeyName == "" {
		o.KeyName = "GEMINI_API_KEY"
	}
	q := QuirksOf(o.Model)
	if o.Quirks != nil {
		q = *o.Quirks
	}
	encoder, err := NewEncoder(q)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Provider, err)
	}
	server, err := wire.Open(wire.Settings{
		Provider: o.Provider, Model: o.Model, BaseURL: o.BaseURL, Default: DefaultBaseURL, Endpoint: "/models",
		Key: o.Key, KeyName: o.KeyName, KeyHeader: "X-Goog-Api-Key", KeyHost: "generativelanguage.googleapis.com",
		HTTPClient: o.HTTPClient, Header: o.Header, Window: o.Window, MaxOutput: o.MaxOutput, Price: o.Price,
		Timeout: o.Timeout, Idle: o.Idle, Kind: "the Gemini API",
	})
	if err != nil {
		return nil, err
	}
	name := o.Model
	if !strings.Contains(name, "/") {
		name = "models/" + name
	}
	c := &Client{server: server, encoder: encoder}
	c.url = endpoint(server.Base, name+":generateContent", "")
	c.streamURL = endpoint(server.Base, name+":streamGenerateContent", "sse")
	return c, nil
}

// endpoint returns the address of a method, with the form of its replies.
func endpoint(base *url.URL, method, alt string) string {
	u := *base
	u.Path = strings.TrimSuffix(u.Path, "/") + "/" + method
	u.RawPath = ""
	if alt != "" {
		q := u.Query()
		q.Set("alt", alt)
		u.RawQuery = q.Encode()
	}
	return u.String()
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
	to := c.url
	if req.Stream {
		to = c.streamURL
	}
	return c.server.Do(ctx, &wire.Protocol{
		Decoder: func(stream bool, emit func(model.Delta)) wire.Decoder { return newDecoder(stream, emit) },
		Fault:   serverError, Reply: replyName, Terminal: "finishReason",
	}, to, req, sink)
}
