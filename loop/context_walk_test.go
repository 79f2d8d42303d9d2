package loop_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/tool"
	"rein.example/rein/window"
)

// TestContextWalks lets a model with a small window work through results of all
// sizes, by seed: with every strategy, a summariser that may answer anything or
// nothing, a server that now and then finds a request too long, people who say
// something at any time, and a process that dies. Whatever happens:
//
//   - a request never holds a call without its result, or a result without its call;
//   - between two rewrites each request begins with the one before;
//   - no request is larger than the budget, nor together with its reply than the window;
//   - everything a user has said is in every request;
//   - what was refused as too long is not sent again;
//   - a summary is asked for at most twice before the next step, and is no step;
//   - numbers never change, and nothing that was said is lost from the history;
//   - a machine folded from the journal wants the same, and the run ends.
func TestContextWalks(t *testing.T) {
	compacted := 0
	for seed := range uint64(100) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { compacted += contextWalk(t, seed) })
	}
	if compacted < 100 {
		t.Errorf("the walks led to %d rewrites: too few to show anything", compacted)
	}
}

// FuzzContextWalk is TestContextWalks from any seed.
func FuzzContextWalk(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { contextWalk(t, seed) })
}

// contextWalker drives one run.
type contextWalker struct {
	*script
	rnd       *rand.Rand
	last      *loop.CallModel // the request before
	prefix    []message.Message
	users     int   // messages of users
	tooLong   int64 // the size of the last request that was refused, 0 if another was answered since
	summaries int   // that were asked for since the last step
	said      []string
	steps     int
	rewrites  int
}

func contextWalk(t *testing.T, seed uint64) int {
	w := &contextWalker{script: newScript(t), rnd: rand.New(rand.NewPCG(seed, 7))}
	strategies := window.Strategies()
	spec := event.Spec{Model: "test/model", Seed: int64(seed), Limits: event.Limits{Steps: 40, ToolCalls: 200, Wall: 10_000_000, Output: 600},
		Permissions: []event.Permission{{Verdict: event.Allow, Match: "*"}}, Retrieve: seed%3 == 0,
		System: []event.Block{{Name: "contract", Text: "Work.", Tokens: message.Known(30)}},
		Window: event.WindowSpec{Strategy: strategies[int(seed)%len(strategies)], Size: 3000 + int64(seed%4)*2000, Reserve: 600, Margin: 900_000}}
	if seed%7 == 0 {
		spec.Window.Size = 0
	}
	for _, f := range [][]string{{"", "read_file", "read", "resource=path"}, {"", "write_file", "repeatable", "resource=path"}, {"", "pay", "once"},
		{"", tool.ReadArtifact, "read", "harness"}, {"", tool.Plan, "read", "harness"}} {
		spec.Tools = append(spec.Tools, toolSpec(f))
	}
	w.add("", &event.RunStarted{Format: 1, Root: "r1", Spec: spec})
	w.input("The total must never exceed 500 EUR. Order A-1001 is for Ada.", 30)
	for range 4000 {
		if w.m.Status().Status == "finished" {
			w.refold()
			return w.rewrites
		}
		w.now += int64(w.rnd.IntN(3000))
		w.once()
	}
	t.Fatalf("the run does not end; it wants\n%.2000s", wants(w.m))
	return 0
}

// text returns a text of about so many tokens, and how many.
func (w *contextWalker) text(tokens int) (string, message.Count) {
	n := 1 + w.rnd.IntN(tokens)
	return fmt.Sprintf("Entry %d of the ledger: ", w.rnd.IntN(90000)) + strings.Repeat("work ", n), message.Known(int64(n + 12))
}

func (w *contextWalker) input(text string, tokens int64) {
	w.add("", &event.InputReceived{Kind: event.InputText, Tokens: message.Known(tokens), Parts: []message.Part{{Kind: message.Text, Text: text}}})
	w.users++
}

// once lets one thing happen.
func (w *contextWalker) once() {
	switch w.rnd.IntN(60) {
	case 0:
		w.add("", &event.RunResumed{Generation: int64(len(w.events))})
		return
	case 1:
		w.add("", &event.InputReceived{Kind: event.InputStop})
		return
	case 2:
		w.add("", &event.InputReceived{Kind: event.InputPause})
		return
	case 3:
		if w.users < 6 {
			w.input("And mind the deadline of "+fmt.Sprint(w.rnd.IntN(28)+1)+" May.", int64(10+w.rnd.IntN(80)))
		}
		return
	}
	next := w.m.Next()
	if len(next) == 0 {
		w.add("", &event.RunResumed{Generation: int64(len(w.events))})
		return
	}
	switch c := next[w.rnd.IntN(len(next))].(type) {
	case *loop.Record:
		for _, d := range slices.Clone(c.Data) {
			w.decided(d)
		}
	case *loop.Finish:
		w.add("", c.Data)
	case *loop.CallModel:
		w.model(c)
	case *loop.RunTool:
		w.tool(c)
	case *loop.AskApproval:
		if !c.Asked {
			w.add("", &event.ApprovalAsked{ID: c.ID, Call: c.Call, Tool: c.Tool, Hash: c.Hash, Settle: c.Settle})
			return
		}
		w.add("", &event.ApprovalGiven{Call: c.Call, Decision: event.Done, Hash: c.Hash})
	case *loop.Retrieve:
		d := &event.MaterialRetrieved{ID: c.ID}
		if w.rnd.IntN(3) > 0 {
			text, n := w.text(200)
			d.Parts, d.Tokens = []message.Part{{Kind: message.Text, Text: text}}, n
		}
		w.add(c.ID, d)
	case *loop.Wait:
		if w.rnd.IntN(200) == 0 || len(next) == 1 || w.waits(next, c) {
			w.now = max(w.now, c.Until)
			w.add(c.ID, &event.TimerFired{ID: c.ID})
		}
	}
}

