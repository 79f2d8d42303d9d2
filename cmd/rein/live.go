package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"rein.example/rein"
	"rein.example/rein/cmd/rein/internal/tui"
	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal"
)

// live is the live view of a run on the terminal. The run goes on whatever
// becomes of it: what is shown waits in a mailbox for the view, and a view that
// fails is replaced by plain lines. A nil *live does nothing.
type live struct {
	a    *app
	chat bool
	past []string // what was typed in earlier chats
	// err is where lines go while there is no view.
	err io.Writer

	mu      sync.Mutex
	run     string    // that is carried out
	up      bool      // the view is on the screen
	letters []tea.Msg // for the view
	in      *interrupts
	asks    map[int]chan tui.Answer
	asked   int // how many questions there were

	typed   *typed        // what is typed in a chat
	mail    chan struct{} // there are letters
	stop    chan struct{} // the mail is to end
	done    chan struct{} // the program has ended
	program *tea.Program
	plain   *view // shows the run after the view has failed
}

// live returns the live view, or nil where lines are shown instead: without a
// terminal, with logs on it, and for whoever asks for lines, as screen readers
// need them.
func (a *app) live(c *carrying) *live {
	if !a.lives || c.plain || c.events || a.json || a.verbose > 0 || a.env("TERM") == "dumb" || a.env("TERM") == "" {
		return nil
	}
	for _, name := range []string{"REIN_PLAIN", "ACCESSIBLE", "SCREEN_READER"} {
		if v := a.env(name); v != "" && v != "0" && v != "false" {
			return nil
		}
	}
	l := &live{a: a, err: a.err, asks: map[int]chan tui.Answer{}, plain: newView(a),
		typed: newTyped(), mail: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	a.err = l // before anything keeps it, such as a logger
	return l
}

// open puts the view on the screen.
func (l *live) open() {
	if l == nil || l.program != nil {
		return
	}
	m := tui.New(tui.Options{Color: l.a.env("NO_COLOR") == "", Chat: l.chat, History: l.past})
	var in io.Reader // none where stdin is no terminal or is used up
	if l.a.asks {
		in = os.Stdin
	}
	screen := &tui.Screen{File: os.Stderr}
	p := tui.NewProgram(m, screen.Drawn, l.act)
	l.program = tea.NewProgram(p, tea.WithInput(in), tea.WithOutput(screen), tea.WithoutSignalHandler())
	l.mu.Lock()
	l.up = true
	l.mu.Unlock()
	go func() {
		defer close(l.done)
		_, err := l.program.Run()
		l.mu.Lock()
		l.up = false
		left := l.letters
		l.letters = nil
		l.mu.Unlock()
		l.typed.end() // nobody can type any more
		if err = errors.Join(p.Err(), err); err != nil {
			l.a.say("the live view has ended, and lines follow: %v", err)
		}
		for _, letter := range left {
			if line, ok := letter.(tui.Line); ok {
				_, _ = io.WriteString(l.err, line.Text+"\n")
			}
		}
	}()
	go l.deliver()
}

// closing is how long a view may take to print what is left.
const closing = 3 * time.Second

// close takes the view off the screen, after everything was printed.
func (l *live) close() {
	if l == nil {
		return
	}
	if l.program != nil {
		l.send(tui.Close{})
		select {
		case <-l.done:
		case <-time.After(closing):
			l.kill()
		}
		select {
		case <-l.stop:
		default:
			close(l.stop)
		}
	}
	l.a.err = l.err
}

// kill restores the terminal at once.
func (l *live) kill() {
	if l == nil || l.program == nil {
		return
	}
	go l.program.Kill()
	select {
	case <-l.done:
	case <-time.After(time.Second):
	}
}

// send puts a message into the view's mailbox and reports whether there is a
// view. It does not wait.
func (l *live) send(msg tea.Msg) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.up {
		return false
	}
	if d, ok := msg.(tui.Delta); ok && len(l.letters) > 0 {
		// What a slow terminal has not shown yet is shown at once.
		if last, ok := l.letters[len(l.letters)-1].(tui.Delta); ok && last.Call == "" && d.Call == "" && (last.Text == "") == (d.Text == "") {
			last.Text += d.Text
			last.Reasoning += d.Reasoning
			l.letters[len(l.letters)-1] = last
			return true
		}
	}
	l.letters = append(l.letters, msg)
	select {
	case l.mail <- struct{}{}:
	default:
	}
	return true
}

