package rehearsal

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"time"

	"rein.example/rein/engine/internal/request"
	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/schema"
	"rein.example/rein/trace/recording"
)

// call builds the request of a model call, measures it, and answers it.
func (p *player) call(ctx context.Context, c *loop.CallModel) error {
	if p.cfg.Strategy == Everything && c.Tail != nil {
		own := *c
		own.Tail, c = nil, &own
	}
	params := request.Params(p.m.Spec(), c, request.OptionsOf(p.cfg.Encoder, false))
	body, err := p.build(c, &params)
	if err != nil {
		return err
	}
	if p.cfg.Sent != nil {
		p.cfg.Sent(c, body.Pieces)
	}
	sent := p.meter.request(c, &params, &body)
	p.report.sent(c, &sent, p.m)
	if c.Purpose != event.PurposeStep {
		return p.aside(ctx, c)
	}
	p.last, p.rewritten = c, false
	p.watch.request(c)
	reply := p.items[0]
	p.items = p.items[1:]
	p.results, p.given = nil, map[string]*message.Message{}
	for len(p.items) > 0 && p.items[0].Role == message.Tool {
		p.results, p.items = append(p.results, p.items[0]), p.items[1:]
	}
	finish := event.FinishStop
	if reply.Calls() > 0 {
		finish = event.FinishToolCalls
	}
	p.watch.say(&reply)
	return p.outcome(&event.ModelAnswered{ID: c.ID, Message: reply, Finish: finish, RawFinish: string(finish), Usage: message.Usage{
		Input: message.Known(sent.Tokens), Cached: message.Known(sent.Cached), Output: message.Known(int64(p.meter.size(&reply)))}})
}

// build builds the request of a call and records that it is sent.
func (p *player) build(c *loop.CallModel, params *model.Params) (request.Body, error) {
	begin := time.Now()
	body, err := p.builder.Build(params, c)
	p.busy += time.Since(begin)
	if err != nil {
		return body, err
	}
	if p.assembled && c.Purpose == event.PurposeStep {
		p.report.assembled(p.busy, p.rewritten)
	}
	return body, p.apply(&event.ModelCalled{ID: c.ID, Purpose: c.Purpose, Step: c.Step, Attempt: c.Attempt, Model: c.Model,
		Encoder: p.builder.Encoder().Version(), Kept: body.Kept, Added: body.Added, Strict: c.Strict, SHA256: body.SHA256, Bytes: body.Bytes})
}

// aside answers a call that is none of the recording's steps: a summary is written,
// and to anything else the answer is a short word.
func (p *player) aside(ctx context.Context, c *loop.CallModel) error {
	if c.Purpose != event.PurposeSummary {
		return p.outcome(&event.ModelAnswered{ID: c.ID, Message: message.NewText(message.Assistant, "Yes."), Finish: event.FinishStop})
	}
	p.report.Summaries++
	reply, err := p.cfg.Summarise(ctx, c)
	if err != nil {
		d := &event.ModelFailed{ID: c.ID, Class: event.ClassServer, Message: err.Error()}
		var fault *model.Error
		if errors.As(err, &fault) {
			d.Class, d.Status, d.Code = fault.Class, int64(fault.Status), fault.Code
		}
		return p.outcome(d)
	}
	written := int64(p.meter.size(&reply.Message))
	p.report.SummaryTokens += reply.Usage.Output.Or(written)
	return p.outcome(&event.ModelAnswered{ID: c.ID, Message: reply.Message, Finish: reply.Finish, RawFinish: reply.RawFinish, Usage: reply.Usage})
}

// match notes which recorded result is whose.
func (p *player) match(d *event.ReplyParsed) {
	for i := range d.Calls {
		c := &d.Calls[i]
		at := -1
		for k := range p.results {
			if id := p.results[k].ToolCallID; id == c.ID || id == c.WireID {
				at = k
				break
			}
		}
		if at < 0 {
			continue
		}
		m := p.results[at]
		p.given[c.ID] = &m
		p.results = append(p.results[:at:at], p.results[at+1:]...)
	}
}

// allowed is the verdict with which a recorded call is carried out: it was.
func allowed(d *event.CallJudged) *event.CallJudged {
	out := &event.CallJudged{Call: d.Call, Tool: d.Tool, Verdict: event.Allow, Rule: "recorded", Args: d.Args, ArgsHash: d.ArgsHash}
	if out.ArgsHash == (event.Hash{}) { // the arguments could not be used
		out.Args, out.ArgsHash = "{}", sha256.Sum256([]byte("{}"))
	}
	return out
}

// run carries a call out: its result was recorded.
func (p *player) run(c *loop.RunTool) error {
	err := p.apply(&event.ToolStarted{ID: c.ID, Call: c.Call, Tool: c.Tool, Effect: c.Effect, ArgsHash: c.ArgsHash, Key: c.Key, Attempt: c.Attempt})
	if err != nil {
		return err
	}
	d := &event.ToolFinished{ID: c.ID, Call: c.Call, Tool: c.Tool, Status: event.StatusSuccess}
	p.result(d)
	if d.Status == event.StatusSuccess {
		d.Seen = p.seen.of(c, d)
	}
	return p.outcome(d)
}

// instead puts the recorded result in the place of the machine's own.
func (p *player) instead(d *event.ToolFinished) *event.ToolFinished {
	out := *d
	if out.ID == "" && p.given[d.Call] != nil {
		out.Status, out.ErrorType, out.ErrorMessage = event.StatusSuccess, "", ""
		p.result(&out)
	}
	return &out
}

// result makes d show what was recorded for its call.
func (p *player) result(d *event.ToolFinished) {
	m := p.given[d.Call]
	if m == nil {
		return
	}
	p.watch.say(m)
	d.Parts = m.Parts
	for i := range m.Parts {
		d.Size += int64(len(m.Parts[i].Text))
	}
	d.Shown = d.Size
	if m.Failed || recording.SaysFailed(m.PlainText()) {
		d.Status, d.ErrorType = event.StatusError, "recorded"
	}
}

// sights make up what calls have seen of files and the like, as Rein's own tools
// report it: a version lasts until something is written.
type sights struct {
	writes map[string]int
}

// of returns what a call has seen: the lines that it shows of what it names.
func (s *sights) of(c *loop.RunTool, d *event.ToolFinished) []event.Seen {
	if s.writes == nil {
		s.writes = map[string]int{}
	}
	var name string
	for _, arg := range resourceArgs {
		if v, ok := schema.StringField(c.Args, arg); ok && v != "" {
			name = v
			break
		}
	}
	if name == "" {
		return nil
	}
	seen := event.Seen{Resource: name, Wrote: c.Effect.Writes()}
	if seen.Wrote {
		s.writes[name]++
	} else {
		lines := int64(0)
		for i := range d.Parts {
			lines += int64(strings.Count(d.Parts[i].Text, "\n")) + 1
		}
		seen.From = max(firstLine(c.Args), 1)
		seen.To = seen.From + max(lines, 1) - 1
		seen.Total = seen.To
	}
	seen.Version = versionOf(name, s.writes[name])
	return []event.Seen{seen}
}
