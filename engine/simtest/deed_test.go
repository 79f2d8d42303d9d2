package simtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/schema"
	"rein.example/rein/tool"
)

// deed is what one execution of a tool comes to.
type deed struct {
	// takes is when it returns by itself, with err if that is not nil.
	takes time.Duration
	err   error
	// effect is when it takes effect, negative if it never does: by its own hand,
	// or at somebody else's place, where its request has arrived.
	effect time.Duration
	remote bool
	// deaf: it takes no notice of the end of its context. One that does takes as
	// long as linger to return.
	deaf   bool
	linger time.Duration
	// panics, kills: what happens instead of returning: the tool panics, or its
	// process dies.
	panics, kills bool
	// unwilling: a confirm tool gives an answer that says nothing.
	unwilling bool
}

// settles is how long the machine waits before it believes that a call which
// nobody answered was not carried out: all that a deed does, it does in that time.
func settles(t time.Duration) time.Duration {
	return min(max(t, 5*time.Second), time.Minute)
}

const never = -1

// endings are the ways in which an execution goes, by weight.
var endings = []weighed[string]{
	{60, "success"}, {8, "refused"}, {6, "error"}, {6, "unknown"}, {6, "connection"}, {2, "timeout"},
	{1, "cancelled"}, {4, "plain"}, {3, "panic"}, {9, "hangs"}, {2, "kills"},
}

// plan draws a deed.
func (i *instrument) plan(d dice, calm bool) deed {
	limit := i.def.Timeout
	x := deed{takes: d.span(0, one(d, 20*time.Millisecond, 300*time.Millisecond, limit/2)), effect: never, linger: d.span(0, 60*time.Millisecond)}
	x.remote = d.chance(50)
	how := pick(d, endings)
	if i.p.h.agent.spec.Window.Size > 0 && d.chance(80) {
		how = "success" // so that it comes to something
	}
	if calm || i.real != nil {
		how = "success"
	} else if i.luckless {
		how = one(d, "connection", "hangs", "kills", "connection")
	}
	if i.def.Effect != event.Read && (how == "success" || !i.luckless && how != "refused" && d.chance(50)) {
		x.effect = time.Duration(d.Int64N(int64(x.takes)))
		if how != "success" && x.remote && d.chance(40) {
			x.effect = d.span(0, settles(limit)-20*time.Millisecond) // when nobody waits for it any more
		}
	}
	x.unwilling = i.of != nil && !calm && d.chance(15)
	i.end(&x, how, d)
	return x
}

// end draws how a deed ends.
func (i *instrument) end(x *deed, how string, d dice) {
	again := d.chance(50)
	after := one(d, 0, 0, 0, 300*time.Millisecond, 3*time.Second)
	switch how {
	case "refused":
		x.err = &tool.Error{Type: "refused", Message: "not now", Retryable: again, RetryAfter: after, NoEffect: true}
	case "error":
		x.err = &tool.Error{Type: "busy", Message: "come back later", Retryable: again, RetryAfter: after}
	case "unknown":
		ended := x.effect <= x.takes && d.chance(50)
		x.err = &tool.Error{Type: "lost", Message: "who knows", Retryable: again, Unknown: true, Ended: ended}
	case "connection":
		x.err = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	case "timeout":
		x.err = &tool.Error{Type: tool.TypeTimeout, Message: "it kept the time itself", Retryable: again}
	case "cancelled":
		x.err = fmt.Errorf("something else has ended: %w", context.Canceled)
	case "plain":
		x.err = errors.New("it did not work")
	case "panic":
		x.panics = true
	case "kills":
		x.kills = true
	case "hangs":
		x.takes = i.def.Timeout + d.span(time.Millisecond, 4*time.Second)
		if x.deaf = d.chance(40); x.deaf {
			x.takes = min(x.takes, i.def.Timeout+d.span(0, max(settles(i.def.Timeout)-i.def.Timeout, time.Second)))
		}
		if x.effect > 0 && d.chance(50) {
			x.effect = min(x.takes, settles(i.def.Timeout)) - d.span(0, 100*time.Millisecond)
		}
	}
}

