package openai

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/internal/wire"
)

// decoder puts one reply together from the data of server-sent events, or from
// the one JSON object of a reply without streaming. It is pure: the same
// payloads give the same reply.
type decoder struct {
	stream bool
	opaque string // the Provider of opaque parts
	emit   func(model.Delta)

	json    *jsontext.Decoder
	in      bytes.Buffer
	chunks  int
	choices int // how many choices were seen
	id      string
	model   string

	text      wire.Text
	refusal   wire.Text
	reasoning wire.Text
	details   details
	calls     calls
	tokens    tokens

	finish string // the word that ended the reply; empty until then
	late   bool   // more of the reply has come after it
	done   bool   // [DONE], or the body has ended in order

	// Of the chunk that is being read.
	first   int       // how many elements its choices have
	word    string    // its finish_reason, which counts only if the chunk is whole
	failed  bool      // it is an error
	begun   []string  // names of calls
	loose   []byte    // a piece of text
	thought [3][]byte // its reasoning, under up to three names
}

// newDecoder returns a decoder of a stream, or of a reply in one piece. opaque
// names the server's opaque data. emit gets what is added, and may be nil.
func newDecoder(stream bool, opaque string, emit func(model.Delta)) *decoder {
	return &decoder{stream: stream, opaque: opaque, emit: emit, json: jsontext.NewDecoder(&bytes.Buffer{})}
}

// Complete reports whether a finish_reason has come, and nothing of the reply
// after it, or else [DONE] too; Over whether [DONE] has, and Begun whether any
// choice has.
func (d *decoder) Complete() bool { return d.finish != "" && (!d.late || d.done) }
func (d *decoder) Over() bool     { return d.done }
func (d *decoder) Begun() bool    { return d.choices > 0 }

// End says that the body has ended in order, which is as good as [DONE]. See
// [wire.Ender].
func (d *decoder) End() { d.done = d.done || d.finish != "" }

// Partial returns the text and usage that have come so far.
func (d *decoder) Partial() (string, message.Usage) {
	return d.text.String(), d.tokens.usage(d.reasoned())
}

// reasoned reports whether the reply shows that the model has reasoned: by what it
// thought, or by the server's opaque data, which signs that.
func (d *decoder) reasoned() bool {
	if d.reasoning.Len() > 0 || d.details.opaque() != nil {
		return true
	}
	return slices.ContainsFunc(d.calls.list, func(c *call) bool { return c.opaque != nil })
}

// Push takes the next payload; see [wire.Decoder].
func (d *decoder) Push(name string, data []byte) error {
	data = bytes.TrimSpace(data)
	complete := d.Complete()
	switch {
	case d.done || len(data) == 0 || complete && name == "error":
		return nil
	case name == "error":
		return serverError(0, data, 0)
	case string(data) == "[DONE]":
		d.done = true
		return nil
	case complete && !jsontext.Value(data).IsValid(wire.Lenient()):
		return nil
	}
	d.chunks++
	d.calls.chunk, d.calls.grew = d.chunks, false
	d.first, d.word, d.failed, d.begun = 0, "", false, d.begun[:0]
	d.in = *bytes.NewBuffer(data) // which the JSON decoder reads in place
	d.json.Reset(&d.in, wire.Lenient())
	text, refusal, reasoning, details := d.text.Len(), d.refusal.Len(), d.reasoning.Len(), d.details.entries
	err := d.chunk()
	if d.word != "" || d.finish != "" {
		d.text.End()
		d.refusal.End()
		d.reasoning.End()
	}
	delta := model.Delta{Text: string(d.text.Bytes()[text:]) + string(d.refusal.Bytes()[refusal:]), Reasoning: string(d.reasoning.Bytes()[reasoning:])}
	if complete {
		d.late = delta != (model.Delta{}) || d.calls.grew || d.details.entries > details
	}
	switch {
	case complete && !d.late && (err != nil || d.failed):
		return nil
	case err != nil:
		return wire.BadReply(chatReply, data, err)
	case d.failed:
		return serverError(0, data, 0)
	}
	if d.word != "" {
		d.finish = d.word
	}
	d.tell(delta)
	return nil
}

// tell hands out what the chunk added.
func (d *decoder) tell(delta model.Delta) {
	if d.emit == nil {
		return
	}
	if delta != (model.Delta{}) {
		d.emit(delta)
	}
	for _, name := range d.begun {
		d.emit(model.Delta{Call: name})
	}
}

// chunk reads one payload and checks that nothing follows it.
func (d *decoder) chunk() error {
	switch d.json.PeekKind() {
	case '{', 'n': // some send null to keep the connection alive
	default:
		if err := d.json.SkipValue(); err != nil {
			return err
		}
		return errors.New("not a JSON object")
	}
	var says, asks bool // a message of its own, a type or code
	choices := d.choices
	err := wire.Members(d.json, func(name []byte) (err error) {
		switch string(name) {
		case `"choices"`:
			return wire.Elements(d.json, d.choice)
		case `"usage"`:
			return d.tokens.read(d.json)
		case `"x_groq"`:
			return wire.Members(d.json, func(name []byte) error {
				if string(name) == `"usage"` {
					return d.tokens.read(d.json)
				}
				return d.json.SkipValue()
			})
		case `"id"`:
			return d.once(&d.id)
		case `"model"`:
			return d.once(&d.model)
		case `"error"`:
			return d.maybeError()
		case `"object"`, `"type"`:
			s, err := d.json.ReadValue()
			d.failed = d.failed || string(s) == `"error"`
			asks = asks || string(name) == `"type"`
			return err
		case `"message"`, `"detail"`:
			says = says || d.json.PeekKind() == '"'
		case `"code"`:
			asks = true
		}
		return d.json.SkipValue()
	})
	if err != nil {
		return err
	}
	// An error that is not wrapped in "error", as some gateways send it.
	d.failed = d.failed || says && asks && d.choices == choices
	if _, err := d.json.ReadToken(); err != io.EOF {
		return errors.New("more follows the JSON object")
	}
	return nil
}

