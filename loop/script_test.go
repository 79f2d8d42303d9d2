package loop_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/tokens"
	"rein.example/rein/tool"
	"rein.example/rein/window"
)

// TestScripts plays testdata/*.txt: each is a conversation with the machine.
// A directive is something that happens; below the dashes stands what the
// machine decides by itself (decided), what an engine starts because of it
// (started), and at the end what is outstanding. Rewrite with:
//
//	go test ./loop -run TestScripts -rewrite
//
// Whatever the script, after every single event a machine that is folded anew
// from the journal must want the same.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var s *script
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "run" {
				s = newScript(t)
			}
			s.t = t
			return s.play(d)
		})
		s.refold()
	})
}

// script is an engine reduced to the bones: it carries out nothing, and lets
// the directives say what came of each command.
type script struct {
	t      *testing.T
	m      *loop.Machine
	events []event.Event
	wants  []string // what the machine wanted after each event
	out    strings.Builder
	now    int64
	begun  map[string]bool
	keys   map[string]string // of the calls that were begun
	// children are the runs that carry calls out, by call.
	children map[string]string
	// parsed changes the next reply.parsed: what is decided is what its event says.
	parsed func(*event.ReplyParsed)
	files  int // that were read by steps
	// open: the run's end is not recorded, whatever is decided.
	open bool
}

func newScript(t *testing.T) *script {
	return &script{t: t, m: loop.New("r1"), now: 1_000_000, begun: map[string]bool{}, keys: map[string]string{}, children: map[string]string{}}
}

// play appends what the directive says, then all that follows from it.
func (s *script) play(d *datadriven.TestData) string {
	s.out.Reset()
	s.now += 1000
	s.open = d.HasArg("open")
	switch d.Cmd {
	case "run":
		s.run(d)
	case "input":
		in := &event.InputReceived{Kind: event.InputText, Tokens: count(d, "tokens", 10), Parts: filled(d, d.Input)}
		s.fill(d, &in.Tokens, message.User, in.Parts)
		s.add(s.question(arg(d, "answers", "")), in)
	case "stop", "pause", "cancel":
		s.add("", &event.InputReceived{Kind: event.InputKind(d.Cmd), Why: strings.TrimSpace(d.Input)})
	case "reply":
		s.reply(d)
	case "fail":
		f := &event.ModelFailed{ID: s.model().ID, Class: event.ErrorClass(arg(d, "class", "server")), Message: d.Input, Code: arg(d, "code", "")}
		f.RetryAfter, f.Limit = count(d, "retry_after", -1), count(d, "limit", -1)
		f.Waited = number(d, "waited", 0)
		s.add(f.ID, f)
	case "retrieved": // [error=WHY] [tokens=N]: what the retriever has found, if anything
		f := &event.MaterialRetrieved{ID: s.inquiry().ID, Error: arg(d, "error", ""), Tokens: count(d, "tokens", 10)}
		if d.Input != "" {
			f.Parts = []message.Part{{Kind: message.Text, Text: d.Input}}
		}
		s.add(f.ID, f)
	case "steps": // N [fill=WORDS]: so many steps that read a file each, until a summary is asked for
		s.steps(d)
		return s.out.String()
	case "compacted": // upto=N: a rewrite from somewhere else
		s.add("", &event.ContextCompacted{Strategy: "foreign", Upto: number(d, "upto", 0), Summary: d.Input})
	case "context": // what the model call that is outstanding sends after the system text
		s.context()
	case "result":
		s.result(d)
	case "time":
		s.fire()
	case "pass": // MS: nothing happens for so long
		n, _ := strconv.ParseInt(d.CmdArgs[0].Key, 10, 64)
		s.now += n
	case "approve", "reject", "done", "not_done":
		s.given(d)
	case "told":
		s.told()
	case "parked": // CALL…: the runs that carry these calls out have paused
		s.parked(d)
	case "park": // nobody is there to ask: the engine pauses the run
		cause, _ := s.m.Waiting()
		s.add("", &event.RunPaused{Cause: cause})
	case "resume":
		s.add("", &event.RunResumed{Generation: 2, Changed: changed(d)})
	case "fork": // [model=NAME]: the run goes on from here as a fork of what it was so far
		f := &event.RunResumed{Generation: 1, Fork: "r0"}
		if name := arg(d, "model", ""); name != "" {
			f.Models = &event.ModelChange{Model: name, Window: s.m.Spec().Window}
		}
		s.add("", f)
	default:
		d.Fatalf(s.t, "no directive %q", d.Cmd)
	}
	s.settle()
	return s.out.String()
}

