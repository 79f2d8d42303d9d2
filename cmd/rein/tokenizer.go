package main

import (
	"fmt"
	"net/http"

	"rein.example/rein"
	"rein.example/rein/config"
	"rein.example/rein/model/catalog"
	servercount "rein.example/rein/model/count"
	counting "rein.example/rein/tokens"
)

// byServer is the tokenizer of an agent that has its model's own server count.
const byServer = "server"

// worthAway is how many bytes a text has that a vendor is asked to count: the way
// there and back takes longer than a short text's figure could be wrong by.
const worthAway = 4_000

// counts has the target's server count tokens for an agent that wants that.
func (t *target) counts(o *rein.Options) error {
	if o.Window.Tokenizer != byServer {
		return nil
	}
	c, every, err := t.counter()
	if o.Counter = c; !every {
		o.Window.Tokenizer = "" // some figures are estimates
	}
	return err
}

// counter returns what has the target's server count tokens, and whether that counts
// every text, which is so where the way is short.
func (t *target) counter() (c *servercount.Counter, every bool, err error) {
	o := servercount.Options{Model: t.model, BaseURL: t.baseURL, Key: t.key.value, KeyName: t.key.source()}
	if t.provider.KeyHeader != "" && t.key.value != "" {
		o.Key, o.Header = "", http.Header{t.provider.KeyHeader: {t.key.value}}
	}
	switch {
	case t.wire() == catalog.Messages:
		o.Server, o.AtLeast = servercount.Anthropic, worthAway
	case t.wire() == catalog.Gemini:
		o.Server, o.AtLeast = servercount.Gemini, worthAway
	case t.provider.Name == "vllm":
		o.Server, every = servercount.VLLM, true
	case t.provider.Name == "llamacpp":
		o.Server, every = servercount.LlamaCpp, true
	default:
		return nil, false, fmt.Errorf("window.tokenizer: the server of %s does not count tokens for others (those of llamacpp, vllm, anthropic and gemini do): take the line out, or name the model's tokenizer.json", t.name)
	}
	c, err = servercount.New(o)
	return c, every, err
}

// countsAs has an agent that is only looked at counted as it would be when it runs,
// as far as that can be known without its server.
func countsAs(o *rein.Options, cfg *config.Agent) {
	switch o.Window.Tokenizer {
	case byServer:
		o.Window.Tokenizer = "estimate"
	case "":
		o.Window.Tokenizer = string(counting.For(cfg.Model))
	}
	if own := o.Window.Tokenizer; own != "" && own == string(counting.For(cfg.Model)) && len(cfg.Fallback) == 0 {
		o.Window.Margin = ownMargin
	}
}

// ownMargin is the margin of figures of the model's own tokenizer, per million.
const ownMargin = 900_000
