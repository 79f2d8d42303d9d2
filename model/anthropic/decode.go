package anthropic

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/internal/wire"
)

// decoder puts one reply together from the data of server-sent events, or from
// the one JSON object of a reply without streaming. It is a [wire.Decoder].
type decoder struct {
	stream bool
	opaque string // the Provider of opaque parts
	emit   func(model.Delta)

	// top reads a payload, sub a member of one.
	top, sub     *jsontext.Decoder
	topIn, subIn bytes.Buffer

	id, model string
	found     bool // a message, or the beginning of one
	contents  contents
	tokens    tokens
	word      string // the stop_reason; empty until it is known
	why       string // why it was refused, in the server's words
	stopped   bool   // message_stop: no block is open any more
	done      bool   // nothing follows
}

// payload is what was found in one payload. Values are slices of it, nil where
// absent.
type payload struct {
	kind                  string
	index                 int64 // -1 is none
	message, block, delta jsontext.Value
	usage                 jsontext.Value
	failed                bool // it is an error
}

// newDecoder returns a decoder of a stream, or of a reply in one piece. opaque
// names the server's opaque data. emit gets what is added, and may be nil.
func newDecoder(stream bool, opaque string, emit func(model.Delta)) *decoder {
	if emit == nil {
		emit = func(model.Delta) {}
	}
	return &decoder{
		stream: stream, opaque: opaque, emit: emit,
		top: jsontext.NewDecoder(&bytes.Buffer{}), sub: jsontext.NewDecoder(&bytes.Buffer{}),
	}
}

// Begun reports whether a message, or a part of one, has come.
func (d *decoder) Begun() bool { return d.found }

// Over reports whether nothing can follow.
func (d *decoder) Over() bool { return d.done }

// Complete reports whether the reply is complete: message_stop, or a stop_reason
// and every block closed. A message_stop without a stop_reason is none: nobody
// could say whether the reply may be acted on.
func (d *decoder) Complete() bool { return d.word != "" && (d.stopped || d.contents.open == 0) }

// Push takes the next payload and the name of its event. The error is a
// [*model.Error] and final: what the server reports as one, or of class
// bad_reply for a payload that is not of this wire. A reply that is complete
// stays so, whatever is wrong with what follows it.
func (d *decoder) Push(name string, data []byte) error {
	data = bytes.TrimSpace(data)
	complete := d.Complete()
	switch {
	case d.done || len(data) == 0:
		return nil
	case string(data) == "[DONE]": // other vendors' endpoints
		d.done = true
		return nil
	case complete && (name == "error" || !jsontext.Value(data).IsValid(wire.Lenient())):
		return nil
	case name == "error":
		return serverError(0, data, 0)
	}
	p, err := d.read(data)
	switch {
	case complete && (err != nil || p.failed):
		return nil
	case err != nil:
		return badReply(data, err)
	case p.failed:
		return serverError(0, data, 0)
	}
	if p.kind == "" {
		p.kind = name
	}
	if err := d.apply(p, data); err != nil {
		return badReply(data, err)
	}
	return nil
}

// read takes a payload apart and checks that nothing follows it.
func (d *decoder) read(data []byte) (*payload, error) {
	d.topIn = *bytes.NewBuffer(data) // which the JSON decoder reads in place
	d.top.Reset(&d.topIn, wire.Lenient())
	switch d.top.PeekKind() {
	case '{', 'n':
	default:
		if err := d.top.SkipValue(); err != nil {
			return nil, err
		}
		return nil, errors.New("not a JSON object")
	}
	p := &payload{index: -1}
	slice := func(to *jsontext.Value) error {
		v, err := d.top.ReadValue()
		end := int(d.top.InputOffset())
		if *to = nil; err == nil && v.Kind() != 'n' {
			*to = data[end-len(v) : end]
		}
		return err
	}
	var says, asks bool // a message of its own, a code
	err := wire.Members(d.top, func(name []byte) (err error) {
		switch string(name) {
		case `"type"`:
			p.kind, err = wire.ReadString(d.top)
			return err
		case `"index"`:
			n, ok, err := wire.ReadInt(d.top)
			if ok && n >= 0 {
				p.index = n
			}
			return err
		case `"message"`:
			says = says || d.top.PeekKind() == '"'
			return slice(&p.message)
		case `"content_block"`:
			return slice(&p.block)
		case `"delta"`:
			return slice(&p.delta)
		case `"usage"`:
			return slice(&p.usage)
		case `"error"`:
			var v jsontext.Value
			err := slice(&v)
			switch string(v) { // some send it as null or empty
			case "", `""`, "false", "{}":
			default:
				p.failed = true
			}
			return err
		case `"detail"`:
			says = says || d.top.PeekKind() == '"'
		case `"code"`:
			asks = true
		}
		return d.top.SkipValue()
	})
	if err != nil {
		return nil, err
	}
	if _, err := d.top.ReadToken(); err != io.EOF {
		return nil, errors.New("more follows the JSON object")
	}
	// Also an error that is not wrapped in "error", as some gateways send it.
	p.failed = p.failed || strings.HasSuffix(p.kind, "error") || says && (asks || p.kind == "")
	return p, nil
}

// in returns a decoder of a member of a payload; of null, if it is absent.
func (d *decoder) in(v jsontext.Value) *jsontext.Decoder {
	if v == nil {
		v = jsontext.Value("null")
	}
	d.subIn = *bytes.NewBuffer(v)
	d.sub.Reset(&d.subIn, wire.Lenient())
	return d.sub
}

