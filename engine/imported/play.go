package imported

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/schema"
	"rein.example/rein/tokens"
	"rein.example/rein/trace/recording"
	"rein.example/rein/window"
)

// player writes the journal of one run. The machine that it folds it into gives the
// ids of commands, and reads replies; what it would decide of them is not asked.
type player struct {
	run    string
	o      Options
	c      *recording.Conversation
	m      *loop.Machine
	events []event.Event
	head   event.Hash
	now    int64

	sizes window.Sizes
	// said counts the messages of the conversation so far, sent those of the last
	// request.
	said, sent int64
	steps      int64
	// answer is the text of the last answer, and open says that something comes after
	// it.
	answer string
	open   bool
}

func newPlayer(run string, c *recording.Conversation, o Options) *player {
	return &player{run: run, o: o, c: c, m: loop.New(run), now: o.Time}
}

// add appends an event. What the recording says stays as it is, but for secrets.
func (p *player) add(d event.Data) error {
	p.o.Secrets.RedactData(d)
	e := event.Event{Run: p.run, Seq: int64(len(p.events)) + 1, Time: p.now, Prev: p.head, Data: d}
	raw := d.AppendJSON(nil)
	if len(raw) > maxEvent {
		return fmt.Errorf("event %d, %s, would have %d bytes, and %d is the most that is read", e.Seq, d.Type(), len(raw), maxEvent)
	}
	e.Hash = event.ComputeHash(e.Prev, e.Seq, e.Time, d.Type(), "", raw)
	if err := p.m.Apply(&e); err != nil {
		return err
	}
	p.events, p.head = append(p.events, e), e.Hash
	return nil
}

// maxEvent leaves room for the rest of an event's line.
const maxEvent = event.MaxLine - 64<<10

// at sets the time of what follows to that of a message. Times that go back are
// those of the message before.
func (p *player) at(i int) *recording.Fact {
	if p.c.Facts == nil {
		return &recording.Fact{}
	}
	f := &p.c.Facts[i]
	if f.Time > 0 && (f.Time > p.now || len(p.events) == 0 || p.now == p.o.Time) {
		p.now = f.Time
	}
	return f
}

// play writes the whole journal.
func (p *player) play() error {
	if len(p.c.Messages) > 0 {
		p.at(0)
	}
	if err := p.add(p.started()); err != nil {
		return err
	}
	for i := 0; i < len(p.c.Messages); {
		n, err := p.message(i)
		if err != nil {
			return fmt.Errorf("message %d: %w", i+1, err)
		}
		i += n
	}
	return p.add(p.ends())
}

// started is the run's first event.
func (p *player) started() *event.RunStarted {
	var e tokens.Estimate
	model := cmp.Or(p.c.Model, unknownModel)
	spec := event.Spec{Agent: p.c.Agent, Model: model, Chat: true, Tools: toolsOf(p.c),
		Calling:     []event.ModelCalling{{Model: model}},
		Permissions: []event.Permission{{Verdict: event.Allow, Match: "*"}}}
	for _, text := range p.c.System {
		b := event.Block{Name: "system", Text: text, Tokens: message.Known(int64(e.Count(text)))}
		spec.System = append(spec.System, b)
		p.sizes.System = append(p.sizes.System, event.BlockSize{Name: b.Name, Tokens: b.Tokens.Or(0)})
	}
	for i := range spec.Tools {
		p.sizes.Tools += spec.Tools[i].Tokens.Or(0)
	}
	return &event.RunStarted{Format: event.Version, Root: p.run, Spec: spec, Origin: origin(p.c, &p.o)}
}

// message writes what the i-th message says, with the results that follow it if it is
// a reply, and returns how many messages that are.
func (p *player) message(i int) (int, error) {
	m := &p.c.Messages[i]
	f := p.at(i)
	size := int64(tokens.Message(tokens.Estimate{}, m))
	switch m.Role {
	case message.Assistant:
		return p.reply(i, f, size)
	case message.System:
		p.put(window.Notice, size)
		return 1, p.add(&event.NoticeAdded{Kind: NoticeKind, Text: m.PlainText(), Tokens: message.Known(size)})
	case message.User:
		p.put(window.Input, size)
		return 1, p.add(&event.InputReceived{Kind: event.InputText, Parts: m.Parts, Tokens: message.Known(size)})
	}
	return 1, nil // a result without a call: recordings are paired, so there is none
}

// put counts a message of the conversation.
func (p *player) put(k window.Kind, size int64) {
	p.sizes.Add(k, size)
	p.said++
	p.open = true
}