// run appends run.started and the task: arguments are limits, the input lines
// are tools (tool NAME EFFECT, and the options of toolSpec), permissions, how a
// model calls tools (calling MODEL [dialect=ID] [text] [strict]) and the task.
func (s *script) run(d *datadriven.TestData) {
	number := func(name string) int64 { return number(d, name, 0) }
	spec := event.Spec{Model: "test/model", Fallback: fallback(d), Seed: 7, Limits: event.Limits{Steps: number("steps"), ToolCalls: number("tool_calls"),
		Tokens: number("tokens"), Wall: number("wall"), Output: number("output"), Work: number("work"), Cost: number("cost")}, Chat: d.HasArg("chat"),
		Check: d.HasArg("check"), ReadBack: number("read_back"),
		Window: event.WindowSpec{Size: number("window"), Strategy: arg(d, "strategy", ""), Reserve: number("reserve"), Margin: number("margin"),
			Trigger: number("trigger"), Target: number("target"), Keep: number("keep")}, Retrieve: d.HasArg("retrieve"), Retry: event.RetrySpec{Tries: number("tries"), ToolTries: number("tool_tries")}}
	if d.HasArg("submit") {
		spec.Submit = []byte(`{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"]}`)
	}
	task := "do it"
	for line := range strings.Lines(d.Input) {
		f := strings.Fields(line)
		switch f[0] {
		case "tool":
			spec.Tools = append(spec.Tools, toolSpec(f))
		case "allow", "ask", "deny":
			spec.Permissions = append(spec.Permissions, event.Permission{Verdict: event.Verdict(f[0]), Match: f[1]})
		case "calling":
			spec.Calling = append(spec.Calling, calling(f))
		case "rule":
			spec.Rules = append(spec.Rules, ruleSpec(f[1:]))
		case "phase": // NAME TOOL,TOOL [until TOOL]
			p := event.PhaseSpec{Name: f[1], Tools: strings.Split(f[2], ",")}
			if len(f) > 4 {
				p.Until = f[4]
			}
			spec.Phases = append(spec.Phases, p)
		case "accept": // file|id|field|call NAME
			a := map[string]*[]string{"file": &spec.Accept.Files, "id": &spec.Accept.IDs, "field": &spec.Accept.Fields, "call": &spec.Accept.Calls}[f[1]]
			*a = append(*a, f[2])
		case "price": // millionths of a dollar for a million tokens, in and out
			in, _ := strconv.ParseInt(f[1], 10, 64)
			out, _ := strconv.ParseInt(f[2], 10, 64)
			spec.Prices = append(spec.Prices, event.ModelPrice{Model: "test/model", Price: message.Price{Input: in, Output: out}})
		case "task":
			task = strings.TrimSpace(line[5:])
		}
	}
	s.add("", &event.RunStarted{Format: 1, Root: "r1", Spec: spec})
	in := &event.InputReceived{Kind: event.InputText, Tokens: message.Known(10), Parts: filled(d, task)}
	s.fill(d, &in.Tokens, message.User, in.Parts)
	s.add("", in)
}

// filled is a text, followed by as many words that say nothing as fill=WORDS has.
func filled(d *datadriven.TestData, text string) []message.Part {
	if n := number(d, "fill", 0); n > 0 {
		text = strings.TrimSuffix(text+"\n"+strings.Repeat("word ", int(n)), " ")
	}
	return []message.Part{{Kind: message.Text, Text: text}}
}

// fill counts what filled has made, as an engine would.
func (s *script) fill(d *datadriven.TestData, tokens *message.Count, role message.Role, parts []message.Part) {
	if d.HasArg("fill") {
		*tokens = sized(role, parts)
	}
}

func sized(role message.Role, parts []message.Part) message.Count {
	return message.Known(int64(tokens.Message(tokens.Estimate{}, &message.Message{Role: role, Parts: parts})))
}

