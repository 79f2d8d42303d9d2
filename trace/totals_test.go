package trace_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/trace"
)

// at is an event of a history, at a moment in milliseconds.
type at struct {
	ms   int64
	data event.Data
}

// fold folds a history.
func fold(history ...at) *trace.Fold {
	f := &trace.Fold{}
	for i, h := range history {
		f.Add(&event.Event{Run: "r", Seq: int64(i) + 1, Time: h.ms, Data: h.data})
	}
	return f
}

// used is a usage: input, cached, cache writes, output, reasoning; -1 is unknown.
func used(in, cached, written, out, reasoning int64) message.Usage {
	return message.Usage{Input: message.Known(in), Cached: message.Known(cached), CacheWrite: message.Known(written), Output: message.Known(out), Reasoning: message.Known(reasoning)}
}

// priced is a spec whose tokens cost a dollar a token of output, half of that anew, a
// tenth cached and a fifth written.
func priced(models ...string) event.Spec {
	const dollar = 1_000_000_000_000
	var s event.Spec
	for _, m := range models {
		s.Prices = append(s.Prices, event.ModelPrice{Model: m, Price: message.Price{Input: dollar / 2, Cached: dollar / 10, CacheWrite: dollar / 5, Output: dollar}})
	}
	return s
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Every moment of a run is somebody's: the model's, a tool's, a person's, a server's
// that is waited for, nobody's, or the harness's own.
func TestTimes(t *testing.T) {
	f := fold(
		at{0, &event.RunStarted{}},
		at{3, &event.ModelCalled{ID: "a", Step: 1}},                  // between: 3
		at{103, &event.ModelFailed{ID: "a", Waited: 40}},             // servers: 40, models: 60
		at{153, &event.ModelCalled{ID: "b", Step: 1}},                // servers: 50
		at{253, &event.ModelAnswered{ID: "b"}},                       // models: 100
		at{255, &event.CallJudged{Call: "c1"}},                       // between: 2
		at{255, &event.ApprovalAsked{Call: "c2"}},                    //
		at{256, &event.ToolStarted{ID: "t1", Call: "c1"}},            // people: 1
		at{260, &event.ToolStarted{ID: "t2", Call: "c3"}},            // tools: 4
		at{300, &event.ToolFinished{ID: "t1", Call: "c1"}},           // tools: 40
		at{320, &event.ToolFinished{ID: "t2", Call: "c3"}},           // tools: 20
		at{520, &event.TimerFired{}},                                 // servers: 200
		at{530, &event.RunPaused{Cause: event.CauseWaitingApproval}}, // people: 10
		at{1_530, &event.ApprovalGiven{Call: "c2"}},                  // people: 1000
		at{1_531, &event.RunResumed{}},                               // people: 1
		at{1_540, &event.ToolStarted{ID: "t3", Call: "c2"}},          // between: 9
		at{9_540, &event.RunResumed{}},                               // its process has died: stopped: 8000
		at{9_000, &event.ToolFinished{ID: "t3", Call: "c2"}},         // a clock was set back
		at{9_550, &event.RunPaused{Cause: event.CauseInterrupted}},   // between: 10
		at{9_650, &event.InputReceived{}},                            // stopped: 100
		at{9_660, &event.RunResumed{}},                               // stopped: 10
		at{9_670, &event.RunFinished{Reason: event.ReasonAnswered}},  // between: 10
	)
	got := *f.Totals().Time
	want := trace.Times{Wall: 9_670, Models: 160, Servers: 290, Tools: 64, People: 1_012, Stopped: 8_110, Between: 34}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if sum := got.Models + got.Servers + got.Tools + got.People + got.Stopped + got.Between; sum != got.Wall {
		t.Errorf("the parts are %d of %d", sum, got.Wall)
	}
}

// Tokens and cost are told by what they were paid for, each part at its own price, and
// their sum is the whole.
func TestTotals(t *testing.T) {
	f := fold(
		at{0, &event.RunStarted{Spec: priced("a", "b")}},
		at{1, &event.ModelCalled{ID: "1", Step: 1, Model: "a", Purpose: event.PurposeStep}},
		at{2, &event.ModelAnswered{ID: "1", Usage: used(100, 60, 20, 10, 4), First: message.Known(1), Latency: 5, Waited: 2}},
		at{2, &event.ReplyParsed{ID: "1"}},
		at{3, &event.ModelCalled{ID: "2", Step: 2, Model: "b", Purpose: event.PurposeStep}},
		at{4, &event.ModelFailed{ID: "2", Class: event.ClassNetwork}},
		at{5, &event.ModelCalled{ID: "3", Step: 2, Model: "a", Purpose: event.PurposeStep}},
		at{6, &event.ModelAnswered{ID: "3", Usage: used(200, 100, 0, 1, 0)}},
		at{6, &event.ReplyParsed{ID: "3"}},
		at{7, &event.CallJudged{Call: "c", Tool: "t"}},
		at{8, &event.ToolStarted{ID: "t1", Call: "c", Tool: "t", Attempt: 1}},
		at{9, &event.ToolFinished{ID: "t1", Call: "c", Tool: "t", Latency: 3}},
		at{10, &event.ToolStarted{ID: "t2", Call: "c", Tool: "t", Attempt: 2}},
		at{11, &event.ToolFinished{ID: "t2", Call: "c", Tool: "t", Latency: 4}},
		at{12, &event.ModelCalled{ID: "4", Step: 3, Model: "b", Purpose: event.PurposeStep}},
	)
	const want = `{"steps":2,"model_calls":4,"tool_calls":1,"unreported_calls":0,"unanswered_calls":1,` +
		`"time":{"wall_ms":12,"models_ms":2,"servers_ms":2,"tools_ms":2,"people_ms":0,"stopped_ms":0,"between_ms":6},` +
		`"tokens":{"input_tokens":300,"uncached_tokens":120,"cached_tokens":160,"cache_write_tokens":20,"output_tokens":11,"reasoning_tokens":4},` +
		`"cost_usd":91.000000,"cost_parts":{"uncached":60.000000,"cached":16.000000,"cache_write":4.000000,"output":7.000000,"reasoning":4.000000},` +
		`"models":[{"model":"a","calls":2,"tokens":311,"cost_usd":91.000000},{"model":"b","calls":2,"tokens":null,"cost_usd":null}],` +
		`"cost_with_below_usd":91.000000}`
	if got := jsonOf(t, f.Totals()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	rows := f.Rows()
	const row = `{"cache_write_tokens":20,"reasoning_tokens":4,"cached_ppm":600000,"cost_usd":30.000000,` +
		`"cost_parts":{"uncached":10.000000,"cached":6.000000,"cache_write":4.000000,"output":6.000000,"reasoning":4.000000},"first_ms":1,"waited_ms":2,"tool_ms":null}`
	if got := jsonOf(t, rows[0]); !strings.Contains(got, strings.Trim(row, "{}")) {
		t.Errorf("the first row is\n%s\nand has no\n%s", got, row)
	}
	if call := rows[3]; *call.ToolMS != 7 || *call.LatencyMS != 4 || call.Cost != nil || call.FirstMS != nil {
		t.Errorf("the call is %s", jsonOf(t, call))
	}
}

// What one server does not report makes that sum unknown, and no other: null, never 0
// and never the sum of the rest.
func TestUnknownStaysUnknown(t *testing.T) {
	begin := []at{
		{0, &event.RunStarted{Spec: priced("a")}},
		{1, &event.ModelCalled{ID: "1", Step: 1, Model: "a"}},
		{2, &event.ModelAnswered{ID: "1", Usage: used(100, 60, -1, 10, -1)}},
	}
	for _, c := range []struct {
		name, want string
		more       []at
	}{
		{"no cache writes and no reasoning", `100 40 60 null 10 null, $36.000000, 0 said nothing`, nil},
		{"another model, without a price", `200 80 120 null 20 null, null, 0 said nothing`,
			[]at{{3, &event.ModelCalled{ID: "2", Model: "b"}}, {4, &event.ModelAnswered{ID: "2", Usage: used(100, 60, -1, 10, -1)}}}},
		{"a reply without usage", `null null null null null null, null, 1 said nothing`,
			[]at{{3, &event.ModelCalled{ID: "2", Model: "a"}}, {4, &event.ModelAnswered{ID: "2"}}}},
		{"a reply that was cut", `null null null null null null, null, 1 said nothing`,
			[]at{{3, &event.ModelCalled{ID: "2", Model: "a"}}, {4, &event.ModelFailed{ID: "2", Partial: "It is"}}}},
		{"a server that was busy charges nothing", `100 40 60 null 10 null, $36.000000, 0 said nothing`,
			[]at{{3, &event.ModelCalled{ID: "2", Model: "a"}}, {4, &event.ModelFailed{ID: "2", Class: event.ClassRate}}}},
	} {
		sums := fold(append(begin[:len(begin):len(begin)], c.more...)...).Totals()
		k, cost := sums.Tokens, "null"
		if sums.Cost != nil {
			cost = "$" + jsonOf(t, sums.Cost)
		}
		got := fmt.Sprintf("%s, %s, %d said nothing", strings.Join([]string{jsonOf(t, k.Input), jsonOf(t, k.Uncached), jsonOf(t, k.Cached), jsonOf(t, k.CacheWrite), jsonOf(t, k.Output), jsonOf(t, k.Reasoning)}, " "), cost, sums.Unreported)
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		if (sums.Cost == nil) != (sums.CostParts == nil) {
			t.Errorf("%s: cost %v, but its parts are %v", c.name, sums.Cost, sums.CostParts)
		}
	}
}

// A call is counted once, under its id, however often its end is on record: as it was
// reported last. Records of streamed replies have the same usage beside each part of
// one reply, or figures that grow.
func TestUsageOncePerCall(t *testing.T) {
	for name, usages := range map[string][]message.Usage{
		"the same beside each part": {used(100, 50, 0, 30, 0), used(100, 50, 0, 30, 0), used(100, 50, 0, 30, 0)},
		"growing with the stream":   {used(100, 50, 0, 1, 0), used(100, 50, 0, 11, 0), used(100, 50, 0, 30, 0)},
		"unknown until the end":     {{}, used(100, 50, 0, 30, 0)},
	} {
		history := []at{{0, &event.RunStarted{Spec: priced("a")}}, {1, &event.ModelCalled{ID: "1", Step: 1, Model: "a", Purpose: event.PurposeStep}}}
		for i, u := range usages {
			history = append(history, at{2 + int64(i), &event.ModelAnswered{ID: "1", Usage: u, Finish: event.FinishStop}})
		}
		f := fold(history...)
		sums, rows, purposes := f.Totals(), f.Rows(), f.Purposes()
		if len(rows) != 1 || *rows[0].CompletionTokens != 30 || *rows[0].CumulativeCost != 60_000_000 || *sums.Tokens.Output != 30 || *sums.Cost != 60_000_000 || sums.Unreported != 0 ||
			*sums.Models[0].Tokens != 130 || *purposes[0].Tokens != 130 || sums.Unanswered != 0 {
			t.Errorf("%s: %s\n%s", name, jsonOf(t, rows), jsonOf(t, sums))
		}
	}
}

// A provider's figures that contradict each other are said to, and make nothing
// dearer than its whole.
func TestUnreconciled(t *testing.T) {
	for _, c := range []struct {
		usage message.Usage
		want  string
	}{
		{used(100, 60, 40, 10, 10), ""},
		{used(100, -1, -1, 10, -1), ""},
		{used(-1, 60, 40, -1, 10), ""},
		{used(100, 60, 50, 10, 0), "110 tokens were read from the cache or written to it, but only 100 went in"},
		{used(100, -1, 101, 10, 0), "101 tokens were read from the cache or written to it, but only 100 went in"},
		{used(100, 0, 0, 10, 11), "11 tokens of reasoning are more than the 10 that came out"},
		{message.Usage{Input: message.Known(1000), Output: message.Known(20), Total: message.Known(900)}, "1000 tokens of input and 20 of output are not the 900 that the server gives as their total"},
		{message.Usage{Input: message.Known(5), Invalid: true}, "the server has given a figure that no number of tokens can be, such as one below 0"},
		{used(0, -1, -1, 10, -1), "10 tokens came out, but none went in"},
	} {
		if got := strings.Join(trace.Unreconciled(&c.usage), "; "); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.usage, got, c.want)
		}
	}
	f := fold(at{0, &event.RunStarted{Spec: priced("a")}}, at{1, &event.ModelCalled{ID: "1", Model: "a"}},
		at{2, &event.ModelAnswered{ID: "1", Usage: used(100, 900, 900, 10, 900)}})
	r := f.Rows()[0]
	if len(r.Unreconciled) != 2 || r.CachedPPM != nil || *r.Cost != 20_000_000 {
		t.Errorf("the row is %s", jsonOf(t, r))
	}
}

