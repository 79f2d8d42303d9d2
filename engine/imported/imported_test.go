package imported_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rein.example/rein/engine/imported"
	"rein.example/rein/event"
	"rein.example/rein/internal/golden"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/trace"
	"rein.example/rein/trace/recording"
)

var update = flag.Bool("update", false, "rewrite testdata from what the code does now")

// read returns the only conversation of a text.
func read(t *testing.T, text string) *recording.Conversation {
	t.Helper()
	for c, err := range recording.Read(strings.NewReader(text), recording.Limits{}) {
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	t.Fatal("there is no conversation")
	return nil
}

// fold checks that the events are a sound journal, and returns the machine at its end.
func fold(t *testing.T, events []event.Event) *loop.Machine {
	t.Helper()
	m := loop.New(events[0].Run)
	var c event.Chain
	for i := range events {
		e := &events[i]
		r, err := event.DecodeRecord(event.AppendEvent(nil, e))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Add(&r); err != nil {
			t.Fatal(err)
		}
		if err := m.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// TestScripts shows, for each recorded conversation in testdata, the journal that it
// becomes.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			in, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			events, err := imported.Events("r1", read(t, string(in)), imported.Options{Source: filepath.Base(file), Time: 1_700_000_000_000})
			if err != nil {
				t.Fatal(err)
			}
			st := fold(t, events).Status()
			var got strings.Builder
			for i := range events {
				fmt.Fprintf(&got, "%d %s %s\n", events[i].Seq, events[i].Data.Type(), events[i].Data.AppendJSON(nil))
			}
			fmt.Fprintf(&got, "then: %s %s, %d steps, %d calls\n", st.Status, st.Reason, st.Steps, st.ToolCalls)
			golden.Check(t, strings.TrimSuffix(file, ".json")+".txt", []byte(got.String()), *update, "run go test ./engine/imported -update")
		})
	}
}

// A run's journal has each reply as a step and each recorded call as one that was
// carried out, with what was recorded as its result: on real recordings, whatever the
// machine would have said of them.
func TestRecorded(t *testing.T) {
	for _, name := range []string{"tau-airline-gpt4o-runs.json", "trajectories.jsonl"} {
		t.Run(name, func(t *testing.T) {
			f, err := os.Open(filepath.Join("../../../shared/data", name))
			if err != nil {
				t.Skipf("there are no recordings: %v", err)
			}
			defer f.Close()
			n, bad := 0, 0
			for c, err := range recording.Read(f, recording.Limits{}) {
				if err != nil {
					t.Fatal(err)
				}
				n++
				events, err := imported.Events(imported.RunID(name, n), c, imported.Options{Source: name})
				if err != nil {
					t.Fatal(err)
				}
				checkSame(t, c, events)
				if end, ok := events[len(events)-1].Data.(*event.RunFinished); ok && !end.OK {
					bad++
				}
			}
			t.Logf("%d conversations, of which %d were not rewarded", n, bad)
			if n < 10 || bad == 0 || bad == n {
				t.Errorf("%d conversations", n)
			}
		})
	}
}

// checkSame compares what a run says with what was recorded.
func checkSame(t *testing.T, c *recording.Conversation, events []event.Event) {
	t.Helper()
	m := fold(t, events)
	var replies, calls int64
	var results []string
	for i := range c.Messages {
		msg := &c.Messages[i]
		switch msg.Role {
		case message.Assistant:
			replies++
			calls += int64(msg.Calls())
		case message.Tool:
			results = append(results, msg.PlainText())
		}
	}
	st := m.Status()
	if st.Steps != replies || st.ToolCalls != calls {
		t.Errorf("%s: %d steps and %d calls, recorded were %d and %d", c.ID, st.Steps, st.ToolCalls, replies, calls)
	}
	if _, ok := st.Usage.Input.Get(); ok {
		t.Errorf("%s: usage is %v, and nobody has said so", c.ID, st.Usage)
	}
	var got []string
	var rows trace.Fold
	for i := range events {
		rows.Add(&events[i])
		switch d := events[i].Data.(type) {
		case *event.ToolFinished:
			msg := message.Message{Parts: d.Parts}
			got = append(got, msg.PlainText())
		case *event.CallJudged:
			if d.Verdict != event.Allow {
				t.Errorf("%s: %s was %s", c.ID, d.Call, d.Verdict)
			}
		case *event.ModelCalled:
			if d.SHA256 != (event.Hash{}) || d.Bytes != 0 {
				t.Errorf("%s: a request has a hash", c.ID)
			}
		}
	}
	if strings.Join(got, "\x00") != strings.Join(results, "\x00") {
		t.Errorf("%s: %d results, recorded were %d, or they differ", c.ID, len(got), len(results))
	}
	for _, r := range rows.Rows() {
		if r.LatencyMS != nil || r.WaitedMS != nil || r.ToolMS != nil || r.CumulativeCost != nil {
			t.Errorf("%s: step %d took so long and cost so much: %+v", c.ID, r.Step, r)
			break
		}
	}
	if len(rows.Rows()) != int(replies+calls) {
		t.Errorf("%s: the trace has %d rows", c.ID, len(rows.Rows()))
	}
}

func TestRunID(t *testing.T) {
	for in, want := range map[string]string{
		"runs.json": "runs-3", "/tmp/a b/My Runs (2).v1.jsonl": "My-Runs-2-v1-3", "": "imported-3", "..": "imported-3",
		`C:\data\x.json`: "x-3", "日本.json": "imported-3",
	} {
		got := imported.RunID(in, 3)
		if got != want {
			t.Errorf("RunID(%q) = %q, want %q", in, got, want)
		}
		if _, below := event.Above(got); below {
			t.Errorf("%q looks like a run below another", got)
		}
	}
}

// Whatever can be read as a recording becomes a journal that folds.
func FuzzEvents(f *testing.F) {
	for _, s := range []string{
		`[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]`,
		`[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}},{"id":"a","function":{"name":"f","arguments":"[1]"}}]},{"role":"tool","tool_call_id":"a","content":"x"}]`,
		`[{"role":"assistant","content":""},{"role":"assistant","content":""},{"role":"assistant","content":""},{"role":"assistant","content":""}]`,
		`{"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"},{"role":"system","content":"late"},{"role":"assistant","content":"la la la la la la la la la la la la la la"}],"tools":[{"name":"f","parameters":{"type":7}}],"reward":0}`,
		`[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"submit_result","arguments":"{}"}},{"id":"2","function":{"name":"ask_user","arguments":"{\"question\":\"x\"}"}}]}]`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		n := 0
		for c, err := range recording.Read(strings.NewReader(in), recording.Limits{Bytes: 1 << 20, Messages: 500}) {
			if n++; n > 20 {
				return
			}
			if err != nil {
				continue
			}
			events, err := imported.Events("r1", c, imported.Options{})
			if err != nil {
				t.Fatalf("%q: %v", in, err)
			}
			checkSame(t, c, events)
		}
	})
}
