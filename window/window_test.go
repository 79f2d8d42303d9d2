package window_test

import (
	"errors"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/tokens"
	"rein.example/rein/window"
)

func TestBudget(t *testing.T) {
	for _, c := range []struct {
		spec event.WindowSpec
		want int64
	}{
		{event.WindowSpec{}, 0}, // unknown, and not checked
		{event.WindowSpec{Size: 128_000, Reserve: 8_000}, 120_000},
		{event.WindowSpec{Size: 128_000, Reserve: 8_000, Margin: 650_000}, 78_000},
		{event.WindowSpec{Size: 1_000, Reserve: 2_000}, 1}, // nothing fits
		{event.WindowSpec{Size: 1_000, Margin: 5_000_000}, 1_000},
	} {
		if got := window.Budget(&c.spec); got != c.want {
			t.Errorf("%+v: %d, want %d", c.spec, got, c.want)
		}
	}
}

// What does not fit is refused by the name of its largest block, with what can
// be done about that one.
func TestCheckNamesTheLargestBlock(t *testing.T) {
	spec := event.WindowSpec{Size: 100}
	for _, c := range []struct {
		sizes         window.Sizes
		block, advice string
	}{
		{window.Sizes{Tools: 40, Turns: 60}, "", ""},
		{window.Sizes{Tools: 90, Turns: 20}, window.BlockTools, "fewer tools"},
		{window.Sizes{Tools: 20, Turns: 90}, window.BlockTurns, "split the task"},
		{window.Sizes{System: []event.BlockSize{{Name: window.BlockRules, Tokens: 99}}, Turns: 5}, window.BlockRules, "shorten"},
	} {
		err := window.Check(&c.sizes, &spec)
		var over *window.OverflowError
		switch {
		case c.block == "" && err != nil:
			t.Errorf("%+v: %v", c.sizes, err)
		case c.block != "" && (!errors.As(err, &over) || over.Block != c.block || !strings.Contains(err.Error(), c.advice)):
			t.Errorf("%+v: %v, want %s: %s", c.sizes, err, c.block, c.advice)
		}
	}
	if err := window.Check(&window.Sizes{Turns: 1 << 40}, &event.WindowSpec{}); err != nil {
		t.Errorf("a window of unknown size: %v", err)
	}
}

// Blocks stand in the order of the request, without empty ones.
func TestBlocks(t *testing.T) {
	s := window.Sizes{System: []event.BlockSize{{Name: "contract", Tokens: 3}, {Name: "rules"}}, Tools: 2, Turns: 1, Tail: 4}
	var got []string
	for _, b := range s.Blocks() {
		got = append(got, b.Name)
	}
	if want := "contract tools turns tail"; strings.Join(got, " ") != want || s.Total() != 10 {
		t.Errorf("got %v, %d tokens", got, s.Total())
	}
}

func TestSystemText(t *testing.T) {
	rules := window.Rules([]string{"lie"}, nil, []string{"read "})
	if want := "Never:\n- lie\nYou may:\n- read"; rules != want {
		t.Errorf("rules %q, want %q", rules, want)
	}
	m := window.System([]event.Block{{Text: "one "}, {Text: " "}, {Text: "two"}})
	if len(m) != 1 || m[0].PlainText() != "one\n\ntwo" {
		t.Errorf("got %+v", m)
	}
	if m := window.System(nil); m != nil || window.Rules(nil, nil, nil) != "" || window.Acceptance(" ") != "" {
		t.Error("nothing to say is said")
	}
	if n := (tokens.Estimate{}).Count(window.Contract); n > 200 {
		t.Errorf("the contract has %d tokens; at most 200 are allowed", n)
	}
}
