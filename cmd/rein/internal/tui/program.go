package tui

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Program lets bubbletea play a [Model].
type Program struct {
	m *Model
	// out gets the acts that are not bubbletea's to do, on the event loop's
	// goroutine: it must not block.
	out func(Act)
	// lines wait to be printed; printing: some are on their way.
	lines    []string
	printing bool
	drawn    func() bool
	quitting bool
	// frames are the heights of the last frames; a taller one may still be on
	// the screen.
	frames []frame
	failed error
}

// NewProgram returns a tea.Model that plays m. out gets answers, interrupts and
// inputs; it is called in order and must not block. drawn says whether the first
// frame is on the screen: bubbletea prints lines above a frame, and before there
// is one it puts them where it then draws.
func NewProgram(m *Model, drawn func() bool, out func(Act)) *Program {
	return &Program{m: m, drawn: drawn, out: out}
}

// Screen is the terminal that a program is shown on.
type Screen struct {
	*os.File
	drawn atomic.Bool
}

// Write writes to the terminal.
func (s *Screen) Write(p []byte) (int, error) {
	n, err := s.File.Write(p)
	if bytes.Contains(p, hideCursor) {
		s.drawn.Store(true)
	}
	return n, err
}

// hideCursor comes with the first frame.
var hideCursor = []byte("\x1b[?25l")

// Drawn reports whether the first frame was written.
func (s *Screen) Drawn() bool { return s.drawn.Load() }

// Err returns why the view has broken, nil if it has not. It may be called when
// the program has ended.
func (p *Program) Err() error { return p.failed }

// frame is how high a frame was and until when it counts.
type frame struct {
	rows  int
	until time.Time // zero while it is the last
}

// behind is how long the screen may show an older frame: bubbletea draws many
// times in this time.
const behind = 200 * time.Millisecond

// drew notes the height of a frame.
func (p *Program) drew(rows int) {
	now := time.Now()
	if last := len(p.frames) - 1; last >= 0 {
		if p.frames[last].rows == rows {
			return
		}
		p.frames[last].until = now.Add(behind)
	}
	p.forget(now)
	p.frames = append(p.frames, frame{rows: rows})
}

// forget drops the frames that are surely off the screen.
func (p *Program) forget(now time.Time) {
	p.frames = slices.DeleteFunc(p.frames, func(f frame) bool { return !f.until.IsZero() && f.until.Before(now) })
}

// rows is the height of the highest frame that may be on the screen.
func (p *Program) rows() int {
	p.forget(time.Now())
	rows := 1
	for _, f := range p.frames {
		rows = max(rows, f.rows)
	}
	return rows
}

// printed: the last lines are on the screen.
type printed struct{}

// ticking asks for the next tick of the clock.
func ticking() tea.Cmd {
	return tea.Tick(time.Second, func(t time.Time) tea.Msg { return Tick{t} })
}

// Init starts the clock.
func (p *Program) Init() tea.Cmd { return ticking() }

// broken ends the program after a panic: the view is a bug then, and the run
// goes on without it.
func (p *Program) broken() {
	if r := recover(); r != nil {
		p.failed = fmt.Errorf("the live view has failed: %v\n%s", r, debug.Stack())
	}
}

// Update takes a message.
func (p *Program) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	if p.failed != nil {
		return p, tea.Quit
	}
	defer func() {
		if p.failed != nil {
			cmd = tea.Quit
		}
	}()
	defer p.broken()
	var cmds []tea.Cmd
	switch msg.(type) {
	case printed:
		p.printing = false
	case Tick:
		cmds = append(cmds, ticking())
	}
	for _, a := range p.m.Step(msg) {
		switch a := a.(type) {
		case Print:
			p.lines = append(p.lines, a.Lines...)
		case After:
			cmds = append(cmds, tea.Tick(a.Wait, func(time.Time) tea.Msg { return a.Message }))
		case Suspend:
			cmds = append(cmds, tea.Suspend)
		case Quit:
			p.quitting = true
		default:
			p.out(a)
		}
	}
	cmds = append(cmds, p.print())
	return p, tea.Batch(cmds...)
}

// print prints what waits, in order and in pieces that fit above the frame.
func (p *Program) print() tea.Cmd {
	switch {
	case p.printing:
		return nil
	case !p.drawn():
		p.printing = true
		return tea.Tick(5*time.Millisecond, func(time.Time) tea.Msg { return printed{} })
	case len(p.lines) > 0:
		n := min(len(p.lines), max(1, p.m.height-p.rows()-1))
		text := strings.Join(p.lines[:n], "\n")
		if text == "" {
			text = " " // nothing at all would not be printed
		}
		p.lines, p.printing = p.lines[n:], true
		return tea.Sequence(tea.Println(text), func() tea.Msg { return printed{} })
	case p.quitting:
		return tea.Quit
	}
	return nil
}

// View shows the frame.
func (p *Program) View() (v tea.View) {
	defer p.broken()
	if p.failed != nil {
		return v
	}
	v.Content = p.m.Frame()
	p.drew(strings.Count(v.Content, "\n") + 1)
	return v
}
