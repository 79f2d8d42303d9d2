package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"rein.example/rein/engine/internal/request"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/parse"
)

// Change is what a request that is sent again has otherwise than the run's. The zero
// value changes nothing: its bytes are those that the run sent.
type Change struct {
	// To asks another model, or the same one on another wire; nil: the run's.
	To *Target
	// Contract, Rules and Accept replace what the system text opens with, its rules,
	// and what the task says of a finished one; nil leaves them, "" takes them out.
	Contract, Rules, Accept *string
	// Sampling replaces the run's settings, field by field where it has one; MaxOutput,
	// above 0, the bound of the reply in tokens.
	Sampling  event.Sampling
	MaxOutput int64
	// Body is sent as it is, and goes with no other change. It has to be of the wire on
	// which the run's request was sent.
	Body []byte
}

// Target is a model that is asked in the place of a run's.
type Target struct {
	// Model is "provider/model".
	Model   string
	Encoder model.Encoder
	// Calling says how it calls tools.
	Calling event.ModelCalling
	// MaxOutput is its longest reply, in tokens; 0 is unknown.
	MaxOutput int64
	// NoStream: its server refuses to answer in pieces.
	NoStream bool
}

// Rerun is a request of a run that is ready to be sent again, outside of the run. It is
// safe for concurrent use after [PrepareRerun].
type Rerun struct {
	Run string
	// Seq is the sequence of the request's model.called, which is Called.
	Seq    int64
	Called *event.ModelCalled
	// Model is the one to be asked, as "provider/model"; Encoder is the version of what
	// has written Body, empty where somebody has by hand.
	Model, Encoder string
	// Body is what is to be sent, SHA256 its hash. Exact: it is what the run sent.
	Body   []byte
	SHA256 event.Hash
	Exact  bool
	// Stream: the body asks for the reply in pieces.
	Stream bool
	// Before is the run's own request as it is built again, nil where it cannot be;
	// Unsure says why it is not known to be what was sent, empty where it is.
	Before []byte
	Unsure string
	// Changed is what Body has otherwise than Before, in the order of [Change].
	Changed []Changed
	// Lost is what the run's request has and this one cannot have.
	Lost []Loss
	// Paired is what was amiss with calls and results in the conversation, and how that
	// was put right; the run's own request has the same.
	Paired []string
	// Recorded is what came of the request in the run; nil if nobody knows, since the
	// run was killed before or is at it now.
	Recorded *Outcome

	store   journal.Store
	reading parse.Input
	// imported: Rein has not sent it, so that there is nothing it would have judged by.
	imported bool
	// verdicts on what replies have called so far, by that.
	mu       sync.Mutex
	verdicts map[string][]*event.CallJudged
}

// Changed is one thing that a request has otherwise.
type Changed struct {
	// What is "model", "wire", "dialect", "contract", "rules", "accept", "temperature",
	// "top_p", "seed", "reasoning", "max_output" or "body".
	What string
	// Was and Now are texts: what there was and what there is, empty for nothing.
	Was, Now string
}

// ErrUnsure: the bytes that the run sent cannot be had.
var ErrUnsure = errors.New("the request cannot be sent again as it was")

// PrepareRerun makes the request that the model.called at sequence seq of a run
// announces ready to be sent again, with a change. It reads the journal up to there and
// what came of it, writes nothing and calls nothing. encoder makes the encoder that a
// journal names.
//
// A request that is not known to be what was sent is an error that wraps [ErrUnsure],
// unless unsure is true, the change is to another model, or it is a whole body: then
// Rerun.Unsure says so.
func PrepareRerun(ctx context.Context, store journal.Store, encoder func(EncoderID) (model.Encoder, error), run string, seq int64, change *Change, unsure bool) (*Rerun, error) {
	m, called, err := before(ctx, store, run, seq)
	if err != nil {
		return nil, err
	}
	r := &Rerun{Run: run, Seq: seq, Called: called, Model: called.Model, store: store, verdicts: map[string][]*event.CallJudged{}}
	p := &preparing{Rerun: r, ctx: ctx, change: change, spec: m.Spec()}
	if err := p.recorded(m, encoder); err != nil {
		return nil, fmt.Errorf("build the request of event %d of run %s again: %w", seq, run, err)
	}
	if r.Unsure != "" && !unsure && change.To == nil && change.Body == nil {
		return nil, fmt.Errorf("%w: %s", ErrUnsure, r.Unsure)
	}
	if err := p.build(); err != nil {
		return nil, fmt.Errorf("change the request of event %d of run %s: %w", seq, run, err)
	}
	r.SHA256 = sha256.Sum256(r.Body)
	r.Exact = r.SHA256 == called.SHA256
	if err := m.Apply(&event.Event{Run: run, Seq: seq, Data: called}); err != nil {
		return nil, fmt.Errorf("run %s: %w", run, err)
	}
	r.reading = m.Reading()
	r.reading.Used, r.reading.Base = m.UsedID, fmt.Sprintf("c%d", seq+1)
	if to := change.To; to != nil {
		r.reading.TextCalls, r.reading.Asked = to.Calling.Text || to.Calling.Dialect != "", to.Calling.Dialect
	}
	r.Recorded, err = outcomeOf(ctx, store, m.Spec(), run, seq, called)
	return r, err
}

