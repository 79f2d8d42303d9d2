package tui

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// Whatever a model, a tool or a person writes, on a terminal of whatever size,
// the frame fits it and holds nothing that a terminal obeys.
func FuzzFrame(f *testing.F) {
	f.Add("plain text", uint8(80), uint8(24))
	f.Add("a\x1b[2Jb\u202ec\u200bd\xff\r\n\te", uint8(20), uint8(5))
	f.Add("日本語のとても長い文章 👨‍👩‍👧 e\u0301 \U000e0041", uint8(1), uint8(1))
	f.Add(strings.Repeat("word ", 500), uint8(7), uint8(9))
	f.Fuzz(func(t *testing.T, s string, width, height uint8) {
		p := &player{t: t, m: New(Options{Chat: height%2 == 0}), at: time.UnixMilli(0)}
		called := message.Message{Role: message.Assistant, Parts: []message.Part{{Kind: message.Text, Text: s}}}
		data := []event.Data{
			&event.RunStarted{Format: 1, Spec: event.Spec{Model: s}},
			&event.InputReceived{Kind: event.InputText, Parts: called.Parts},
			&event.ContextAssembled{Step: 1, Tokens: 1, Budget: 2},
			&event.ModelCalled{ID: "3.0", Step: 1, Attempt: 2, Model: s},
			&event.ModelFailed{ID: "3.0", Class: event.ErrorClass(s), Message: s},
			&event.ModelAnswered{ID: "3.0", Message: called},
			&event.ReplyParsed{Calls: []event.ParsedCall{{ID: "c", Name: s, Args: s}}, Problems: []string{s}},
			&event.CallJudged{Call: "c", Tool: s, Verdict: event.Deny, Why: s},
			&event.ToolFinished{Call: "c", Tool: s, Status: event.Status(s), ErrorType: s, ErrorMessage: s},
			&event.NoticeAdded{Text: s},
		}
		messages := []any{Began{Run: "r"}, tea.WindowSizeMsg{Width: int(width), Height: int(height)}}
		for i, d := range data {
			messages = append(messages, Event{event.Event{Run: "r", Seq: int64(i + 1), Data: d}})
		}
		messages = append(messages, Delta{model.Delta{Text: s, Call: s}}, tea.PasteMsg{Content: s}, Line{s},
			Ask{1, engine.Question{Tool: s, Args: jsontext.Value(s), Why: s}}, armed{1},
			tea.KeyPressMsg(key("n")), tea.PasteMsg{Content: s}, tea.KeyPressMsg(key("end")), tea.KeyPressMsg(key("enter")),
			tea.KeyPressMsg(key("enter")), Ended{})
		for _, msg := range messages {
			acts := p.m.Step(msg)
			harmless(t, checked(t, p.m))
			for _, a := range acts {
				if out, ok := a.(Print); ok {
					if _, own := msg.(Line); !own {
						harmless(t, strings.Join(out.Lines, "\n"))
					}
				}
			}
		}
	})
}

func harmless(t *testing.T, shown string) {
	t.Helper()
	i := strings.IndexFunc(shown, func(r rune) bool {
		return r != '\n' && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r) || r == 0x2028 || r == 0x2029)
	})
	if i >= 0 {
		t.Errorf("the frame has %q in %q", []rune(shown[i:])[0], shown)
	}
}

// A view that fails ends, and says why; whoever runs it goes on without.
func TestBrokenViewEnds(t *testing.T) {
	p := NewProgram(New(Options{}), func() bool { return true }, func(Act) { panic("out of order") })
	p.Update(Began{Run: "r"})
	_, cmd := p.Update(tea.KeyPressMsg(key("ctrl+c")))
	if cmd == nil || p.Err() == nil || !strings.Contains(p.Err().Error(), "out of order") {
		t.Fatalf("error %v", p.Err())
	}
	if _, ok := cmd().(tea.QuitMsg); !ok {
		t.Error("the program goes on")
	}
	if v := p.View(); v.Content != "" {
		t.Errorf("it shows %q", v.Content)
	}
}

// Lines are printed in order, in pieces that fit the screen, and all of them
// before the end.
func TestProgramPrintsInOrder(t *testing.T) {
	drawn := false
	m := New(Options{})
	m.Step(tea.WindowSizeMsg{Width: 80, Height: 10})
	p := NewProgram(m, func() bool { return drawn }, func(Act) {})
	var want []string
	for i := range 30 {
		want = append(want, strings.Repeat("x", i+1))
	}
	_, cmd := p.Update(Line{strings.Join(want, "\n")})
	if len(p.lines) != len(want) || cmd == nil {
		t.Fatalf("before the first frame %d lines wait", len(p.lines))
	}
	drawn = true
	p.Update(Close{})
	var got []string
	for range 100 {
		before := slices.Clone(p.lines)
		_, cmd = p.Update(printed{})
		got = append(got, before[:len(before)-len(p.lines)]...)
		if n := len(before) - len(p.lines); n > 9 {
			t.Errorf("%d lines at once on 10 rows", n)
		}
		if len(before) == 0 {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("printed %q", got)
	}
	if _, ok := cmd().(tea.QuitMsg); !ok {
		t.Error("it does not end")
	}
}
