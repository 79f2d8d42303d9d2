package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/cockroachdb/datadriven"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/model"
)

// TestScripts plays the conversations in testdata; -rewrite writes their replies
// anew. The commands are
//
//	view [width=80] [height=24] [color] [chat]   a new view
//	play                  a message a line: see [player.message]; prints what is to be done
//	frame [width] [height]                       prints the picture
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var p *player
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "view":
				o := Options{Color: d.HasArg("color"), Chat: d.HasArg("chat"), History: []string{"an old question"}}
				p = &player{t: t, m: New(o), at: time.UnixMilli(1_790_000_000_000)}
				p.size(d)
				return ""
			case "play":
				p.t = t
				var out strings.Builder
				for line := range strings.SplitSeq(d.Input, "\n") {
					out.WriteString(p.play(line))
				}
				return out.String()
			case "frame":
				p.size(d)
				return visible(checked(t, p.m))
			}
			t.Fatalf("there is no command %s", d.Cmd)
			return ""
		})
	})
}

// player plays messages to a view.
type player struct {
	t   *testing.T
	m   *Model
	at  time.Time
	seq int64
}

func (p *player) size(d *datadriven.TestData) {
	size := tea.WindowSizeMsg{Width: p.m.width, Height: p.m.height}
	d.MaybeScanArgs(p.t, "width", &size.Width)
	d.MaybeScanArgs(p.t, "height", &size.Height)
	p.m.Step(size)
}

// play plays one message and returns what is to be done.
func (p *player) play(line string) string {
	p.t.Helper()
	var out strings.Builder
	acts := p.m.Step(p.message(line))
	for len(acts) > 0 {
		a := acts[0]
		acts = acts[1:]
		switch a := a.(type) {
		case Print:
			for _, l := range a.Lines {
				if w := lipgloss.Width(l); w > p.m.width {
					p.t.Errorf("a line of %d columns is printed: %q", w, l)
				}
			}
			out.WriteString("print\n" + visible(strings.Join(a.Lines, "\n")))
		case After:
			// The next tick comes after it.
		case Answer:
			if a.Later {
				fmt.Fprintf(&out, "question %d: later\n", a.ID)
			} else if a.Answer.Text != "" {
				fmt.Fprintf(&out, "question %d: in words %q\n", a.ID, a.Answer.Text)
			} else {
				fmt.Fprintf(&out, "question %d: %s %q\n", a.ID, a.Answer.Decision, a.Answer.Why)
			}
		case Input:
			fmt.Fprintf(&out, "input %q\n", a.Text)
		default:
			fmt.Fprintf(&out, "%s\n", strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", a), "tui.")))
		}
	}
	return out.String()
}

// message reads a line:
//
//	began · ended · close · arm           the run, the view; the first question can be answered
//	tick 3s                               time goes by
//	key ctrl+c · type TEXT · paste TEXT   what the user does
//	delta TEXT · think TEXT · call NAME   what the model writes
//	ask TOOL ARGUMENTS · settle TOOL ARGUMENTS · words TOOL ARGUMENTS
//	withdraw 1 · line TEXT
//	TYPE DATA                             an event
func (p *player) message(line string) any {
	p.t.Helper()
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\e`, "\x1b").Replace(rest)
	switch word {
	case "began":
		return Began{Run: "r1", At: p.at}
	case "ended":
		return Ended{}
	case "close":
		return Close{}
	case "arm":
		return armed{p.m.asks[0].id}
	case "tick":
		d, err := time.ParseDuration(rest)
		if err != nil {
			p.t.Fatal(err)
		}
		p.at = p.at.Add(d)
		return Tick{p.at}
	case "key":
		return tea.KeyPressMsg(key(rest))
	case "paste":
		return tea.PasteMsg{Content: rest}
	case "type":
		for _, r := range rest[:len(rest)-1] {
			p.m.Step(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
		last := rune(rest[len(rest)-1])
		return tea.KeyPressMsg{Code: last, Text: string(last)}
	case "delta":
		return Delta{model.Delta{Text: rest}}
	case "think":
		return Delta{model.Delta{Reasoning: rest}}
	case "call":
		return Delta{model.Delta{Call: rest}}
	case "ask", "settle", "words":
		p.seq++
		tool, args, _ := strings.Cut(rest, " ")
		return Ask{ID: int(p.seq), Question: engine.Question{Run: "r1", Call: "c1", Tool: tool, Args: jsontext.Value(args), Settle: word == "settle", Words: word == "words"}}
	case "withdraw":
		var id int
		fmt.Sscan(rest, &id)
		return Withdraw{id}
	case "line":
		return Line{rest}
	}
	_, raw, _ := strings.Cut(line, " ")
	d, err := event.DecodeData(event.Type(word), []byte(raw))
	if err != nil {
		p.t.Fatalf("%s: %v", line, err)
	}
	if u, ok := d.(*event.Unknown); ok {
		p.t.Fatalf("there is no message or event %s", u.Name)
	}
	seq := int64(1)
	if p.m.fold != nil {
		seq = p.m.fold.Seq() + 1
	}
	return Event{event.Event{Run: "r1", Seq: seq, Time: p.at.UnixMilli(), Data: d}}
}

// key returns the key of that name.
func key(name string) tea.Key {
	var k tea.Key
	for {
		mod, rest, ok := strings.Cut(name, "+")
		if !ok || rest == "" {
			break
		}
		k.Mod |= map[string]tea.KeyMod{"ctrl": tea.ModCtrl, "alt": tea.ModAlt, "shift": tea.ModShift}[mod]
		name = rest
	}
	named := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft,
		"right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
		"backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "space": tea.KeySpace}
	if code, ok := named[name]; ok {
		k.Code = code
		return k
	}
	k.Code = []rune(name)[0]
	if k.Mod == 0 {
		k.Text = name
	}
	return k
}

// checked returns the frame, which must fit the view.
func checked(t *testing.T, m *Model) string {
	t.Helper()
	frame := m.Frame()
	lines := strings.Split(frame, "\n")
	if len(lines) > max(m.height-1, 2) {
		t.Errorf("%d columns, %d rows: the frame has %d lines:\n%s", m.width, m.height, len(lines), frame)
	}
	for _, l := range lines {
		if w := lipgloss.Width(l); w > m.width {
			t.Errorf("%d columns: a line has %d: %q", m.width, w, l)
		}
	}
	return frame
}

// visible marks where lines begin and writes escape characters so that they
// can be seen.
func visible(s string) string {
	if s == "" {
		return "(nothing)\n"
	}
	s = strings.ReplaceAll(s, "\x1b", "␛")
	return "|" + strings.ReplaceAll(s, "\n", "\n|") + "\n"
}
