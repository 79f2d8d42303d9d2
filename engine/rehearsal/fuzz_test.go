package rehearsal_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"rein.example/rein/engine/rehearsal"
	"rein.example/rein/trace/recording"
	"rein.example/rein/window"
)

// FuzzRun: whatever was recorded can be played, to its end where everything is sent,
// and what is sent is paired.
func FuzzRun(f *testing.F) {
	for _, s := range []string{
		`[{"role":"user","content":"go"},{"role":"assistant","content":"I look.","tool_calls":[{"id":"a","function":{"name":"look","arguments":"{\"at\":1}"}},{"id":"a","function":{"name":"look","arguments":"{"}}]},{"role":"tool","tool_call_id":"a","content":"shut"},{"role":"assistant","content":"One is shut."}]`,
		`[{"role":"assistant","content":"Hello"},{"role":"system","content":"x"},{"role":"assistant","tool_calls":[{"id":"","function":{"name":"","arguments":null}}]},{"role":"assistant","content":""},{"role":"tool","content":"z"}]`,
		`{"tools":[{"name":"search_history","parameters":{"type":7}}],"messages":[{"role":"user"},{"role":"assistant","tool_calls":[{"id":"c1_0","function":{"name":"search_history","arguments":"[]"}}]},{"role":"assistant","content":[{"type":"image_url","image_url":"data:,x"}]}]}`,
		`[{"role":"user","content":"<tool_call>{\"name\":\"look\"}</tool_call>"},{"role":"assistant","content":"<tool_call>{\"name\":\"look\"}</tool_call>"}]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		for c, err := range recording.Read(bytes.NewReader(in), recording.Limits{Bytes: 1 << 16, Messages: 60}) {
			if err != nil {
				continue
			}
			s := rehearsal.Prepare(c).Plant(3, 1)
			for _, name := range []string{rehearsal.Everything, window.Layered, window.TaskState} {
				r := run(t, s, rehearsal.Config{Strategy: name, Budget: rehearsal.LeastBudget})
				if r.PairViolations > 0 || name == rehearsal.Everything && (r.Ended != "" || r.Calls != s.Calls() || r.Rewrites > 0) {
					t.Errorf("%s: %d of %d calls, %d rewrites, %d pair violations, ended %q", name, r.Calls, s.Calls(), r.Rewrites, r.PairViolations, r.Ended)
				}
			}
		}
	})
}

// TestRandom plays random recordings, of which many are broken in several ways at
// once.
func TestRandom(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 0))
		text := func() string {
			return strings.Repeat(fmt.Sprintf("The sluice of mill %d is open. ", r.IntN(9)), r.IntN(3)*r.IntN(40))
		}
		id := func() string { return []string{"a", "b", "c", "", "c1_0"}[r.IntN(5)] }
		var msgs []map[string]any
		for range 5 + r.IntN(30) {
			switch r.IntN(6) {
			case 0:
				msgs = append(msgs, map[string]any{"role": "user", "content": text()})
			case 1:
				msgs = append(msgs, map[string]any{"role": "system", "content": text()})
			case 2:
				msgs = append(msgs, map[string]any{"role": "assistant", "content": text()})
			case 3:
				var calls []any
				for range 1 + r.IntN(3) {
					args := []string{"{}", `{"path":"x"}`, "{", "", `{"path":"x"}`, `[1]`}[r.IntN(6)]
					calls = append(calls, map[string]any{"id": id(), "function": map[string]any{"name": []string{"read", "write", ""}[r.IntN(3)], "arguments": args}})
				}
				msgs = append(msgs, map[string]any{"role": "assistant", "content": text(), "tool_calls": calls})
			default:
				msgs = append(msgs, map[string]any{"role": "tool", "tool_call_id": id(), "content": text()})
			}
		}
		in, err := json.Marshal(msgs)
		if err != nil {
			t.Fatal(err)
		}
		for c, err := range recording.Read(bytes.NewReader(in), recording.Limits{}) {
			if err != nil {
				continue // nothing but results without calls
			}
			s := rehearsal.Prepare(c).Plant(3, seed)
			whole(t, s, run(t, s, rehearsal.Config{Strategy: rehearsal.Everything}))
			for _, name := range window.Strategies() {
				for _, budget := range []int64{2500, 6000} { // less than users say in some, and enough for that
					rep := run(t, s, rehearsal.Config{Strategy: name, Budget: budget})
					if rep.PairViolations > 0 || budget == 6000 && rep.UsersGone > 0 {
						t.Errorf("seed %d, %s, %d: %d pair violations, %d messages of users gone", seed, name, budget, rep.PairViolations, rep.UsersGone)
					}
				}
			}
			if t.Failed() {
				t.Fatalf("seed %d: %s", seed, in)
			}
		}
	}
}