// reply writes a step: the request as far as it is known, the reply, and its calls
// with their results.
func (p *player) reply(i int, f *recording.Fact, size int64) (int, error) {
	m, n := p.c.Messages[i], 1
	for i+n < len(p.c.Messages) && p.c.Messages[i+n].Role == message.Tool {
		n++
	}
	p.steps++
	err := p.add(&event.ContextAssembled{Purpose: event.PurposeStep, Step: p.steps, Blocks: p.sizes.Blocks(), Tokens: p.sizes.Total(),
		Method: string(tokens.Estimated), Messages: p.said})
	if err != nil {
		return 0, err
	}
	call, err := p.called()
	if err != nil {
		return 0, err
	}
	finish := event.FinishStop
	if m.Calls() > 0 {
		finish = event.FinishToolCalls
	}
	err = p.add(&event.ModelAnswered{ID: call, Message: m, Finish: finish, Model: f.Model, Usage: f.Usage, Tokens: message.Known(size)})
	if err != nil {
		return 0, err
	}
	p.put(window.Reply, size)
	parsed, err := p.parsed(call)
	if err != nil {
		return 0, err
	}
	if text := strings.TrimSpace(m.PlainText()); len(parsed.Calls) == 0 && text != "" {
		p.answer, p.open = text, false
	}
	return n, p.calls(parsed.Calls, i+1, n-1)
}

// called writes the intent to ask the model, and returns its id.
func (p *player) called() (string, error) {
	for _, c := range p.m.Next() {
		if c, ok := c.(*loop.CallModel); ok {
			d := &event.ModelCalled{ID: c.ID, Purpose: c.Purpose, Step: c.Step, Attempt: c.Attempt, Model: c.Model, Encoder: Encoder,
				Kept: p.sent, Added: p.said - p.sent}
			p.sent = p.said
			return c.ID, p.add(d)
		}
	}
	return "", fmt.Errorf("step %d cannot be followed", p.steps)
}

// parsed writes what the reply asks for. Nothing of it is refused that was not
// refused when it was recorded: what Rein would have told the model is only noted.
func (p *player) parsed(call string) (*event.ReplyParsed, error) {
	for _, c := range p.m.Next() {
		r, ok := c.(*loop.Record)
		if !ok || len(r.Data) == 0 {
			continue
		}
		if d, ok := r.Data[0].(*event.ReplyParsed); ok && d.ID == call {
			d.Notes, d.Problems = append(d.Notes, d.Problems...), nil
			if d.Repeats > 0 {
				d.Repeats, d.Text = 0, ""
			}
			return d, p.add(d)
		}
	}
	return nil, fmt.Errorf("the reply of step %d cannot be read", p.steps)
}

// calls writes the calls of a reply and their outcomes, which are n messages from at
// on.
func (p *player) calls(calls []event.ParsedCall, at, n int) error {
	ids := make([]string, len(calls)) // of the commands to run them
	facts := make([]recording.Fact, len(calls))
	for i := range calls {
		if i < n && p.c.Facts != nil {
			facts[i] = p.c.Facts[at+i]
		}
		if err := p.add(judged(&calls[i], &facts[i])); err != nil {
			return err
		}
		ids[i] = fmt.Sprintf("%d.0", len(p.events)) // as the machine derives them
	}
	for i := range calls {
		var result *message.Message
		if i < n { // paired: the results are in the order of the calls
			result = &p.c.Messages[at+i]
			p.at(at + i)
		}
		if err := p.outcome(&calls[i], ids[i], result, &facts[i]); err != nil {
			return err
		}
	}
	return nil
}

// judged allows a call with the arguments that it has, unless the recording says that
// it was not carried out.
func judged(c *event.ParsedCall, f *recording.Fact) *event.CallJudged {
	d := &event.CallJudged{Call: c.ID, Tool: c.Name, Verdict: event.Allow, Rule: Rule, Why: "it was recorded so"}
	switch f.Status {
	case event.StatusIntercepted:
		d.Verdict = event.Intercept
	case event.StatusDenied:
		d.Verdict = event.Deny
	}
	args := c.Args
	if args == "" {
		args = "{}"
	}
	if canonical, err := schema.Canonical([]byte(args)); err == nil && c.Problem == "" {
		d.ArgsHash = sha256.Sum256(canonical)
	}
	return d
}

