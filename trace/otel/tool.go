package otel

import (
	"cmp"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// toolCall is a call of a tool; it stays, as it may be executed again.
type toolCall struct {
	seq   int64 // of what the span begins with
	span  *span // while it is executed
	args  string
	judge *event.Event // until it is executed
	ran   string       // the command of the last execution
}

func (r *run) call(id string) *toolCall {
	c := r.calls[id]
	if c == nil {
		c = &toolCall{}
		r.calls[id] = c
	}
	return c
}

func (r *run) judged(e *event.Event, d *event.CallJudged) {
	c := r.call(d.Call)
	kept := *e
	c.judge = &kept
	if d.Args != "" && r.t.o.o.Content&ContentSpans != 0 {
		c.args = d.Args
	}
}

// executed begins the span of one execution.
func (r *run) executed(e *event.Event, d *event.ToolStarted) {
	if r.step == nil && r.stretch != nil { // taken up again in the midst of a step
		r.reach(e, r.at)
	}
	c := r.call(d.Call)
	switch {
	case c.ran == d.ID && c.span != nil: // the same, at another place in the journal: somebody else wrote first
		r.landed(c, d.Call)
	case c.span != nil: // whose outcome nobody will ever know
		r.lose(c, d.Call)
	}
	a := r.ofTool(d.Call, d.Tool, d.ArgsHash)
	a.text(reinToolEffect, string(d.Effect))
	a.int(reinAttempt, d.Attempt)
	a.text(reinToolFor, d.For)
	a.text(reinToolUndoes, d.Undoes)
	a.text(reinToolRun, d.Run)
	c.seq, c.judge, c.ran = e.Seq, nil, d.ID
	c.span = r.start(r.span(opTool, d.Tool, trace.SpanKindInternal, r.here(), e, a))
	r.made = append(r.made, d.Call)
	if d.Run != "" {
		r.t.calls[d.Run] = append(r.t.calls[d.Run], c.span)
	}
}

func (r *run) lose(c *toolCall, id string) {
	a := r.list()
	a.text(reinToolStatus, string(event.StatusUnknown))
	a.text(errorType, string(event.StatusUnknown))
	c.span.end(r.last, a.list, string(event.StatusUnknown), string(event.StatusUnknown))
	r.landed(c, id)
}

func (r *run) landed(c *toolCall, id string) {
	c.span = nil
	r.made = slices.DeleteFunc(r.made, func(s string) bool { return s == id })
}

// returned ends the span of an execution. What was not executed has a span too, from its
// judgement on: that the model asked for it has to be seen.
func (r *run) returned(e *event.Event, d *event.ToolFinished) {
	c := r.call(d.Call)
	executed := c.span != nil
	switch {
	case executed:
	case d.ID != "" && d.ID == c.ran: // the same again
		return
	case c.ran != "": // it was found out later what became of it
		r.inside(e.Time, "rein.tool.settled", attribute.String("rein.call", d.Call), attribute.String(attributes[reinToolStatus].names[r.t.o.o.Profile], string(d.Status)))
		return
	case c.judge != nil:
		hash := event.Hash{}
		if j, ok := c.judge.Data.(*event.CallJudged); ok {
			hash = j.ArgsHash
		}
		c.span = r.start(r.span(opTool, d.Tool, trace.SpanKindInternal, r.here(), c.judge, r.ofTool(d.Call, d.Tool, hash)))
	default:
		c.span = r.start(r.span(opTool, d.Tool, trace.SpanKindInternal, r.here(), e, r.ofTool(d.Call, d.Tool, event.Hash{})))
	}
	if d.Spent != nil {
		r.spend(d.Spent.Cost)
		r.sums.use(&d.Spent.Usage)
	}
	fault := faultOf(d)
	a := r.list()
	a.text(reinToolStatus, string(d.Status))
	a.int(reinToolSize, d.Size)
	a.int(reinToolShown, d.Shown)
	a.add(reinToolTruncated, attribute.BoolValue(d.Full != nil || d.Shown < d.Size))
	a.text(errorType, fault)
	a.dollars(reinCostTotal, r.paid())
	if r.t.o.o.Content&ContentSpans != 0 {
		a.text(toolArguments, r.t.o.o.Redact(c.args))
		a.text(toolResult, r.t.o.o.Redact(shown(d.Parts)))
	}
	s := c.span
	s.end(e.Time, a.list, fault, fault)
	if fault != "" && executed {
		r.exception(e, s, toolException, fault, d.ErrorMessage)
	}
	r.landed(c, d.Call)
	c.judge = nil
	if executed {
		r.sums.runs++
		r.measureTool(s, d, fault)
	}
}

// faultOf returns the type of error that a call ended with, empty if it did not. A call
// that was answered from the journal did not.
func faultOf(d *event.ToolFinished) string {
	switch d.Status {
	case event.StatusSuccess:
		return ""
	case event.StatusIntercepted:
		return d.ErrorType
	case event.StatusTimeout:
		return "timeout"
	}
	return cmp.Or(d.ErrorType, string(d.Status))
}

func (r *run) measureTool(s *span, d *event.ToolFinished, fault string) {
	if !r.measured() {
		return
	}
	ctx, x := s.within(), r.t.o.meters
	a := r.list()
	a.text(operationName, opTool)
	a.text(toolName, d.Tool)
	if spec := r.toolSpec(d.Tool); spec != nil && spec.Pin != "" {
		m := attrs{x.profile, slices.Clone(a.list)}
		m.text(mcpMethod, callTool)
		m.text(errorType, fault)
		x.milliseconds(ctx, mcpTime, d.Latency, m.list)
	}
	a.text(toolType, function)
	if r.spec != nil {
		a.text(agentName, r.spec.Agent)
	}
	a.text(reinToolStatus, string(d.Status))
	a.text(errorType, fault)
	x.milliseconds(ctx, toolTime, d.Latency, a.list)
}

const (
	function = "function"   // a tool that runs on the client's side
	callTool = "tools/call" // MCP's method
)

// ofTool returns the attributes of a call that its span begins with. A call of a tool of
// an MCP server has no span of its own beside this one: as the conventions advise, it
// has the attributes of one.
func (r *run) ofTool(call, name string, hash event.Hash) *attrs {
	a := r.list()
	a.text(operationName, opTool)
	a.text(toolName, name)
	a.text(toolCallID, call)
	a.text(toolType, function)
	if spec := r.toolSpec(name); spec != nil {
		what, _, _ := strings.Cut(spec.Description, "\n")
		a.text(toolDescription, what)
		if spec.Pin != "" {
			a.text(mcpMethod, callTool)
		}
	}
	if r.at > 0 {
		a.int(reinStep, r.at)
	}
	if hash != (event.Hash{}) {
		a.text(reinToolArgsHash, hash.String())
	}
	return a
}

func (r *run) toolSpec(name string) *event.ToolSpec {
	if r.spec == nil {
		return nil
	}
	for i := range r.spec.Tools {
		if r.spec.Tools[i].Name == name {
			return &r.spec.Tools[i]
		}
	}
	return nil
}

// shown returns the text of a result.
func shown(parts []message.Part) string {
	m := message.Message{Parts: parts}
	return m.PlainText()
}