// steps plays steps that read a file each; of what is decided it shows only what
// becomes of the context.
func (s *script) steps(d *datadriven.TestData) {
	n, _ := strconv.Atoi(d.CmdArgs[0].Key)
	for range n {
		c := s.model()
		if c.Purpose == event.PurposeSummary {
			break
		}
		s.files++
		call := message.Part{Kind: message.ToolCall, ID: fmt.Sprint("r", s.files), Name: "read_file", Args: fmt.Sprintf(`{"path":"f%d.txt"}`, s.files)}
		msg := message.Message{Role: message.Assistant, Parts: []message.Part{call}}
		s.add(c.ID, &event.ModelAnswered{ID: c.ID, Message: msg, Finish: event.FinishToolCalls, Usage: message.Usage{Input: s.used(d), Output: message.Known(10)},
			Tokens: sized(message.Assistant, msg.Parts)})
		s.quietly()
		for _, next := range s.m.Next() {
			if r, ok := next.(*loop.RunTool); ok {
				f := &event.ToolFinished{ID: r.ID, Call: r.Call, Tool: r.Tool, Status: event.StatusSuccess, Parts: filled(d, fmt.Sprintf("file %d", s.files))}
				f.Tokens = sized(message.Tool, f.Parts)
				s.add(r.ID, f)
				break
			}
		}
		s.quietly()
		s.now += 1000
	}
	for _, c := range s.m.Next() {
		s.say("outstanding", command(c))
	}
	if st := s.m.Status(); st.Status != "running" {
		s.say(st.Status, string(st.Reason)+string(st.Cause))
	}
}

// quietly is settle without the words, apart from those on rewrites and the end.
func (s *script) quietly() {
	shown := s.out.String()
	from := len(s.events)
	s.settle()
	s.out.Reset()
	s.out.WriteString(shown)
	for _, e := range s.events[from:] {
		switch e.Data.(type) {
		case *event.ContextCompacted, *event.RunFinished:
			s.say("decided", describe(e.Data))
		}
	}
}

// changed returns the tools of the argument changed=(tool,pin).
func changed(d *datadriven.TestData) []event.ToolPin {
	for _, a := range d.CmdArgs {
		if a.Key == "changed" {
			return []event.ToolPin{{Tool: a.Vals[0], Pin: a.Vals[1]}}
		}
	}
	return nil
}

// fallback returns the models of the argument fallback=(a,b).
func fallback(d *datadriven.TestData) []string {
	for _, a := range d.CmdArgs {
		if a.Key == "fallback" {
			return a.Vals
		}
	}
	return nil
}

func calling(f []string) event.ModelCalling {
	c := event.ModelCalling{Model: f[1], Tokens: message.Known(300)}
	for _, o := range f[2:] {
		name, value, _ := strings.Cut(o, "=")
		switch name {
		case "dialect":
			c.Dialect = value
		case "text":
			c.Text = true
		case "strict":
			c.Strict = true
		}
	}
	return c
}

// ruleSpec returns the rule "CALL before TOOL", "never CALL", "never CALL after
// TOOL" or "read_back".
func ruleSpec(f []string) event.RuleSpec {
	r := event.RuleSpec{List: "must"}
	switch {
	case f[0] == "read_back":
		r.Kind = event.RuleReadBack
	case f[0] == "never":
		r.List, r.Kind, r.Call = "never", event.RuleNever, f[1]
		if len(f) > 3 {
			r.After = f[3]
		}
	default:
		r.Kind, r.Call, r.Before = event.RuleBefore, f[0], f[2]
	}
	r.Text = guard.RuleText(&r)
	return r
}