// outcome writes the execution of a call, and of one that was not carried out what was
// told in its place.
func (p *player) outcome(c *event.ParsedCall, id string, result *message.Message, f *recording.Fact) error {
	if f.Status == event.StatusIntercepted || f.Status == event.StatusDenied {
		d := finished(c, "", result, f)
		p.put(window.Result, d.Tokens.Or(0))
		return p.add(d)
	}
	started := &event.ToolStarted{ID: id, Call: c.ID, Tool: c.Name, Effect: event.Once, Attempt: 1}
	for _, cmd := range p.m.Next() {
		if r, ok := cmd.(*loop.RunTool); ok && r.ID == id {
			started.Effect, started.ArgsHash, started.Key = r.Effect, r.ArgsHash, r.Key
		}
	}
	if err := p.add(started); err != nil {
		return err
	}
	d := finished(c, id, result, f)
	p.put(window.Result, d.Tokens.Or(0))
	return p.add(d)
}

// finished is the outcome of a call as it was recorded.
func finished(c *event.ParsedCall, id string, result *message.Message, f *recording.Fact) *event.ToolFinished {
	d := &event.ToolFinished{ID: id, Call: c.ID, Tool: c.Name, Status: event.StatusUnknown}
	m := message.Result(c.ID, c.Name, message.Interrupted, true)
	if result != nil {
		m.Parts, m.Failed = result.Parts, result.Failed
	}
	text := m.PlainText()
	d.Status, d.ErrorType = statusOf(&m, text, f)
	if d.ErrorType != "" {
		d.ErrorMessage = firstLine(text)
	}
	d.Parts = m.Parts
	d.Size = int64(len(text))
	d.Shown = d.Size
	d.Tokens = message.Known(int64(tokens.Message(tokens.Estimate{}, &m)))
	return d
}

// statusOf returns what became of a call: as the recording says, else as its result
// reads.
func statusOf(m *message.Message, text string, f *recording.Fact) (status event.Status, errorType string) {
	switch {
	case f.Status == event.StatusSuccess, f.Status == event.StatusUnknown:
		return f.Status, ""
	case f.Status != "":
		return f.Status, cmp.Or(f.ErrorType, "recorded")
	case text == message.Interrupted:
		return event.StatusUnknown, ""
	case m.Failed || recording.SaysFailed(text):
		return event.StatusError, "recorded"
	}
	return event.StatusSuccess, ""
}

// firstLine returns the first line of a text, at most maxLine bytes of it.
func firstLine(s string) string {
	const maxLine = 200
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > maxLine {
		s = strings.ToValidUTF8(s[:maxLine], "") + "…"
	}
	return s
}

// ends is the last event. A recording that says how well the run has done, or ends
// with an answer, is of a run that has finished, well if it does not say otherwise;
// else it was interrupted there.
func (p *player) ends() event.Data {
	const here = "the recording ends here"
	if end := p.c.End; end != nil && end.Reason != "" {
		d := &event.RunFinished{Reason: end.Reason, OK: end.OK, Detail: end.Detail, Result: end.Result}
		if !p.open {
			d.Answer = p.answer
		}
		return d
	} else if end != nil && end.Cause == event.CauseTurnDone && p.answer != "" && !p.open {
		return &event.RunPaused{Cause: end.Cause, Why: here}
	} else if end != nil { // nobody can answer here what it waits for
		return &event.RunPaused{Cause: event.CauseInterrupted, Why: here + ", where the run was paused: " + string(end.Cause)}
	}
	well, known := rewarded(p.c.Labels)
	if !known && (p.answer == "" || p.open) {
		return &event.RunPaused{Cause: event.CauseInterrupted, Why: here}
	}
	d := &event.RunFinished{Reason: event.ReasonAnswered, OK: true, Answer: p.answer, Detail: here}
	if known && !well {
		d.OK, d.Detail = false, here+", and says that the run was not rewarded"
	}
	return d
}

// toolsOf returns the tools that a recording declares, then those that it only calls,
// without descriptions. It does not say what they may change: undeclared is once.
func toolsOf(c *recording.Conversation) []event.ToolSpec {
	var specs []event.ToolSpec
	known := map[string]bool{}
	add := func(t recording.Tool, declared bool) {
		if known[t.Name] {
			return
		}
		known[t.Name] = true
		s := event.ToolSpec{Name: t.Name, Description: t.Description, Schema: t.Schema, Effect: event.Once}
		if _, err := schema.Compile(s.Schema); len(s.Schema) == 0 || err != nil {
			s.Schema = []byte(`{"type":"object"}`)
		}
		if declared {
			s.Tokens = message.Known(int64(tokens.Tool(tokens.Estimate{}, s.Name, s.Description, string(s.Schema))))
		}
		specs = append(specs, s)
	}
	for _, t := range c.Tools {
		add(t, true)
	}
	for i := range c.Messages {
		for _, part := range c.Messages[i].Parts {
			if part.Kind == message.ToolCall {
				add(recording.Tool{Name: part.Name}, false)
			}
		}
	}
	return specs
}
