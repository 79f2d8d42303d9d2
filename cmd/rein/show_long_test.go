package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/journal/sqlite"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/openai"
	counting "rein.example/rein/tokens"
	"rein.example/rein/tool"
)

// The long run of BenchmarkShow: so many steps, each with a call, of which every
// tenth gives a body that goes out of line: 200 MB of them in all.
const (
	longSteps = 10_000
	longBody  = 200_000
	shortBody = 2_000
)

// auditor is a model that reads one file after the other, so many times.
type auditor struct {
	encoder     model.Encoder
	steps, done int
}

func (m *auditor) Info() model.Info {
	return model.Info{Provider: "openai", Model: "reader", Window: 32_000, Price: &model.Price{Input: 250_000, Cached: 25_000, CacheWrite: 250_000, Output: 2_000_000}}
}

func (m *auditor) Encoder() model.Encoder { return m.encoder }

// Call asks for the next file, or answers.
func (m *auditor) Call(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	in := int64(0)
	for _, piece := range req.Body {
		in += int64(len(piece)) / 4
	}
	r := &model.Reply{Message: message.Message{Role: message.Assistant}, Finish: event.FinishStop, Model: "reader-1",
		Usage: message.Usage{Input: message.Known(in), Cached: message.Known(in * 9 / 10), Output: message.Known(40), Reasoning: message.Known(10)}}
	if bytes.Contains(bytes.Join(req.Body, nil), []byte("Do not call tools.")) { // a summary is asked for
		r.Message.Parts = []message.Part{{Kind: message.Text, Text: "The files up to here were read, and nothing was odd."}}
		return r, nil
	}
	if m.done++; m.done >= m.steps {
		r.Message.Parts = []message.Part{{Kind: message.Text, Text: "All files are read."}}
		return r, nil
	}
	r.Finish = event.FinishToolCalls
	r.Message.Parts = []message.Part{{Kind: message.Text, Text: fmt.Sprintf("File %d is next.", m.done)},
		{Kind: message.ToolCall, ID: fmt.Sprintf("call_%d", m.done), Name: "read_log", Args: fmt.Sprintf(`{"number":%d}`, m.done)}}
	return r, nil
}

// rough counts a token for each 4 bytes: counting is measured elsewhere.
type rough struct{}

func (rough) Count(text string) int   { return (len(text) + 3) / 4 }
func (rough) Method() counting.Method { return counting.Estimated }

// orders returns about n bytes of lines that differ from call to call.
func orders(number, n int) string {
	var out strings.Builder
	for i := 0; out.Len() < n; i++ {
		x := (number*7919 + i*104729) % 1_000_003
		fmt.Fprintf(&out, "%08d order %06d of customer %04d: %d pieces, %d.%02d EUR, bin %d\n", i, x, x%9973, x%17+1, x%251, x%100, x*31%99991)
	}
	return out.String()
}

// auditRun carries out a run of so many steps in a store at path, and returns its id.
func auditRun(tb testing.TB, path string, steps int) string {
	tb.Helper()
	ctx := context.Background()
	store, err := sqlite.Open(ctx, path, nil)
	if err != nil {
		tb.Fatal(err)
	}
	type in struct {
		Number int `json:"number" jsonschema:"the file's number, from 1"`
	}
	read := tool.New("read_log", tool.Doc{What: "Returns a file of the log.", When: "Use it for a file by its number. Not for searching.", Returns: "Its lines."},
		func(_ context.Context, in in) (string, error) {
			if in.Number%10 == 0 {
				return orders(in.Number, longBody), nil
			}
			return orders(in.Number, shortBody), nil
		}, &tool.Options{Effect: event.Read, ResultTokens: 500})
	encoder, err := openai.NewEncoder("openai", openai.Quirks{})
	if err != nil {
		tb.Fatal(err)
	}
	agent, err := rein.New(&auditor{encoder: encoder, steps: steps}, &rein.Options{Name: "auditor", Tools: []tool.Tool{read}, Store: store, Counter: rough{},
		Limits: &event.Limits{Steps: int64(steps) + 1}})
	if err != nil {
		tb.Fatal(err)
	}
	r, err := agent.Run(ctx, "Read all files of the log.")
	if err != nil {
		tb.Fatal(err)
	}
	if r.Steps != int64(steps) || !r.OK {
		tb.Fatalf("the run has ended with %s after %d steps: %s", r.Reason, r.Steps, r.Detail)
	}
	if err := agent.Close(); err != nil {
		tb.Fatal(err)
	}
	if err := store.Close(); err != nil {
		tb.Fatal(err)
	}
	return r.Run
}
