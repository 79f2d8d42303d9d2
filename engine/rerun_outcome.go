package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/parse"
)

// Outcome is what came of one request: a reply, as the run reads it, or an error.
type Outcome struct {
	// Failed is why there is no reply; the fields up to Problems are then empty.
	Failed *event.ModelFailed
	// Calls are what the reply asks for, in its order; Text is what it says beside or
	// instead, without reasoning.
	Calls []Act
	Text  string
	// Problems say why nothing can be made of it.
	Problems []string
	Finish   event.Finish
	// Usage is of the reply alone. Cost is that of all tries, in millionths of a US
	// dollar; unknown if the price is, or what one used.
	Usage message.Usage
	Cost  message.Count
	// Model and ResponseID are as the server reports them.
	Model, ResponseID string
	// Latency is the time of the call that gave the reply or the last error, in
	// milliseconds, without what was waited before; First that to the first piece.
	Latency, First message.Count
}

// Act is a call that a reply asks for.
type Act struct {
	Tool string
	// Args are canonical as far as they can be read, with what is mended of them as it
	// would run.
	Args string
	// Problem says why the call cannot be used; see [event.ParsedCall].
	Problem string
	// Verdict is what the run has judged of it, or would: empty where only somebody
	// else could say, or nobody is asked.
	Verdict event.Verdict
	// Rule and Why say more of a verdict other than allow.
	Rule, Why string
}

// outcomeOf returns what came of a request in the run; nil if nobody knows.
func outcomeOf(ctx context.Context, store journal.Store, spec *event.Spec, run string, seq int64, called *event.ModelCalled) (*Outcome, error) {
	var o *Outcome
	var parsed *event.ReplyParsed
	var judged []*event.CallJudged
	for ev, err := range store.Read(ctx, run, seq+1) {
		var damage *journal.DamageError
		if errors.As(err, &damage) {
			break // what is sound says it, or nobody knows
		}
		if err != nil {
			return nil, fmt.Errorf("read what came of event %d of run %s: %w", seq, run, err)
		}
		switch d := ev.Data.(type) {
		case *event.ModelAnswered:
			if d.ID == called.ID {
				o = answered(d, spec.Price(called.Model))
				if d.Latency == 0 && called.SHA256 == (event.Hash{}) {
					o.Latency = 0 // a recording without times
				}
			}
		case *event.ModelFailed:
			if d.ID == called.ID {
				return &Outcome{Failed: d, Latency: message.Known(d.Latency), Usage: d.Usage, Cost: costOfFailure(d, spec.Price(called.Model))}, nil
			}
		case *event.ReplyParsed:
			if d.ID == called.ID {
				parsed = d
			}
		case *event.CallJudged:
			judged = append(judged, d)
		case *event.ContextAssembled, *event.ModelCalled:
			if o != nil && parsed != nil {
				o.read(parsed, verdictsOn(parsed, judged), o.Text)
				return o, nil
			}
		}
	}
	if o == nil || parsed == nil {
		return nil, nil // also a reply that was never acted on: nobody has read it
	}
	o.read(parsed, verdictsOn(parsed, judged), o.Text)
	return o, nil
}

// verdictsOn returns the verdict on each call of a reply, the first where there are
// several; nil for none.
func verdictsOn(parsed *event.ReplyParsed, judged []*event.CallJudged) []*event.CallJudged {
	out := make([]*event.CallJudged, len(parsed.Calls))
	for i := range parsed.Calls {
		if k := slices.IndexFunc(judged, func(j *event.CallJudged) bool { return j.Call == parsed.Calls[i].ID }); k >= 0 {
			out[i] = judged[k]
		}
	}
	return out
}

// answered returns the outcome of a reply that is not read yet; Text is all of it.
func answered(d *event.ModelAnswered, p *message.Price) *Outcome {
	o := &Outcome{Text: d.Message.PlainText(), Finish: d.Finish, Usage: d.Usage, Model: d.Model, ResponseID: d.ResponseID, Latency: message.Known(d.Latency), First: d.First}
	if c, ok := d.Usage.Cost(p); ok {
		o.Cost = message.Known(c.Total())
	}
	return o
}

// costOfFailure returns what a call without a reply has cost: nothing where the server
// was not reached, or has refused the request. Elsewhere it may have written a reply that
// did not come, and then only its own figures say what that was.
func costOfFailure(d *event.ModelFailed, p *message.Price) message.Count {
	refused := d.Status >= 400
	switch d.Code {
	case "dns", "refused", "unreachable", "certificate", "tls":
		refused = refused || d.Class == event.ClassNetwork
	}
	if refused && d.Usage == (message.Usage{}) && d.Partial == "" {
		return message.Known(0)
	}
	if c, ok := d.Usage.Cost(p); ok {
		return message.Known(c.Total())
	}
	return 0
}

