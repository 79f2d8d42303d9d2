package rehearsal_test

import (
	"os"
	"path/filepath"
	"testing"

	"rein.example/rein/engine/rehearsal"
	"rein.example/rein/model/openai"
	"rein.example/rein/trace/recording"
	"rein.example/rein/window"
)

// encoder writes requests of Chat Completions.
func encoder(t testing.TB) *openai.Encoder {
	t.Helper()
	e, err := openai.NewEncoder("openai", openai.Quirks{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// recordings returns those of other agents, and skips the test where they are not.
func recordings(t testing.TB, file string) []*rehearsal.Script {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", file))
	if err != nil {
		t.Skipf("the recordings are not here: %v", err)
	}
	defer f.Close()
	var out []*rehearsal.Script
	for c, err := range recording.Read(f, recording.Limits{}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, rehearsal.Prepare(c))
	}
	return out
}

// TestEverything: whatever was recorded is sent, whole, in the recorded order, and
// each request is the beginning of the next.
func TestEverything(t *testing.T) {
	for _, s := range recordings(t, "trajectories.jsonl") {
		s = s.Plant(40, 1)
		r, err := rehearsal.Run(t.Context(), s, rehearsal.Config{Strategy: rehearsal.Everything, Encoder: encoder(t)})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%-60s %4d msgs %4d calls %9d tok cost %9d peak %7d rewrites %d notices %d facts %d/%d %.2f %s %v %dus", r.Conversation, r.Messages, r.Calls, r.Tokens, r.Cost, r.Peak, r.Rewrites, r.Notices, r.FactsAlive, r.Facts, r.FactsMean, r.Ended, r.Repairs, r.Assembly)
		if r.Calls != s.Calls() || r.Messages != s.Messages() || r.Ended != "" {
			t.Errorf("%s: %d of %d calls, %d of %d messages; %s", r.Conversation, r.Calls, s.Calls(), r.Messages, s.Messages(), r.Ended)
		}
		if r.Rewrites+r.PairViolations+r.Compactions+r.UsersGone+r.ConstraintsGone != 0 || r.FactsAlive != r.Facts {
			t.Errorf("%+v", r)
		}
	}
}

func TestTry(t *testing.T) {
	for _, budget := range []int64{16000, 32000, 64000} {
		for _, strategy := range append([]string{rehearsal.Everything}, window.Strategies()...) {
			var all, base []*rehearsal.Report
			for _, s := range recordings(t, "trajectories.jsonl") {
				s = s.Plant(40, 1)
				b, err := rehearsal.Run(t.Context(), s, rehearsal.Config{Strategy: rehearsal.Everything, Encoder: encoder(t)})
				if err != nil {
					t.Fatal(err)
				}
				if b.Peak < budget {
					continue
				}
				r, err := rehearsal.Run(t.Context(), s, rehearsal.Config{Strategy: strategy, Budget: budget, Encoder: encoder(t)})
				if err != nil {
					t.Error(err)
					continue
				}
				r.Against(b)
				show(t, r)
				all, base = append(all, r), append(base, b)
			}
			r := rehearsal.Sum(all)
			r.Against(rehearsal.Sum(base))
			r.Conversation = "ALL"
			show(t, r)
		}
	}
}

func show(t *testing.T, r *rehearsal.Report) {
	g := 0.0
	if r.Growth != nil {
		g = *r.Growth
	}
	t.Logf("%-10s %6d %-16.16s calls %4d cost %5.1f%% rewr %4.1f%% peak %6d over %d pair %d comp %d sum %d/%d %d users %.0f (%d) cons %.0f alive %.1f mean %.1f reach %.1f growth %.2f %v asm %d/%d/%d not %d %s", r.Strategy, r.Budget, r.Conversation, r.Calls, *r.CostPart, r.RewritePart, r.Peak, r.Overflows, r.PairViolations, r.Compactions,
		r.Summaries, r.Refused, r.SummaryTokens, r.UsersAlive, r.UsersShort, r.ConstraintsAlive, r.AlivePart, r.FactsMean, r.ReachablePart, g, r.Thirds, r.Assembly, r.AssemblyMax, r.RewriteMax, r.Notices, r.Ended)
}
