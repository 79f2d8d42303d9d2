package openai

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/internal/wire"
)

// A reply is open until one of the terminal events ends it: response.completed,
// response.incomplete, response.failed or error. The last two are errors, and so
// is the stream's end before any of them.
type terminal int

const (
	going terminal = iota
	completed
	incomplete
)

// responsesDecoder puts one reply together from the events of a stream, or from
// the one JSON object of a reply without streaming. It implements [wire.Decoder].
type responsesDecoder struct {
	stream bool
	opaque string // the Provider of opaque parts
	emit   func(model.Delta)

	json   *jsontext.Decoder
	in     bytes.Buffer
	begun  bool
	over   bool // [DONE]
	state  terminal
	reason string // why an incomplete reply is
	id     string
	model  string
	items  outputItems
	tokens responsesTokens

	ev responsesEvent // the event that is being read
}

// responsesEvent is what the events of a stream hold, each some of it.
type responsesEvent struct {
	kind, delta, arguments []byte // the last two as wire.AppendLoose gives them
	index, part            int64  // of the item, and of its part; -1 is none
	item, response         jsontext.Value
	failed                 bool // it has an error
}

// newResponsesDecoder returns a decoder of a stream, or of a reply in one piece.
// opaque names the server's opaque data. emit gets what is added, and may be nil.
func newResponsesDecoder(stream bool, opaque string, emit func(model.Delta)) *responsesDecoder {
	if emit == nil {
		emit = func(model.Delta) {}
	}
	return &responsesDecoder{stream: stream, opaque: opaque, emit: emit, json: jsontext.NewDecoder(&bytes.Buffer{})}
}

// Begun reports whether a response has begun, Complete whether a terminal event
// has ended it. Nothing that counts follows that.
func (d *responsesDecoder) Begun() bool    { return d.begun }
func (d *responsesDecoder) Complete() bool { return d.state != going }
func (d *responsesDecoder) Over() bool     { return d.Complete() || d.over }

// Partial returns the text and usage that have come so far.
func (d *responsesDecoder) Partial() (string, message.Usage) {
	var text []byte
	for _, it := range d.items.list {
		if it.kind == itemMessage {
			text = append(text, it.text.Bytes()...)
		}
	}
	return string(text), d.tokens.usage()
}

// Push takes the data of the next event, or the whole reply; see [wire.Decoder].
// An event's type stands in its data; its name is looked at only where it does
// not.
func (d *responsesDecoder) Push(name string, data []byte) error {
	data = bytes.TrimSpace(data)
	switch {
	case d.Over() || len(data) == 0:
		return nil
	case string(data) == "[DONE]":
		d.over = true
		return nil
	}
	d.in = *bytes.NewBuffer(data) // which the JSON decoder reads in place
	d.json.Reset(&d.in, wire.Lenient())
	if !d.stream {
		return d.whole(data)
	}
	if err := d.read(); err != nil {
		if name == "error" { // in words of its own
			return responsesError(0, data, 0)
		}
		return wire.BadReply(responsesReply, data, err)
	}
	if len(d.ev.kind) == 0 {
		d.ev.kind = append(d.ev.kind, name...)
	}
	if err := d.event(data); err != nil {
		var e *model.Error
		if errors.As(err, &e) {
			return e
		}
		return wire.BadReply(responsesReply, data, err)
	}
	return nil
}

// read reads one event and checks that nothing follows it.
func (d *responsesDecoder) read() error {
	ev := &d.ev
	*ev = responsesEvent{kind: ev.kind[:0], delta: ev.delta[:0], arguments: ev.arguments[:0], index: -1, part: -1}
	switch d.json.PeekKind() {
	case '{', 'n': // some send null to keep the connection alive
	default:
		if err := d.json.SkipValue(); err != nil {
			return err
		}
		return errors.New("not a JSON object")
	}
	err := wire.Members(d.json, func(name []byte) (err error) {
		switch string(name) {
		case `"type"`:
			ev.kind, err = wire.AppendString(ev.kind, d.json)
			return err
		case `"delta"`:
			ev.delta, err = wire.AppendLoose(ev.delta, d.json)
			return err
		case `"arguments"`:
			ev.arguments, err = wire.AppendLoose(ev.arguments, d.json)
			return err
		case `"output_index"`:
			return readIndex(d.json, &ev.index)
		case `"summary_index"`, `"content_index"`:
			return readIndex(d.json, &ev.part)
		case `"item"`:
			ev.item, err = wire.ReadRaw(d.json)
			return err
		case `"response"`:
			ev.response, err = wire.ReadRaw(d.json)
			return err
		case `"error"`:
			v, err := d.json.ReadValue()
			ev.failed = isError(v)
			return err
		}
		return d.json.SkipValue()
	})
	return d.end(err)
}

// end checks that nothing follows a value that was read with err.
func (d *responsesDecoder) end(err error) error {
	if err != nil {
		return err
	}
	if _, err := d.json.ReadToken(); err != io.EOF {
		return errors.New("more follows the JSON object")
	}
	return nil
}

func readIndex(d *jsontext.Decoder, to *int64) error {
	n, ok, err := wire.ReadInt(d)
	if ok && n >= 0 {
		*to = n
	}
	return err
}