// deliver carries the mail to the view.
func (l *live) deliver() {
	for {
		select {
		case <-l.mail:
		case <-l.stop:
			return
		case <-l.done:
			return
		}
		l.mu.Lock()
		letters := l.letters
		l.letters = nil
		l.mu.Unlock()
		for _, msg := range letters {
			l.program.Send(msg)
		}
	}
}

// Write shows lines that are written to stderr.
func (l *live) Write(p []byte) (int, error) {
	for line := range strings.SplitSeq(strings.TrimRight(string(p), "\n"), "\n") {
		if !l.send(tui.Line{Text: line}) {
			if _, err := io.WriteString(l.err, line+"\n"); err != nil {
				return 0, err
			}
		}
	}
	return len(p), nil
}

// begin shows that a run is being carried out from now on; what it did before, or
// has of another run, is read from the store.
func (l *live) begin(ctx context.Context, store journal.Store, run string, of *forkOf, in *interrupts) {
	if l == nil {
		return
	}
	l.open()
	in.view.Store(l)
	l.mu.Lock()
	l.in, l.run = in, run
	l.mu.Unlock()
	l.plain.run = run
	l.send(tui.Began{Run: run, At: time.Now()})
	if of != nil {
		_ = of.before(ctx, store, run, func(e event.Event) { l.send(tui.Past{Event: e}) }) // the run itself will say what is wrong
		return
	}
	for e, err := range store.Read(ctx, run, 1) {
		if err != nil {
			break // there is nothing yet, or the run itself will say what is wrong
		}
		l.send(tui.Past{Event: e})
	}
}

// end shows that the run is not carried out any more.
func (l *live) end() {
	if l == nil {
		return
	}
	l.mu.Lock()
	l.in = nil
	l.mu.Unlock()
	l.send(tui.Ended{})
}

// show shows what has happened.
func (l *live) show(e *rein.Event) {
	switch {
	case e.Run != l.run:
		// What is on the screen is of one run; of those below it there are lines.
		if line := l.plain.below(e); line != "" && !l.send(tui.Line{Text: string(line)}) {
			l.plain.show(e)
		}
	case e.Delta != nil:
		l.send(tui.Delta{Delta: *e.Delta})
	case e.Progress != nil:
		if !l.send(tui.Line{Text: string(progressed(e.Progress))}) {
			l.plain.show(e)
		}
	case !l.send(tui.Event{Event: e.Event}):
		l.plain.show(e)
	}
}

// ask puts a question on the screen; see [rein.Approver].
func (l *live) ask(ctx context.Context, q engine.Question) (engine.Answer, bool) {
	l.mu.Lock()
	l.asked++
	id := l.asked
	answer := make(chan tui.Answer, 1)
	l.asks[id] = answer
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.asks, id)
		l.mu.Unlock()
	}()
	if !l.a.asks || !l.send(tui.Ask{ID: id, Question: asks(q)}) {
		return engine.Answer{}, false // without a view nobody can be asked
	}
	select {
	case got := <-answer:
		return got.Answer, !got.Later
	case <-l.done:
	case <-ctx.Done():
		l.send(tui.Withdraw{ID: id})
	}
	return engine.Answer{}, false
}

// act does what the view wants. It is called on the view's goroutine.
func (l *live) act(act tui.Act) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch act := act.(type) {
	case tui.Answer:
		if answer := l.asks[act.ID]; answer != nil {
			select {
			case answer <- act:
			default:
			}
		}
	case tui.Interrupt:
		if l.in != nil {
			l.in.press()
		}
	case tui.Input:
		l.typed.push(act.Text)
	case tui.Leave:
		l.typed.end()
	}
}

// press is Ctrl-C where the terminal does not make a signal of it.
func (in *interrupts) press() {
	in.pressed.Store(true) // before the run can end since its questions were left open
	select {
	case in.signals <- os.Interrupt:
	default: // more than four are not looked at yet
	}
}
