package diff

import (
	"fmt"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/window"
)

// journal makes a run of short words, one for each event:
//
//	"call look 1" (a step that calls look with 1; "id=x" names the call)
//	"got TEXT" (its result) · "stub TEXT", "trim TEXT" (a rewrite that put it somewhere)
//	"say TEXT" (a step that answers) · "told TEXT" (an input) · "paused CAUSE" · "done"
//	"args ARGS" (a step that calls look with these) · "by MODEL" (which the server says
//	answers from here on) · "unlisted TOOL" (a recording that does not list the tools)
func journal(run string, words ...string) *Run {
	f := &Fold{}
	seq, step := int64(0), int64(0)
	last, served := "", ""
	add := func(d event.Data) {
		seq++
		f.Add(&event.Event{Run: run, Seq: seq, Data: d})
	}
	add(&event.RunStarted{Spec: event.Spec{Model: "p/m", Tools: []event.ToolSpec{{Name: "look", Effect: event.Read}, {Name: "write", Effect: event.Once}}}})
	for _, w := range words {
		verb, rest, _ := strings.Cut(w, " ")
		switch verb {
		case "by":
			served = rest
		case "unlisted":
			add(&event.RunStarted{Spec: event.Spec{Model: "p/m", Tools: []event.ToolSpec{{Name: rest}}}, Origin: &event.Origin{ToolsUnknown: true}})
		case "told":
			add(&event.InputReceived{Kind: event.InputText, Parts: message.NewText(message.User, rest).Parts})
		case "call", "args", "say":
			step++
			id := fmt.Sprint("m", step)
			add(&event.ModelCalled{ID: id, Purpose: event.PurposeStep, Step: step, Attempt: 1, Model: "p/m"})
			msg := message.Message{Role: message.Assistant}
			parsed := &event.ReplyParsed{ID: id, Format: "native"}
			if verb == "say" {
				msg = message.NewText(message.Assistant, rest)
			} else {
				name, arg, _ := strings.Cut(rest, " ")
				arg, own, _ := strings.Cut(arg, " id=")
				if last = own; own == "" {
					last = fmt.Sprint("call-", step)
				}
				args := `{"page":"` + arg + `"}`
				if verb == "args" {
					name, args, last = "look", rest, fmt.Sprint("call-", step)
				}
				msg.Parts = []message.Part{{Kind: message.ToolCall, ID: last, Name: name, Args: args}}
				parsed.Calls = []event.ParsedCall{{ID: last, Name: name, Args: args}}
			}
			add(&event.ModelAnswered{ID: id, Message: msg, Model: served})
			add(parsed)
		case "got":
			n := int64(len(rest))
			add(&event.ToolFinished{ID: "t", Call: last, Tool: "look", Status: event.StatusSuccess, Parts: message.NewText(message.Tool, rest).Parts, Size: n, Shown: n})
		case window.ActionStub, window.ActionTrim:
			add(&event.ContextCompacted{Edits: []event.ContextEdit{{Action: verb, Text: rest}}})
		case "paused":
			add(&event.RunPaused{Cause: event.Cause(rest)})
		case "done":
			add(&event.RunFinished{Reason: event.ReasonAnswered, OK: true})
		}
	}
	return f.Run()
}

// saw makes a context of messages: "u TEXT", "s TEXT" (the harness), "a ID TOOL ARG" (a
// reply with a call), "raw ID ARGS" (the same with any arguments), "r ID TEXT" (a result), "tail TEXT".
func saw(words ...string) *Context {
	c := &Context{}
	for _, w := range words {
		verb, rest, _ := strings.Cut(w, " ")
		switch verb {
		case "u":
			c.Messages = append(c.Messages, message.NewText(message.User, rest))
		case "s":
			c.Messages = append(c.Messages, message.NewText(message.System, rest))
		case "a":
			f := strings.Fields(rest)
			c.Messages = append(c.Messages, message.Message{Role: message.Assistant,
				Parts: []message.Part{{Kind: message.ToolCall, ID: f[0], Name: f[1], Args: `{"page":"` + f[2] + `"}`}}})
		case "raw":
			id, args, _ := strings.Cut(rest, " ")
			c.Messages = append(c.Messages, message.Message{Role: message.Assistant,
				Parts: []message.Part{{Kind: message.ToolCall, ID: id, Name: "look", Args: args}}})
		case "r":
			id, text, _ := strings.Cut(rest, " ")
			c.Messages = append(c.Messages, message.Result(id, "look", text, false))
		case "tail":
			m := message.NewText(message.System, rest)
			c.Tail = &m
		}
	}
	return c
}

