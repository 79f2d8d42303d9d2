package rein_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// reader is a tool that says its name, in a group.
func reader(name, group string, calls *[]string) tool.Tool {
	type args struct {
		ID string `json:"id" jsonschema:"what to read"`
	}
	return tool.New(name, tool.Doc{What: "Reads " + name + ".", When: "To look it up. Not for others.", Returns: "It, or nothing."},
		func(_ context.Context, in args) (string, error) {
			*calls = append(*calls, name+" "+in.ID)
			return name + " says " + in.ID, nil
		}, &tool.Options{Effect: event.Read, Group: group})
}

// With many tools a model finds what it needs in the catalogue, and what it calls
// there is an ordinary call of that tool.
func TestCatalogue(t *testing.T) {
	var calls []string
	tools := []tool.Tool{reader("query_time", "", &calls)}
	for i := range 20 {
		tools = append(tools, reader(fmt.Sprintf("query_orders_%d", i), "orders", &calls))
	}
	a := newAgent(t, `
turns:
  - call: {name: open_tools, arguments: {search: orders 7}}
  - call: {name: call_tool, arguments: {name: query_orders_7, arguments: '{"id":"A-1"}'}}
  - call: {name: call_tool, arguments: {name: query_orders_7, arguments: {}}}
  - say: A-1 is there.
`, &rein.Options{Tools: tools})
	run := a.Start(context.Background(), "find it")
	var judged []*event.CallJudged
	var finished []*event.ToolFinished
	var size int64
	for e, err := range run.Events() {
		if err != nil {
			t.Fatal(err)
		}
		switch d := e.Data.(type) {
		case *event.RunStarted:
			for _, s := range d.Spec.Tools {
				if s.Group == "" {
					size += s.Tokens.Or(0)
				}
			}
		case *event.ContextAssembled:
			for _, b := range d.Blocks {
				if b.Name == "tools" && b.Tokens != size {
					t.Errorf("the tools of a request are counted as %d tokens; those without a group have %d", b.Tokens, size)
				}
			}
		case *event.CallJudged:
			judged = append(judged, d)
		case *event.ToolFinished:
			finished = append(finished, d)
		}
	}
	if len(finished) != 3 || !strings.Contains(finished[0].Parts[0].Text, "query_orders_7 (read)") {
		t.Fatalf("%+v", finished)
	}
	// The arguments came as a text: that they were read all the same is told.
	if d := judged[1]; d.Args != `{"id":"A-1"}` || len(d.Repairs) != 1 || d.Repairs[0].Where != "/arguments" {
		t.Errorf("%+v", d)
	}
	if d := finished[1]; d.Tool != "query_orders_7" || d.Parts[0].Text != "query_orders_7 says A-1" {
		t.Errorf("%+v", d)
	}
	if d := finished[2]; d.Tool != "query_orders_7" || d.ErrorType != "invalid_arguments" || len(calls) != 1 {
		t.Errorf("%+v, calls %q", d, calls)
	}
}

// Groups are made where nobody declared any and there are too many tools; up to
// 15 stand in one list.
func TestWhenThereIsACatalogue(t *testing.T) {
	for n, want := range map[int]bool{15: false, 16: true} {
		var tools []tool.Tool
		for i := range n {
			tools = append(tools, reader(fmt.Sprintf("query_%d", i), "", new([]string)))
		}
		a := newAgent(t, "{turns: [{say: x}]}", &rein.Options{Tools: tools})
		if got := a.Tools().Get(tool.OpenTools) != nil; got != want {
			t.Errorf("%d tools: a catalogue %v", n, got)
		}
	}
}

// Wrong rules and phases are refused before anything runs.
func TestWrongRules(t *testing.T) {
	for want, o := range map[string]*rein.Options{
		"call: nothing to match":   {Rules: rein.Rules{Enforced: []event.RuleSpec{rein.Before("", "x")}}},
		"make it with Before":      {Rules: rein.Rules{Enforced: []event.RuleSpec{{Text: "be brief"}}}},
		`there is no tool "query"`: {Phases: []event.PhaseSpec{{Name: "a", Tools: []string{"query"}}}},
	} {
		if _, err := rein.New(client("{turns: [{say: x}]}"), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// An agent's options can be looked at in a test, without a model.
func TestLint(t *testing.T) {
	var calls []string
	o := &rein.Options{Tools: []tool.Tool{reader("query_time", "", &calls)}, Rules: rein.Rules{
		Must: []string{"be careful"}, Enforced: []event.RuleSpec{rein.Never("query_time", "submit_result")}}}
	report, err := o.Lint()
	if err != nil || len(report.Findings) != 1 || len(report.Rules) != 2 || report.Rules[0].Kind != event.RuleNever {
		t.Errorf("%+v, %v", report, err)
	}
}
