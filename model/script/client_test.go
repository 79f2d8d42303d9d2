package script

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

func ask(c *Client, stream bool, tools ...string) *model.Request {
	p := &model.Params{Model: "script", Stream: stream}
	for _, name := range tools {
		p.Tools = append(p.Tools, event.ToolSpec{Name: name, Schema: jsontext.Value(`{"type":"object"}`)})
	}
	return inProcess(c, p, []message.Message{message.NewText(message.User, "Go")})
}

func classIs(t *testing.T, err error, want event.ErrorClass) *model.Error {
	t.Helper()
	var e *model.Error
	if !errors.As(err, &e) {
		t.Fatalf("the error is %v (%T), not a *model.Error of class %s", err, err, want)
	}
	if e.Class != want {
		t.Fatalf("the class is %s (%v), not %s", e.Class, e, want)
	}
	return e
}

func TestDeltas(t *testing.T) {
	s := MustParse(`
turns:
  - reason: Hm, ähm.
    say: 12345678
    calls: [{name: a}, {name: b}]
    chunk: 4`)
	for _, stream := range []bool{true, false} {
		c := New(s, nil)
		var got []model.Delta
		reply, err := c.Call(t.Context(), ask(c, stream, "a", "b"), func(d model.Delta) { got = append(got, d) })
		if err != nil {
			t.Fatal(err)
		}
		if reply.Message.Calls() != 2 || reply.Finish != event.FinishToolCalls {
			t.Errorf("the reply is %+v", reply)
		}
		want := []model.Delta{
			{Reasoning: "Hm, "}, {Reasoning: "ähm"}, {Reasoning: "."}, {Text: "1234"}, {Text: "5678"}, {Call: "a"}, {Call: "b"},
		}
		if !stream {
			want = nil
		}
		if len(got) != len(want) {
			t.Fatalf("deltas of stream=%t: %v", stream, got)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("delta %d is %+v, want %+v", i, got[i], want[i])
			}
		}
	}
}

// A cut at every byte of a reply is never a success, and what is handed out is
// always a beginning of the whole in whole characters.
func TestEveryCutIsIncomplete(t *testing.T) {
	const say = "größer als 99 €"
	for n := 1; n <= len(say)+10; n++ {
		s := MustParse("turns: [{say: " + say + ", call: {name: f}, chunk: 5, faults: [{cut: " + itoa(n) + "}]}]")
		c := New(s, nil)
		var shown strings.Builder
		_, err := c.Call(t.Context(), ask(c, true, "f"), func(d model.Delta) { shown.WriteString(d.Text) })
		e := classIs(t, err, event.ClassIncomplete)
		if e.Partial != shown.String() || !strings.HasPrefix(say, e.Partial) || n < len(say) && len(e.Partial) > n {
			t.Errorf("cut at %d: partial %q, shown %q", n, e.Partial, shown.String())
		}
		if n >= len(say) && e.Partial != say {
			t.Errorf("cut at %d: partial %q", n, e.Partial)
		}
		if _, err := c.Call(t.Context(), ask(c, true, "f"), nil); err != nil {
			t.Errorf("cut at %d: the second try fails: %v", n, err)
		}
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

func TestSilence(t *testing.T) {
	slow := `turns: [{say: Hi, delay: 10s, faults: [{cut: 0.5, stall: 30s}]}]`
	tests := []struct {
		name          string
		timeout, idle time.Duration
		cancel        time.Duration
		class         event.ErrorClass
		after         time.Duration
	}{
		{name: "a stall ends with the connection", class: event.ClassIncomplete, after: 40 * time.Second},
		{name: "the idle limit counts one silence", idle: 20 * time.Second, class: event.ClassTimeout, after: 30 * time.Second},
		{name: "before the first byte too", idle: 5 * time.Second, class: event.ClassTimeout, after: 5 * time.Second},
		{name: "the time limit counts all", timeout: 15 * time.Second, idle: 20 * time.Second, class: event.ClassTimeout, after: 15 * time.Second},
		{name: "the caller gives up in the delay", cancel: 3 * time.Second, class: event.ClassCancelled, after: 3 * time.Second},
		{name: "the caller gives up in the stall", cancel: 12 * time.Second, class: event.ClassCancelled, after: 12 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				cause := errors.New("had enough")
				if tt.cancel > 0 {
					var cancel context.CancelCauseFunc
					ctx, cancel = context.WithCancelCause(ctx)
					time.AfterFunc(tt.cancel, func() { cancel(cause) })
				}
				c := New(MustParse(slow), nil)
				req := ask(c, true)
				req.Timeout, req.Idle = tt.timeout, tt.idle
				start := time.Now()
				_, err := c.Call(ctx, req, nil)
				classIs(t, err, tt.class)
				if tt.cancel > 0 && !errors.Is(err, cause) {
					t.Errorf("the cause is lost: %v", err)
				}
				if took := time.Since(start); took != tt.after {
					t.Errorf("it took %s, not %s", took, tt.after)
				}
			})
		})
	}
	t.Run("a delay is part of the time to the first piece", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := New(MustParse(`turns: [{say: Hi, delay: 10s}]`), nil)
			reply, err := c.Call(t.Context(), ask(c, true), nil)
			if err != nil || reply.First != 10*time.Second {
				t.Errorf("first after %v, error %v", reply.First, err)
			}
		})
	})
}