// What runs of agents have used stands apart, and is counted once: in the cost with
// them, which the rows have too, and not in the run's own.
func TestBelow(t *testing.T) {
	spent := &event.Spent{Steps: 3, ToolCalls: 2, Usage: used(1_000, 0, 0, 50, 0), Cost: message.Known(7_000_000)}
	f := fold(
		at{0, &event.RunStarted{Spec: priced("a")}},
		at{1, &event.ModelCalled{ID: "1", Step: 1, Model: "a"}},
		at{2, &event.ModelAnswered{ID: "1", Usage: used(100, 0, 0, 10, 0)}},
		at{3, &event.CallJudged{Call: "c", Tool: "research"}},
		at{4, &event.ToolStarted{ID: "t1", Call: "c", Run: "r.1", Attempt: 1}},
		at{5, &event.ToolFinished{ID: "t1", Call: "c", Spent: spent}},
		at{6, &event.ToolStarted{ID: "t2", Call: "c", Run: "r.2", Attempt: 2}},
		at{7, &event.ToolFinished{ID: "t2", Call: "c", Spent: spent}},
	)
	sums, row := f.Totals(), f.Rows()[1]
	if *sums.Cost != 60_000_000 || *sums.Tokens.Input != 100 || *sums.CostWithBelow != 74_000_000 || *row.CumulativeCost != 74_000_000 {
		t.Errorf("the sums are %s", jsonOf(t, sums))
	}
	if b := sums.Below; b.Runs != 2 || b.Steps != 6 || b.ToolCalls != 4 || *b.Tokens.Input != 2_000 || *b.Cost != 14_000_000 || jsonOf(t, row.Below) != jsonOf(t, b) || row.Cost != nil {
		t.Errorf("below is %s, in the row %s", jsonOf(t, b), jsonOf(t, row))
	}
}

