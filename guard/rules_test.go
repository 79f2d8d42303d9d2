package guard_test

import (
	"fmt"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/tool"
)

func before(call, then string) event.RuleSpec {
	r := event.RuleSpec{List: "must", Kind: event.RuleBefore, Call: call, Before: then}
	r.Text = guard.RuleText(&r)
	return r
}

func never(call, after string) event.RuleSpec {
	r := event.RuleSpec{List: "never", Kind: event.RuleNever, Call: call, After: after}
	r.Text = guard.RuleText(&r)
	return r
}

func readBack() event.RuleSpec {
	r := event.RuleSpec{List: "must", Kind: event.RuleReadBack}
	r.Text = guard.RuleText(&r)
	return r
}

// desk are the tools of the examples below.
var desk = []event.ToolSpec{
	{Name: "check_stock", Effect: event.Read},
	{Name: "check_credit", Effect: event.Read},
	{Name: "submit_order", Effect: event.Once},
	{Name: "cancel_order", Effect: event.Once},
	{Name: "read_file", Effect: event.Read, Resources: []string{"path"}},
	{Name: "write_file", Effect: event.Repeatable, Resources: []string{"path"}},
	{Name: tool.SubmitResult, Effect: event.Repeatable, Harness: true},
}

func deskTool(name string) *event.ToolSpec {
	for i := range desk {
		if desk[i].Name == name {
			return &desk[i]
		}
	}
	return nil
}

func deskNames() (names []string) {
	for _, t := range desk {
		names = append(names, t.Name)
	}
	return names
}

