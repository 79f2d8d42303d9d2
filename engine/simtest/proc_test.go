package simtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/engine"
	"rein.example/rein/engine/local"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/schema"
)

// proc is one process: an engine that carries the history's run on, until it is
// done or something happens to it.
type proc struct {
	h     *history
	line  *line
	n     int
	calm  bool // nothing happens to it
	lease int64
	pin   string // of the agent's pinned tool
	plan  doom

	dead   chan struct{} // closed when it dies
	lost   chan struct{} // closed when its lease is given up for lost
	ended  chan outcome  // gets how its work has ended
	engine *local.Engine
	cancel context.CancelCauseFunc
	log    errorLog

	mu     sync.Mutex
	luck   map[string]*luck // of runs
	killed bool
	hurt   bool // its store has failed it
	told   []event.Event
	closed bool
}

// outcome is what Start or Resume has returned.
type outcome struct {
	r   *engine.Result
	err error
}

// doom is what is to happen to a process.
type doom struct {
	op     int    // it dies at this operation of its store on a run, 0 for none
	run    string // the run, that at the top or one below it
	before bool
	torn   bool
	at     time.Duration // when one of the following happens, 0 for never
	what   string        // dies, lost, rival, closed, stopped, cancelled
	// Of 1,000 writes so many fail, are done though they seem to fail, or are lost
	// after they were taken.
	fails, ghosts, losses int
	bodies                bool // there is no room for large bodies
}

// dooms are what happens to processes, by weight.
var dooms = []weighed[string]{
	{20, "op"}, {20, "dies"}, {12, "lost"}, {6, "rival"}, {6, "closed"}, {6, "stopped"}, {2, "cancelled"}, {28, "none"},
}

func (h *history) proc(l *line, n int, calm bool) *proc {
	d := roll(h.seed, "proc", n)
	p := &proc{h: h, line: l, n: n, calm: calm, pin: "v1", luck: map[string]*luck{},
		dead: make(chan struct{}), lost: make(chan struct{}), ended: make(chan outcome, 1)}
	if n%1_000 > 1 && d.chance(40) {
		p.pin = one(d, "v2", "v3")
	}
	if calm {
		return p
	}
	x := &p.plan
	switch x.what = pick(d, dooms); x.what {
	case "op":
		x.op, x.before, x.torn = 1+d.IntN(one(d, 6, 25, 60)), d.chance(40), d.chance(30)
		x.run = l.run + one(d, "", "", "", ".1", ".2")
	case "none":
	default:
		x.at = d.span(0, one(d, 30*time.Millisecond, time.Second, 8*time.Second, time.Minute))
	}
	if d.chance(20) {
		x.fails, x.ghosts, x.losses = d.IntN(40), d.IntN(40), d.IntN(40)
	}
	x.bodies = d.chance(10)
	return p
}

// fate is what happens to one write.
type fate struct {
	before, after bool // the process dies
	kept, torn    int
	takes         time.Duration
	fail, ghost   error
}

var (
	errBroken = errors.New("the disk is broken")
	errGhost  = errors.New("the connection to the store was lost")
)

// luck is that of a run in a process: its dice, and how many operations there were.
type luck struct {
	dice
	ops int
}

// fate draws what happens to the next write to a run, on the run's goroutine.
func (p *proc) fate(run string, async bool) fate {
	p.mu.Lock()
	d := p.luck[run]
	if d == nil {
		d = &luck{dice: roll(p.h.seed, "luck", p.n, run)}
		p.luck[run] = d
	}
	d.ops++
	p.mu.Unlock()
	f := fate{torn: -1, takes: d.span(0, one(d.dice, 200*time.Microsecond, 2*time.Millisecond, 30*time.Millisecond))}
	if x := &p.plan; d.ops == x.op && run == x.run {
		f.before, f.after, f.kept = x.before, !x.before, d.IntN(3)
		if !x.before && !x.torn {
			f.kept = 99 // all of it is written, and nobody hears of it
		} else if x.torn {
			f.torn = d.IntN(4)
		}
	}
	n := d.IntN(1_000)
	switch x := &p.plan; {
	case n < x.fails && !async:
		f.fail = one(d.dice, journal.ErrFull, journal.ErrLocked, errBroken)
	case n < x.fails+x.ghosts && n >= x.fails && !async:
		f.ghost = errGhost
	case n < x.fails+x.ghosts+x.losses && n >= x.fails+x.ghosts && async:
		f.fail = errBroken
	}
	if f.fail != nil || f.ghost != nil {
		p.mu.Lock()
		p.hurt = true
		p.mu.Unlock()
	}
	return f
}

// full reports whether there is no room for a body.
func (p *proc) full(body []byte) bool { return p.plan.bodies && len(body)%2 == 0 }

// gone reports whether the process is dead.
func (p *proc) gone() bool {
	select {
	case <-p.dead:
		return true
	default:
		return false
	}
}