// execute carries a call out, in the world and in the process.
func (h *history) execute(ctx context.Context, i *instrument, c *tool.Call) (*tool.Result, error) {
	if i.p.gone() {
		return nil, errDead
	}
	h.checkBegin(i, c)
	d := roll(h.seed, "deed", i.p.n, c.Run, c.ID, c.Attempt, c.Key, i.def.Name, string(c.Args))
	x := i.plan(d, i.p.calm)
	h.note("p%d, %s runs %s %s %s attempt %d: %s", i.p.n, c.Run, c.ID, i.def.Name, c.Args, c.Attempt, x)
	var a *act
	if i.def.Effect != event.Read && i.real == nil {
		a = h.world.begin(i.kit, c.Key, c.Args, x.effect >= 0)
	}
	pending := a != nil && x.effect >= 0
	if pending && x.remote {
		pending = false
		time.AfterFunc(x.effect, func() { h.world.happen(a) })
	}
	defer func() {
		if pending {
			h.world.cease(a)
		}
	}()
	begun := time.Now()
	if pending && x.effect < x.takes {
		if err := i.p.sleep(ctx, begun, x.effect, &x); err != nil {
			return nil, err
		}
		pending = false
		h.world.happen(a)
	}
	if err := i.p.sleep(ctx, begun, x.takes, &x); err != nil {
		return nil, err
	}
	switch {
	case x.kills:
		i.p.die(0, -1)
		return nil, errDead
	case x.panics:
		panic("a bug in a tool")
	case x.err != nil:
		return nil, x.err
	}
	return h.succeed(ctx, i, c, &x, d)
}

// sleep lets an execution go on until the given time after its beginning. The
// error is that of a context that has ended, or of the process's death.
func (p *proc) sleep(ctx context.Context, begun time.Time, until time.Duration, x *deed) error {
	timer := time.NewTimer(time.Until(begun.Add(until)))
	defer timer.Stop()
	done := ctx.Done()
	if x.deaf {
		done = nil
	}
	select {
	case <-timer.C:
		return nil
	case <-p.dead:
		return errDead
	case <-done:
	}
	time.Sleep(x.linger)
	return ctx.Err()
}

// succeed returns the result of a call that went well.
func (h *history) succeed(ctx context.Context, i *instrument, c *tool.Call, x *deed, d dice) (*tool.Result, error) {
	switch {
	case i.real != nil:
		return i.real.Run(ctx, c)
	case i.of != nil:
		done, _ := h.world.truth(i.of, c.Args)
		r := tool.Text(fmt.Sprintf("done: %v", done))
		if r.Value = jsontext.Value(fmt.Sprintf(`{"done":%v}`, done)); x.unwilling {
			r.Value = one(d, nil, jsontext.Value(`{"state":"?"}`), jsontext.Value(`{"done":"yes"}`))
		}
		return r, nil
	}
	text := "the result of " + c.ID
	switch {
	case i.def.Polling:
		text = one(d, "pending", "pending", "ready")
	case d.chance(10), h.agent.spec.Window.Size > 0 && d.chance(80):
		text = strings.Repeat(text+"\n", 1+d.IntN(60))
	case d.chance(2):
		text = strings.Repeat(text+"\n", 1_500)
	case d.chance(5):
		return nil, nil
	}
	r := tool.Text(text)
	if path, ok := schema.StringField(c.Args, "path"); ok && len(i.def.Resources) > 0 {
		r.Seen = []event.Seen{{Resource: path, Version: fmt.Sprint("v", d.IntN(2)), From: 1, To: 3, Total: int64(3 + d.IntN(2)*3), Wrote: i.def.Effect == event.Repeatable}}
		if r.Seen[0].Wrote {
			r.Seen[0].From, r.Seen[0].To = 0, 0
		}
	}
	return r, nil
}

// String says what a deed comes to.
func (x deed) String() string {
	s := fmt.Sprintf("%v", x.takes)
	switch {
	case x.kills:
		s += ", then the process dies"
	case x.panics:
		s += ", then a panic"
	case x.err != nil:
		s += ", then " + x.err.Error()
	}
	if x.effect >= 0 {
		s += fmt.Sprintf(", effect after %v", x.effect)
		if x.remote {
			s += " elsewhere"
		}
	}
	if x.deaf {
		s += ", deaf"
	}
	return s
}
