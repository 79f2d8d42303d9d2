package local_test

import (
	"crypto/sha256"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/model"
)

// checkBodies checks that every request of the run can be built again from its
// journal to exactly what the model got.
func (l *lab) checkBodies() {
	l.t.Helper()
	sent := map[event.Hash]bool{}
	for _, b := range l.model.sent() {
		sent[sha256.Sum256(b)] = true
	}
	var before int64
	l.checkExact()
	for _, ev := range l.events() {
		called, ok := ev.Data.(*event.ModelCalled)
		if !ok {
			continue
		}
		if !sent[called.SHA256] {
			l.t.Errorf("event %d announces a body of %d bytes that was not sent", ev.Seq, called.Bytes)
		}
		if called.Kept != before {
			l.t.Errorf("event %d: kept %d messages of %d\n%s", ev.Seq, called.Kept, before, l.journal())
		}
		before = called.Kept + called.Added
	}
}

// checkExact checks that every request in the journal can be built again.
func (l *lab) checkExact() {
	l.t.Helper()
	encoder := func(engine.EncoderID) (model.Encoder, error) { return l.model.Encoder(), nil }
	for _, ev := range l.events() {
		called, ok := ev.Data.(*event.ModelCalled)
		if !ok {
			continue
		}
		body, exact, err := engine.Rebuild(l.t.Context(), l.store, encoder, l.job.Run, ev.Seq)
		if err != nil || !exact || int64(len(body)) != called.Bytes {
			l.t.Fatalf("the request of event %d cannot be built again: exact %v, %v\n%s", ev.Seq, exact, err, l.journal())
		}
	}
}
