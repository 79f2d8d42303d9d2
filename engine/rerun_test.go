package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"rein.example/rein/engine"
	"rein.example/rein/engine/imported"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/journaltest"
	"rein.example/rein/journal/memory"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/anthropic"
	"rein.example/rein/model/openai"
	"rein.example/rein/trace/recording"
)

// readOnly is a store of which a rerun may read journals and bodies, and do nothing else:
// anything else is a nil pointer.
type readOnly struct {
	journal.Store
	of journal.Store
}

func (s readOnly) Read(ctx context.Context, run string, from int64) iter.Seq2[event.Event, error] {
	return s.of.Read(ctx, run, from)
}

func (s readOnly) Body(ctx context.Context, ref message.Ref) ([]byte, error) {
	return s.of.Body(ctx, ref)
}

// noEncoder is for journals whose encoder nobody asks for.
func noEncoder(engine.EncoderID) (model.Encoder, error) { return nil, errors.New("there is none") }

// A conversation that another program has recorded can be asked of a model that is
// named: nobody knows the bytes that were sent, and that is said.
func TestRerunImported(t *testing.T) {
	const text = `{"messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"Two orders, please."},
		{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"order","arguments":"{\"n\":1}"}},{"id":"c2","type":"function","function":{"name":"order","arguments":"{\"n\":2}"}}]},
		{"role":"tool","tool_call_id":"c1","content":"ordered"},{"role":"assistant","content":"Done."}],
		"tools":[{"type":"function","function":{"name":"order","parameters":{"type":"object","properties":{"n":{"type":"integer"}}}}}]}`
	var c *recording.Conversation
	for got, err := range recording.Read(strings.NewReader(text), recording.Limits{}) {
		if err != nil {
			t.Fatal(err)
		}
		c = got
	}
	events, err := imported.Events("r1", c, imported.Options{})
	if err != nil {
		t.Fatal(err)
	}
	st := memory.New()
	defer st.Close()
	var entries []journal.Entry
	var called []int64
	for i := range events {
		entries = append(entries, journal.Entry{Time: events[i].Time, Data: events[i].Data})
		if events[i].Data.Type() == event.TypeModelCalled {
			called = append(called, events[i].Seq)
		}
	}
	journaltest.Record(t, st, "r1", entries...)
	ro := readOnly{of: st}
	if _, err := engine.PrepareRerun(t.Context(), ro, noEncoder, "r1", called[1], &engine.Change{}, true); !errors.Is(err, engine.ErrUnsure) || !strings.Contains(err.Error(), "imported") {
		t.Errorf("without a model: %v", err)
	}
	enc, err := anthropic.NewEncoder("anthropic", anthropic.Quirks{})
	if err != nil {
		t.Fatal(err)
	}
	to := &engine.Target{Model: "anthropic/m", Encoder: enc, Calling: event.ModelCalling{Model: "anthropic/m"}}
	r, err := engine.PrepareRerun(t.Context(), ro, noEncoder, "r1", called[1], &engine.Change{To: to}, false)
	if err != nil {
		t.Fatal(err)
	}
	if r.Exact || r.Before != nil || !strings.Contains(r.Unsure, "imported") || !r.Stream {
		t.Errorf("%+v", r)
	}
	for _, want := range []string{`"text":"Be kind."`, `"tool_use_id":"c1"`, `"tool_use_id":"c2"`, `Two orders`} {
		if n := bytes.Count(r.Body, []byte(want)); n != 1 {
			t.Errorf("%s is there %d times in\n%s", want, n, r.Body)
		}
	}
	// What a sample calls is not judged: Rein has not been there.
	reply := &model.Reply{Message: message.Message{Role: message.Assistant, Parts: []message.Part{{Kind: message.ToolCall, ID: "x", Name: "order", Args: `{"n":"1"}`}}}, Finish: event.FinishToolCalls}
	o, err := r.Outcome(t.Context(), &engine.Tried{Reply: reply}, nil)
	if err != nil || len(o.Calls) != 1 || o.Calls[0].Verdict != "" {
		t.Errorf("%+v, %v", o, err)
	}
	if _, known := o.Cost.Get(); known {
		t.Errorf("without a price it costs %v", o.Cost)
	}
	if like, _ := engine.Compare(r.Recorded, o); like != engine.CalledInstead {
		t.Errorf("%s, recorded %+v", like, r.Recorded)
	}
}

