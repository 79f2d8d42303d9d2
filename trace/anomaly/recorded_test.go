package anomaly_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/schema"
	"rein.example/rein/trace"
	"rein.example/rein/trace/anomaly"
	"rein.example/rein/trace/recording"
)

var recorded = flag.String("recorded", "", "the recorded runs to measure, in a file; see make measure-anomalies")

// The recordings that are measured if none are named, and where they are.
const sharedData = "../../../shared/data"

// TestRecorded looks for anomalies in recorded runs, of which some are known to have
// ended well and some badly. What matters is that the top class is rare in those that
// have ended well, fewer than one in ten of which has one, and at least twice as common
// in the others. Everything else is for people to read, with -v.
func TestRecorded(t *testing.T) {
	list := []string{*recorded}
	if *recorded == "" {
		list = []string{filepath.Join(sharedData, "tau-airline-gpt4o-runs.json"), filepath.Join(sharedData, "trajectories.jsonl")}
	}
	for _, file := range list {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil && *recorded == "" {
				t.Skipf("there are no recordings: %v", err)
			} else if err != nil {
				t.Fatal(err)
			}
			c := measure(t, data)
			t.Log("\n" + c.table())
			if p := c.runs["passed"]; p > 0 && c.warned["passed"]*10 >= p {
				t.Errorf("%d of %d runs that have ended well have a warning", c.warned["passed"], p)
			}
			if p, f := c.runs["passed"], c.runs["failed"]; min(p, f) >= 20 && c.warned["failed"]*p < 2*c.warned["passed"]*f {
				t.Errorf("warnings are hardly more common in the %d runs that have ended badly, of which %d have one", f, c.warned["failed"])
			}
		})
	}
}

// counts are what was found in the runs of one file, by how they ended.
type counts struct {
	runs, warned, noted map[string]int
	// of says in how many runs a kind was found at a level.
	of map[found]map[string]int
}

type found struct {
	kind  string
	level trace.Level
}

// measure looks for anomalies in the conversations of a file.
func measure(t *testing.T, data []byte) *counts {
	c := &counts{map[string]int{}, map[string]int{}, map[string]int{}, map[found]map[string]int{}}
	var all []*recording.Conversation
	for conv, err := range recording.Read(strings.NewReader(string(data)), recording.Limits{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, conv)
	}
	ends := outcomes(data)
	tools := toolsOf(all)
	for i, conv := range all {
		end := "unknown"
		if i < len(ends) {
			end = ends[i]
		}
		var fold anomaly.Fold
		for _, e := range journalOf(conv, tools) {
			fold.Add(e)
		}
		c.runs[end]++
		seen, warned := map[found]bool{}, false
		for _, a := range fold.Found() {
			t.Logf("%s (%s) step %d %s: %s: %s", conv.ID, end, a.Step, a.Level, a.Kind, a.Text)
			f := found{a.Kind, a.Level}
			warned = warned || a.Level == trace.Warning
			if seen[f] {
				continue
			}
			seen[f] = true
			if c.of[f] == nil {
				c.of[f] = map[string]int{}
			}
			c.of[f][end]++
		}
		if warned {
			c.warned[end]++
		}
		if len(seen) > 0 {
			c.noted[end]++
		}
	}
	return c
}

var ends = []string{"passed", "failed", "unknown"}

// table renders in how many runs what was found.
func (c *counts) table() string {
	var b strings.Builder
	row := func(name string, level string, of map[string]int) {
		fmt.Fprintf(&b, "%-22s %-8s", name, level)
		for _, end := range ends {
			if n := c.runs[end]; n > 0 {
				fmt.Fprintf(&b, " %4d of %3d %s", of[end], n, end)
			}
		}
		b.WriteByte('\n')
	}
	b.WriteString("runs with at least one of a kind, by how the run has ended\n")
	for _, k := range anomaly.Kinds() {
		for _, level := range k.Levels {
			if of := c.of[found{k.Name, level}]; of != nil {
				row(k.Name, string(level), of)
			}
		}
	}
	row("any", "warning", c.warned)
	row("any", "", c.noted)
	return b.String()
}

// outcomes reads what the recordings say of themselves beside the conversations.
func outcomes(data []byte) (list []string) {
	type verdict struct {
		Reward *float64 `json:"reward"`
	}
	var all []verdict
	if json.Unmarshal(data, &all) != nil {
		for line := range strings.Lines(string(data)) {
			var v verdict
			_ = json.Unmarshal([]byte(line), &v)
			all = append(all, v)
		}
	}
	for _, v := range all {
		switch {
		case v.Reward == nil:
			list = append(list, "unknown")
		case *v.Reward == 1:
			list = append(list, "passed")
		default:
			list = append(list, "failed")
		}
	}
	return list
}

