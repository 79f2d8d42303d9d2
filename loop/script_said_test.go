package loop_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/datadriven"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/tokens"
)

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
