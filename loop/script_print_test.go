package loop_test

import (
	"fmt"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/tokens"
	"rein.example/rein/window"
)

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