// toolsOf returns the tools that any of the recordings calls: an agent has them all,
// whether it calls them in one run or not. What books, cancels and sends is to be done
// once; what edits files and runs commands may be done again.
func toolsOf(all []*recording.Conversation) (specs []event.ToolSpec) {
	reading := []string{"get", "list", "search", "find", "read", "open", "think", "calculate", "view", "grep", "ls"}
	known := map[string]bool{}
	for _, c := range all {
		for i := range c.Messages {
			for _, p := range c.Messages[i].Parts {
				if p.Kind != message.ToolCall || known[p.Name] {
					continue
				}
				known[p.Name] = true
				s := event.ToolSpec{Name: p.Name, Effect: event.Once}
				first, _, _ := strings.Cut(p.Name, "_")
				switch {
				case slices.Contains(reading, first):
					s.Effect = event.Read
				case slices.Contains([]string{"bash", "edit", "write", "create", "insert"}, p.Name):
					s.Effect = event.Repeatable
				}
				specs = append(specs, s)
			}
		}
	}
	return specs
}

// journalOf writes a recorded conversation down as a run would have been.
func journalOf(c *recording.Conversation, tools []event.ToolSpec) (events []*event.Event) {
	add := func(d event.Data) {
		events = append(events, &event.Event{Run: "r1", Seq: int64(len(events)) + 1, Data: d})
	}
	spec := event.Spec{Model: "recorded/model", Chat: true, Tools: tools}
	for i, s := range c.System {
		spec.System = append(spec.System, event.Block{Name: fmt.Sprint("recorded ", i+1), Text: s})
	}
	add(&event.RunStarted{Format: event.Version, Root: "r1", Spec: spec})
	ids := map[string]string{} // of the recording, in the run
	step := int64(0)
	for i := range c.Messages {
		m := &c.Messages[i]
		switch m.Role {
		case message.System:
			add(&event.NoticeAdded{Kind: "recorded", Text: m.PlainText()})
		case message.User:
			add(&event.InputReceived{Kind: event.InputText, Parts: m.Parts})
		case message.Assistant:
			step++
			replyOf(add, m, step, ids)
		case message.Tool:
			resultOf(add, m, ids, tools)
		}
	}
	return events
}

// replyOf adds a reply, and starts its calls.
func replyOf(add func(event.Data), m *message.Message, step int64, ids map[string]string) {
	id := fmt.Sprint(step, ".0")
	finish := event.FinishStop
	parsed := &event.ReplyParsed{ID: id, Format: "native"}
	var judged []event.Data
	for _, p := range m.Parts {
		if p.Kind != message.ToolCall {
			continue
		}
		finish = event.FinishToolCalls
		call := fmt.Sprint(step, "-", len(parsed.Calls), "-", p.ID)
		ids[p.ID] = call
		args, err := schema.Canonical(jsontext.Value(p.Args))
		if err != nil {
			args = jsontext.Value(p.Args)
		}
		parsed.Calls = append(parsed.Calls, event.ParsedCall{ID: call, Name: p.Name, Args: p.Args})
		judged = append(judged, &event.CallJudged{Call: call, Tool: p.Name, Verdict: event.Allow, ArgsHash: sha256.Sum256(args)})
	}
	add(&event.ModelCalled{ID: id, Purpose: event.PurposeStep, Step: step, Attempt: 1, Model: "recorded/model"})
	add(&event.ModelAnswered{ID: id, Message: *m, Finish: finish})
	add(parsed)
	for _, d := range judged {
		add(d)
	}
	for i, d := range judged {
		j := d.(*event.CallJudged)
		add(&event.ToolStarted{ID: fmt.Sprint(step, ".", i+1), Call: j.Call, Tool: j.Tool, ArgsHash: j.ArgsHash, Attempt: 1})
	}
}

// resultOf adds a result, which is an error where it begins like one.
func resultOf(add func(event.Data), m *message.Message, ids map[string]string, tools []event.ToolSpec) {
	s := m.PlainText()
	d := &event.ToolFinished{ID: "of " + ids[m.ToolCallID], Call: ids[m.ToolCallID], Tool: m.ToolName, Status: event.StatusSuccess,
		Parts: m.Parts, Size: int64(len(s)), Shown: int64(len(s))}
	if m.Failed || recording.SaysFailed(s) {
		d.Status, d.ErrorType, d.ErrorMessage = event.StatusError, "failed", s
	}
	add(d)
}
