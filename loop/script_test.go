package loop_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
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
