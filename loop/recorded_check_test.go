package loop_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/openai"
	"rein.example/rein/trace/recording"
)

var (
	checkURL   = flag.String("check-url", "", "the API of a server that speaks Chat Completions; see make measure-check")
	checkModel = flag.String("check-model", "", "the model there that is asked the completion check")
	checkRuns  = flag.Int("check-runs", 20, "how many runs of each kind are checked, the shortest")
)

// TestRecordedCheck puts the completion check to a real model at the end of recorded
// runs of which it is known how they ended: how often does it send a run back that has
// failed (it may help), how often one that has passed (it only costs), and what does
// it take? A recording cannot go on, so what becomes of a run that is sent back is not
// seen.
func TestRecordedCheck(t *testing.T) {
	if *checkURL == "" {
		t.Skip("no model was named: see make measure-check")
	}
	data, err := os.ReadFile(*recorded)
	if err != nil {
		t.Fatal(err)
	}
	client, err := openai.New(openai.Options{Provider: "checked", Model: *checkModel, BaseURL: *checkURL, Key: os.Getenv("REIN_CHECK_KEY"), KeyName: "REIN_CHECK_KEY"})
	if err != nil {
		t.Fatal(err)
	}
	known, sums := verdicts(data), map[string]*checks{"passed": {}, "failed": {}}
	type run struct {
		c     *recording.Conversation
		v     verdict
		bytes int
	}
	var runs []run
	for c, err := range recording.Read(strings.NewReader(string(data)), recording.Limits{}) {
		if err != nil {
			t.Fatal(err)
		}
		r := run{c: c}
		if len(runs) < len(known) {
			r.v = known[len(runs)]
		}
		for i := range c.Messages {
			r.bytes += len(c.Messages[i].PlainText())
		}
		runs = append(runs, r)
	}
	// The shortest first: what a check takes is mostly the reading of the run.
	slices.SortStableFunc(runs, func(a, b run) int { return a.bytes - b.bytes })
	for _, r := range runs {
		s := sums[r.v.outcome()]
		if s == nil || s.runs >= *checkRuns {
			continue
		}
		p := playToCheck(t, r.c)
		if p == nil {
			continue // it has not acted, or did not end with an answer
		}
		s.runs++
		s.put(t, client, p, &r.v, r.c.ID)
		t.Logf("\n%s", checksTable(sums))
	}
}

// checks are what came of the completion checks of the runs of one kind.
type checks struct {
	// runs were put to the check, unread are those whose check could not be read or
	// failed, sent those that it sent back.
	runs, unread, sent int
	// right are those of sent where an act that the benchmark wants and the run has
	// not made is named.
	right int
	// input and output are tokens of the checks as the server counted them.
	input, output int64
}

// put asks the model.
func (s *checks) put(t *testing.T, client model.Client, p *played, v *verdict, id string) {
	c := p.m.Next()[0].(*loop.CallModel)
	enc := client.Encoder()
	_, name, _ := strings.Cut(client.Info().Name(), "/")
	params := model.Params{Model: name, Tools: c.Tools, NoTools: c.NoTools, Schema: c.Schema, SchemaName: c.SchemaName, MaxOutput: 600}
	body := enc.Head(nil, &params, c.System)
	var prev *message.Message
	for i := range c.Messages {
		body = enc.Message(body, prev, &c.Messages[i])
		prev = &c.Messages[i]
	}
	body = model.End(body, enc, &params, prev, c.Tail)
	p.apply(t, &event.ModelCalled{ID: c.ID, Purpose: c.Purpose, Step: c.Step, Attempt: c.Attempt, Model: c.Model})
	reply, err := client.Call(context.Background(), &model.Request{Body: [][]byte{body}}, nil)
	if err != nil {
		s.unread++
		t.Logf("%s: %v", id, err)
		return
	}
	input, _ := reply.Usage.Input.Get()
	output, _ := reply.Usage.Output.Get()
	s.input += input
	s.output += output
	p.apply(t, &event.ModelAnswered{ID: c.ID, Message: reply.Message, Finish: reply.Finish, Usage: reply.Usage})
	t.Logf("%s answered: %.300s", id, reply.Message.PlainText())
	var told string
	for range 8 {
		cmds := p.m.Next()
		if len(cmds) == 0 {
			break
		}
		r, ok := cmds[0].(*loop.Record)
		if !ok {
			break
		}
		for _, d := range r.Data {
			if notice, ok := d.(*event.NoticeAdded); ok && notice.Kind == event.NoticeCompletion {
				told = notice.Text
			}
		}
		if told != "" {
			break
		}
		for _, d := range r.Data {
			p.apply(t, d)
		}
	}
	if told == "" {
		return
	}
	s.sent++
	for _, a := range v.Info.Task.Actions {
		if p.m.HasSucceeded(a.Name) {
			continue
		}
		if strings.Contains(told, a.Name) || mentions(told, a.Name) {
			s.right++
			break
		}
	}
}

// mentions reports whether a text has all words of a tool's name.
func mentions(text, tool string) bool {
	for _, w := range strings.Split(tool, "_") {
		if !strings.Contains(strings.ToLower(text), w) {
			return false
		}
	}
	return true
}

// checksTable renders what came of checks.
func checksTable(sums map[string]*checks) string {
	var b strings.Builder
	const row = "%-8s %5v %7v %10v %9v %13v %14v\n"
	fmt.Fprintf(&b, row, "ended", "runs", "unread", "sent back", "rightly", "input tokens", "output tokens")
	for _, name := range []string{"passed", "failed"} {
		s := sums[name]
		fmt.Fprintf(&b, row, name, s.runs, s.unread, s.sent, s.right, s.input, s.output)
	}
	return b.String() + "runs: those that had acted and ended with an answer, the shortest; rightly: an act that the benchmark wants and the run has not made is named\n"
}

// playToCheck plays a recording up to the completion check of its end; nil if there
// is none. An answer in its middle, after which somebody has said more, is no end.
func playToCheck(t *testing.T, c *recording.Conversation) *played {
	p := &played{m: loop.New("r1"), items: c.Messages, recorded: map[string]*message.Message{}}
	for len(p.items) > 0 && p.items[len(p.items)-1].Role != message.Assistant {
		p.items = p.items[:len(p.items)-1] // such as the user's word that it is over
	}
	spec := event.Spec{Model: "test/model", Check: true, Permissions: []event.Permission{{Verdict: event.Allow, Match: "*"}},
		Calling: []event.ModelCalling{{Model: "test/model"}}, Tools: toolsOf(c)}
	for i, text := range c.System {
		spec.System = append(spec.System, event.Block{Name: fmt.Sprint("recorded ", i+1), Text: text})
	}
	p.apply(t, &event.RunStarted{Format: event.Version, Root: "r1", Spec: spec})
	for range 10_000 {
		cmds := p.m.Next()
		if len(cmds) == 0 {
			if !p.said(t) {
				return nil
			}
			continue
		}
		more := len(p.items) > 0
		switch c := cmds[0].(type) {
		case *loop.Finish:
			if !more || !p.said(t) {
				return nil
			}
			continue
		case *loop.CallModel:
			if c.Purpose == event.PurposeCompletionCheck {
				if !more {
					return p
				}
				// Somebody will say more: it is no end, and nothing is missing.
				p.apply(t, &event.ModelCalled{ID: c.ID, Purpose: c.Purpose, Step: c.Step, Attempt: c.Attempt, Model: c.Model})
				p.apply(t, &event.ModelFailed{ID: c.ID, Class: event.ClassOverflow})
				continue
			}
		}
		if !p.turn(t) {
			return nil
		}
	}
	return nil
}
