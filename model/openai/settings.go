package openai

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
	"rein.example/rein/model/internal/wire"
)

// settings are what an encoder of either wire is made of.
type settings struct {
	provider string
	quirks   Quirks
	opaque   string // the message.Part.Provider of this server's opaque data
}

// newSettings returns the settings for a server that is called provider. opaque is
// the name under which OpenAI's own opaque data travels on the wire: what another
// server signed means nothing to it. The error names the quirk that is none.
func newSettings(provider string, quirks Quirks, opaque string) (settings, error) {
	err := errors.Join(
		wire.OneOf("max_tokens", quirks.MaxTokens, "max_tokens", "max_completion_tokens"),
		wire.OneOf("reasoning", quirks.Reasoning, "reasoning_content", "reasoning"),
		wire.OneOf("schema", quirks.Schema, "json_schema", "json_object", "none"),
	)
	if provider != "openai" {
		opaque += ":" + provider
	}
	return settings{provider, quirks, opaque}, err
}

// encoderOptions is the form of [Encoder.Options].
type encoderOptions struct {
	Provider string `json:"provider"`
	Quirks   Quirks `json:"quirks,omitzero"`
}

// Options returns the encoder's settings; see [model.Configured].
func (s *settings) Options() jsontext.Value {
	return wire.Options(encoderOptions{Provider: s.provider, Quirks: s.quirks})
}

// open reports whether the fragment of a message ends inside the string of its
// content; rich says that it holds more than text.
func (s *settings) open(m *message.Message, rich bool) bool {
	switch m.Role {
	case message.Assistant:
		return false
	case message.System:
		return !s.quirks.SystemAnywhere
	case message.Tool:
		return !s.quirks.ToolImages || !rich
	}
	return !rich
}
