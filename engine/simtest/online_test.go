package simtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"rein.example/rein/engine/local"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/tool"
)

// checkBegin checks what must be so when a tool begins: the intent of a writing
// one is durable, and the process still owns the run.
func (h *history) checkBegin(i *instrument, c *tool.Call) {
	if i.def.Effect == event.Read {
		return
	}
	switch seq, owned := h.disk.intent(c.Run, c.ID, c.Attempt, c.Key, i.p.lease); {
	case seq == 0:
		h.violate("p%d: %s begins (call %s, attempt %d) without a durable intent", i.p.n, i.def.Name, c.ID, c.Attempt)
	case !owned:
		h.violate("p%d: %s begins (call %s) although another process owns the run", i.p.n, i.def.Name, c.ID)
	}
}

// checkGiven checks what must be durable before more is handed over: the intent to
// ask a model, before its reply is acted on.
func (h *history) checkGiven(l *log, entries []stored) {
	for i := range entries {
		reply, ok := entries[i].from.(*event.ModelAnswered)
		if !ok {
			continue
		}
		durable := slices.ContainsFunc(l.events, func(s stored) bool {
			called, ok := s.from.(*event.ModelCalled)
			return ok && called.ID == reply.ID
		})
		if !durable {
			h.violate("run %s: the reply to %s is acted on, and the intent to ask for it is not durable", l.id, reply.ID)
		}
	}
}

// checkEnd checks what must be so when a process has nothing more to do: it says
// why, and what it says of the run is durable.
func (h *history) checkEnd(p *proc, run string, out outcome) {
	for _, bug := range p.log.bugs {
		h.violate("p%d: %s", p.n, bug)
	}
	if p.gone() {
		return
	}
	h.note("p%d ends: %s", p.n, out)
	if p.closed {
		h.count("process closed")
	}
	if out.err != nil {
		p.mu.Lock()
		hurt, closed := p.hurt, p.closed
		p.mu.Unlock()
		var damage *journal.DamageError // of whoever has taken the run over, and died
		fenced := p.plan.what == "lost" && (errors.Is(out.err, journal.ErrFenced) || errors.As(out.err, &damage) && damage.Torn)
		if fenced {
			h.count("process fenced")
		}
		early := strings.Contains(out.err.Error(), "was not begun") && (p.plan.what == "stopped" || p.plan.what == "cancelled")
		late := closed && errors.Is(out.err, local.ErrClosed)
		if !refused(out) && !hurt && !fenced && !early && !late || strings.Contains(out.err.Error(), "bug") {
			h.violate("p%d ends with an error: %v", p.n, out.err)
		}
		return
	}
	h.checkDurable(p, run, out)
}

// checkDurable compares a result with what is durable, and what was shown to the
// process's watcher with what is in the journal.
func (h *history) checkDurable(p *proc, run string, out outcome) {
	h.disk.mu.Lock()
	l := h.disk.runs[run]
	h.disk.settle(l)
	events := l.events
	h.disk.mu.Unlock()
	end := ""
	for i := len(events) - 1; i >= 0 && end == ""; i-- {
		if l.doubled[events[i].Seq] {
			continue
		}
		switch d := events[i].from.(type) {
		case *event.RunFinished:
			end = "finished " + string(d.Reason)
		case *event.RunPaused:
			end = "paused " + string(d.Cause)
		case *event.InputReceived, *event.ApprovalGiven:
		default:
			end = string(d.Type())
		}
	}
	if said := strings.TrimSpace(out.r.Status + " " + string(out.r.Reason) + string(out.r.Cause)); said != end {
		h.violate("p%d says that the run is %q, and its journal ends with %q", p.n, said, end)
	}
	if h.disk.overtake || h.disk.double > 0 || p.plan.losses > 0 {
		return // what was only handed over may be lost, though it was shown
	}
	for i := range p.told {
		ev := &p.told[i]
		if ev.Run != run {
			continue // of a run below
		}
		if ev.Seq > int64(len(events)) || events[ev.Seq-1].Type != ev.Data.Type() || events[ev.Seq-1].Command != ev.Command && !l.doubled[ev.Seq] ||
			string(events[ev.Seq-1].Data) != string(ev.Data.AppendJSON(nil)) {
			h.violate("p%d has shown an event %d (%s) that is not in the journal", p.n, ev.Seq, ev.Data.Type())
			return
		}
	}
}

// rival is another process that wants the run while p carries it out.
func (h *history) rival(p *proc) {
	h.disk.mu.Lock()
	run := p.line.run
	l := h.disk.runs[run]
	held := l != nil && l.end() > 0 && l.owner == p.lease
	h.disk.mu.Unlock()
	if !held {
		return
	}
	r := h.proc(p.line, 100_000+p.n, true)
	r.cancel = func(error) {}
	e, err := local.New(local.Options{Store: &view{disk: h.disk, p: r}, Owner: journal.Owner{Name: "rival"}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		h.violate("a rival: %v", err)
		return
	}
	var refused *journal.HeldError
	if _, err := e.Resume(context.Background(), r.job(h.agent, run, nil)); !errors.As(err, &refused) {
		h.violate("a rival of p%d was not refused: %v", p.n, err)
	}
	h.count("a rival refused")
	if err := e.Close(); err != nil {
		h.violate("a rival: %v", err)
	}
}

func (o outcome) String() string {
	if o.err != nil {
		return "error: " + o.err.Error()
	}
	return fmt.Sprintf("%s %s%s %q", o.r.Status, o.r.Reason, o.r.Cause, o.r.Detail)
}
