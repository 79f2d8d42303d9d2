package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"rein.example/rein"
	"rein.example/rein/config"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/message"
)

// chatCommands are what can be typed after a slash. meanwhile: also while the
// model works.
func chatCommands() []struct {
	name, arg, what string
	meanwhile       bool
	run             func(*chat, context.Context, string) error
} {
	return []struct {
		name, arg, what string
		meanwhile       bool
		run             func(*chat, context.Context, string) error
	}{
		{"help", "", "lists the commands", true, (*chat).help},
		{"tools", "", "lists what the model can call, and what that may change", true, (*chat).tools},
		{"cost", "", "says how many tokens and dollars were spent", true, (*chat).cost},
		{"request", "", "prints the last request that the model saw", true, (*chat).request},
		{"model", "NAME", "uses another model; only before the first input", false, (*chat).model},
		{"undo", "", "takes back the last input and all that followed; what tools did stays done", false, (*chat).undo},
		{"fork", "", "goes on in a new run that shares all so far", false, (*chat).fork},
		{"quit", "", "leaves; the run can be gone on with", true, (*chat).quit},
	}
}

// slash is what a command looks like; other texts that begin with a slash, such
// as paths, are inputs.
var slash = regexp.MustCompile(`^/([a-z]+)(?:\s+(.*))?$`)

// commandOf returns the name and argument of a command.
func commandOf(text string) (name, arg string, ok bool) {
	m := slash.FindStringSubmatch(strings.TrimRight(text, " \t\r\n"))
	if m == nil {
		return "", "", false
	}
	return m[1], strings.TrimSpace(m[2]), true
}

func meanwhileToo(name string) bool {
	for _, c := range chatCommands() {
		if c.name == name {
			return c.meanwhile
		}
	}
	return true // it is not known, which can be said at any time
}

// command carries a command out. What is wrong with it is said; an error ends
// the chat.
func (c *chat) command(ctx context.Context, name, arg string) error {
	for _, cmd := range chatCommands() {
		if cmd.name != name {
			continue
		}
		if arg != "" && cmd.arg == "" {
			c.a.say("/%s takes no argument", name)
			return nil
		}
		err := cmd.run(c, ctx, arg)
		var e *exit
		if err != nil && !errors.As(err, &e) {
			c.a.say("%v", err)
			return nil
		}
		return err
	}
	c.a.say("there is no command /%s; /help lists them, and a space before it makes it an input", name)
	return nil
}

// show shows what a command gives: on the screen, or on stdout.
func (c *chat) show(text string) error {
	if c.c.live != nil {
		c.a.say("%s", text)
		return nil
	}
	return c.a.write([]byte(text + "\n"))
}

func (c *chat) help(context.Context, string) error {
	var lines []string
	for _, cmd := range chatCommands() {
		lines = append(lines, fmt.Sprintf("%-12s %s", strings.TrimSpace("/"+cmd.name+" "+cmd.arg), cmd.what))
	}
	return c.show(strings.Join(lines, "\n"))
}

func (c *chat) tools(context.Context, string) error {
	var lines []string
	for _, t := range c.s.agent.Tools().Specs() {
		what, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
		lines = append(lines, fmt.Sprintf("%s (%s): %s", t.Name, t.Effect, clip(what, 100)))
	}
	return c.show(strings.Join(lines, "\n"))
}

// runNow returns the run that is or was carried out last, "" before the first
// input.
func (c *chat) runNow() string {
	if c.current != nil && c.run == "" {
		return c.current.ID()
	}
	return c.run
}

var errNoInput = errors.New("there was no input yet")

func (c *chat) cost(ctx context.Context, _ string) error {
	run := c.runNow()
	if run == "" {
		return errNoInput
	}
	m, err := fold(ctx, c.store, run)
	if err != nil {
		return err
	}
	s := m.Status()
	dollars := "$? (the price is unknown)"
	if n, ok := s.Cost.Get(); ok {
		dollars = fmt.Sprintf("$%d.%06d", n/1_000_000, n%1_000_000)
	}
	return c.show(fmt.Sprintf("%s, %s, %s, %s", plural(s.Steps, "step"), plural(s.ToolCalls, "tool call"), tokens(&s.Usage), dollars))
}

