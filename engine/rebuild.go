package engine

import (
	"bytes"
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/engine/internal/request"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// EncoderID is what a journal says of the encoder that wrote a request.
type EncoderID struct {
	// Model is "provider/model".
	Model string
	// Version is as the wire's [model.Encoder] gives it, such as "openai-chat/2".
	// Where the request was in a dialect, that is seen to by Rebuild.
	Version string
	// Options are the settings of a [model.Configured] encoder, else nil.
	Options jsontext.Value
}

// Rebuild returns the body of the request that the model.called at sequence seq
// of a run announces, built again from the events before it and the bodies that
// they refer to. exact says whether it hashes to what was sent; if not, because
// the encoder has changed since or is another one, the body is only what would
// be sent today. encoder makes the encoder that the journal names.
func Rebuild(ctx context.Context, store journal.Store, encoder func(EncoderID) (model.Encoder, error), run string, seq int64) (body []byte, exact bool, err error) {
	m, called, err := before(ctx, store, run, seq)
	if err != nil {
		return nil, false, err
	}
	body, exact, err = rebuild(ctx, store, encoder, m, called)
	if err != nil {
		return nil, false, fmt.Errorf("build the request of event %d of run %s again: %w", seq, run, err)
	}
	return body, exact, nil
}

func rebuild(ctx context.Context, store journal.Store, encoder func(EncoderID) (model.Encoder, error), m *loop.Machine, called *event.ModelCalled) ([]byte, bool, error) {
	c := request.Find(m, called.ID)
	if c == nil {
		return nil, false, fmt.Errorf("the events before do not lead to the call %s", called.ID)
	}
	o, err := request.ParseOptions(called.Options)
	if err != nil {
		return nil, false, fmt.Errorf("its options: %w", err)
	}
	c = request.AsRecorded(c, called)
	enc, err := encoder(EncoderID{Model: c.Model, Version: model.WireVersion(called.Encoder), Options: o.Encoder})
	if err != nil {
		return nil, false, err
	}
	if enc, err = request.Encoder(enc, c); err != nil {
		return nil, false, err
	}
	b := request.New(enc, func(ref message.Ref) ([]byte, error) { return store.Body(ctx, ref) })
	p := request.Params(m.Spec(), c, o)
	built, err := b.Build(&p, c)
	if err != nil {
		return nil, false, err
	}
	return bytes.Join(built.Pieces, nil), built.SHA256 == called.SHA256 && enc.Version() == called.Encoder, nil
}
