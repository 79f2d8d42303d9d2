package simtest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"rein.example/rein/engine/local"
	"rein.example/rein/event"
	"rein.example/rein/message"
)

// line is one run of a history with the processes that carry it out, one after the
// other, until it is done: the run at the beginning, or a fork of another.
type line struct {
	h   *history
	n   int // of the line
	run string
	// from and at are what it was forked from.
	from string
	at   int64
	// left is to how many processes something may happen; turns are those of a chat.
	left, turns int
	procs       []*proc
}

func (h *history) line(n int, run string) *line {
	d := roll(h.seed, "line", n)
	return &line{h: h, n: n, run: run, left: d.IntN(one(d, 3, 7)), turns: 1 + d.IntN(3)}
}

// play carries the run on until it is done.
func (l *line) play() {
	input := text("do it")
	if l.from != "" {
		input = nil
	}
	for n := 1; l.next(n, input); n++ {
		if input = nil; n == maxProcs {
			l.h.violate("run %s has not come to its end after %d processes", l.run, n)
			break
		}
		switch {
		case l.exists() && l.idle():
			input = text("go on")
		case !l.exists() && l.from == "":
			// Its first process has died before it began.
			l.run += "x"
			input = text("do it")
		}
	}
	for _, p := range l.procs {
		select {
		case out := <-p.ended:
			p.ended <- out
		case <-time.After(maxQuiet):
			l.h.violate("p%d does not come to its end", p.n)
			p.die(0, -1)
		}
	}
}

// next lets one process work on the run, and reports whether another one has to.
func (l *line) next(n int, input []message.Part) bool {
	p := l.h.proc(l, l.n*1_000+n, n > l.left)
	d := roll(l.h.seed, "next", p.n)
	l.procs = append(l.procs, p)
	l.h.note("p%d begins on %s, %+v", p.n, l.run, p.plan)
	p.begin(input)
	if !p.calm {
		l.h.interfere(l.run, p.n)
	}
	select {
	case out := <-p.ended:
		p.ended <- out // it is looked at again in the end
		if l.finished(p, out) {
			return false
		}
		if !p.gone() {
			l.see(out)
			time.Sleep(l.h.pause(d, out))
			break
		}
		time.Sleep(d.span(0, time.Minute))
	case <-p.dead: // whatever its goroutines still do
		time.Sleep(d.span(0, time.Minute))
	case <-p.lost:
		time.Sleep(d.span(0, time.Second))
	case <-time.After(maxQuiet):
		l.h.violate("p%d does not come to its end", p.n)
		p.die(0, -1)
		return false
	}
	return true
}

// see shows people the questions that a run waits for: those of a fork may have been
// asked before it was one.
func (l *line) see(out outcome) {
	if out.r == nil {
		return
	}
	l.h.disk.mu.Lock()
	defer l.h.disk.mu.Unlock()
	for _, q := range out.r.Pending {
		if id := q.Run + " " + q.Call + q.Hash.String(); !l.h.known[id] {
			l.h.known[id] = true
			l.h.ask(q.Run, &event.ApprovalAsked{ID: id, Call: q.Call, Tool: q.Tool, Hash: q.Hash, Settle: q.Settle, Words: q.Words})
		}
	}
}

// finished reports whether a process's end is the run's.
func (l *line) finished(p *proc, out outcome) bool {
	if refused(out) {
		return true
	}
	if out.err != nil || out.r == nil || p.gone() {
		return false
	}
	if out.r.Status == "finished" {
		return true
	}
	if out.r.Cause == event.CauseTurnDone && l.h.agent.spec.Chat {
		l.turns--
		return l.turns <= 0
	}
	return false
}

// refused reports whether a run was not begun for a good reason: it has no room in
// the model's window, or there is nothing to be done by a fork.
func refused(out outcome) bool {
	return out.err != nil && (strings.Contains(out.err.Error(), "would not fit into the model's window") ||
		errors.Is(out.err, local.ErrNothingLeft) || strings.Contains(out.err.Error(), "has come to its end there"))
}

// exists reports whether the run has begun: its journal says with what.
func (l *line) exists() bool {
	l.h.disk.mu.Lock()
	defer l.h.disk.mu.Unlock()
	j := l.h.disk.runs[l.run]
	if j == nil {
		return false
	}
	l.h.disk.settle(j)
	return j.end() > 1 || j.end() == 1 && !j.torn()
}

// idle reports whether the run waits for somebody to say something.
func (l *line) idle() bool {
	l.h.disk.mu.Lock()
	defer l.h.disk.mu.Unlock()
	j := l.h.disk.runs[l.run]
	for i := len(j.events) - 1; i >= 0; i-- {
		if j.doubled[int64(i+1)] {
			continue
		}
		switch d := j.events[i].from.(type) {
		case *event.RunPaused:
			return d.Cause == event.CauseTurnDone
		case *event.ApprovalGiven:
		default:
			return false
		}
	}
	return false
}

// branch forks a run after any of its events, some time after the history began, and
// carries the fork on beside it. What was forked may go on, be in the middle of
// something, or have come to its end.
func (h *history) branch(n int, all *sync.WaitGroup) {
	d := roll(h.seed, "fork", n)
	time.Sleep(d.span(0, one(d, 3*time.Second, 30*time.Second, 10*time.Minute)))
	from := "r1"
	if n > 1 && d.chance(40) {
		from = fmt.Sprint("f", n-1)
	}
	h.disk.mu.Lock()
	l := h.disk.runs[from]
	end := int64(0)
	var answers []int64 // what somebody has answered
	if l != nil {
		h.disk.settle(l)
		if end = l.end(); l.torn() {
			end--
		}
		for i := range l.events[:end] {
			if _, ok := l.events[i].from.(*event.ApprovalGiven); ok {
				answers = append(answers, l.events[i].Seq)
			}
		}
	}
	h.disk.mu.Unlock()
	if end < 3 {
		return
	}
	f := h.line(n, fmt.Sprint("f", n))
	if f.from, f.at = from, 2+d.Int64N(end-1); len(answers) > 0 && d.chance(60) {
		f.at = one(d, answers...)
	}
	h.note("run %s is forked from %s after event %d of %d", f.run, from, f.at, end)
	h.count("a run forked")
	all.Go(f.play)
}
