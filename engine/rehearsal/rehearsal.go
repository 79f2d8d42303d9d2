// Package rehearsal answers: what would a recorded conversation have cost under
// another context strategy, and what would the model still have known?
//
// A rehearsal plays a recording to a run's real machine: the recorded inputs,
// replies and results become the events of a run, in the order in which they
// would have come, and what the machine does to the context in between is done.
// Requests are built by the builder and the encoder that send them, so that
// sizes, common prefixes and rewrites are those of the bytes that would go out.
// No model is called, except for summaries where that is asked for; no tool runs,
// and no call is judged: what was recorded is what happens.
//
// What is measured is in [Report]; facts that were planted before (see [Plant])
// show what is left of what was said.
package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rein.example/rein/engine/internal/count"
	"rein.example/rein/engine/internal/request"
	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/tokens"
)

// Everything is the strategy that sends everything, whatever the budget, and nothing
// of Rein's own: what others are compared with. It is none of package window's.
const Everything = "everything"

// Config says how a recording is rehearsed.
type Config struct {
	// Strategy is [Everything] or one of [window.Strategies].
	Strategy string
	// Budget is the most that a request may have, in tokens: what is left of a
	// model's window after the reserve for output and the margin. It is not looked at
	// with Everything.
	Budget int64
	// Window are further settings of the strategy, as an agent has them, with the name
	// of what Counter counts with as Tokenizer: its Strategy, Size, Reserve and Margin
	// are not used.
	Window event.WindowSpec
	// Encoder writes the requests. Required.
	Encoder model.Encoder
	// Counter counts tokens; nil is [tokens.Estimate].
	Counter tokens.Counter
	// Summarise answers when a summary is asked for; nil is [Extract].
	Summarise Summariser
	// Sent, if not nil, is called with each request and the pieces of its body. It must
	// not change them, nor keep the command.
	Sent func(c *loop.CallModel, body [][]byte)
}

// modelName is what the requests of a rehearsal are for; nobody is asked.
const modelName = "rehearsal/recorded"

// Run rehearses a script. It fails if the strategy is not known or the machine
// cannot go on, and when ctx ends; a run that ends early, such as one in which a
// request does not fit, is no failure: the report says so.
func Run(ctx context.Context, s *Script, cfg Config) (*Report, error) {
	if cfg.Encoder == nil {
		return nil, errors.New("rehearse: there is no encoder to write requests with")
	}
	if cfg.Counter == nil {
		cfg.Counter = tokens.Estimate{}
	}
	if cfg.Summarise == nil {
		cfg.Summarise = Extract
	}
	spec := s.spec(&cfg)
	p := &player{cfg: &cfg, s: s, m: loop.New(s.ID), items: s.items}
	p.builder = request.New(cfg.Encoder, func(ref message.Ref) ([]byte, error) {
		return nil, fmt.Errorf("nothing is stored out of line in a rehearsal (%s)", ref.SHA256)
	})
	p.meter = meter{enc: cfg.Encoder, count: cfg.Counter}
	p.watch = watch{s: s, calls: s.Calls()}
	if err := p.apply(&event.RunStarted{Format: event.Version, Root: s.ID, Spec: *spec}); err != nil {
		return nil, err
	}
	for !p.done {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("rehearse %s: %w", s.ID, err)
		}
		if err := p.turn(ctx); err != nil {
			return nil, fmt.Errorf("rehearse %s, call %d: %w", s.ID, p.report.Calls+1, err)
		}
	}
	return p.finish(), nil
}

// player plays one script to a machine.
type player struct {
	cfg     *Config
	s       *Script
	m       *loop.Machine
	builder *request.Builder
	meter   meter
	watch   watch
	report  Report

	// items are what is left of the script.
	items []message.Message
	// results are those of the last reply that were not given yet; given are they by
	// the machine's id of the call.
	results []message.Message
	given   map[string]*message.Message
	seen    sights
	done    bool
	// busy is the time since the last outcome that the machine and the builder took;
	// assembled says that a request was assembled in it, rewritten that the context
	// was rewritten since the last step.
	busy                 time.Duration
	assembled, rewritten bool
	// last is the last request of a step.
	last *loop.CallModel
}