// toolSpec returns the tool NAME EFFECT with options such as confirm=NAME. Its
// arguments are x, path and answer; takes=NAME is one more, needs=NAME must be
// there.
func toolSpec(f []string) event.ToolSpec {
	t := event.ToolSpec{Name: f[1], Effect: event.Effect(f[2]), Timeout: 60_000,
		Schema: []byte(`{"type":"object","properties":{"x":{"type":"integer"},"path":{"type":"string"},"answer":{"type":"string"}},"additionalProperties":false}`)}
	if t.Name == tool.CallTool {
		t.Schema = []byte(`{"type":"object","properties":{"name":{"type":"string"},"arguments":{"type":"object"}},"required":["name"],"additionalProperties":false}`)
	}
	for _, o := range f[3:] {
		name, value, _ := strings.Cut(o, "=")
		switch name {
		case "needs":
			t.Schema = []byte(strings.TrimSuffix(string(t.Schema), "}") + `,"required":["` + value + `"]}`)
		case "takes":
			t.Schema = []byte(strings.Replace(string(t.Schema), `"x":`, `"`+value+`":{"type":"string"},"x":`, 1))
		case "confirm":
			t.Confirm = value
		case "key":
			t.KeyFields = strings.Split(value, ",")
		case "agent":
			t.Agent, t.Timeout = value, 0
		case "group":
			t.Group = value
		case "harness":
			t.Harness = true
		case "polling":
			t.Polling = true
		case "sensitive":
			t.Sensitive = true
		case "pin":
			t.Pin = value
		case "timeout":
			t.Timeout, _ = strconv.ParseInt(value, 10, 64)
		case "max":
			t.MaxCalls, _ = strconv.ParseInt(value, 10, 64)
		case "resource":
			t.Resources = []string{value}
		}
	}
	return t
}

// reply answers the model call that is outstanding. Input lines: "call ID NAME
// ARGUMENTS" for native calls; everything else is text. guess=KIND has the first
// call read with a guess, unread=WORD leaves a part of the reply unread. times=N has the
// last line of the text N times, think has the text be reasoning. With open the end of
// the run that follows is not recorded.
func (s *script) reply(d *datadriven.TestData) {
	if guess, unread := arg(d, "guess", ""), arg(d, "unread", ""); guess+unread != "" {
		s.parsed = func(p *event.ReplyParsed) {
			if guess != "" {
				p.Calls[0].Repairs = []event.Repair{{Kind: guess, Where: "/x", Lossy: true}}
			}
			if unread != "" {
				p.Problems = []string{"the text " + unread + " looks like a call and is none"}
			}
		}
	}
	msg := message.Message{Role: message.Assistant}
	var text []string
	for line := range strings.Lines(d.Input) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "call "); ok {
			f := strings.SplitN(rest, " ", 3)
			p := message.Part{Kind: message.ToolCall, ID: f[0], Name: f[1]}
			if len(f) > 2 {
				p.Args = f[2]
			}
			msg.Parts = append(msg.Parts, p)
		} else {
			text = append(text, line)
		}
	}
	if n := number(d, "times", 1); len(text) > 0 {
		text = append(text, slices.Repeat(text[len(text)-1:], int(n)-1)...)
		msg.Parts = slices.Insert(msg.Parts, 0, filled(d, strings.Join(text, "\n"))[0])
		if d.HasArg("think") {
			msg.Parts[0].Kind = message.Reasoning
		}
	}
	finish := "stop"
	if msg.Calls() > 0 {
		finish = "tool_calls"
	}
	id := s.model().ID
	s.add(id, &event.ModelAnswered{ID: id, Message: msg, Finish: event.Finish(arg(d, "finish", finish)), RawFinish: arg(d, "finish", finish),
		Usage: message.Usage{Input: s.used(d), Output: message.Known(10)}, Tokens: count(d, "tokens", 20)})
}

// used is what the server says of the request: used=N, permille=N of what was
// counted, or what was expected.
func (s *script) used(d *datadriven.TestData) message.Count {
	if used := count(d, "used", -1); used != 0 {
		return used
	}
	for i := len(s.events) - 1; i >= 0; i-- {
		a, ok := s.events[i].Data.(*event.ContextAssembled)
		if !ok {
			continue
		}
		if permille := number(d, "permille", 0); permille > 0 {
			var n int64
			for _, b := range a.Blocks {
				n += b.Tokens
			}
			return message.Known(n * permille / 1000)
		}
		return message.Known(a.Tokens)
	}
	return 0
}

