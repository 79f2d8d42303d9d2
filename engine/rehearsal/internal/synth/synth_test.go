package synth_test

import (
	"reflect"
	"testing"

	"rein.example/rein/engine/rehearsal/internal/synth"
	"rein.example/rein/message"
)

// TestNew: each agent's conversation is as long as asked for, paired, the same for
// a seed, another for another one, and has what real ones have: errors, repeated
// reads, and words of users in between.
func TestNew(t *testing.T) {
	for _, kind := range synth.Kinds {
		c := synth.New(kind, 400, 1)
		calls, users, failed, bytes := 0, 0, 0, 0
		for i := range c.Messages {
			m := &c.Messages[i]
			bytes += len(m.PlainText())
			switch m.Role {
			case message.Assistant:
				calls++
			case message.User:
				users++
			}
			if m.Failed {
				failed++
			}
		}
		if calls < 400 || calls > 500 {
			t.Errorf("%s: %d calls", kind, calls)
		}
		if users < calls/50 || failed < 3 || bytes < 200_000 || bytes > 2_000_000 {
			t.Errorf("%s: %d messages of users, %d errors, %d bytes in %d calls", kind, users, failed, bytes, calls)
		}
		if paired := message.Pair(c.Messages); &paired[0] != &c.Messages[0] {
			t.Errorf("%s: calls without results", kind)
		}
		if !reflect.DeepEqual(c, synth.New(kind, 400, 1)) {
			t.Errorf("%s: the same seed gives another", kind)
		}
		if reflect.DeepEqual(c.Messages, synth.New(kind, 400, 2).Messages) {
			t.Errorf("%s: another seed gives the same", kind)
		}
	}
	if synth.New("poet", 10, 1) != nil {
		t.Error("an agent that nobody knows")
	}
}
