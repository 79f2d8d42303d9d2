package local_test

import (
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// What a server says of the most that it takes stands in the journal; one that does
// not say it has said nothing.
func TestStatedLimit(t *testing.T) {
	for _, limit := range []int64{0, 8_192} {
		l := newLab(t, say("done"))
		l.model.faults = map[int]error{1: &model.Error{Class: event.ClassOverflow, Message: "too long", Limit: limit}}
		l.start(t.Context(), l.engine())
		for _, ev := range l.events() {
			if d, ok := ev.Data.(*event.ModelFailed); ok {
				var want message.Count
				if limit > 0 {
					want = message.Known(limit)
				}
				if d.Limit != want {
					t.Errorf("the limit %d is %v", limit, d.Limit)
				}
			}
		}
	}
}
