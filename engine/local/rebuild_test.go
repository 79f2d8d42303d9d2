package local_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// newEncoder writes other bytes than the one that the run was sent with.
type newEncoder struct{ fakeEncoder }

func (newEncoder) Version() string { return "fake/2" }

func (newEncoder) Close(dst []byte, _ *model.Params, _ *message.Message) []byte {
	return append(dst, `],"new":true}`...)
}

// requests returns the places of the run's requests in its journal.
func (l *lab) requests() (seqs []int64) {
	l.t.Helper()
	for _, ev := range l.events() {
		if ev.Data.Type() == event.TypeModelCalled {
			seqs = append(seqs, ev.Seq)
		}
	}
	return seqs
}

func TestRebuild(t *testing.T) {
	l := newLab(t, call("c1 look"), say("done"))
	l.tool("look", event.Read, returns("seen"))
	l.start(t.Context(), l.engine())
	calls := l.requests()
	same := func(engine.EncoderID) (model.Encoder, error) { return fakeEncoder{}, nil }
	for i, seq := range calls {
		body, exact, err := engine.Rebuild(t.Context(), l.store, same, "r1", seq)
		if err != nil || !exact || !bytes.Equal(body, l.model.sent()[i]) {
			t.Errorf("request %d: exact %v, %v, %s", i+1, exact, err, body)
		}
	}
	// Another encoder's bytes are shown, and not as what was sent.
	body, exact, err := engine.Rebuild(t.Context(), l.store, func(engine.EncoderID) (model.Encoder, error) { return newEncoder{}, nil }, "r1", calls[1])
	if err != nil || exact || !bytes.Contains(body, []byte(`"new":true`)) {
		t.Errorf("with another encoder: exact %v, %v, %s", exact, err, body)
	}
	for name, c := range map[string]struct {
		run     string
		seq     int64
		encoder func(engine.EncoderID) (model.Encoder, error)
		want    string
	}{
		"not a request": {"r1", 1, same, "event 1 of run r1 is run.started, not model.called"},
		"no such event": {"r1", 99, same, "run r1 has no event 99"},
		"no such run":   {"r2", 1, same, `there is no run "r2"`},
		"no encoder":    {"r1", calls[0], func(engine.EncoderID) (model.Encoder, error) { return nil, errors.New("unknown provider") }, "unknown provider"},
	} {
		if _, _, err := engine.Rebuild(t.Context(), l.store, c.encoder, c.run, c.seq); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a model saw, before a wire gave it its form.
func TestSee(t *testing.T) {
	l := newLab(t, call("c1 look"), say("done"))
	l.tool("look", event.Read, returns("seen"))
	l.start(t.Context(), l.engine())
	calls := l.requests()
	first, err := engine.See(t.Context(), l.store, "r1", calls[0])
	if err != nil {
		t.Fatal(err)
	}
	second, err := engine.See(t.Context(), l.store, "r1", calls[1])
	if err != nil {
		t.Fatal(err)
	}
	if first.Seq != calls[0] || len(first.Tools) == 0 || len(first.System) == 0 || first.Called.Step != 1 {
		t.Errorf("the first request is seen as %+v", first)
	}
	if n := len(first.Messages); len(second.Messages) != n+2 {
		t.Fatalf("%d messages, then %d", n, len(second.Messages))
	}
	if m := second.Messages[len(second.Messages)-1]; m.Role != message.Tool || m.PlainText() != "seen" {
		t.Errorf("the last message is %+v", m)
	}
	if _, err := engine.See(t.Context(), l.store, "r1", 1); err == nil || !strings.Contains(err.Error(), "not model.called") {
		t.Errorf("of another event: %v", err)
	}
}
