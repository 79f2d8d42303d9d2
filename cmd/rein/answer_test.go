package main

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"rein.example/rein"
	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal/sqlite"
	"rein.example/rein/model/script"
	"rein.example/rein/tool"
)

// asking makes an agent whose every call of get_now needs approval.
func asking(t *testing.T, b *box) string {
	t.Helper()
	_, url := server(t, `
turns:
  - call: {name: get_now, id: now_1}
  - when: {result: get_now, contains: UTC}
    say: I know what time it is.
  - say: I do not know.
`)
	return b.file("agent.yaml", "model: openai/any\nbase_url: "+url+"\ntools: [clock]\npermissions: {ask: [get_now]}\n")
}

// Without a terminal a question parks the run, to be answered from elsewhere.
func TestParkApproveResume(t *testing.T) {
	b := newBox(t)
	file := asking(t, b)
	var got resultObject
	p := b.decode(&got, "run", "-f", file, "What time is it?")
	if p.code != 1 || got.Status != "paused" || got.Reason != "waiting_approval" || len(got.Pending) != 1 || got.Pending[0].Tool != "get_now" {
		t.Fatalf("exit %d, %+v", p.code, got)
	}
	call := got.Pending[0].Call
	if !strings.Contains(p.err, "rein approve "+got.Run+" "+call) {
		t.Errorf("stderr does not say how to answer:\n%s", p.err)
	}
	if r := b.rein("approve", got.Run, "other"); r.code != 2 || !strings.Contains(r.err, call+" (get_now)") {
		t.Errorf("another call: exit %d, %s", r.code, r.err)
	}
	if r := b.rein("settle", got.Run, call, "--done"); r.code != 2 {
		t.Errorf("settling what was not begun: exit %d, %s", r.code, r.err)
	}
	var done answered
	if r := b.decode(&done, "approve", got.Run, call); r.code != 0 || done.Decision != "approve" || done.Open != 0 {
		t.Errorf("approve: exit %d, %+v", r.code, done)
	}
	if r := b.decode(&got, "resume", got.Run); r.code != 0 || got.Answer != "I know what time it is." {
		t.Errorf("resume: exit %d, %+v", r.code, got)
	}
	if r := b.rein("approve", got.Run, call); r.code != 2 || !strings.Contains(r.err, "was answered already: approve by greta") {
		t.Errorf("approving it again: exit %d, %s", r.code, r.err)
	}
}

// Of two answers at the same time one counts, and the other is told so.
func TestTwoAnswersAtOnce(t *testing.T) {
	for range 5 {
		b := newBox(t)
		file := asking(t, b)
		var got resultObject
		b.decode(&got, "run", "-f", file, "What time is it?")
		call := got.Pending[0].Call
		var both [2]printed
		var done sync.WaitGroup
		for i, word := range []string{"approve", "reject"} {
			done.Go(func() { both[i] = b.rein(word, got.Run, call) })
		}
		done.Wait()
		won, lost, counted, answer := both[0], both[1], "approve", "I know what time it is."
		if won.code != 0 {
			won, lost, counted, answer = both[1], both[0], "reject", "I do not know."
		}
		if won.code != 0 || lost.code != badUsage {
			t.Fatalf("exits %d and %d\n%s\n%s", both[0].code, both[1].code, both[0].err, both[1].err)
		}
		if !strings.Contains(lost.err, "was answered already: "+counted+" by greta") {
			t.Errorf("the loser is told %q", lost.err)
		}
		if r := b.decode(&got, "resume", got.Run); r.code != 0 || got.Answer != answer {
			t.Errorf("after %s: exit %d, %q", counted, r.code, got.Answer)
		}
	}
}

