package window_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/tokens"
	"rein.example/rein/window"
)

// TestScripts plays testdata/*.txt. talk says a conversation, a message a line:
//
//	u TEXT                         a user
//	a TEXT -> tool ARGS; tool ARGS  the model, with calls; they are c1, c2, …
//	r FLAGS | TEXT                 the next result; handled, failed, same=c4,
//	                               newer=c5, unpaged
//	n TEXT                         a notice
//	m TEXT                         material
//
// A ~N in a text stands for lines of some N tokens that say nothing, ⏎ for the end of
// a line. Each line may
// be said again: "x3 a …"; # in it is how often it was said. The arguments of talk
// are the window: strategy, budget, trigger, target, keep, fixed, and search, page,
// nosummary, forced.
//
//	plan      plans, and shows the plan; trim does so with Trim
//	apply     carries the last plan out; what is below it is the summary
//	context   shows the messages that there are now, with their sizes
//	prompt    shows what asks for the summary of the last plan
//	check     checks a summary: finish, calls, size
//	state     shows the block at the tail; below it is the state
//
// Rewrite with:
//
//	go test ./window -run TestScripts -rewrite
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return s.do(t, d)
		})
	})
}

type script struct {
	view  window.View
	plan  window.Plan
	calls int
	next  int64
	// open are the calls without a result.
	open []message.Part
}

func (s *script) do(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "talk":
		*s = script{view: window.View{Spec: &event.WindowSpec{}}}
		s.set(t, d)
		s.say(t, d.Input)
		return s.sizes()
	case "say":
		s.set(t, d)
		s.say(t, d.Input)
		return s.sizes()
	case "plan", "trim":
		s.set(t, d)
		s.plan = s.planned(t, d)
		return show(&s.plan)
	case "apply":
		s.apply(d.Input)
		return s.sizes()
	case "context":
		return s.context()
	case "prompt":
		return window.SummaryPrompt(&s.view, &s.plan)
	case "check":
		return s.check(t, d)
	case "state":
		return stateOf(t, d)
	}
	d.Fatalf(t, "no directive %q", d.Cmd)
	return ""
}

func (s *script) set(t *testing.T, d *datadriven.TestData) {
	v := &s.view
	for _, a := range d.CmdArgs {
		n := int64(0)
		if len(a.Vals) > 0 {
			n, _ = strconv.ParseInt(a.Vals[0], 10, 64)
		}
		switch a.Key {
		case "strategy":
			v.Spec.Strategy = a.Vals[0]
		case "budget":
			v.Budget = n
			v.Trigger, v.Target = window.Marks(v.Spec, window.MarksIn{Budget: n})
		case "trigger":
			v.Trigger = n
		case "target":
			v.Target = n
		case "keep":
			v.Spec.Keep = n
		case "fixed":
			v.Fixed = n
		case "search":
			v.Reach.Search = true
		case "page":
			v.Reach.Page = true
		case "nosummary":
			v.NoSummary = true
		case "forced":
			v.Forced = len(a.Vals) == 0
		default:
			d.Fatalf(t, "no argument %q", a.Key)
		}
	}
}

func (s *script) planned(t *testing.T, d *datadriven.TestData) window.Plan {
	if d.Cmd == "trim" {
		return window.Trim(&s.view)
	}
	strategy, err := window.For(s.view.Spec.Strategy)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return strategy.Plan(&s.view)
}

// say adds messages.
func (s *script) say(t *testing.T, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		times := 0
		if n, rest, ok := strings.Cut(line, " "); ok && strings.HasPrefix(n, "x") {
			if k, err := strconv.Atoi(n[1:]); err == nil {
				times, line = k, rest
			}
		}
		if times == 0 {
			s.message(t, line)
		}
		for k := range times {
			for part := range strings.SplitSeq(line, " / ") {
				s.message(t, strings.ReplaceAll(part, "#", strconv.Itoa(k+1)))
			}
		}
	}
}

func (s *script) message(t testing.TB, line string) {
	kind, text, _ := strings.Cut(line, " ")
	e := window.Entry{Number: s.next}
	var m message.Message
	switch kind {
	case "u":
		e.Kind, m = window.Input, message.NewText(message.User, fill(text))
	case "n":
		e.Kind, m = window.Notice, message.NewText(message.System, fill(text))
	case "m":
		e.Kind, m = window.Material, message.NewText(message.System, fill(text))
	case "a":
		said, calls, _ := strings.Cut(text, "->")
		e.Kind, m = window.Reply, message.NewText(message.Assistant, fill(strings.TrimSpace(said)))
		s.open = nil
		for call := range strings.SplitSeq(calls, ";") {
			if name, args, ok := strings.Cut(strings.TrimSpace(call), " "); ok {
				s.calls++
				p := message.Part{Kind: message.ToolCall, ID: fmt.Sprint("c", s.calls), Name: name, Args: args}
				m.Parts, s.open = append(m.Parts, p), append(s.open, p)
			}
		}
	case "r":
		flags, said, _ := strings.Cut(text, "|")
		if len(s.open) == 0 {
			t.Fatalf("%s: a result without a call", line)
		}
		p := s.open[0]
		s.open = s.open[1:]
		e.Kind, m = window.Result, message.Result(p.ID, p.Name, fill(strings.TrimSpace(said)), false)
		e.Call, e.Tool, e.Args, e.Paged = p.ID, p.Name, p.Args, true
		for f := range strings.FieldsSeq(flags) {
			flag(t, &e, f)
		}
	default:
		t.Fatalf("no message %q", line)
	}
	e.Msg, e.Tokens = &m, size(&m)
	s.view.Entries = append(s.view.Entries, e)
	s.next++
}

