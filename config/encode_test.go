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
	lists := []*[]string{&a.Rules.Never, &a.Rules.Must, &a.Rules.Can}
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
