package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/tokens"
	"rein.example/rein/tool"
	"rein.example/rein/window"
)

// reader is a run of a model that does nothing but read files, and summarises
// when it is asked to.
type reader struct {
	*script
	usage func(counted int64) message.Usage
	n     int
}

func newReader(t *testing.T, w event.WindowSpec, more ...event.ToolSpec) *reader {
	r := &reader{script: newScript(t)}
	spec := event.Spec{Model: "test/model", Permissions: []event.Permission{{Verdict: event.Allow, Match: "*"}}, Window: w,
		System: []event.Block{{Name: "contract", Text: "Work.", Tokens: message.Known(200)}},
		Tools:  append([]event.ToolSpec{toolSpec([]string{"", "read_file", "read", "resource=path"}), toolSpec([]string{"", tool.ReadArtifact, "read", "harness"})}, more...)}
	r.add("", &event.RunStarted{Format: 1, Root: "r1", Spec: spec})
	parts := []message.Part{{Kind: message.Text, Text: "Find the orders that are late. The total must never exceed 500 EUR."}}
	r.add("", &event.InputReceived{Kind: event.InputText, Tokens: sized(message.User, parts), Parts: parts})
	r.settle()
	return r
}

// summary says what was read, in the words of a model that has seen it.
func (r *reader) summary() string {
	var b strings.Builder
	b.WriteString("No order is late so far, and the total must never exceed 500 EUR. Read:")
	for i := max(1, r.n-40); i <= r.n; i++ {
		fmt.Fprintf(&b, " f%d.txt", i)
	}
	return b.String()
}

// step plays the next step, and the summary before it if one is asked for.
func (r *reader) step(words int) {
	for {
		c := r.model()
		d := &event.ModelAnswered{ID: c.ID, Finish: event.FinishToolCalls}
		if r.usage != nil {
			d.Usage = r.usage(counted(r.events))
		}
		d.Message.Role = message.Assistant
		if c.Purpose == event.PurposeSummary {
			d.Finish = event.FinishStop
			d.Message.Parts = []message.Part{{Kind: message.Text, Text: r.summary()}}
		} else {
			r.n++
			d.Message.Parts = []message.Part{{Kind: message.ToolCall, ID: fmt.Sprint("r", r.n), Name: "read_file", Args: fmt.Sprintf(`{"path":"f%d.txt"}`, r.n)}}
		}
		d.Tokens = sized(message.Assistant, d.Message.Parts)
		r.add(c.ID, d)
		r.settle()
		if c.Purpose != event.PurposeSummary {
			break
		}
	}
	run := r.m.Next()[0].(*loop.RunTool)
	parts := []message.Part{{Kind: message.Text, Text: fmt.Sprintf("file %d\n", r.n) + strings.Repeat("word ", words)}}
	r.add(run.ID, &event.ToolFinished{ID: run.ID, Call: run.Call, Tool: run.Tool, Status: event.StatusSuccess, Parts: parts, Tokens: sized(message.Tool, parts)})
	r.settle()
}

// counted is the size of the last request as counted.
func counted(events []event.Event) (n int64) {
	for i := len(events) - 1; i >= 0; i-- {
		if a, ok := events[i].Data.(*event.ContextAssembled); ok {
			for _, b := range a.Blocks {
				n += b.Tokens
			}
			return n
		}
	}
	return 0
}

// A rewrite wins so much that the next one is far: in 350 steps of a window of
// 32,000 at most one in twenty is one, each lands well below where it began, and the
// size that it says is the size of the request that follows.
func TestRewritesAreRare(t *testing.T) {
	for _, strategy := range []string{window.Layered, window.Summary} {
		r := newReader(t, event.WindowSpec{Strategy: strategy, Size: 32_000, Reserve: 4096, Margin: 900_000})
		for range 350 {
			r.step(400)
		}
		rewrites := 0
		for i := range r.events {
			c, ok := r.events[i].Data.(*event.ContextCompacted)
			if !ok {
				continue
			}
			rewrites++
			if budget := int64(25_113); c.Before-c.After < budget*3/10 {
				t.Errorf("%s: a rewrite from %d to %d tokens", strategy, c.Before, c.After)
			}
			if a := r.events[i+1].Data.(*event.ContextAssembled); a.Tokens != c.After {
				t.Errorf("%s: a rewrite to %d tokens is followed by a request of %d", strategy, c.After, a.Tokens)
			}
		}
		if rewrites < 5 || rewrites > 350/20 {
			t.Errorf("%s: %d rewrites in 350 steps", strategy, rewrites)
		}
	}
}

// What a server says of a request counts once: cached tokens are part of it, and the
// reply is not.
func TestReportedOnce(t *testing.T) {
	r := newReader(t, event.WindowSpec{Strategy: window.Layered, Size: 100_000, Reserve: 4096, Margin: 650_000})
	r.usage = func(n int64) message.Usage {
		return message.Usage{Input: message.Known(n * 6 / 5), Cached: message.Known(n), Output: message.Known(3000)}
	}
	for range 20 {
		r.step(400)
	}
	a := r.events[len(r.events)-2].Data.(*event.ContextAssembled)
	n := counted(r.events)
	if a.Tokens < n*119/100 || a.Tokens > n*121/100 || a.Method != string(tokens.Calibrated) {
		t.Errorf("a request counted as %d is expected to have %d tokens (%s), not 1.2 times as many", n, a.Tokens, a.Method)
	}
}