func (c *chat) request(ctx context.Context, _ string) error {
	run := c.runNow()
	var last int64
	if run != "" {
		for e, err := range c.store.Read(ctx, run, 1) {
			if err != nil {
				return failed(fmt.Errorf("read run %s: %w", run, err))
			}
			if d, ok := e.Data.(*event.ModelCalled); ok {
				last = d.Step
			}
		}
	}
	if last == 0 {
		return errNoInput
	}
	r, err := c.a.request(ctx, c.store, run, wanted{step: last})
	if err != nil {
		return err
	}
	if !r.Exact {
		c.a.say("this is not exactly what was sent: another version of the encoder wrote it")
	}
	return c.show(r.Body)
}

// model changes the model before the run begins: after that it takes a fork.
func (c *chat) model(ctx context.Context, name string) error {
	switch {
	case name == "":
		return c.show(c.cfg.Model)
	case c.runNow() != "":
		return fmt.Errorf("this run keeps its model (%s): leave, and go on in a fork of it with %s", c.cfg.Model, c.a.next("fork %s -m %s", c.runNow(), quoted(name)))
	}
	cfg, err := c.cfg.With(config.Changes{Model: name})
	if err != nil {
		return err
	}
	s, err := c.a.session(ctx, cfg, c.store, c.approve, c.c.metrics.observers()...)
	if err != nil {
		return err
	}
	old := c.s
	c.cfg, c.s = cfg, s
	c.a.say("the model is %s", cfg.Model)
	return old.close()
}

// undo goes back to before the last input that began a turn, in a fork: what was
// sent meanwhile goes with it.
func (c *chat) undo(ctx context.Context, _ string) error {
	if c.run == "" {
		return errNoInput
	}
	var seq int64
	var text string
	rests := true // the run is at rest, and an input begins a turn
	first := true
	for e, err := range c.store.Read(ctx, c.run, 1) {
		if err != nil {
			return failed(fmt.Errorf("read run %s: %w", c.run, err))
		}
		switch d := e.Data.(type) {
		case *event.InputReceived:
			if d.Kind == event.InputText && rests {
				first = seq == 0
				seq, text = e.Seq, textOf(d.Parts)
			}
		case *event.RunStarted, *event.RunPaused, *event.RunResumed:
			rests = true
			continue
		}
		rests = false
	}
	if seq == 0 {
		return errNoInput
	}
	old := c.run
	if first {
		c.run, c.current, c.over = "", nil, false
		c.a.say("taken back: %s\nNothing was said before it, so the next input begins a new run; %s is kept", clip(text, 200), old)
		return nil
	}
	if err := c.forkAt(ctx, seq-1); err != nil {
		return err
	}
	c.a.say("taken back: %s\nthe conversation goes on as run %s; %s is kept, and what its tools did stays done", clip(text, 200), c.run, old)
	return nil
}

func textOf(parts []message.Part) string {
	var texts []string
	for i := range parts {
		if parts[i].Kind == message.Text {
			texts = append(texts, parts[i].Text)
		}
	}
	return strings.Join(texts, " ")
}

func (c *chat) fork(ctx context.Context, _ string) error {
	if c.run == "" {
		return errNoInput
	}
	head, err := c.store.Head(ctx, c.run)
	if err != nil {
		return failed(fmt.Errorf("read the end of run %s: %w", c.run, err))
	}
	old := c.run
	if err := c.forkAt(ctx, head.Seq); err != nil {
		return err
	}
	c.a.say("the conversation goes on as run %s, which shares all so far with %s", c.run, old)
	return nil
}

// forkAt makes a fork of the run at an event the run of the conversation.
func (c *chat) forkAt(ctx context.Context, seq int64) (err error) {
	lease, err := c.store.Join(ctx, journal.ThisProcess("rein chat"))
	if err != nil {
		return failed(fmt.Errorf("join the store to fork run %s: %w", c.run, err))
	}
	defer func() {
		if lerr := c.store.Leave(context.WithoutCancel(ctx), lease); err == nil && lerr != nil {
			err = failed(fmt.Errorf("give up the fork of run %s: %w", c.run, lerr))
		}
	}()
	id := rein.NewRunID(time.Now())
	if err := c.store.Fork(ctx, lease, c.run, seq, id); err != nil {
		return failed(fmt.Errorf("fork run %s at event %d: %w", c.run, seq, err))
	}
	if err := c.store.Park(ctx, lease, id); err != nil {
		return failed(fmt.Errorf("give up run %s: %w", id, err))
	}
	c.run, c.over = id, false
	return nil
}

func (c *chat) quit(ctx context.Context, _ string) error {
	c.leaving = true
	return nil
}