// preparing is a rerun on its way.
type preparing struct {
	*Rerun
	ctx    context.Context
	change *Change
	spec   *event.Spec

	// The request as the run made it; encoder is nil where this version has none that
	// could write it.
	cmd     *loop.CallModel
	options request.Options
	encoder model.Encoder
}

// recorded builds the request as the run made it, as far as that can be done.
func (p *preparing) recorded(m *loop.Machine, encoder func(EncoderID) (model.Encoder, error)) error {
	c := request.Find(m, p.Called.ID)
	if c == nil {
		return fmt.Errorf("the events before do not lead to the call %s", p.Called.ID)
	}
	p.cmd = request.AsRecorded(c, p.Called)
	p.Paired = repaired(c.Messages)
	var err error
	if p.options, err = request.ParseOptions(p.Called.Options); err != nil {
		return fmt.Errorf("its options: %w", err)
	}
	p.Stream = p.options.Stream
	if p.Called.SHA256 == (event.Hash{}) {
		p.imported = true
		p.Unsure = "nobody has recorded the bytes of this request, only what was said: the run was imported"
		return nil
	}
	enc, err := encoder(EncoderID{Model: p.cmd.Model, Version: model.WireVersion(p.Called.Encoder), Options: p.options.Encoder})
	if err == nil {
		enc, err = request.Encoder(enc, p.cmd)
	}
	if err != nil {
		p.Unsure = err.Error()
		return nil
	}
	if p.Before, err = p.write(enc, p.spec, p.cmd, p.options); err != nil {
		return err
	}
	p.encoder = enc
	switch {
	case event.Hash(sha256.Sum256(p.Before)) != p.Called.SHA256:
		p.Unsure = "what is built of the journal today does not hash to what was sent"
	case enc.Version() != p.Called.Encoder:
		p.Unsure = "it was written by the encoder " + p.Called.Encoder + ", and this version has " + enc.Version()
	}
	return nil
}

// write returns the body of a command.
func (p *preparing) write(enc model.Encoder, spec *event.Spec, c *loop.CallModel, o request.Options) ([]byte, error) {
	b := request.New(enc, func(ref message.Ref) ([]byte, error) { return p.store.Body(p.ctx, ref) })
	params := request.Params(spec, c, o)
	built, err := b.Build(&params, c)
	if err != nil {
		return nil, err
	}
	return bytes.Join(built.Pieces, nil), nil
}

// build makes the body that is to be sent.
func (p *preparing) build() error {
	if p.change.Body != nil {
		return p.byHand()
	}
	cmd, spec, o, enc := *p.cmd, *p.spec, p.options, p.encoder
	if to := p.change.To; to != nil {
		var err error
		if enc, err = p.convert(&cmd, to); err != nil {
			return err
		}
		o = request.OptionsOf(enc, (p.options.Stream || p.imported) && !to.NoStream)
	}
	if enc == nil {
		return fmt.Errorf("%w: %s", ErrUnsure, p.Unsure)
	}
	if err := p.reword(&cmd); err != nil {
		return err
	}
	p.resample(&cmd, &spec)
	var err error
	if p.Body, err = p.write(enc, &spec, &cmd, o); err != nil {
		return err
	}
	p.Stream, p.Encoder = o.Stream, enc.Version()
	return p.losses(enc, &spec, &cmd, o)
}
