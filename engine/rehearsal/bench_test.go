package rehearsal_test

import (
	"fmt"
	"sync"
	"testing"

	"rein.example/rein/engine/rehearsal"
	"rein.example/rein/tokens"
	"rein.example/rein/tokens/vocab"
	"rein.example/rein/window"
)

// BenchmarkWindow prints what the context strategies keep and cost, on the shared
// recordings where they are, else on made-up ones: 40 facts in each conversation, two
// seeds in those of some length, tokens counted exactly. Of each figure there is one for all conversations,
// one for those larger than the budget (over) and one for those of them with 100 model
// calls and more (long). Costs are in percent of sending everything, with cached input
// at a tenth; growth is the cost of a call in the last third of calls 100 to 350 in
// percent of that in the first.
//
//	make bench BENCH=Window PKG=./engine/rehearsal
func BenchmarkWindow(b *testing.B) {
	var scripts []*rehearsal.Script
	recorded := recordings(b, "trajectories.jsonl")
	if recorded == nil {
		recorded = append(made(400, 1), made(60, 2)...)
	}
	for seed := range uint64(2) {
		for _, s := range recorded {
			if seed == 0 || s.Messages() >= 70 {
				scripts = append(scripts, s.Plant(40, seed+1))
			}
		}
	}
	cfg := rehearsal.Config{Encoder: encoder(b), Counter: vocab.O200k()}
	cfg.Window.Tokenizer = string(tokens.O200k)
	for _, budget := range []int64{16_000, 32_000, 64_000} {
		// All strategies at once, when the first is asked for: what everything costs has
		// to be found out for each of them.
		compare := sync.OnceValues(func() (*rehearsal.Comparison, error) {
			return rehearsal.Compare(b.Context(), scripts, rehearsal.Strategies(), []int64{budget}, cfg, nil)
		})
		for _, name := range rehearsal.Strategies() {
			b.Run(fmt.Sprintf("%dk/%s", budget/1000, name), func(b *testing.B) {
				c, err := compare()
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(0, "ns/op") // it says nothing
				for _, r := range c.Totals {
					if r.Strategy == name {
						metrics(b, r)
					}
				}
			})
		}
	}
}

// metrics reports the figures of one scope.
func metrics(b *testing.B, r *rehearsal.Report) {
	scope := map[string]string{rehearsal.ScopeAll: "all", rehearsal.ScopeOver: "over", rehearsal.ScopeLong: "long"}[r.Scope]
	put := func(n float64, unit string) { b.ReportMetric(n, unit+"_"+scope) }
	put(float64(*r.CostPart), "cost%")
	put(float64(r.RewritePart), "rewrites%")
	put(float64(r.AlivePart), "alive%")
	put(float64(r.ReachablePart), "reach%")
	if r.Growth != nil {
		put(100**r.Growth, "growth%")
	}
	if r.Scope != rehearsal.ScopeAll {
		return
	}
	put(float64(r.PairViolations), "unpaired")
	put(float64(r.Overflows), "overflows")
	put(float64(r.UsersAlive), "users%")
	put(float64(r.ConstraintsAlive), "constraints%")
}

// BenchmarkWindowAssembly prints how long it takes from a result to the request that
// it is in, at 1,000 messages: all of them in the context (full), and where the context
// was rewritten on the way (layered), with the time of the longest rewrite.
func BenchmarkWindowAssembly(b *testing.B) {
	for _, c := range []struct {
		strategy string
		budget   int64
	}{{window.Full, 10_000_000}, {window.Layered, 64_000}} {
		b.Run(c.strategy, func(b *testing.B) {
			var all []*rehearsal.Report
			scripts := made(500, 1)
			for b.Loop() {
				all = nil
				for _, s := range scripts {
					if s.Messages() < 1000 {
						b.Fatalf("%d messages", s.Messages())
					}
					all = append(all, run(b, s, rehearsal.Config{Strategy: c.strategy, Budget: c.budget}))
				}
			}
			sum := rehearsal.Sum(all)
			b.ReportMetric(0, "ns/op") // of which most is not assembly
			b.ReportMetric(float64(sum.Assembly), "µs/request")
			b.ReportMetric(float64(sum.Assembly99), "µs/p99")
			b.ReportMetric(float64(sum.AssemblyMax), "µs/slowest")
			if sum.Compactions > 0 {
				b.ReportMetric(float64(sum.RewriteMax)/1000, "ms/slowest-rewrite")
			}
		})
	}
}
