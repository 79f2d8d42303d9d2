// Package catalog answers: what is known of the servers and models that exist?
//
// It is data, and small functions to look into it: [Providers] has one entry for
// each kind of server, with the wire that it speaks, where it is, where its key
// usually is, and how it deviates from the wire; [Lookup] gives a model's window
// and price from a snapshot whose source is [Source]. What is not known is not
// guessed: of a server without an entry nothing is assumed, and the zero value of
// [Quirks] is what nearly all servers take.
package catalog

import (
	"net/url"
	"slices"
	"strings"
)

// Wire is the form of requests and replies.
type Wire string

// The wires that Rein speaks.
const (
	Chat      Wire = "openai-chat"
	Responses Wire = "openai-responses"
	Messages  Wire = "anthropic-messages"
	Gemini    Wire = "gemini"
)

// Provider is one kind of server.
type Provider struct {
	// Name is the word before the slash in "provider/model"; Aliases are others
	// for it.
	Name    string
	Aliases []string
	// Title is how the provider calls itself.
	Title string
	Wire  Wire
	// BaseURL is where its API is; empty where each user has their own. The
	// environment variable BaseURLEnv, if any, says where; BasePath is appended
	// to that if it has no path.
	BaseURL, BaseURLEnv, BasePath string
	// Hosts are further hosts that are this provider's; one that begins with a
	// dot stands for all below it.
	Hosts []string
	// Keys are the environment variables that usually hold the key, the usual
	// one first; none where no key is needed. KeyHeader is the header that
	// carries it, where that is not the wire's own.
	Keys      []string
	KeyHeader string
	// NeedsKey: the server answers nothing without a key.
	NeedsKey bool
	// Port is where the server listens on the machine that it was started on; 0
	// for those that are somewhere else.
	Port int
	// Default is a model to begin with; empty where a server has its own.
	Default string
	// Models is the provider's list in the snapshot. Vendor is the word before
	// the slash that OpenRouter has for it, whose windows stand in for those
	// that the list does not have.
	Models, Vendor string
	// Quirks say how it differs in what it takes, for the two OpenAI wires; what
	// Claude and Gemini models differ in follows from their names.
	Quirks Quirks
	// OwnCalls: the calls of its models on its wire can be relied on, so that no
	// text of theirs needs to be taken for a call. See the function OwnCalls.
	OwnCalls bool
	// Sends are the ways in which it is known to differ in what it sends.
	Sends []Deviation
}

// Local reports whether the provider is a server that people run themselves.
func (p *Provider) Local() bool { return p.Port != 0 }

// Is reports whether host, without a port, is the provider's.
func (p *Provider) Is(host string) bool {
	if u, err := url.Parse(p.BaseURL); err == nil && p.BaseURL != "" && !p.Local() && u.Hostname() == host {
		return true
	}
	return slices.ContainsFunc(p.Hosts, func(h string) bool {
		return h == host || strings.HasPrefix(h, ".") && strings.HasSuffix(host, h)
	})
}

// Find returns the provider of that name or alias, nil if there is none. It may
// be changed by the caller.
func Find(name string) *Provider {
	for _, p := range Providers() {
		if p.Name == name || slices.Contains(p.Aliases, name) {
			return &p
		}
	}
	return nil
}

// Names returns the providers' names, without aliases, in the table's order.
func Names() []string {
	var out []string
	for _, p := range Providers() {
		out = append(out, p.Name)
	}
	return out
}

// OwnCalls reports whether the calls of a model at a host, without a port, can be
// relied on; see [Provider.OwnCalls]. Of a server that is not known nothing is
// assumed, nor of the models at Google that are not Gemini: Gemma has no calls on
// its wire.
func OwnCalls(host, model string) bool {
	return slices.ContainsFunc(Providers(), func(p Provider) bool {
		return p.OwnCalls && p.Is(host) && (p.Wire != Gemini || strings.HasPrefix(model[strings.LastIndexByte(model, '/')+1:], "gemini-"))
	})
}

// QuirksOf returns how a server of one of OpenAI's wires differs: by its host
// where that is OpenAI's or Azure's, else by its provider. Nothing is known of
// others, nor of a provider called "openai" at another host: it is a compatible
// server.
func QuirksOf(provider, host string, wire Wire) Quirks {
	for _, name := range []string{openAI, openAIResponses, azure} {
		if p := Find(name); p.Is(host) && p.Wire == wire {
			return p.Quirks
		}
	}
	p := Find(provider)
	switch {
	case p == nil || p.Name == openAI || p.Name == openAIResponses || p.Name == openAIChat || p.Name == azure:
		return Quirks{}
	case p.Wire == wire:
		return p.Quirks
	}
	// A server that has the other wire besides: what is known carries over only
	// as far as it concerns both.
	return Quirks{NoToolChoice: p.Quirks.NoToolChoice, NoParallelCalls: p.Quirks.NoParallelCalls}
}
