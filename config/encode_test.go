package config

import (
	"reflect"
	"strings"
	"testing"
)

func TestWrittenAgentIsReadAsTheSame(t *testing.T) {
	for _, s := range good {
		roundTrip(t, s)
	}
}

func roundTrip(t *testing.T, text string) {
	t.Helper()
	a, err := Parse("f", []byte(text))
	if err != nil {
		return
	}
	written := a.encode()
	b, err := Parse("written", []byte(written))
	if err != nil {
		t.Fatalf("%q was written as %s and not read again: %v", text, written, err)
	}
	a.source, b.source = source{}, source{}
	a.normalise()
	b.normalise()
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%q\n     is %+v\nbecomes %+v", text, a, b)
	}
}

// normalise makes empty lists nil: both mean the same.
func (a *Agent) normalise() {
	lists := []*[]string{&a.Rules.Can}
	for _, l := range []*[]Rule{&a.Rules.Never, &a.Rules.Must} {
		if len(*l) == 0 {
			*l = nil
		}
	}
	if len(a.Phases) == 0 {
		a.Phases = nil
	}
	if p := a.Permissions; p != nil {
		lists = append(lists, &p.Allow, &p.Ask, &p.Deny)
	}
	for _, l := range lists {
		if len(*l) == 0 {
			*l = nil
		}
	}
	if len(a.Tools) == 0 {
		a.Tools = nil
	}
}

func TestWith(t *testing.T) {
	a, err := Parse("f", []byte("# mine\nmodel: openai/a\nretry: fast\n"))
	if err != nil {
		t.Fatal(err)
	}
	same, err := a.With(Changes{})
	if err != nil || same.Text() != a.Text() {
		t.Errorf("without changes the text is %q, error %v", same.Text(), err)
	}
	b, err := a.With(Changes{Model: "openai/b", BaseURL: "http://127.0.0.1:1/v1", KeyEnv: "MY_KEY"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse("f", []byte(b.Text()))
	if err != nil || c.Model != "openai/b" || c.BaseURL != "http://127.0.0.1:1/v1" || c.KeyEnv != "MY_KEY" || c.Retry != "fast" {
		t.Errorf("the text says %+v, error %v", c, err)
	}
	if a.Model != "openai/a" {
		t.Error("With changed the agent itself")
	}
	_, err = a.With(Changes{Model: "gpt", BaseURL: "localhost"})
	if err == nil || strings.Count(err.Error(), "command line: ") != 2 {
		t.Errorf("error %v", err)
	}
}

// What belongs to the file's model does not go over to another one.
func TestWithAnotherModel(t *testing.T) {
	const rest = "key_env: K\nbase_url: http://h/v1\nprice: {input: 1, output: 1}\ncalls: {dialect: react}\nwindow: {size: 4096, reserve: 100, tokenizer: cl100k_base}\nfallback: [openai/b, ollama/q]\n"
	for _, c := range []struct {
		file, model string
		key, price  bool
		fallback    int
	}{
		{"model: openai/a\n", "openai/a", true, true, 2},
		{"model: openai/a\n", "openai/c", true, false, 2},
		{"model: openai/a\n", "openai/b", true, false, 1},
		{"model: openai/a\n", "ollama/q", false, false, 1},
		{"model: openai/a\n", "openai-chat/a", false, false, 2},
		{"", "ollama/x", true, true, 2},
	} {
		a, err := Parse("f", []byte(c.file+rest))
		if err != nil {
			t.Fatal(err)
		}
		b, err := a.With(Changes{Model: c.model})
		if err == nil {
			b, err = Parse("f", []byte(b.Text())) // as a run that is resumed reads it
		}
		if err != nil {
			t.Errorf("%s%s: %v", c.file, c.model, err)
			continue
		}
		if b.Model != c.model || (b.KeyEnv != "") != c.key || (b.BaseURL != "") != c.key || (b.Price != nil) != c.price || (b.Calls.Dialect != "") != c.price || (b.Window.Size != 0) != c.price || (b.Window.Tokenizer != "") != c.price || b.Window.Reserve != 100 || len(b.Fallback) != c.fallback {
			t.Errorf("%s%s: %s", c.file, c.model, b.Text())
		}
		if a.KeyEnv != "K" || a.Price == nil || len(a.Fallback) != 2 {
			t.Error("With changed the agent itself")
		}
	}
	a, _ := Parse("f", []byte("model: openai/a\n"+rest))
	if b, err := a.With(Changes{Model: "ollama/q", BaseURL: "http://g/v1", KeyEnv: "L"}); err != nil || b.BaseURL != "http://g/v1" || b.KeyEnv != "L" {
		t.Errorf("what the command line names is lost: %+v, %v", b, err)
	}
}
