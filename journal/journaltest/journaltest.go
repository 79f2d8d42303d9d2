// Package journaltest answers: does a store of journals keep what the contract
// promises?
//
// [Run] is the suite that every [journal.Store] passes. What only some stores
// can do, or only a test of the store itself can cause, such as damage, comes in
// through [Options]; where a function is missing, the tests that need it are
// skipped and say so.
//
// [Record] makes runs for tests of those who read journals.
package journaltest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/message"
)

// Options are a store's special powers and ways to hurt it. Nil functions skip
// what needs them.
type Options struct {
	// Outside opens the data of s again, as another process would.
	Outside func(t *testing.T, s journal.Store) journal.Store
	// Reopen closes s and opens its data again.
	Reopen func(t *testing.T, s journal.Store) journal.Store
	// Abandon stops the renewal of a lease, as if its process hung. The store is
	// then used in a testing/synctest bubble.
	Abandon func(t *testing.T, s journal.Store, l *journal.Lease)
	// Damage spoils one stored event.
	Damage func(t *testing.T, s journal.Store, run string, seq int64, how Damage)
	// DamageBody spoils a stored body: removes it, or changes a byte.
	DamageBody func(t *testing.T, s journal.Store, ref message.Ref, remove bool)
}

// Damage is a way to spoil an event.
type Damage string

// The ways.
const (
	// Changed replaces the data by other JSON.
	Changed Damage = "changed"
	// Halved cuts the data in the middle.
	Halved Damage = "halved"
	// Removed takes the event away.
	Removed Damage = "removed"
)

// Run runs the suite. Each test gets a store of its own from open, which must
// close it when the test ends.
func Run(t *testing.T, open func(t *testing.T) journal.Store, opts *Options) {
	if opts == nil {
		opts = &Options{}
	}
	s := &suite{open: open, opts: opts}
	for _, test := range []struct {
		name string
		run  func(t *testing.T)
	}{
		{"Append/Order", s.order},
		{"Append/Position", s.position},
		{"Append/Whole", s.whole},
		{"Append/Outcomes", s.outcomes},
		{"Append/Mixed", s.mixed},
		{"Append/Async", s.async},
		{"Append/EveryType", s.everyType},
		{"Append/Reopen", s.reopen},
		{"Runs/Create", s.create},
		{"Runs/NotFound", s.notFound},
		{"Runs/Resolve", s.resolve},
		{"Runs/Summaries", s.summaries},
		{"Leases/Fence", s.fence},
		{"Leases/Held", s.held},
		{"Leases/Dead", s.dead},
		{"Leases/Leave", s.leave},
		{"Leases/Renewed", s.renewed},
		{"Leases/Expired", s.expired},
		{"Post/Anyone", s.post},
		{"Post/Conflict", s.postConflict},
		{"Post/Watch", s.watch},
		{"Post/Refused", s.postRefused},
		{"Read/From", s.from},
		{"Read/Snapshot", s.snapshot},
		{"Read/Changed", s.changed},
		{"Read/Torn", s.torn},
		{"Read/Cut", s.cut},
		{"Read/CutRefused", s.cutRefused},
		{"Bodies/Kept", s.bodies},
		{"Bodies/Refused", s.bodyErrors},
		{"Bodies/LongEvents", s.longEvents},
		{"Fork/Shares", s.forkShares},
		{"Fork/Outcomes", s.forkOutcomes},
		{"Fork/Again", s.forkAgain},
		{"Fork/Refused", s.forkRefused},
		{"Fork/Family", s.forkFamily},
		{"Archive/Exact", s.archive},
		{"Archive/Shared", s.archiveShared},
		{"Archive/Refused", s.archiveRefused},
		{"Concurrent/Runs", s.manyRuns},
		{"Concurrent/OneRun", s.oneRun},
		{"Cancelled", s.cancelled},
		{"Closed", s.closed},
	} {
		t.Run(test.name, test.run)
	}
}

type suite struct {
	open func(t *testing.T) journal.Store
	opts *Options
}