// dialectRun is a run whose model is asked to call in the text, with one step done and
// the second asked for; seq is where.
func dialectRun(t *testing.T) (st journal.Store, seq int64) {
	t.Helper()
	st = memory.New()
	t.Cleanup(func() { _ = st.Close() })
	schema := []byte(`{"type":"object","properties":{"of":{"type":"string","pattern":"^[a-z]+$"}},"required":["of"]}`)
	const said = "<tool_call>\n{\"name\":\"look\",\"arguments\":{\"of\":\"shed\"}}\n</tool_call>"
	enc, err := openai.NewEncoder("openai", openai.Quirks{})
	if err != nil {
		t.Fatal(err)
	}
	options := append(append([]byte(`{"encoder":`), enc.Options()...), '}')
	called := func(id string, step int64) *event.ModelCalled {
		return &event.ModelCalled{ID: id, Purpose: event.PurposeStep, Step: step, Attempt: 1, Model: "a/b", Encoder: "openai-chat/2 hermes_tool_call/1", Options: options, SHA256: event.Hash{1}}
	}
	var entries []journal.Entry
	for i, d := range []event.Data{
		&event.RunStarted{Format: event.Version, Root: "r1", Spec: event.Spec{Model: "a/b", Sampling: event.Sampling{Seed: "7"},
			Calling: []event.ModelCalling{{Model: "a/b", Dialect: "hermes_tool_call", Text: true}},
			System:  []event.Block{{Name: "contract", Text: "Work."}},
			Tools:   []event.ToolSpec{{Name: "look", Effect: event.Read, Schema: schema}}, Permissions: []event.Permission{{Verdict: event.Allow, Match: "*"}}}},
		&event.InputReceived{Kind: event.InputText, Parts: []message.Part{{Kind: message.Text, Text: "Look."}}},
		&event.ContextAssembled{Purpose: event.PurposeStep, Step: 1, Messages: 1},
		called("3.0", 1),
		&event.ModelAnswered{ID: "3.0", Message: message.NewText(message.Assistant, said), Finish: event.FinishStop},
		&event.ReplyParsed{ID: "3.0", Format: "hermes_tool_call", Calls: []event.ParsedCall{{ID: "c6_0", Name: "look", Args: `{"of":"shed"}`}}},
		&event.CallJudged{Call: "c6_0", Tool: "look", Verdict: event.Allow, Args: `{"of":"shed"}`},
		&event.ToolStarted{ID: "7.0", Call: "c6_0", Tool: "look", Effect: event.Read, Attempt: 1},
		&event.ToolFinished{ID: "7.0", Call: "c6_0", Tool: "look", Status: event.StatusSuccess, Parts: []message.Part{{Kind: message.Text, Text: "a spade"}}},
		&event.ContextAssembled{Purpose: event.PurposeStep, Step: 2, Messages: 3},
		called("10.0", 2),
	} {
		entries = append(entries, journal.Entry{Time: int64(i), Data: d})
	}
	journaltest.Record(t, st, "r1", entries...)
	return st, int64(len(entries))
}

func openAIEncoder(id engine.EncoderID) (model.Encoder, error) { return openai.EncoderOf(id.Options) }

// A request whose bytes cannot be had again is not sent without a word.
func TestRerunUnsure(t *testing.T) {
	st, seq := dialectRun(t)
	ro := readOnly{of: st}
	if _, err := engine.PrepareRerun(t.Context(), ro, openAIEncoder, "r1", seq, &engine.Change{}, false); !errors.Is(err, engine.ErrUnsure) || !strings.Contains(err.Error(), "does not hash to what was sent") {
		t.Errorf("%v", err)
	}
	rules := "Never:\n- guess"
	if _, err := engine.PrepareRerun(t.Context(), ro, openAIEncoder, "r1", seq, &engine.Change{Rules: &rules}, false); !errors.Is(err, engine.ErrUnsure) {
		t.Errorf("with other rules: %v", err)
	}
	r, err := engine.PrepareRerun(t.Context(), ro, openAIEncoder, "r1", seq, &engine.Change{}, true)
	if err != nil || r.Exact || r.Unsure == "" || !bytes.Equal(r.Body, r.Before) || r.Recorded != nil {
		t.Errorf("%+v, %v", r, err)
	}
	if like, _ := engine.Compare(nil, &engine.Outcome{Text: "x"}); like != engine.Incomparable {
		t.Errorf("with what nobody knows: %s", like)
	}
	if _, err := engine.PrepareRerun(t.Context(), ro, noEncoder, "r1", seq, &engine.Change{}, true); !errors.Is(err, engine.ErrUnsure) || !strings.Contains(err.Error(), "there is none") {
		t.Errorf("without its encoder: %v", err)
	}
}

