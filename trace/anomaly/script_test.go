package anomaly_test

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/trace/anomaly"
)

// TestScripts plays testdata/*.txt: each is a run, told by what happens, and below the
// dashes of found stands what was found so far: the place, how much it weighs, what it
// is, and the command to go on with. Rewrite with:
//
//	go test ./trace/anomaly -run TestScripts -rewrite
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if !strings.HasSuffix(path, ".txt") {
			return // what fuzzing has found
		}
		s := &script{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "run" {
				*s = script{}
			}
			return s.play(t, d)
		})
	})
}

// script is a run.
type script struct {
	fold  anomaly.Fold
	seq   int64
	now   int64
	step  int64
	bytes int64
	tools map[string]event.ToolSpec
	calls map[string]string // tools by call
}

func (s *script) add(d event.Data) {
	s.seq++
	s.fold.Add(&event.Event{Run: "r1", Seq: s.seq, Time: s.now, Data: d})
}

// play appends the events of a directive.
func (s *script) play(t *testing.T, d *datadriven.TestData) string {
	s.now += number(d, "pass", 1000)
	switch d.Cmd {
	case "run": // [recorded]: tools, one on a line: NAME EFFECT [polling] [harness]
		s.run(d)
	case "input": // what the user says
		s.add(&event.InputReceived{Kind: event.InputText, Parts: texts(d.Input)})
	case "reply": // [input= cached= write= output= reasoning=] [finish=] [latency=] [waited=] [bytes=] [model=] [kept= added=]: lines "call ID TOOL ARGS", else its text
		s.reply(d)
	case "aside": // the same, of a completion check
		s.add(&event.ModelCalled{ID: "aside", Step: s.step, Purpose: event.PurposeCompletionCheck, Attempt: 1})
		s.add(&event.ModelAnswered{ID: "aside", Usage: usage(d), Finish: event.FinishStop, Message: message.NewText(message.Assistant, d.Input)})
	case "result": // CALL [status=] [size=] [shown=] [error=] [retryable] [latency=] [read=PATH] [wrote=PATH] [ref]
		s.result(d)
	case "settle": // CALL: a person says that it is done
		s.add(&event.ApprovalAsked{ID: "settle", Call: d.CmdArgs[0].Key, Settle: true})
		s.now += number(d, "after", 0)
		s.add(&event.ApprovalGiven{Call: d.CmdArgs[0].Key, Decision: event.Done})
	case "undo": // CALL: it is taken back
		call := d.CmdArgs[0].Key
		s.add(&event.ToolStarted{ID: "undo", Call: call + "~undo", Tool: s.calls[call], Undoes: call, Attempt: 1})
		s.add(&event.ToolFinished{ID: "undo", Call: call + "~undo", Tool: s.calls[call], Undoes: call, Status: event.StatusSuccess})
	case "notice": // [CALL] [kind=]: what the harness tells the model
		n := &event.NoticeAdded{Kind: word(d, "kind", event.NoticeTruncation), Text: d.Input}
		if len(d.CmdArgs) > 0 && len(d.CmdArgs[0].Vals) == 0 {
			n.Call = d.CmdArgs[0].Key
		}
		s.add(n)
	case "compact": // [upto=]: lines "edit N ACTION WHY"
		c := &event.ContextCompacted{Strategy: "layered", Why: word(d, "why", ""), Upto: number(d, "upto", 0)}
		for line := range strings.Lines(d.Input) {
			f := strings.Fields(line)
			n, _ := strconv.ParseInt(f[1], 10, 64)
			c.Edits = append(c.Edits, event.ContextEdit{Message: n, Action: f[2], Why: f[3]})
		}
		s.add(c)
	case "assembled": // [no_tools]: blocks, NAME TOKENS
		a := &event.ContextAssembled{Purpose: event.PurposeStep, Step: s.step + 1, NoTools: d.HasArg("no_tools")}
		for line := range strings.Lines(d.Input) {
			f := strings.Fields(line)
			n, _ := strconv.ParseInt(f[1], 10, 64)
			a.Blocks = append(a.Blocks, event.BlockSize{Name: f[0], Tokens: n})
		}
		s.add(a)
	case "pause": // CAUSE
		s.add(&event.RunPaused{Cause: event.Cause(d.CmdArgs[0].Key)})
	case "resume": // [fork=]
		s.add(&event.RunResumed{Generation: 2, Fork: word(d, "fork", "")})
	case "left":
		s.fold.Left()
	case "finish": // [reason=]: the answer
		s.add(&event.RunFinished{Reason: event.Reason(word(d, "reason", "answered")), OK: true, Answer: d.Input})
	case "repeat": // N: the reply below so many times more, its numbers growing by=
		s.repeat(t, d)
	case "found":
		return s.found()
	default:
		d.Fatalf(t, "no directive %q", d.Cmd)
	}
	return ""
}