// waits reports whether a wait is for another attempt, and not for the end.
func (w *contextWalker) waits(next []loop.Command, c *loop.Wait) bool {
	for _, o := range next {
		if o, ok := o.(*loop.Wait); ok && o.Until > c.Until {
			return true
		}
	}
	return false
}

// decided applies a decision of the machine's.
func (w *contextWalker) decided(d event.Data) {
	if c, ok := d.(*event.ContextCompacted); ok {
		w.rewrites++
		w.prefix = nil
		if c.After >= c.Before {
			w.t.Fatalf("a rewrite from %d to %d tokens", c.Before, c.After)
		}
	}
	steps := w.m.Status().Steps
	w.add("", d)
	if p, ok := d.(*event.ReplyParsed); ok && w.last != nil && w.last.Purpose == event.PurposeSummary && w.m.Status().Steps != steps {
		w.t.Fatalf("the summary %s counts as a step", p.ID)
	}
	w.history()
}

// history checks that what was said is what it was.
func (w *contextWalker) history() {
	h := w.m.History()
	for i := range w.said {
		if got := h.At(i); got.Number != int64(i) || got.Message.PlainText() != w.said[i] {
			w.t.Fatalf("message %d of the history is now %d %.80q", i, got.Number, got.Message.PlainText())
		}
	}
	for i := len(w.said); i < h.Len(); i++ {
		w.said = append(w.said, h.At(i).Message.PlainText())
	}
}

// sent checks a request that is about to be sent.
func (w *contextWalker) sent(c *loop.CallModel) {
	if p := message.Pair(c.Messages); len(p) != len(c.Messages) || len(p) > 0 && &p[0] != &c.Messages[0] {
		w.t.Fatalf("a request with unpaired calls: %v", c.Messages)
	}
	if n := len(w.prefix); n > len(c.Messages) || n > 0 && !reflect.DeepEqual(w.prefix, c.Messages[:n]) {
		w.t.Fatalf("a request does not begin with the one before, though nothing was rewritten")
	}
	w.prefix = c.Messages
	a := w.assembled()
	spec := w.m.Spec()
	if a.Budget > 0 && a.Tokens > a.Budget && c.Purpose != event.PurposeSummary && c.Messages[len(c.Messages)-1].Role != message.Assistant {
		w.t.Fatalf("a request of %d tokens with a budget of %d", a.Tokens, a.Budget)
	}
	if size := spec.Window.Size; size > 0 && a.Tokens+c.MaxOutput > size {
		w.t.Fatalf("a request of %d tokens and a reply of %d in a window of %d", a.Tokens, c.MaxOutput, size)
	}
	if w.tooLong > 0 && a.Tokens >= w.tooLong {
		w.t.Fatalf("a request of %d tokens after one of %d was too long", a.Tokens, w.tooLong)
	}
	users := 0
	for i := range c.Messages {
		if c.Messages[i].Role == message.User {
			users++
		}
	}
	said := 0
	for i := range w.m.History().Len() {
		if w.m.History().At(i).Message.Role == message.User {
			said++
		}
	}
	if users != said {
		w.t.Fatalf("%d of %d messages of users are in a request", users, said)
	}
	if c.Purpose == event.PurposeSummary {
		if w.summaries++; w.summaries > 2 {
			w.t.Fatalf("a summary is asked for %d times", w.summaries)
		}
		return
	}
	w.summaries = 0
}

func (w *contextWalker) assembled() *event.ContextAssembled {
	for i := len(w.events) - 1; i >= 0; i-- {
		if a, ok := w.events[i].Data.(*event.ContextAssembled); ok {
			return a
		}
	}
	return nil
}