// The body of one request is a prefix of the next one's, up to Close.
func TestEncoderKeepsThePrefix(t *testing.T) {
	c := New(MustParse(`turns: [Hi]`), nil)
	p := &model.Params{
		Model: "m", Stream: true, MaxOutput: 100, SchemaName: "s", Schema: jsontext.Value(`{"type":"object"}`),
		Tools: []event.ToolSpec{{Name: "a", Description: "does <a> & more", Schema: jsontext.Value(`{"type":"object"}`)}},
	}
	messages := []message.Message{
		message.NewText(message.System, "Be brief."),
		message.NewText(message.User, "Go \u2028 \xff on"),
		{Role: message.Assistant, Parts: []message.Part{
			{Kind: message.Reasoning, Text: "hm", Opaque: jsontext.Value(`{"sig":1}`), Provider: "x"},
			{Kind: message.ToolCall, ID: "1", Name: "a", Args: `{"broken`},
		}},
		message.Result("1", "a", "done", true),
	}
	var before []byte
	for n := 1; n <= len(messages); n++ {
		body := bytesOf(inProcess(c, p, messages[:n]))
		if again := bytesOf(inProcess(c, p, messages[:n])); !bytes.Equal(body, again) {
			t.Errorf("equal input gives different bytes:\n%s\n%s", body, again)
		}
		if !jsontext.Value(body).IsValid() {
			t.Fatalf("not JSON: %s", body)
		}
		if n > 1 && !bytes.HasPrefix(body, bytes.TrimSuffix(before, []byte("]}"))) {
			t.Errorf("the prefix changed:\n%s\n%s", before, body)
		}
		before = body
	}
	conv, stream, err := decode(before)
	if err != nil || !stream || len(conv.messages) != 4 || conv.messages[3].answers != "1" || conv.messages[2].calls[0].name != "a" {
		t.Errorf("read back: %+v, stream %t, error %v", conv, stream, err)
	}
}

func TestClientRefusesWhatServersRefuse(t *testing.T) {
	c := New(MustParse(`turns: [Hi]`), nil)
	call := message.Message{Role: message.Assistant, Parts: []message.Part{{Kind: message.ToolCall, ID: "1", Name: "a"}}}
	good := ask(c, true)
	tests := map[string]*model.Request{
		"no messages":        inProcess(c, &model.Params{}, nil),
		"unanswered call":    inProcess(c, &model.Params{}, []message.Message{call}),
		"result of nothing":  inProcess(c, &model.Params{}, []message.Message{message.Result("1", "a", "x", false)}),
		"unknown role":       inProcess(c, &model.Params{}, []message.Message{{Role: "robot"}}),
		"not JSON":           {Body: [][]byte{[]byte("{")}},
		"another form":       {Body: [][]byte{[]byte(`{"model":"m","messages":[],"temperature":1}`)}},
		"stream, and not":    {Body: good.Body, Stream: false},
		"bad opaque data":    inProcess(c, &model.Params{}, []message.Message{{Role: message.User, Parts: []message.Part{{Opaque: jsontext.Value("{")}}}}),
		"a schema not JSON":  inProcess(c, &model.Params{Schema: jsontext.Value("{")}, []message.Message{message.NewText(message.User, "x")}),
		"user calling tools": inProcess(c, &model.Params{}, []message.Message{{Role: message.User, Parts: call.Parts}}),
	}
	for name, req := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := c.Call(t.Context(), req, nil)
			if e := classIs(t, err, event.ClassBadRequest); e.Message == "" {
				t.Error("it does not say why")
			}
		})
	}
}

func TestInfo(t *testing.T) {
	s := MustParse("model: tiny\nturns: [Hi]")
	if got := New(s, nil).Info().Name(); got != "script/tiny" {
		t.Errorf("name %s", got)
	}
	info := model.Info{Provider: "p", Model: "m", Window: 1000}
	if got := New(s, &Options{Info: info}).Info(); got != info {
		t.Errorf("info %+v", got)
	}
}
