package gemini

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/internal/wire"
)

// maxParts bounds the parts of one reply; the pieces of one text are one part.
const maxParts = 4096

var errTooManyParts = errors.New("more than 4096 parts in one reply")

// unspecified is how the wire says that there is no reason yet; it stands in
// chunks before the last.
const unspecified = "FINISH_REASON_UNSPECIFIED"

// replyName is what a reply is called in messages.
const replyName = "a reply of the Gemini API"

// decoder puts one reply together from the data of server-sent events, or from
// the JSON of a reply without streaming. It implements [wire.Decoder].
type decoder struct {
	stream bool
	emit   func(model.Delta)

	json  *jsontext.Decoder
	in    bytes.Buffer
	begun bool
	over  bool
	id    string
	model string

	parts  []*part
	tokens tokens
	finish string // the word that ended the reply; empty until then
	block  string // why the prompt was refused; empty if it was not

	// Of the chunk that is being read.
	first     int    // how many candidates it has
	word, why string // its finishReason and blockReason, which count only if it is whole
	failed    bool   // it is an error
	deltas    []model.Delta
	loose     []byte // a part's text
}

// part is a part of the reply that is being put together.
type part struct {
	kind      message.Kind // text, reasoning or tool_call
	text      wire.Text
	id, name  string
	args      string
	mended    int64          // of the arguments; see [model.Reply]
	signature jsontext.Value // as it came; nil if there is none
}

// newDecoder returns a decoder of a stream, or of a reply in one piece. emit
// gets what is added, and may be nil.
func newDecoder(stream bool, emit func(model.Delta)) *decoder {
	return &decoder{stream: stream, emit: emit, json: jsontext.NewDecoder(&bytes.Buffer{})}
}

// Begun reports whether anything has come that only a reply has, Complete whether
// a finishReason has, or the refusal of the prompt. What follows these may still
// hold usage, so nothing but the [DONE] of a proxy ends the stream before its end.
func (d *decoder) Begun() bool    { return d.begun }
func (d *decoder) Complete() bool { return d.finish != "" || d.block != "" }
func (d *decoder) Over() bool     { return d.over }

// Partial returns the text and usage that have come so far.
func (d *decoder) Partial() (string, message.Usage) {
	var text []byte
	for _, p := range d.parts {
		if p.kind == message.Text {
			text = append(text, p.text.Bytes()...)
		}
	}
	return string(text), d.tokens.usage()
}

// Push takes the next payload; see [wire.Decoder]. A reply without streaming may
// be a list of chunks, as the API sends it where events were not asked for.
func (d *decoder) Push(name string, data []byte) error {
	data = bytes.TrimSpace(data)
	complete := d.Complete()
	switch {
	case d.over || len(data) == 0 || complete && name == "error":
		return nil
	case name == "error":
		return serverError(0, data, 0)
	case string(data) == "[DONE]":
		d.over = true
		return nil
	case complete && !jsontext.Value(data).IsValid(wire.Lenient()):
		return nil
	}
	d.first, d.word, d.why, d.failed, d.deltas = 0, "", "", false, d.deltas[:0]
	d.in = *bytes.NewBuffer(data) // which the JSON decoder reads in place
	d.json.Reset(&d.in, wire.Lenient())
	err := d.payload()
	switch {
	case complete && (err != nil || d.failed):
		return nil
	case err != nil:
		return wire.BadReply(replyName, data, err)
	case d.failed:
		return serverError(0, data, 0)
	}
	if d.word != "" {
		d.finish = d.word
	}
	if d.why != "" {
		d.block = d.why
	}
	if d.Complete() {
		d.end()
	}
	if d.emit != nil {
		for _, delta := range d.deltas {
			d.emit(delta)
		}
	}
	return nil
}

