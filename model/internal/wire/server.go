// Package wire answers: what do the clients of all wires have in common?
//
// A [Server] is where requests go. [Server.Do] makes one exchange: it reads the
// reply, whichever way it comes, until a [Decoder] says that it is complete, and
// turns everything else into a [model.Error] that says what to do. A [Fault] is what
// a server says of an error: what kind of failure it is, and how much too long a
// request was, is found here for all wires, since gateways pass on what another has
// said. Beside that stand the small functions with which encoders write JSON and
// decoders read it.
// What a wire's bytes mean is its own package's to know.
package wire

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/model"
	"rein.example/rein/model/catalog"
)

// Settings say where a client's requests go. They are the options that all
// clients have, and what a wire adds to them.
type Settings struct {
	// Provider and Model name the model; Model must not be empty.
	Provider, Model string
	// BaseURL is where; empty means Default, which may be empty too.
	BaseURL, Default string
	// Endpoint is what [ParseBase] takes off the base URL's end.
	Endpoint string
	// Key is sent in the header KeyHeader after KeyPrefix; empty sends none.
	// KeyName is the environment variable that it comes from, for messages.
	Key, KeyName, KeyHeader, KeyPrefix string
	// KeyHost is a host that answers nothing without a key.
	KeyHost string
	// HTTPClient sends the requests; nil makes one.
	HTTPClient *http.Client
	// Header is added to every request. Its values never show in errors.
	Header http.Header
	// Plain are headers that the wire itself wants with every request, no
	// secrets; those in Header go first.
	Plain http.Header
	// Window, MaxOutput and Price describe the model.
	Window, MaxOutput int64
	Price             *model.Price
	// Timeout and Idle are for requests that name none.
	Timeout, Idle time.Duration
	// Kind is what the server should be, for messages: "a compatible server".
	Kind string
}

// Server is where a client's requests go. It is not changed once a client uses
// it, and so safe for concurrent use.
type Server struct {
	Info model.Info
	HTTP *http.Client
	// Base is the base URL; a query in it belongs to every request.
	Base *url.URL

	header  http.Header
	secrets []string
	limit   string // what the server's limits count by
	keyName string
	keyless bool // a key is needed and there is none
	timeout time.Duration
	idle    time.Duration
	kind    string
}

// Open checks the settings and returns the server. It does no I/O. The error
// says which setting is wrong and what to do; it never shows the key.
func Open(o Settings) (*Server, error) {
	if o.Model == "" {
		return nil, fmt.Errorf("%s: no model is named: write it as %s/NAME", o.Provider, o.Provider)
	}
	if o.BaseURL == "" {
		o.BaseURL = o.Default
	}
	if o.BaseURL == "" {
		return nil, fmt.Errorf("%s: no base URL is given for this provider: set base_url", o.Provider)
	}
	base, err := ParseBase(o.BaseURL, o.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Provider, err)
	}
	o.Key = strings.TrimSpace(o.Key) // a file's or shell's line end
	if !IsHeaderText(o.Key) {
		return nil, fmt.Errorf("%s: the key has characters that no key has: check %s", o.Provider, orKey(o.KeyName))
	}
	s := &Server{
		Info: model.Info{Provider: o.Provider, Model: o.Model, Window: o.Window, MaxOutput: o.MaxOutput, Price: o.Price,
			OwnCalls: catalog.OwnCalls(base.Hostname(), o.Model)},
		HTTP: o.HTTPClient, Base: base,
		header: http.Header{}, keyName: o.KeyName, timeout: o.Timeout, idle: o.Idle, kind: o.Kind,
	}
	if s.HTTP == nil {
		s.HTTP = model.NewHTTPClient()
	}
	for name, values := range o.Header {
		s.header[http.CanonicalHeaderKey(name)] = append([]string(nil), values...)
		s.secrets = append(s.secrets, values...)
	}
	s.header.Set("Content-Type", "application/json")
	for name, values := range o.Plain {
		if s.header.Get(name) == "" {
			s.header[http.CanonicalHeaderKey(name)] = append([]string(nil), values...)
		}
	}
	if o.Key != "" {
		s.header.Set(o.KeyHeader, o.KeyPrefix+o.Key)
		s.secrets = append(s.secrets, o.Key)
	}
	s.limit = limitKey(base, s.secrets)
	s.keyless = base.Hostname() == o.KeyHost && s.header.Get(o.KeyHeader) == ""
	return s, nil
}

// salt makes the names of keys mean nothing outside this process.
var salt = rand.Text()

// limitKey names what a server's limits count by: where it is, and who asks. The
// version at a path's end is not told apart, since the limits are not.
func limitKey(base *url.URL, secrets []string) string {
	path := strings.TrimRight(base.Path, "/")
	if at := strings.LastIndexByte(path, '/'); at >= 0 && strings.HasPrefix(path[at:], "/v1") {
		path = path[:at]
	}
	h := sha256.New()
	for _, part := range append([]string{salt, base.Scheme, base.Host, path}, slices.Sorted(slices.Values(secrets))...) {
		h.Write(append([]byte(part), 0))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// LimitKey is what the server's limits count by; see [model.Keyed].
func (s *Server) LimitKey() string { return s.limit }

// Check reports, without I/O, what keeps every call from succeeding: a missing
// key where one is needed. The error is an [*model.Error] of class auth.
func (s *Server) Check() error {
	if s.keyless {
		return &model.Error{Class: event.ClassAuth, Message: fmt.Sprintf("there is no key for %s: set %s", s.base(), orKey(s.keyName))}
	}
	return nil
}

// base returns the base URL for messages: without its query, which may hold a
// key.
func (s *Server) base() string {
	u := *s.Base
	u.RawQuery = ""
	return u.String()
}

// advise adds to what went wrong what the reader can do.
func (s *Server) advise(e *model.Error) {
	var do string
	switch e.Class {
	case event.ClassAuth:
		switch {
		case s.keyless: // Check has said it
		case len(s.secrets) == 0:
			do = "no key was sent: set " + orKey(s.keyName)
		default:
			do = "check " + orKey(s.keyName)
		}
	case event.ClassNotFound:
		do = fmt.Sprintf("check that %s is the base URL of %s and that it has the model %q", s.base(), s.kind, s.Info.Model)
	case event.ClassQuota:
		do = "waiting does not lift this: check plan and billing"
	case event.ClassBadReply:
		if limit := LimitError(""); errors.As(e.Err, &limit) {
			break // it is the right server
		}
		do = fmt.Sprintf("check that %s is the base URL of %s", s.base(), s.kind)
	}
	switch {
	case do == "":
	case e.Message == "":
		e.Message = do
	default:
		e.Message = strings.TrimRight(e.Message, ". ") + "; " + do
	}
}

func orKey(name string) string {
	if name == "" {
		return "the provider's key"
	}
	return name
}
