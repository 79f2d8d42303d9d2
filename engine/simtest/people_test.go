package simtest

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/message"
	"rein.example/rein/schema"
)

// settled hears of every event that has become durable: people see the questions,
// and answer sooner or later, wherever the run is then. The disk's mu is held.
func (h *history) settled(l *log, seq int64) {
	d, ok := l.events[seq-1].from.(*event.ApprovalAsked)
	if !ok || h.known[l.id+d.ID] {
		return
	}
	h.known[l.id+d.ID] = true
	h.ask(l.id, d)
}

// ask lets people think about a question.
func (h *history) ask(run string, q *event.ApprovalAsked) {
	d := roll(h.seed, "person", run, q.ID)
	after := d.span(0, one(d, time.Second, 10*time.Second, 10*time.Minute))
	if d.chance(30) { // an answer to something else comes first
		wrong := &event.ApprovalGiven{Call: one(d, q.Call, q.Call, "nothing"), Decision: one(d, event.Approved, event.Approved, event.Rejected, event.Done, event.NotDone), Hash: event.Hash{1}}
		time.AfterFunc(d.span(0, after), func() { h.post(run, wrong, 3) })
	}
	again := d.chance(20) // the same, or the contrary, once more
	more := d.span(0, 3*time.Second)
	yes := d.chance(75)
	time.AfterFunc(after, func() { h.decide(run, q, yes, 0) })
	if again {
		time.AfterFunc(after+more, func() { h.decide(run, q, yes != d.chance(40), 0) })
	}
}

// decide posts an answer. What became of a call is answered when it is known.
func (h *history) decide(run string, q *event.ApprovalAsked, yes bool, tries int) {
	d := roll(h.seed, "decision", run, q.ID, tries)
	if q.Words {
		if yes {
			h.post(run, &event.InputReceived{Kind: event.InputText, By: "ann", Parts: text("that one")}, 100)
		} else {
			h.post(run, &event.ApprovalGiven{Call: q.Call, Decision: event.Rejected, Hash: q.Hash, By: "ann"}, 100)
		}
		return
	}
	answer := &event.ApprovalGiven{Call: q.Call, Hash: q.Hash, By: "ann", Decision: event.Rejected}
	switch {
	case q.Settle:
		known, done := h.found(q.Tool, h.question(run, q.Call))
		if !known && tries < 1_000 {
			time.AfterFunc(d.span(time.Second, 2*time.Second), func() { h.decide(run, q, yes, tries+1) })
			return
		}
		if answer.Decision = event.NotDone; done {
			answer.Decision = event.Done
		}
	case yes:
		answer.Decision = event.Approved
	}
	h.post(run, answer, 100)
}

// found returns what a person finds out about the acts that a question is about:
// it is known when nothing of them is under way any more.
func (h *history) found(tool string, args jsontext.Value) (known, done bool) {
	k := h.kit(tool)
	if args == nil || k == nil {
		return false, false
	}
	if len(k.def.KeyFields) > 0 {
		args = schema.Fields(args, k.def.KeyFields)
	}
	done, coming := h.world.truth(k, args)
	return done || !coming, done
}

// kit returns the tool of that name, whoever has it: it is the same act.
func (h *history) kit(tool string) *kit {
	for a := h.agent; a != nil; a = a.helper {
		if k := a.kit(tool); k != nil {
			return k
		}
	}
	return nil
}

// question returns the arguments of the call that a question is about, nil if the
// journal does not have it.
func (h *history) question(run, call string) jsontext.Value {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	var args jsontext.Value
	l := h.disk.runs[run]
	for i := range l.events {
		switch d := l.events[i].from.(type) {
		case *event.ReplyParsed:
			for _, c := range d.Calls {
				if c.ID == call {
					args, _ = schema.Canonical([]byte(c.Args))
				}
			}
		case *event.CallJudged:
			if d.Call == call && d.Args != "" {
				args = jsontext.Value(d.Args)
			}
		}
	}
	return args
}

