package lint_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/lint"
	"rein.example/rein/tool"
	"rein.example/rein/toolkit/ask"
	"rein.example/rein/toolkit/calc"
	"rein.example/rein/toolkit/clock"
	"rein.example/rein/toolkit/files"
	"rein.example/rein/toolkit/plan"
)

// good is a document without a fault.
func good() *tool.Definition {
	return &tool.Definition{
		Name: "query_orders", Effect: event.Read,
		Doc: tool.Doc{
			What:    "Finds orders by customer or day.",
			When:    "To learn what was ordered. Not for invoices: query_invoices has those.",
			Returns: "The orders, one a line; \"Nothing found.\" if there are none, and then there is no other place to look.",
		},
		Schema: []byte(`{"type":"object","properties":{"customer":{"type":"string","description":"the customer's number, such as C-17"}}}`),
	}
}

type definition struct{ d *tool.Definition }

func (d definition) Definition() *tool.Definition { return d.d }
func (definition) Run(context.Context, *tool.Call) (*tool.Result, error) {
	return nil, nil
}

func TestTools(t *testing.T) {
	for _, c := range []struct {
		change func(d *tool.Definition)
		want   []string
	}{
		{func(*tool.Definition) {}, nil},
		{func(d *tool.Definition) { d.Doc.What = "" }, []string{"error: tool query_orders, what: it does not say what it does"}},
		{func(d *tool.Definition) { d.Doc.What = "Orders." }, []string{"warning: tool query_orders, what: it hardly says"}},
		{func(d *tool.Definition) { d.Doc.When = " " }, []string{"warning: tool query_orders, when: it does not say when to use it, and when not"}},
		{func(d *tool.Definition) { d.Doc.When = "Do not use it for invoices. Never use it twice." }, []string{"warning: tool query_orders, when: it says only when not to use it"}},
		{func(d *tool.Definition) { d.Doc.When = "To learn what was ordered." }, []string{"hint: tool query_orders, when: it does not say when not to use it"}},
		{func(d *tool.Definition) { d.Doc.Returns = "" }, []string{"warning: tool query_orders, returns: it does not say what it returns"}},
		{func(d *tool.Definition) { d.Doc.Returns = "The orders." }, []string{`hint: tool query_orders, returns: it does not say what "nothing found" looks like`}},
		{func(d *tool.Definition) { d.Doc.What = "Finds orders, customers, etc." }, []string{`hint: tool query_orders, what: "etc" leaves open`}},
		{func(d *tool.Definition) { d.Schema = []byte(`{"properties":{"customer":{"type":"string"}}}`) }, []string{"warning: tool query_orders, parameter customer: it has no description"}},
		{func(d *tool.Definition) {
			d.Schema = []byte(`{"properties":{"order_id":{"type":"string","description":"Order ID."},"b":{"description":"the number of the order"},"a":true}}`)
		}, []string{"hint: tool query_orders, parameter b: it declares no type", "warning: tool query_orders, parameter order_id: its description only repeats its name"}},
		{func(d *tool.Definition) {
			d.Schema = []byte(`{"properties":{"list":{"type":"array","description":"the orders to find","items":{"properties":{"id":{"type":"string"}}}}}}`)
		}, []string{"warning: tool query_orders, parameter list.id: it has no description"}},
		{func(d *tool.Definition) { d.Effect = "" }, []string{"warning: tool query_orders, effect: it declares no effect"}},
		{func(d *tool.Definition) { d.Effect = event.Once; d.Name = "submit_order" }, []string{"warning: tool submit_order, confirm: when its answer is lost"}},
		{func(d *tool.Definition) { d.Effect = event.Once; d.Name = "submit_order"; d.Confirm = "was_submitted" }, nil},
		{func(d *tool.Definition) { d.Effect = event.Repeatable }, []string{"warning: tool query_orders, name: it sounds as if it only reads"}},
		{func(d *tool.Definition) { d.Name = "delete_orders" }, []string{"warning: tool delete_orders, effect: its name says that it changes something"}},
		{func(d *tool.Definition) { d.Name = "order_list" }, nil}, // order is a verb, too
		{func(d *tool.Definition) { d.Name = "invoice_list" }, []string{"hint: tool invoice_list, name: it does not begin with a verb"}},
		{func(d *tool.Definition) { d.Name = "get_orders" }, []string{"hint: tool get_orders, name: other tools say read_ or query_ for get_"}},
		{func(d *tool.Definition) { d.Name = "orders" }, []string{"hint: tool orders, name: it is one word"}},
		{func(d *tool.Definition) { d.Doc.When += strings.Repeat(" It is not for this case either.", 200) }, []string{"hint: tool query_orders: its document has"}},
		// Somebody else wrote it: what is missing there can only be lived with.
		{func(d *tool.Definition) { d.Pin, d.Name, d.Doc.When = "x", "invoice_list", "" }, []string{"hint: tool invoice_list, when: it does not say when to use it"}},
	} {
		d := good()
		c.change(d)
		expect(t, d.Name, lint.Tools(definition{d}), c.want)
	}
}

