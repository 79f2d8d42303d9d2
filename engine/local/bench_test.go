package local_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/engine"
	"rein.example/rein/engine/local"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/memory"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/tokens"
	"rein.example/rein/tool"
)

// benchModel calls a tool n times and then answers. It looks at no body, so
// that what is measured is the harness.
type benchModel struct {
	fakeEncoder
	n     int
	calls int
	ids   []string
}

func (m *benchModel) Info() model.Info       { return model.Info{Provider: "fake", Model: "m"} }
func (m *benchModel) Encoder() model.Encoder { return m.fakeEncoder }

func (m *benchModel) Call(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
	r := &model.Reply{Finish: event.FinishToolCalls, Usage: message.Usage{Input: message.Known(10), Output: message.Known(5)}}
	r.Message.Role = message.Assistant
	if m.calls == m.n {
		r.Finish, r.Message.Parts = event.FinishStop, []message.Part{{Kind: message.Text, Text: "done"}}
		return r, nil
	}
	r.Message.Parts = []message.Part{{Kind: message.ToolCall, ID: m.ids[m.calls], Name: "work", Args: `{"x":"` + m.ids[m.calls] + `"}`}}
	m.calls++
	return r, nil
}

// flat counts a token for each 4 bytes: what counting costs is measured where
// it is implemented.
type flat struct{}

// benchRuns carries runs of so many steps out until b.N steps are done.
func benchRuns(b *testing.B, open func() journal.Store, steps int, effect event.Effect) {
	result := tool.Text("a short result")
	work := &fakeTool{tool.Definition{Name: "work", Effect: effect, Timeout: 10 * time.Second,
		Schema: jsontext.Value(`{"type":"object","properties":{"x":{"type":"string"}}}`)},
		func(context.Context, *tool.Call) (*tool.Result, error) { return result, nil }}
	tools, err := tool.NewRegistry(work)
	if err != nil {
		b.Fatal(err)
	}
	spec := &event.Spec{Model: "fake/m", Tools: tools.Specs(), Permissions: []event.Permission{{Verdict: event.Allow, Match: "*"}}}
	ids := make([]string, steps)
	for i := range ids {
		ids[i] = fmt.Sprintf("call_%06d", i)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i += steps {
		n := min(steps, b.N-i)
		m := &benchModel{n: n, ids: ids}
		e, err := local.New(local.Options{Store: open(), Counter: flat{}})
		if err != nil {
			b.Fatal(err)
		}
		r, err := e.Start(context.Background(), &engine.Job{Run: fmt.Sprint("run", i), Spec: spec, Tools: tools,
			Input: []message.Part{{Kind: message.Text, Text: "go"}}, Model: func(string) (model.Client, error) { return m, nil }})
		if err != nil || !r.OK || r.ToolCalls != int64(n) {
			b.Fatalf("%+v %v", r, err)
		}
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStep is one step — a model's reply with one call of a reading tool,
// its result — with journal, goroutine and deadline, in memory. An operation is
// a step; it must cost the same in a long run.
func BenchmarkStep(b *testing.B) {
	for _, steps := range []int{100, 1000} {
		b.Run(fmt.Sprint(steps), func(b *testing.B) {
			benchRuns(b, func() journal.Store { return memory.New() }, steps, event.Read)
		})
	}
}

func (flat) Count(text string) int { return (len(text) + 3) / 4 }
func (flat) Method() tokens.Method { return tokens.Estimated }

// BenchmarkStepSQLite is the same with every batch synced to disk: one batch for
// a step that reads, two for one that writes. disk/op is what the disk needs for
// one such sync, measured beside it.
func BenchmarkStepSQLite(b *testing.B) {
	for _, effect := range []event.Effect{event.Read, event.Once} {
		b.Run(string(effect), func(b *testing.B) {
			dir := b.TempDir()
			sync := diskSync(b, dir)
			store := onDisk(b, filepath.Join(dir, "rein.db"))
			benchRuns(b, func() journal.Store { return store }, 100, effect)
			b.ReportMetric(float64(sync.Nanoseconds()), "disk-ns/sync")
		})
	}
}

// diskSync returns what writing 4 KiB and syncing takes, the middle of many.
func diskSync(b *testing.B, dir string) time.Duration {
	f, err := os.Create(filepath.Join(dir, "probe"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	page := make([]byte, 4096)
	var all []time.Duration
	for range 51 {
		begun := time.Now()
		if _, err := f.Write(page); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		all = append(all, time.Since(begun))
	}
	slices.Sort(all)
	return all[len(all)/2]
}
