package rein_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"rein.example/rein"
	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal/memory"
	"rein.example/rein/tool"
)

type note struct {
	Text string `json:"text"`
}

// send is a tool that must not run twice; it counts how often it did.
func send(count *int) tool.Tool {
	return tool.New("send_note", tool.Doc{What: "Sends a note.", When: "Use it once.", Returns: "That it was sent."},
		func(ctx context.Context, in note) (string, error) { *count++; return "sent: " + in.Text, nil }, nil)
}

const sending = `
turns:
  - call: {name: send_note, arguments: {text: hi}}
  - say: The note is sent.
`

func newAgent(t *testing.T, text string, o *rein.Options) *rein.Agent {
	t.Helper()
	a, err := rein.New(client(text), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// A write needs a person's word unless a permission says otherwise: the run
// pauses, the question can be answered later, and the run goes on.
func TestApprovalPausesAndResumes(t *testing.T) {
	ctx, sent := context.Background(), 0
	a := newAgent(t, sending, &rein.Options{Tools: []tool.Tool{send(&sent)}})
	run := a.Start(ctx, "send it")
	res, err := run.Result()
	if err != nil || res.Status != "paused" || res.Cause != event.CauseWaitingApproval || len(res.Pending) != 1 || sent != 0 {
		t.Fatalf("got %+v, %v, sent %d", res, err, sent)
	}
	if got := string(res.Pending[0].Args); got != `{"text":"hi"}` {
		t.Errorf("the question shows arguments %s", got)
	}
	if err := run.Approve(ctx, res.Pending[0], engine.Answer{Decision: event.Approved, By: "test"}); err != nil {
		t.Fatal(err)
	}
	res, err = a.Resume(ctx, run.ID()).Result()
	if err != nil || !res.OK || res.Answer != "The note is sent." || sent != 1 {
		t.Fatalf("got %+v, %v, sent %d", res, err, sent)
	}
}

// Whoever can be asked while the run goes on is asked at once.
func TestApproverAnswers(t *testing.T) {
	for _, decision := range []event.Decision{event.Approved, event.Rejected} {
		sent := 0
		a := newAgent(t, sending, &rein.Options{Tools: []tool.Tool{send(&sent)},
			Approve: func(ctx context.Context, q engine.Question) (engine.Answer, bool) {
				return engine.Answer{Decision: decision, By: "test"}, true
			}})
		res, err := a.Run(context.Background(), "send it")
		if err != nil || !res.OK || (sent == 1) != (decision == event.Approved) {
			t.Errorf("%s: got %+v, %v, sent %d", decision, res, err, sent)
		}
	}
}

// A context that ends finishes the run as cancelled; with ErrStop as the cause
// the run pauses and can be resumed.
func TestCancelAndStop(t *testing.T) {
	for _, c := range []struct {
		cause          error
		status, detail string
	}{{errors.New("out of patience"), "finished", "out of patience"}, {rein.ErrStop, "paused", ""}} {
		a := newAgent(t, `{turns: [{delay: 1m, say: late}]}`, nil)
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		run := a.Start(ctx, "answer")
		for e, err := range run.Events() {
			if err != nil {
				t.Fatal(err)
			}
			if e.Data != nil && e.Data.Type() == event.TypeModelCalled {
				cancel(c.cause)
			}
		}
		res, err := run.Result()
		if err != nil || res.Status != c.status || res.Detail != c.detail {
			t.Errorf("%v: got %+v, %v", c.cause, res, err)
		}
	}
}

// Breaking off the loop over the events stops the run; it can be resumed.
func TestBreakStops(t *testing.T) {
	a := newAgent(t, `{turns: [{delay: 200ms, say: Done.}]}`, nil)
	run := a.Start(context.Background(), "do it")
	for e := range run.Events() {
		if e.Data != nil && e.Data.Type() == event.TypeContextAssembled {
			break
		}
	}
	res, err := run.Result()
	if err != nil || res.Status != "paused" || res.Cause != event.CauseInterrupted {
		t.Fatalf("got %+v, %v", res, err)
	}
	res, err = a.Resume(context.Background(), run.ID()).Result()
	if err != nil || res.Answer != "Done." {
		t.Fatalf("resumed: got %+v, %v", res, err)
	}
}

// A panic in the loop's body comes out of the loop, and leaves the run
// resumable.
func TestPanicInLoop(t *testing.T) {
	a := newAgent(t, `{turns: [Done.]}`, nil)
	run := a.Start(context.Background(), "do it")
	func() {
		defer func() {
			if p := recover(); p != "mine" {
				t.Errorf("recovered %v", p)
			}
		}()
		for range run.Events() {
			panic("mine")
		}
	}()
	if res, err := a.Resume(context.Background(), run.ID()).Result(); err != nil || res.Answer != "Done." {
		t.Errorf("resumed: got %+v, %v", res, err)
	}
}

// What somebody says to a running run is redacted, and counted even though no
// engine has seen it before it was journalled.
func TestSend(t *testing.T) {
	secrets := event.NewSecrets()
	if err := secrets.Register("TOKEN", "a-secret-value"); err != nil {
		t.Fatal(err)
	}
	a := newAgent(t, `{turns: [{delay: 200ms, say: One.}, Two.]}`, &rein.Options{Secrets: secrets})
	run := a.Start(context.Background(), "count")
	var last *event.ContextAssembled
	text := ""
	for e, err := range run.Events() {
		if err != nil {
			t.Fatal(err)
		}
		switch d := e.Data.(type) {
		case *event.ModelCalled:
			if last.Step == 1 {
				if err := run.Send(context.Background(), strings.Repeat("and use a-secret-value ", 50)); err != nil {
					t.Fatal(err)
				}
			}
		case *event.ContextAssembled:
			if last != nil && d.Tokens < last.Tokens+100 {
				t.Errorf("the message counts for nothing: %d tokens after %d", d.Tokens, last.Tokens)
			}
			last = d
		case *event.InputReceived:
			text += d.Parts[0].Text
		}
	}
	if res, err := run.Result(); err != nil || res.Answer != "Two." {
		t.Errorf("got %+v, %v", res, err)
	}
	if strings.Contains(text, "secret-value") || !strings.Contains(text, "{{secret:TOKEN}}") {
		t.Errorf("the journal has %q", text)
	}
}

// An outcome has the time at which it came, not that at which it was asked for.
func TestTimesOfOutcomes(t *testing.T) {
	a := newAgent(t, `{turns: [{delay: 200ms, say: Late.}]}`, nil)
	var called int64
	for e, err := range a.Start(context.Background(), "wait").Events() {
		if err != nil {
			t.Fatal(err)
		}
		switch e.Data.(type) {
		case *event.ModelCalled:
			called = e.Time
		case *event.ModelAnswered:
			if e.Time-called < 150 {
				t.Errorf("answered %d ms after the call, which took 200 ms", e.Time-called)
			}
		}
	}
}

// What is wrong with an agent or a task is said before anything happens.
func TestWrongUse(t *testing.T) {
	sent := 0
	for name, o := range map[string]*rein.Options{
		"there are two":  {Tools: []tool.Tool{send(&sent), send(&sent)}},
		"permission":     {Permissions: []event.Permission{{Verdict: "maybe", Match: "*"}}},
		"submit schema:": {Submit: []byte(`{"type":`)},
		"is no strategy": {Window: event.WindowSpec{Strategy: "rolling"}},
		"no share":       {Window: event.WindowSpec{Shares: []event.BlockShare{{Name: "rest", Share: 1}}}},
		"trigger is":     {Window: event.WindowSpec{Trigger: 2_000_000}},
		"below 0":        {Window: event.WindowSpec{Keep: -1}},
	} {
		if _, err := rein.New(client(`{turns: [x]}`), o); err == nil {
			t.Errorf("%s: no error", name)
		} else if !strings.Contains(err.Error(), name) && !strings.Contains(err.Error(), "send_note") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	a := newAgent(t, `{turns: [x]}`, nil)
	for _, task := range []string{"", "\xff\xfe"} {
		if _, err := a.Run(context.Background(), task); err == nil {
			t.Errorf("task %q: no error", task)
		}
	}
	if _, err := a.Resume(context.Background(), "no-such-run").Result(); err == nil {
		t.Error("a run that does not exist can be resumed")
	}
}

// Two agents can share a store, but one run has one owner.
func TestSharedStore(t *testing.T) {
	store := memory.New()
	defer store.Close()
	a := newAgent(t, `{turns: [One.]}`, &rein.Options{Store: store})
	b := newAgent(t, `{turns: [One.]}`, &rein.Options{Store: store})
	run := a.Start(context.Background(), "count")
	for e := range run.Events() {
		if e.Data != nil && e.Data.Type() == event.TypeModelCalled {
			if _, err := b.Resume(context.Background(), run.ID()).Result(); err == nil {
				t.Error("a second owner was let in")
			}
		}
	}
	if res, err := run.Result(); err != nil || !res.OK {
		t.Errorf("the owner was disturbed: %+v, %v", res, err)
	}
}
