package portable

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/internal/golden"
	"rein.example/rein/journal"
	"rein.example/rein/journal/memory"
	"rein.example/rein/message"
)

var update = flag.Bool("update", false, "rewrite testdata from what the code does now")

// talk makes a store with a run r1 of two steps, in which an agent is called (r1.1), a
// call cannot be read, results come in another order than the calls, a call of the model
// fails and another one is a check; and a fork f1 of it after the first step.
func talk(t testing.TB) *memory.Store {
	t.Helper()
	st := memory.New()
	t.Cleanup(func() { _ = st.Close() })
	ctx := t.Context()
	l, err := st.Join(ctx, journal.ThisProcess("test"))
	must(t, err)
	image, err := st.PutBody(ctx, []byte("\x89PNG\xff"), "image/png")
	must(t, err)
	page, err := st.PutBody(ctx, []byte("All of the page."), "text/plain")
	must(t, err)
	text := func(s string) []message.Part { return []message.Part{{Kind: message.Text, Text: s}} }
	usage := func(in, cached, out int64) message.Usage {
		return message.Usage{Input: message.Known(in), Cached: message.Known(cached), Output: message.Known(out)}
	}
	spec := event.Spec{Agent: "desk", Model: "test/model", System: []event.Block{{Name: "contract", Text: "Use tools."}, {Name: "rules", Text: "Be brief."}},
		Prices: []event.ModelPrice{{Model: "test/model", Price: message.Price{Input: 1_000_000, Cached: 100_000, CacheWrite: 1_000_000, Output: 2_000_000}}},
		Tools:  []event.ToolSpec{{Name: "ask_clerk", Description: "Asks.", Effect: event.Read, Schema: []byte(`{"type":"object"}`), Agent: "clerk"}, {Name: "look", Effect: event.Read, Schema: []byte(`{"type":"object"}`)}}}
	write := func(run string, after int64, list ...event.Data) {
		var entries []journal.Entry
		for i, d := range list {
			entries = append(entries, journal.Entry{Time: 1_700_000_000_000 + (after+int64(i))*1500, Data: d})
		}
		_, err := st.Append(ctx, l, journal.Batch{Run: run, After: after, Entries: entries})
		must(t, err)
	}
	called := func(id string, p event.Purpose, step int64) event.Data {
		return &event.ModelCalled{ID: id, Purpose: p, Step: step, Attempt: 1, Model: "test/model"}
	}
	must(t, st.Create(ctx, l, "r1"))
	must(t, st.Create(ctx, l, "r1.1"))
	write("r1", 0, &event.RunStarted{Format: 1, Root: "r1", Spec: spec},
		&event.InputReceived{Kind: event.InputText, Parts: append(text("What is it?"), message.Part{Kind: message.Image, MediaType: "image/png", Ref: &image})},
		&event.ContextAssembled{Purpose: event.PurposeStep, Step: 1},
		called("3.0", event.PurposeStep, 1),
		&event.ModelFailed{ID: "3.0", Class: event.ClassRate},
		called("3.1", event.PurposeStep, 1),
		&event.ModelAnswered{ID: "3.1", Finish: event.FinishToolCalls, Usage: usage(1000, 400, 50), Model: "model-1", Latency: 812, Message: message.Message{Role: message.Assistant, Parts: []message.Part{
			{Kind: message.Reasoning, Text: "Better ask."}, {Kind: message.Text, Text: "I ask."},
			{Kind: message.ToolCall, ID: "a", Name: "ask_clerk", Args: `{"task":"Look."}`}, {Kind: message.ToolCall, ID: "b", Name: "look", Args: `{"at":`}}}},
		&event.ReplyParsed{ID: "3.1", Format: "native", Calls: []event.ParsedCall{{ID: "a", Name: "ask_clerk", Args: `{"task":"Look."}`}, {ID: "b", Name: "look", Args: `{"at":`, Problem: "incomplete"}}},
		&event.ToolFinished{Call: "b", Tool: "look", Status: event.StatusError, ErrorType: "invalid", Parts: text("Nothing was run.")},
		&event.ToolStarted{ID: "8.0", Call: "a", Tool: "ask_clerk", Effect: event.Read, Attempt: 1, Run: "r1.1"},
		&event.InputReceived{Kind: event.InputText, Parts: text("Quickly.")},
		&event.ToolFinished{ID: "8.0", Call: "a", Tool: "ask_clerk", Status: event.StatusSuccess, Parts: []message.Part{{Kind: message.Text, Ref: &page}}, Size: 900, Shown: 16, Shaped: []string{"cut"}, Full: &page,
			Spent: &event.Spent{Steps: 1, Cost: message.Known(300)}},
		&event.ContextAssembled{Purpose: event.PurposeStep, Step: 2},
		called("12.0", event.PurposeStep, 2),
		&event.ModelAnswered{ID: "12.0", Finish: event.FinishStop, Usage: usage(1200, 1000, 10), Message: message.NewText(message.Assistant, "A stone.")},
		&event.ReplyParsed{ID: "12.0", Format: "text"},
		&event.ContextAssembled{Purpose: event.PurposeCompletionCheck, Step: 2},
		called("16.0", event.PurposeCompletionCheck, 2),
		&event.ModelAnswered{ID: "16.0", Finish: event.FinishStop, Usage: usage(100, 0, 10), Message: message.NewText(message.Assistant, "{}")},
		&event.ReplyParsed{ID: "16.0", Format: "text"},
		&event.RunFinished{Reason: event.ReasonAnswered, OK: true, Answer: "A stone."})
	below := spec
	below.Agent, below.Tools = "clerk", nil
	write("r1.1", 0, &event.RunStarted{Format: 1, Root: "r1", Parent: "r1", Call: "a", Spec: below}, &event.InputReceived{Kind: event.InputText, Parts: text("Look.")},
		&event.ContextAssembled{Purpose: event.PurposeStep, Step: 1}, called("3.0", event.PurposeStep, 1),
		&event.ModelAnswered{ID: "3.0", Finish: event.FinishStop, Message: message.NewText(message.Assistant, "All of the page.")}, &event.ReplyParsed{ID: "3.0", Format: "text"},
		&event.RunFinished{Reason: event.ReasonAnswered, OK: true, Answer: "All of the page."})
	must(t, st.Fork(ctx, l, "r1", 12, "f1"))
	write("f1", 12, &event.RunResumed{Generation: 1, Fork: "r1"}, &event.NoticeAdded{Kind: "test", Text: "Think again."}, &event.RunPaused{Cause: event.CauseInterrupted})
	return st
}

