package config

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

func listing(name string) tool.Tool {
	type in struct{}
	return tool.New(name, tool.Doc{What: "Lists."}, func(context.Context, in) (string, error) { return "", nil },
		&tool.Options{Effect: event.Read, Show: event.ShowSpec{Drop: []string{"html"}, Limit: 50}})
}

// What the file says of results goes over what the tool says of itself; an entry
// for the tool goes before one with a pattern.
func TestResults(t *testing.T) {
	a, err := Parse("agent.yaml", []byte(`
results:
  list_*: {limit: 10, noise: [columns, timestamps]}
  list_orders: {tokens: 3000, select: [id, status], summarise: [status], field: 300}
`))
	if err != nil {
		t.Fatal(err)
	}
	o, close, err := a.Options(listing("list_orders"), listing("list_items"), listing("get_order"))
	if err != nil {
		t.Fatal(err)
	}
	defer close()
	for i, want := range []tool.Definition{
		{ResultTokens: 3000, Show: event.ShowSpec{Select: []string{"id", "status"}, Drop: []string{"html"}, Limit: 50, Summarise: []string{"status"}, Field: 300}},
		{Show: event.ShowSpec{Drop: []string{"html"}, Limit: 10, Noise: []string{"columns", "timestamps"}}},
		{Show: event.ShowSpec{Drop: []string{"html"}, Limit: 50}},
	} {
		if d := o.Tools[i].Definition(); !reflect.DeepEqual(d.Show, want.Show) || d.ResultTokens != want.ResultTokens {
			t.Errorf("%s: %d tokens, %+v", d.Name, d.ResultTokens, d.Show)
		}
	}
}

func TestResultsRefused(t *testing.T) {
	for text, says := range map[string]string{
		"results: {list_order: {limit: 3}}":                           `there is no tool "list_order"`,
		"results: {\"list_*\": {limit: 3}, \"*_orders\": {limit: 4}}": `"*_orders" and "list_*" both match the tool list_orders: give that an entry of its own`,
		"results: {list_orders: {noise: [time]}}":                     `"time"`,
		"results: {list_orders: {limit: 0}}":                          "from 1 to 1000000",
		"results: {list_orders: {fields: [id]}}":                      `"fields"`,
	} {
		a, err := Parse("agent.yaml", []byte(text))
		if err == nil {
			_, _, err = a.Options(listing("list_orders"), listing("list_items"))
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
