package main

import (
	"bytes"
	"os"
	"testing"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"
)

// What is kept is what the source says.
func TestCurrent(t *testing.T) {
	// The build of a test does not say which versions it has: the version is the
	// main program's to write, and the rest is compared here.
	kept, err := os.ReadFile("../../model/catalog/models.txt")
	if err != nil {
		t.Fatal(err)
	}
	now, err := body(embedded.GetAll())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(kept, []byte(now)) {
		t.Error("model/catalog/models.txt is not current: run make generate")
	}
}

func TestLine(t *testing.T) {
	for _, c := range []struct {
		what string
		m    catwalk.Model
		want string
	}{
		{"writing the cache costs extra, reading it little",
			catwalk.Model{ID: "a", ContextWindow: 200_000, DefaultMaxTokens: 64_000, CostPer1MIn: 3, CostPer1MOut: 15, CostPer1MInCached: 3.75, CostPer1MOutCached: 0.3, CanReason: true, SupportsImages: true},
			"x a 200000 64000 3000000 300000 3750000 15000000 ri\n"},
		{"the price of reading in the other field",
			catwalk.Model{ID: "b", CostPer1MIn: 0.14, CostPer1MOut: 0.28, CostPer1MInCached: 0.0028},
			"x b - - 140000 2800 140000 280000 -\n"},
		{"the price of output in the field for reading",
			catwalk.Model{ID: "c", CostPer1MIn: 0.75, CostPer1MOut: 3.75, CostPer1MInCached: 0.075, CostPer1MOutCached: 3.75},
			"x c - - 750000 75000 750000 3750000 -\n"},
		{"no price for the cache", catwalk.Model{ID: "D", CostPer1MIn: 1, CostPer1MOut: 2}, "x d - - 1000000 1000000 1000000 2000000 -\n"},
		{"no price at all", catwalk.Model{ID: "e"}, "x e - - - - - - -\n"},
		{"free, and says so", catwalk.Model{ID: "e:free"}, "x e:free - - 0 0 0 0 -\n"},
		{"a price that cannot be", catwalk.Model{ID: "f", CostPer1MIn: -1, CostPer1MOut: 1}, "x f - - - - - - -\n"},
		{"a client's default for the longest reply", catwalk.Model{ID: "g", ContextWindow: 128_000, DefaultMaxTokens: 20_000}, "x g 128000 - - - - - -\n"},
		{"longer than the window", catwalk.Model{ID: "h", ContextWindow: 8_000, DefaultMaxTokens: 8_192}, "x h 8000 - - - - - -\n"},
	} {
		got, err := line("x", &c.m, false)
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.what, got, err, c.want)
		}
	}
	if got, err := line("x", &catwalk.Model{ID: "two words"}, false); err == nil {
		t.Errorf("got %q", got)
	}
}
