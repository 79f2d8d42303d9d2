package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"

	"rein.example/rein"
	"rein.example/rein/cmd/rein/internal/tui"
	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/toolkit/ask"
)

// approver returns what answers questions while a run goes on.
func (a *app) approver(mode string) (rein.Approver, error) {
	by := "--approve " + mode
	always := func(d event.Decision) rein.Approver {
		return func(_ context.Context, q engine.Question) (engine.Answer, bool) {
			// What became of a call is a fact, and what the model wants to know a
			// matter of words; a flag knows neither.
			return engine.Answer{Decision: d, By: by}, !q.Settle && !q.Words
		}
	}
	switch mode {
	case "allow":
		return always(event.Approved), nil
	case "deny":
		return always(event.Rejected), nil
	case "ask":
		if !a.asks {
			return nil, nil
		}
		t := &terminal{a: a}
		return t.ask, nil
	}
	return nil, fmt.Errorf("--approve is ask, deny or allow, not %q", mode)
}

// terminal asks on the terminal, one question at a time.
type terminal struct {
	a *app
	// asking is held while a question is open.
	asking sync.Mutex

	mu sync.Mutex
	// open gets what is typed while a question is open; nil between questions.
	open chan string
	// reads: the goroutine that reads the terminal has begun; ended: there is
	// nothing more to read.
	reads, ended bool
}

func (t *terminal) ask(ctx context.Context, q engine.Question) (engine.Answer, bool) {
	t.asking.Lock()
	defer t.asking.Unlock()
	if ctx.Err() != nil {
		return engine.Answer{}, false
	}
	q = asks(q)
	t.show(&q)
	if q.Words {
		return t.words(ctx)
	}
	choices := map[string]event.Decision{"y": event.Approved, "yes": event.Approved, "n": event.Rejected, "no": event.Rejected}
	keys, prompt := "y runs it, n refuses it and tells the model so, l leaves the question open for later", "may it run? [y]es, [n]o, [l]ater: "
	if q.Settle {
		choices = map[string]event.Decision{"d": event.Done, "done": event.Done, "n": event.NotDone, "not done": event.NotDone}
		keys, prompt = "d says that it took effect, n that it did not, l leaves the question open for later", "was it done? [d]one, [n]ot done, [l]ater: "
	}
	t.a.say("%s", t.a.paint(dim, keys))
	typed := t.listen()
	defer t.hush()
	for {
		t.forget(typed)
		fmt.Fprint(t.a.err, prompt)
		select {
		case <-ctx.Done():
			t.a.say("\nthis is not asked here any more")
			return engine.Answer{}, false
		case line, ok := <-typed:
			word := strings.ToLower(strings.TrimSpace(line))
			if !ok || word == "l" || word == "later" {
				return engine.Answer{}, false
			}
			if d, ok := choices[word]; ok {
				return engine.Answer{Decision: d, By: "terminal"}, true
			}
		}
	}
}

// words takes an answer in words: one line.
func (t *terminal) words(ctx context.Context) (engine.Answer, bool) {
	t.a.say("%s", t.a.paint(dim, "type the answer; an empty line leaves the question open for later"))
	typed := t.listen()
	defer t.hush()
	t.forget(typed)
	fmt.Fprint(t.a.err, "answer: ")
	select {
	case <-ctx.Done():
		t.a.say("\nthis is not asked here any more")
	case line, ok := <-typed:
		if text := strings.TrimSpace(line); ok && usable(text) == "" && text != "" {
			return engine.Answer{Text: text, By: "terminal"}, true
		}
	}
	return engine.Answer{}, false
}

// show puts exactly what will run before the person.
func (t *terminal) show(q *engine.Question) {
	title := "approval needed:"
	if q.Settle {
		title = "answer needed:"
	}
	more := ""
	if q.More > 0 {
		more = fmt.Sprintf(" (1 of %d)", q.More+1)
	}
	if q.Words {
		t.a.say("%s%s", t.a.paint(yellow, "the model asks:"), more)
		t.a.say("%s", clip(ask.Text(q.Args), maxDetail))
		return
	}
	t.a.say("%s %s%s", t.a.paint(yellow, title), name(q.Tool), more)
	if q.Settle {
		t.a.say("it was begun, and nobody knows whether it took effect")
	}
	t.a.say("%s", tui.Arguments(q.Args))
	if q.Why != "" {
		t.a.say("%s", clip(q.Why, maxDetail))
	}
}

// forget drops what was typed before the prompt: it was typed without knowing
// what is asked. What does not come from a keyboard is left alone.
func (t *terminal) forget(typed <-chan string) {
	f, ok := t.a.in.(*os.File)
	if !ok || dropTyped(f) != nil {
		return
	}
	for {
		select {
		case _, open := <-typed:
			if !open {
				return
			}
		default:
			return
		}
	}
}

// typedAhead is how many lines a question takes before it looks at them.
const typedAhead = 16

// listen returns a channel of what is typed from now on, closed at the end of
// the input. What was typed before belongs to no question: a late answer to one
// must not become the answer to the next.
func (t *terminal) listen() <-chan string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = make(chan string, typedAhead)
	if t.ended {
		close(t.open)
	} else if !t.reads {
		// Reading a terminal cannot be given up, so this goroutine reads from the
		// first question to the process's end.
		t.reads = true
		go t.read()
	}
	return t.open
}

// hush drops what is typed until the next question.
func (t *terminal) hush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = nil
}

func (t *terminal) read() {
	for s := bufio.NewScanner(t.a.in); s.Scan(); {
		t.mu.Lock()
		if t.open != nil {
			select {
			case t.open <- s.Text():
			default: // more than anybody types
			}
		}
		t.mu.Unlock()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended = true; t.open != nil {
		close(t.open)
	}
}