// result is the outcome of a tool execution: result CALL [status=…] [error=TYPE]
// [retryable] [no_effect] [ended] [after=MS] [value=JSON] [seen=PATH].
func (s *script) result(d *datadriven.TestData) {
	call := d.CmdArgs[0].Key
	for _, c := range s.m.Next() {
		if r, ok := c.(*loop.RunTool); ok && r.Call == call {
			f := &event.ToolFinished{ID: r.ID, Call: call, Tool: r.Tool, Status: event.Status(arg(d, "status", "success")),
				Parts: filled(d, d.Input), Tokens: count(d, "tokens", 15), Retryable: d.HasArg("retryable"), NoEffect: d.HasArg("no_effect"), Ended: d.HasArg("ended"),
				ErrorType: arg(d, "error", ""), For: r.For}
			if f.Status != event.StatusSuccess {
				f.ErrorMessage = d.Input
			}
			f.RetryAfter = count(d, "after", -1)
			if r.Value {
				f.Result = []byte(arg(d, "value", `{"answer":"`+d.Input+`"}`))
			}
			s.fill(d, &f.Tokens, message.Tool, f.Parts)
			f.Size = number(d, "size", 0)
			if p := arg(d, "seen", ""); p != "" {
				f.Seen = []event.Seen{{Resource: p, Version: "v1", From: 1, To: 10, Total: 10}}
			}
			if p := arg(d, "wrote", ""); p != "" {
				f.Seen = []event.Seen{{Resource: p, Version: "v1", Total: 10, Wrote: true}}
			}
			s.add(r.ID, f)
			return
		}
		if r, ok := c.(*loop.StartRun); ok && r.Call == call {
			s.ended(d, r)
			return
		}
	}
	d.Fatalf(s.t, "no execution of %s is outstanding", call)
}

// told prints how the model is told of the tools in the system text of the call that
// is outstanding, without the tools themselves.
func (s *script) told() {
	c := s.model()
	if len(c.System) == 0 {
		s.say("told", "nothing")
		return
	}
	_, how, _ := strings.Cut(c.System[0].PlainText(), "</tools>")
	for line := range strings.Lines(strings.TrimSpace(how)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "- ") {
			s.say("told", line)
		}
	}
}

// partOfTools lists what a request offers where that is not all there is.
func (s *script) partOfTools(c *loop.CallModel) string {
	if len(c.Tools) == len(s.m.Spec().Tools) {
		return ""
	}
	text := fmt.Sprintf(", epoch %d, tools", c.Epoch)
	for _, t := range c.Tools {
		text += " " + t.Name
	}
	return text
}

// question returns the command that asks about a call; none for none.
func (s *script) question(call string) string {
	for _, c := range s.m.Next() {
		if q, ok := c.(*loop.AskApproval); ok && q.Call == call {
			return q.ID
		}
	}
	return ""
}

// given answers the question about a call: approve CALL [wrong_hash].
func (s *script) given(d *datadriven.TestData) {
	g := &event.ApprovalGiven{Call: d.CmdArgs[0].Key, Decision: event.Decision(d.Cmd), Why: d.Input}
	for _, p := range s.m.Status().Pending {
		if p.Call == g.Call && !d.HasArg("wrong_hash") {
			g.Hash = p.Hash
		}
	}
	s.add("", g)
}

// fire lets the time come that the first timer waits for, other than the run's
// own deadline unless that is all there is.
func (s *script) fire() {
	var wait *loop.Wait
	for _, c := range s.m.Next() {
		if w, ok := c.(*loop.Wait); ok && (wait == nil || w.Until < wait.Until) {
			wait = w
		}
	}
	if wait == nil {
		s.t.Fatal("no timer is outstanding")
	}
	s.now = wait.Until
	s.add(wait.ID, &event.TimerFired{ID: wait.ID})
}

// settle appends the machine's decisions and starts its commands until nothing
// new comes.
func (s *script) settle() {
	for {
		next := s.m.Next()
		again := false
		for _, c := range slices.Clone(next) {
			switch c := c.(type) {
			case *loop.Record:
				for _, data := range slices.Clone(c.Data) {
					if p, ok := data.(*event.ReplyParsed); ok && s.parsed != nil {
						s.parsed(p)
						s.parsed = nil
					}
					s.say("decided", describe(data))
					s.add("", data)
				}
				again = true
			case *loop.Finish:
				if s.open {
					s.say("not recorded", describe(c.Data))
					return
				}
				s.say("decided", describe(c.Data))
				s.add("", c.Data)
				again = true
			default:
				again = s.start(c) || again
			}
			if again {
				break
			}
		}
		if !again {
			for _, c := range next {
				s.say("outstanding", command(c))
			}
			if cause, ok := s.m.Waiting(); ok {
				s.say("waiting", string(cause))
			}
			if st := s.m.Status(); st.Status != "running" {
				s.say(st.Status, string(st.Reason)+string(st.Cause))
			}
			return
		}
	}
}

