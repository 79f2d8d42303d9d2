package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

// BenchmarkAssemble is what is decided before one request of a run with 1,000
// messages: "grown" when there is nothing to do, "due" when the context is looked at
// and a rewrite planned. What carries one out, taking the facts from what leaves, is
// package window's to measure.
func BenchmarkAssemble(b *testing.B) {
	for _, strategy := range []string{"layered", "sliding"} {
		b.Run(strategy+"/due", func(b *testing.B) { benchAssemble(b, strategy, 165_000) })
	}
	b.Run("layered/grown", func(b *testing.B) { benchAssemble(b, "layered", 10_000_000) })
}

func benchAssemble(b *testing.B, strategy string, size int64) {
	m := loop.New("r1")
	seq := int64(0)
	add := func(d event.Data) {
		seq++
		if err := m.Apply(&event.Event{Run: "r1", Seq: seq, Time: seq, Data: d}); err != nil {
			b.Fatal(err)
		}
	}
	spec := event.Spec{Model: "p/m", Permissions: []event.Permission{{Verdict: event.Allow, Match: "*"}},
		Window: event.WindowSpec{Strategy: strategy, Size: size, Reserve: 8192, Margin: 900_000, Trigger: 850_000}}
	for _, f := range [][]string{{"", "read_file", "read", "resource=path"}, {"", "write_file", "repeatable", "resource=path"}, {"", tool.ReadArtifact, "read", "harness"}} {
		spec.Tools = append(spec.Tools, toolSpec(f))
	}
	add(&event.RunStarted{Format: 1, Root: "r1", Spec: spec})
	add(&event.InputReceived{Kind: event.InputText, Tokens: message.Known(30), Parts: []message.Part{{Kind: message.Text, Text: "The total must never exceed 500 EUR."}}})
	for i := range 500 {
		call := fmt.Sprintf("call_%d", i)
		path := fmt.Sprintf("dir/file%d.txt", i%100)
		args := fmt.Sprintf(`{"path":%q,"x":%d}`, path, i)
		add(&event.ContextAssembled{Purpose: event.PurposeStep, Step: int64(i + 1), Tokens: int64(40 + i*240)})
		id := fmt.Sprintf("%d.0", seq)
		add(&event.ModelAnswered{ID: id, Finish: event.FinishToolCalls, Tokens: message.Known(40),
			Message: message.Message{Role: message.Assistant, Parts: []message.Part{{Kind: message.Text, Text: "I read the next file to see what it says of order A-10" + fmt.Sprint(i)}, {Kind: message.ToolCall, ID: call, Name: "read_file", Args: args}}}})
		add(&event.ReplyParsed{ID: id, Format: "native", Calls: []event.ParsedCall{{ID: call, Name: "read_file", Args: args}}})
		for _, d := range m.Next()[0].(*loop.Record).Data {
			add(d) // the verdict
		}
		run := m.Next()[0].(*loop.RunTool)
		add(&event.ToolStarted{ID: run.ID, Call: call, Tool: "read_file", Effect: event.Read, ArgsHash: run.ArgsHash, Attempt: 1})
		tokens := int64(200)
		if i == 499 {
			tokens = 20_000 // with this the mark is reached
		}
		text := fmt.Sprintf("order A-%d, total %d.50 EUR, due 2026-03-%02d, for Ada Berg\n", 1000+i, i*3, i%28+1) + strings.Repeat("a line of the file that says nothing of note\n", 12)
		add(&event.ToolFinished{ID: run.ID, Call: call, Tool: "read_file", Status: event.StatusSuccess, Tokens: message.Known(tokens),
			Parts: []message.Part{{Kind: message.Text, Text: text}}, Seen: []event.Seen{{Resource: path, Version: fmt.Sprint("v", i/200), From: 1, To: 13, Total: 13}}})
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		add(&event.TimerFired{ID: "none"}) // changes nothing, but what was decided is decided again
		next := m.Next()
		if len(next) != 1 {
			b.Fatalf("%d commands", len(next))
		}
	}
	b.StopTimer()
	b.Logf("decided: %.200s", describe(m.Next()[0].(*loop.Record).Data[0]))
}
