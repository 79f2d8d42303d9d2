package otel_test

import (
	"context"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"go.opentelemetry.io/otel/attribute"
	sdklog "go.opentelemetry.io/otel/sdk/log"

	"rein.example/rein/message"
	"rein.example/rein/trace/otel"
)

// logged keeps log records.
type logged struct{ records []sdklog.Record }

func (l *logged) Export(_ context.Context, records []sdklog.Record) error {
	for _, r := range records {
		l.records = append(l.records, r.Clone())
	}
	return nil
}

func (l *logged) Shutdown(context.Context) error   { return nil }
func (l *logged) ForceFlush(context.Context) error { return nil }

func (l *logged) String() string {
	var b strings.Builder
	for _, r := range l.records {
		b.WriteString(r.EventName() + " " + r.Severity().String() + "\n")
		r.WalkAttributes(func(kv attribute.KeyValue) bool {
			b.WriteString("  " + string(kv.Key) + " = " + kv.Value.String() + "\n")
			return true
		})
	}
	return b.String()
}

// requests are what the models of the story were asked.
func requests(context.Context, string, int64) (*otel.Request, error) {
	spec := orderDesk()
	return &otel.Request{
		System: []message.Message{message.NewText(message.System, "rules of the desk")},
		Messages: []message.Message{message.NewText(message.User, "WHICH ORDERS are late?"),
			{Role: message.Assistant, Parts: []message.Part{{Kind: message.Reasoning, Text: "hm"}, {Kind: message.ToolCall, ID: "c1", Name: "find_orders", Args: `{"sku":"SKU-77"}`}}},
			message.Result("c1", "find_orders", "three late orders", false)},
		Tools: spec.Tools,
	}, nil
}

// Nothing that was said is exported unless that is asked for, in spans or in events.
func TestContentIsLeftOut(t *testing.T) {
	for name, p := range profiles {
		for _, where := range []otel.Content{otel.NoContent, otel.ContentSpans, otel.ContentEvents, otel.ContentBoth} {
			b := watch(t, otel.Options{Profile: p, Content: where, Requests: requests}).feed(desk(t).events)
			spans, logs := tree(b.spans.GetSpans()), b.logs.String()
			for _, word := range secretWords {
				inSpans, inLogs := strings.Contains(spans, word), strings.Contains(logs, word)
				if inSpans && where&otel.ContentSpans == 0 || inLogs && where == otel.NoContent {
					t.Errorf("%s, content %d: %q is exported, in spans %v, in events %v", name, where, word, inSpans, inLogs)
				}
				errors := word == "quota exceeded" || word == "out of paper" // words of errors
				results := word == "out of paper"
				if where == otel.ContentSpans && !inSpans && (!errors || results) {
					t.Errorf("%s: %q is not in the spans", name, word)
				}
				if where == otel.ContentEvents && !inLogs && !results && word != "three late orders" {
					t.Errorf("%s: %q is not in the events", name, word)
				}
			}
			if where == otel.ContentBoth {
				golden(t, "testdata/content."+name+".txt", logs)
			}
		}
	}
}

// All content goes through the redactor, and messages stay JSON.
func TestContentIsRedacted(t *testing.T) {
	hide := func(s string) string {
		if v := jsontext.Value(s); v.IsValid() && v.Kind() == '{' {
			return `{"hidden":true}`
		}
		return "[hidden]"
	}
	b := watch(t, otel.Options{Profile: otel.GenAI, Content: otel.ContentBoth, Requests: requests, Redact: hide}).feed(desk(t).events)
	all := tree(b.spans.GetSpans()) + b.logs.String()
	for _, word := range secretWords {
		if strings.Contains(all, word) {
			t.Errorf("%q is exported", word)
		}
	}
	n := 0
	for _, s := range b.spans.GetSpans() {
		for _, k := range []attribute.Key{"gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions", "gen_ai.tool.definitions"} {
			if v := attr(s, k); v.Type() == attribute.STRING {
				n++
				if x := jsontext.Value(v.AsString()); !x.IsValid() || x.Kind() != '[' {
					t.Errorf("%s is %s", k, x)
				}
			}
		}
	}
	if n == 0 {
		t.Error("there are no messages")
	}
}
