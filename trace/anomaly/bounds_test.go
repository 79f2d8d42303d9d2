package anomaly_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/trace/anomaly"
)

// long folds a run of so many steps, in which nearly everything is new: tools, calls,
// files, ids, amounts; with half of the calls never answered.
func long(f *anomaly.Fold, steps int) {
	seq := int64(0)
	add := func(d event.Data) {
		seq++
		f.Add(&event.Event{Run: "r1", Seq: seq, Time: 1000 * seq, Data: d})
	}
	add(&event.RunStarted{})
	for i := range steps {
		id := fmt.Sprint(i, ".0")
		name := fmt.Sprint("update_thing", i)
		add(&event.ModelCalled{ID: id, Step: int64(i) + 1, Attempt: 1, Bytes: int64(1000 + i)})
		add(&event.ModelAnswered{ID: id, Finish: event.FinishLength, Latency: int64(i), Usage: message.Usage{Input: message.Known(int64(100 * i)), Cached: message.Known(int64(i % 3 * 5000))},
			Message: message.NewText(message.Assistant, fmt.Sprintf("I have deleted AB%d and written f%d.md for $%d.5", i, i, i))})
		parsed := &event.ReplyParsed{ID: id, Format: "native"}
		if i%2 == 0 {
			for k := range 2 {
				parsed.Calls = append(parsed.Calls, event.ParsedCall{ID: fmt.Sprint(i, "-", k), Name: name, Args: fmt.Sprintf(`{"thing_id":"x%d","amount":%d}`, i, 7*i+1)})
			}
		}
		add(parsed)
		for k, c := range parsed.Calls {
			hash := event.Hash{byte(i), byte(i >> 8), byte(i >> 16), 1}
			add(&event.CallJudged{Call: c.ID, Tool: name, Verdict: event.Allow, ArgsHash: hash})
			add(&event.ToolStarted{ID: c.ID, Call: c.ID, Tool: name, ArgsHash: hash, Attempt: 1})
			if k == 0 {
				add(&event.ToolFinished{ID: c.ID, Call: c.ID, Tool: name, Status: event.StatusSuccess, Size: 9000, Shown: 10, Full: &message.Ref{},
					Parts: []message.Part{{Kind: message.Text, Text: strings.Repeat(fmt.Sprint("id", i, " "), 20)}}, Seen: []event.Seen{{Resource: fmt.Sprint("f", i), Wrote: true, Total: 1}}})
			}
		}
	}
}

// What a Fold remembers does not grow with the run.
func TestMemoryIsBounded(t *testing.T) {
	held := func(steps int) int64 {
		var before, after runtime.MemStats
		var f anomaly.Fold
		runtime.GC()
		runtime.ReadMemStats(&before)
		long(&f, steps)
		runtime.GC()
		runtime.ReadMemStats(&after)
		n := len(f.Found()) // keeps f until here
		if most := 60 * len(anomaly.Kinds()); n > most+2000 {
			t.Errorf("%d anomalies of %d steps", n, steps)
		}
		return int64(after.HeapAlloc) - int64(before.HeapAlloc)
	}
	const most = 24 << 20
	if n := held(20_000); n > most {
		t.Errorf("after 20,000 steps %d bytes are held, and %d may be", n, most)
	}
}

// Of what comes very often the first are listed, and it is said how many there are.
func TestManyOfAKind(t *testing.T) {
	var f anomaly.Fold
	for i := range int64(70) {
		f.Add(&event.Event{Run: "r1", Seq: 2*i + 1, Data: &event.ModelCalled{ID: "m", Step: i + 1, Attempt: 1}})
		f.Add(&event.Event{Run: "r1", Seq: 2*i + 2, Data: &event.ModelAnswered{ID: "m", Finish: event.FinishStop, Usage: message.Usage{Output: message.Known(5), Reasoning: message.Known(6)}}})
	}
	found := f.Found()
	if len(found) != 50 || !strings.HasSuffix(found[49].Text, " (and 20 more of this kind, which are not listed)") || strings.Contains(found[48].Text, "not listed") {
		t.Errorf("%d, the last %+v", len(found), found[len(found)-1])
	}
}

func BenchmarkFold(b *testing.B) {
	for b.Loop() {
		var f anomaly.Fold
		long(&f, 10_000)
		f.Found()
	}
}
