package html_test

import (
	"errors"
	"flag"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/internal/golden"
	"rein.example/rein/journal"
	"rein.example/rein/message"
	"rein.example/rein/trace/html"
)

var update = flag.Bool("update", false, "rewrite testdata from what the code does now")

// The page of a scripted run, to be opened in a browser: testdata/run.html.
func TestPage(t *testing.T) {
	got := page(t, input())
	golden.Check(t, "testdata/run.html", []byte(got), *update, "look at the page and run the test with -update")
	if err := wellFormed(got); err != nil {
		t.Error(err)
	}
}

// What a person who looks for a fault has to find, in words.
func TestPageSays(t *testing.T) {
	got := plain(page(t, input()))
	for _, want := range []string{
		"finished: answered", "A-1041 is late, since Monday.",
		// Totals: what is not known is said, and what runs below used is not added.
		"Input tokens 1,170; cached: 800; written to the cache: unknown; neither: 370",
		"1 run, 1 step, 0 tool calls; cost $0.000148",
		// What the model saw, as LibreChat 16103 has it: folded instructions, how many
		// older messages, the new ones open, then the bytes.
		"Instructions (1)", "Tools (1): list_orders", "4 older messages, as in the requests before", "New, since the request before:",
		"The request, byte for byte: 90 bytes, exactly as it was sent", "Its first 60 bytes are those of the request at step 1; then:",
		"It cannot be built again: the encoder has changed", "At the end, made anew for each request:",
		// A text that stands on the page is not there twice.
		"of 665 bytes shown; this text stands above",
		"rate_limit, HTTP 429: slow down", "the server asked to wait 200 ms", "Attempt 2",
		"judged: allow, by effect:read", "arguments repaired: boolean at /late", "It runs with:",
		"665 of 1,280 bytes shown to the model", "the whole result, 1280 bytes", "saw of orders lines 1 to 20 of 40",
		"The context was rewritten (layered): 900 → 300 tokens", "facts that the harness took from them", "message 2: stub (old result)",
		"calls written as text (json_fence)", "noticed: an example was left alone",
		"judged: ask, by effect:once (it writes)", "Ana said: approve (fine)", "carried out by run r-top/c2",
		"Asked for: completion check", "unread rest (warning), call c1", "Look at: rein request r-top --step 2",
		"Nothing is left out of this page",
	} {
		want = strings.ReplaceAll(want, "json_fence", "json fence")
		if !strings.Contains(got, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// claude-devtools 9: the view of a run below began with its first answer. It is a run
// like any other, with what it was asked and what its model saw from step 1.
func TestRunBelow(t *testing.T) {
	got := page(t, input())
	_, section, ok := strings.Cut(got, `<section class="run" id="r1"`)
	if !ok {
		t.Fatal("the run below has no section")
	}
	said := plain(section)
	for _, want := range []string{"Before the first step", "Is A-1041 late?", "Step 1", "What the model saw", "Instructions (1)", "You are the clerk.", "it carries out call c2 of the run above"} {
		if !strings.Contains(said, want) {
			t.Errorf("the run below does not say %q", want)
		}
	}
	if strings.Index(said, "Is A-1041 late?") > strings.Index(said, "What it said") {
		t.Error("what it was asked comes after what it said")
	}
	// One that cannot be had is named.
	in := input()
	in.Below = nil
	if got := plain(page(t, in)); !strings.Contains(got, "r-top/c2 (call c2 of run r-top): not asked for") {
		t.Error("a run below that is not shown is not named")
	}
}

// METR/inspect-action 950: events were dropped because they were too large for a
// browser, and the page said that there were none. Here each cut says how much is
// missing and where it is, and the page how much in all; no event is dropped.
func TestCuts(t *testing.T) {
	r := newRecord("r", event.Spec{Model: "p/m"})
	long := strings.Repeat("ü", 50_000) // 100,000 bytes
	for i := 1; i <= 5; i++ {
		id, call := fmt.Sprint(i), fmt.Sprintf("c%d", i)
		r.add(&event.ModelCalled{ID: id, Purpose: event.PurposeStep, Step: int64(i), Attempt: 1, Model: "p/m"},
			&event.ModelAnswered{ID: id, Finish: event.FinishToolCalls},
			&event.ReplyParsed{ID: id, Format: "native", Calls: []event.ParsedCall{{ID: call, Name: "read", Args: "{}"}}},
			&event.ToolFinished{ID: id + ".0", Call: call, Tool: "read", Status: event.StatusSuccess, Parts: text(long + call), Size: 100_002, Shown: 100_002})
	}
	for name, c := range map[string]struct {
		limits html.Limits
		want   []string
	}{
		"by the limit of a text": {html.Limits{Text: 1000}, []string{"1000 of 100002 bytes shown; the rest is in rein export --format jsonl", "Left out of this page: 495,010 bytes, where 5 texts were cut to 1,000 bytes"}},
		"by that of all":         {html.Limits{All: 50_000}, []string{"of 100002 bytes shown", "where 5 texts were cut to 8,192 bytes"}},
		"not at all":             {html.Limits{Text: 200_000}, []string{"Nothing is left out of this page"}},
		"by the default":         {html.Limits{}, []string{"5 texts were cut to 65,536 bytes"}},
	} {
		run := r.run()
		got := page(t, html.Input{Run: *run, Limits: c.limits})
		for _, want := range c.want {
			if !strings.Contains(plain(got), want) {
				t.Errorf("%s: the page does not say %q", name, want)
			}
		}
		for i := 1; i <= 5; i++ {
			if !strings.Contains(got, fmt.Sprintf("c%d</pre>", i)) || !strings.Contains(got, fmt.Sprintf(">Step %d: read<", i)) {
				t.Errorf("%s: step %d, or the end of its result, is not there", name, i)
			}
		}
		if strings.ContainsRune(got, '\uFFFD') || strings.Contains(got, `<i>\x`) {
			t.Errorf("%s: a character was cut in two", name)
		}
	}
}

// The page grows with the run and not with its square: twice the steps, twice the page,
// though each request of the run has all that was said before.
func TestGrowth(t *testing.T) {
	if got := len(page(t, html.Input{Run: *long(200).run()})); got > 200*12_000 {
		t.Errorf("200 steps of 1 KB take %d bytes", got)
	}
	half, all := len(page(t, html.Input{Run: *long(400).run()})), len(page(t, html.Input{Run: *long(800).run()}))
	if all > half*22/10 {
		t.Errorf("400 steps take %d bytes, 800 take %d", half, all)
	}
}

// long is a run of n steps with a result of 1 KB each.
func long(n int) *record {
	r := newRecord("r", event.Spec{Model: "p/m"})
	var told []message.Message
	var body []byte
	var last int64
	for i := 1; i <= n; i++ {
		id, call := fmt.Sprint(i), fmt.Sprintf("c%d", i)
		seq := r.add(&event.ContextAssembled{Step: int64(i), Tokens: int64(300 * i), Messages: int64(2 * i), Blocks: []event.BlockSize{{Name: "turns", Tokens: int64(300 * i)}}},
			&event.ModelCalled{ID: id, Purpose: event.PurposeStep, Step: int64(i), Attempt: 1, Model: "p/m", Kept: int64(2*i - 2), Added: 2})
		q := html.Request{Kept: 2 * (i - 1), Messages: told, Since: last, Same: int64(len(body)), Rest: []byte(fmt.Sprintf("%0*d", 1100, i)), Exact: true}
		if i == 1 {
			q.Kept, q.Messages, q.Since = 0, []message.Message{message.NewText(message.User, "go")}, 0
		}
		r.sees(q)
		body, last = append(body, q.Rest...), seq
		result := strings.Repeat(fmt.Sprintf("%07d\n", i), 128)
		r.add(&event.ModelAnswered{ID: id, Message: message.Message{Role: message.Assistant, Parts: []message.Part{{Kind: message.ToolCall, ID: call, Name: "read", Args: "{}"}}}, Finish: event.FinishToolCalls,
			Usage: message.Usage{Input: known(int64(300 * i)), Cached: known(int64(300 * (i - 1))), Output: known(20)}},
			&event.ReplyParsed{ID: id, Format: "native", Calls: []event.ParsedCall{{ID: call, Name: "read", Args: "{}"}}},
			&event.CallJudged{Call: call, Tool: "read", Verdict: event.Allow},
			&event.ToolStarted{ID: id + ".0", Call: call, Tool: "read", Effect: event.Read, Attempt: 1},
			&event.ToolFinished{ID: id + ".0", Call: call, Tool: "read", Status: event.StatusSuccess, Parts: text(result), Size: 1024, Shown: 1024})
		told = []message.Message{{Role: message.Assistant, Parts: []message.Part{{Kind: message.ToolCall, ID: call, Name: "read", Args: "{}"}}}, message.Result(call, "read", result, false)}
	}
	return r
}

// What the model saw in one request may not be known: this is said there, and the others
// are shown.
func TestUnseen(t *testing.T) {
	r := long(3)
	r.requests[1] = &html.Request{Seq: r.requests[1].Seq, Unseen: "a body is missing"}
	got := plain(page(t, html.Input{Run: *r.run()}))
	if !strings.Contains(got, "What the model saw here cannot be shown: a body is missing") || strings.Count(got, "New, since the request before") != 1 || strings.Count(got, "exactly as it was sent") != 2 {
		t.Error("one request that is not known takes others with it, or is not named")
	}
	// None at all.
	run := r.run()
	run.Requests = nil
	if got := plain(page(t, html.Input{Run: *run})); strings.Count(got, "What the model saw was not asked for") != 3 {
		t.Error("it is not said that what the model saw is not there")
	}
}

// A run that is carried out while its page is made is shown as it was when that began.
func TestRunningRun(t *testing.T) {
	r := long(2)
	run := r.run()
	run.Status = "running"
	events := run.Events
	run.Events = func(yield func(event.Event, error) bool) {
		if r.passes == 1 {
			r.add(&event.ModelCalled{ID: "9", Purpose: event.PurposeStep, Step: 3, Attempt: 1, Model: "p/m"})
		}
		events(yield)
	}
	got := plain(page(t, html.Input{Run: *run}))
	if !strings.Contains(got, "running") || strings.Contains(got, "Step 3") || !strings.Contains(got, "Step 2") {
		t.Error("what came in between is shown")
	}
}

// Of a damaged journal all that is sound is shown, and it says where that ends.
func TestDamage(t *testing.T) {
	r := long(2)
	run := r.run()
	events := run.Events
	damage := &journal.DamageError{Run: "r", Sound: 9}
	run.Events = func(yield func(event.Event, error) bool) {
		on := true
		events(func(e event.Event, err error) bool {
			if e.Seq > 9 {
				return false
			}
			on = yield(e, err)
			return on
		})
		if on {
			yield(event.Event{}, damage)
		}
	}
	var out strings.Builder
	err := html.Write(&out, html.Input{Run: *run})
	if !errors.Is(err, damage) {
		t.Errorf("the error is %v", err)
	}
	if got := plain(out.String()); !strings.Contains(got, "The journal is damaged") || !strings.Contains(got, "Step 2") || !strings.Contains(got, "loads nothing") {
		t.Error("the page is not whole, or does not say it")
	}
	// Any other error is no page.
	broken := errors.New("the disk is gone")
	run.Events = func(yield func(event.Event, error) bool) { yield(event.Event{}, broken) }
	if err := html.Write(&out, html.Input{Run: *run}); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
}

var tags = regexp.MustCompile(`<script>(?s:.*?)</script>|<style>(?s:.*?)</style>|<[^>]*>`)

// plain is what a page says, without its marks.
func plain(page string) string {
	text := tags.ReplaceAllStringFunc(page, func(tag string) string {
		for _, inline := range []string{"<code", "</code", "<b>", "</b>", "<i>", "</i>", "<span", "</span", "<a ", "</a", "<strong", "</strong"} {
			if strings.HasPrefix(tag, inline) {
				return ""
			}
		}
		return " "
	})
	for from, to := range map[string]string{"&lt;": "<", "&gt;": ">", "&#34;": `"`, "&#39;": "'"} {
		text = strings.ReplaceAll(text, from, to)
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "&amp;", "&")), " ")
}

// What another program has recorded does not say how long anything took; a fork of it
// does of what it does itself.
func TestRecordedTookNobodyKnowsHowLong(t *testing.T) {
	r := newRecord("talk-1", event.Spec{Model: "m"})
	r.events[0].Data.(*event.RunStarted).Origin = &event.Origin{Format: "chat-completions"}
	r.add(&event.ModelCalled{ID: "1", Step: 1, Purpose: event.PurposeStep}, &event.ModelAnswered{ID: "1", Finish: event.FinishToolCalls},
		&event.ReplyParsed{ID: "1", Calls: []event.ParsedCall{{ID: "c", Name: "look", Args: "{}"}}}, &event.CallJudged{Call: "c", Tool: "look", Verdict: event.Allow},
		&event.ToolStarted{ID: "2", Call: "c", Tool: "look"}, &event.ToolFinished{ID: "2", Call: "c", Tool: "look", Status: event.StatusSuccess},
		&event.ModelCalled{ID: "3", Step: 2, Purpose: event.PurposeStep}, &event.ModelFailed{ID: "3", Class: event.ClassServer})
	if p := page(t, html.Input{Run: *r.run()}); strings.Contains(p, "took ") {
		t.Errorf("the page says how long something took: %s", between(p, "took ", "<"))
	}
	r.add(&event.RunResumed{Fork: "talk-1", Models: &event.ModelChange{Model: "other/model", Agent: &event.Spec{Agent: "heir"}}}, &event.ModelCalled{ID: "4", Step: 2, Purpose: event.PurposeStep}, &event.ModelAnswered{ID: "4", Latency: 70})
	if p := page(t, html.Input{Run: *r.run()}); strings.Count(p, "took ") != 1 || !strings.Contains(p, "took 70 ms") {
		t.Error("the page does not say how long the fork's own call took")
	} else if head := between(p, "<main>", "</p>"); !strings.Contains(head, "of heir, model <code>other/model</code>") {
		t.Errorf("the fork is said to be %s", head)
	}
}