// Both saw the question open; the journal says whose answer came first.
func TestSecondAnswerDoesNotCount(t *testing.T) {
	b := newBox(t)
	var got resultObject
	b.decode(&got, "run", "-f", asking(t, b), "What time is it?")
	store, err := sqlite.Open(t.Context(), b.storeFile(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	m, err := fold(t.Context(), store, got.Run)
	if err != nil {
		t.Fatal(err)
	}
	open := m.Status().Pending
	a := &app{self: "rein"}
	if left, err := a.post(t.Context(), store, got.Run, &open[0], engine.Answer{Decision: event.Rejected, By: "eva", Why: "not now"}); err != nil || left != 0 {
		t.Errorf("the first: %d left, %v", left, err)
	}
	for _, d := range []event.Decision{event.Approved, event.Rejected} {
		_, err := a.post(t.Context(), store, got.Run, &open[0], engine.Answer{Decision: d, By: "eva", Why: "not now"})
		if err == nil || !strings.Contains(err.Error(), "was answered already: reject by eva (not now); this answer does not count") {
			t.Errorf("the second, %s: %v", d, err)
		}
	}
}

// Resuming what only a person can move on says that nothing was done.
func TestResumeWithoutAnAnswer(t *testing.T) {
	b := newBox(t)
	var got resultObject
	if p := b.decode(&got, "run", "-f", asking(t, b), "What time is it?"); strings.Contains(p.err, "nothing was done") {
		t.Errorf("the first time:\n%s", p.err)
	}
	p := b.rein("resume", got.Run)
	if p.code != 1 || !strings.Contains(p.err, "nothing was done; it still waits for an answer") || !strings.Contains(p.err, "rein approve "+got.Run+" now_1") {
		t.Errorf("exit %d\n%s", p.code, p.err)
	}
	p = b.rein("approve", got.Run, "now_1")
	if p.code != 0 || !strings.Contains(p.err, "approved: get_now {}") || !strings.Contains(p.err, "rein resume "+got.Run) {
		t.Errorf("approve: exit %d\n%s", p.code, p.err)
	}
}

// The model chose the call's id: pasted into a shell it is a word and nothing
// more.
func TestCallIDsInCommands(t *testing.T) {
	a := &app{self: "rein"}
	for id, want := range map[string]string{
		"call_1":       "rein approve R call_1",
		"$(reboot)":    "rein approve R '$(reboot)'",
		"a';reboot;'b": `rein approve R 'a'\'';reboot;'\''b'`,
		"--help":       "rein approve -- R --help",
	} {
		if got := a.answering("approve", "R", id); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}

func TestReject(t *testing.T) {
	b := newBox(t)
	file := asking(t, b)
	var got resultObject
	b.decode(&got, "run", "-f", file, "What time is it?")
	b.ok("reject", "--why", "look out of the window", got.Run, got.Pending[0].Call)
	if r := b.decode(&got, "resume", got.Run); r.code != 0 || got.Answer != "I do not know." {
		t.Errorf("resume: exit %d, %+v", r.code, got)
	}
	if body := b.ok("request", got.Run, "--step", "2"); !strings.Contains(body, "look out of the window") {
		t.Errorf("the model was not told why: %s", body)
	}
}

func TestApproveFlag(t *testing.T) {
	b := newBox(t)
	file := asking(t, b)
	for mode, want := range map[string]string{"allow": "I know what time it is.", "deny": "I do not know."} {
		var got resultObject
		if p := b.decode(&got, "run", "--approve", mode, "-f", file, "What time is it?"); p.code != 0 || got.Answer != want {
			t.Errorf("%s: exit %d, %+v", mode, p.code, got)
		}
	}
}

// On a terminal the person is shown exactly what will run.
func TestAskOnTheTerminal(t *testing.T) {
	for typed, want := range map[string]string{"y\n": "I know what time it is.", "yikes\nno\n": "I do not know.", "l\n": "", "": ""} {
		b := newBox(t)
		file := asking(t, b)
		b.in, b.terminal = typed, true
		p := b.rein("run", "-f", file, "What time is it?")
		if strings.TrimSpace(p.out) != want || (p.code == 0) != (want != "") {
			t.Errorf("%q: exit %d, %q\n%s", typed, p.code, p.out, p.err)
		}
		if !strings.Contains(p.err, "approval needed:") || !strings.Contains(p.err, "get_now\n{}") {
			t.Errorf("%q: the question was\n%s", typed, p.err)
		}
	}
}

// An answer that comes too late for its question does not answer the next one.
func TestLateAnswersAreDropped(t *testing.T) {
	in, keyboard := io.Pipe()
	defer keyboard.Close()
	var shown strings.Builder
	asker := &terminal{a: &app{in: in, err: &shown, env: func(string) string { return "" }}}
	ask := func(ctx context.Context) (engine.Answer, bool) {
		return asker.ask(ctx, engine.Question{Tool: "pay", Args: []byte("{}")})
	}
	press := func(s string) {
		if _, err := keyboard.Write([]byte(s)); err != nil {
			t.Error(err)
		}
	}
	ctx, settledElsewhere := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, settledElsewhere)
	if _, ok := ask(ctx); ok {
		t.Fatal("a question that was given up has an answer")
	}
	press("y\n") // meant for the first question
	press("")    // the line before has been read
	go func() {
		for !asker.isOpen() {
			time.Sleep(time.Millisecond)
		}
		press("n\n")
	}()
	if answer, ok := ask(t.Context()); !ok || answer.Decision != event.Rejected {
		t.Errorf("the second question is answered %q", answer.Decision)
	}
}

func (t *terminal) isOpen() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open != nil
}

// A call that must not run twice and whose outcome nobody knows is settled by a
// person.
func TestSettle(t *testing.T) {
	for _, c := range []struct {
		word   string
		runs   int // how often the tool runs in all
		answer string
	}{
		{"--done", 1, "It is paid."},
		{"--not-done", 2, "It is paid."},
	} {
		b := newBox(t)
		store, err := sqlite.Open(t.Context(), b.storeFile(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		runs := 0
		pay := tool.New("pay", tool.Doc{What: "Pays an invoice."}, func(context.Context, struct{}) (string, error) {
			if runs++; runs == 1 {
				return "", &tool.Error{Type: "lost", Message: "the line went dead", Unknown: true}
			}
			return "paid", nil
		}, &tool.Options{Effect: event.Once})
		agent, err := rein.New(script.New(script.MustParse(insisting), nil), &rein.Options{
			Store: store, Tools: []tool.Tool{pay}, Permissions: []event.Permission{{Verdict: event.Allow, Match: "pay"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer agent.Close()
		paused, err := agent.Run(t.Context(), "Pay the invoice.")
		if err != nil || paused.Cause != event.CauseWaitingInput || len(paused.Pending) != 1 || !paused.Pending[0].Settle {
			t.Fatalf("%+v, %v", paused, err)
		}
		call := paused.Pending[0].Call
		if r := b.rein("approve", paused.Run, call); r.code != 2 || !strings.Contains(r.err, "no call of run") {
			t.Errorf("approving it: exit %d, %s", r.code, r.err)
		}
		var done answered
		b.decode(&done, "settle", paused.Run, call, c.word)
		if done.Tool != "pay" || done.Open != 0 {
			t.Errorf("%s: %+v", c.word, done)
		}
		result, err := agent.Resume(t.Context(), paused.Run).Result()
		if err != nil || result.Answer != c.answer || runs != c.runs {
			t.Errorf("%s: answer %q after %d executions, %v; %+v", c.word, result.Answer, runs, err, result)
		}
		if r := b.rein("resume", paused.Run); r.code != 2 || !strings.Contains(r.err, "not started by the rein command") {
			t.Errorf("resuming a program's run: exit %d, %s", r.code, r.err)
		}
	}
}

// insisting is a model that pays until it knows that it has.
const insisting = `
turns:
  - until: [{contains: paid}, {contains: had been carried out before}]
    repeat: 5
    turns:
      - call: {name: pay}
  - It is paid.
`

// A call whose outcome is unknown is settled by its own id or by that of a call that
// asked for the same, whether it is asked about or not; of a finished run nothing is.
func TestSettleByAnyName(t *testing.T) {
	const asks = "turns:\n  - call: {name: pay, id: first}\n  - call: {name: look, id: second}\n  - It is paid.\n"
	const again = "turns:\n  - call: {name: pay, id: first}\n  - call: {name: pay, id: second}\n  - call: {name: pay, id: third}\n  - It is paid.\n"
	const ends = "turns:\n  - call: {name: pay, id: first}\n  - I do not know.\n"
	for _, c := range []struct {
		name, turns, call string
		code              int
		says              string
	}{
		{"not asked about", asks, "first", 0, "settled as done: pay"},
		{"asked about, by the first call", again, "first", 0, "settled as done: pay"},
		{"asked about, by a call between", again, "second", 0, "settled as done: pay"},
		{"another", asks, "second", 2, "has an unknown outcome; these do: first (pay)"},
		{"finished", ends, "first", 2, "is finished: whether call first of pay took effect is unknown"},
		{"finished, another", ends, "x", 2, "unknown outcome"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBox(t)
			store, err := sqlite.Open(t.Context(), b.storeFile(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			lost := func(context.Context, struct{}) (string, error) {
				return "", &tool.Error{Type: "lost", Message: "the line went dead", Unknown: true}
			}
			doc := tool.Doc{What: "Pays an invoice."}
			agent, err := rein.New(script.New(script.MustParse(c.turns), nil), &rein.Options{Store: store,
				Tools:       []tool.Tool{tool.New("pay", doc, lost, &tool.Options{Effect: event.Once}), tool.New("look", doc, lost, &tool.Options{Effect: event.Read})},
				Permissions: []event.Permission{{Verdict: event.Allow, Match: "pay"}, {Verdict: event.Ask, Match: "look"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer agent.Close()
			paused, err := agent.Run(t.Context(), "Pay the invoice.")
			if err != nil {
				t.Fatal(err)
			}
			r := b.rein("settle", paused.Run, c.call, "--done")
			if r.code != c.code || !strings.Contains(r.err, c.says) {
				t.Errorf("exit %d, %s", r.code, r.err)
			}
			if r := b.rein("settle", paused.Run, c.call, "--done"); r.code != 2 {
				t.Errorf("settled twice: %s", r.err)
			}
		})
	}
}