// found renders what was found.
func (s *script) found() string {
	var b strings.Builder
	for _, a := range s.fold.Found() {
		fmt.Fprintf(&b, "step %d event %d", a.Step, a.Event)
		if a.Call != "" {
			fmt.Fprintf(&b, " call %s", a.Call)
		}
		fmt.Fprintf(&b, " %s %s: %s\n  look: %s\n", a.Level, a.Kind, a.Text, a.Look)
	}
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}

func (s *script) run(d *datadriven.TestData) {
	s.now, s.tools, s.calls = 1_000_000, map[string]event.ToolSpec{}, map[string]string{}
	spec := event.Spec{Model: "test/model", System: []event.Block{{Name: "contract", Text: "Work."}}}
	for line := range strings.Lines(d.Input) {
		f := strings.Fields(line)
		t := event.ToolSpec{Name: f[0], Effect: event.Effect(f[1])}
		for _, o := range f[2:] {
			switch {
			case o == "polling":
				t.Polling = true
			case o == "harness":
				t.Harness = true
			case strings.HasPrefix(o, "key="):
				t.KeyFields = strings.Split(strings.TrimPrefix(o, "key="), ",")
			}
		}
		s.tools[t.Name] = t
		spec.Tools = append(spec.Tools, t)
	}
	started := &event.RunStarted{Format: event.Version, Root: "r1", Spec: spec}
	if d.HasArg("recorded") {
		started.Origin = &event.Origin{Format: "chat-completions"}
	}
	s.add(started)
}

// reply adds a request with its reply, and begins the calls: "call! ID …" is one that
// is answered from the journal, "call? ID …" one that a person is asked about.
func (s *script) reply(d *datadriven.TestData) {
	s.step++
	id := fmt.Sprint(s.step, ".0")
	s.bytes = number(d, "bytes", s.bytes)
	s.add(&event.ModelCalled{ID: id, Purpose: event.PurposeStep, Step: s.step, Attempt: 1, Model: word(d, "model", "test/model"),
		Kept: number(d, "kept", 0), Added: number(d, "added", 0), Bytes: s.bytes, Strict: d.HasArg("strict")})
	parsed := &event.ReplyParsed{ID: id, Format: "native"}
	msg := message.Message{Role: message.Assistant}
	var judged, started []event.Data
	var said strings.Builder
	for line := range strings.Lines(d.Input) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(verb, "call") || len(verb) > len("call!") {
			said.WriteString(line)
			continue
		}
		call, rest, _ := strings.Cut(rest, " ")
		name, args, _ := strings.Cut(rest, " ")
		if args == "" {
			args = "{}"
		}
		hash := event.Hash(sha256.Sum256([]byte(args)))
		s.calls[call] = name
		msg.Parts = append(msg.Parts, message.Part{Kind: message.ToolCall, ID: call, Name: name, Args: args})
		parsed.Calls = append(parsed.Calls, event.ParsedCall{ID: call, Name: name, Args: args})
		j := &event.CallJudged{Call: call, Tool: name, Verdict: event.Allow, ArgsHash: hash}
		judged = append(judged, j)
		switch verb {
		case "call!":
			j.Verdict = event.Intercept
		case "call?":
			started = append(started, &event.ApprovalAsked{ID: call, Call: call, Tool: name, Hash: hash})
		default:
			started = append(started, &event.ToolStarted{ID: "of " + call, Call: call, Tool: name, Effect: s.tools[name].Effect, ArgsHash: hash, Attempt: 1})
		}
	}
	if said.Len() > 0 {
		msg.Parts = append(msg.Parts, message.Part{Kind: message.Text, Text: said.String()})
	}
	latency := number(d, "latency", 500)
	s.now += latency
	s.add(&event.ModelAnswered{ID: id, Message: msg, Finish: event.Finish(word(d, "finish", "stop")), Usage: usage(d), Latency: latency, Waited: number(d, "waited", 0)})
	s.add(parsed)
	for _, e := range append(judged, started...) {
		s.add(e)
	}
}

