package tool_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

func fake(name string, opts *tool.Options) tool.Tool {
	doc := tool.Doc{What: "Does " + name + ".", When: "Sometimes; never at night.", Returns: "Nothing."}
	return tool.New(name, doc, func(context.Context, weatherArgs) (string, error) { return "", nil }, opts)
}

func TestRegistry(t *testing.T) {
	r, err := tool.NewRegistry(
		fake("send", &tool.Options{Confirm: "find", KeyFields: []string{"city"}, Timeout: 2 * time.Second}),
		fake("find", &tool.Options{Effect: event.Read, ResultTokens: 500, Resources: []string{"city"}, Polling: true}),
		fake("drop", nil),
		fake("plan", &tool.Options{Harness: true}),
	)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Names(); !reflect.DeepEqual(got, []string{"drop", "find", "plan", "send"}) {
		t.Error(got)
	}
	if r.Get("find").Definition().Name != "find" || r.Get("fin") != nil || r.Get("") != nil {
		t.Error("Get")
	}
	if got := r.Nearest("sned"); len(got) == 0 || got[0] != "send" {
		t.Error(got)
	}
	specs := r.Specs()
	schema := r.Get("find").Definition().Schema
	const doc = ".\nWhen to use it: Sometimes; never at night.\nReturns: Nothing."
	want := []event.ToolSpec{
		{Name: "drop", Effect: event.Once, Timeout: 60_000, ResultTokens: 2000,
			Description: "Does drop" + doc + "\nAfter a timeout do not repeat the call; find out by reading whether it took effect."},
		{Name: "find", Effect: event.Read, Timeout: 60_000, ResultTokens: 500, Resources: []string{"city"}, Polling: true, Description: "Does find" + doc},
		{Name: "plan", Effect: event.Once, Timeout: 60_000, ResultTokens: 2000, Harness: true, Description: "Does plan" + doc},
		{Name: "send", Effect: event.Once, Timeout: 2000, ResultTokens: 2000, Confirm: "find", KeyFields: []string{"city"},
			Description: "Does send" + doc + "\nAfter a timeout do not repeat the call; call find."},
	}
	for i := range want {
		want[i].Schema = schema
		if !reflect.DeepEqual(specs[i], want[i]) {
			t.Errorf("got  %+v\nwant %+v", specs[i], want[i])
		}
	}
	specs[0].Name = "changed"
	if r.Specs()[0].Name != "drop" {
		t.Error("specs are shared")
	}
}

// foreign is a tool that was not made by New.
type foreign struct {
	tool.Tool
	def tool.Definition
}

func (f foreign) Definition() *tool.Definition { return &f.def }

func TestRegistryRefuses(t *testing.T) {
	for _, test := range []struct {
		name, says string
		tools      []tool.Tool
	}{
		{"clash", `two tools are named a ("Does a." and "Other.")`, []tool.Tool{fake("b", nil), fake("a", nil),
			foreign{def: tool.Definition{Name: "a", Schema: []byte(`{"type":"object"}`), Doc: tool.Doc{What: "Other."}}}}},
		{"confusable", "two tools are named Read-File and read_file, which", []tool.Tool{fake("read_file", nil), fake("Read-File", nil)}},
		{"nil", "tool 2 of 2 is nil", []tool.Tool{fake("a", nil), nil}},
		{"name", `tool name "a.b"`, []tool.Tool{foreign{def: tool.Definition{Name: "a.b"}}}},
		{"schema", "tool a: arguments: schema is not readable", []tool.Tool{foreign{def: tool.Definition{Name: "a"}}}},
		{"confirm", "confirmed by find, which is not among", []tool.Tool{fake("a", &tool.Options{Confirm: "find"})}},
		{"calls", "a limit is negative", []tool.Tool{foreign{def: tool.Definition{Name: "a", Schema: []byte(`{"type":"object"}`), MaxCalls: -1}}}},
		{"writing confirm", "confirmed by b, which does not declare that it only reads", []tool.Tool{fake("a", &tool.Options{Confirm: "b"}), fake("b", nil)}},
	} {
		_, err := tool.NewRegistry(test.tools...)
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	if r, err := tool.NewRegistry(); err != nil || len(r.Specs()) != 0 || r.Get("a") != nil {
		t.Errorf("no tools: %v", err)
	}
}

// A tool that is an agent has no time limit but its run's own, and says what a repeat
// does.
func TestAgentSpec(t *testing.T) {
	agent := tool.With(fake("research", nil), func(d *tool.Definition) { d.Agent = "researcher" })
	r, err := tool.NewRegistry(agent, fake("other", nil))
	if err != nil {
		t.Fatal(err)
	}
	specs := r.Specs()
	if got := specs[1]; got.Agent != "researcher" || got.Timeout != 0 || !strings.HasSuffix(got.Description, "a repeat is answered with what came of it.") {
		t.Errorf("%+v", got)
	}
	if got := specs[0]; got.Agent != "" || got.Timeout != 60_000 {
		t.Errorf("%+v", got)
	}
}
