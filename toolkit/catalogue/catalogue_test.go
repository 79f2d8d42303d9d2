package catalogue_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/tool"
	"rein.example/rein/toolkit/catalogue"
)

// office has tools in groups, and one without.
func office() []event.ToolSpec {
	t := func(name, group, text string) event.ToolSpec {
		return event.ToolSpec{Name: name, Group: group, Effect: event.Read, Description: text, Schema: jsontext.Value(`{"type":"object","properties":{"` + name + `_id":{}}}`)}
	}
	return []event.ToolSpec{
		t("get_now", "", "Tells the time."),
		t("query_invoices", "billing", "Finds invoices of a customer. By date or number."),
		t("refund_payment", "billing", "Gives money back for a payment.\n\nWhen to use it: a customer was charged twice."),
		t("query_orders", "orders", "Finds orders of a customer."),
		t("cancel_order", "orders", "Cancels an order that was not shipped."),
		t("ship_order", "orders", "Ships an order."),
	}
}

// run calls open_tools.
func run(t *testing.T, specs []event.ToolSpec, args string) (string, error) {
	t.Helper()
	for _, o := range catalogue.Tools(specs) {
		if o.Definition().Name == tool.OpenTools {
			r, err := o.Run(context.Background(), &tool.Call{Args: jsontext.Value(args)})
			if err != nil {
				return "", err
			}
			return r.Parts[0].Text, nil
		}
	}
	t.Fatal("there is no open_tools")
	return "", nil
}

func TestOpen(t *testing.T) {
	for _, c := range []struct {
		args      string
		want, not []string
	}{
		{`{}`, []string{"billing (2 tools):\n- query_invoices: Finds invoices of a customer.\n- refund_payment", "orders (3 tools):"}, []string{"get_now", "Arguments", "By date"}},
		{`{"group":"billing"}`, []string{"billing has 2 tools", "query_invoices (read)", "charged twice", `"refund_payment_id"`, tool.CallTool}, []string{"ship_order"}},
		{`{"tools":["ship_order","query_orders"]}`, []string{`"ship_order_id"`, `"query_orders_id"`}, []string{"cancel_order"}},
		{`{"search":"refund"}`, []string{"1 tool found", `"refund_payment_id"`}, []string{"ship"}},
		// A word of the name weighs more than one of the text, and words are bent.
		{`{"search":"orders"}`, []string{"3 tools found, the likeliest first. Call one with call_tool.\n\nquery_orders"}, []string{"invoices (read)"}},
		{`{"search":"Customers' payments"}`, []string{"\n\nrefund_payment (read)"}, nil},
		{`{"search":"weather"}`, []string{`Nothing found for "weather"`, "billing (2), orders (3)"}, nil},
	} {
		got, err := run(t, office(), c.args)
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
		}
		for _, w := range c.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s lacks %q:\n%s", c.args, w, got)
			}
		}
		for _, w := range c.not {
			if strings.Contains(got, w) {
				t.Errorf("%s has %q:\n%s", c.args, w, got)
			}
		}
	}
}

// What is not there is an error that says what is.
func TestOpenErrors(t *testing.T) {
	for args, want := range map[string]string{
		`{"group":"biling"}`:                   "did you mean billing? Groups: billing (2), orders (3).",
		`{"tools":["ship_orders"]}`:            "did you mean ship_order",
		`{"tools":["get_now"]}`:                "Groups: billing (2)", // which is offered anyway
		`{"group":"billing","search":"order"}`: "give one of them",
	} {
		_, err := run(t, office(), args)
		var e *tool.Error
		if !errors.As(err, &e) || !strings.Contains(e.Hint, want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

// The same question has the same answer, in whatever order the tools come.
func TestOrderDoesNotShow(t *testing.T) {
	specs := office()
	back := office()
	for i := range back {
		back[i] = specs[len(specs)-1-i]
	}
	for _, args := range []string{`{}`, `{"search":"order customer"}`, `{"group":"orders"}`} {
		a, _ := run(t, specs, args)
		b, _ := run(t, back, args)
		if a != b {
			t.Errorf("%s:\n%s\nand\n%s", args, a, b)
		}
	}
}

func TestAssign(t *testing.T) {
	many := func(names ...string) (out []event.ToolSpec) {
		for _, n := range names {
			out = append(out, event.ToolSpec{Name: n})
		}
		return out
	}
	var names []string
	for i := range catalogue.MaxListed - 1 {
		names = append(names, fmt.Sprintf("github_do_%d", i))
	}
	few := many(append(names, "clock")...)
	if catalogue.Assign(few) || few[0].Group != "" {
		t.Error("15 tools are a list")
	}
	more := append(many(append(names, "clock", "mail-send")...), event.ToolSpec{Name: tool.SubmitResult, Harness: true})
	if !catalogue.Assign(more) {
		t.Fatal("16 tools stay a list")
	}
	for i, want := range map[int]string{0: "github", 14: catalogue.Others, 15: catalogue.Others, 16: ""} {
		if got := more[i].Group; got != want {
			t.Errorf("%s is in the group %q, not %q", more[i].Name, got, want)
		}
	}
	declared := office()
	if !catalogue.Assign(declared) || declared[0].Group != "" {
		t.Error("declared groups were changed")
	}
}

func TestCallToolCannotCallItself(t *testing.T) {
	for _, o := range catalogue.Tools(office()) {
		if o.Definition().Name != tool.CallTool {
			continue
		}
		_, err := o.Run(context.Background(), &tool.Call{Args: jsontext.Value(`{"name":"call_tool"}`)})
		var e *tool.Error
		if !errors.As(err, &e) || !e.NoEffect {
			t.Errorf("%v", err)
		}
	}
}

// Searches are what a model wrote.
func FuzzSearch(f *testing.F) {
	f.Add("refund payment")
	f.Add("")
	f.Add("É \xff orders\x00")
	f.Fuzz(func(t *testing.T, text string) {
		args, err := jsontext.AppendQuote(nil, text)
		if err != nil {
			return
		}
		if got, err := run(t, office(), `{"search":`+string(args)+`}`); err != nil || got == "" {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	})
}