// Each case is a story: calls with what became of them, "TOOL STATUS", then a
// call in question, "TOOL" or "EARLIER;TOOL" in one reply, and why it is refused;
// "" for not at all.
func TestRulesJudge(t *testing.T) {
	for _, c := range []struct {
		rule    event.RuleSpec
		story   []string
		call    string
		why, do string
	}{
		{before("check_stock", "submit_order"), nil, "submit_order", "no call of check_stock has succeeded", "call check_stock first"},
		{before("check_stock", "submit_order"), []string{"check_stock success"}, "submit_order", "", ""},
		{before("check_stock", "submit_order"), []string{"check_stock error"}, "submit_order", "no call of check_stock", ""},
		{before("check_stock", "submit_order"), []string{"check_stock denied"}, "submit_order", "no call of check_stock", ""},
		{before("check_stock", "submit_order"), []string{"check_stock intercepted"}, "submit_order", "no call of check_stock", ""},
		{before("check_stock", "submit_order"), []string{"check_credit success"}, "submit_order", "no call of check_stock", ""},
		{before("check_stock", "submit_order"), nil, "check_stock;submit_order", "no call of check_stock", ""},
		{before("check_stock", "submit_order"), nil, "cancel_order", "", ""},
		{before("check_*", "submit_*"), nil, "submit_order", "no call of check_*", "call check_stock or check_credit first"},
		{before("check_*", "submit_*"), []string{"check_credit success"}, "submit_order", "", ""},
		// A pattern that binds what it waits for would leave no first call.
		{before("check_*", "*"), nil, "check_stock", "", ""},
		{never("cancel_order", ""), nil, "cancel_order", "must not be called", "do not repeat"},
		{never("cancel_order", "submit_order"), nil, "cancel_order", "", ""},
		{never("cancel_order", "submit_order"), []string{"submit_order success"}, "cancel_order", "submit_order has been called", ""},
		{never("cancel_order", "submit_order"), []string{"submit_order error"}, "cancel_order", "", ""},
		// Nobody knows whether it was, so it counts.
		{never("cancel_order", "submit_order"), []string{"submit_order unknown"}, "cancel_order", "submit_order has been called", ""},
		{never("cancel_order", "submit_order"), []string{"submit_order timeout"}, "cancel_order", "submit_order has been called", ""},
		// Until it is found out that it did nothing, or a person says so.
		{never("cancel_order", "submit_order"), []string{"submit_order unknown", "submit_order error"}, "cancel_order", "", ""},
		{never("cancel_order", "submit_order"), []string{"submit_order unknown", "submit_order not_done"}, "cancel_order", "", ""},
		{never("cancel_order", "submit_order"), []string{"submit_order success", "submit_order error"}, "cancel_order", "has been called", ""},
		{before("submit_order", "cancel_order"), []string{"submit_order unknown"}, "cancel_order", "no call of submit_order", ""},
		{before("submit_order", "cancel_order"), []string{"submit_order unknown", "submit_order done"}, "cancel_order", "", ""},
		{never("cancel_order", "check_stock"), []string{"check_stock timeout"}, "cancel_order", "", ""},
		{never("cancel_order", "submit_order"), nil, "submit_order;cancel_order", "before it in the same reply", ""},
		{readBack(), nil, tool.SubmitResult, "", ""},
		{readBack(), []string{"write_file success a@1w"}, tool.SubmitResult, "not read since the last change: a", "read a again"},
		{readBack(), []string{"write_file success a@1w", "read_file success a@1"}, tool.SubmitResult, "", ""},
		{readBack(), []string{"write_file success a@1w", "read_file success b@1"}, tool.SubmitResult, "not read since the last change: a", ""},
		{readBack(), []string{"write_file success a@1w", "read_file success a@1", "write_file success a@2w"}, tool.SubmitResult, "not read", ""},
		// An edit of what is known in part does not say that all of it is its own.
		{readBack(), []string{"read_file success a@1", "write_file success a@2"}, tool.SubmitResult, "not read since the last change: a", ""},
		// A write that found the file as it should be has changed nothing.
		{readBack(), []string{"read_file success a@1", "write_file success a@1"}, tool.SubmitResult, "", ""},
		{readBack(), []string{"write_file success a@1w", "write_file success a@-"}, tool.SubmitResult, "", ""},
		// Every line that was written has to be read, in as many calls as it takes.
		{readBack(), []string{"write_file success a@1w/3000", "read_file success a@1:1-904/3000"}, tool.SubmitResult, "a (lines 905-3000 of 3000)", "in parts"},
		{readBack(), []string{"write_file success a@1w/30", "read_file success a@1:5-9/30", "read_file success a@1:20-20/30"}, tool.SubmitResult, "a (lines 1-4, 10-19, 21-30 of 30)", ""},
		{readBack(), []string{"write_file success a@1w/30", "read_file success a@1:11-30/30", "read_file success a@1:1-10/30"}, tool.SubmitResult, "", ""},
		// What was read before the last change does not count.
		{readBack(), []string{"write_file success a@1w/9", "read_file success a@1:1-9/9", "write_file success a@2w/9", "read_file success a@2:1-8/9"}, tool.SubmitResult, "a (lines 9 of 9)", ""},
		// Of a file that was edited, those lines that the run knows: others it did not change.
		{readBack(), []string{"read_file success a@1:10-20/99", "write_file success a@2:10-21/100", "read_file success a@2:10-21/100"}, tool.SubmitResult, "", ""},
		{readBack(), []string{"read_file success a@1:10-20/99", "write_file success a@2:10-21/100", "read_file success a@2:1-15/100"}, tool.SubmitResult, "a (lines 16-21 of 100)", ""},
		{readBack(), []string{"read_file success a@1:10-20/99", "write_file success a@2:10-12+30-31/99", "read_file success a@2:10-12/99"}, tool.SubmitResult, "a (lines 30-31 of 99)", ""},
		// Somebody else has changed it since: what was written may be anywhere.
		{readBack(), []string{"write_file success a@1w/9", "read_file success a@2:1-3/9"}, tool.SubmitResult, "a (lines 4-9 of 9)", ""},
		// A line too long to be shown whole is read when as much of it was shown as can be.
		{readBack(), []string{"write_file success a@1w/3", "read_file success a@1:1-1/3", "read_file success a@1:2-1/3", "read_file success a@1:3-3/3"}, tool.SubmitResult, "", ""},
		// An empty file has no lines, but is to be looked at.
		{readBack(), []string{"write_file success a@1w/0"}, tool.SubmitResult, "not read", ""},
		{readBack(), []string{"write_file success a@1w/0", "read_file success a@1/0"}, tool.SubmitResult, "", ""},
		{readBack(), nil, "write_file;" + tool.SubmitResult, "in the same reply", "read what write_file has changed"},
		{readBack(), []string{"write_file success a@1w"}, "submit_order", "", ""},
	} {
		r, err := guard.NewRules([]event.RuleSpec{c.rule})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range c.story {
			switch d := outcome(s); d.Status {
			case "done", "not_done": // a person's word
				r.Settle(d.Call, deskTool(d.Tool), d.Status == "done")
			default:
				r.Add(d, deskTool(d.Tool))
			}
		}
		var earlier []*event.ToolSpec
		name := c.call
		if first, second, ok := strings.Cut(c.call, ";"); ok {
			earlier, name = append(earlier, deskTool(first)), second
		}
		b := r.Judge(deskTool(name), earlier, deskNames())
		switch {
		case c.why == "" && b != nil:
			t.Errorf("%s; %v; %s: refused: %s", c.rule.Text, c.story, c.call, b.Why)
		case c.why != "" && (b == nil || !strings.Contains(b.Why, c.why) || !strings.Contains(b.Do, c.do)):
			t.Errorf("%s; %v; %s: %+v, want %q and %q", c.rule.Text, c.story, c.call, b, c.why, c.do)
		}
	}
}

