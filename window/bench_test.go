package window_test

import (
	"fmt"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/window"
)

// longTalk is a conversation of so many groups, at its mark.
func longTalk(b *testing.B, groups int) *window.View {
	s := script{view: window.View{Spec: &event.WindowSpec{}, Reach: window.Reach{Search: true, Page: true}}}
	for k := range groups {
		s.calls = k
		a := fmt.Sprintf(`a I look at order KX-%d -> read_order {"order":"KX-%d"}`, k, k)
		r := fmt.Sprintf("r | KX-%d of Brink & Sons: %d.50 EUR, due 2024-05-1%d ~250", k, k, k%10)
		for _, line := range []string{a, r} {
			s.message(b, line)
		}
	}
	v := &s.view
	v.Budget = v.Total() + 1
	v.Trigger, v.Target = window.Marks(v.Spec, window.MarksIn{Budget: v.Budget})
	return v
}

// BenchmarkPlan plans for, and takes the snapshot of, a conversation of 1,000
// messages: what a boundary costs beside the summary.
func BenchmarkPlan(b *testing.B) {
	v := longTalk(b, 500)
	for _, name := range window.Strategies() {
		strategy, err := window.For(name)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p := strategy.Plan(v)
				window.TakeSnapshot(v, &p, "")
			}
		})
	}
}