// What was said in a dialect becomes calls of the other wire's own, and the tools are
// told there and no longer in the system text; replies are read as the other model
// writes them.
func TestRerunOutOfDialect(t *testing.T) {
	st, seq := dialectRun(t)
	enc, err := anthropic.NewEncoder("anthropic", anthropic.Quirks{})
	if err != nil {
		t.Fatal(err)
	}
	to := &engine.Target{Model: "anthropic/m", Encoder: enc, Calling: event.ModelCalling{Model: "anthropic/m"}, MaxOutput: 500}
	r, err := engine.PrepareRerun(t.Context(), readOnly{of: st}, openAIEncoder, "r1", seq, &engine.Change{To: to}, false)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(r.Before, []byte("<tool_call>")) || bytes.Contains(r.Body, []byte("tool_call>")) || !bytes.Contains(r.Body, []byte(`"type":"tool_use"`)) || !bytes.Contains(r.Body, []byte(`"input_schema"`)) {
		t.Errorf("it is\n%s\nof\n%s", r.Body, r.Before)
	}
	var what, lost []string
	for _, c := range r.Changed {
		what = append(what, c.What)
	}
	for _, l := range r.Lost {
		lost = append(lost, l.What)
	}
	if !slices.Equal(what, []string{"model", "wire", "dialect"}) || !slices.Equal(lost, []string{"seed"}) {
		t.Errorf("changed %v, lost %v", what, lost)
	}
	for _, c := range []struct {
		reply message.Message
		calls int
	}{
		{message.NewText(message.Assistant, "<tool_call>{\"name\":\"look\",\"arguments\":{\"of\":\"shed\"}}</tool_call>"), 0},
		{message.Message{Role: message.Assistant, Parts: []message.Part{{Kind: message.ToolCall, ID: "x", Name: "look", Args: `{"of":"attic"}`}}}, 1},
	} {
		o, err := r.Outcome(t.Context(), &engine.Tried{Reply: &model.Reply{Message: c.reply, Finish: event.FinishStop}}, nil)
		if err != nil || len(o.Calls) != c.calls {
			t.Errorf("%+v, %v", o, err)
		}
		if c.calls > 0 && o.Calls[0].Verdict != event.Allow {
			t.Errorf("judged %+v", o.Calls[0])
		}
	}
}

// What a failure has cost is known where nothing can have been written, and where the
// server says it; a sample costs what all its tries do.
func TestRerunCostOfFailures(t *testing.T) {
	st, seq := dialectRun(t)
	r, err := engine.PrepareRerun(t.Context(), readOnly{of: st}, openAIEncoder, "r1", seq, &engine.Change{}, true)
	if err != nil {
		t.Fatal(err)
	}
	price := &message.Price{Input: 1_000_000, Cached: 100_000, CacheWrite: 1_000_000, Output: 10_000_000}
	used := message.Usage{Input: message.Known(100), Output: message.Known(10)}
	reply := &model.Reply{Message: message.NewText(message.Assistant, "Yes."), Finish: event.FinishStop, Usage: used}
	for name, c := range map[string]struct {
		tried engine.Tried
		want  string
	}{
		"a reply":                    {engine.Tried{Reply: reply}, "200"},
		"a reply after a limit":      {engine.Tried{Reply: reply, Failures: []*model.Error{{Class: event.ClassRate, Status: 429}}}, "200"},
		"a reply after a cut":        {engine.Tried{Reply: reply, Failures: []*model.Error{{Class: event.ClassIncomplete, Partial: "Ye"}}}, "unknown"},
		"a reply after a cut, told":  {engine.Tried{Reply: reply, Failures: []*model.Error{{Class: event.ClassIncomplete, Partial: "Ye", Usage: used}}}, "400"},
		"a refusal":                  {engine.Tried{Err: &model.Error{Class: event.ClassAuth, Status: 401}}, "0"},
		"nobody there":               {engine.Tried{Err: &model.Error{Class: event.ClassNetwork, Code: "refused"}}, "0"},
		"nothing that can be read":   {engine.Tried{Err: &model.Error{Class: event.ClassBadReply, Status: 200}}, "unknown"},
		"silence":                    {engine.Tried{Err: &model.Error{Class: event.ClassTimeout}}, "unknown"},
		"an error of another kind":   {engine.Tried{Err: errors.New("what?")}, "unknown"},
		"neither reply nor an error": {engine.Tried{}, "unknown"},
	} {
		o, err := r.Outcome(t.Context(), &c.tried, price)
		if err != nil {
			t.Fatal(err)
		}
		got := "unknown"
		if n, ok := o.Cost.Get(); ok {
			got = fmt.Sprint(n)
		}
		if got != c.want || (o.Failed != nil) != (c.tried.Reply == nil) {
			t.Errorf("%s costs %s, want %s: %+v", name, got, c.want, o)
		}
	}
}

