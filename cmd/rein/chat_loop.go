package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"rein.example/rein"
	"rein.example/rein/engine"
	"rein.example/rein/event"
)

// turned is how a turn has ended.
type turned struct {
	result *rein.Result
	err    error
}

// loop takes what is typed, turn after turn.
func (c *chat) loop(ctx context.Context) error {
	// Between turns a signal ends the chat, so that the terminal is restored;
	// during a turn Ctrl-C is for the run.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	working, err := c.reopen(ctx)
	if err != nil {
		return err
	}
	paused := false
	for {
		for working == nil && !c.leaving || c.ahead && !c.leaving {
			text, ok, over := c.typed.pop()
			if !ok {
				c.leaving = over
				break
			}
			if c.keep(text); working != nil {
				c.meanwhile(ctx, text)
			} else if working, err = c.take(ctx, text); err != nil {
				return err
			}
		}
		if c.leaving && working == nil {
			return c.leave()
		}
		switch {
		case working == nil:
			c.prompt()
		case c.leaving && c.ahead && !paused:
			// Whoever leaves does not wait for the end of the turn.
			paused = true
			if err := c.current.Pause(ctx); err != nil {
				c.a.say("%v", err)
			}
		}
		select {
		case <-c.typed.ready:
		case s := <-signals:
			if working == nil || s != os.Interrupt {
				c.leaving, c.killed = true, true
			}
		case t := <-working:
			if working, err = c.done(ctx, t); err != nil {
				return err
			}
		}
	}
}

// reopen goes on with what the run was doing when it was left.
func (c *chat) reopen(ctx context.Context) (<-chan turned, error) {
	if c.run == "" {
		c.a.say("a conversation with %s; /help lists the commands", c.cfg.Model)
		return nil, nil
	}
	m, err := fold(ctx, c.store, c.run)
	if err != nil {
		return nil, err
	}
	s := m.Status()
	c.a.say("run %s with %s, %s so far", c.run, m.Spec().Model, plural(s.Steps, "step"))
	switch {
	case s.Status == "finished":
		c.over = true
		c.a.say("it has ended: %s; /undo goes back", s.Reason)
		return nil, nil
	case s.Status == "paused" && s.Cause == event.CauseTurnDone:
		if s.Answer != "" && c.ahead {
			c.a.say("%s", s.Answer)
		}
		return nil, nil
	}
	c.a.say("going on with what it was doing")
	return c.turn(ctx, func(ctx context.Context) *rein.Run { return c.s.agent.Resume(ctx, c.run) }), nil
}

// keep remembers what was typed for the next chat.
func (c *chat) keep(text string) {
	if c.past == nil {
		return
	}
	if err := c.past.add(text); err != nil {
		c.a.say("%v", err)
		c.past = nil // once is enough
	}
}

// prompt shows that it is the user's turn, where no view does.
func (c *chat) prompt() {
	if c.ahead && c.c.live == nil {
		fmt.Fprint(c.a.err, "> ")
	}
}

// usable says why a text cannot be an input, or "".
func usable(text string) string {
	switch {
	case !utf8.ValidString(text):
		return "that is not UTF-8 text: convert it first"
	case len(text) > maxTask:
		return fmt.Sprintf("that has more than %d bytes: put long material into a file and let the agent read it", maxTask)
	}
	return ""
}

// take takes what was typed between turns: a command, or an input, which begins
// a turn.
func (c *chat) take(ctx context.Context, text string) (<-chan turned, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	if cmd, arg, ok := commandOf(text); ok {
		return nil, c.command(ctx, cmd, arg)
	}
	if why := usable(text); why != "" {
		c.a.say("%s", why)
		c.refused = !c.ahead
		return nil, nil
	}
	if c.over {
		c.refused = !c.ahead
		c.a.say("this conversation has ended and takes no input; /undo goes back, /quit leaves")
		return nil, nil
	}
	return c.turn(ctx, func(ctx context.Context) *rein.Run {
		if c.run == "" {
			return c.s.agent.Chat(ctx, text)
		}
		return c.s.agent.Continue(ctx, c.run, text)
	}), nil
}