// outside returns another handle to the store, or the same where there is none.
func (s *suite) outside(t *testing.T, st journal.Store) journal.Store {
	if s.opts.Outside == nil {
		return st
	}
	return s.opts.Outside(t, st)
}

// need skips the test if the store's test did not say how to do something.
func need(t *testing.T, have bool, what string) {
	t.Helper()
	if !have {
		t.Skipf("this store's test has no way to %s", what)
	}
}

// start makes a store with a lease and an empty run r1.
func (s *suite) start(t *testing.T) (journal.Store, *journal.Lease) {
	t.Helper()
	st := s.open(t)
	l := join(t, st, "test")
	must(t, st.Create(t.Context(), l, "r1"))
	return st, l
}

func join(t *testing.T, st journal.Store, name string) *journal.Lease {
	t.Helper()
	l, err := st.Join(t.Context(), journal.ThisProcess(name))
	must(t, err)
	return l
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// note returns an entry that says text: the simplest decision.
func note(text string) journal.Entry {
	return journal.Entry{Time: 1700000000000, Data: &event.NoticeAdded{Kind: "test", Text: text}}
}

func notes(texts ...string) []journal.Entry {
	var all []journal.Entry
	for _, text := range texts {
		all = append(all, note(text))
	}
	return all
}

// outcome returns the outcome of a command.
func outcome(command, call string) journal.Entry {
	return journal.Entry{Time: 1700000000001, Command: command, Data: &event.ToolFinished{
		ID: command, Call: call, Tool: "read_file", Status: event.StatusSuccess,
		Parts: []message.Part{{Kind: message.Text, Text: "the result of " + call}},
	}}
}

// input returns an entry that may be posted.
func input(text string) journal.Entry {
	return journal.Entry{Time: 1700000000002, Data: &event.InputReceived{
		Kind: event.InputText, Parts: []message.Part{{Kind: message.Text, Text: text}},
	}}
}

// append adds a batch that must succeed.
func appendTo(t *testing.T, st journal.Store, l *journal.Lease, run string, after int64, entries ...journal.Entry) journal.Head {
	t.Helper()
	h, err := st.Append(t.Context(), l, journal.Batch{Run: run, After: after, Entries: entries})
	must(t, err)
	return h
}

// read returns the events from a sequence on, which must be sound and in order.
func read(t *testing.T, st journal.Store, run string, from int64) []event.Event {
	t.Helper()
	all, err := readAll(t, st, run, from)
	must(t, err)
	return all
}

// readAll returns the events up to the error, checking that they hang together.
func readAll(t *testing.T, st journal.Store, run string, from int64) ([]event.Event, error) {
	t.Helper()
	var all []event.Event
	var chain event.Chain
	for e, err := range st.Read(t.Context(), run, from) {
		if err != nil {
			return all, err
		}
		if len(all) == 0 && from > 1 {
			chain = event.Chain{Seq: e.Seq - 1, Hash: e.Prev}
		}
		if e.Run != run {
			t.Errorf("event %d is of run %s, not %s", e.Seq, e.Run, run)
		}
		if err := chain.Add(&event.Record{
			Seq: e.Seq, Time: e.Time, Type: e.Data.Type(), Command: e.Command,
			Prev: e.Prev, Hash: e.Hash, Data: e.Data.AppendJSON(nil),
		}); err != nil {
			t.Errorf("run %s: %v", run, err)
		}
		all = append(all, e)
	}
	return all, nil
}

// says checks that a run's events are the given ones, by what they say.
func says(t *testing.T, st journal.Store, run string, want ...journal.Entry) {
	t.Helper()
	got := read(t, st, run, 1)
	if len(got) != len(want) {
		t.Fatalf("run %s has %d events, want %d", run, len(got), len(want))
	}
	for i := range got {
		g, w := line(got[i].Time, got[i].Command, got[i].Data), line(want[i].Time, want[i].Command, want[i].Data)
		if !bytes.Equal(g, w) {
			t.Errorf("event %d of run %s:\n got %.300s\nwant %.300s", i+1, run, g, w)
		}
	}
	h, err := st.Head(t.Context(), run)
	must(t, err)
	if h.Seq != int64(len(want)) {
		t.Errorf("run %s ends at %d, want %d", run, h.Seq, len(want))
	}
	if len(got) > 0 && got[len(got)-1].Hash != h.Hash {
		t.Errorf("run %s: the head's hash is not the last event's", run)
	}
}

func line(time int64, command string, d event.Data) []byte {
	return d.AppendJSON(fmt.Appendf(nil, "%d %q %s ", time, command, d.Type()))
}

// Step returns the batches of one step with one tool call, as a run of the
// engine appends them: what came back and what it leads to, then what the tool
// said and what is asked next. Result is the tool's result. The events are of
// the size that they usually have.
func Step(n int64, result string) (first, second []journal.Entry) {
	ms := 1700000000000 + 1000*n
	id := func(k int64) string { return fmt.Sprintf("%d.%d", n*7+k, k) }
	call := fmt.Sprintf("call_%08x", n)
	args := fmt.Sprintf(`{"path":"orders/2024-%04d.json","from":1,"to":200}`, n)
	var hash event.Hash
	for i := range hash {
		hash[i] = byte(n >> (8 * (i % 8)))
	}
	at := func(k int64, command string, d event.Data) journal.Entry {
		return journal.Entry{Time: ms + k, Command: command, Data: d}
	}
	first = []journal.Entry{
		at(0, id(0), &event.ModelAnswered{
			ID: id(0),
			Message: message.Message{Role: message.Assistant, Parts: []message.Part{
				{Kind: message.Text, Text: "I will look at the order before I change it."},
				{Kind: message.ToolCall, ID: call, Name: "read_file", Args: args},
			}},
			Finish: event.FinishToolCalls, RawFinish: "tool_calls", Model: "small-model-2025-01-01",
			Usage:   message.Usage{Input: message.Known(1200 + n*90), Cached: message.Known(1100 + n*90), Output: message.Known(45)},
			Latency: 812, First: message.Known(301), Tokens: message.Known(61),
		}),
		at(1, "", &event.ReplyParsed{ID: id(0), Format: "native", Calls: []event.ParsedCall{{ID: call, Name: "read_file", Args: args}}}),
		at(2, "", &event.CallJudged{Call: call, Tool: "read_file", Verdict: event.Allow, Rule: "allow effect:read", ArgsHash: hash}),
		at(3, "", &event.ToolStarted{ID: id(3), Call: call, Tool: "read_file", Effect: event.Read, ArgsHash: hash, Attempt: 1}),
	}
	second = []journal.Entry{
		at(4, id(3), &event.ToolFinished{
			ID: id(3), Call: call, Tool: "read_file", Status: event.StatusSuccess,
			Parts:  []message.Part{{Kind: message.Text, Text: result}},
			Tokens: message.Known(int64(len(result) / 4)), Size: int64(len(result)), Shown: int64(len(result)), Latency: 3,
			Seen: []event.Seen{{Resource: fmt.Sprintf("orders/2024-%04d.json", n), Version: hash.String()[:16], From: 1, To: 80, Total: 80}},
		}),
		at(5, "", &event.ContextAssembled{
			Purpose: event.PurposeStep, Step: n + 1, Tokens: 1290 + n*90, Budget: 117000, Method: "exact", Messages: 2*n + 3,
			Blocks: []event.BlockSize{{Name: "contract", Tokens: 180}, {Name: "tools", Tokens: 640}, {Name: "turns", Tokens: 470 + n*90}},
		}),
		at(6, "", &event.ModelCalled{
			ID: id(7), Purpose: event.PurposeStep, Step: n + 1, Attempt: 1, Model: "openai/small-model", Encoder: "openai-chat/1",
			Kept: 2*n + 1, Added: 2, SHA256: hash, Bytes: 8000 + 350*n,
		}),
	}
	return first, second
}

// Started returns the entry that opens a journal.
func Started(agent string) journal.Entry {
	return journal.Entry{Time: 1700000000000, Data: &event.RunStarted{
		Format: event.Version, Root: "r1",
		Spec: event.Spec{Agent: agent, Model: "openai/small-model", Submit: jsontext.Value(`{"type":"object"}`)},
	}}
}