// isError reports whether the value of a member "error" says that there is one.
func isError(v jsontext.Value) bool {
	switch string(v) {
	case "", "null", `""`, "false", "{}":
		return false
	}
	return true
}

// event acts on the event that was read from data. What it does not know it
// skips, unless it is an error.
func (d *responsesDecoder) event(data []byte) error {
	ev := &d.ev
	kind := string(ev.kind)
	switch kind {
	case "response.created", "response.queued", "response.in_progress":
		return d.response(ev.response, "", false)
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		return d.response(ev.response, kind[len("response."):], false)
	case "response.output_item.added", "response.output_item.done":
		it, err := d.items.at(ev.index, kind == "response.output_item.added")
		if err != nil {
			return err
		}
		return it.take(ev.item, kind == "response.output_item.done", d.emit)
	case "response.output_text.delta", "response.refusal.delta":
		it, err := d.items.at(ev.index, false)
		if err != nil {
			return err
		}
		it.refused = it.refused || kind == "response.refusal.delta"
		it.say(itemMessage, ev.delta, 0, d.emit)
		return nil
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		it, err := d.items.at(ev.index, false)
		if err != nil {
			return err
		}
		part := ev.part
		if kind == "response.reasoning_text.delta" {
			part += 1 << 32 // apart from all summaries
		}
		it.say(itemReasoning, ev.delta, part, d.emit)
		return nil
	case "response.function_call_arguments.delta", "response.function_call_arguments.done":
		it, err := d.items.at(ev.index, false)
		if err != nil || it.done {
			return err
		}
		it.become(itemCall)
		if kind == "response.function_call_arguments.delta" {
			it.args.Write(ev.delta)
		} else if len(ev.arguments) > 0 {
			it.args = wire.Text{Bad: wire.Substitute}
			it.args.Write(ev.arguments)
		}
		return nil
	case "error":
		return responsesError(0, data, 0)
	}
	if ev.failed {
		return responsesError(0, data, 0)
	}
	return nil
}

// whole reads a reply without streaming.
func (d *responsesDecoder) whole(data []byte) error {
	v, err := d.json.ReadValue()
	v = v.Clone()
	if err := d.end(err); err != nil {
		return wire.BadReply(responsesReply, data, err)
	}
	if v.Kind() != '{' {
		return wire.BadReply(responsesReply, data, errors.New("not a JSON object"))
	}
	if err := d.response(v, "", true); err != nil {
		var e *model.Error
		if errors.As(err, &e) {
			return e
		}
		return wire.BadReply(responsesReply, data, err)
	}
	return nil
}

// response reads a response object. ended is the status by which an event ends
// it; empty while it goes on. A whole reply says itself how it ended.
func (d *responsesDecoder) response(v jsontext.Value, ended string, whole bool) error {
	var status, reason string
	var fault jsontext.Value
	var output []jsontext.Value
	r := jsontext.NewDecoder(bytes.NewReader(v), wire.Lenient())
	err := wire.Members(r, func(name []byte) (err error) {
		switch string(name) {
		case `"id"`:
			return once(&d.id, r)
		case `"model"`:
			return once(&d.model, r)
		case `"status"`:
			status, err = wire.ReadString(r)
			return err
		case `"object"`:
			s, err := wire.ReadString(r)
			d.begun = d.begun || s == "response"
			return err
		case `"output"`:
			d.begun = true
			return wire.Elements(r, func() error {
				item, err := wire.ReadRaw(r)
				if output = append(output, item); len(output) > maxItems {
					return errTooManyItems
				}
				return err
			})
		case `"usage"`:
			return d.tokens.read(r)
		case `"incomplete_details"`:
			return wire.Members(r, func(name []byte) (err error) {
				if string(name) == `"reason"` {
					reason, err = wire.ReadString(r)
					return err
				}
				return r.SkipValue()
			})
		case `"error"`:
			fault, err = wire.ReadRaw(r)
			return err
		}
		return r.SkipValue()
	})
	if err != nil && len(v) > 0 {
		return err
	}
	switch {
	case !whole && ended == "":
		d.begun = true
		return nil
	case whole && status == "" && isError(fault):
		return responsesError(0, v, 0) // no response at all
	case whole, ended == "completed" && (status == "incomplete" || status == "failed" || status == "cancelled"):
		ended = status // which knows better
	}
	items, err := d.items.match(output)
	if err != nil {
		return err
	}
	for i, item := range output {
		if items[i].done || item == nil {
			continue
		}
		if err := items[i].take(item, true, d.emit); err != nil {
			return err
		}
	}
	for _, it := range d.items.list {
		it.end(d.emit)
	}
	switch ended {
	case "completed":
		d.state = completed
	case "incomplete":
		d.state, d.reason = incomplete, reason
	case "failed", "cancelled":
		return d.failure(ended, fault)
	}
	return nil
}

// failure makes the error of a response that failed.
func (d *responsesDecoder) failure(status string, fault jsontext.Value) error {
	if !isError(fault) {
		fault = jsontext.Value(`{"message":"the response ended with the status ` + status + `"}`)
	}
	return responsesError(0, append(append([]byte(`{"error":`), fault...), '}'), 0)
}

// once reads a text into to, unless it has one.
func once(to *string, d *jsontext.Decoder) error {
	s, err := wire.ReadString(d)
	if *to == "" {
		*to = s
	}
	return err
}