func flag(t testing.TB, e *window.Entry, f string) {
	key, value, _ := strings.Cut(f, "=")
	switch key {
	case "handled":
		e.Handled, e.Failed = true, true
	case "failed":
		e.Failed = true
	case "same":
		e.Same = value
	case "newer":
		e.Newer = value
	case "unpaged":
		e.Paged = false
	default:
		t.Fatalf("no flag %q", f)
	}
}

func size(m *message.Message) int64 { return int64(tokens.Message(tokens.Estimate{}, m)) }

// fill replaces each ~N by N tokens.
func fill(text string) string {
	before, after, more := strings.Cut(strings.ReplaceAll(text, "⏎", "\n"), "~")
	var b strings.Builder
	b.WriteString(strings.TrimSpace(before))
	for more {
		digits, rest, _ := strings.Cut(after, " ")
		n, _ := strconv.Atoi(strings.TrimRight(digits, "~"))
		b.WriteString(strings.Repeat("\nand so on it goes", n/6))
		before, after, more = strings.Cut(rest, "~")
		if before != "" {
			b.WriteString("\n" + strings.TrimSpace(before))
		}
	}
	return b.String()
}

// apply carries the plan out, as a run does.
func (s *script) apply(summary string) {
	v := &s.view
	if summary == "" {
		summary = v.Digest.Summary
	}
	d := window.DigestText{Summary: summary, Snapshot: window.TakeSnapshot(v, &s.plan, summary), Upto: max(v.Digest.Upto, s.plan.Upto), Reach: v.Reach}
	v.Entries = window.Apply(v.Entries, &s.plan, digestEntry(d))
	v.Digest = d
}

func digestEntry(d window.DigestText) *window.Entry {
	if d.Empty() {
		return nil
	}
	m := window.DigestMessage(d)
	return &window.Entry{Number: -1, Kind: window.Digest, Msg: &m, Tokens: size(&m)}
}

func (s *script) sizes() string {
	v := &s.view
	return fmt.Sprintf("%d messages, %d tokens; begins at %d, lands at %d, budget %d\n", len(v.Entries), v.Total(), v.Trigger, v.Target, v.Budget)
}

func show(p *window.Plan) string {
	if p.Zero() {
		return "nothing\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "because %s\n", p.Why)
	if p.Upto > 0 {
		fmt.Fprintf(&b, "messages before %d leave", p.Upto)
		if p.Summarise {
			b.WriteString("; the model is asked for a summary")
		}
		b.WriteString("\n")
	}
	for _, e := range p.Edits {
		fmt.Fprintf(&b, "%d %s %s", e.Message, e.Action, e.Why)
		if e.Action != window.ActionDrop {
			fmt.Fprintf(&b, " %d: %s", e.Tokens.Or(-1), short(e.Text))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// short shows filling as ~.
func short(text string) string {
	const filling = "and so on it goes"
	for strings.Contains(text, filling+"\n"+filling) {
		text = strings.ReplaceAll(text, filling+"\n"+filling, filling)
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, filling, "~"), "\n", "⏎")
}

func (s *script) context() string {
	var b strings.Builder
	for _, e := range s.view.Entries {
		fmt.Fprintf(&b, "%3d %-9s %4d: %s", e.Number, e.Msg.Role, e.Tokens, strings.ReplaceAll(short(e.Msg.PlainText()), "⏎", "\n      "))
		for _, p := range e.Msg.Parts {
			if p.Kind == message.ToolCall {
				fmt.Fprintf(&b, " -> %s %s %s", p.ID, p.Name, p.Args)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (s *script) check(t *testing.T, d *datadriven.TestData) string {
	finish, calls, n := event.FinishStop, 0, int64(tokens.Estimate{}.Count(d.Input))
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "finish":
			finish = event.Finish(a.Vals[0])
		case "calls":
			calls, _ = strconv.Atoi(a.Vals[0])
		case "size":
			n, _ = strconv.ParseInt(a.Vals[0], 10, 64)
		default:
			d.Fatalf(t, "no argument %q", a.Key)
		}
	}
	if err := window.CheckSummary(d.Input, finish, calls, &s.view, &s.plan, n); err != nil {
		return "refused: " + err.Error() + "\n"
	}
	return "taken\n"
}

// stateOf shows a state block. Lists are written file=a,b.
func stateOf(t *testing.T, d *datadriven.TestData) string {
	in := window.StateIn{State: jsontext.Value(d.Input)}
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "files":
			in.Files = a.Vals
		case "artifacts":
			in.Artifacts = a.Vals
		case "unknown":
			in.Unknown = a.Vals
		case "resolved":
			in.Resolved = append(in.Resolved, window.ResolvedError{Tool: a.Vals[0], Type: a.Vals[1], Call: a.Vals[2], By: a.Vals[3]})
		case "steps":
			in.Steps, _ = strconv.ParseInt(a.Vals[0], 10, 64)
		case "limit":
			in.Limit, _ = strconv.ParseInt(a.Vals[0], 10, 64)
		case "many":
			n, _ := strconv.Atoi(a.Vals[0])
			for k := range n {
				in.Files = append(in.Files, fmt.Sprintf("out/report-%d.md", k+1))
			}
		default:
			d.Fatalf(t, "no argument %q", a.Key)
		}
	}
	text := window.StateBlock(&in)
	if text == "" {
		return "nothing\n"
	}
	return fmt.Sprintf("%s\n(%d tokens)\n", text, (tokens.Estimate{}).Count(text))
}