// die is the end of the process, with what of its writes reaches the disk.
func (p *proc) die(kept, torn int) {
	p.mu.Lock()
	again := p.killed
	p.killed = true
	p.mu.Unlock()
	if again {
		return
	}
	p.h.note("p%d dies", p.n)
	p.h.count("process killed")
	close(p.dead)
	p.h.disk.die(p.lease, kept, torn)
	p.cancel(errDead)
}

// fall lets happen what is to happen at a time.
func (p *proc) fall() {
	if p.gone() || len(p.ended) > 0 {
		return
	}
	p.h.note("p%d: %s", p.n, p.plan.what)
	switch p.plan.what {
	case "dies":
		d := roll(p.h.seed, "fall", p.n)
		p.die(d.IntN(3), d.IntN(5)-1)
	case "lost":
		p.h.disk.mu.Lock()
		if l := p.h.disk.leases[p.lease]; l != nil {
			l.hung = time.Now().Add(-leaseTime)
		}
		p.h.disk.mu.Unlock()
		close(p.lost)
	case "rival":
		p.h.rival(p)
	case "closed":
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
		if err := p.engine.Close(); err != nil && !p.gone() {
			p.h.violate("p%d: Close: %v", p.n, err)
		}
	case "stopped":
		p.cancel(engine.ErrStop)
	case "cancelled":
		p.cancel(errors.New("nobody wants it any more"))
	}
}

// begin starts the process: it begins its line's run, forks it, or carries it on.
func (p *proc) begin(input []message.Part) {
	l, run, resume := p.line, p.line.run, p.line.exists()
	ctx, cancel := context.WithCancelCause(context.Background())
	p.cancel = cancel
	e, err := local.New(local.Options{Store: &view{disk: p.h.disk, p: p}, Owner: journal.Owner{Name: fmt.Sprint("p", p.n)}, Logger: slog.New(&p.log)})
	if err != nil {
		p.ended <- outcome{err: err}
		return
	}
	p.engine = e
	if p.plan.at > 0 {
		time.AfterFunc(p.plan.at, p.fall)
	}
	job := p.job(p.h.agent, run, input)
	go func() {
		var out outcome
		switch {
		case resume:
			out.r, out.err = e.Resume(ctx, job)
		case l.from != "":
			out.r, out.err = e.Fork(ctx, l.from, l.at, job)
		default:
			out.r, out.err = e.Start(ctx, job)
		}
		p.h.checkEnd(p, run, out)
		if err := e.Close(); err != nil && !p.gone() && !p.hurt {
			p.h.violate("p%d: Close: %v", p.n, err)
		}
		p.ended <- out
	}()
}

// job is what the process is given to do, and what it gives an agent below to do.
func (p *proc) job(a *agent, run string, input []message.Part) *engine.Job {
	d := roll(p.h.seed, "job", p.n, a.depth)
	job := &engine.Job{Run: run, Input: input, Tools: a.tools(p), Model: func(name string) (model.Client, error) {
		if name == "fake/none" {
			return nil, errors.New("there is no such provider")
		}
		return &talker{p: p, agent: a, name: name}, nil
	}}
	if a.helper != nil {
		job.Agent = func(_ string, args jsontext.Value) (*engine.Job, error) {
			if d := roll(p.h.seed, "hires", p.n, string(args)); !p.calm && d.chance(5) {
				return nil, errors.New("nobody is there")
			}
			task, _ := schema.StringField(args, "task")
			return p.job(a.helper, "", text(task)), nil
		}
	}
	spec := a.spec
	spec.Tools = job.Tools.Specs()
	job.Spec = &spec
	job.Watch = &engine.Watch{Event: func(ev event.Event) { p.told = append(p.told, ev) }}
	if d.chance(25) {
		job.Watch.Delta = func(string, model.Delta) {}
	}
	if d.chance(25) {
		job.Watch.Progress = func(string, string, string, string) {}
	}
	if d.chance(30) {
		job.Approve = p.answer
	}
	if d.chance(90) { // else the process does not know how
		job.Retrieve = p.retrieve
	}
	return job
}

// errorLog keeps what the engine reports as its own fault.
type errorLog struct {
	mu   sync.Mutex
	bugs []string
}

func (l *errorLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }
func (l *errorLog) WithAttrs([]slog.Attr) slog.Handler               { return l }
func (l *errorLog) WithGroup(string) slog.Handler                    { return l }

func (l *errorLog) Handle(_ context.Context, r slog.Record) error {
	switch r.Message {
	case "the engine panicked", "the token counter panicked":
		text := r.Message
		r.Attrs(func(a slog.Attr) bool { text += fmt.Sprintf("\n%s: %v", a.Key, a.Value); return true })
		l.mu.Lock()
		l.bugs = append(l.bugs, text)
		l.mu.Unlock()
	}
	return nil
}