// apply adds what a payload says to the reply. Events of types that are not
// known say nothing: the wire's rules let servers add some.
func (d *decoder) apply(p *payload, data []byte) error {
	if !d.stream || p.kind == "message" {
		return d.whole(data)
	}
	switch p.kind {
	case "message_start":
		d.found = true
		return d.start(p.message)
	case "content_block_start":
		d.found = true
		d.close(d.contents.at(p.index)) // one that begins in its place ends it
		b, err := d.contents.begin(d.in(p.block), p.index)
		if err == nil {
			d.tell(b)
		}
		return err
	case "content_block_delta":
		d.found = true
		b, from, err := d.contents.piece(d.in(p.delta), p.index)
		if err == nil && b != nil {
			d.add(b, from)
		}
		return err
	case "content_block_stop":
		d.close(d.contents.at(p.index))
	case "message_delta":
		d.found = true
		if err := wire.Members(d.in(p.delta), d.stop); err != nil {
			return err
		}
		d.explain()
		return d.tokens.add(d.in(p.usage), false)
	case "message_stop":
		for _, b := range d.contents.list {
			d.close(b)
		}
		d.stopped, d.done = true, true
	}
	return nil
}

// close ends a block, and hands out what was held back of it.
func (d *decoder) close(b *block) {
	if b == nil {
		return
	}
	from := b.text.Len()
	d.contents.end(b)
	d.add(b, from)
}

// add hands out what a block has beyond its first bytes.
func (d *decoder) add(b *block, from int) {
	var out model.Delta
	switch rest := string(b.text.Bytes()[from:]); b.kind {
	case kindText, "":
		out.Text = rest
	case kindThinking:
		out.Reasoning = rest
	}
	if out != (model.Delta{}) {
		d.emit(out)
	}
}

// explain makes the server's reason for a refusal the reply's text, if it has
// no other.
func (d *decoder) explain() {
	if d.why == "" || finishOf(d.word) != event.FinishContentFilter || d.text() != "" {
		return
	}
	b := &block{index: -1, kind: kindText, closed: true}
	b.text.Write([]byte(d.why))
	d.contents.list = append(d.contents.list, b)
	d.emit(model.Delta{Text: d.why})
}

// tell hands out a block's beginning, which may be all of it.
func (d *decoder) tell(b *block) {
	if b.kind != kindCall {
		d.add(b, 0)
	} else if name := b.str(`"name"`); name != "" {
		d.emit(model.Delta{Call: name})
	}
}

// start reads the message of message_start, which has no content yet.
func (d *decoder) start(v jsontext.Value) error {
	in := d.in(v)
	return wire.Members(in, func(name []byte) (err error) {
		switch string(name) {
		case `"id"`:
			d.id, err = wire.ReadString(in)
			return err
		case `"model"`:
			d.model, err = wire.ReadString(in)
			return err
		case `"usage"`:
			return d.tokens.add(in, true)
		}
		return in.SkipValue()
	})
}

// whole reads a message in one piece.
func (d *decoder) whole(data []byte) error {
	in := d.in(data)
	defer d.explain()
	return wire.Members(in, func(name []byte) (err error) {
		switch string(name) {
		case `"id"`:
			d.id, err = wire.ReadString(in)
			return err
		case `"model"`:
			d.model, err = wire.ReadString(in)
			return err
		case `"usage"`:
			return d.tokens.add(in, false)
		case `"content"`:
			d.found = d.found || in.PeekKind() == '['
			return wire.Elements(in, func() error {
				if in.PeekKind() != '{' {
					return in.SkipValue()
				}
				b, err := d.contents.begin(in, -1)
				if err == nil {
					d.contents.end(b)
					d.tell(b)
				}
				return err
			})
		}
		return d.stop(name)
	})
}

// stop reads a member that says why the reply ends, from d.sub.
func (d *decoder) stop(name []byte) (err error) {
	switch string(name) {
	case `"stop_reason"`:
		word, err := wire.ReadString(d.sub)
		if word != "" {
			d.word = word
		}
		return err
	case `"stop_details"`:
		return wire.Members(d.sub, func(name []byte) (err error) {
			if string(name) == `"explanation"` {
				d.why, err = wire.ReadString(d.sub)
				return err
			}
			return d.sub.SkipValue()
		})
	}
	return d.sub.SkipValue()
}

// Partial returns the text and usage that have come so far.
func (d *decoder) Partial() (string, message.Usage) { return d.text(), d.tokens.usage() }

// text returns the text that has come so far.
func (d *decoder) text() string {
	var s strings.Builder
	for _, b := range d.contents.list {
		if b.kind == kindText {
			s.Write(b.text.Bytes())
		}
	}
	return s.String()
}

// Reply returns the complete reply. It must not be called before Complete.
func (d *decoder) Reply() *model.Reply {
	r := &model.Reply{
		Message:   message.Message{Role: message.Assistant},
		Finish:    finishOf(d.word),
		RawFinish: d.word,
		Usage:     d.tokens.usage(),
		Model:     d.model,
		ID:        d.id,
	}
	calls := 0
	for _, b := range d.contents.list {
		p, ok := b.part(d.opaque)
		if !ok {
			continue
		}
		if p.Kind == message.ToolCall {
			calls++
		}
		r.Mended += b.mended
		r.Message.Parts = append(r.Message.Parts, p)
	}
	if calls > 0 && (r.Finish == event.FinishStop || r.Finish == event.FinishPause) {
		r.Finish = event.FinishToolCalls // their results must come first
	}
	return r
}