func (w *contextWalker) model(c *loop.CallModel) {
	if !w.begun[c.ID] {
		w.begun[c.ID] = true
		w.sent(c)
		w.last = c
		w.add("", &event.ModelCalled{ID: c.ID, Purpose: c.Purpose, Step: c.Step, Attempt: c.Attempt})
		return
	}
	a := w.assembled()
	switch n := w.rnd.IntN(30); {
	case c.Cancel:
		w.add(c.ID, &event.ModelFailed{ID: c.ID, Class: event.ClassCancelled})
		if c.Purpose == event.PurposeSummary {
			w.summaries--
		}
		return
	case n < 2:
		w.add(c.ID, &event.ModelFailed{ID: c.ID, Class: []event.ErrorClass{event.ClassServer, event.ClassRate}[n]})
		return
	case n == 2, w.m.Spec().Window.Size == 0 && a.Tokens > 4000:
		f := &event.ModelFailed{ID: c.ID, Class: event.ClassOverflow, Message: "the prompt is too long"}
		if w.rnd.IntN(2) == 0 {
			f.Limit = message.Known(a.Tokens - 1)
		}
		w.tooLong = a.Tokens
		w.add(c.ID, f)
		return
	}
	w.tooLong = 0
	usage := message.Usage{Output: message.Known(20)}
	switch w.rnd.IntN(8) {
	case 0: // nothing is reported
	case 1: // nonsense
		usage.Input = message.Known(a.Tokens*int64(1+w.rnd.IntN(8)) + 3)
	default: // another tokenizer
		var n int64
		for _, b := range a.Blocks {
			n += b.Tokens
		}
		usage.Input = message.Known(n * 104 / 100)
	}
	d := &event.ModelAnswered{ID: c.ID, Usage: usage, Finish: event.FinishStop}
	if c.Purpose == event.PurposeSummary {
		w.summary(d)
	} else {
		w.step(d)
	}
	w.add(c.ID, d)
}

// summary is what comes when a summary is asked for.
func (w *contextWalker) summary(d *event.ModelAnswered) {
	text := "The total must never exceed 500 EUR; order A-1001 is for Ada. The ledger is being read, file after file; nothing was decided so far."
	switch w.rnd.IntN(10) {
	case 0:
		text = ""
	case 1:
		text = "I'm sorry, I can't help with that."
	case 2:
		d.Finish = event.FinishLength
	case 3:
		text = strings.Repeat(text+" ", 200)
	case 4:
		d.Message.Parts = append(d.Message.Parts, message.Part{Kind: message.ToolCall, ID: "s1", Name: "pay", Args: `{"x":1}`})
	case 5:
		text = "合計は500ユーロを超えてはならない。注文A-1001はAdaのもの。台帳を読んでいるところで、まだ何も決まっていない。"
	case 6:
		d.Finish, text = event.FinishContentFilter, ""
	}
	d.Message.Role = message.Assistant
	if text != "" {
		d.Message.Parts = append([]message.Part{{Kind: message.Text, Text: text}}, d.Message.Parts...)
	}
	d.Tokens = message.Known(40)
}

// step is what the model does in a step.
func (w *contextWalker) step(d *event.ModelAnswered) {
	w.steps++
	text, n := w.text(40)
	d.Message = message.NewText(message.Assistant, text)
	d.Tokens = n
	if w.rnd.IntN(60) == 0 {
		return // an answer
	}
	if w.rnd.IntN(40) == 0 {
		d.Finish = event.FinishPause
		return
	}
	d.Finish = event.FinishToolCalls
	for i := range 1 + w.rnd.IntN(3) {
		names := []string{"read_file", "read_file", "read_file", "write_file", "pay", "nothing", tool.Plan}
		args := []string{`{"path":"a.txt"}`, `{"path":"b.txt"}`, `{"x":` + fmt.Sprint(w.steps) + `}`, `{"path":"c.txt","x":` + fmt.Sprint(w.steps) + `}`, `{"x":`}
		d.Message.Parts = append(d.Message.Parts, message.Part{Kind: message.ToolCall, ID: fmt.Sprintf("call_%d_%d", w.steps, i),
			Name: names[w.rnd.IntN(len(names))], Args: args[w.rnd.IntN(len(args))]})
	}
}

func (w *contextWalker) tool(c *loop.RunTool) {
	if !w.begun[c.ID] {
		w.begun[c.ID] = true
		w.add("", &event.ToolStarted{ID: c.ID, Call: c.Call, Tool: c.Tool, Effect: c.Effect, ArgsHash: c.ArgsHash, Key: c.Key, Attempt: c.Attempt, For: c.For})
		return
	}
	text, n := w.text([]int{30, 300, 300, 900}[w.rnd.IntN(4)])
	if w.rnd.IntN(50) == 0 {
		text, n = w.text(20000)
	}
	f := &event.ToolFinished{ID: c.ID, Call: c.Call, Tool: c.Tool, Status: event.StatusSuccess, Parts: []message.Part{{Kind: message.Text, Text: text}}, Tokens: n, For: c.For}
	switch {
	case c.Tool == tool.Plan:
		f.Result = []byte(`{"goal":"settle the ledger","current_step":"step ` + fmt.Sprint(w.steps) + `"}`)
	case w.rnd.IntN(8) == 0:
		f.Status, f.ErrorType, f.NoEffect = event.StatusError, "not_found", true
	case c.Tool == "read_file" || c.Tool == "write_file":
		f.Seen = []event.Seen{{Resource: fmt.Sprintf("%c.txt", 'a'+w.rnd.IntN(3)), Version: fmt.Sprint("v", w.rnd.IntN(2)), From: 1, To: int64(1 + w.rnd.IntN(50)), Total: 50, Wrote: c.Tool == "write_file"}}
	}
	w.add(c.ID, f)
}
