package local_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/model"
	"rein.example/rein/tool"
)

// A process dies while a payment is under way, and those that take the run over die
// too, after every event there may be: the model is told of it once, whatever happens,
// and the payment is never made again.
func TestUnknownIsToldOnce(t *testing.T) {
	paid := 0
	fresh := func() *lab {
		l := newLab(t, call("c1 pay"), call("c2 look"), say("checked"))
		l.tool("pay", event.Once, func(context.Context, *tool.Call) (*tool.Result, error) { paid++; return tool.Text("paid"), nil })
		l.tool("look", event.Read, returns("an entry of today"))
		return l
	}
	l := fresh()
	l.start(t.Context(), l.engine())
	events := l.events()
	at := begun(events, "c1")
	paid = 0

	l = fresh()
	l.store = l.crashed(events, at)
	l.resume(t.Context(), l.engine())
	events = l.events()
	for n := at; n <= len(events); n++ {
		l := fresh()
		l.store = l.crashed(events, n)
		if r := l.resume(t.Context(), l.engine()); !r.OK || r.Answer != "checked" {
			t.Fatalf("after event %d: %+v\n%s", n, r, l.journal())
		}
		unknown := 0
		for _, ev := range l.events() {
			if d, ok := ev.Data.(*event.ToolFinished); ok && d.Status == event.StatusUnknown {
				unknown++
			}
		}
		for _, body := range l.model.sent() {
			if told := bytes.Count(body, []byte(tool.TypeUnknown)); told != 1 {
				t.Errorf("after event %d a request tells of it %d times:\n%s", n, told, body)
			}
		}
		if unknown != 1 {
			t.Errorf("after event %d it is unknown %d times:\n%s", n, unknown, l.journal())
		}
	}
	if paid != 0 {
		t.Errorf("paid %d times after the crash", paid)
	}
}

// begun returns how many events a journal has up to the start of a call.
func begun(events []event.Event, call string) int {
	for i := range events {
		if d, ok := events[i].Data.(*event.ToolStarted); ok && d.Call == call {
			return i + 1
		}
	}
	return len(events)
}

// A call was approved. Whoever carries the run on, with other values in the context,
// another approver and another watcher, does not ask again, nor is it carried out
// again: the approval is the journal's, not the process's.
func TestApprovalOutlivesItsContext(t *testing.T) {
	paid, asked := 0, 0
	l := asking(t, nil)
	l.tools = nil
	l.tool("pay", event.Once, func(context.Context, *tool.Call) (*tool.Result, error) { paid++; return tool.Text("paid"), nil })
	r := l.start(t.Context(), l.engine())
	if len(r.Pending) != 1 {
		t.Fatalf("%+v", r)
	}
	l.post(&event.ApprovalGiven{Call: "c1", Decision: event.Approved, Hash: r.Pending[0].Hash, By: "eva"})
	type key struct{}
	for range 3 {
		l.job.Approve = func(context.Context, engine.Question) (engine.Answer, bool) { asked++; return engine.Answer{}, false }
		l.job.Watch = &engine.Watch{Event: func(event.Event) {}}
		if r := l.resume(context.WithValue(t.Context(), key{}, "another user"), l.engine()); !r.OK || r.Answer != "over" {
			t.Errorf("%+v\n%s", r, l.journal())
		}
	}
	if paid != 1 || asked != 0 {
		t.Errorf("paid %d times, asked %d times\n%s", paid, asked, l.journal())
	}
}

// A model call fails for good after a tool has done its work: the run has failed, and
// what was said and done in it is in its journal all the same.
func TestFailedTurnIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, call("c1 look"), say("the value is 7"))
		l.spec.Chat, l.spec.Retry.Tries = true, 1
		l.tool("look", event.Read, returns("value 7"))
		l.model.faults = map[int]error{2: &model.Error{Class: event.ClassServer, Status: 500}}
		r := l.start(t.Context(), l.engine())
		if r.Reason != event.ReasonModelError {
			t.Fatalf("%+v", r)
		}
		journal := l.journal()
		for _, part := range []string{"input.received text go", "look(c1) success", "model.failed", "server"} {
			if !strings.Contains(journal, part) {
				t.Errorf("the journal lacks %q:\n%s", part, journal)
			}
		}
	})
}

// The same agent with its tools in another order, at another time, as another run:
// the same bytes, so that a provider's cache of prompts holds; and each request of a
// run begins with what was sent before.
func TestSameBytesWhenever(t *testing.T) {
	var first [][]byte
	for n, names := range [][]string{{"look", "change", "ask_stock"}, {"change", "ask_stock", "look"}, {"ask_stock", "look", "change"}} {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Duration(n) * 37 * time.Hour)
			l := newLab(t, call("c1 look"), call("c2 change x"), call("c3 ask_stock"), say("done"))
			l.job.Run = []string{"r1", "a-run-of-another-name", "r3"}[n]
			for _, name := range names {
				effect := event.Read
				if name == "change" {
					effect = event.Repeatable
				}
				l.tool(name, effect, returns("what "+name+" says"))
			}
			if r := l.start(t.Context(), l.engine()); !r.OK {
				t.Fatalf("%+v", r)
			}
			sent := l.model.sent()
			if first == nil {
				first = sent
			}
			for i, body := range sent {
				if i >= len(first) || !bytes.Equal(body, first[i]) {
					t.Errorf("with %v request %d is\n%s\nnot\n%s", names, i+1, body, first[i])
				}
				if i > 0 && !bytes.HasPrefix(body, bytes.TrimSuffix(sent[i-1], closing(sent[i-1]))) {
					t.Errorf("request %d does not begin with the one before:\n%s\n%s", i+1, sent[i-1], body)
				}
			}
		})
	}
}

// closing is what a body of the fake wire ends with, behind the messages.
func closing(body []byte) []byte { return body[bytes.LastIndex(body, []byte(`],"stream"`)):] }
