package window_test

import (
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/window"
)

func TestMarks(t *testing.T) {
	for _, c := range []struct {
		name            string
		spec            event.WindowSpec
		in              window.MarksIn
		trigger, target int64
	}{
		{"an unknown window", event.WindowSpec{}, window.MarksIn{Growth: 100}, 0, 0},
		{"nothing known yet", event.WindowSpec{}, window.MarksIn{Budget: 10_000}, 8500, 3300},
		{"set", event.WindowSpec{Trigger: 900_000, Target: 200_000}, window.MarksIn{Budget: 10_000, Growth: 1}, 9000, 2000},
		{"set too near to each other", event.WindowSpec{Trigger: 500_000, Target: 450_000}, window.MarksIn{Budget: 10_000}, 5000, 2000},
		{"set too low to land below", event.WindowSpec{Trigger: 200_000}, window.MarksIn{Budget: 10_000}, 2000, 0},
		{"nonsense", event.WindowSpec{Trigger: -1, Target: 7_000_000}, window.MarksIn{Budget: 10_000}, 8500, 3300},
		{"small steps: the distance", event.WindowSpec{}, window.MarksIn{Budget: 32_000, Fixed: 2000, Anchors: 1000, Growth: 200}, 20_160, 10_560},
		{"larger steps: 24 of them", event.WindowSpec{}, window.MarksIn{Budget: 32_000, Fixed: 2000, Anchors: 1000, Growth: 500}, 22_560, 10_560},
		{"large steps: the most", event.WindowSpec{}, window.MarksIn{Budget: 32_000, Fixed: 2000, Anchors: 1000, Growth: 5000}, 27_200, 10_560},
		{"cheap caching: dear to begin early", event.WindowSpec{}, window.MarksIn{Budget: 100_000, Fixed: 3000, Growth: 700, CachedPPM: 20_000}, 78_871, 33_000},
		{"no cheaper when cached", event.WindowSpec{}, window.MarksIn{Budget: 200_000, Growth: 100, CachedPPM: 1_000_000}, 126_000, 66_000},
		{"absurd", event.WindowSpec{}, window.MarksIn{Budget: 1 << 62, Growth: 1 << 62, Fixed: 1 << 62, Summary: 1 << 60}, 3919933115663279718, 1521856386081038008},
	} {
		trigger, target := window.Marks(&c.spec, c.in)
		if trigger != c.trigger || target != c.target {
			t.Errorf("%s: begins at %d and lands at %d, want %d and %d", c.name, trigger, target, c.trigger, c.target)
		}
	}
}

// Between the marks lie at least 0.3 of the budget, or all that there is below the
// trigger, whatever is set.
func TestMarksKeepTheirDistance(t *testing.T) {
	for trigger := int64(0); trigger <= 1_000_000; trigger += 50_000 {
		for target := int64(0); target <= 1_000_000; target += 50_000 {
			for _, growth := range []int64{0, 1, 100, 3000} {
				in := window.MarksIn{Budget: 10_000, Fixed: 500, Anchors: 700, Growth: growth, Summary: 600}
				high, low := window.Marks(&event.WindowSpec{Trigger: trigger, Target: target}, in)
				if high > in.Budget || low < 0 || high-low < 3000 && low > 0 {
					t.Errorf("trigger %d, target %d, growth %d: %d and %d", trigger, target, growth, high, low)
				}
			}
		}
	}
}

// Where the mark follows from the costs, no other is cheaper: neither a little
// earlier nor a little later.
func TestMarksAreCheapest(t *testing.T) {
	for _, in := range []window.MarksIn{
		{Budget: 1 << 20, Fixed: 3000, Anchors: 2000, Growth: 9500, CachedPPM: 30_000},
		{Budget: 1 << 20, Growth: 6400, CachedPPM: 20_000, Summary: 1000},
		{Budget: 200_000, Fixed: 10_000, Growth: 1680, CachedPPM: 30_000, Summary: 2000},
	} {
		high, low := window.Marks(&event.WindowSpec{}, in)
		if high*100 >= in.Budget*84 || (high-low)*100 <= in.Budget*31 {
			t.Fatalf("%+v: %d is where a bound lies", in, high)
		}
		c := in.CachedPPM
		// What a step costs on average, in millionths of a token of input, if room is
		// made whenever n steps were made.
		mean := func(n int64) int64 {
			once := (1_000_000-c)*(low-in.Fixed-in.Anchors) + c*low + 5_000_000*in.Summary
			return once/n + c*in.Growth*n/2
		}
		n := (high - low + in.Growth/2) / in.Growth
		if mean(n) > mean(n-n/10-1) || mean(n) > mean(n+n/10+1) {
			t.Errorf("%+v: %d steps cost %d each; %d fewer and more: %d and %d", in, n, mean(n), n/10, mean(n-n/10-1), mean(n+n/10+1))
		}
	}
}

func TestShares(t *testing.T) {
	spec := &event.WindowSpec{Shares: []event.BlockShare{{Name: window.BlockDigest, Share: 300_000}, {Name: "unknown", Share: 500_000}, {Name: window.BlockTools, Share: 9_000_000}}}
	for _, c := range []struct {
		name   string
		budget int64
		want   int64
	}{
		{window.BlockRules, 32_000, 4800}, {window.ShareTask, 32_000, 2560}, {window.ShareInput, 32_000, 2560}, {window.BlockMaterial, 32_000, 3200}, {window.BlockTurns, 32_000, 11_200},
		{window.BlockDigest, 32_000, 9600}, // set
		{window.BlockTools, 32_000, 32_000},
		{window.ShareState, 32_000, 400}, {window.ShareState, 1000, 100},
		{"unknown", 32_000, 0}, {window.BlockRules, 0, 0}, {window.BlockRules, -5, 0},
	} {
		if got := window.Share(spec, c.name, c.budget); got != c.want {
			t.Errorf("%s of %d is %d, want %d", c.name, c.budget, got, c.want)
		}
	}
	for _, s := range window.Shares() {
		if window.Share(&event.WindowSpec{}, s.Name, 2000) == 0 {
			t.Errorf("%s has no share", s.Name)
		}
	}
}
