package gemini

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/model/internal/wire"
)

// Quirks say how a model differs in what it takes. The zero value is what the
// latest take. They decide bytes, so they are part of [Encoder.Options].
type Quirks struct {
	// Thinking says how effort is asked for: "level" (empty means this; Gemini 3
	// and later), "budget" (Gemini 2.5: a number of tokens) or "none" (older
	// models, which refuse to be asked).
	Thinking string `json:"thinking,omitempty"`
	// AlwaysThinks: the model cannot be told not to think (the Pro models), so
	// that the least it takes is asked for.
	AlwaysThinks bool `json:"always_thinks,omitempty"`
	// NoSchemaWithTools: the model refuses a schema for its answer in a request
	// with tools (before Gemini 3). Tools go first: the prompt must hold the
	// schema then.
	NoSchemaWithTools bool `json:"no_schema_with_tools,omitempty"`
	// Unsigned: the model takes past calls without a thought signature.
	// Otherwise (Gemini 3 and later) calls that another model made are marked as
	// such, in the way that the API's documentation gives for this.
	Unsigned bool `json:"unsigned,omitempty"`
	// NoValidated: the model does not know the mode in which its calls are held to
	// their schemas (before Gemini 2.5).
	NoValidated bool `json:"no_validated,omitempty"`
}

// The words of Quirks.Thinking.
const (
	thinkingLevel  = "level"
	thinkingBudget = "budget"
	thinkingNone   = "none"
)

// QuirksOf returns what is known of a model, such as "gemini-2.5-pro". An
// unknown Gemini model is taken for one of the latest, any other for an old one.
func QuirksOf(model string) Quirks {
	name := model[strings.LastIndexByte(model, '/')+1:]
	is := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	pro := strings.Contains(name, "-pro")
	switch {
	case is("gemini-2.5"):
		return Quirks{Thinking: thinkingBudget, AlwaysThinks: pro, NoSchemaWithTools: true, Unsigned: true}
	case is("gemini-1"), is("gemini-2"), !is("gemini-"): // Gemma, LearnLM
		return Quirks{Thinking: thinkingNone, NoSchemaWithTools: true, Unsigned: true, NoValidated: true}
	}
	return Quirks{AlwaysThinks: pro}
}

// check reports a word that is none of its set.
func (q *Quirks) check() error {
	return wire.OneOf("thinking", q.Thinking, thinkingLevel, thinkingBudget, thinkingNone)
}

// encoderOptions is the form of [Encoder.Options].
type encoderOptions struct {
	Quirks Quirks `json:"quirks,omitzero"`
}

// EncoderOf makes the encoder whose [Encoder.Options] these are, as a journal
// keeps them.
func EncoderOf(options jsontext.Value) (*Encoder, error) {
	var o encoderOptions
	if err := wire.ReadOptions(options, version, &o); err != nil {
		return nil, err
	}
	return NewEncoder(o.Quirks)
}

// Options returns the encoder's settings; see [model.Configured].
func (e *Encoder) Options() jsontext.Value {
	return wire.Options(encoderOptions{Quirks: e.quirks})
}