// What two contexts differ in, in words.
func TestContexts(t *testing.T) {
	base := []string{"told go", "call look 1", "got blue", "call look 2", "got red", "say ok", "done"}
	seen := []string{"u go", "a call-1 look 1", "r call-1 blue", "a call-2 look 2", "r call-2 red"}
	replaced := func(list []string, i int, w ...string) []string {
		return append(append(append([]string(nil), list[:i]...), w...), list[i+1:]...)
	}
	for name, tc := range map[string]struct {
		b    []string
		seen []string
		want string
	}{
		"nothing": {base, seen, ""},
		"a stub": {replaced(base, 5, "stub [rein: gone]", "say ok"), replaced(seen, 2, "r call-1 [rein: gone]"),
			"rewrite b: B's context was rewritten before step 3 (1 result stubbed); A's was not\n" +
				"  B had only a stub in the place of the result of page 1 (look), step 1, since its context was rewritten before step 3; A had what was shown at first\n"},
		"a part": {replaced(base, 5, "trim bl…", "say ok"), replaced(seen, 2, "r call-1 bl…"),
			"rewrite b: B's context was rewritten before step 3 (1 message shortened); A's was not\n" +
				"  B had only a part of the result of page 1 (look), step 1, since its context was rewritten before step 3; A had what was shown at first\n"},
		"a result that nobody has a record of changing": {base, replaced(seen, 2, "r call-1 green"),
			"result : the result of page 1 (look), step 1, is another text in A than in B\n"},
		"a result that is not there": {base, replaced(replaced(seen, 4), 3),
			"result_missing a: the result of page 2 (look), step 2, is only in A's context\n" +
				"reply a: 1 earlier reply of the model is only in A's context\n"},
		"a result of nobody knows what": {base, append(seen[:5:5], "r odd text"), "result_missing b: a result of look is only in B's context\n"},
		"an instruction":                {base, append(seen[:5:5], "u hurry"), "message b: the instruction is only in B: “hurry”\n"},
		"another instruction":           {base, replaced(seen, 0, "u run"), "message : the instruction differs\n"},
		"a notice":                      {base, append(seen[:5:5], "s one step is left"), "notice b: the notice is only in B: “one step is left”\n"},
		"the block at the end":          {base, append(seen[:5:5], "tail goal: x"), "tail : the block at the end (state and notices) differs\n"},
	} {
		c := New(journal("a", base...), journal("b", tc.b...))
		r := c.Report(saw(seen...), saw(tc.seen...))
		got := ""
		for _, f := range r.Findings {
			got += fmt.Sprintf("%s %s: %s\n", f.Kind, f.Only, f.Text)
			for _, l := range f.Follows {
				got += "  " + l + "\n"
			}
		}
		if got != tc.want {
			t.Errorf("%s:\n%swant\n%s", name, got, tc.want)
		}
		if r.Same != (tc.want == "") || r.Contexts.Same != r.Same || r.Parting != nil {
			t.Errorf("%s: same %v, contexts %+v, parting %+v", name, r.Same, r.Contexts, r.Parting)
		}
	}
}

// Arguments that differ in spacing only are the same; where replies differ in their
// calls, these are shown.
func TestArguments(t *testing.T) {
	a := journal("a", `args {"page":1,"of":"x"}`, "got blue", "say ok")
	same := New(a, journal("b", `args { "of": "x", "page": 1 }`, "got blue", "say ok"))
	r := same.Report(saw(`raw call-1 {"page":1,"of":"x"}`, "r call-1 blue"), saw(`raw call-1 { "of": "x", "page": 1 }`, "r call-1 blue"))
	if !r.Same || !r.Contexts.Same {
		t.Errorf("spacing: %+v", r.Findings)
	}
	// Calls whose ids the journal does not know.
	other := New(a, journal("b", `args {"page":1,"of":"x"}`, "got blue", "say ok"))
	r = other.Report(saw(`raw x {"page":1}`), saw(`raw y {"page":2}`))
	if len(r.Findings) != 1 || strings.Join(r.Findings[0].Diff, "\n") != "-calls look {\"page\":1}\n+calls look {\"page\":2}" {
		t.Errorf("other calls: %+v", r.Findings)
	}
}

// The server says that another model answered than in the other run.
func TestServed(t *testing.T) {
	for _, tc := range []struct {
		b    []string
		want string
	}{
		{[]string{"by m-1", "call look 1", "got x", "say b"}, ""},
		{[]string{"call look 1", "got x", "say b"}, ""}, // it says nothing
		{[]string{"by m-2", "call look 1", "got x", "say b"}, "both asked for the model p/m; at step 1 the server says that m-1 answered in A, m-2 in B, and differently at 1 more step"},
		{[]string{"by m-1", "call look 1", "got x", "by m-2", "say b"}, "both asked for the model p/m; at step 2 the server says that m-1 answered in A, m-2 in B"},
	} {
		r := New(journal("a", "by m-1", "call look 1", "got x", "say a"), journal("b", tc.b...)).Report(saw("u go"), saw("u go"))
		got, kind := "", "call"
		for _, f := range r.Findings {
			if f.Kind == KindServed {
				got += f.Text
			}
		}
		if tc.want != "" {
			kind = "model"
		}
		if got != tc.want || r.Parting.Kind != kind {
			t.Errorf("%v: %q, %+v", tc.b, got, r.Parting)
		}
	}
}

