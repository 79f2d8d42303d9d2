// Package count answers: how many tokens does the model's own server make of a text?
//
// Servers know what their models' vocabularies are: llama.cpp and vLLM tokenize, and
// Anthropic and Gemini count. A [Counter] asks them, remembers what they said, and waits
// no longer than it is told to. Where a server does not answer, or is not worth asking
// for so short a text, the figure is an estimate, corrected by what the server said of
// other texts; [Counter.Measure] says of each figure how it came about.
package count

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"rein.example/rein/model/internal/wire"
	"rein.example/rein/tokens"
)

// Server is a kind of server that counts.
type Server string

// The servers that count.
const (
	// LlamaCpp is llama.cpp's server, at /tokenize.
	LlamaCpp Server = "llamacpp"
	// VLLM is at /tokenize too, with another form.
	VLLM Server = "vllm"
	// Anthropic is at /v1/messages/count_tokens.
	Anthropic Server = "anthropic"
	// Gemini is at :countTokens.
	Gemini Server = "gemini"
)

// What counting takes when the options don't say.
const (
	// DefaultTimeout is for one count: tokenizing takes milliseconds, the way to a
	// vendor and back tenths of a second.
	DefaultTimeout = 5 * time.Second
	// DefaultRemember is how many texts' counts are kept, 40 bytes each.
	DefaultRemember = 4096
	// MaxText is how many bytes a text may have that is sent. Larger ones are
	// estimated: no window in use holds them.
	MaxText = 16 << 20
)

// Options say who counts. Server and Model are required.
type Options struct {
	Server Server
	// Model is the model's name as the server knows it.
	Model string
	// BaseURL is the one that calls of the model go to, such as
	// "http://127.0.0.1:8080/v1"; empty means the server's own, if it has one.
	BaseURL string
	// Key is the one that calls of the model take; KeyName is where it comes from, for
	// messages. Header is added to every request. Values of both never show in errors.
	Key, KeyName string
	Header       http.Header
	// HTTPClient sends the requests; nil makes one. Share the model client's.
	HTTPClient *http.Client
	// Timeout is for one count; 0 means DefaultTimeout.
	Timeout time.Duration
	// Remember is how many texts' counts are kept; 0 means DefaultRemember.
	Remember int
	// AtLeast is how many bytes a text has that is worth asking for; shorter ones are
	// estimated. 0 asks for all, which suits a server on the same machine; for a
	// vendor's a few thousand.
	AtLeast int
	// Estimate counts what the server does not; nil means [tokens.Estimate].
	Estimate tokens.Counter
}

// Counter counts by asking a server. It implements [tokens.Counter] and is safe for
// concurrent use.
type Counter struct {
	o      Options
	server *wire.Server
	asks   endpoint
	url    string

	mu sync.Mutex
	// remembered are counts by the text's hash; order is that of their coming, the
	// next to be forgotten at next.
	remembered map[sum]int
	order      []sum
	next       int
	// counted and estimated are the server's figures and the estimates of the same
	// texts, together; those of long ago weigh less.
	counted, estimated int64
	// framing is what the server counts beside a text, once known.
	framing      int
	framingKnown bool
	pause        pause
	err          error // the last one
}

type sum [16]byte

