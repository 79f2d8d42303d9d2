package local

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/engine/internal/request"
	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// asker calls models for an actor.
type asker struct {
	a *actor
	// name is the model that client and builder are for.
	name    string
	client  model.Client
	builder *request.Builder
	// options of every request to it, and the same as they are written down.
	options  request.Options
	recorded jsontext.Value
	// last is the last request of the journal, as far as it was read.
	last lastRequest

	params model.Params // scratch
}

type lastRequest struct {
	call    loop.CallModel
	options request.Options
	encoder string
	n       int64
}

// forget prepares for reading the journal from its beginning.
func (k *asker) forget() { k.name, k.client, k.builder, k.last = "", nil, nil, lastRequest{} }

// recall notes a request that the journal holds; m has folded what is before it.
func (k *asker) recall(m *loop.Machine, d *event.ModelCalled) {
	c := request.Find(m, d.ID)
	o, err := request.ParseOptions(d.Options)
	if c == nil || err != nil {
		k.last = lastRequest{}
		return
	}
	k.last = lastRequest{call: *request.AsRecorded(c, d), options: o, encoder: d.Encoder, n: d.Kept + d.Added}
	k.last.call.Messages = nil // only what the head is made of is needed
}

// prepare builds the request of a command and returns the intent to send it, or
// the failure that keeps it from being sent.
func (k *asker) prepare(f *flight, c *loop.CallModel) (intent, failed event.Data) {
	defer func() {
		if p := recover(); p != nil {
			k.a.panicked("the encoder of model "+c.Model, p)
			k.forget() // what it has encoded so far may be half of something
			intent, failed = nil, modelPanic(c)
		}
	}()
	if err := k.use(c); err != nil {
		return nil, k.a.e.admit(k.a.ctx, &event.ModelFailed{ID: c.ID, Class: event.ClassNotFound, Message: err.Error()})
	}
	o := k.options
	k.params = request.Params(k.a.m.Spec(), c, o)
	body, err := k.builder.Build(&k.params, c)
	if err != nil {
		return nil, k.a.e.admit(k.a.ctx, &event.ModelFailed{ID: c.ID, Class: event.ClassInternal, Message: err.Error()})
	}
	f.client = k.client
	f.request = model.Request{Body: body.Pieces, Stream: o.Stream, Idle: time.Duration(k.a.m.Spec().Retry.Idle) * time.Millisecond}
	if o.Stream && k.a.watch.hears() && !c.Purpose.Aside() { // which is said to nobody
		f.ear = newEar(k.a)
	}
	return &event.ModelCalled{ID: c.ID, Purpose: c.Purpose, Step: c.Step, Attempt: c.Attempt, Model: c.Model,
		Encoder: k.builder.Encoder().Version(), Kept: body.Kept, Added: body.Added, Strict: c.Strict, Options: k.recorded,
		SHA256: body.SHA256, Bytes: body.Bytes}, nil
}

// use makes the model of a command the one that is asked.
func (k *asker) use(cmd *loop.CallModel) error {
	name := cmd.Model
	if k.builder != nil && k.name == name {
		return nil
	}
	c, err := client(k.a.job, name)
	if err != nil {
		return err
	}
	enc, err := request.Encoder(c.Encoder(), cmd)
	if err != nil {
		return err
	}
	k.name, k.client = name, c
	// Streamed even if nobody watches: silence then shows long before the time for
	// the whole call is up.
	k.options = request.OptionsOf(enc, !c.Info().NoStream)
	k.recorded = k.options.JSON()
	k.builder = request.New(enc, func(ref message.Ref) ([]byte, error) { return k.a.e.store.Body(k.a.ctx, ref) })
	if k.last.n > 0 && k.last.call.Model == name && k.last.encoder == k.builder.Encoder().Version() {
		p := request.Params(k.a.m.Spec(), &k.last.call, k.last.options)
		k.builder.Recall(&p, &k.last.call, k.last.n)
	}
	k.last = lastRequest{}
	return nil
}

// call makes one model call, once the limits of its server let it through; it runs
// on the flight's goroutine. The time until then is no part of the call's.
func (k *asker) call(f *flight) event.Data {
	came := time.Now()
	permit, err := limits.enter(&f.ctx, model.LimitKey(f.client))
	if err != nil {
		return k.a.e.modelOutcome(f, nil, &model.Error{Class: event.ClassCancelled, Message: "the call was given up while it waited for the limit of its server to pass", Err: err}, 0, time.Since(came))
	}
	fault := error(errPanic) // unless the client returns
	defer func() { permit.leave(fault) }()
	var sink func(model.Delta)
	if f.ear != nil {
		sink = f.ear.hear
	}
	begun := time.Now()
	reply, err := f.client.Call(&f.ctx, &f.request, sink)
	fault = err
	return k.a.e.modelOutcome(f, reply, err, time.Since(begun), permit.waited)
}

// modelOutcome returns the event for what came of a model call.
func (e *Engine) modelOutcome(f *flight, reply *model.Reply, err error, took, waited time.Duration) event.Data {
	if err == nil && reply != nil {
		d := &event.ModelAnswered{ID: f.id, Message: reply.Message, Finish: reply.Finish, RawFinish: reply.RawFinish,
			Usage: reply.Usage, Model: reply.Model, ResponseID: reply.ID, Latency: took.Milliseconds(), Waited: waited.Milliseconds()}
		if reply.First > 0 {
			d.First = message.Known(reply.First.Milliseconds())
		}
		return e.admit(context.Background(), d)
	}
	d := &event.ModelFailed{ID: f.id, Class: event.ClassInternal, Latency: took.Milliseconds(), Waited: waited.Milliseconds()}
	var fault *model.Error
	switch {
	case err == nil:
		d.Message = "the model's client returned neither a reply nor an error"
	case errors.As(err, &fault):
		d.Class, d.Status, d.Code, d.Message = fault.Class, int64(fault.Status), fault.Code, fault.Message
		d.RetryAfter, d.Partial, d.Usage = fault.RetryAfter, fault.Partial, fault.Usage
		if fault.Limit > 0 {
			d.Limit = message.Known(fault.Limit)
		}
		if d.Message == "" && fault.Err != nil {
			d.Message = fault.Err.Error()
		}
	default:
		d.Message = err.Error()
	}
	if f.ctx.Err() != nil {
		d.Class = event.ClassCancelled
	}
	return e.admit(context.Background(), d)
}

var errPanic = errors.New("it panicked; the log has the details")

func modelPanic(c *loop.CallModel) *event.ModelFailed {
	return &event.ModelFailed{ID: c.ID, Class: event.ClassInternal, Code: "panic",
		Message: "the client of model " + c.Model + " failed inside: " + errPanic.Error()}
}