// What makes two outcomes alike, and what apart.
func TestCompare(t *testing.T) {
	calls := func(list ...string) *engine.Outcome {
		o := &engine.Outcome{}
		for _, c := range list {
			name, args, _ := strings.Cut(c, " ")
			o.Calls = append(o.Calls, engine.Act{Tool: name, Args: args})
		}
		return o
	}
	says := func(s string) *engine.Outcome { return &engine.Outcome{Text: s} }
	fails := func(c event.ErrorClass) *engine.Outcome { return &engine.Outcome{Failed: &event.ModelFailed{Class: c}} }
	nothing := &engine.Outcome{Problems: []string{"it is nothing"}}
	for _, c := range []struct {
		was, now *engine.Outcome
		like     engine.Likeness
		differs  string
	}{
		{calls(`pay {"n":7}`), calls(`pay {"n":7}`), engine.SameAct, ""},
		{calls(`pay {"n":7}`), calls(`pay {"n":8}`), engine.OtherArguments, `/n: 7 → 8`},
		{calls(`pay {"a/b":{"c":[1,2]},"x":1}`), calls(`pay {"a/b":{"c":[1,3]},"y":1}`), engine.OtherArguments, `/a~1b/c/1: 2 → 3 · /x: 1 → not there · /y: not there → 1`},
		{calls(`pay {"n":[1]}`), calls(`pay {"n":[1,2]}`), engine.OtherArguments, `/n: [1] → [1,2]`},
		{calls(`pay {"n":7}`, `look {}`), calls(`look {}`, `pay {"n":7}`), engine.OtherOrder, ""},
		{calls(`look {"n":1}`, `look {"n":2}`), calls(`look {"n":2}`, `look {"n":1}`), engine.OtherOrder, ""},
		{calls(`look {"n":1}`, `look {"n":2}`), calls(`look {"n":1}`, `look {"n":3}`), engine.OtherArguments, "call 2 /n: 2 → 3"},
		{calls(`pay {"n":7}`), calls(`look {}`), engine.OtherTools, ""},
		{calls(`pay {"n":7}`), calls(`pay {"n":7}`, `pay {"n":7}`), engine.OtherTools, ""},
		{calls(`pay {"n":7}`), says("Paid."), engine.AnsweredInstead, ""},
		{says("Paid."), calls(`pay {"n":7}`), engine.CalledInstead, ""},
		{says("Paid."), says("Paid."), engine.SameAct, ""},
		{says("Paid."), says("It is paid."), engine.OtherWords, ""},
		{says(`{"done":true,"missing":[]}`), says(`{ "missing": [], "done": true }`), engine.SameAct, ""},
		{says(`{"done":true}`), says(`{"done":false}`), engine.OtherWords, "/done: true → false"},
		{says("Paid."), nothing, engine.Unusable, ""},
		{nothing, says("Paid."), engine.NowUsable, ""},
		{nothing, nothing, engine.SameAct, ""},
		{says("Paid."), fails(event.ClassRate), engine.NoReply, ""},
		{fails(event.ClassRate), fails(event.ClassRate), engine.SameAct, ""},
		{fails(event.ClassRate), fails(event.ClassAuth), engine.NoReply, ""},
		{fails(event.ClassRate), says("Paid."), engine.NowUsable, ""},
		{nil, fails(event.ClassRate), engine.NoReply, ""},
		{nil, says("Paid."), engine.Incomparable, ""},
	} {
		like, differs := engine.Compare(c.was, c.now)
		if like != c.like || strings.Join(differs, " · ") != c.differs {
			t.Errorf("%+v and %+v: %s, %q, want %s, %q", c.was, c.now, like, differs, c.like, c.differs)
		}
	}
}
