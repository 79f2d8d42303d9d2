package stats_test

import (
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/trace/stats"
)

// An agent's version changes with what the model is told, may do and is held to, and
// with nothing else.
func TestVersion(t *testing.T) {
	make := func() event.Spec {
		return event.Spec{Agent: "desk", Model: "a/b", System: []event.Block{{Name: "contract", Text: "Use the tools.", Tokens: message.Known(4)}},
			Tools: []event.ToolSpec{{Name: "read", Description: "Reads.", Effect: event.Read, Tokens: message.Known(9)}}, Limits: event.Limits{Steps: 20},
			Permissions: []event.Permission{{Verdict: event.Allow, Match: "effect:read"}}, Window: event.WindowSpec{Strategy: "layered", Size: 8000}}
	}
	first := make()
	was := stats.Version(&first)
	if len(was) != 8 || stats.Version(&first) != was || first.Model != "a/b" || first.System[0].Tokens == 0 || first.Tools[0].Tokens == 0 {
		t.Fatalf("version %q, and the spec is now %+v", was, first)
	}
	for what, c := range map[string]struct {
		change func(*event.Spec)
		same   bool
	}{
		"name":             {func(s *event.Spec) { s.Agent = "other" }, true},
		"model":            {func(s *event.Spec) { s.Model, s.Fallback = "c/d", []string{"e/f"} }, true},
		"price":            {func(s *event.Spec) { s.Prices = []event.ModelPrice{{Model: "a/b"}} }, true},
		"calling":          {func(s *event.Spec) { s.Calling = []event.ModelCalling{{Model: "a/b", Strict: true}} }, true},
		"window's size":    {func(s *event.Spec) { s.Window.Size, s.Window.Tokenizer = 128_000, "o200k_base" }, true},
		"counts":           {func(s *event.Spec) { s.System[0].Tokens, s.Tools[0].Tokens = message.Known(5), message.Known(8) }, true},
		"file and folder":  {func(s *event.Spec) { s.Config, s.BaseDir = "# a comment", "elsewhere" }, true},
		"seed":             {func(s *event.Spec) { s.Seed = 7 }, true},
		"chat":             {func(s *event.Spec) { s.Chat = true }, true},
		"rule":             {func(s *event.Spec) { s.System[0].Text += " Never refund." }, false},
		"tool":             {func(s *event.Spec) { s.Tools = append(s.Tools, event.ToolSpec{Name: "send"}) }, false},
		"tool's document":  {func(s *event.Spec) { s.Tools[0].Description = "Reads a file." }, false},
		"tool's effect":    {func(s *event.Spec) { s.Tools[0].Effect = event.Once }, false},
		"limit":            {func(s *event.Spec) { s.Limits.Steps = 21 }, false},
		"permission":       {func(s *event.Spec) { s.Permissions[0].Verdict = event.Ask }, false},
		"strategy":         {func(s *event.Spec) { s.Window.Strategy = "full" }, false},
		"check":            {func(s *event.Spec) { s.Check = true }, false},
		"sampling":         {func(s *event.Spec) { s.Sampling.Temperature = "0.2" }, false},
		"form of a result": {func(s *event.Spec) { s.Submit = []byte(`{"type":"object"}`) }, false},
	} {
		s := make()
		c.change(&s)
		if same := stats.Version(&s) == was; same != c.same {
			t.Errorf("%s: the same version: %v, want %v", what, same, c.same)
		}
	}
}
