package loop_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/schema"
	"rein.example/rein/tool"
)

// TestRandomWalks lets a careless model, failing tools and an engine that dies
// at any event drive the machine, by seed. Whatever happens: a request never
// holds a call without its result, a once call is never begun again while it
// may have taken effect, nothing runs under a changed definition that nobody has
// looked at, the run ends, and a machine folded from the journal
// wants the same as the one that lived through it.
func TestRandomWalks(t *testing.T) {
	for seed := range uint64(400) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { walk(t, seed) })
	}
}

// FuzzWalk is TestRandomWalks from any seed.
func FuzzWalk(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { walk(t, seed) })
}

func walk(t *testing.T, seed uint64) {
	w := &walker{script: newScript(t), rnd: rand.New(rand.NewPCG(seed, 1)), begunOnce: map[string]*loop.RunTool{}, goesOn: map[string]bool{}, ended: map[string]bool{}, denied: map[string]int64{}, approved: map[string]bool{}}
	spec := event.Spec{Model: "test/model", Seed: int64(seed), Limits: event.Limits{Steps: 12, ToolCalls: 30, Wall: 1_000_000},
		Permissions: []event.Permission{{Verdict: event.Allow, Match: "*"}, {Verdict: event.Ask, Match: "ask_*"}, {Verdict: event.Deny, Match: "deny_*"}}}
	for _, f := range [][]string{{"", "ask_pay", "once"}, {"", "deny_it", "read"}, {"", "list", "read"}, {"", "pay", "once", "confirm=list"}, {"", "put", "repeatable", "resource=path"}} {
		spec.Tools = append(spec.Tools, toolSpec(f))
	}
	w.add("", &event.RunStarted{Format: 1, Root: "r1", Spec: spec})
	w.add("", &event.InputReceived{Kind: event.InputText, Parts: []message.Part{{Kind: message.Text, Text: "go"}}, Tokens: message.Known(5)})
	for range 3000 {
		if w.m.Status().Status == "finished" {
			w.refold()
			return
		}
		w.now += int64(w.rnd.IntN(3000))
		w.once()
	}
	t.Fatalf("the run does not end; it wants\n%s", wants(w.m))
}

type walker struct {
	*script
	rnd       *rand.Rand
	begunOnce map[string]*loop.RunTool // keys of once calls that may have taken effect
	goesOn    map[string]bool          // those of which an execution was left behind
	ended     map[string]bool          // those of which nothing goes on
	denied    map[string]int64         // when a confirm tool first said that they are not done
	pin       string                   // of the tool put now
	approved  map[string]bool          // calls that a person has allowed since that changed
}

// once lets one thing happen: mostly what the machine waits for, now and then a
// crash, input, a stop.
func (w *walker) once() {
	switch w.rnd.IntN(40) {
	case 0:
		w.resume()
		return
	case 1:
		kinds := []event.InputKind{event.InputStop, event.InputPause, event.InputText, event.InputText}
		w.add("", &event.InputReceived{Kind: kinds[w.rnd.IntN(4)], Parts: []message.Part{{Kind: message.Text, Text: "and"}}})
		return
	}
	next := w.m.Next()
	if len(next) == 0 {
		w.resume()
		return
	}
	switch c := next[w.rnd.IntN(len(next))].(type) {
	case *loop.Record:
		for _, d := range slices.Clone(c.Data) {
			w.add("", d)
		}
	case *loop.Finish:
		w.add("", c.Data)
	case *loop.CallModel:
		w.model(c)
	case *loop.RunTool:
		w.tool(c)
	case *loop.AskApproval:
		if !c.Asked {
			w.add("", &event.ApprovalAsked{ID: c.ID, Call: c.Call, Tool: c.Tool, Hash: c.Hash, Settle: c.Settle})
			return
		}
		answers := []event.Decision{event.Approved, event.Rejected}
		if c.Settle {
			answers = []event.Decision{event.Done, event.NotDone}
		}
		d := answers[w.rnd.IntN(2)]
		if d == event.NotDone {
			clear(w.begunOnce) // a person says that nothing happened
			clear(w.goesOn)
		}
		w.approved[c.Call] = d == event.Approved
		w.add("", &event.ApprovalGiven{Call: c.Call, Decision: d, Hash: c.Hash})
	case *loop.Wait:
		if w.rnd.IntN(20) == 0 || len(next) == 1 {
			w.now = max(w.now, c.Until)
			w.add(c.ID, &event.TimerFired{ID: c.ID})
		}
	}
}

