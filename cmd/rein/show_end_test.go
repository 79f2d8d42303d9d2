package main

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/sqlite"
	"rein.example/rein/loop"
	"rein.example/rein/message"
)

// Where a run stands as its events say it to the pages is what the machine says, with
// the texts of its results or without them.
func TestEndingIsTheMachines(t *testing.T) {
	for name, play := range map[string]func(t *testing.T, b *box){
		"tools and faults": func(t *testing.T, b *box) { clumsyRun(t, b) },
		"an approval": func(t *testing.T, b *box) {
			var got resultObject
			b.decode(&got, "run", "-f", asking(t, b), "What time is it?")
			b.ok("approve", "last", got.Pending[0].Call)
			b.ok("resume", "last")
		},
		"a question": func(t *testing.T, b *box) {
			b.rein("run", "-f", curiousAgent(b), "--approve", "allow", "Paint the door.")
			b.ok("resume", "last", "--input", "blue, please")
		},
		"a conversation": func(_ *testing.T, b *box) { b.chat("Which order is late?\nWhy?\n", "-f", b.agent(talk, "")) },
		"an agent":       func(_ *testing.T, b *box) { b.rein("run", "-f", withClerk(b), "Write it down.") },
		"the demo":       func(_ *testing.T, b *box) { b.ok("demo", "--json") },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			play(t, b)
			store, err := sqlite.Open(t.Context(), b.storeFile(), &sqlite.Options{ReadOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			for _, r := range b.runs() {
				compareEndings(t, store, r.Run)
			}
		})
	}
}

// compareEndings holds what is made of the events of a run against its machine, after
// each of them.
func compareEndings(t *testing.T, store journal.Store, run string) {
	t.Helper()
	full, bare, end := loop.New(run), loop.New(run), &ending{args: map[string]string{}}
	stops := 0
	for e, err := range store.Read(t.Context(), run, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if err := full.Apply(&e); err != nil {
			t.Fatal(err)
		}
		if err := bare.Apply(slim(&e)); err != nil {
			t.Fatal(err)
		}
		end.add(&e)
		want := full.Status()
		if got := bare.Status(); !reflect.DeepEqual(got, want) {
			t.Fatalf("event %d, without the texts: %+v, with them %+v", e.Seq, got, want)
		}
		if want.Status != "paused" && want.Status != "finished" {
			continue // what is asked is asked, on record, when a run pauses
		}
		stops++
		v := shown{Run: run}
		end.tell(&v)
		var below []string
		for _, b := range want.Below {
			below = append(below, b.Run)
		}
		var got []string
		for _, b := range end.below {
			got = append(got, b.Run)
		}
		if v.Status != want.Status || v.Reason != string(want.Reason)+string(want.Cause) || v.OK != (want.OK && want.Status == "finished") || v.Answer != want.Answer || v.Detail != want.Detail ||
			fmt.Sprint(v.open) != fmt.Sprint(want.Pending) || !reflect.DeepEqual(got, below) || end.last != max(end.last, want.Steps) {
			t.Errorf("event %d: %s %s %q, open %v, below %v\nthe machine: %+v", e.Seq, v.Status, v.Reason, v.Answer, v.open, got, want)
		}
	}
	if stops == 0 {
		t.Errorf("run %s never stops", run)
	}
}

// tape is a store whose one run has events that are made while they are read.
type tape struct {
	journal.Store
	events int64
	at     func(seq int64) event.Data
}

func (s tape) Read(_ context.Context, run string, from int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for seq := from; seq <= s.events; seq++ {
			if !yield(event.Event{Run: run, Seq: seq, Time: seq, Data: s.at(seq)}, nil) {
				return
			}
		}
	}
}

// A run whose results and thoughts are 200 MB can be shown whole: of their texts
// nothing is kept.
func TestWholeRunIsNotHeld(t *testing.T) {
	const steps, size = 2_000, 50_000
	blob := func(step int64) string { return strings.Repeat(string(rune('a'+step%26)), size) }
	s := tape{events: 1 + 7*steps + 1, at: func(seq int64) event.Data {
		if seq == 1 {
			return &event.RunStarted{Format: event.Version, Spec: event.Spec{Model: "p/m", Tools: []event.ToolSpec{{Name: "read", Effect: event.Read, Schema: []byte(`{"type":"object"}`)}},
				Permissions: []event.Permission{{Verdict: event.Allow, Match: "*"}}}}
		}
		step := (seq-2)/7 + 1
		if step > steps {
			return &event.RunFinished{Reason: event.ReasonAnswered, OK: true, Answer: "read"}
		}
		id, call := fmt.Sprint("m", step), fmt.Sprint("c", step)
		args := fmt.Sprintf(`{"n":%d}`, step)
		switch (seq - 2) % 7 {
		case 0:
			return &event.ContextAssembled{Purpose: event.PurposeStep, Step: step}
		case 1:
			return &event.ModelCalled{ID: id, Purpose: event.PurposeStep, Step: step, Attempt: 1, Model: "p/m"}
		case 2:
			return &event.ModelAnswered{ID: id, Finish: event.FinishToolCalls, Message: message.Message{Role: message.Assistant, Parts: []message.Part{
				{Kind: message.Reasoning, Text: blob(step)}, {Kind: message.ToolCall, ID: call, Name: "read", Args: args}}}}
		case 3:
			return &event.ReplyParsed{ID: id, Format: "native", Calls: []event.ParsedCall{{ID: call, Name: "read", Args: args}}}
		case 4:
			return &event.CallJudged{Call: call, Tool: "read", Verdict: event.Allow, ArgsHash: event.Hash{byte(step), byte(step >> 8), 1}}
		case 5:
			return &event.ToolStarted{ID: "t" + id, Call: call, Tool: "read", Effect: event.Read, Attempt: 1}
		}
		return &event.ToolFinished{ID: "t" + id, Call: call, Tool: "read", Status: event.StatusSuccess, Size: size, Shown: size,
			Parts: []message.Part{{Kind: message.Text, Text: blob(step)}}}
	}}
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, most := heap(), int64(0)
	counted := s
	counted.at = func(seq int64) event.Data {
		if seq%(7*500) == 0 {
			most = max(most, heap()-before)
		}
		return s.at(seq)
	}
	v, _, err := showWhole(t.Context(), counted, "r", wantedSteps{})
	if err != nil {
		t.Fatal(err)
	}
	most = max(most, heap()-before)
	if len(v.Rows) != 2*steps || v.Status != "finished" || v.Answer != "read" {
		t.Errorf("%d rows, %s, %q", len(v.Rows), v.Status, v.Answer)
	}
	if most > 40<<20 {
		t.Errorf("%d MB of the run are held", most>>20)
	}
}
