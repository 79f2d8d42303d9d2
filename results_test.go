package rein_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/journal/memory"
	"rein.example/rein/tool"
	"rein.example/rein/window"
)

// orders is a tool whose result has to be cut.
func orders() tool.Tool {
	type order struct {
		ID     int    `json:"id"`
		Status string `json:"status"`
		Note   string `json:"note"`
	}
	return tool.New("list_orders", tool.Doc{What: "Lists the orders.", When: "To see them.", Returns: "A list."},
		func(context.Context, struct{}) ([]order, error) {
			var out []order
			for i := range 3000 {
				out = append(out, order{i + 1, []string{"open", "done"}[i%2], strings.Repeat("x", 40)})
			}
			return out, nil
		}, &tool.Options{Effect: event.Read, Show: event.ShowSpec{Select: []string{"id", "status"}, Summarise: []string{"status"}}})
}

// What is offered beside an agent's own tools.
func TestToolsOfTheHarness(t *testing.T) {
	ours := tool.With(orders(), func(d *tool.Definition) { d.Harness = true })
	tiny := event.WindowSpec{Size: 8_000}
	for _, c := range []struct {
		tools  []tool.Tool
		window event.WindowSpec
		chat   bool
		want   []string
	}{
		{nil, event.WindowSpec{}, false, []string{"submit_result"}}, // one answer has no history
		{nil, event.WindowSpec{}, true, []string{"search_history", "submit_result"}},
		{nil, event.WindowSpec{Strategy: window.Full}, true, []string{"submit_result"}}, // nothing leaves
		{[]tool.Tool{ours}, event.WindowSpec{}, false, []string{"list_orders", "search_history", "submit_result"}},
		{[]tool.Tool{orders()}, event.WindowSpec{}, false, []string{"list_orders", "read_artifact", "search_history", "submit_result"}},
		{[]tool.Tool{orders()}, event.WindowSpec{Strategy: window.Full}, false, []string{"list_orders", "read_artifact", "submit_result"}},
		{[]tool.Tool{tool.With(orders(), func(d *tool.Definition) { d.ResultTokens = 200 })}, tiny, false, []string{"list_orders", "read_artifact", "submit_result"}}, // no room
	} {
		a := newAgent(t, `{turns: [hi]}`, &rein.Options{Tools: c.tools, Window: c.window})
		run := a.Start(t.Context(), "go")
		if c.chat {
			run = a.Chat(t.Context(), "go")
		}
		var got []string
		for e, err := range run.Events() {
			if err != nil {
				t.Fatal(err)
			}
			if d, ok := e.Data.(*event.RunStarted); ok {
				for _, t := range d.Spec.Tools {
					got = append(got, t.Name)
				}
			}
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// A result that is too long says what is shown of it and how to read on, in
// words that the model can use as they are; also in a conversation that another
// process goes on with.
func TestReadOn(t *testing.T) {
	store := memory.New()
	defer store.Close()
	chat := `
turns:
  - call: {name: list_orders}
  - say: 'It said: {{match "list_orders" "\\[rein: [^\n]*"}}'
  - call: {name: read_artifact, raw_arguments: '{{match "list_orders" "read_artifact with ({.*?})"}}'}
  - say: 'It said: {{match "read_artifact" "\\[rein: [^\n]*"}}'
`
	o := &rein.Options{Tools: []tool.Tool{orders()}, Store: store}
	first := newAgent(t, chat, o)
	res, err := first.Chat(t.Context(), "which orders are there?").Result()
	if err != nil || res.Cause != event.CauseTurnDone {
		t.Fatalf("%+v, %v", res, err)
	}
	var shown, total, from int
	if _, err := fmt.Sscanf(res.Answer, "It said: [rein: items 1-%d of %d shown;", &shown, &total); err != nil || total != 3000 || shown < 50 {
		t.Errorf("%q", res.Answer)
	}
	for _, want := range []string{"all 3000 items: status (open: 1500, done: 1500)", "only the members id, status shown (left out: note)", "for the rest call read_artifact with {"} {
		if !strings.Contains(res.Answer, want) {
			t.Errorf("%q has no %q", res.Answer, want)
		}
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	res, err = newAgent(t, chat, o).Continue(t.Context(), res.Run, "and the others?").Result()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(res.Answer, "It said: [rein: items %d-", &from); err != nil || from != shown+1 || !strings.Contains(res.Answer, " of 3000 of the result of list_orders, call ") {
		t.Errorf("%q", res.Answer)
	}
}