// A fork reads the events of the run that it was forked from, which has paid for them:
// its own share is the rest.
func TestForkPaysForItsOwn(t *testing.T) {
	call := func(id string, step int64) []at {
		return []at{{step * 10, &event.ModelCalled{ID: id, Step: step, Model: "a"}}, {step*10 + 5, &event.ModelAnswered{ID: id, Usage: used(100, 0, 0, 10, 0)}}}
	}
	origin := append([]at{{0, &event.RunStarted{Spec: priced("a")}}}, call("1", 1)...)
	paid := fold(origin...).Totals()
	fork := append(origin, at{5_000, &event.RunResumed{Fork: "r0"}})
	fork = append(fork, at{5_001, &event.ModelCalled{ID: "2", Step: 2, Model: "a"}}, at{5_011, &event.ModelAnswered{ID: "2", Usage: used(7, 0, 0, 3, 0)}})
	f := fold(fork...)
	sums := f.Totals()
	paid.Models = nil
	if sums.BeforeFork == nil || !reflect.DeepEqual(*sums.BeforeFork, paid) {
		t.Errorf("before the fork: %s, but the run that was forked had %s", jsonOf(t, sums.BeforeFork), jsonOf(t, paid))
	}
	if own := *sums.Cost - *sums.BeforeFork.Cost; own != 6_500_000 {
		t.Errorf("the fork itself has cost %d", own)
	}
	if own := sums.Time.Wall - sums.BeforeFork.Time.Wall; own != 11 {
		t.Errorf("the fork itself has taken %d ms", own)
	}
}

