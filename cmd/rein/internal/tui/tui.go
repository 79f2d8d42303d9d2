// Package tui answers: what does somebody who watches a run see on a terminal?
//
// A [Model] is made from the run's events, the pieces of the model's output on
// their way, keys and ticks of a clock, by [Model.Step]. It does no I/O and asks
// no clock: it gives the picture of the moment, [Model.Frame], and says what is
// to be done outside as [Act]s, such as to print the lines of a finished step
// above the picture or to pass on the answer to a question. [Program] lets
// bubbletea play it on a terminal.
//
// Whatever a model, a server, a tool or a file wrote is escaped before it is
// shown.
package tui

import (
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/model"
)

// Options are a view's settings.
type Options struct {
	// Color: the terminal has colours, and the user wants them.
	Color bool
	// Chat has a line to type in, and prints answers; without it the answer is
	// left to whoever prints the result.
	Chat bool
	// History is what was typed in earlier chats, oldest first.
	History []string
}

// Messages to the model, besides bubbletea's keys, pastes and window sizes.
type (
	// Event is an event of the run that has just happened.
	Event struct{ event.Event }
	// Past is an event of a run that is carried on, from before.
	Past struct{ event.Event }
	// Delta is a piece of the model's output.
	Delta struct{ model.Delta }
	// Tick is what the clock says, about once a second.
	Tick struct{ At time.Time }
	// Began and Ended enclose the time in which a run is carried out. A Began
	// with a run that was not shown before forgets the one that was.
	Began struct {
		Run string
		At  time.Time
	}
	Ended struct{}
	// Ask puts a question; ID is the asker's, for Withdraw and [Answer].
	Ask struct {
		ID       int
		Question engine.Question
	}
	// Withdraw takes a question back: it was answered elsewhere.
	Withdraw struct{ ID int }
	// Line is a diagnostic or message of Rein's own, to be printed.
	Line struct{ Text string }
	// Close ends the view after everything was printed.
	Close struct{}
)

// armed: the question has been on the screen long enough to be answered.
type armed struct{ id int }

// An Act is something that the model wants done, in the order given: [Print],
// [Answer], [Interrupt], [Input], [Leave], [Suspend], [Quit], [After].
type Act interface{ act() }

type (
	// Print is lines to be kept above the picture.
	Print struct{ Lines []string }
	// Answer answers question ID, or leaves it open with Later.
	Answer struct {
		ID     int
		Answer engine.Answer
		Later  bool
	}
	// Interrupt is Ctrl-C while a run is carried out.
	Interrupt struct{}
	// Input is a text or command that was typed in a chat.
	Input struct{ Text string }
	// Leave is the wish to leave a chat.
	Leave struct{}
	// Suspend is Ctrl-Z.
	Suspend struct{}
	// Quit ends the program.
	Quit struct{}
	// After asks for a message some time later.
	After struct {
		Wait    time.Duration
		Message any
	}
)

func (Print) act()     {}
func (Answer) act()    {}
func (Interrupt) act() {}
func (Input) act()     {}
func (Leave) act()     {}
func (Suspend) act()   {}
func (Quit) act()      {}
func (After) act()     {}

// armTime is how long a question is on the screen before keys answer it, so that
// what was being typed when it appeared does not.
const armTime = 400 * time.Millisecond

// Model is a view. It is not safe for concurrent use.
type Model struct {
	o             Options
	width, height int
	now, begun    time.Time
	working       bool

	// run is folded, for what no single event says; nil after events that
	// could not be.
	run  string
	fold *loop.Machine
	// fill and budget are the last request's tokens.
	fill, budget int64

	step step

	asks     []question
	why      *editor // why not, being typed
	editor   editor
	presses  int // of Ctrl-C since the run began
	leaving  bool
	quitting bool
	hint     string
	acts     []Act
}

// New returns the view of a run that has not begun, 80 columns wide.
func New(o Options) *Model {
	m := &Model{o: o, width: 80, height: 24}
	m.editor.history = append([]string(nil), o.History...)
	return m
}

// do notes what is to be done.
func (m *Model) do(a Act) { m.acts = append(m.acts, a) }

// print notes lines to be printed.
func (m *Model) print(lines ...string) {
	if len(lines) > 0 {
		m.do(Print{lines})
	}
}

// A tone is how a line looks where there are colours; without them the words
// say the same.
type tone uint8

const (
	normal tone = iota
	strong
	faint
	good
	warn
	bad
)

func (m *Model) paint(t tone, s string) string {
	if !m.o.Color || s == "" {
		return s
	}
	style := lipgloss.NewStyle()
	switch t {
	case normal:
		return s
	case strong:
		style = style.Bold(true)
	case faint:
		style = style.Faint(true)
	case good:
		style = style.Foreground(lipgloss.Green)
	case warn:
		style = style.Foreground(lipgloss.Yellow)
	case bad:
		style = style.Foreground(lipgloss.Red)
	}
	return style.Render(s)
}

// paintAll paints lines one by one.
func (m *Model) paintAll(t tone, lines []string) []string {
	for i := range lines {
		lines[i] = m.paint(t, lines[i])
	}
	return lines
}

// wrapped returns a text as lines of the view's width, indented.
func (m *Model) wrapped(indent, text string) []string {
	if m.width < narrow {
		indent = indent[:min(len(indent), 1)]
	}
	lines := split(printable(strings.TrimRight(text, "\n")), m.width-len(indent), true)
	for i := range lines {
		if lines[i] != "" {
			lines[i] = indent + lines[i]
		}
	}
	return lines
}

const (
	// narrow terminals have fewer columns than this.
	narrow = 40
	// least is the narrowest picture; what does not fit a screen is cut off.
	least = 8
)
