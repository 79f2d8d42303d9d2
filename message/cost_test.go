package message

import "testing"

func TestCost(t *testing.T) {
	k := Known
	sonnet := &Price{Input: 3_000_000, Cached: 300_000, CacheWrite: 3_750_000, Output: 15_000_000}
	for _, c := range []struct {
		name  string
		usage Usage
		price *Price
		want  Cost
		total int64
		ok    bool
	}{
		{"parts", Usage{Input: k(10_000), Cached: k(8_000), CacheWrite: k(1_000), Output: k(500), Reasoning: k(200)}, sonnet,
			Cost{Uncached: 3_000, Cached: 2_400, CacheWrite: 3_750, Output: 4_500, Reasoning: 3_000}, 16_650, true},
		{"only what went in and out", Usage{Input: k(1_000_000), Output: k(1_000_000)}, sonnet,
			Cost{Uncached: 3_000_000, Output: 15_000_000}, 18_000_000, true},
		{"a free model", Usage{Input: k(10), Output: k(10)}, &Price{}, Cost{}, 0, true},
		{"nothing used", Usage{Input: k(0), Output: k(0)}, sonnet, Cost{}, 0, true},
		{"half a millionth is rounded up", Usage{Input: k(1), Output: k(0)}, &Price{Input: 500_000}, Cost{Uncached: 1}, 1, true},
		{"less is rounded down", Usage{Input: k(1), Output: k(0)}, &Price{Input: 499_999}, Cost{}, 0, true},
		{"more cached than went in", Usage{Input: k(10), Cached: k(90), CacheWrite: k(90), Output: k(10), Reasoning: k(90)}, sonnet,
			Cost{Cached: 3, Reasoning: 150}, 153, true},
		{"too much to count", Usage{Input: k(MaxCount), Output: k(MaxCount)}, sonnet,
			Cost{Uncached: MaxCount, Output: MaxCount}, MaxCount, true},
		{"a price below 0", Usage{Input: k(10), Output: k(10)}, &Price{Input: -1, Output: -1}, Cost{}, 0, true},
		{"no price", Usage{Input: k(10), Output: k(10)}, nil, Cost{}, 0, false},
		{"output unknown", Usage{Input: k(10)}, sonnet, Cost{}, 0, false},
		{"input unknown", Usage{Output: k(10)}, sonnet, Cost{}, 0, false},
		{"usage unknown", Usage{}, sonnet, Cost{}, 0, false},
	} {
		got, ok := c.usage.Cost(c.price)
		if got != c.want || ok != c.ok || got.Total() != c.total {
			t.Errorf("%s: %+v, total %d, %v; want %+v, total %d, %v", c.name, got, got.Total(), ok, c.want, c.total, c.ok)
		}
	}
}