// An earlier summary is carried on when the next one cannot be had.
func TestEarlierSummaryStays(t *testing.T) {
	r := newReader(t, event.WindowSpec{Strategy: window.Summary, Size: 8000, Reserve: 1000, Margin: 900_000})
	summaries := 0
	for range 60 {
		if c := r.model(); c.Purpose == event.PurposeSummary && summaries > 0 {
			r.add(c.ID, &event.ModelFailed{ID: c.ID, Class: event.ClassAuth})
			r.settle()
			break
		} else if c.Purpose == event.PurposeSummary {
			summaries++
		}
		r.step(300)
	}
	var last *event.ContextCompacted
	for i := range r.events {
		if c, ok := r.events[i].Data.(*event.ContextCompacted); ok {
			last = c
		}
	}
	if summaries != 1 || last == nil || len(last.Failed) != 1 || !strings.Contains(last.Summary, "No order is late so far") {
		t.Fatalf("after %d summaries the last rewrite is %+v", summaries, last)
	}
	for _, m := range r.model().Messages {
		if strings.Contains(m.PlainText(), "No order is late so far") {
			return
		}
	}
	t.Error("the earlier summary is not in the request any more")
}

// A rewrite that does not come from this machine, and cuts through a group, leaves a
// result without its call. Requests are paired when they are built; the machine
// goes on with what there is.
func TestForeignRewrite(t *testing.T) {
	r := newReader(t, event.WindowSpec{Strategy: window.Layered, Size: 8000, Reserve: 1000, Margin: 900_000})
	for range 8 {
		r.step(100)
	}
	r.add("", &event.InputReceived{Kind: event.InputPause})
	c := r.model()
	r.add(c.ID, &event.ModelAnswered{ID: c.ID, Finish: event.FinishStop, Tokens: message.Known(10),
		Message: message.Message{Role: message.Assistant, Parts: []message.Part{{Kind: message.ToolCall, ID: "x", Name: "nothing", Args: "{}"}}}})
	r.settle()
	r.add("", &event.ContextCompacted{Strategy: "foreign", Upto: 4, Summary: "f1.txt and f2.txt were read.",
		Edits: []event.ContextEdit{{Message: 9, Action: window.ActionDrop}, {Message: 8, Action: window.ActionStub, Text: "[gone]"}, {Message: 77, Action: "fold"}}})
	r.add("", &event.RunResumed{Generation: 2})
	for _, c := range r.m.Next() {
		if c, ok := c.(*loop.Record); ok {
			r.add("", c.Data[0])
		}
	}
	c = r.model()
	paired := message.Pair(c.Messages)
	if len(paired) == len(c.Messages) {
		t.Errorf("the rewrite has left no pair apart: %v", c.Messages)
	}
	for i, m := range paired {
		if m.Role == message.Tool && (i == 0 || paired[i-1].Calls() == 0 && paired[i-1].Role != message.Tool) {
			t.Errorf("result %s stands alone", m.ToolCallID)
		}
	}
	if text := c.Messages[1].PlainText(); !strings.Contains(text, "f1.txt and f2.txt were read.") {
		t.Errorf("the digest is %q", text)
	}
	if h := r.m.History(); h.Len() != 19 || h.At(9).Message.Calls() != 1 || h.At(8).Message.PlainText() == "[gone]" {
		t.Errorf("the history has %d messages, and not what was said", h.Len())
	}
}

// A model that thinks may write as much for a summary as in a step.
func TestSummaryOfThinkers(t *testing.T) {
	for reasoning, want := range map[string]int64{"": 2880, "low": 3500} {
		r := newReader(t, event.WindowSpec{})
		spec := *r.m.Spec()
		spec.Window = event.WindowSpec{Strategy: window.Summary, Size: 20_000, Reserve: 4000, Margin: 900_000}
		spec.Limits.Output, spec.Sampling.Reasoning = 3500, reasoning
		r.script = newScript(t)
		r.add("", &event.RunStarted{Format: 1, Root: "r1", Spec: spec})
		r.add("", &event.InputReceived{Kind: event.InputText, Parts: []message.Part{{Kind: message.Text, Text: "Go."}}, Tokens: message.Known(10)})
		r.settle()
		for r.model().Purpose != event.PurposeSummary {
			r.step(300)
		}
		if got := r.model().MaxOutput; got != want {
			t.Errorf("with reasoning %q a summary may have %d tokens, not %d", reasoning, got, want)
		}
	}
}

// The history has all that was said, with what each message comes from.
func TestHistory(t *testing.T) {
	r := newReader(t, event.WindowSpec{Strategy: window.Layered, Size: 4000, Reserve: 1000, Margin: 900_000})
	full := &message.Ref{SHA256: "00", Bytes: 1 << 20}
	r.add("", &event.InputReceived{Kind: event.InputText, Parts: []message.Part{{Kind: message.Text, Text: "This too: …"}}, Tokens: message.Known(8), Full: full})
	early := r.m.History()
	for range 30 {
		r.step(200)
	}
	h := r.m.History()
	if early.Len() != 1 || h.Len() != 2+2*30 {
		t.Fatalf("%d and then %d messages", early.Len(), h.Len())
	}
	if len(r.model().Messages) >= h.Len() {
		t.Error("nothing has left the context")
	}
	for i := range h.Len() {
		s := h.At(i)
		if s.Number != int64(i) || (s.Done != nil) != (s.Message.Role == message.Tool) || s.Done != nil && s.Done.Call != s.Message.ToolCallID {
			t.Errorf("message %d: %+v", i, s)
		}
	}
	if h.At(3).Full != full || h.At(0).Message.Role != message.User {
		t.Errorf("the inputs are %+v and %+v", h.At(0), h.At(3))
	}
}