// meanwhile takes what was typed while the model works.
func (c *chat) meanwhile(ctx context.Context, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if cmd, arg, ok := commandOf(text); ok {
		if !meanwhileToo(cmd) {
			c.a.say("/%s has to wait until the model has answered; Ctrl-C pauses it", cmd)
		} else if err := c.command(ctx, cmd, arg); err != nil {
			c.a.say("%v", err)
		}
		return
	}
	if why := usable(text); why != "" {
		c.a.say("%s", why)
		return
	}
	if err := c.current.Send(ctx, text); err != nil {
		c.a.say("%v", err)
		return
	}
	c.sent = true
}

// turn carries a run out until it rests.
func (c *chat) turn(ctx context.Context, start func(context.Context) *rein.Run) <-chan turned {
	begun := make(chan *rein.Run, 1)
	done := make(chan turned, 1)
	go func() {
		result, err := c.a.follow(ctx, c.store, c.c, func(ctx context.Context) *rein.Run {
			run := start(ctx)
			begun <- run
			return run
		})
		done <- turned{result, err}
	}()
	c.current = <-begun
	c.sent, c.unanswered = false, nil
	return done
}

// done shows how a turn has ended. What was sent too late for it begins the
// next.
func (c *chat) done(ctx context.Context, t turned) (<-chan turned, error) {
	if t.err != nil {
		return nil, t.err
	}
	r := t.result
	c.run = r.Run
	c.over = r.Status == "finished"
	if !c.over && r.Cause == event.CauseTurnDone {
		if c.c.live == nil { // it shows answers by itself
			if err := c.a.answer(r); err != nil {
				return nil, err
			}
		}
		return c.late(ctx)
	}
	if !c.ahead && asksWords(r) {
		c.unanswered = r
		return nil, nil
	}
	if !c.ahead {
		return nil, c.ends(r)
	}
	if c.over && c.c.live == nil {
		if err := c.a.answer(r); err != nil {
			return nil, err
		}
	}
	switch {
	case c.over:
		c.a.say("the conversation has ended: %s %s; /undo goes back", reason(r), r.Detail)
	default:
		c.a.say("paused: %s; what you type next goes on", reason(r))
		for i := range r.Pending {
			c.a.say("  %s", c.a.question(&r.Pending[i]))
		}
	}
	return nil, nil
}

// asksWords reports whether a run waits for an answer in words, which the next
// input is.
func asksWords(r *rein.Result) bool {
	return slices.ContainsFunc(r.Pending, func(q engine.Question) bool { return q.Words })
}

// late begins a turn for what was sent when the model had answered already.
func (c *chat) late(ctx context.Context) (<-chan turned, error) {
	if !c.sent {
		return nil, nil
	}
	m, err := fold(ctx, c.store, c.run)
	if err != nil || m.Status().Status != "running" {
		return nil, err
	}
	return c.turn(ctx, func(ctx context.Context) *rein.Run { return c.s.agent.Resume(ctx, c.run) }), nil
}

// ends ends a chat that nobody sits at, when its run cannot go on by itself.
func (c *chat) ends(r *rein.Result) error {
	err := c.a.finish(r, c.c)
	if n := c.typed.left(); n > 0 {
		c.a.say("not taken: %s", plural(int64(n), "input"))
		if err == nil {
			err = &exit{code: badEnd}
		}
	}
	if err == nil {
		c.leaving = true
	}
	return err
}

// leave says how to go on later.
func (c *chat) leave() error {
	c.c.live.close()
	if c.unanswered != nil {
		return c.ends(c.unanswered)
	}
	if c.run != "" && !c.over && c.ahead {
		c.a.say("go on with: %s", c.a.next("chat %s", c.run))
	}
	switch {
	case c.killed:
		return &exit{code: interrupted}
	case c.refused, c.typed.unread():
		return &exit{code: badEnd} // what was said tells why
	}
	return nil
}