func atifOf(t testing.TB, st journal.Store, run string) ([]byte, *Exported) {
	t.Helper()
	v, err := NewView(st, testRedactor(t))
	must(t, err)
	var b bytes.Buffer
	x, err := ExportATIF(t.Context(), &b, v, run, "1.0")
	must(t, err)
	return b.Bytes(), x
}

// The documents of a run and of its fork, whole, as testdata has them.
func TestATIF(t *testing.T) {
	st := talk(t)
	for _, run := range []string{"r1", "f1"} {
		doc, x := atifOf(t, st, run)
		if len(x.Left) != 0 {
			t.Errorf("left out of %s: %v", run, x.Left)
		}
		var got bytes.Buffer
		must(t, json.Indent(&got, doc, "", " "))
		golden.Check(t, filepath.Join("testdata", "atif-"+run+".json"), got.Bytes(), *update, "run go test ./trace/portable -update")
		checkATIF(t, doc)
	}
}

// checkATIF checks what the format's specification demands beyond the names of members.
func checkATIF(t *testing.T, doc []byte) {
	t.Helper()
	var d struct {
		Trajectory string `json:"trajectory_id"`
		Agent      struct{ Name, Version string }
		Steps      []struct {
			ID          int                          `json:"step_id"`
			Source      string                       `json:"source"`
			Message     *json.RawMessage             `json:"message"`
			Model       *string                      `json:"model_name"`
			Reasoning   *string                      `json:"reasoning_content"`
			Metrics     *json.RawMessage             `json:"metrics"`
			ToolCalls   []map[string]json.RawMessage `json:"tool_calls"`
			Observation *struct {
				Results []struct {
					Call  string                           `json:"source_call_id"`
					Below []struct{ Trajectory_id string } `json:"subagent_trajectory_ref"`
				} `json:"results"`
			} `json:"observation"`
		} `json:"steps"`
		Below []json.RawMessage `json:"subagent_trajectories"`
	}
	must(t, json.Unmarshal(doc, &d))
	if len(d.Steps) == 0 || d.Agent.Name == "" || d.Agent.Version == "" || d.Trajectory == "" {
		t.Errorf("%d steps of %+v", len(d.Steps), d.Agent)
	}
	embedded := map[string]bool{}
	for _, b := range d.Below {
		var id struct{ Trajectory_id string }
		must(t, json.Unmarshal(b, &id))
		if embedded[id.Trajectory_id] {
			t.Errorf("%s comes twice", id.Trajectory_id)
		}
		embedded[id.Trajectory_id] = true
		checkATIF(t, b)
	}
	for i, s := range d.Steps {
		if s.ID != i+1 || s.Message == nil {
			t.Errorf("step %d has the id %d and the message %v", i+1, s.ID, s.Message)
		}
		if s.Source != "agent" && (s.Model != nil || s.Reasoning != nil || s.Metrics != nil || s.ToolCalls != nil) {
			t.Errorf("step %d of %s has members of an agent's", s.ID, s.Source)
		}
		calls := map[string]bool{}
		for _, c := range s.ToolCalls {
			calls[string(c["tool_call_id"])] = true
			if a := c["arguments"]; len(a) == 0 || a[0] != '{' {
				t.Errorf("step %d: arguments %s", s.ID, a)
			}
		}
		if s.Observation == nil {
			continue
		}
		for _, r := range s.Observation.Results {
			if !calls[fmt.Sprintf("%q", r.Call)] {
				t.Errorf("step %d has a result of %s, which it does not call", s.ID, r.Call)
			}
			for _, b := range r.Below {
				if !embedded[b.Trajectory_id] {
					t.Errorf("step %d refers to %s, which is not embedded", s.ID, b.Trajectory_id)
				}
			}
		}
	}
}

