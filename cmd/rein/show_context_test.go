package main

import (
	"bytes"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/trace"
)

// contexts is a run whose context is rewritten before its second step.
func contexts() *shown {
	v := &shown{Run: "r", Agent: "desk", Model: "p/m", Status: "running"}
	var rows trace.Fold
	for i, d := range []event.Data{
		&event.RunStarted{},
		&event.ContextAssembled{Purpose: event.PurposeStep, Step: 1, Tokens: 5_200, Budget: 6_000, Method: "estimated", Messages: 9,
			Blocks: []event.BlockSize{{Name: "contract", Tokens: 200}, {Name: "turns", Tokens: 4_900}, {Name: "tail", Tokens: 100}}},
		&event.ModelCalled{ID: "2.0", Step: 1, Attempt: 1, Model: "p/m", Purpose: event.PurposeStep},
		&event.ModelAnswered{ID: "2.0", Finish: event.FinishStop},
		&event.ContextCompacted{Strategy: "layered", Why: "0.98 of the budget", Upto: 6, Summary: "The late order is\nA-1042.", Snapshot: "- never refund",
			Edits:  []event.ContextEdit{{Message: 7, Action: "stub", Why: "old_result", Text: "[rein: old result]"}, {Message: 8, Action: "stub", Why: "old_result", Text: "[rein: another]"}},
			Before: 5_900, After: 2_100, Failed: []string{"it was empty"}},
		&event.ContextAssembled{Purpose: event.PurposeStep, Step: 2, Tokens: 2_100, Messages: 4},
		&event.ModelCalled{ID: "6.0", Step: 2, Attempt: 1, Model: "p/m", Purpose: event.PurposeStep},
		&event.ModelAnswered{ID: "6.0", Finish: event.FinishStop},
	} {
		e := &event.Event{Run: "r", Seq: int64(i) + 1, Data: d}
		rows.Add(e)
		v.looks.add(e)
	}
	v.Rows, v.Compactions = rows.Rows(), rows.Compactions()
	v.Compactions[0].ReadAgain = 1
	return v
}

// A rewrite of the context is a row of the table; with --context every request says
// what it held, and the texts stand below.
func TestShowContext(t *testing.T) {
	for _, all := range []bool{false, true} {
		var out bytes.Buffer
		a := &app{out: &out, err: &bytes.Buffer{}, wide: 120}
		if err := a.table(contexts(), nil, all); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		for _, want := range []string{"context rewritten (layered)", "5900 -> 2100 tokens", "\n         0.98 of the budget\n", "messages before 6 summarised; stub old result: 2 messages", "a summary was not used: it was empty",
			"\n         after it 1 call read again what had been read before\n"} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is missing:\n%s", want, got)
			}
		}
		for _, want := range []string{"context: 5200 tokens of 6000 (86%), estimated\n", "contract 200, turns 4900, tail 100\n", "context: 2100 tokens\n",
			"rewritten at step 2:\n  summary:\n    The late order is\n    A-1042.\n  snapshot:\n    - never refund\n  message 7, stub old_result: [rein: old result]\n"} {
			if strings.Contains(got, want) != all {
				t.Errorf("with all %t: %q:\n%s", all, want, got)
			}
		}
		if i, k := strings.Index(got, "context rewritten"), strings.Index(got, "2100 tokens"); i < strings.Index(got, "p/m") || i > k {
			t.Errorf("the row is not in its place:\n%s", got)
		}
	}
}

// However many blocks there are, all are shown.
func TestComposition(t *testing.T) {
	c := &trace.Context{Tokens: 12_345, Budget: new(int64(20_000)), Method: "calibrated"}
	for _, name := range []string{"contract", "rules", "tools", "inputs", "digest", "material", "turns", "tail"} {
		c.Blocks = append(c.Blocks, event.BlockSize{Name: name, Tokens: 1_234})
	}
	got := strings.Join(composition(c, 60), "\n")
	want := "context: 12345 tokens of 20000 (61%), calibrated\n" +
		"  contract 1234, rules 1234, tools 1234, inputs 1234,\n" +
		"  digest 1234, material 1234, turns 1234, tail 1234"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
