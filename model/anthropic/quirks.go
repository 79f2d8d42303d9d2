package anthropic

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/model/internal/wire"
)

// DefaultMaxTokens bounds a reply, in tokens, where neither the request nor the
// client says how long it may be: Rein's usual output reserve.
const DefaultMaxTokens = 8192

// Quirks say what a model or server differs in. The zero value is Claude 4.5.
// They decide bytes, so they are part of [Encoder.Options].
type Quirks struct {
	// Thinking says how the model is asked to think, which a request does by
	// naming an effort: "budget" (empty means this), a share of max_tokens,
	// which must leave room for the answer; "adaptive" (from Claude 4.6 on),
	// which passes the effort; or "none" (before Claude 3.7), which leaves it
	// out.
	Thinking string `json:"thinking,omitempty"`
	// BoundThinking: thinking that is sent back is checked against what stood
	// before it (Claude 5.1 and later), and a request whose history was
	// compacted, or had a tail, is refused. With this it asks for such thinking
	// to be dropped instead. It implies adaptive thinking, and needs a beta,
	// which [New] adds.
	BoundThinking bool `json:"bound_thinking,omitempty"`
	// NoSampling: temperature and top_p are refused (from Claude 4.7 on) and
	// left out.
	NoSampling bool `json:"no_sampling,omitempty"`
	// NoCache places no cache breakpoints. CacheTTL is how long the server keeps
	// what they mark: "5m" (empty means this) or "1h", which costs more.
	NoCache  bool   `json:"no_cache,omitempty"`
	CacheTTL string `json:"cache_ttl,omitempty"`
	// Schema says how an answer's form is asked for: "json_schema" (empty means
	// this) or "none" (before Claude 4.5), so that the prompt must hold the
	// schema.
	Schema string `json:"schema,omitempty"`
	// MaxTokens is the longest reply that the model can give, in tokens: what a
	// request gets that names no bound, or a higher one. 0 is unknown; see
	// [DefaultMaxTokens].
	MaxTokens int64 `json:"max_tokens,omitempty"`
}

// QuirksOf returns what is known of a model by its name, in any of the forms in
// which it is written ("claude-opus-4-6", "claude-3-7-sonnet-latest",
// "us.anthropic.claude-sonnet-4-5-20250929-v1:0"). A Claude of a version that is
// not known yet counts as the last before it. Of models that are not Claude the
// careful default is assumed.
func QuirksOf(name string) Quirks {
	v, ok := claudeVersion(name)
	switch {
	case !ok:
		return Quirks{Schema: "none"}
	case v >= 501:
		return Quirks{Thinking: "adaptive", NoSampling: true, BoundThinking: true}
	case v >= 407:
		return Quirks{Thinking: "adaptive", NoSampling: true}
	case v >= 406:
		return Quirks{Thinking: "adaptive"}
	case v >= 405:
		return Quirks{}
	case v >= 307:
		return Quirks{Schema: "none"}
	}
	return Quirks{Thinking: "none", Schema: "none"}
}

// claudeVersion returns the version in a Claude's name, 100 × major + minor: the
// first one or two numbers of at most two digits. A Claude without a number is
// taken for 5.0.
func claudeVersion(name string) (int, bool) {
	_, rest, ok := strings.Cut(strings.ToLower(name), "claude")
	if !ok {
		return 0, false
	}
	var numbers []int
	for _, word := range strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("-._@:/", r) }) {
		n, isNumber := 0, len(word) <= 2
		for i := range len(word) {
			isNumber = isNumber && word[i] >= '0' && word[i] <= '9'
			n = n*10 + int(word[i]&15)
		}
		if isNumber {
			numbers = append(numbers, n)
		} else if len(numbers) > 0 {
			break // a date, or the version of something else
		}
	}
	switch len(numbers) {
	case 0:
		return 500, true
	case 1:
		return numbers[0] * 100, true
	}
	return numbers[0]*100 + numbers[1], true
}

// check reports a word that is none of its set.
func (q *Quirks) check() error {
	if err := errors.Join(
		wire.OneOf("thinking", q.Thinking, "adaptive", "budget", "none"),
		wire.OneOf("cache_ttl", q.CacheTTL, "5m", "1h"),
		wire.OneOf("schema", q.Schema, "json_schema", "none"),
	); err != nil {
		return err
	}
	switch {
	case q.MaxTokens < 0:
		return fmt.Errorf("quirk max_tokens is %d: use a number of tokens, or 0 for unknown", q.MaxTokens)
	case q.BoundThinking && q.Thinking != "adaptive":
		return fmt.Errorf("quirk bound_thinking goes with thinking %q only", "adaptive")
	}
	return nil
}

// encoderOptions is the form of [Encoder.Options].
type encoderOptions struct {
	Provider string `json:"provider"`
	Quirks   Quirks `json:"quirks,omitzero"`
}

// EncoderOf makes the encoder whose [Encoder.Options] these are, as a journal
// keeps them.
func EncoderOf(options jsontext.Value) (*Encoder, error) {
	var o encoderOptions
	if err := wire.ReadOptions(options, version, &o); err != nil {
		return nil, err
	}
	return NewEncoder(o.Provider, o.Quirks)
}

// Options returns the encoder's settings; see [model.Configured].
func (e *Encoder) Options() jsontext.Value {
	return wire.Options(encoderOptions{Provider: e.provider, Quirks: e.quirks})
}