// expect compares findings by how they begin; each has a fix.
func expect(t *testing.T, what string, got []lint.Finding, want []string) {
	t.Helper()
	ok := len(got) == len(want)
	for i := 0; ok && i < len(got); i++ {
		ok = strings.HasPrefix(got[i].String(), want[i]) && got[i].Fix != ""
	}
	if !ok {
		t.Errorf("%s:\n%v\nwant\n%s", what, got, strings.Join(want, "\n"))
	}
}

// Rein's own tools keep to what lint asks of others.
func TestToolkit(t *testing.T) {
	list, closer, err := files.Tools(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	for _, f := range lint.Tools(append(list, calc.Tool(), clock.Tool(nil), plan.Tool(), ask.Tool())...) {
		t.Error(f)
	}
}

func rule(list, text string) event.RuleSpec { return event.RuleSpec{List: list, Text: text} }

func enforced(r event.RuleSpec) event.RuleSpec {
	r.Text = guard.RuleText(&r)
	return r
}

func before(call, then string) event.RuleSpec {
	return enforced(event.RuleSpec{List: "must", Kind: event.RuleBefore, Call: call, Before: then})
}

func never(call, after string) event.RuleSpec {
	return enforced(event.RuleSpec{List: "never", Kind: event.RuleNever, Call: call, After: after})
}

func TestRules(t *testing.T) {
	tools := func() (out []*tool.Definition) {
		for _, name := range []string{"check_a", "submit_a", "query_b"} {
			d := good()
			d.Name = name
			d.Confirm = "query_b"
			if name == "submit_a" {
				d.Effect = event.Once
			}
			out = append(out, d)
		}
		return out
	}
	for _, c := range []struct {
		rules []event.RuleSpec
		want  []string
	}{
		{[]event.RuleSpec{rule("must", "quote the line that each figure comes from"), rule("never", "promise a delivery date")}, nil},
		{[]event.RuleSpec{rule("must", "Be careful!")}, []string{`warning: rule must[0]: "be careful" is nothing that anybody could see`}},
		{[]event.RuleSpec{rule("never", "never lie")}, []string{"warning: rule never[0]: it stands under never and forbids once more"}},
		{[]event.RuleSpec{rule("must", "do not lie")}, []string{"hint: rule must[0]: it says what not to do, under must"}},
		{[]event.RuleSpec{rule("must", "use check_a first")}, []string{"hint: rule must[0]: it names check_a, and is only told"}},
		{[]event.RuleSpec{rule("can", "x y z"), rule("must", "answer in English"), rule("must", "Answer in English.")}, []string{"warning: rule must[1]: it says the same as rule must[0]"}},
		{[]event.RuleSpec{rule("never", "give discounts"), rule("can", "give discounts")}, []string{"error: rule can[0]: it contradicts rule never[0]"}},
		{[]event.RuleSpec{rule("must", "write each answer in plain short English sentences"), rule("must", "write each answer in short English sentences")}, []string{"hint: rule must[1]: it is nearly the same as rule must[0]"}},
		{[]event.RuleSpec{before("check_*", "submit_*")}, nil},
		{[]event.RuleSpec{before("check_a", "submit_a"), before("check_a", "submit_a")}, []string{"warning: rule must[1]: it is the same as rule must[0]"}},
		{[]event.RuleSpec{before("check_x", "submit_a")}, []string{`error: rule "call check_x before submit_a": there is no tool "check_x"`, "error: tool submit_a: it can never be called"}},
		{[]event.RuleSpec{before("check_a", "submit_a"), before("submit_a", "check_a")}, []string{"error: tool check_a: it can never be called", "error: tool submit_a: it can never be called"}},
		{[]event.RuleSpec{before("check_a", "submit_a"), never("check_a", "")}, []string{"hint: tool check_a: a rule forbids it at any time", "error: tool submit_a: it can never be called"}},
		{[]event.RuleSpec{before("check_a", "submit_a"), never("submit_a", "check_a")}, []string{"error: tool submit_a: it can never be called"}},
		// First the check, then never again: an order for both.
		{[]event.RuleSpec{before("check_a", "submit_a"), never("check_a", "submit_a")}, nil},
	} {
		expect(t, fmt.Sprint(c.rules), lint.Check(&lint.Input{Tools: tools(), Rules: c.rules}), c.want)
	}
}

func TestPermissions(t *testing.T) {
	once := good()
	once.Name, once.Effect, once.Confirm = "submit_order", event.Once, "query_orders"
	for _, c := range []struct {
		permissions []event.Permission
		want        []string
	}{
		{guard.DefaultPermissions(), nil},
		{[]event.Permission{}, []string{"warning: tool query_orders, permission: no permission matches it", "warning: tool submit_order, permission"}},
		{[]event.Permission{{Verdict: event.Allow, Match: "*"}, {Verdict: event.Ask, Match: "submit_*"}, {Verdict: event.Ask, Match: "submit_order"}}, []string{`warning: permissions: permission 3, "ask submit_order", never matters`}},
		{[]event.Permission{{Verdict: event.Allow, Match: "*"}, {Verdict: event.Deny, Match: "drop_*"}}, []string{"hint: permissions, deny drop_*: it matches none of the tools"}},
		{[]event.Permission{{Verdict: "maybe", Match: "*"}}, []string{"error: permissions: permission 1"}},
	} {
		expect(t, fmt.Sprint(c.permissions), lint.Check(&lint.Input{Tools: []*tool.Definition{good(), once}, Permissions: c.permissions}), c.want)
	}
}

func TestLists(t *testing.T) {
	list := func(n int) (out []*tool.Definition) {
		for i := range n {
			d := good()
			d.Name = fmt.Sprintf("query_%d", i)
			out = append(out, d)
		}
		return append(out, &tool.Definition{Name: "submit_result", Harness: true})
	}
	short := func(tools []*tool.Definition, tokens int) []*tool.Definition {
		for _, d := range tools {
			d.ResultTokens = tokens
		}
		return tools
	}
	for _, c := range []struct {
		in   lint.Input
		want []string
	}{
		{lint.Input{Tools: list(10)}, nil},
		{lint.Input{Tools: list(11)}, []string{"hint: tools: a request offers 11 tools"}},
		{lint.Input{Tools: list(16)}, []string{"warning: tools: a request offers 16 tools"}},
		{lint.Input{Tools: list(16), Offered: []string{"query_1"}}, nil},
		{lint.Input{Tools: list(20), Phases: []event.PhaseSpec{{Name: "a", Tools: []string{"query_1*"}}, {Name: "b", Tools: []string{"*"}}}},
			[]string{"hint: phase a: a request offers 11", "warning: phase b: a request offers 20"}},
		{lint.Input{Tools: list(9), Window: event.WindowSpec{Size: 8192, Reserve: 1024}}, nil},
		{lint.Input{Tools: list(9), Window: event.WindowSpec{Size: 2048, Reserve: 512}}, []string{"error: budget: no run can start: some "}},
		{lint.Input{Tools: short(list(9), 300), Window: event.WindowSpec{Size: 2048, Reserve: 512}}, []string{"warning: budget: some"}},
		{lint.Input{Tools: short(list(9), 300), Window: event.WindowSpec{Size: 4096, Reserve: 1024}}, []string{"hint: budget, tools: tools take some "}},
		{lint.Input{Tools: short(list(9), 300), Window: event.WindowSpec{Size: 4096, Reserve: 1024, Shares: []event.BlockShare{{Name: "tools", Share: 400_000}}}}, nil},
		{lint.Input{System: []event.Block{{Text: strings.Repeat("Answer in English. ", 100)}}, Window: event.WindowSpec{Size: 2400}}, []string{"hint: budget, rules: contract and rules take some "}},
		{lint.Input{System: []event.Block{{Text: strings.Repeat("Answer in English. ", 500)}}, Window: event.WindowSpec{Size: 3000}}, []string{"warning: budget: some"}},
	} {
		expect(t, fmt.Sprint(len(c.in.Tools)), lint.Check(&c.in), c.want)
	}
}

func TestWorst(t *testing.T) {
	if w := lint.Worst(nil); w != "" {
		t.Errorf("nothing is %s", w)
	}
	if w := lint.Worst([]lint.Finding{{Level: lint.Hint}, {Level: lint.Error}, {Level: lint.Warning}}); w != lint.Error {
		t.Errorf("%s", w)
	}
}

// Schemas come from servers: whatever stands in them, lint reads on.
func FuzzSchema(f *testing.F) {
	f.Add(`{"properties":{"a":{"items":{"properties":{"b":{}}}}}}`)
	f.Add(`{"properties":[]}`)
	f.Add("x")
	f.Fuzz(func(t *testing.T, schema string) {
		d := good()
		d.Schema = []byte(schema)
		for _, found := range lint.Tools(definition{d}) {
			if found.Problem == "" || found.Fix == "" {
				t.Errorf("%+v", found)
			}
		}
	})
}