// The curve has a point for each step: of the attempt that was answered, with what
// the step has cost in all.
func TestCurve(t *testing.T) {
	f := fold(
		at{0, &event.RunStarted{Spec: priced("a")}},
		at{1, &event.ModelCalled{ID: "0", Step: 1, Model: "a", Purpose: event.PurposeSummary}},
		at{1, &event.ModelAnswered{ID: "0", Usage: used(2, 0, 0, 0, 0)}},
		at{1, &event.ModelCalled{ID: "1", Step: 1, Model: "a", Purpose: event.PurposeStep}},
		at{2, &event.ModelFailed{ID: "1", Class: event.ClassRate}},
		at{3, &event.ModelCalled{ID: "2", Step: 1, Model: "a", Purpose: event.PurposeStep}},
		at{4, &event.ModelAnswered{ID: "2", Usage: used(100, 75, 0, 10, 0)}},
		at{5, &event.CallJudged{Call: "c", Tool: "t"}},
		at{6, &event.ToolFinished{Call: "c", Tool: "t", Spent: &event.Spent{Cost: message.Known(1_000_000)}}},
		at{7, &event.ModelCalled{ID: "3", Step: 1, Model: "a", Purpose: event.PurposeReadBack}},
		at{8, &event.ModelAnswered{ID: "3", Usage: used(10, 0, 0, 0, 0)}},
		at{9, &event.ModelCalled{ID: "4", Step: 2, Model: "a", Purpose: event.PurposeStep}},
	)
	const want = `[{"step":1,"ts":1,"input_tokens":100,"output_tokens":10,"cached_ppm":750000,"cumulative_cost":37.000000},` +
		`{"step":2,"ts":9,"input_tokens":null,"output_tokens":null,"cached_ppm":null,"cumulative_cost":null}]`
	if got := jsonOf(t, trace.Curve(f.Rows())); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A call has how long a person was waited for.
func TestWaitedForPeople(t *testing.T) {
	f := fold(
		at{0, &event.RunStarted{}},
		at{1, &event.CallJudged{Call: "c", Tool: "pay"}},
		at{2, &event.CallJudged{Call: "d", Tool: "look"}},
		at{5, &event.ApprovalAsked{Call: "c"}},
		at{65, &event.ApprovalGiven{Call: "c"}},
		at{70, &event.ApprovalAsked{Call: "c", Settle: true}},
		at{80, &event.ToolFinished{Call: "c", Status: event.StatusSuccess}},
	)
	if rows := f.Rows(); *rows[0].WaitedMS != 70 || rows[1].WaitedMS != nil {
		t.Errorf("waited: %s", jsonOf(t, rows))
	}
}

// After a gap nothing is said of what came before it.
func TestGap(t *testing.T) {
	f := fold(at{0, &event.RunStarted{Spec: priced("a")}})
	f.Gap()
	f.Add(&event.Event{Run: "r", Seq: 900, Time: 1_000_000, Data: &event.ModelCalled{ID: "1", Step: 90, Model: "a"}})
	f.Add(&event.Event{Run: "r", Seq: 901, Time: 1_000_010, Data: &event.ModelAnswered{ID: "1", Usage: used(100, 0, 0, 10, 0)}})
	if r := f.Rows()[0]; r.CumulativeCost != nil || *r.Cost != 60_000_000 || f.Totals().Time.Wall != 10 {
		t.Errorf("%s, %+v", jsonOf(t, r), f.Totals().Time)
	}
}

// What another program has recorded does not say how long anything took.
func TestRecordedHasNoTimes(t *testing.T) {
	f := fold(
		at{0, &event.RunStarted{Spec: priced("a"), Origin: &event.Origin{}}},
		at{1, &event.ModelCalled{ID: "1", Step: 1, Model: "a"}},
		at{2, &event.ModelAnswered{ID: "1", Usage: used(100, 0, 0, 10, 0)}},
		at{3, &event.CallJudged{Call: "c", Tool: "t"}},
		at{4, &event.ToolFinished{ID: "t", Call: "c", Tool: "t", Status: event.StatusSuccess}},
	)
	sums, rows := f.Totals(), f.Rows()
	if sums.Time != nil || *sums.Tokens.Input != 100 || rows[0].LatencyMS != nil || rows[0].WaitedMS != nil || rows[1].LatencyMS != nil || rows[1].ToolMS != nil {
		t.Errorf("%s\n%s", jsonOf(t, sums), jsonOf(t, rows))
	}
}

// A fork of what another program has recorded is carried out here: what it does itself
// has taken a known time, what it shares has not.
func TestForkOfRecordedHasTimesOfItsOwn(t *testing.T) {
	f := fold(
		at{0, &event.RunStarted{Spec: priced("a"), Origin: &event.Origin{}}},
		at{1, &event.ModelCalled{ID: "1", Step: 1, Model: "a"}},
		at{2, &event.ModelAnswered{ID: "1", Usage: used(100, 0, 0, 10, 0)}},
		at{900, &event.RunResumed{Fork: "talk-1"}},
		at{901, &event.ModelCalled{ID: "5.0", Step: 2, Model: "a"}},
		at{951, &event.ModelAnswered{ID: "5.0", Latency: 50, Usage: used(120, 0, 0, 10, 0)}},
	)
	rows := f.Rows()
	if rows[0].LatencyMS != nil || rows[1].LatencyMS == nil || *rows[1].LatencyMS != 50 || f.Totals().Time != nil {
		t.Errorf("%s, %+v", jsonOf(t, rows), f.Totals().Time)
	}
}

// The next words of a chat end the wait for them, in whichever process they are taken.
func TestTurnsOfAChat(t *testing.T) {
	for name, words := range map[string][]at{
		"at once":            {{140, &event.InputReceived{Kind: event.InputText}}},
		"after a resumption": {{140, &event.RunResumed{}}, {140, &event.InputReceived{Kind: event.InputText}}},
	} {
		history := append([]at{{0, &event.RunStarted{Spec: priced("a")}},
			{0, &event.ModelCalled{ID: "1", Step: 1, Model: "a"}},
			{100, &event.ModelAnswered{ID: "1"}},
			{100, &event.RunPaused{Cause: event.CauseTurnDone}}}, words...)
		history = append(history, at{140, &event.ModelCalled{ID: "2", Step: 2, Model: "a"}}, at{340, &event.ModelAnswered{ID: "2"}})
		if got, want := *fold(history...).Totals().Time, (trace.Times{Wall: 340, Models: 300, People: 40}); got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}

// A part of the cost is null where its tokens are. The cost is known all the same: what
// is not known to have been cached is charged in full, which is said to people.
func TestPartsOfUnknownTokens(t *testing.T) {
	for _, c := range []struct {
		name  string
		used  []message.Usage
		parts string
		paid  string
	}{
		{"nothing but input and output", []message.Usage{used(100, -1, -1, 10, -1)},
			`{"uncached":null,"cached":null,"cache_write":null,"output":10.000000,"reasoning":null}`,
			"input at the full price 50.000000; output 10.000000"},
		{"one call of two", []message.Usage{used(100, -1, -1, 10, -1), used(100, 60, 20, 10, 4)},
			`{"uncached":null,"cached":null,"cache_write":null,"output":20.000000,"reasoning":null}`,
			"input at the full price 70.000000; output 20.000000"},
		{"no cache writes", []message.Usage{used(100, 60, -1, 10, 4)},
			`{"uncached":20.000000,"cached":6.000000,"cache_write":null,"output":6.000000,"reasoning":4.000000}`,
			"input read anew 20.000000; cached 6.000000; output 6.000000; reasoning 4.000000"},
		{"cache writes of one call of two", []message.Usage{used(100, 60, -1, 10, 4), used(100, 60, 20, 10, 4)},
			`{"uncached":30.000000,"cached":12.000000,"cache_write":null,"output":12.000000,"reasoning":8.000000}`,
			"input read anew 30.000000; cached 12.000000; written to the cache 4.000000; output 12.000000; reasoning 8.000000"},
	} {
		history := []at{{0, &event.RunStarted{Spec: priced("a")}}}
		for i, u := range c.used {
			id := fmt.Sprint(i)
			history = append(history, at{1, &event.ModelCalled{ID: id, Step: 1, Model: "a"}}, at{2, &event.ModelAnswered{ID: id, Usage: u}})
		}
		f := fold(history...)
		sums := f.Totals()
		var paid []string
		for _, p := range sums.CostParts.Paid(*sums.Cost) {
			paid = append(paid, p.What+" "+jsonOf(t, p.USD))
		}
		if got := jsonOf(t, sums.CostParts); got != c.parts || strings.Join(paid, "; ") != c.paid {
			t.Errorf("%s: got\n%s\n%s\nwant\n%s\n%s", c.name, got, strings.Join(paid, "; "), c.parts, c.paid)
		}
		if row := f.Rows()[0]; len(c.used) == 1 && jsonOf(t, row.CostParts) != c.parts {
			t.Errorf("%s: the row has %s", c.name, jsonOf(t, row.CostParts))
		}
	}
}

// Where no call was charged nobody has said that nothing was used: null, as the run's
// result has it, and not 0.
func TestNothingChargedIsUnknown(t *testing.T) {
	f := fold(
		at{0, &event.RunStarted{Spec: priced("a")}},
		at{1, &event.ModelCalled{ID: "1", Step: 1, Model: "a", Purpose: event.PurposeStep}},
		at{2, &event.ModelFailed{ID: "1", Class: event.ClassBadReply, Status: 200}},
		at{3, &event.ModelCalled{ID: "2", Step: 1, Model: "a", Purpose: event.PurposeStep}},
		at{4, &event.ModelFailed{ID: "2", Class: event.ClassRate, Status: 429}},
	)
	sums, p := f.Totals(), f.Purposes()[0]
	if sums.Tokens != (trace.Tokens{}) || sums.Cost != nil || sums.CostParts != nil || sums.CostWithBelow != nil || sums.Models[0].Tokens != nil || sums.Models[0].Cost != nil ||
		p.Tokens != nil || p.Cost != nil || sums.Steps != 0 || sums.ModelCalls != 2 {
		t.Errorf("%s\n%s", jsonOf(t, sums), jsonOf(t, p))
	}
}

// Steps are replies that are acted on: not what failed, not what a provider goes on
// with, and not what the harness asks for itself.
func TestStepsAreRepliesActedOn(t *testing.T) {
	ask := func(id string, step int64, p event.Purpose, finish event.Finish) []at {
		return []at{{1, &event.ModelCalled{ID: id, Step: step, Attempt: 1, Purpose: p}}, {2, &event.ModelAnswered{ID: id, Finish: finish}}, {2, &event.ReplyParsed{ID: id}}}
	}
	history := []at{{0, &event.RunStarted{Spec: priced("a")}}}
	for _, a := range [][]at{
		ask("0", 1, event.PurposeSummary, event.FinishStop),
		ask("1", 1, event.PurposeSummary, event.FinishStop),
		ask("2", 1, event.PurposeStep, event.FinishPause),
		ask("3", 1, event.PurposeStep, event.FinishStop),
		ask("4", 1, event.PurposeReadBack, event.FinishStop),
		ask("5", 2, event.PurposeStep, event.FinishStop),
		{{1, &event.ModelCalled{ID: "6", Step: 3, Purpose: event.PurposeStep}}, {2, &event.ModelFailed{ID: "6", Class: event.ClassRate}}},
	} {
		history = append(history, a...)
	}
	f := fold(history...)
	var attempts []int64
	for _, r := range f.Rows() {
		attempts = append(attempts, *r.Attempt)
	}
	if got := f.Totals().Steps; got != 2 || !reflect.DeepEqual(attempts, []int64{1, 2, 1, 2, 1, 1, 1}) {
		t.Errorf("%d steps, attempts %v", got, attempts)
	}
}
