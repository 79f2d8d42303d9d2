package local

import (
	"context"
	"fmt"
	"slices"
	"time"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

// start starts what the machine asks for and was not started yet, and ends what
// it does not ask for any more.
func (a *actor) start() error {
	a.pass++
	for _, c := range a.cmds {
		if f := a.find(c.CommandID()); f == nil {
			if reads(c) && a.reading() >= maxReads {
				continue
			}
			if err := a.launch(c); err != nil {
				return err
			}
		} else if f.pass = a.pass; givenUp(c) {
			a.end(f, context.Canceled)
		} else if s, ok := c.(*loop.StartRun); ok {
			a.tellBelow(f, s)
		}
	}
	for _, f := range a.flights {
		if f.pass != a.pass {
			a.drop(f)
		}
	}
	a.sweep()
	return a.release()
}

// maxReads is how many reads of one run are carried out at once.
const maxReads = 8

// reads reports whether a command is a call that changes nothing.
func reads(c loop.Command) bool {
	t, ok := c.(*loop.RunTool)
	return ok && !t.Effect.Writes()
}

// reading returns how many reads are in flight.
func (a *actor) reading() int {
	n := 0
	for _, f := range a.flights {
		if reads(f.cmd) {
			n++
		}
	}
	return n
}

// launch writes the intent to carry out a command down. What need not wait for
// that to be in the store starts at once.
func (a *actor) launch(c loop.Command) error {
	f := &flight{cmd: c, id: c.CommandID(), rests: a.book.next, pass: a.pass}
	intent, already, err := a.prepare(f, c)
	if err != nil {
		return err
	}
	if already != nil { // nothing was begun that it could rest on
		f.rests, f.needs = never, nothing
		a.inbox = append(a.inbox, outcome{f, already})
	}
	a.flights = append(a.flights, f)
	if intent != nil {
		if err := a.add(intent); err != nil {
			return err
		}
	}
	if f.needs == intended {
		a.fly(f)
	}
	return nil
}

// prepare makes a flight of a command, and returns the intent to write down
// first, or the outcome where it is known already.
func (a *actor) prepare(f *flight, c loop.Command) (intent, already event.Data, err error) {
	switch c := c.(type) {
	case *loop.Wait:
		f.rests = never
		f.due = time.Now().Add(time.UnixMilli(c.Until).Sub(a.e.clock())) // a.at may be a write ago
	case *loop.CallModel:
		if c.Cancel {
			return nil, &event.ModelFailed{ID: c.ID, Class: event.ClassCancelled, Message: "the call was given up before it was made"}, nil
		}
		f.needs = handed
		intent, already = a.asker.prepare(f, c)
	case *loop.RunTool:
		if c.Cancel {
			e := &tool.Error{Type: "cancelled", Message: "the call was given up before it began", NoEffect: true, Retryable: true}
			return nil, a.e.admit(a.ctx, a.failed(f, c, e, cancelled)), nil
		}
		f.tool, f.spec, f.limit = a.job.Tools.Get(c.Tool), toolSpec(a.m.Spec(), c.Tool), timeout(c)
		f.pages, f.had, f.history = pages(a.m.Spec()), a.m.Results(), a.m.History()
		if a.watch.w.Progress != nil {
			f.said = &said{box: &a.box}
		}
		if e := a.e.left.refuse(c); e != nil {
			return nil, a.e.admit(a.ctx, a.failed(f, c, e, alive)), nil
		}
		if f.needs = intended; c.Effect.Writes() {
			f.needs = synced
		}
		if a.tree != nil && c.Effect == event.Once && c.Key != "" {
			f.elsewhere = a.tree.claim(c.Key, a.job.Run)
		}
		f.kin = a.kinOf()
		intent = &event.ToolStarted{ID: c.ID, Call: c.Call, Tool: c.Tool, Effect: c.Effect, ArgsHash: c.ArgsHash, Key: c.Key, Attempt: c.Attempt, For: c.For}
	case *loop.StartRun:
		intent, already = a.prepareBelow(f, c)
	case *loop.AskApproval:
		f.run = a.m.Spec()
		if f.needs = synced; a.job.Approve == nil {
			f.needs, f.open = nothing, true
		}
		if c.Asked {
			f.rests = always
		} else {
			intent = &event.ApprovalAsked{ID: c.ID, Call: c.Call, Tool: c.Tool, Hash: c.Hash, Settle: c.Settle, Words: c.Words, Why: c.Why}
		}
	case *loop.Retrieve:
		f.run, f.rests, f.limit = a.m.Spec(), a.book.next-1, retrieveTime
		if f.needs = intended; a.job.Retrieve == nil {
			already = &event.MaterialRetrieved{ID: c.ID, Error: "nothing can be retrieved: the program that carries the run out has no retriever"}
		}
	default:
		err = fmt.Errorf("this engine cannot carry out %T: the run needs a newer version", c)
	}
	return intent, already, err
}

// release brings the intents into the store, as far as somebody waits for that,
// and starts what waited.
func (a *actor) release() (err error) {
	most := nothing
	for _, f := range a.flights {
		most = max(most, f.needs)
	}
	switch most {
	case handed:
		err = a.book.hand(a.ctx)
	case synced:
		err = a.book.flush(a.ctx)
	}
	if err != nil {
		return err
	}
	if most == synced {
		a.at = time.Now()
	}
	for _, f := range a.flights {
		switch {
		case f.needs == nothing:
		case asks(f):
			f.needs, f.queued = nothing, true
		default:
			a.fly(f)
		}
	}
	a.question()
	return nil
}

// asks reports whether a flight is a question.
func asks(f *flight) bool { _, ok := f.cmd.(*loop.AskApproval); return ok }

// question puts the next question, unless one is being answered: people answer in
// the order of the calls.
func (a *actor) question() {
	var first *flight
	more := 0
	for _, f := range a.flights {
		if asks(f) && f.flies() {
			return
		}
	}
	for _, c := range a.cmds {
		if f := a.find(c.CommandID()); f != nil && f.queued {
			if first == nil {
				first = f
			} else {
				more++
			}
		}
	}
	if first != nil {
		first.more = more
		a.fly(first)
	}
}

// givenUp reports whether the machine wants nothing of the command any more but
// its outcome.
func givenUp(c loop.Command) bool {
	switch c := c.(type) {
	case *loop.CallModel:
		return c.Cancel
	case *loop.RunTool:
		return c.Cancel
	}
	return false
}

// ask puts a question to the job's approver; it runs on the flight's goroutine.
// A decision that does not answer the question leaves it open.
func (a *actor) ask(f *flight, c *loop.AskApproval) event.Data {
	if !a.tree.ask(&f.ctx) {
		return nil
	}
	defer a.tree.asked()
	answer, ok := a.job.Approve(&f.ctx, engine.Question{Run: a.job.Run, Call: c.Call, Tool: c.Tool, Args: c.Args, Hash: c.Hash, Settle: c.Settle, Words: c.Words, Why: c.Why, More: f.more})
	if !ok {
		return nil
	}
	if c.Words && answer.Decision == "" && answer.Text != "" {
		said := &event.InputReceived{Kind: event.InputText, By: answer.By, Parts: []message.Part{{Kind: message.Text, Text: answer.Text}}}
		return a.e.receive(a.ctx, f.run, said, false)
	}
	fitting := []event.Decision{event.Approved, event.Rejected}
	if c.Words {
		fitting = fitting[1:]
	}
	if c.Settle {
		fitting = []event.Decision{event.Done, event.NotDone}
	}
	if !slices.Contains(fitting, answer.Decision) {
		a.log.Error(fmt.Sprintf("the approver's decision %q is no answer to the question, which stays open: use one of %q", answer.Decision, fitting))
		return nil
	}
	return a.e.admit(a.ctx, &event.ApprovalGiven{Call: c.Call, Decision: answer.Decision, Hash: c.Hash, By: answer.By, Why: answer.Why})
}