// New returns a counter. It does no I/O. The error says which option is wrong; it never
// shows the key.
func New(o Options) (*Counter, error) {
	asks, ok := endpoints[o.Server]
	if !ok {
		return nil, fmt.Errorf("count tokens: no server of the kind %q counts: there are llamacpp, vllm, anthropic and gemini", o.Server)
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Remember <= 0 {
		o.Remember = DefaultRemember
	}
	if o.Estimate == nil {
		o.Estimate = tokens.Estimate{}
	}
	s, err := wire.Open(asks.settings(&o))
	if err != nil {
		return nil, fmt.Errorf("count tokens: %w", err)
	}
	return &Counter{o: o, server: s, asks: asks, url: asks.url(s.Base, o.Model), remembered: map[sum]int{}}, nil
}

// Method returns [tokens.Exact], which is what figures are while the server answers.
func (c *Counter) Method() tokens.Method { return tokens.Exact }

// Count returns the number of tokens of a text, however it was counted.
func (c *Counter) Count(text string) int {
	n, _ := c.Measure(text)
	return n
}

// Measure returns the number of tokens of a text and how it was counted:
// [tokens.Exact] by the server; [tokens.Calibrated] or [tokens.Estimated] without it.
func (c *Counter) Measure(text string) (int, tokens.Method) {
	if text == "" {
		return 0, tokens.Exact
	}
	key := keyOf(text)
	if n, ok := c.recall(key); ok {
		return n, tokens.Exact
	}
	if c.worthAsking(text) {
		if n, err := c.ask(text); err == nil {
			n = min(max(n, 1), len(text))
			c.remember(key, text, n)
			return n, tokens.Exact
		}
	}
	return c.estimate(text)
}

// Err returns why the server last did not count, nil if it last did.
func (c *Counter) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// worthAsking reports whether a text is one for the server, and the server one to ask.
func (c *Counter) worthAsking(text string) bool {
	if len(text) < c.o.AtLeast || len(text) > MaxText || strings.TrimSpace(text) == "" && c.asks.framed {
		return false // vendors refuse messages of white space
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pause.over(time.Now())
}

// ask asks the server for a text, and before the first for what it counts beside it.
func (c *Counter) ask(text string) (int, error) {
	framing, err := c.knowFraming()
	if err != nil {
		return 0, err
	}
	n, err := c.request(text)
	return n - framing, err
}

// knowFraming returns what the server counts beside a text: what one letter counts,
// less the one token that a letter is in every vocabulary.
func (c *Counter) knowFraming() (int, error) {
	c.mu.Lock()
	known, framing := c.framingKnown || !c.asks.framed, c.framing
	c.mu.Unlock()
	if known {
		return framing, nil
	}
	n, err := c.request("a")
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.framing, c.framingKnown = max(n-1, 0), true
	return c.framing, nil
}

// request asks the server once, and remembers how it went.
func (c *Counter) request(text string) (int, error) {
	n, err := c.asks.count(context.Background(), c, text)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
	c.pause.note(err, time.Now())
	return n, err
}

// estimate counts without the server: calibrated once it has counted enough, and then by
// at most a factor of two.
func (c *Counter) estimate(text string) (int, tokens.Method) {
	n, method := int64(c.o.Estimate.Count(text)), tokens.Estimated
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.estimated >= enough {
		n = min(max((n*c.counted+c.estimated-1)/c.estimated, n/2), n*2)
		method = tokens.Calibrated
	}
	return int(min(max(n, 1), int64(len(text)))), method
}

// learn takes in what the server made of a text. The caller has the lock.
func (c *Counter) learn(estimated, counted int) {
	c.estimated += int64(estimated)
	c.counted += int64(counted)
	if c.estimated > fading {
		c.estimated, c.counted = c.estimated/2, c.counted/2
	}
}

// How many tokens say what an estimate is to be corrected by, and how many are so many
// that half of them are forgotten.
const (
	enough = 200
	fading = 1 << 20
)

func keyOf(text string) (k sum) {
	h := sha256.Sum256([]byte(text))
	copy(k[:], h[:])
	return k
}

func (c *Counter) recall(key sum) (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, ok := c.remembered[key]
	return n, ok
}

// remember keeps a count, for which the oldest is forgotten if there are enough.
func (c *Counter) remember(key sum, text string, n int) {
	estimated := c.o.Estimate.Count(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.learn(estimated, n)
	if _, ok := c.remembered[key]; ok {
		return
	}
	if len(c.order) < c.o.Remember {
		c.order = append(c.order, key)
	} else {
		delete(c.remembered, c.order[c.next])
		c.order[c.next] = key
		c.next = (c.next + 1) % len(c.order)
	}
	c.remembered[key] = n
}