// read puts into the outcome what was made of its reply, whose text is said, with the
// verdicts on its calls: none, or one for each, nil where there is none.
func (o *Outcome) read(parsed *event.ReplyParsed, judged []*event.CallJudged, said string) {
	o.Text, o.Problems = said, parsed.Problems
	if parsed.Text != "" || parsed.Reasoning != "" || parsed.Format != parse.Native && len(parsed.Calls) > 0 {
		o.Text = parsed.Text
	}
	o.Text = strings.TrimSpace(o.Text)
	for i := range parsed.Calls {
		c := &parsed.Calls[i]
		act := Act{Tool: c.Name, Args: canonical(c.Args), Problem: c.Problem}
		if len(judged) > 0 && judged[i] != nil {
			j := judged[i]
			act.Verdict = j.Verdict
			if act.Tool = j.Tool; j.Args != "" {
				act.Args = canonical(j.Args)
			}
			if j.Verdict != event.Allow {
				act.Rule, act.Why = j.Rule, j.Why
			}
		}
		o.Calls = append(o.Calls, act)
	}
	if len(parsed.Calls) == 0 && parsed.Repeats > 0 {
		o.Problems = append(slices.Clone(o.Problems), fmt.Sprintf("it ends with the same passage %d times in a row", parsed.Repeats))
	}
	if len(o.Calls) == 0 && o.Text == "" && len(o.Problems) == 0 {
		o.Problems = []string{"it holds neither a call nor an answer"}
	}
}

// Tried is what came of sending a [Rerun] once; see [Rerun.Outcome].
type Tried struct {
	Reply *model.Reply
	// Err is why there is no reply.
	Err error
	// Latency of the last try, in milliseconds. Failures are the tries before it.
	Latency  int64
	Failures []*model.Error
}

// Outcome reads what came of sending the request, at that price, as the run would
// have: with its tools, and, for a step's reply, with its permissions and rules as they
// stood there. It runs nothing and writes nothing. It reads the journal again up to the
// request.
func (r *Rerun) Outcome(ctx context.Context, t *Tried, price *message.Price) (*Outcome, error) {
	cost := message.Known(0)
	for _, f := range t.Failures {
		cost = cost.Add(costOfFailure(failureOf(f), price))
	}
	if t.Err != nil || t.Reply == nil {
		d := failureOf(t.Err)
		d.Latency = t.Latency
		return &Outcome{Failed: d, Latency: message.Known(t.Latency), Usage: d.Usage, Cost: cost.Add(costOfFailure(d, price))}, nil
	}
	reply := &event.ModelAnswered{ID: r.Called.ID, Message: t.Reply.Message, Finish: t.Reply.Finish, RawFinish: t.Reply.RawFinish,
		Usage: t.Reply.Usage, Model: t.Reply.Model, ResponseID: t.Reply.ID, Latency: t.Latency}
	if t.Reply.First > 0 {
		reply.First = message.Known(t.Reply.First.Milliseconds())
	}
	o := answered(reply, price)
	o.Cost = cost.Add(o.Cost)
	parsed := r.parse(reply)
	var judged []*event.CallJudged
	if len(parsed.Calls) > 0 && r.Called.Purpose == event.PurposeStep && !r.imported {
		var err error
		if judged, err = r.judge(ctx, reply, parsed); err != nil {
			return nil, err
		}
	}
	o.read(parsed, judged, o.Text)
	return o, nil
}

// failureOf returns an error as the journal has it.
func failureOf(err error) *event.ModelFailed {
	d := &event.ModelFailed{Class: event.ClassInternal, Message: "the model's client returned neither a reply nor an error"}
	var fault *model.Error
	switch {
	case errors.As(err, &fault):
		d.Class, d.Status, d.Code, d.Message = fault.Class, int64(fault.Status), fault.Code, fault.Message
		d.RetryAfter, d.Partial, d.Usage = fault.RetryAfter, fault.Partial, fault.Usage
		if d.Message == "" && fault.Err != nil {
			d.Message = fault.Err.Error()
		}
	case err != nil:
		d.Message = err.Error()
	}
	return d
}

// parse reads a reply as the run does.
func (r *Rerun) parse(reply *event.ModelAnswered) *event.ReplyParsed {
	in := r.reading
	in.Message, in.Finish = &reply.Message, reply.Finish
	got := parse.Parse(in)
	d := got.Event(reply.ID, &reply.Message)
	if len(d.Calls) == 0 && len(d.Problems) == 0 && r.Called.Purpose == event.PurposeStep {
		_, d.Repeats = parse.Repeats(strings.TrimSpace(reply.Message.PlainText()))
	}
	return d
}

// judge returns what the run would have judged of each of a reply's calls. The machine
// that says so is one of its own, and its decisions are written nowhere. What was called
// before, by another sample, is not judged again: that would be to fold the run again.
func (r *Rerun) judge(ctx context.Context, reply *event.ModelAnswered, parsed *event.ReplyParsed) ([]*event.CallJudged, error) {
	key := ""
	for i := range parsed.Calls {
		c := &parsed.Calls[i]
		key += fmt.Sprintf("%q %q %q\n", c.Name, c.Args, c.Problem)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok := r.verdicts[key]; ok {
		return v, nil
	}
	m, called, err := before(ctx, r.store, r.Run, r.Seq)
	if err != nil {
		return nil, err
	}
	for i, d := range []event.Data{called, reply, parsed} {
		if err := m.Apply(&event.Event{Run: r.Run, Seq: r.Seq + int64(i), Data: d}); err != nil {
			return nil, fmt.Errorf("judge a reply as run %s would: %w", r.Run, err)
		}
	}
	// The verdicts on all calls are the machine's first decision on a reply.
	var judged []*event.CallJudged
	for _, c := range m.Next() {
		rec, ok := c.(*loop.Record)
		if !ok {
			continue
		}
		for _, d := range rec.Data {
			if j, ok := d.(*event.CallJudged); ok {
				judged = append(judged, j)
			}
		}
	}
	r.verdicts[key] = verdictsOn(parsed, judged)
	return r.verdicts[key], nil
}