// The format's own models, where they are installed (pip install harbor), take what is
// written.
func TestATIFModels(t *testing.T) {
	const model = "from harbor.models.trajectories.trajectory import Trajectory"
	if out, err := exec.Command("python3", "-c", model).CombinedOutput(); err != nil {
		t.Skipf("the Python package harbor is not here: %v %s", err, strings.TrimSpace(string(out)))
	}
	st := talk(t)
	for _, run := range []string{"r1", "f1"} {
		doc, _ := atifOf(t, st, run)
		cmd := exec.Command("python3", "-c", model+"; import sys; Trajectory.model_validate_json(sys.stdin.read())")
		cmd.Stdin = bytes.NewReader(doc)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("run %s: %v\n%s", run, err, out)
		}
	}
}

// A run of which nothing can be said is refused.
func TestATIFEmpty(t *testing.T) {
	st := memory.New()
	defer st.Close()
	l, err := st.Join(t.Context(), journal.ThisProcess("test"))
	must(t, err)
	must(t, st.Create(t.Context(), l, "r1"))
	v, err := NewView(st, nil)
	must(t, err)
	if _, err := ExportATIF(t.Context(), &bytes.Buffer{}, v, "r1", "1"); err == nil {
		t.Error("a run without events was exported")
	}
}

// losing is a store that has lost its bodies.
type losing struct{ *memory.Store }

func (losing) Body(_ context.Context, ref message.Ref) ([]byte, error) {
	return nil, &journal.BodyError{SHA256: ref.SHA256, Missing: true}
}

// Texts and images that the store has lost are told as left out, not as images without a
// place in the format; so is what is asked for of a view.
func TestATIFLost(t *testing.T) {
	v, err := NewView(losing{talk(t)}, testRedactor(t))
	must(t, err)
	var b bytes.Buffer
	x, err := ExportATIF(t.Context(), &b, v, "r1", "1.0")
	must(t, err)
	if len(x.Left) != 2 || len(v.Lost()) != 2 || strings.Contains(b.String(), "no place") {
		t.Errorf("left out %q, lost %q", x.Left, v.Lost())
	}
	for i, said := range x.Left {
		if !strings.HasSuffix(said, v.Lost()[i]) {
			t.Errorf("%q is left out, and %q was lost", said, v.Lost()[i])
		}
	}
}