// start appends the intent of a command that was not begun yet.
func (s *script) start(c loop.Command) bool {
	id := c.CommandID()
	if s.begun[id] {
		return false
	}
	s.begun[id] = true
	switch c := c.(type) {
	case *loop.CallModel:
		if p := message.Pair(c.Messages); len(p) != len(c.Messages) {
			s.t.Errorf("the request would hold unpaired calls")
		}
		s.say("started", command(c)+s.partOfTools(c))
		s.add("", &event.ModelCalled{ID: id, Purpose: c.Purpose, Step: c.Step, Attempt: c.Attempt, Model: c.Model, Strict: c.Strict})
	case *loop.RunTool:
		s.say("started", command(c))
		if was, again := s.keys[c.Call]; again && was != c.Key {
			s.t.Errorf("call %s is executed again under another key", c.Call)
		}
		s.keys[c.Call] = c.Key
		s.add("", &event.ToolStarted{ID: id, Call: c.Call, Tool: c.Tool, Effect: c.Effect, ArgsHash: c.ArgsHash, Key: c.Key, Attempt: c.Attempt, For: c.For})
	case *loop.StartRun:
		return s.startRun(c)
	case *loop.AskApproval:
		if c.Asked {
			return false
		}
		s.say("started", command(c))
		s.add("", &event.ApprovalAsked{ID: id, Call: c.Call, Tool: c.Tool, Hash: c.Hash, Settle: c.Settle, Words: c.Words})
	default:
		return false
	}
	return true
}

func (s *script) model() *loop.CallModel {
	for _, c := range s.m.Next() {
		if c, ok := c.(*loop.CallModel); ok {
			return c
		}
	}
	s.t.Fatal("no model call is outstanding")
	return nil
}

func (s *script) inquiry() *loop.Retrieve {
	for _, c := range s.m.Next() {
		if c, ok := c.(*loop.Retrieve); ok {
			return c
		}
	}
	s.t.Fatal("no material is asked for")
	return nil
}

// context prints the messages of the model call that is outstanding.
func (s *script) context() {
	c := s.model()
	msgs := c.Messages
	if c.Tail != nil {
		msgs = append(msgs[:len(msgs):len(msgs)], *c.Tail)
	}
	for i := range msgs {
		said := shown(msgs[i].PlainText(), 80)
		for _, p := range msgs[i].Parts {
			if p.Kind == message.ToolCall {
				said += " [" + p.ID + " " + p.Name + " " + p.Args + "]"
			}
		}
		who := string(msgs[i].Role)
		if id := msgs[i].ToolCallID; id != "" {
			who += " " + id
		}
		s.say(who+":", strings.TrimSpace(said))
	}
}

// shown is a text in one line of at most so many bytes and a bit.
func shown(s string, most int) string {
	if s = strings.ReplaceAll(strings.TrimSpace(s), "\n", "⏎"); len(s) > most {
		s = strings.ToValidUTF8(s[:most*3/4], "") + " … " + strings.ToValidUTF8(s[len(s)-most/4:], "")
	}
	return s
}

// add appends an event and applies it.
func (s *script) add(command string, d event.Data) {
	e := event.Event{Run: "r1", Seq: int64(len(s.events)) + 1, Time: s.now, Command: command, Data: d}
	s.events = append(s.events, e)
	if err := s.m.Apply(&e); err != nil {
		s.t.Fatal(err)
	}
	s.wants = append(s.wants, wants(s.m))
}

