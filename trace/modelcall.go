package trace

import (
	"fmt"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// modelCall is one request, and what is counted of it.
type modelCall struct {
	row     int
	asked   string // the model, as it was asked for
	purpose event.Purpose
	step    int64
	ended   bool
	charged bool // usage and cost are in the sums
	usage   message.Usage
	cost    message.Cost
	priced  bool // cost is known
}

// total returns what the call cost, in millionths of a dollar.
func (c *modelCall) total() message.Count {
	if !c.priced {
		return 0
	}
	return message.Known(c.cost.Total())
}

// attempt is what a model call is an attempt at.
type attempt struct {
	step    int64
	purpose event.Purpose
}

// reply is a reply that was not parsed yet.
type reply struct {
	id            string
	step          int64
	steps, paused bool // it may be a step; its provider goes on
}

// Attempts numbers the model calls of a run: each counts from 1 at its step and for its
// purpose. A journal counts anew when a summary is refused and another one made, when a
// provider goes on with a reply, and when a run is taken up again, so that two calls
// have one number there. The zero value is ready.
type Attempts struct{ tries map[attempt]int64 }

// Next returns the number of the next model call.
func (a *Attempts) Next(d *event.ModelCalled) int64 {
	if a.tries == nil {
		a.tries = map[attempt]int64{}
	}
	k := attempt{d.Step, d.Purpose}
	a.tries[k]++
	return a.tries[k]
}

func (f *Fold) called(e *event.Event, d *event.ModelCalled) {
	f.step = d.Step
	f.models[d.ID] = &modelCall{row: len(f.rows), asked: d.Model, purpose: d.Purpose, step: d.Step}
	f.of(d.Purpose).calls++
	f.sums.modelCalls++
	f.model(d.Model).Calls++
	f.rows = append(f.rows, Row{Run: e.Run, Step: d.Step, Time: e.Time, Event: e.Seq,
		Model: ptr(d.Model), Purpose: ptr(string(d.Purpose)), Attempt: ptr(f.tries.Next(d)), Context: f.context})
}

func (f *Fold) answered(d *event.ModelAnswered) {
	c := f.models[d.ID]
	if c == nil {
		return
	}
	f.reply = reply{d.ID, c.step, !c.purpose.Aside(), d.Finish == event.FinishPause}
	r := &f.rows[c.row]
	r.LatencyMS, r.FirstMS, r.WaitedMS, r.FinishReason = ptr(d.Latency), known(d.First), ptr(d.Waited), ptr(finish(d.Finish))
	if f.recorded {
		r.LatencyMS, r.WaitedMS = nil, nil
	}
	r.ErrorType, r.ErrorMessage = nil, nil
	if d.Model != "" {
		r.Model = ptr(d.Model)
	}
	f.ended(c, &d.Usage, true)
}

// parsed counts a reply that is acted on. One that its provider goes on with is the
// same step as the next, and what the harness asks for itself is none.
func (f *Fold) parsed(d *event.ReplyParsed) {
	if p := f.reply; p.id == d.ID && p.steps && p.step > f.acted && !(p.paused && len(d.Calls) == 0) {
		f.acted = p.step
		f.sums.steps++
	}
}

func (f *Fold) failed(d *event.ModelFailed) {
	c := f.models[d.ID]
	if c == nil {
		return
	}
	r := &f.rows[c.row]
	r.LatencyMS, r.WaitedMS, r.FinishReason = ptr(d.Latency), ptr(d.Waited), ptr(string(event.FinishError))
	r.ErrorType, r.ErrorMessage = ptr(string(d.Class)), ptr(d.Message)
	// A server that has begun no reply and says nothing of usage has charged nothing.
	f.ended(c, &d.Usage, d.Usage != (message.Usage{}) || d.Partial != "")
}

// ended notes what a call has used. Of a call that ends twice, as the records of
// others have it, the last end counts, and no other.
func (f *Fold) ended(c *modelCall, u *message.Usage, charged bool) {
	if c.charged {
		f.count(c, -1)
	}
	if !c.ended {
		f.sums.ended++
	}
	c.ended, c.charged, c.usage = true, charged, *u
	c.cost, c.priced = u.Cost(f.price(c.asked))
	if charged {
		f.count(c, 1)
	}
	r := &f.rows[c.row]
	r.use(u)
	r.Cost, r.CostParts = nil, nil
	if c.priced {
		parts := c.parts()
		r.Cost, r.CostParts = usd(c.total()), partsOf(&parts, message.Known(c.cost.Output))
	}
	r.CumulativeCost = f.total()
}

// count adds what a call has used to all sums, or takes it from them.
func (f *Fold) count(c *modelCall, sign int64) {
	tokens := c.usage.Input.Add(c.usage.Output)
	f.sums.add(c, sign)
	f.of(c.purpose).add(tokens, c.total(), sign)
	m := f.model(c.asked)
	m.tokens.add(tokens, sign)
	m.cost.add(c.total(), sign)
}

// price returns the price of a model, nil if it is unknown.
func (f *Fold) price(model string) *message.Price {
	if f.spec == nil {
		return nil
	}
	return f.spec.Price(model)
}

// model returns the sums of a model.
func (f *Fold) model(name string) *ModelTotal {
	i, ok := f.modelPlace[name]
	if !ok {
		i = len(f.byModel)
		f.modelPlace[name] = i
		f.byModel = append(f.byModel, ModelTotal{Model: name})
	}
	return &f.byModel[i]
}

// finish returns a finish reason in the words of the trace, which has none for a
// reply that the provider paused in the middle: it stopped.
func finish(f event.Finish) string {
	if f == event.FinishPause {
		f = event.FinishStop
	}
	return string(f)
}

// use notes a call's usage in its row.
func (r *Row) use(u *message.Usage) {
	r.PromptTokens, r.CachedTokens, r.CompletionTokens = known(u.Input), known(u.Cached), known(u.Output)
	r.CacheWriteTokens, r.ReasoningTokens = known(u.CacheWrite), known(u.Reasoning)
	r.CachedPPM = ppm(u.Cached, u.Input)
	r.Unreconciled = Unreconciled(u)
}

// ppm returns part in millionths of whole, rounded down, nil where that is not known
// or makes no sense.
func ppm(part, whole message.Count) *int64 {
	const million = 1_000_000
	p, ok := part.Get()
	w, known := whole.Get()
	if !ok || !known || w == 0 || p > w {
		return nil
	}
	if p > message.MaxCount/million {
		return ptr(p / (w/million + 1))
	}
	return ptr(p * million / w)
}

// Unreconciled says, a sentence each, where figures of a usage contradict each other:
// what is a part of the input is more than that, or what is a part of the output, the
// server's own total is another, or a figure is none. What such a call cost is an
// estimate at best. It is empty for those that don't, and says nothing of what is
// unknown.
func Unreconciled(u *message.Usage) []string {
	var out []string
	part := func(part, whole message.Count, text string) {
		p, ok := part.Get()
		if w, known := whole.Get(); ok && known && p > w {
			out = append(out, fmt.Sprintf(text, p, w))
		}
	}
	cached, written := u.Cached.Or(0), u.CacheWrite.Or(0)
	part(message.Known(cached).Add(message.Known(written)), u.Input, "%d tokens were read from the cache or written to it, but only %d went in")
	part(u.Reasoning, u.Output, "%d tokens of reasoning are more than the %d that came out")
	input, ok1 := u.Input.Get()
	output, ok2 := u.Output.Get()
	if total, ok := u.Total.Get(); ok && ok1 && ok2 {
		out = append(out, fmt.Sprintf("%d tokens of input and %d of output are not the %d that the server gives as their total", input, output, total))
	}
	if u.Invalid {
		out = append(out, "the server has given a figure that no number of tokens can be, such as one below 0")
	}
	if ok1 && input == 0 && ok2 && output > 0 {
		out = append(out, fmt.Sprintf("%d tokens came out, but none went in", output))
	}
	return out
}
