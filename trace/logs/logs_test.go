package logs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/internal/golden"
	"rein.example/rein/journal"
	"rein.example/rein/journal/journaltest"
	"rein.example/rein/journal/memory"
	"rein.example/rein/message"
	"rein.example/rein/trace/logs"
)

var _ rein.Observer = (*logs.Observer)(nil)

var update = flag.Bool("update", false, "rewrite testdata from what the code does now")

// run is a run in which most things happen.
func run() []event.Data {
	used := message.Usage{Input: message.Known(1200), Cached: message.Known(1000), Output: message.Known(30)}
	return []event.Data{
		&event.RunStarted{Root: "r1", Spec: event.Spec{Agent: "desk", Model: "a/b"}},
		&event.InputReceived{Kind: event.InputText, Parts: []message.Part{{Kind: message.Text, Text: "Where is A-1042?"}}},
		&event.ContextAssembled{Purpose: event.PurposeStep, Step: 1, Tokens: 1200, Budget: 8000, Messages: 1},
		&event.ModelCalled{ID: "3.0", Purpose: event.PurposeStep, Step: 1, Attempt: 1, Model: "a/b", Bytes: 4000},
		&event.ModelFailed{ID: "3.0", Class: event.ClassRate, Status: 429, RetryAfter: message.Known(1000), Latency: 12, Message: "you have asked: Where is A-1042?"},
		&event.ModelCalled{ID: "5.0", Purpose: event.PurposeStep, Step: 1, Attempt: 2, Model: "a/b", Bytes: 4000},
		&event.ModelAnswered{ID: "5.0", Finish: event.FinishToolCalls, Latency: 800, Usage: used, Model: "b-2026"},
		&event.ReplyParsed{ID: "5.0", Format: "native", Calls: []event.ParsedCall{{ID: "c1", Name: "find_order", Args: `{"id":"A-1042"}`}}},
		&event.CallJudged{Call: "c1", Tool: "find_order", Verdict: event.Allow, Rule: "effect:read", Args: `{"id":"A-1042"}`},
		&event.ToolStarted{ID: "9.0", Call: "c1", Tool: "find_order", Effect: event.Read, Attempt: 1},
		&event.ToolFinished{ID: "9.0", Call: "c1", Tool: "find_order", Status: event.StatusSuccess, Size: 900, Shown: 300, Latency: 40, Parts: []message.Part{{Kind: message.Text, Text: "twelve days late"}}},
		&event.CallJudged{Call: "c2", Tool: "find_order", Verdict: event.Intercept, Rule: "repetition"},
		&event.ToolFinished{Call: "c2", Tool: "find_order", Status: event.StatusIntercepted},
		&event.NoticeAdded{Kind: "repetition", Call: "c2", Text: "You have asked that."},
		&event.ContextCompacted{Strategy: "layered", Before: 7000, After: 3000},
		&event.CallJudged{Call: "c3", Tool: "send_mail", Verdict: event.Ask},
		&event.ApprovalAsked{Call: "c3", Tool: "send_mail"},
		&event.RunPaused{Cause: event.CauseWaitingApproval},
		&event.ApprovalGiven{Call: "c3", Decision: event.Approved, By: "greta"},
		&event.RunResumed{Generation: 2, By: "rein"},
		&event.ToolStarted{ID: "21.0", Call: "c3", Tool: "send_mail", Effect: event.Once, Attempt: 1},
		&event.ToolFinished{ID: "21.0", Call: "c3", Tool: "send_mail", Status: event.StatusUnknown, ErrorType: "timeout", ErrorMessage: "greta@example.com did not answer", Latency: 30000},
		&event.ModelCalled{ID: "23.0", Purpose: event.PurposeStep, Step: 2, Attempt: 1, Model: "a/b", Bytes: 5000},
		&event.ModelAnswered{ID: "23.0", Finish: event.FinishLength, Latency: 900},
		&event.ReplyParsed{ID: "23.0", Format: "native", Problems: []string{"a call that is cut off"}},
		&event.StateUpdated{State: []byte(`{}`)},
		&event.Unknown{Name: "run.dreamt", Raw: []byte(`{"of":"sheep"}`)},
		&event.RunFinished{Reason: event.ReasonModelError, Answer: "It is late.", Detail: "no answer about A-1042"},
	}
}

