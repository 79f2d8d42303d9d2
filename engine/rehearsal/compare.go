package rehearsal

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"rein.example/rein/window"
)

// Strategies returns the names of what can be compared: [Everything], then those of
// package window.
func Strategies() []string { return append([]string{Everything}, window.Strategies()...) }

// Scopes of sums: which conversations are in them.
const (
	// ScopeAll: all.
	ScopeAll = "all"
	// ScopeOver: those that are, sent whole, larger than the budget in the end.
	ScopeOver = "over_budget"
	// ScopeLong: those of them with at least [LongCalls] model calls.
	ScopeLong = "long"
)

// LongCalls is how many model calls a long conversation has. In shorter ones what is
// new in each step is too much of the whole for anything to be saved.
const LongCalls = 100

// Comparison is what came of several strategies and budgets.
type Comparison struct {
	// Runs are the reports of each conversation, with each budget, by each strategy,
	// in this order of nesting. [Everything] has no budget, and one report.
	Runs []*Report
	// Totals are their sums, by budget, scope and strategy; a scope that holds no
	// conversation, or the same as the one before, is left out. Everything is summed
	// for each budget and scope.
	Totals []*Report
}

// Compare rehearses scripts with every strategy and budget; of cfg everything else
// counts. each, if not nil, is called with every report as soon as there is one.
// What sending everything costs is always found out, and reported if asked for.
func Compare(ctx context.Context, scripts []*Script, strategies []string, budgets []int64, cfg Config, each func(*Report) error) (*Comparison, error) {
	if err := check(strategies, budgets); err != nil {
		return nil, err
	}
	if each == nil {
		each = func(*Report) error { return nil }
	}
	out := &Comparison{}
	counter := cfg.Counter
	bases := make([]*Report, len(scripts))
	by := map[cell][]*Report{} // reports in the order of the scripts; looked up only
	for i, s := range scripts {
		if counter != nil {
			cfg.Counter = &memo{counter, map[string]int{}}
		}
		runs, err := compareOne(ctx, s, strategies, budgets, cfg, func(r *Report) error {
			if r.Strategy == Everything {
				bases[i] = r
				if !slices.Contains(strategies, Everything) {
					return nil
				}
			}
			out.Runs = append(out.Runs, r)
			return each(r)
		})
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			k := cell{r.Strategy, r.Budget}
			by[k] = append(by[k], r)
		}
	}
	for _, b := range budgets {
		out.sum(strategies, b, bases, by)
	}
	return out, nil
}

// cell is one strategy with one budget.
type cell struct {
	strategy string
	budget   int64
}

// check says what is wrong with what is to be compared.
func check(strategies []string, budgets []int64) error {
	for _, name := range strategies {
		if name == Everything {
			continue
		}
		if _, err := window.For(name); err != nil {
			return fmt.Errorf("there is no strategy %q: take %s", name, strings.Join(Strategies(), ", "))
		}
	}
	for _, b := range budgets {
		if b < LeastBudget {
			return fmt.Errorf("a budget of %d tokens leaves no room for a conversation: give at least %d", b, LeastBudget)
		}
	}
	return nil
}

// LeastBudget is the smallest budget that is rehearsed with, in tokens.
const LeastBudget = 1000

// compareOne rehearses one script in every way, what everything costs first.
func compareOne(ctx context.Context, s *Script, strategies []string, budgets []int64, cfg Config, each func(*Report) error) ([]*Report, error) {
	cfg.Strategy, cfg.Budget = Everything, 0
	base, err := Run(ctx, s, cfg)
	if err != nil {
		return nil, err
	}
	base.Against(base)
	if err := each(base); err != nil {
		return nil, err
	}
	runs := []*Report{base}
	for _, b := range budgets {
		for _, name := range strategies {
			if name == Everything {
				continue
			}
			cfg.Strategy, cfg.Budget = name, b
			r, err := Run(ctx, s, cfg)
			if err != nil {
				return nil, fmt.Errorf("%s, %d tokens: %w", name, b, err)
			}
			r.Against(base)
			runs = append(runs, r)
			if err := each(r); err != nil {
				return nil, err
			}
		}
	}
	return runs, nil
}

// sum adds the sums for one budget.
func (c *Comparison) sum(strategies []string, budget int64, bases []*Report, by map[cell][]*Report) {
	before := -1
	for _, scope := range []string{ScopeAll, ScopeOver, ScopeLong} {
		var in []int
		for i, b := range bases {
			if scope == ScopeAll || b.Peak > budget && (scope == ScopeOver || b.Calls >= LongCalls) {
				in = append(in, i)
			}
		}
		if len(in) == 0 || len(in) == before {
			continue
		}
		before = len(in)
		pick := func(of []*Report) *Report {
			chosen := make([]*Report, len(in))
			for k, i := range in {
				chosen[k] = of[i]
			}
			return Sum(chosen)
		}
		for _, name := range strategies {
			of := bases
			if name != Everything {
				of = by[cell{name, budget}]
			}
			total := pick(of)
			total.Scope, total.Budget = scope, budget
			c.Totals = append(c.Totals, total)
		}
	}
}