// result adds what came of a call.
func (s *script) result(d *datadriven.TestData) {
	call := d.CmdArgs[0].Key
	size := number(d, "size", int64(len(d.Input)))
	f := &event.ToolFinished{ID: "of " + call, Call: call, Tool: s.calls[call], Status: event.Status(word(d, "status", "success")), Parts: texts(d.Input),
		Size: size, Shown: number(d, "shown", size), Retryable: d.HasArg("retryable"), Latency: number(d, "latency", 20)}
	if f.ErrorType = word(d, "error", ""); f.ErrorType != "" {
		f.Status, f.ErrorMessage = event.StatusError, d.Input
	}
	if f.Shown < f.Size {
		f.Full = &message.Ref{SHA256: strings.Repeat("0", 64), Bytes: size}
	}
	if d.HasArg("ref") {
		f.Parts[0].Ref = &message.Ref{SHA256: strings.Repeat("0", 64)}
	}
	if p := word(d, "read", ""); p != "" {
		f.Seen = []event.Seen{{Resource: p, Version: word(d, "version", "1"), From: 1, To: 3, Total: 3}}
	}
	if p := word(d, "wrote", ""); p != "" {
		f.Seen = []event.Seen{{Resource: p, Version: word(d, "version", "1"), Wrote: true, Total: 3}}
	}
	s.add(f)
}

// repeat adds so many steps, whose input, cached input and bytes grow by so much each.
func (s *script) repeat(t *testing.T, d *datadriven.TestData) {
	n, err := strconv.Atoi(d.CmdArgs[0].Key)
	if err != nil {
		d.Fatalf(t, "how often?")
	}
	input, cached, bytes, latency := number(d, "input", -1), number(d, "cached", -1), number(d, "bytes", 0), number(d, "latency", 500)
	for i := range n {
		s.step++
		s.now += 1000
		id := fmt.Sprint(s.step, ".0")
		u := message.Usage{}
		if input >= 0 {
			u.Input = message.Known(input + int64(i)*number(d, "more_input", 0) + int64(i*i)*number(d, "bend", 0))
		}
		if cached >= 0 {
			u.Cached = message.Known(cached + int64(i)*number(d, "more_cached", 0))
		}
		s.add(&event.ModelCalled{ID: id, Purpose: event.PurposeStep, Step: s.step, Attempt: 1, Model: "test/model", Kept: 2 * int64(i), Added: 2, Bytes: bytes + int64(i)*number(d, "more_bytes", 0)})
		s.add(&event.ModelAnswered{ID: id, Message: message.NewText(message.Assistant, "."), Finish: event.FinishStop, Usage: u, Latency: latency})
		s.add(&event.ReplyParsed{ID: id, Format: "native"})
	}
}

func texts(s string) []message.Part {
	return []message.Part{{Kind: message.Text, Text: strings.TrimSuffix(s, "\n")}}
}

func usage(d *datadriven.TestData) (u message.Usage) {
	for name, c := range map[string]*message.Count{"input": &u.Input, "cached": &u.Cached, "write": &u.CacheWrite, "output": &u.Output, "reasoning": &u.Reasoning} {
		if n := number(d, name, -1); n >= 0 {
			*c = message.Known(n)
		}
	}
	return u
}

func number(d *datadriven.TestData, name string, def int64) int64 {
	if n, err := strconv.ParseInt(word(d, name, ""), 10, 64); err == nil {
		return n
	}
	return def
}

func word(d *datadriven.TestData, name, def string) string {
	for _, a := range d.CmdArgs {
		if a.Key == name && len(a.Vals) > 0 {
			return a.Vals[0]
		}
	}
	return def
}