// once reads a text that every chunk repeats; the first that is not empty counts.
func (d *decoder) once(to *string) error {
	if *to != "" {
		return d.json.SkipValue()
	}
	s, err := wire.ReadString(d.json)
	*to = s
	return err
}

// maybeError reads the member "error", which some send as null or empty.
func (d *decoder) maybeError() error {
	v, err := d.json.ReadValue()
	switch string(v) {
	case "", "null", `""`, "false", "{}":
	default:
		d.failed = true
	}
	return err
}

// choice reads one element of choices. Only the first of a chunk counts: no
// other is asked for. Azure sends chunks whose choices are empty, or without
// anything new.
func (d *decoder) choice() error {
	if d.first++; d.first > 1 {
		return d.json.SkipValue()
	}
	d.choices++
	return wire.Members(d.json, func(name []byte) (err error) {
		switch string(name) {
		case `"delta"`:
			if d.stream {
				return d.message()
			}
		case `"message"`:
			if !d.stream {
				return d.message()
			}
		case `"finish_reason"`:
			d.word, err = wire.ReadString(d.json)
			return err
		case `"usage"`: // Moonshot
			return d.tokens.read(d.json)
		case `"error"`: // OpenRouter
			return d.maybeError()
		}
		return d.json.SkipValue()
	})
}

// message reads what the model said, or a piece of it.
func (d *decoder) message() error {
	d.thought[0], d.thought[1], d.thought[2] = d.thought[0][:0], d.thought[1][:0], d.thought[2][:0]
	err := wire.Members(d.json, func(name []byte) (err error) {
		switch string(name) {
		case `"content"`:
			return d.content()
		case `"refusal"`:
			return d.add(&d.refusal)
		case `"reasoning_content"`: // DeepSeek, vLLM, llama.cpp, Qwen
			d.thought[0], err = wire.AppendLoose(d.thought[0], d.json)
			return err
		case `"reasoning"`: // OpenRouter, Ollama, newer vLLM
			d.thought[1], err = wire.AppendLoose(d.thought[1], d.json)
			return err
		case `"` + reasoningDetails + `"`: // OpenRouter, beside reasoning
			return wire.Elements(d.json, func() error {
				d.thought[2], err = d.details.read(d.thought[2], d.json, d.stream)
				return err
			})
		case `"tool_calls"`:
			return wire.Elements(d.json, func() error { return d.began(d.calls.read(d.json)) })
		case `"function_call"`:
			return d.began(d.calls.readOld(d.json))
		}
		return d.json.SkipValue()
	})
	if err != nil {
		return err
	}
	for _, t := range d.thought { // the same under several names: one is enough
		if len(t) > 0 {
			d.reasoning.Write(t)
			break
		}
	}
	return nil
}

// add reads a piece of a text.
func (d *decoder) add(to *wire.Text) (err error) {
	d.loose, err = wire.AppendLoose(d.loose[:0], d.json)
	to.Write(d.loose)
	return err
}

// began notes the name of a call that has begun.
func (d *decoder) began(name string, err error) error {
	if name != "" {
		d.begun = append(d.begun, name)
	}
	return err
}

// content reads text, or Mistral's list of parts, whose thinking is reasoning.
func (d *decoder) content() error {
	if d.json.PeekKind() != '[' {
		return d.add(&d.text)
	}
	return wire.Elements(d.json, func() error {
		return wire.Members(d.json, func(name []byte) (err error) {
			switch string(name) {
			case `"text"`:
				return d.add(&d.text)
			case `"thinking"`:
				return wire.Elements(d.json, func() error {
					return wire.Members(d.json, func(name []byte) (err error) {
						if string(name) == `"text"` {
							d.thought[0], err = wire.AppendLoose(d.thought[0], d.json)
							return err
						}
						return d.json.SkipValue()
					})
				})
			}
			return d.json.SkipValue()
		})
	})
}

// Reply returns the complete reply. It must not be called before Complete.
func (d *decoder) Reply() *model.Reply {
	r := &model.Reply{
		Message:   message.Message{Role: message.Assistant},
		Finish:    finishOf(d.finish),
		RawFinish: d.finish,
		Usage:     d.tokens.usage(d.reasoned()),
		Model:     d.model,
		ID:        d.id,
		Mended:    d.text.Mended() + d.refusal.Mended() + d.reasoning.Mended(),
	}
	parts := r.Message.Parts
	if opaque := d.details.opaque(); d.reasoning.Len() > 0 || opaque != nil {
		p := message.Part{Kind: message.Reasoning, Text: d.reasoning.String()}
		if opaque != nil {
			p.Opaque, p.Provider = opaque, d.opaque
		}
		parts = append(parts, p)
	}
	for _, text := range []*wire.Text{&d.text, &d.refusal} {
		if text.Len() > 0 {
			parts = append(parts, message.Part{Kind: message.Text, Text: text.String()})
		}
	}
	r.Message.Parts = d.calls.parts(parts, d.opaque)
	for _, k := range d.calls.list {
		r.Mended += k.args.Mended()
	}
	if r.Finish == event.FinishStop {
		switch {
		case d.refusal.Len() > 0: // the wire has a member for it, but no word
			r.Finish, r.RawFinish = event.FinishContentFilter, "refusal"
		case len(d.calls.list) > 0:
			r.Finish = event.FinishToolCalls
		}
	}
	return r
}