// What a recording does not say is not made up: which tools were offered.
func TestUnlistedTools(t *testing.T) {
	a, b := journal("a", "unlisted look", "say a"), journal("b", "unlisted think", "say b")
	seenA, seenB := saw("u go"), saw("u go")
	seenA.Tools, seenB.Tools = a.Spec.Tools, b.Spec.Tools
	r := New(a, b).Report(seenA, seenB)
	if len(r.Findings) != 1 || r.Findings[0].Text != "which tools were offered is not known of A and B: the recordings do not list them" {
		t.Errorf("%+v", r.Findings)
	}
	if want := "on the same messages: which tools were offered is not known"; !strings.HasSuffix(r.Parting.Text, want) {
		t.Errorf("%q does not end in %q", r.Parting.Text, want)
	}
}

// Of many findings of one kind the first are listed, and the rest are counted.
func TestManyFindings(t *testing.T) {
	a, b := []string{"say no"}, []string{}
	for i := range 30 {
		b = append(b, fmt.Sprint("call look ", i), "got it")
	}
	r := New(journal("a", a...), journal("b", b...)).Report(nil, nil)
	n, more := 0, ""
	for _, f := range r.Findings {
		if n++; f.Kind == KindMore {
			more = f.Text
		}
	}
	if n != mostOfKind+1 || more != "and 22 like these (result_missing)" {
		t.Errorf("%d findings, %q", n, more)
	}
}

// Runs that have come to different places, and runs without any step.
func TestStates(t *testing.T) {
	for name, tc := range map[string]struct {
		a, b       []string
		kind, text string
	}{
		"nothing yet":     {nil, nil, "", ""},
		"one has begun":   {nil, []string{"say hi"}, "open", "A has come no further than its first step; B went on: at step 1 it answered “hi”"},
		"one goes on":     {[]string{"call look 1", "got x"}, []string{"call look 1", "got x", "say hi"}, "open", "A has come no further than step 1; B went on: at step 2 it answered “hi”"},
		"one has ended":   {[]string{"call look 1", "got x", "done"}, []string{"call look 1", "got x", "say hi"}, "ended", "A ended after step 1 (finished answered); B went on: at step 2 it answered “hi”"},
		"no outcome yet":  {[]string{"call look 1"}, []string{"call look 1", "got x"}, "", ""},
		"one waits":       {[]string{"say a", "paused turn_done"}, []string{"say a", "say b"}, "open", "A has come no further than step 1 (paused turn_done); B went on: at step 2 it answered “b”"},
		"its next turn":   {[]string{"say a", "paused turn_done", "told more"}, []string{"say a", "say b"}, "open", "A has come no further than step 1; B went on: at step 2 it answered “b”"},
		"the other ended": {[]string{"say a", "say b"}, []string{"say a", "done"}, "ended", "B ended after step 1 (finished answered); A went on: at step 2 it answered “b”"},
	} {
		r := New(journal("a", tc.a...), journal("b", tc.b...)).Report(nil, nil)
		kind, text := "", ""
		if r.Parting != nil {
			kind, text = r.Parting.Kind, r.Parting.Text
		}
		if kind != tc.kind || text != tc.text {
			t.Errorf("%s: %s, %q", name, kind, text)
		}
	}
}

// The same call, other outcomes, and steps that only one run has.
func TestAlign(t *testing.T) {
	for _, tc := range []struct{ a, b, want string }{
		{"1=x 2=y 3=z", "1=x 2=y 3=z", "==="},
		{"1=x 2=y 3=z", "1=x 2=w 3=z", "=~="},
		{"1=x 2=y 3=z", "1=x 3=z", "=<="},
		{"1=x 3=z", "1=x 2=y 3=w", "=>~"},
		{"1=x 2=y", "3=x 4=y", "<<>>"},
		{"", "1=x", ">"},
		{"1=x 1=y 1=z", "1=y 1=z 1=q", "<==>"},
	} {
		steps := func(s string) []Step {
			var list []string
			for _, w := range strings.Fields(s) {
				call, got, _ := strings.Cut(w, "=")
				list = append(list, "call look "+call, "got "+got)
			}
			return journal("r", list...).Steps
		}
		pairs, exact := Align(steps(tc.a), steps(tc.b))
		got := ""
		for _, p := range pairs {
			got += map[PairKind]string{Same: "=", Outcome: "~", InA: "<", InB: ">", Said: "!"}[p.Kind]
		}
		if got != tc.want || !exact {
			t.Errorf("%s and %s: %s, want %s", tc.a, tc.b, got, tc.want)
		}
	}
}
