package rein_test

import (
	"context"
	"strings"
	"testing"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// named is a model under another name, with a window and a price.
type named struct {
	model.Client
	info model.Info
}

func (n named) Info() model.Info { return n.info }

// A run says in its journal what its models cost and falls back to; it is charged
// at the price of the model that answered.
func TestFallbackAndCost(t *testing.T) {
	price := func(output int64) *message.Price { return &message.Price{Output: output} }
	first := named{client(`{turns: [{faults: [{status: 400}], say: no}]}`), model.Info{Provider: "a", Model: "one", Window: 200_000, Price: price(5)}}
	second := named{client(`{turns: [{say: Hello., usage: {input: 10, output: 1000}}]}`), model.Info{Provider: "b", Model: "two", Window: 100_000, Price: price(3_000_000)}}
	a, err := rein.New(first, &rein.Options{Fallback: []model.Client{second}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	run := a.Start(context.Background(), "say hello")
	for e, err := range run.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := e.Data.(*event.RunStarted); ok {
			s := &d.Spec
			if s.Model != "a/one" || len(s.Fallback) != 1 || s.Fallback[0] != "b/two" || s.Price("b/two").Output != 3_000_000 || s.Price("c/three") != nil {
				t.Errorf("the spec has model %s, fallback %q, prices %+v", s.Model, s.Fallback, s.Prices)
			}
			if s.Window.Size != 100_000 {
				t.Errorf("the window is %d, not the smaller one", s.Window.Size)
			}
		}
	}
	res, err := run.Result()
	if err != nil || res.Answer != "Hello." {
		t.Fatalf("got %+v, %v", res, err)
	}
	if cost, ok := res.Cost.Get(); !ok || cost != 3_000 {
		t.Errorf("the run cost %d millionths, %v", cost, ok)
	}
}

func TestUnknownCost(t *testing.T) {
	a := newAgent(t, `{turns: [{say: Hello.}]}`, nil)
	res, err := a.Run(context.Background(), "say hello")
	if err != nil || !res.OK {
		t.Fatalf("got %+v, %v", res, err)
	}
	if cost, ok := res.Cost.Get(); ok {
		t.Errorf("the run cost %d millionths, at no known price", cost)
	}
}

func TestModelNamedTwice(t *testing.T) {
	c := client(`{turns: [hi]}`)
	if _, err := rein.New(c, &rein.Options{Fallback: []model.Client{c}}); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("error %v", err)
	}
}
