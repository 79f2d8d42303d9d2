package rein_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"rein.example/rein"
	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal/memory"
	"rein.example/rein/model"
	"rein.example/rein/tool"
)

// How its models call tools is written into a run's journal: what is known of each,
// unless the agent says otherwise.
func TestCalling(t *testing.T) {
	known := named{client(`{turns: [hi]}`), model.Info{Provider: "a", Model: "one", OwnCalls: true}}
	other := named{client(`{turns: [hi]}`), model.Info{Provider: "b", Model: "two"}}
	for name, tc := range map[string]struct {
		says []rein.Calling
		want []event.ModelCalling
	}{
		"nothing": {nil, []event.ModelCalling{{Model: "a/one"}, {Model: "b/two", Text: true}}},
		"text": {[]rein.Calling{{Text: "read"}, {Model: "b/two", Text: "ignore", Strict: "always"}},
			[]event.ModelCalling{{Model: "a/one", Text: true}, {Model: "b/two", Strict: true}}},
		"a dialect": {[]rein.Calling{{Model: "b/two", Dialect: "xml", Strict: "auto"}, {Model: "a/one", Dialect: "react", Text: "read"}},
			[]event.ModelCalling{{Model: "a/one", Dialect: "react", Text: true}, {Model: "b/two", Dialect: "qwen3_coder_xml", Text: true}}},
	} {
		a, err := rein.New(known, &rein.Options{Fallback: []model.Client{other}, Calling: tc.says})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []event.ModelCalling
		for e, err := range a.Start(context.Background(), "say hello").Events() {
			if err != nil {
				t.Fatal(err)
			}
			if d, ok := e.Data.(*event.RunStarted); ok {
				got = slices.Clone(d.Spec.Calling)
			}
		}
		for i := range got {
			if c := &got[i]; (c.Dialect != "") != (c.Tokens > 0) {
				t.Errorf("%s: what %s is told of its tools has %d tokens", name, c.Model, c.Tokens)
			} else {
				c.Tokens = 0
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: the spec says %+v, not %+v", name, got, tc.want)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestCallingThatCannotBe(t *testing.T) {
	for says, c := range map[string][]rein.Calling{
		"no such model":         {{Model: "a/other"}},
		"said twice":            {{}, {Model: "script/script"}},
		"use one of hermes":     {{Dialect: "llama3_json"}},
		"leave one of the two":  {{Dialect: "hermes", Text: "ignore"}},
		"leave strict out":      {{Dialect: "hermes", Strict: "always"}},
		"use read or ignore":    {{Text: "no"}},
		"use auto or always":    {{Strict: "never"}},
		"script/script calls t": {{Strict: "never"}},
	} {
		if _, err := rein.New(client(`{turns: [hi]}`), &rein.Options{Calling: c}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, which does not say %q", c, err, says)
		}
	}
}

// A model that has no tool calls of its own finishes a task with them all the same:
// it is told of the tools in words, and writes its calls as text.
func TestModelInDialect(t *testing.T) {
	sent := 0
	c := client(`
turns:
  - expect: {contains: ["send_note", "<tool_call>", "example_note is not one of your tools"]}
    say: |
      I will send it.
      <tool_call>
      {"name": "send_note", "arguments": {"text": "hi"}}
      </tool_call>
  - expect: {contains: ["<tool_response>\nsend_note returned:\nsent: hi\n</tool_response>"]}
    say: The note is sent.
`)
	a, err := rein.New(c, &rein.Options{Tools: []tool.Tool{send(&sent)}, Calling: []rein.Calling{{Dialect: "hermes"}},
		Permissions: []event.Permission{{Verdict: event.Allow, Match: "*"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	res, err := a.Run(context.Background(), "send it")
	if err != nil || !res.OK || res.Answer != "The note is sent." || sent != 1 {
		t.Fatalf("got %+v, %v, sent %d", res, err, sent)
	}
}

// A run that begins with a model which calls on its wire goes on with one that is
// asked for a dialect: it is told in words of what was called before. Every request
// can be made again from the journal.
func TestFallBackIntoDialect(t *testing.T) {
	sent := 0
	one := named{client(`
turns:
  - call: {name: send_note, arguments: {text: first}}
  - faults: [{status: 400}]
    say: never said
`), model.Info{Provider: "a", Model: "one", OwnCalls: true}}
	two := named{client(`
turns:
  - never asked for, as the first reply is the other model's
  - expect: {contains: ['[send_note(text="first")]', "send_note returned:\nsent: first"]}
    say: '[send_note(text="second")]'
  - expect: {contains: ['[send_note(text="second")]']}
    say: Both notes are sent.
`), model.Info{Provider: "b", Model: "two"}}
	store := memory.New()
	defer store.Close()
	a, err := rein.New(one, &rein.Options{Tools: []tool.Tool{send(&sent)}, Fallback: []model.Client{two}, Store: store,
		Calling:     []rein.Calling{{Model: "b/two", Dialect: "pythonic"}},
		Permissions: []event.Permission{{Verdict: event.Allow, Match: "*"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	ctx := context.Background()
	run := a.Start(ctx, "send two notes")
	var asked []string
	var requests []int64
	for e, err := range run.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := e.Data.(*event.ModelCalled); ok {
			asked, requests = append(asked, d.Model+" "+d.Encoder), append(requests, e.Seq)
		}
	}
	if res, err := run.Result(); err != nil || !res.OK || res.Answer != "Both notes are sent." || sent != 2 {
		t.Fatalf("got %+v, %v, sent %d", res, err, sent)
	}
	want := []string{"a/one script/1", "a/one script/1", "b/two script/1 pythonic_list/1", "b/two script/1 pythonic_list/1"}
	if !slices.Equal(asked, want) {
		t.Errorf("asked were %q, not %q", asked, want)
	}
	for _, seq := range requests {
		_, exact, err := engine.Rebuild(ctx, store, func(id engine.EncoderID) (model.Encoder, error) {
			if id.Version != "script/1" {
				t.Errorf("an encoder %q is asked for", id.Version)
			}
			return one.Encoder(), nil
		}, run.ID(), seq)
		if err != nil || !exact {
			t.Errorf("the request of event %d: exact %v, %v", seq, exact, err)
		}
	}
}
