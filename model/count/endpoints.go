package count

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
	"rein.example/rein/model/internal/wire"
)

// endpoint is how a kind of server counts.
type endpoint struct {
	base    string // where it is if nothing else is said
	suffix  string // what a base URL may end in
	key     string // the header of its key, after keyPrefix
	keyPre  string
	keyHost string // its own, which answers nothing without a key
	plain   http.Header
	kind    string
	framed  bool // it counts a message, and not a text
	body    func(dst []byte, model, text string) []byte
	path    func(base, model string) string
	member  string // what has the count: a number, or a list of as many
}

var endpoints = map[Server]endpoint{
	LlamaCpp: {
		base: "http://127.0.0.1:8080", suffix: "/chat/completions", key: "Authorization", keyPre: "Bearer ",
		kind: "a llama.cpp server", member: "tokens",
		body: func(dst []byte, _, text string) []byte {
			dst = wire.Quote(append(dst, `{"content":`...), text)
			return append(dst, `,"add_special":false,"parse_special":false}`...)
		},
		path: func(base, _ string) string { return strings.TrimSuffix(base, "/v1") + "/tokenize" },
	},
	VLLM: {
		base: "http://127.0.0.1:8000", suffix: "/chat/completions", key: "Authorization", keyPre: "Bearer ",
		kind: "a vLLM server", member: "count",
		body: func(dst []byte, model, text string) []byte {
			dst = wire.Quote(append(dst, `{"model":`...), model)
			dst = wire.Quote(append(dst, `,"prompt":`...), text)
			return append(dst, `,"add_special_tokens":false}`...)
		},
		path: func(base, _ string) string { return strings.TrimSuffix(base, "/v1") + "/tokenize" },
	},
	Anthropic: {
		base: "https://api.anthropic.com", suffix: "/messages", key: "X-Api-Key", keyHost: "api.anthropic.com",
		plain: http.Header{"Anthropic-Version": {"2023-06-01"}},
		kind:  "a server of the Messages API", member: "input_tokens", framed: true,
		body: func(dst []byte, model, text string) []byte {
			dst = wire.Quote(append(dst, `{"model":`...), model)
			dst = wire.Quote(append(dst, `,"messages":[{"role":"user","content":`...), text)
			return append(dst, `}]}`...)
		},
		path: func(base, _ string) string { return strings.TrimSuffix(base, "/v1") + "/v1/messages/count_tokens" },
	},
	Gemini: {
		base: "https://generativelanguage.googleapis.com/v1beta", suffix: "/models", key: "X-Goog-Api-Key",
		keyHost: "generativelanguage.googleapis.com",
		kind:    "the Gemini API", member: "totalTokens", framed: true,
		body: func(dst []byte, _, text string) []byte {
			dst = wire.Quote(append(dst, `{"contents":[{"role":"user","parts":[{"text":`...), text)
			return append(dst, `}]}]}`...)
		},
		path: func(base, model string) string {
			if !strings.Contains(model, "/") {
				model = "models/" + model
			}
			return base + "/" + model + ":countTokens"
		},
	},
}

// settings returns where the server is and what requests carry.
func (e *endpoint) settings(o *Options) wire.Settings {
	return wire.Settings{
		Provider: string(o.Server), Model: o.Model, BaseURL: o.BaseURL, Default: e.base, Endpoint: e.suffix,
		Key: o.Key, KeyName: o.KeyName, KeyHeader: e.key, KeyPrefix: e.keyPre, KeyHost: e.keyHost,
		HTTPClient: o.HTTPClient, Header: o.Header, Plain: e.plain, Timeout: o.Timeout, Kind: e.kind,
	}
}

// url returns where to ask. A query of the base URL is kept.
func (e *endpoint) url(base *url.URL, model string) string {
	u := *base
	u.Path = e.path(strings.TrimRight(u.Path, "/"), model)
	u.RawPath = ""
	return u.String()
}

// count asks for a text.
func (e *endpoint) count(ctx context.Context, c *Counter, text string) (int, error) {
	body := e.body(make([]byte, 0, len(text)+len(text)/8+200), c.o.Model, text)
	n := 0
	// A list of tokens has up to eight bytes for each byte of the text.
	limit := int64(len(text))*16 + 64<<10
	err := c.server.Ask(ctx, c.url, body, c.o.Timeout, limit, "a count of tokens", func(r io.Reader) (err error) {
		n, err = readCount(r, e.member)
		return err
	})
	return n, err
}

// mostTokens is more than any text that is sent can have.
const mostTokens = 1 << 30

var errNoCount = errors.New("it has no count")

// readCount reads a count: a member of an object that is a number, or a list of as many
// tokens.
func readCount(r io.Reader, member string) (int, error) {
	d := jsontext.NewDecoder(r, wire.Lenient())
	n := int64(-1)
	err := wire.Members(d, func(name []byte) error {
		if string(name) != `"`+member+`"` {
			return d.SkipValue()
		}
		if d.PeekKind() != '[' {
			var c message.Count
			err := wire.ReadCount(d, &c)
			n = c.Or(-1)
			return err
		}
		n = 0
		return wire.Elements(d, func() error {
			n++
			return d.SkipValue()
		})
	})
	if err != nil {
		return 0, err
	}
	if n < 0 || n > mostTokens {
		return 0, errNoCount
	}
	return int(n), nil
}