// post is what somebody does who does not own the run.
func (h *history) post(run string, data event.Data, tries int) {
	outside := &view{disk: h.disk}
	_, err := outside.Post(context.Background(), run, journal.Entry{Time: time.Now().UnixMilli(), Data: data})
	switch {
	case err == nil:
		h.note("somebody posts %s to %s: %s", data.Type(), run, data.AppendJSON(nil))
	case errors.Is(err, errTorn) && tries > 0 && !h.over():
		d := roll(h.seed, "again", run, string(data.AppendJSON(nil)), tries)
		time.AfterFunc(d.span(time.Second, 3*time.Second), func() { h.post(run, data, tries-1) })
	case errors.Is(err, errTorn):
	default:
		h.violate("posting to %s: %v", run, err)
	}
}

func text(s string) []message.Part { return []message.Part{{Kind: message.Text, Text: s}} }

// interfere schedules what others say to the run while a process works on it.
func (h *history) interfere(run string, n int) {
	d := roll(h.seed, "inputs", n)
	for range d.IntN(one(d, 1, 1, 2, 4)) {
		in := &event.InputReceived{Kind: pick(d, []weighed[event.InputKind]{{60, event.InputText}, {20, event.InputPause}, {18, event.InputStop}, {2, event.InputCancel}})}
		if in.Kind == event.InputText {
			in.Parts = text(one(d, "and then?", "more", "stop that and do this"))
		}
		to := run + one(d, "", "", "", ".1", ".2")
		time.AfterFunc(d.span(0, one(d, 100*time.Millisecond, 3*time.Second, 30*time.Second)), func() {
			h.disk.mu.Lock()
			l := h.disk.runs[to]
			begun := l != nil && l.end() > 0
			h.disk.mu.Unlock()
			if begun && !h.over() {
				h.post(to, in, 3)
			}
		})
	}
}

// retrieve is a job's Retrieve.
func (p *proc) retrieve(ctx context.Context, query string) ([]message.Part, error) {
	d := roll(p.h.seed, "retriever", p.n, query, time.Now().UnixNano())
	timer := time.NewTimer(d.span(0, one(d, 50*time.Millisecond, time.Second, 2*time.Minute)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.dead:
		return nil, errDead
	case <-ctx.Done():
		time.Sleep(d.span(0, one(d, time.Millisecond, 200*time.Millisecond)))
		return nil, ctx.Err()
	}
	switch {
	case d.chance(10):
		return nil, errors.New("the index is not there")
	case d.chance(5):
		panic("a bug in the retriever")
	case d.chance(20):
		return nil, nil
	}
	return text(strings.Repeat("what is known of it. ", 1+d.IntN(60))), nil
}

// answer is a job's Approve: somebody who sits at the process.
func (p *proc) answer(ctx context.Context, q engine.Question) (engine.Answer, bool) {
	d := roll(p.h.seed, "approver", p.n, q.Run, q.Call, q.Settle)
	timer := time.NewTimer(d.span(0, one(d, time.Second, time.Minute)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.dead:
		return engine.Answer{}, false
	case <-ctx.Done():
		time.Sleep(d.span(0, one(d, time.Millisecond, 200*time.Millisecond)))
		return engine.Answer{}, false
	}
	if d.chance(20) {
		return engine.Answer{}, false
	}
	a := engine.Answer{By: "bob", Decision: event.Approved}
	switch {
	case d.chance(5):
		a.Decision = "perhaps"
	case d.chance(3):
		panic("a bug in the approver")
	case q.Words:
		a.Decision, a.Text = "", "this one"
	case q.Settle:
		known, done := p.h.found(q.Tool, q.Args)
		if !known {
			return engine.Answer{}, false
		}
		if a.Decision = event.NotDone; done {
			a.Decision = event.Done
		}
	case d.chance(25):
		a.Decision = event.Rejected
	}
	return a, true
}