// log returns what a run writes at a level.
func log(level slog.Level, o *logs.Options) string {
	var out bytes.Buffer
	h := slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			a.Value = slog.TimeValue(a.Value.Time().UTC())
		}
		return a
	}})
	x := logs.New(slog.New(h), o)
	x.Begin(context.Background(), "r1")
	for i, d := range run() {
		x.Event(event.Event{Run: "r1", Seq: int64(i) + 1, Time: 1_790_000_000_000 + int64(i)*1000, Data: d})
	}
	x.End("r1")
	return out.String()
}

// What a run logs, level by level, is in testdata: go test -update rewrites it.
func TestLevels(t *testing.T) {
	for name, level := range map[string]slog.Level{"warn": slog.LevelWarn, "info": slog.LevelInfo, "debug": slog.LevelDebug} {
		golden.Check(t, "testdata/"+name+".txt", []byte(log(level, nil)), *update, "run the test with -update")
	}
}

// Every record has the run, its step and the event, whatever the handler; what was said
// is in none of them, unless it is asked for.
func TestRecords(t *testing.T) {
	var out bytes.Buffer
	x := logs.New(slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})), nil)
	for i, d := range run() {
		x.Event(event.Event{Run: "r1", Seq: int64(i) + 1, Data: d})
	}
	n := 0
	for line := range strings.Lines(out.String()) {
		var r struct {
			Run, Event, Msg string
			Step, Seq       *int64
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Run != "r1" || r.Event == "" || r.Msg == "" || r.Step == nil || r.Seq == nil {
			t.Errorf("%v: %s", err, line)
		}
		n++
	}
	if n != len(run()) {
		t.Errorf("%d records of %d events", n, len(run()))
	}
	said := []string{"A-1042", "twelve days late", "You have asked", "greta@example.com", "sheep", "cut off"}
	quiet, loud := log(slog.LevelDebug, nil), log(slog.LevelDebug, &logs.Options{Content: true})
	for _, s := range said {
		if strings.Contains(quiet, s) || !strings.Contains(loud, s) {
			t.Errorf("%q: in the log %v, with content %v", s, strings.Contains(quiet, s), strings.Contains(loud, s))
		}
	}
}

// What is logged of one event is bounded.
func TestContentIsBounded(t *testing.T) {
	var out bytes.Buffer
	x := logs.New(slog.New(slog.NewTextHandler(&out, nil)), &logs.Options{Content: true})
	x.Event(event.Event{Run: "r1", Seq: 1, Data: &event.RunFinished{OK: true, Answer: strings.Repeat("é", 1<<20)}})
	if n := out.Len(); n < logs.MaxContent || n > logs.MaxContent+500 || !strings.Contains(out.String(), "é…") {
		t.Errorf("%d bytes, ending in %q", n, out.String()[n-20:])
	}
}

// The step of a run that is taken up is known from the store, and runs do not get mixed up.
func TestSteps(t *testing.T) {
	s := memory.New()
	defer s.Close()
	journaltest.Record(t, s, "r1", journal.Entry{Data: &event.RunStarted{}}, journal.Entry{Data: &event.ModelCalled{ID: "1", Step: 7}},
		journal.Entry{Data: &event.RunPaused{Cause: event.CauseInterrupted}})
	var out bytes.Buffer
	x := logs.New(slog.New(slog.NewTextHandler(&out, nil)), &logs.Options{Store: s})
	x.Event(event.Event{Run: "r1", Seq: 4, Data: &event.RunResumed{}})
	x.Event(event.Event{Run: "r1.1", Seq: 1, Data: &event.RunStarted{}})
	x.Event(event.Event{Run: "r1", Seq: 5, Data: &event.RunPaused{}})
	for _, want := range []string{"run=r1 step=7 seq=4", "run=r1.1 step=0 seq=1", "run=r1 step=7 seq=5"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// Every type of event has its row, here and in docs/metrics.md.
func TestTable(t *testing.T) {
	doc, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	var have []event.Type
	for _, r := range logs.Table() {
		line := fmt.Sprintf("| `%s` | %s | %s | %s |\n", r.Event, r.Message, strings.ToLower(r.Level.String()), r.Raised)
		if !strings.Contains(string(doc), line) {
			t.Errorf("docs/metrics.md lacks this line:\n%s", line)
		}
		have = append(have, r.Event)
	}
	if !slices.Equal(have, event.Types()) {
		t.Errorf("the table has %v", have)
	}
}