func (w *walker) model(c *loop.CallModel) {
	if !w.begun[c.ID] {
		w.begun[c.ID] = true
		if p := message.Pair(c.Messages); len(p) != len(c.Messages) {
			w.t.Fatalf("a request with unpaired calls: %v", c.Messages)
		}
		w.add("", &event.ModelCalled{ID: c.ID, Purpose: c.Purpose, Step: c.Step, Attempt: c.Attempt})
		return
	}
	if c.Cancel || w.rnd.IntN(6) == 0 {
		classes := []event.ErrorClass{event.ClassRate, event.ClassServer, event.ClassIncomplete, event.ClassMalformed}
		f := &event.ModelFailed{ID: c.ID, Class: classes[w.rnd.IntN(4)]}
		if c.Cancel {
			f.Class = event.ClassCancelled
		}
		w.add(c.ID, f)
		return
	}
	msg := message.Message{Role: message.Assistant}
	if w.rnd.IntN(4) == 0 {
		msg.Parts = append(msg.Parts, message.Part{Kind: message.Text, Text: "thinking"})
	}
	for i := range w.rnd.IntN(4) {
		names := []string{"list", "put", "pay", "ask_pay", "deny_it", "nothing"}
		args := []string{`{"x":1}`, `{"x":2}`, `{"x":"3"}`, `{"path":"a"}`, `{"bad":1}`, `{"x":`, ``}
		msg.Parts = append(msg.Parts, message.Part{Kind: message.ToolCall, ID: fmt.Sprintf("call_%d", i),
			Name: names[w.rnd.IntN(len(names))], Args: args[w.rnd.IntN(len(args))]})
	}
	finishes := []event.Finish{event.FinishStop, event.FinishToolCalls, event.FinishToolCalls, event.FinishToolCalls, event.FinishLength}
	w.add(c.ID, &event.ModelAnswered{ID: c.ID, Message: msg, Finish: finishes[w.rnd.IntN(5)], Tokens: message.Known(7)})
}

func (w *walker) tool(c *loop.RunTool) {
	if !w.begun[c.ID] {
		w.begun[c.ID] = true
		if c.Tool == "put" && w.pin != "" && !w.approved[c.Call] {
			w.t.Fatalf("call %s runs although nobody has looked at the changed definition", c.Call)
		}
		if c.Effect == event.Once {
			if w.begunOnce[c.Key] != nil {
				w.t.Fatalf("once call %s begins again although it may have taken effect", c.Call)
			}
			w.begunOnce[c.Key] = c
			delete(w.ended, c.Key)
			delete(w.denied, c.Key)
		}
		w.add("", &event.ToolStarted{ID: c.ID, Call: c.Call, Tool: c.Tool, Effect: c.Effect, ArgsHash: c.ArgsHash, Key: c.Key, Attempt: c.Attempt, For: c.For})
		return
	}
	statuses := []event.Status{event.StatusSuccess, event.StatusSuccess, event.StatusSuccess, event.StatusError, event.StatusUnknown}
	f := &event.ToolFinished{ID: c.ID, Call: c.Call, Tool: c.Tool, Status: statuses[w.rnd.IntN(5)],
		Parts: []message.Part{{Kind: message.Text, Text: "result"}}, Tokens: message.Known(3), For: c.For}
	if c.Value && w.rnd.IntN(3) > 0 {
		f.Result = []byte(`{"done":true}`)
		if w.rnd.IntN(2) == 0 {
			f.Result = []byte(`{"done":false}`)
		}
	}
	if c.Effect == event.Read && f.Status == event.StatusUnknown {
		f.Status = event.StatusTimeout
	}
	switch {
	case f.Status == event.StatusError && w.rnd.IntN(2) == 0:
		f.NoEffect, f.Retryable = true, w.rnd.IntN(2) == 0
		delete(w.begunOnce, c.Key)
	case f.Status == event.StatusUnknown && w.rnd.IntN(4) == 0:
		f.ErrorType = tool.TypeAbandoned
	case f.Status != event.StatusSuccess:
		f.Retryable = w.rnd.IntN(2) == 0
	case c.Value && string(f.Result) == `{"done":false}`:
		w.notDone(c)
	}
	if c.Effect == event.Once && f.ErrorType == tool.TypeAbandoned {
		w.goesOn[c.Key] = true
	} else if f.Status == event.StatusUnknown && w.rnd.IntN(2) == 0 {
		f.Ended, w.ended[c.Key] = true, true
	}
	w.add(c.ID, f)
}

// notDone notes that a confirm tool says that nothing has happened: of the call
// that the harness asked about, or of those that the model's question fits. Of
// what may still be going on that is no proof, nor is it the first time, unless
// that is known to have ended.
func (w *walker) notDone(c *loop.RunTool) {
	for key, of := range w.begunOnce { // order: each by itself
		if w.goesOn[key] || c.For != of.Call && (c.For != "" || !schema.Agree(c.Args, of.Args)) {
			continue
		}
		if w.denied[key] == 0 {
			w.denied[key] = w.now
		}
		if w.ended[key] || w.now-w.denied[key] >= 60_000 { // what pay may take
			delete(w.begunOnce, key)
		}
	}
}

// resume begins a new generation, now and then with another definition of a tool.
func (w *walker) resume() {
	d := &event.RunResumed{Generation: int64(len(w.events))}
	pin := ""
	if w.rnd.IntN(3) == 0 {
		pin = fmt.Sprint("pin", w.rnd.IntN(2))
		d.Changed = []event.ToolPin{{Tool: "put", Pin: pin}}
	}
	if pin != w.pin {
		clear(w.approved)
	}
	w.pin = pin
	w.add("", d)
}