// apply gives the machine its next event.
func (p *player) apply(d event.Data) error {
	count.Decided(p.cfg.Counter, p.m, d)
	begin := time.Now()
	seq := p.m.Seq() + 1
	err := p.m.Apply(&event.Event{Run: p.s.ID, Seq: seq, Time: seq, Data: d})
	p.busy += time.Since(begin)
	return err
}

// outcome is apply for what comes from outside: the time before it is over.
func (p *player) outcome(d event.Data) error {
	err := p.apply(d)
	p.busy, p.assembled = 0, false
	return err
}

// turn does what the machine wants next.
func (p *player) turn(ctx context.Context) error {
	begin := time.Now()
	cmds := p.m.Next()
	p.busy += time.Since(begin)
	if len(cmds) == 0 {
		return p.idle()
	}
	switch c := cmds[0].(type) {
	case *loop.Record:
		for _, d := range c.Data {
			if goOn, err := p.record(d); err != nil || !goOn {
				return err
			}
		}
		return nil
	case *loop.Finish:
		p.done = true
		p.ended(c.Data)
		return nil
	}
	for _, c := range cmds {
		var err error
		switch c := c.(type) {
		case *loop.CallModel:
			err = p.call(ctx, c)
		case *loop.RunTool:
			err = p.run(c)
		case *loop.Wait: // for a failed summary: time does not pass here
			err = p.outcome(&event.TimerFired{ID: c.ID})
		default:
			err = fmt.Errorf("the machine asks for a %T, which no recording answers", c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// idle goes on where the machine waits for somebody to say something.
func (p *player) idle() error {
	st := p.m.Status()
	if st.Status == "finished" || len(p.items) == 0 {
		p.done = true
		return nil
	}
	if p.items[0].Role == message.Assistant && st.Cause == event.CauseTurnDone {
		return errors.New("the recording goes on with a reply to which nobody has said anything") // a fault of Prepare
	}
	return p.feed()
}

// feed gives the machine what was said before the next reply.
func (p *player) feed() error {
	for len(p.items) > 0 && p.items[0].Role != message.Assistant {
		m := p.items[0]
		p.items = p.items[1:]
		p.watch.say(&m)
		var err error
		if m.Role == message.System {
			err = p.outcome(&event.NoticeAdded{Kind: "recorded", Text: m.PlainText()})
		} else {
			err = p.outcome(&event.InputReceived{Kind: event.InputText, Parts: m.Parts})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// record appends what the machine has decided, as far as a recording leaves that to
// it. goOn: what it has decided besides still holds.
func (p *player) record(d event.Data) (goOn bool, err error) {
	switch d := d.(type) {
	case *event.ContextAssembled:
		if d.Purpose == event.PurposeStep {
			if len(p.items) == 0 {
				p.done = true
				return false, nil
			}
			if p.items[0].Role != message.Assistant {
				return false, p.feed()
			}
			p.assembled = true
		}
	case *event.ReplyParsed:
		p.match(d)
	case *event.CallJudged:
		return true, p.apply(allowed(d))
	case *event.ToolFinished:
		return true, p.apply(p.instead(d))
	case *event.ContextCompacted:
		p.rewritten = true
		if err := p.apply(d); err != nil {
			return false, err
		}
		p.report.compacted(d, p.cfg.Counter)
		return true, nil
	case *event.NoticeAdded:
		p.report.Notices++
	}
	return true, p.apply(d)
}

// ended notes that the machine has ended the run.
func (p *player) ended(d *event.RunFinished) {
	p.report.Ended = string(d.Reason)
	if d.Detail != "" {
		p.report.Ended += ": " + d.Detail
	}
	if d.Reason == event.ReasonContextOverflow {
		p.report.Overflows++
	}
	p.report.Left, p.report.EndedEarly = len(p.items), 1
}

// finish completes the report.
func (p *player) finish() *Report {
	r := &p.report
	r.Conversation, r.Strategy, r.Budget = p.s.ID, p.cfg.Strategy, p.cfg.Budget
	if r.Strategy == Everything {
		r.Budget = 0
	}
	r.Method, r.Tokenizer, r.Repairs = string(p.cfg.Counter.Method()), p.cfg.Window.Tokenizer, p.s.Repairs
	r.Messages = len(p.s.items) - r.Left
	p.watch.finish(r, p.last, p.m)
	r.close()
	return r
}