// payload reads one payload and checks that nothing follows it.
func (d *decoder) payload() error {
	var err error
	switch kind := d.json.PeekKind(); {
	case kind == '[' && !d.stream:
		err = wire.Elements(d.json, func() error { d.first = 0; return d.chunk() })
	case kind == '{', kind == 'n':
		err = d.chunk()
	default:
		if err = d.json.SkipValue(); err == nil {
			err = errors.New("not a JSON object")
		}
	}
	if err != nil {
		return err
	}
	if _, err := d.json.ReadToken(); err != io.EOF {
		return errors.New("more follows the JSON object")
	}
	return nil
}

// chunk reads one GenerateContentResponse, or an error, which some gateways send
// without its usual wrapping.
func (d *decoder) chunk() error {
	var says, asks bool // a message of its own, a code or status
	defer func() { d.failed = d.failed || says && asks && d.first == 0 }()
	return wire.Members(d.json, func(name []byte) error {
		switch string(name) {
		case `"message"`:
			says = says || d.json.PeekKind() == '"'
		case `"code"`, `"status"`:
			asks = true
		case `"candidates"`:
			return wire.Elements(d.json, d.candidate)
		case `"promptFeedback"`:
			d.begun = true
			return wire.Members(d.json, func(name []byte) (err error) {
				if string(name) == `"blockReason"` {
					d.why, err = wire.ReadString(d.json)
					return err
				}
				return d.json.SkipValue()
			})
		case `"usageMetadata"`:
			d.begun = true
			return d.tokens.read(d.json)
		case `"responseId"`:
			return d.once(&d.id)
		case `"modelVersion"`:
			return d.once(&d.model)
		case `"error"`:
			v, err := d.json.ReadValue()
			d.failed = d.failed || v.Kind() == '{' || v.Kind() == '"'
			return err
		}
		return d.json.SkipValue()
	})
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

// candidate reads one candidate. Only the first of a chunk counts: no other is
// asked for.
func (d *decoder) candidate() error {
	if d.first++; d.first > 1 {
		return d.json.SkipValue()
	}
	d.begun = true
	return wire.Members(d.json, func(name []byte) error {
		switch string(name) {
		case `"content"`:
			return wire.Members(d.json, func(name []byte) error {
				if string(name) == `"parts"` {
					return wire.Elements(d.json, d.part)
				}
				return d.json.SkipValue()
			})
		case `"finishReason"`:
			word, err := wire.ReadString(d.json)
			if word != "" && word != unspecified {
				d.word = word
			}
			return err
		}
		return d.json.SkipValue()
	})
}

// part reads one part and puts it where it belongs. Parts of kinds that were not
// asked for (code that the server ran, images) are left out.
func (d *decoder) part() error {
	p := &part{kind: message.Text}
	d.loose = d.loose[:0]
	err := wire.Members(d.json, func(name []byte) (err error) {
		switch string(name) {
		case `"text"`:
			d.loose, err = wire.AppendLoose(d.loose, d.json)
			return err
		case `"thought"`:
			v, err := d.json.ReadValue()
			if v.Kind() == 't' && p.kind == message.Text {
				p.kind = message.Reasoning
			}
			return err
		case `"` + signatureName + `"`:
			v, err := wire.ReadRaw(d.json)
			if v.Kind() == '"' && len(v) > len(`""`) && v.IsValid() {
				p.signature = v
			}
			return err
		case `"functionCall"`:
			if d.json.PeekKind() != '{' {
				return d.json.SkipValue()
			}
			p.kind = message.ToolCall
			return d.call(p)
		}
		return d.json.SkipValue()
	})
	if err != nil {
		return err
	}
	if p.kind != message.ToolCall && len(d.loose) == 0 && p.signature == nil {
		return nil // it says nothing
	}
	return d.add(p)
}

// call reads a function call. The wire sends every call whole; arguments that
// are empty are left out.
func (d *decoder) call(p *part) error {
	p.args = "{}"
	return wire.Members(d.json, func(name []byte) (err error) {
		switch string(name) {
		case `"id"`:
			p.id, err = wire.ReadString(d.json)
			return err
		case `"name"`:
			p.name, err = wire.ReadString(d.json)
			return err
		case `"args"`:
			v, err := wire.ReadRaw(d.json)
			if v == nil || err != nil {
				return err
			}
			if v.IsValid() {
				err = v.Compact()
			}
			p.args, p.mended = wire.Arguments(v)
			return err
		}
		return d.json.SkipValue()
	})
}

// add takes a part that has been read, with the text in d.loose. A piece of text
// continues the part before it, unless one of them is signed: a signature goes back
// with the very text that it came with.
func (d *decoder) add(p *part) error {
	if n := len(d.parts); n > 0 && p.signature == nil {
		if last := d.parts[n-1]; last.kind == p.kind && p.kind != message.ToolCall && last.signature == nil {
			d.tell(last, func() { last.text.Write(d.loose) })
			return nil
		}
	}
	if len(d.parts) == maxParts {
		return errTooManyParts
	}
	d.end()
	d.parts = append(d.parts, p)
	if p.kind == message.ToolCall {
		d.deltas = append(d.deltas, model.Delta{Call: p.name})
		return nil
	}
	d.tell(p, func() {
		p.text.Write(d.loose)
		if p.signature != nil { // nothing is added to it
			p.text.End()
		}
	})
	return nil
}

// end ends the text of the last part, if it is one.
func (d *decoder) end() {
	if n := len(d.parts); n > 0 && d.parts[n-1].kind != message.ToolCall {
		d.tell(d.parts[n-1], d.parts[n-1].text.End)
	}
}

// tell notes for showing what a part's text gains by change.
func (d *decoder) tell(p *part, change func()) {
	from := p.text.Len()
	change()
	switch rest := string(p.text.Bytes()[from:]); {
	case rest == "":
	case p.kind == message.Reasoning:
		d.deltas = append(d.deltas, model.Delta{Reasoning: rest})
	default:
		d.deltas = append(d.deltas, model.Delta{Text: rest})
	}
}

// Reply returns the complete reply. It must not be called before Complete.
func (d *decoder) Reply() *model.Reply {
	r := &model.Reply{
		Message:   message.Message{Role: message.Assistant},
		Finish:    finishOf(d.finish),
		RawFinish: d.finish,
		Usage:     d.tokens.usage(),
		Model:     d.model,
		ID:        d.id,
	}
	if d.finish == "" { // the prompt was refused, for whatever reason
		r.Finish, r.RawFinish = event.FinishContentFilter, d.block
	}
	ids := d.ids()
	for _, p := range d.parts {
		r.Mended += p.text.Mended() + p.mended
		out := message.Part{Kind: p.kind, Text: p.text.String()}
		if p.kind == message.ToolCall {
			out = message.Part{Kind: p.kind, ID: ids[0], Name: p.name, Args: p.args}
			ids = ids[1:]
		}
		if p.kind == message.Reasoning || p.signature != nil {
			out.Provider = opaqueName // also says whose thought it is
		}
		if p.signature != nil {
			out.Opaque = append(append([]byte(`{"`+signatureName+`":`), p.signature...), '}')
		}
		r.Message.Parts = append(r.Message.Parts, out)
	}
	if r.Finish == event.FinishStop && r.Message.Calls() > 0 {
		r.Finish = event.FinishToolCalls
	}
	return r
}

// ids returns the ids of the calls in their order: the API's own, marked as
// such, or where it gives none, or one of them twice, one that the call's place
// decides.
func (d *decoder) ids() []string {
	var ids []string
	seen := map[string]bool{idMark: true}
	n := 0
	for _, p := range d.parts {
		if p.kind != message.ToolCall {
			continue
		}
		id := idMark + p.id
		if seen[id] {
			n++
			id = "call_" + strconv.Itoa(n)
		}
		seen[id] = true
		ids = append(ids, id)
	}
	return ids
}