// refold folds the journal anew, through its written form, and compares what
// the machine wants after every event.
func (s *script) refold() {
	m := loop.New("r1")
	for i, e := range s.events {
		data, err := event.DecodeData(e.Data.Type(), e.Data.AppendJSON(nil))
		if err != nil {
			s.t.Fatalf("event %d cannot be read back: %v", e.Seq, err)
		}
		e.Data = data
		if err := m.Apply(&e); err != nil {
			s.t.Fatal(err)
		}
		if got := wants(m); got != s.wants[i] {
			s.t.Errorf("after event %d (%s) the folded machine wants\n%swhere the live one wanted\n%s", e.Seq, e.Data.Type(), got, s.wants[i])
		}
	}
}

// wants renders all that the machine wants, with every detail that counts.
func wants(m *loop.Machine) string {
	var b strings.Builder
	for _, c := range m.Next() {
		switch c := c.(type) {
		case *loop.Record:
			for _, d := range c.Data {
				fmt.Fprintf(&b, "record %s %s\n", d.Type(), d.AppendJSON(nil))
			}
		case *loop.Finish:
			fmt.Fprintf(&b, "finish %s\n", c.Data.AppendJSON(nil))
		case *loop.CallModel:
			fmt.Fprintf(&b, "%s %v %v %v %v %v\n", command(c), c.System, c.Messages, c.Schema, c.MaxOutput, c.Tail)
		case *loop.RunTool:
			fmt.Fprintf(&b, "%s %s %s %s %v %d\n", command(c), c.Args, c.ArgsHash, c.Key, c.Seen, c.Timeout)
		case *loop.StartRun:
			fmt.Fprintf(&b, "%s %s %s %s %s %s\n", command(c), c.Agent, c.Args, c.ArgsHash, c.Key, c.Root)
		default:
			fmt.Fprintf(&b, "%s\n", command(c))
		}
	}
	return b.String()
}

func (s *script) say(what, how string) { fmt.Fprintf(&s.out, "%s %s\n", what, how) }

// describe renders a decision in one line.
func describe(d event.Data) string {
	switch d := d.(type) {
	case *event.ReplyParsed:
		s := "reply.parsed " + d.Format
		for _, c := range d.Calls {
			s += " " + c.Name + "(" + c.ID + ")"
			if c.WireID != "" {
				s += " from " + c.WireID
			}
			if c.Problem != "" {
				s += " problem=" + c.Problem
			}
			for _, r := range c.Repairs {
				if r.Lossy {
					s += " guess=" + r.Kind
				}
			}
		}
		return s
	case *event.CallJudged:
		s := fmt.Sprintf("call.judged %s %s by %s", d.Call, d.Verdict, d.Rule)
		if d.Of != "" {
			s += " of " + d.Of
		}
		if d.Args != "" {
			s += " args=" + d.Args
		}
		return s
	case *event.ToolFinished:
		return fmt.Sprintf("tool.finished %s %s: %s", d.Call, d.Status, text(d.Parts))
	case *event.ContextAssembled:
		s := fmt.Sprintf("context.assembled step %d %s, %d messages, %s tokens", d.Step, d.Purpose, d.Messages, roughly(d))
		if d.NoTools {
			s += ", no tools"
		}
		if d.Method == string(tokens.Calibrated) && d.Budget > 0 {
			s += fmt.Sprintf(", calibrated, budget %d", d.Budget)
		}
		if d.Tail != "" && d.Purpose != event.PurposeSummary {
			s += ", tail " + shown(strings.TrimPrefix(d.Tail, "[rein: where the work stands, written anew before each step]\n"), 400)
		}
		return s
	case *event.ContextCompacted:
		return compacted(d)
	case *event.StateUpdated:
		return "state.updated " + string(d.State) + " (" + d.Why + ")"
	case *event.NoticeAdded:
		return "notice.added " + d.Kind + ": " + d.Text
	case *event.RunPaused:
		return "run.paused " + string(d.Cause)
	case *event.RunFinished:
		s := fmt.Sprintf("run.finished %s ok=%v", d.Reason, d.OK)
		if d.BestEffort {
			s += " best_effort"
		}
		if d.Answer != "" {
			s += fmt.Sprintf(" answer=%q", d.Answer)
		}
		if d.Result != nil {
			s += " result=" + string(d.Result)
		}
		if d.Detail != "" {
			s += " (" + d.Detail + ")"
		}
		return s
	}
	return string(d.Type())
}

