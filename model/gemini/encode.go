package gemini

import (
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/internal/wire"
)

// version names the encoder's output; any change of a byte needs another.
const version = "gemini/1"

// opaqueName is the message.Part.Provider of this wire's opaque data.
const opaqueName = "gemini"

// Encoder writes request bodies. It implements [model.Encoder] and
// [model.Configured], is pure and safe for concurrent use. Text is written as
// UTF-8, never \u-escaped but for control characters, which JSON wants escaped;
// bytes that are not UTF-8 become U+FFFD.
type Encoder struct{ quirks Quirks }

var (
	_ model.Encoder    = (*Encoder)(nil)
	_ model.Configured = (*Encoder)(nil)
)

// NewEncoder returns the encoder for a model that differs as quirks say. The
// error names the quirk that is none.
func NewEncoder(quirks Quirks) (*Encoder, error) {
	if err := quirks.check(); err != nil {
		return nil, err
	}
	return &Encoder{quirks: quirks}, nil
}

// Version returns "gemini/1".
func (e *Encoder) Version() string { return version }

// Head appends everything before the conversation: the system messages joined
// to one text, the tools and the settings. The model's name and whether to
// stream are not in the body on this wire, but in the address.
func (e *Encoder) Head(dst []byte, p *model.Params, system []message.Message) []byte {
	start := len(dst)
	if len(system) > 0 {
		dst = append(dst, `,"systemInstruction":{"parts":[{"text":"`...)
		for i := range system {
			if i > 0 {
				dst = append(dst, `\n\n`...)
			}
			dst = texts(dst, &system[i])
		}
		dst = append(dst, `"}]}`...)
	}
	tools := len(p.Tools) > 0
	if p.NoTools && len(p.Schema) > 0 && e.quirks.NoSchemaWithTools {
		tools = false
	}
	if tools {
		dst = append(dst, `,"tools":[{"functionDeclarations":[`...)
		for i := range p.Tools {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = toolSpec(dst, &p.Tools[i])
		}
		dst = append(dst, `]}]`...)
		switch {
		case p.NoTools: // the definitions stay, so that the cached prefix does
			dst = append(dst, `,"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}`...)
		case p.Strict && !e.quirks.NoValidated: // a call or text as ever, and calls that fit
			dst = append(dst, `,"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED"}}`...)
		}
	}
	dst = e.config(dst, p, tools)
	dst = append(dst, `,"contents":[`...)
	dst[start] = '{' // in place of the first comma
	return dst
}

func toolSpec(dst []byte, t *event.ToolSpec) []byte {
	dst = wire.Quote(append(dst, `{"name":`...), t.Name)
	if t.Description != "" {
		dst = wire.Quote(append(dst, `,"description":`...), t.Description)
	}
	return append(appendParameters(dst, `,"parameters":`, t.Schema), '}')
}

// config appends generationConfig, if there is anything in it.
func (e *Encoder) config(dst []byte, p *model.Params, tools bool) []byte {
	const name = `,"generationConfig":{`
	start := len(dst)
	dst = append(dst, name...)
	inside := len(dst)
	if p.MaxOutput > 0 {
		dst = wire.Integer(append(dst, `,"maxOutputTokens":`...), p.MaxOutput)
	}
	dst = wire.Number(dst, `,"temperature":`, p.Sampling.Temperature)
	dst = wire.Number(dst, `,"topP":`, p.Sampling.TopP)
	dst = wire.Number(dst, `,"seed":`, p.Sampling.Seed)
	dst = wire.Strings(dst, `,"stopSequences":`, p.Stop)
	dst = e.thinking(dst, p.Sampling.Reasoning)
	if len(p.Schema) > 0 && !(tools && e.quirks.NoSchemaWithTools) {
		dst = append(dst, `,"responseMimeType":"application/json"`...)
		dst = appendSchema(dst, `,"responseSchema":`, p.Schema)
	}
	if len(dst) == inside {
		return dst[:start]
	}
	dst = append(dst[:inside], dst[inside+1:]...) // without the first comma
	return append(dst, '}')
}

// thinking asks for an effort, and for the summaries of the thoughts, which are
// for showing. An effort that the wire has no word for is not asked for.
func (e *Encoder) thinking(dst []byte, effort string) []byte {
	name, efforts := `,"thinkingConfig":{"thinkingLevel":`, levels
	switch e.quirks.Thinking {
	case thinkingNone:
		return dst
	case thinkingBudget:
		name, efforts = `,"thinkingConfig":{"thinkingBudget":`, budgets
	}
	for _, w := range efforts {
		if w.effort != effort {
			continue
		}
		least := w.least
		if least == "" || !e.quirks.AlwaysThinks {
			least = w.asked
		}
		dst = append(append(dst, name...), least...)
		if effort != "none" {
			dst = append(dst, `,"includeThoughts":true`...)
		}
		return append(dst, '}')
	}
	return dst
}

// effort is how the wire asks for an effort, and how where a model always
// thinks, if that is another way.
type effort struct{ effort, asked, least string }

// The efforts, in both ways to ask. The budgets are those by which the API
// itself reads OpenAI's words.
var (
	levels = [...]effort{
		{"none", `"MINIMAL"`, `"LOW"`}, {"minimal", `"MINIMAL"`, `"LOW"`}, {"low", `"LOW"`, ""},
		{"medium", `"MEDIUM"`, ""}, {"high", `"HIGH"`, ""}, {"xhigh", `"HIGH"`, ""}, {"max", `"HIGH"`, ""},
	}
	budgets = [...]effort{
		{"none", "0", "128"}, {"minimal", "1024", ""}, {"low", "1024", ""},
		{"medium", "8192", ""}, {"high", "24576", ""}, {"xhigh", "24576", ""}, {"max", "24576", ""},
	}
)

// Close appends everything after the last message. A body without any
// conversation gets a message that says so: the wire wants one.
func (e *Encoder) Close(dst []byte, _ *model.Params, last *message.Message) []byte {
	if last == nil {
		dst = append(dst, `{"role":"user","parts":[`+nothing...)
	}
	return append(dst, `]}]}`...)
}
