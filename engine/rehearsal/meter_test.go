package rehearsal

import (
	"fmt"
	"strings"
	"testing"

	"rein.example/rein/engine/internal/request"
	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/tokens"
)

// words counts words, so that figures can be worked out by hand.
type words struct{}

func (words) Count(s string) int    { return len(strings.Fields(s)) }
func (words) Method() tokens.Method { return tokens.Exact }

// plainWire writes a message a line.
type plainWire struct{}

func (plainWire) Version() string { return "plain/1" }

func (plainWire) Head(dst []byte, p *model.Params, system []message.Message) []byte {
	dst = fmt.Appendf(dst, "max=%d tools=%d\n", p.MaxOutput, len(p.Tools))
	for i := range system {
		dst = append(dst, system[i].PlainText()+"\n"...)
	}
	return dst
}

func (plainWire) Message(dst []byte, _, m *message.Message) []byte {
	return append(dst, string(m.Role)+": "+m.PlainText()+"\n"...)
}

func (plainWire) Close(dst []byte, _ *model.Params, _ *message.Message) []byte {
	return append(dst, "end"...)
}

// TestMeter: what a request has in common with the one before is counted in whole
// messages, and neither the tail nor how long the reply may be is part of it.
func TestMeter(t *testing.T) {
	const frame = 4 // that a message has around its words
	say := func(texts ...string) (out []message.Message) {
		for i, s := range texts {
			role := message.User
			if i%2 == 1 {
				role = message.Assistant
			}
			out = append(out, message.NewText(role, s))
		}
		return out
	}
	frameOf := func(s string) int64 {
		m := message.NewText(message.User, s)
		return int64(tokens.Message(words{}, &m))
	}
	if frameOf("one word") != frame+2 {
		t.Fatalf("a message has %d tokens around it", frameOf("one word")-2)
	}
	system := []message.Message{message.NewText(message.System, "be very brief")}
	tail := message.NewText(message.System, "at step one")
	b := request.New(plainWire{}, nil)
	m := meter{enc: plainWire{}, count: words{}}
	for _, c := range []struct {
		what           string
		call           loop.CallModel
		tokens, cached int64
		rewrites       bool
	}{
		{"the first", loop.CallModel{Messages: say("a b c")}, 3 + 7, 0, false},
		{"with more", loop.CallModel{Messages: say("a b c", "d", "e f"), Tail: &tail}, 3 + 7 + 5 + 6 + 7, 3 + 7, false},
		{"the same, another tail", loop.CallModel{Messages: say("a b c", "d", "e f")}, 3 + 7 + 5 + 6, 3 + 7 + 5 + 6, false},
		{"a summary: all of it, and a question behind it", loop.CallModel{Messages: say("a b c", "d", "e f"), Tail: &tail, Purpose: event.PurposeSummary, MaxOutput: 500}, 3 + 7 + 5 + 6 + 7, 3 + 7 + 5 + 6, false},
		{"a message changed in its middle", loop.CallModel{Messages: say("a b c", "d x", "e f"), Epoch: 1}, 3 + 7 + 6 + 6, 3 + 7, true},
		{"what is behind it again", loop.CallModel{Messages: say("a b c", "d x", "e f", "g"), Epoch: 1}, 3 + 7 + 6 + 6 + 5, 3 + 7 + 6 + 6, false},
		{"no tools", loop.CallModel{Messages: say("a b c", "d x", "e f", "g"), Epoch: 1, NoTools: true, Tools: []event.ToolSpec{{Name: "look"}}}, 3 + 7 + 6 + 6 + 5, 0, true},
	} {
		c.call.System = system
		if c.call.Purpose == "" {
			c.call.Purpose = event.PurposeStep
		}
		params := request.Params(&event.Spec{}, &c.call, request.Options{})
		body, err := b.Build(&params, &c.call)
		if err != nil {
			t.Fatal(err)
		}
		got := m.request(&c.call, &params, &body)
		if got.Tokens != c.tokens || got.Cached != c.cached || got.Rewrites != c.rewrites {
			t.Errorf("%s: %d tokens, %d cached, rewrites %v; want %d, %d, %v", c.what, got.Tokens, got.Cached, got.Rewrites, c.tokens, c.cached, c.rewrites)
		}
	}
}

// TestReportMath: costs, parts and thirds from what was sent.
func TestReportMath(t *testing.T) {
	m := loop.New("r")
	if err := m.Apply(&event.Event{Seq: 1, Data: &event.RunStarted{Format: event.Version, Spec: event.Spec{Model: "a/b", Window: event.WindowSpec{Size: 124 + reserve, Reserve: reserve}}}}); err != nil {
		t.Fatal(err)
	}
	var r, base Report
	for i := range 400 {
		s := Sent{Tokens: 120, Cached: 100, Tail: 5}
		switch {
		case i == 200:
			r.sent(&loop.CallModel{Purpose: event.PurposeSummary}, &Sent{Tokens: 130, Cached: 120}, m)
			s = Sent{Tokens: 60, Cached: 10, Rewrites: true}
		case i == 300:
			s.Tokens = 125
		}
		r.sent(&loop.CallModel{Purpose: event.PurposeStep}, &s, m)
		base.sent(&loop.CallModel{Purpose: event.PurposeStep}, &Sent{Tokens: 300, Cached: 200}, m)
	}
	r.close()
	base.close()
	r.Against(&base)
	// 398 ordinary steps of 20 new and 100 cached, one of 25 new, one of 50 new and 10
	// cached, a summary of 10 and 120.
	if want := int64(398*30 + 35 + 51 + 22); r.Cost != want || base.Cost != 400*120 {
		t.Errorf("cost %d, want %d; %d for everything", r.Cost, want, base.Cost)
	}
	if *r.CostPart != 25.1 || r.Rewrites != 1 || r.RewritePart != 0.3 || r.Overflows != 1 || r.Peak != 125 || r.SummaryPeak != 130 {
		t.Errorf("%+v", r)
	}
	if p := (CostParts{New: 398*15 + 20, Again: 399*10 + 1, Rewrites: 50, Tail: 399 * 5, Summaries: 22}); r.Parts != p {
		t.Errorf("parts %+v, want %+v", r.Parts, p)
	}
	// The second third has the summary and the rewrite, the third one the larger step.
	if len(r.Thirds) != 3 || r.Thirds[0] != 30 || r.Thirds[1] != 30 || r.Thirds[2] != 30 || *r.Growth != 1 {
		t.Errorf("%v, growth %v", r.Thirds, *r.Growth)
	}
	sum := Sum([]*Report{&r, &r})
	if sum.Cost != 2*r.Cost || *sum.CostPart != *r.CostPart || sum.Conversations != 2 || sum.Thirds[0] != 60 || *sum.Growth != 1 || sum.RewritePart != r.RewritePart {
		t.Errorf("%+v", sum)
	}
}