// command renders a command in one line.
func command(c loop.Command) string {
	s := c.CommandID() + " "
	cancel := false
	switch c := c.(type) {
	case *loop.CallModel:
		s += fmt.Sprintf("call model, step %d, attempt %d", c.Step, c.Attempt)
		if c.Model != "test/model" {
			s += ", " + c.Model
		}
		if c.Dialect != "" {
			s += ", in " + c.Dialect
		}
		if c.Strict {
			s += ", strict"
		}
		if c.NoTools {
			s += ", no tools"
		}
		if c.Purpose == event.PurposeSummary {
			s += ", for a summary"
		}
		if c.MaxOutput > 0 {
			s += fmt.Sprintf(", at most %d", c.MaxOutput)
		}
		cancel = c.Cancel
	case *loop.RunTool:
		s += fmt.Sprintf("run %s(%s) %s", c.Tool, c.Call, c.Effect)
		if c.Attempt > 1 {
			s += fmt.Sprintf(", attempt %d", c.Attempt)
		}
		if len(c.Seen) > 0 {
			s += ", seen " + c.Seen[0].Resource
		}
		if c.For != "" {
			s += ", for " + c.For + " with " + string(c.Args)
		}
		cancel = c.Cancel
	case *loop.AskApproval:
		s += fmt.Sprintf("ask about %s(%s) %s", c.Tool, c.Call, c.Args)
		if c.Settle {
			s += ", was it done?"
		}
		if c.Words {
			s += ", in words"
		}
	case *loop.StartRun:
		return s + startedRun(c)
	case *loop.Retrieve:
		s += "retrieve for " + shown(c.Query, 100)
	case *loop.Wait:
		s += fmt.Sprintf("wait until %d", c.Until)
	case *loop.Record:
		s += "record"
	case *loop.Finish:
		s += "finish"
	}
	if cancel {
		s += ", cancel"
	}
	return s
}

func text(parts []message.Part) string {
	var s []string
	for _, p := range parts {
		s = append(s, p.Text)
	}
	return strings.ReplaceAll(strings.Join(s, " | "), "\n", "⏎")
}

// roughly is the size of a request: exactly, unless it depends on how package window
// words what it makes of messages.
func roughly(d *event.ContextAssembled) string {
	made := d.Budget > 0 && d.Tokens > 100
	for _, b := range d.Blocks {
		made = made || b.Name == window.BlockDigest || b.Name == window.BlockTail
	}
	if made {
		return "about " + about(d.Tokens)
	}
	return fmt.Sprint(d.Tokens)
}

func about(n int64) string {
	if n < 1000 {
		return fmt.Sprint((n + 5) / 10 * 10)
	}
	return fmt.Sprint((n + 50) / 100 * 100)
}

// compacted renders a rewrite. What package window has worded is left to its tests.
func compacted(d *event.ContextCompacted) string {
	s := fmt.Sprintf("context.compacted from about %s to %s tokens by %s", about(d.Before), about(d.After), d.Strategy)
	if d.Upto > 0 {
		s += fmt.Sprintf(", messages before %d leave", d.Upto)
	}
	for i := 0; i < len(d.Edits); {
		first := d.Edits[i]
		s += "\n  " + first.Action + " (" + first.Why + "):"
		for ; i < len(d.Edits) && d.Edits[i].Action == first.Action && d.Edits[i].Why == first.Why; i++ {
			s += fmt.Sprint(" ", d.Edits[i].Message)
		}
	}
	if d.Summary != "" {
		s += "\n  summary: " + shown(d.Summary, 200)
	}
	if d.Snapshot != "" {
		s += "\n  with a snapshot"
	}
	for _, why := range d.Failed {
		s += "\n  no summary: " + why
	}
	return s
}

// number returns an argument that is a number, count one that may be unknown: a
// negative default.
func number(d *datadriven.TestData, name string, otherwise int64) int64 {
	if v := arg(d, name, ""); v != "" {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			panic(err)
		}
		return n
	}
	return otherwise
}

func count(d *datadriven.TestData, name string, otherwise int64) message.Count {
	return message.Known(number(d, name, otherwise))
}

func arg(d *datadriven.TestData, name, otherwise string) string {
	for _, a := range d.CmdArgs {
		if a.Key == name && len(a.Vals) > 0 {
			return a.Vals[0]
		}
	}
	return otherwise
}
