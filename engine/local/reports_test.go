package local_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/model"
	"rein.example/rein/tool"
)

// What users of other harnesses have met, as tests.

// One call of a reply fails in whatever way: the others keep their results, and
// each result stands under its own call.
func TestOneOfSeveralFails(t *testing.T) {
	for name, fail := range map[string]func() (*tool.Result, error){
		"error": func() (*tool.Result, error) { return nil, errors.New("no such table") },
		"panic": func() (*tool.Result, error) { panic("a bug") },
		"nil":   func() (*tool.Result, error) { return nil, nil },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, call("c1 look a", "c2 look b", "c3 look c"), say("done"))
			l.tool("look", event.Read, func(_ context.Context, c *tool.Call) (*tool.Result, error) {
				if c.ID == "c2" {
					return fail()
				}
				return tool.Text("found " + c.ID), nil
			})
			l.start(t.Context(), l.engine())
			for _, id := range []string{"c1", "c3"} {
				if d := l.last(id); d.Status != event.StatusSuccess || plain(d.Parts) != "found "+id {
					t.Errorf("%s: %s %s", id, d.Status, plain(d.Parts))
				}
			}
			if d := l.last("c2"); (d.Status == event.StatusError) != (name != "nil") {
				t.Errorf("c2: %s %s", d.Status, plain(d.Parts))
			}
		})
	}
}

// A process that dies while one of several calls is still under way keeps what the
// others have returned.
func TestCrashKeepsFinishedSiblings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, call("c1 look a", "c2 look b", "c3 look c"), say("done"))
		var mu sync.Mutex // the calls run at once
		runs := map[string]int{}
		var slow time.Duration
		l.tool("look", event.Read, func(_ context.Context, c *tool.Call) (*tool.Result, error) {
			mu.Lock()
			runs[c.ID]++
			mu.Unlock()
			if c.ID == "c2" {
				time.Sleep(slow)
			}
			return tool.Text("found " + c.ID), nil
		})
		slow = time.Second
		l.start(t.Context(), l.engine())
		events := l.events()
		n := 0
		for i, ev := range events {
			if d, ok := ev.Data.(*event.ToolFinished); ok && d.Call == "c2" {
				n = i
			}
		}
		l.store = l.crashed(events, n) // before the slow one's result was written
		l.resume(t.Context(), l.engine())
		if runs["c1"] != 1 || runs["c2"] != 2 || runs["c3"] != 1 {
			t.Errorf("executed %v\n%s", runs, l.journal())
		}
	})
}

// A payment goes through, and then the model's server fails: what is tried again
// is the model call and nothing else, and the approval was used once.
func TestModelFailsAfterAnEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, paid := 0, 0
		l := asking(t, func(context.Context, engine.Question) (engine.Answer, bool) {
			asked++
			return engine.Answer{Decision: event.Approved}, true
		})
		l.tools = nil
		l.tool("pay", event.Once, func(context.Context, *tool.Call) (*tool.Result, error) { paid++; return tool.Text("paid"), nil })
		l.model.faults = map[int]error{2: &model.Error{Class: event.ClassServer, Status: 500}, 3: &model.Error{Class: event.ClassNetwork}}
		l.spec.Retry.Tries = 2
		e := l.engine()
		if r := l.start(t.Context(), e); r.Reason != event.ReasonModelError {
			t.Fatalf("%+v", r)
		}
		// Nor is anything lost, or done again by who asks for the run once more.
		before := l.journal()
		if r := l.resume(t.Context(), l.engine()); r.Reason != event.ReasonModelError {
			t.Errorf("resumed: %+v", r)
		}
		want(t, l.journal(), before)
		if d := l.last("c1"); d.Status != event.StatusSuccess || plain(d.Parts) != "paid" || !strings.Contains(before, "input.received") {
			t.Errorf("the journal holds %s %s\n%s", d.Status, plain(d.Parts), before)
		}
		if asked != 1 || paid != 1 {
			t.Errorf("asked %d times, paid %d times", asked, paid)
		}
	})
}

// Twenty calls, a clean end, and a conversation that another engine carries on:
// each result is what it was.
func TestResultsAfterResume(t *testing.T) {
	var script []reply
	for n := range 20 {
		script = append(script, call(fmt.Sprintf("c%d look %d", n, n)))
	}
	l := newLab(t, append(script, say("first"), say("second"))...)
	l.spec.Chat = true
	l.tool("look", event.Read, func(_ context.Context, c *tool.Call) (*tool.Result, error) {
		return tool.Text("result of " + c.ID + "."), nil
	})
	l.start(t.Context(), l.engine())
	job := l.ready()
	job.Input = text("and now?")
	if r, err := l.engine().Resume(t.Context(), job); err != nil || r.Answer != "second" {
		t.Fatalf("%+v, %v", r, err)
	}
	sent := l.model.sent()
	body := string(sent[len(sent)-1])
	for n := range 20 {
		if strings.Count(body, fmt.Sprintf("result of c%d.", n)) != 1 {
			t.Errorf("the result of c%d is not in the request once", n)
		}
	}
	if strings.Contains(body, "error_type") || strings.Contains(body, "unknown") {
		t.Errorf("the request says that something failed: %s", body)
	}
}
