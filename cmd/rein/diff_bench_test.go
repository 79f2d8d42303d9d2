package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/sqlite"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/openai"
	"rein.example/rein/tool"
)

// longRuns makes two runs of so many steps in a store of SQLite, with results of 3 KB,
// and returns their ids. What the tool gives differs at the steps that differs says,
// and the runs part at the last one.
func longRuns(b *testing.B, path string, steps int, differs func(step int) bool) [2]string {
	b.Helper()
	ctx := context.Background()
	store, err := sqlite.Open(ctx, path, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	var runs [2]string
	for i := range runs {
		runs[i] = longRun(b, store, steps, func(step int) string {
			if differs(step) {
				return fmt.Sprintf("%d of run %d", step, i)
			}
			return fmt.Sprint(step)
		}, fmt.Sprintf("The %d. run has read all.", i+1))
	}
	return runs
}

func longRun(b *testing.B, store journal.Store, steps int, gives func(step int) string, answer string) string {
	b.Helper()
	type page struct {
		N int `json:"n"`
	}
	a, err := rein.New(&pageReader{pages: steps - 1, answer: answer}, &rein.Options{Store: store, Limits: &event.Limits{Steps: int64(2 * steps)},
		Tools: []tool.Tool{tool.New("page", tool.Doc{What: "Gives a page."}, func(_ context.Context, in page) (string, error) {
			return "page " + gives(in.N) + "\n" + strings.Repeat(fmt.Sprintf("a line of page %d that says something\n", in.N), 3000/38), nil
		}, &tool.Options{Effect: event.Read})}})
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	run := a.Start(context.Background(), "Read all pages.")
	res, err := run.Result()
	if err != nil || res.Steps != int64(steps) {
		b.Fatalf("%d steps, %s %s, %v", res.Steps, res.Reason, res.Detail, err)
	}
	return run.ID()
}

// pageReader is a model that asks for page after page and then answers. It does not
// look at what it is sent, which a script does, each time the whole of it.
type pageReader struct {
	pages, page int
	answer      string
}

func (m *pageReader) Info() model.Info { return model.Info{Provider: "p", Model: "m"} }

func (m *pageReader) Encoder() model.Encoder {
	e, err := openai.NewEncoder("openai", openai.Quirks{})
	if err != nil {
		panic(err)
	}
	return e
}

func (m *pageReader) Call(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
	if m.page++; m.page > m.pages {
		return &model.Reply{Message: message.NewText(message.Assistant, m.answer), Finish: event.FinishStop}, nil
	}
	return &model.Reply{Finish: event.FinishToolCalls, Message: message.Message{Role: message.Assistant, Parts: []message.Part{
		{Kind: message.ToolCall, ID: fmt.Sprint("call-", m.page), Name: "page", Args: fmt.Sprintf(`{"n":%d}`, m.page)}}}}, nil
}

// BenchmarkDiff compares two runs in SQLite as the command does, from opening the store
// to the text. heap-MB is how much more was in use at the end than before, garbage
// included: an upper bound of what it takes.
func BenchmarkDiff(b *testing.B) {
	for _, tc := range []struct {
		name    string
		steps   int
		differs func(int) bool
	}{
		{"steps=1000/alike", 1000, func(int) bool { return false }},
		{"steps=1000/half", 1000, func(step int) bool { return step%2 == 0 }},
		{"steps=1000/nothing", 1000, func(int) bool { return true }},
		{"steps=10000/half", 10_000, func(step int) bool { return step%2 == 0 }},
	} {
		b.Run(tc.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "rein.db")
			runs := longRuns(b, path, tc.steps, tc.differs)
			var most uint64
			for b.Loop() {
				runtime.GC()
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				var out, diag bytes.Buffer
				a := &app{self: "rein", in: strings.NewReader(""), out: &out, err: &diag, env: func(string) string { return "" }}
				if code := a.main(context.Background(), []string{"diff", runs[0], runs[1], "--db", path}); code != 0 || !strings.Contains(out.String(), "They part") {
					b.Fatalf("exit %d\n%s%s", code, out.String(), diag.String())
				}
				runtime.ReadMemStats(&after)
				most = max(most, after.Sys-before.Sys, after.HeapInuse-min(after.HeapInuse, before.HeapInuse))
			}
			b.ReportMetric(float64(most)/1e6, "heap-MB")
		})
	}
}