// outcome reads "TOOL STATUS [RESOURCE@VERSION[w][:FROM-TO[+FROM-TO]][/LINES]]"; version -
// is gone. One without a number of lines has one, which is read.
func outcome(s string) *event.ToolFinished {
	f := strings.Fields(s)
	d := &event.ToolFinished{Call: "c", Tool: f[0], Status: event.Status(f[1])}
	if len(f) > 2 {
		name, version, _ := strings.Cut(f[2], "@")
		version, total, counted := strings.Cut(version, "/")
		version, ranges, _ := strings.Cut(version, ":")
		version, wrote := strings.CutSuffix(version, "w")
		seen := event.Seen{Resource: name, Version: version, Total: 1, Wrote: wrote, Gone: version == "-"}
		if counted {
			fmt.Sscan(total, &seen.Total)
		} else if ranges == "" && !wrote {
			ranges = "1-1"
		}
		for _, r := range strings.Split(ranges, "+") {
			fmt.Sscanf(r, "%d-%d", &seen.From, &seen.To)
			d.Seen = append(d.Seen, seen)
		}
	}
	return d
}

// What the harness asks by itself, and what is undone, is no call of the run's.
func TestRulesCountOnlyCalls(t *testing.T) {
	r, err := guard.NewRules([]event.RuleSpec{before("check_stock", "submit_order")})
	if err != nil {
		t.Fatal(err)
	}
	r.Add(&event.ToolFinished{Tool: "check_stock", Status: event.StatusSuccess, For: "c0"}, deskTool("check_stock"))
	r.Add(&event.ToolFinished{Tool: "check_stock", Status: event.StatusSuccess, Undoes: "c0"}, deskTool("check_stock"))
	if r.Judge(deskTool("submit_order"), nil, nil) == nil {
		t.Error("it counted")
	}
}

func TestRulesErrors(t *testing.T) {
	for _, c := range []struct {
		rule event.RuleSpec
		want string
	}{
		{before("", "submit_order"), "call: nothing to match"},
		{before("a", "b c"), "before: no tool name holds what stands at position 2"},
		{never("", ""), "never: nothing to match"},
		{never("a", "b."), "after: no tool name"},
		{event.RuleSpec{Kind: "from_the_future", Text: "x"}, "not known to this version"},
	} {
		if _, err := guard.NewRules([]event.RuleSpec{{Text: "be brief"}, c.rule}); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "rule 2") {
			t.Errorf("%+v: %v, want %q", c.rule, err, c.want)
		}
	}
	if _, err := guard.NewRules(make([]event.RuleSpec, guard.MaxRules+1)); err == nil {
		t.Error("too many rules were taken")
	}
}

