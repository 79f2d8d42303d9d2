// Package request answers: which bytes go to the model for a command, and can
// they be made again?
//
// It is the one place where a [loop.CallModel] becomes a request body. Engines
// build the bodies that they send with a [Builder], which encodes each message
// once and keeps the bytes and a running hash, so that a request costs what is
// new in it. Building one again from the journal takes the same path with a
// fresh Builder; the hash in model.called shows whether the bytes are the same.
package request

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// Params returns what the encoder needs besides the messages: settings of the
// run and of the command, and the engine's options.
func Params(spec *event.Spec, c *loop.CallModel, o Options) model.Params {
	_, name, _ := strings.Cut(c.Model, "/")
	return model.Params{
		Model: name, Tools: c.Tools, NoTools: c.NoTools, Strict: c.Strict, Schema: c.Schema, SchemaName: c.SchemaName,
		MaxOutput: c.MaxOutput, Sampling: spec.Sampling, Stream: o.Stream,
	}
}

// Encoder returns the encoder of a command's requests: enc, or it in the dialect
// that the command is in. It fails if this version does not write that.
func Encoder(enc model.Encoder, c *loop.CallModel) (model.Encoder, error) {
	if c.Dialect == "" {
		return enc, nil
	}
	return model.InDialect(enc, c.Dialect)
}

// AsRecorded returns the command as its model.called says that it was carried out.
// The two differ only where a newer machine wants something of a request that the
// one of then did not.
func AsRecorded(c *loop.CallModel, d *event.ModelCalled) *loop.CallModel {
	as := *c
	as.Strict = d.Strict
	return &as
}

// Options are an engine's own settings for a request, as model.called records
// them.
type Options struct {
	// Stream asks for the reply in pieces.
	Stream bool `json:"stream,omitzero"`
	// Encoder are the encoder's settings; see [model.Configured].
	Encoder jsontext.Value `json:"encoder,omitzero"`
}

// OptionsOf returns the options of a request that enc writes.
func OptionsOf(enc model.Encoder, stream bool) Options {
	o := Options{Stream: stream}
	if c, ok := enc.(model.Configured); ok {
		o.Encoder = c.Options()
	}
	return o
}

// JSON returns the options as a JSON object, nil if all are zero.
func (o Options) JSON() jsontext.Value {
	if !o.Stream && o.Encoder == nil {
		return nil
	}
	b, err := json.Marshal(o)
	if err != nil {
		panic(fmt.Sprintf("the encoder's options are not JSON: %v", err)) // a fault of the encoder's
	}
	return b
}

// ParseOptions reads recorded options. Members that a newer version wrote are
// skipped; the body's hash shows whether they mattered.
func ParseOptions(v jsontext.Value) (o Options, err error) {
	if len(v) > 0 {
		err = json.Unmarshal(v, &o)
	}
	return o, err
}

// Bodies returns the content of a body that is stored out of line.
type Bodies func(ref message.Ref) ([]byte, error)

// Find returns the model call of that id among the machine's commands, or nil.
func Find(m *loop.Machine, id string) *loop.CallModel {
	for _, c := range m.Next() {
		if c, ok := c.(*loop.CallModel); ok && c.ID == id {
			return c
		}
	}
	return nil
}
