package event

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
)

// sampleRun returns the events of a run of so many steps, each with one read of
// a 3 KB file, chained.
func sampleRun(steps int) []Event {
	var file strings.Builder
	for i := 0; file.Len() < 3000; i++ {
		fmt.Fprintf(&file, "%4d\tif err := store.Append(ctx, batch); err != nil { return \"%d\" }\n", i, i)
	}
	var events []Event
	add := func(command string, d Data) {
		events = append(events, Event{Run: "order-desk-7f3a", Seq: int64(len(events) + 1), Time: 1_790_000_000_000 + int64(len(events)), Command: command, Data: d})
	}
	add("", &RunStarted{Format: Version, Root: "order-desk-7f3a", Spec: Spec{Agent: "order-desk", Model: "openai/gpt-5.1-mini",
		Tools: []ToolSpec{{Name: "read_file", Description: "Reads a file.", Schema: jsontext.Value(`{"type":"object","properties":{"path":{"type":"string"}}}`), Effect: Read}}}})
	add("", &InputReceived{Kind: InputText, Parts: []message.Part{{Kind: message.Text, Text: "Find where the journal is written."}}})
	for s := range int64(steps) {
		call, id := fmt.Sprintf("call_%d", s), fmt.Sprintf("%d.0", len(events))
		args := fmt.Sprintf(`{"path":"journal/sqlite/append_%d.go","from":1,"to":80}`, s)
		add("", &ContextAssembled{Purpose: PurposeStep, Step: s, Tokens: 1000 + 800*s, Budget: 180000, Method: "exact", Messages: 2 * s,
			Blocks: []BlockSize{{"contract", 180}, {"tools", 300}, {"conversation", 800 * s}}})
		add("", &ModelCalled{ID: id, Purpose: PurposeStep, Step: s, Attempt: 1, Model: "openai/gpt-5.1-mini", Encoder: "openai-chat/1", Kept: 2 * s, Added: 2, SHA256: Hash{1, 2, byte(s)}, Bytes: 3500 * s})
		add(id, &ModelAnswered{ID: id, Message: message.Message{Role: message.Assistant, Parts: []message.Part{
			{Kind: message.Text, Text: "The journal is appended to by the store, so I look at the next file of it."},
			{Kind: message.ToolCall, ID: call, Name: "read_file", Args: args},
		}}, Finish: FinishToolCalls, RawFinish: "tool_calls", Usage: message.Usage{Input: message.Known(1000), Output: message.Known(60)}, Model: "gpt-5.1-mini-2026-01", ResponseID: "chatcmpl-9a8b7c6d5e", Latency: 900, Tokens: message.Known(64)})
		add("", &ReplyParsed{ID: id, Format: "native", Calls: []ParsedCall{{ID: call, Name: "read_file", Args: args}}})
		add("", &CallJudged{Call: call, Tool: "read_file", Verdict: Allow, Rule: "effect:read", ArgsHash: Hash{3, byte(s)}})
		add("", &ToolStarted{ID: id + "t", Call: call, Tool: "read_file", Effect: Read, ArgsHash: Hash{3, byte(s)}, Attempt: 1})
		add(id+"t", &ToolFinished{ID: id + "t", Call: call, Tool: "read_file", Status: StatusSuccess, Parts: []message.Part{{Kind: message.Text, Text: file.String()}},
			Tokens: message.Known(800), Size: 3000, Shown: 3000, Seen: []Seen{{Resource: "journal/sqlite/append.go", Version: "3f2a", From: 1, To: 80, Total: 80}}, Latency: 2})
	}
	add("", &RunFinished{Reason: ReasonAnswered, OK: true, Answer: "In journal/sqlite/append.go."})
	chain(events)
	return events
}

// chain assigns the hashes, as a store does.
func chain(events []Event) {
	var prev Hash
	var buf []byte
	for i := range events {
		e := &events[i]
		buf = e.Data.AppendJSON(buf[:0])
		e.Prev = prev
		e.Hash = ComputeHash(prev, e.Seq, e.Time, e.Data.Type(), e.Command, buf)
		prev = e.Hash
	}
}

// The figure to hold: 1,000 steps, some 7,000 events of 5 MB, in about 20 ms.
func BenchmarkRun(b *testing.B) {
	events := sampleRun(1000)
	var lines, data [][]byte
	var size int64
	for i := range events {
		lines = append(lines, AppendEvent(nil, &events[i]))
		data = append(data, events[i].Data.AppendJSON(nil))
		size += int64(len(lines[i]))
	}
	bench := func(name string, f func(i int)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				for i := range events {
					f(i)
				}
			}
			b.ReportMetric(float64(len(events)), "events/op")
		})
	}
	buf := make([]byte, 0, 1<<16)
	bench("encode", func(i int) { buf = AppendEvent(buf[:0], &events[i]) })
	bench("encode+hash", func(i int) {
		buf = events[i].Data.AppendJSON(buf[:0])
		ComputeHash(events[i].Prev, events[i].Seq, events[i].Time, events[i].Data.Type(), events[i].Command, buf)
	})
	bench("decode line", func(i int) {
		if _, err := DecodeEvent(lines[i]); err != nil {
			b.Fatal(err)
		}
	})
	bench("decode data", func(i int) {
		if _, err := DecodeData(events[i].Data.Type(), data[i]); err != nil {
			b.Fatal(err)
		}
	})
	bench("verify line", func(i int) {
		r, err := DecodeRecord(lines[i])
		if err != nil || r.ComputeHash() != r.Hash {
			b.Fatal(err)
		}
	})
}