// A journal is held against rules that its run was not bound by, too.
func TestCheck(t *testing.T) {
	rules := []event.RuleSpec{
		{List: "must", Text: "be brief"},
		before("check_stock", "submit_order"),
		never("cancel_order", "submit_order"),
		readBack(),
		before("check_credit", "refund"),
	}
	run := func(lines ...string) []event.Event {
		events := []event.Event{{Seq: 1, Data: &event.RunStarted{Spec: event.Spec{Tools: desk, Rules: rules}}}}
		add := func(d event.Data) { events = append(events, event.Event{Seq: int64(len(events) + 1), Data: d}) }
		for i, line := range lines {
			// The calls of one reply stand in one line: all are judged, then executed.
			add(&event.ReplyParsed{})
			var finished []event.Data
			for k, call := range strings.Split(line, ", ") {
				d := outcome(call)
				d.Call = fmt.Sprintf("c%d.%d", i, k)
				verdict, rule := event.Allow, ""
				if d.Status == event.StatusDenied {
					verdict, rule = event.Deny, guard.BreachRule(&rules[1])
				}
				add(&event.CallJudged{Call: d.Call, Tool: d.Tool, Verdict: verdict, Rule: rule})
				if verdict == event.Allow {
					finished = append(finished, &event.ToolStarted{Call: d.Call, Tool: d.Tool, Attempt: 1})
				}
				finished = append(finished, d)
			}
			for _, d := range finished {
				add(d)
			}
		}
		return events
	}
	for _, c := range []struct {
		name  string
		lines []string
		want  string // of rules 2 to 4
	}{
		{"nothing", nil, "kept (it never came up), kept (it never came up), kept (it never came up)"},
		{"in order", []string{"check_stock success", "submit_order success"}, "kept (1 call kept it), kept (it never came up), kept (it never came up)"},
		{"refused", []string{"submit_order denied"}, "kept (1 call refused), kept (it never came up), kept (it never came up)"},
		{"out of order", []string{"submit_order success"}, "broken [4], kept (it never came up), kept (it never came up)"},
		{"at once", []string{"check_stock success, submit_order success"}, "broken [7], kept (it never came up), kept (it never came up)"},
		{"after", []string{"check_stock success", "submit_order unknown", "cancel_order success"}, "kept (1 call kept it), broken [12], kept (it never came up)"},
		{"after, which failed", []string{"check_stock success", "submit_order error, cancel_order success"}, "kept (1 call kept it), kept (1 call kept it), kept (it never came up)"},
		{"not read back", []string{"write_file success a@1w", "submit_result success"}, "kept (it never came up), kept (it never came up), broken [8]"},
		{"read back", []string{"write_file success a@1w", "read_file success a@1", "submit_result success"}, "kept (it never came up), kept (it never came up), kept (1 call kept it)"},
	} {
		k := &guard.Check{}
		for _, e := range run(c.lines...) {
			if err := k.Add(&e); err != nil {
				t.Fatal(err)
			}
		}
		got := k.Results()
		if len(got) != len(rules) || got[0].Result != guard.Undecidable {
			t.Fatalf("%s: %+v", c.name, got)
		}
		var text []string
		for _, r := range got[1:4] {
			s := string(r.Result) + " (" + r.Why + ")"
			if r.Result == guard.RuleBroken {
				s = fmt.Sprint("broken ", r.Events)
			}
			text = append(text, s)
		}
		if s := strings.Join(text, ", "); s != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, s, c.want)
		}
	}
}

// An answer that ends a run is held to what submit_result is.
func TestCheckEnd(t *testing.T) {
	rules := []event.RuleSpec{before("check_stock", tool.SubmitResult), never(tool.SubmitResult, "cancel_order"), readBack(), never(tool.SubmitResult, "")}
	for _, c := range []struct {
		reason event.Reason
		calls  []string
		want   string
	}{
		{event.ReasonAnswered, nil, "broken kept kept kept"},
		{event.ReasonStepLimit, nil, "kept kept kept kept"},
		{event.ReasonAnswered, []string{"check_stock success", "cancel_order success", "write_file success a@1w/2"}, "kept broken broken kept"},
		{event.ReasonAnswered, []string{"check_stock success", "write_file success a@1w/2", "read_file success a@1:1-2/2"}, "kept kept kept kept"},
	} {
		k := &guard.Check{}
		data := []event.Data{&event.RunStarted{Spec: event.Spec{Tools: desk, Rules: rules}}}
		for _, s := range c.calls {
			data = append(data, outcome(s))
		}
		for i, d := range append(data, &event.RunFinished{Reason: c.reason}) {
			if err := k.Add(&event.Event{Seq: int64(i + 1), Data: d}); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for _, r := range k.Results() {
			got = append(got, string(r.Result))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s after %v: %s, want %s", c.reason, c.calls, s, c.want)
		}
	}
}

// What a person has had taken back leaves nothing to be read.
func TestReadBackUndone(t *testing.T) {
	r, err := guard.NewRules([]event.RuleSpec{readBack()})
	if err != nil {
		t.Fatal(err)
	}
	r.Add(outcome("write_file success a@1w"), deskTool("write_file"))
	d := outcome("write_file success a@-")
	d.Undoes = "c"
	r.Add(d, deskTool("write_file"))
	if b := r.JudgeEnd(nil); b != nil {
		t.Errorf("%+v", b)
	}
}

// A rule that forbids nothing is not taken for one.
func TestRuleThatForbidsNothing(t *testing.T) {
	for _, c := range []struct {
		rule event.RuleSpec
		ok   bool
	}{
		{before("get_now", "get_now"), false}, {before("get_*", "get_now"), false}, {before("*", "get_now"), false},
		{before("get_now", "get_*"), true}, {before("get_now", "*"), true},
	} {
		if _, err := guard.NewRules([]event.RuleSpec{c.rule}); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.rule.Text, err)
		}
	}
}

