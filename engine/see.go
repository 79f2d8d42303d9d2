package engine

import (
	"context"
	"fmt"

	"rein.example/rein/engine/internal/request"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// Seen is what a model saw in one request, before an encoder gave it the form of a
// wire.
type Seen struct {
	// Seq is the sequence of the request's model.called, which is Called.
	Seq    int64
	Called *event.ModelCalled
	// System are the leading system messages, Messages the conversation after them,
	// paired as they were sent, Tail the volatile block at the end, nil for none. What
	// is stored out of line is there as text or as a data: URL.
	System, Messages []message.Message
	Tail             *message.Message
	// Tools are those that the request offers, sorted by name; none with a Dialect,
	// where System tells of them.
	Tools []event.ToolSpec
	// ToolsUnknown: another program made the request, and its recording does not say
	// which tools it offered. Tools are those that are called anywhere in it.
	ToolsUnknown bool
	// Dialect is that of the calls, empty for the wire's own.
	Dialect string
}

// See returns what the model saw in the request that the model.called at sequence seq
// of a run announces. It reads the journal up to there and calls nothing.
func See(ctx context.Context, store journal.Store, run string, seq int64) (*Seen, error) {
	m, called, err := before(ctx, store, run, seq)
	if err != nil {
		return nil, err
	}
	s, err := see(ctx, store, m, called)
	if err != nil {
		return nil, fmt.Errorf("find what the model saw at event %d of run %s: %w", seq, run, err)
	}
	s.Seq = seq
	return s, nil
}

func see(ctx context.Context, store journal.Store, m *loop.Machine, called *event.ModelCalled) (*Seen, error) {
	c := request.Find(m, called.ID)
	if c == nil {
		return nil, fmt.Errorf("the events before do not lead to the call %s", called.ID)
	}
	s := &Seen{Called: called, Dialect: c.Dialect, Tail: c.Tail}
	if o := m.Recorded(); o != nil {
		s.ToolsUnknown = o.ToolsUnknown
	}
	if !c.NoTools && c.Dialect == "" {
		s.Tools = c.Tools
	}
	var err error
	if s.System, err = resolved(ctx, store, c.System); err != nil {
		return nil, err
	}
	s.Messages, err = resolved(ctx, store, message.PairFrom(c.Messages, 0))
	return s, err
}

// resolved returns the messages with what they refer to in place.
func resolved(ctx context.Context, store journal.Store, list []message.Message) ([]message.Message, error) {
	out := make([]message.Message, len(list))
	for i := range list {
		var err error
		out[i], err = model.Resolve(list[i], func(ref message.Ref) ([]byte, error) { return store.Body(ctx, ref) })
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// before returns the machine of a run as it stood before the model.called at sequence
// seq, and that event.
func before(ctx context.Context, store journal.Store, run string, seq int64) (*loop.Machine, *event.ModelCalled, error) {
	m := loop.New(run)
	for ev, err := range store.Read(ctx, run, 1) {
		if err != nil {
			return nil, nil, err
		}
		if ev.Seq < seq {
			if err := m.Apply(&ev); err != nil {
				return nil, nil, fmt.Errorf("run %s: %w", run, err)
			}
			continue
		}
		called, ok := ev.Data.(*event.ModelCalled)
		if !ok {
			return nil, nil, fmt.Errorf("event %d of run %s is %s, not %s", seq, run, ev.Data.Type(), event.TypeModelCalled)
		}
		return m, called, nil
	}
	return nil, nil, fmt.Errorf("run %s has no event %d", run, seq)
}