// What is found out later, by a person or a confirm tool, counts in a check as it
// does in the run.
func TestCheckSettled(t *testing.T) {
	tools := []event.ToolSpec{{Name: "send_plan", Effect: event.Once, Confirm: "was_sent"}, {Name: "was_sent", Effect: event.Read}, {Name: "place", Effect: event.Once}}
	for name, settled := range map[string]event.Data{
		"a person":       &event.ApprovalGiven{Call: "a", Decision: event.Done},
		"a confirm tool": &event.ToolFinished{Call: "q", Tool: "was_sent", Status: event.StatusSuccess, Result: []byte(`{"done":true}`)},
		"nobody":         &event.NoticeAdded{},
	} {
		k := &guard.Check{}
		for i, d := range []event.Data{
			&event.RunStarted{Spec: event.Spec{Tools: tools, Rules: []event.RuleSpec{before("send_plan", "place")}}},
			&event.CallJudged{Call: "a", Tool: "send_plan", Verdict: event.Allow},
			&event.ToolStarted{Call: "a", Tool: "send_plan", Attempt: 1},
			&event.ToolFinished{Call: "a", Tool: "send_plan", Status: event.StatusUnknown},
			settled,
			&event.ReplyParsed{},
			&event.CallJudged{Call: "b", Tool: "place", Verdict: event.Allow},
			&event.ToolStarted{Call: "b", Tool: "place", Attempt: 1},
		} {
			if err := k.Add(&event.Event{Seq: int64(i + 1), Data: d}); err != nil {
				t.Fatal(err)
			}
		}
		want := guard.RuleKept
		if name == "nobody" {
			want = guard.RuleBroken
		}
		if got := k.Results()[0]; got.Result != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Rules come from files and journals, names from models: neither makes the guard
// panic, and what it refuses it explains.
func FuzzRules(f *testing.F) {
	f.Add("check_*", "submit_*", "submit_order")
	f.Add("*", "*", "")
	f.Add("a**b", "\xff", "ab")
	f.Fuzz(func(t *testing.T, call, other, name string) {
		for _, spec := range []event.RuleSpec{before(call, other), never(call, other)} {
			r, err := guard.NewRules([]event.RuleSpec{spec})
			if err != nil {
				continue
			}
			one := &event.ToolSpec{Name: name, Effect: event.Once}
			b := r.Judge(one, []*event.ToolSpec{one}, []string{name})
			if b != nil && (b.Why == "" || b.Do == "") {
				t.Errorf("%+v refuses %q without a word", spec, name)
			}
			r.Add(&event.ToolFinished{Tool: name, Status: event.StatusSuccess}, one)
			r.Judge(one, nil, nil)
		}
	})
}

func TestNames(t *testing.T) {
	n, err := guard.NewNames("read_*", "clock")
	if err != nil || !n.Has("read_file") || !n.Has("clock") || n.Has("clocks") {
		t.Errorf("%v, %v", n, err)
	}
	if _, err := guard.NewNames("a", "b c"); err == nil || !strings.Contains(err.Error(), `"b c"`) {
		t.Errorf("%v", err)
	}
	var none guard.Names
	if none.Has("") || none.Has("x") {
		t.Error("the empty set has something")
	}
}
