package simtest

import (
	"slices"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/loop"
	"rein.example/rein/message"
)

// callAudit checks that each call of a model has exactly one result in the next
// request, is carried out only if it may be, and only as long as it has no result.
type callAudit struct {
	byID  map[string]*called
	order []*called
	turn  []*called // of the last reply with calls
	// compacted: the context was rewritten, so that old results look otherwise.
	compacted bool
	// forked: what was said before the run was forked was said to another.
	forked bool
	// asked is the question that somebody has answered who was asked just it.
	asked string
	// wrote and heard are the last events that may make the same call another: a write
	// was begun, and something was said.
	wrote, heard int64
	pins         map[string]string // of tools whose definition is another than at first
}

// called is one call.
type called struct {
	id, wire string
	name     string
	hash     event.Hash // of its arguments
	verdict  event.Verdict
	key      string
	last     string // command id of the last execution
	// attempts are its executions; shown is what the model is told.
	attempts int64
	shown    *event.ToolFinished
	since    int64 // the event that says so
	made     int64 // the reply with the call
	told     bool  // a request has had its result
	// allowed are the hashes that a person has approved, and when.
	allowed map[event.Hash]int64
	// settled: somebody has said that an earlier act of it was not done.
	settled bool
}

func (c *callAudit) init() {
	c.byID, c.pins = map[string]*called{}, map[string]string{}
}

func (c *callAudit) add(a *audit, e *event.Event, next []loop.Command) {
	switch d := e.Data.(type) {
	case *event.ReplyParsed:
		if a.budget.purpose != event.PurposeStep {
			return // nothing that was not asked for is called
		}
		if len(d.Calls) > 0 {
			c.turn = nil
		}
		for _, p := range d.Calls {
			if c.byID[p.ID] != nil {
				a.fail("the id %s is given to a second call", p.ID)
			}
			x := &called{id: p.ID, wire: p.WireID, made: e.Seq, name: p.Name, allowed: map[event.Hash]int64{}}
			c.byID[p.ID] = x
			c.order, c.turn = append(c.order, x), append(c.turn, x)
		}
	case *event.CallJudged:
		if x := c.byID[d.Call]; x != nil {
			x.verdict, x.hash = d.Verdict, d.ArgsHash
		}
	case *event.InputReceived:
		c.heard = e.Seq
		if q, ok := find(next, e.Command).(*loop.AskApproval); ok {
			c.asked = q.Call
		}
	case *event.ApprovalGiven:
		if x := c.byID[d.Call]; x != nil {
			switch d.Decision {
			case event.Approved:
				x.allowed[d.Hash] = e.Seq
			case event.NotDone:
				x.settled = true
			}
		}
	case *event.RunResumed:
		if e.Seq > a.l.shared && !c.forked && a.l.shared > 0 {
			if d.Fork == "" {
				a.fail("it goes on as if it were no fork")
			}
			c.fork()
		}
		clear(c.pins)
		for _, p := range d.Changed {
			c.pins[p.Tool] = p.Pin
		}
	case *event.ToolStarted:
		c.started(a, e, d, next)
	case *event.ToolFinished:
		if c.asked != "" && d.ID == "" && strings.HasPrefix(words(d.Parts), "The user answers:") {
			if d.Call != c.asked {
				a.fail("the answer to %s is taken for one to %s", c.asked, d.Call)
			}
			c.asked = ""
		}
		if x := c.byID[d.Call]; x != nil && d.For == "" && d.Undoes == "" {
			x.shown, x.since = d, e.Seq
		}
	case *event.ContextCompacted:
		c.compacted = true
	}
}

// fork forgets what was allowed and not begun before the run was forked: the answer
// was to the run that it was forked from.
func (c *callAudit) fork() {
	c.forked = true
	for _, x := range c.order {
		if x.attempts == 0 {
			clear(x.allowed)
			x.settled = false
		}
	}
}

// started checks that a call may be carried out.
func (c *callAudit) started(a *audit, e *event.Event, d *event.ToolStarted, next []loop.Command) {
	x := c.byID[d.Call]
	if d.For != "" {
		if of := c.byID[d.For]; of == nil || of.attempts == 0 && of.shown == nil || !of.open() {
			a.fail("%s is asked what became of %s, which does not wait for that", d.Tool, d.For)
		}
		return
	}
	if x == nil {
		a.fail("call %s, which nobody has made, is carried out", d.Call)
		return
	}
	if !slices.Contains(c.turn, x) || x.told {
		a.fail("call %s is carried out although its turn is over", d.Call)
	}
	if x.verdict != event.Allow && x.verdict != event.Ask {
		a.fail("call %s is carried out, and was judged %q", d.Call, x.verdict)
	}
	if x.attempts > 0 && x.key != d.Key {
		a.fail("call %s is carried out again under another key, %s instead of %s", d.Call, d.Key, x.key)
	}
	if x.attempts++; x.attempts > 1 && !a.ended[x.last] {
		a.h.count("a call carried out again after its process died")
	}
	x.key, x.last = d.Key, d.ID
	if d.Attempt != x.attempts {
		a.fail("call %s: this is execution %d, and called %d", d.Call, x.attempts, d.Attempt)
	}
	c.repeated(a, x)
	c.permitted(a, x, d, next)
	if d.Effect.Writes() {
		c.wrote = e.Seq
	}
}

// repeated checks that a call is not carried out that a model makes under the id
// of an earlier one: the same, with nothing new since that has succeeded.
func (c *callAudit) repeated(a *audit, x *called) {
	if x.wire == "" || x.attempts > 1 {
		return
	}
	for _, y := range c.order {
		if y == x || slices.Contains(c.turn, y) {
			return // all of one reply is judged before any of it has come to anything
		}
		if y.id != x.wire && y.wire != x.wire {
			continue
		}
		// The first call of that id is the one that counts.
		if y.name == x.name && y.hash == x.hash && y.shown != nil && y.shown.ID != "" && y.shown.Status == event.StatusSuccess && c.wrote < y.made && c.heard < y.since {
			a.fail("call %s is carried out: it is the same as %s, and has its id", x.id, y.id)
		}
		return
	}
}

// open reports whether a call was carried out and has no result that stands.
func (x *called) open() bool {
	return x.shown == nil || x.shown.ID != "" && (x.shown.Status == event.StatusUnknown || x.shown.Status == event.StatusTimeout || x.shown.Retryable)
}

// permitted checks that somebody has allowed exactly this call where that is
// needed: by the permissions, or because the tool is not what it was.
func (c *callAudit) permitted(a *audit, x *called, d *event.ToolStarted, next []loop.Command) {
	run := execution(next, d.ID)
	spec := a.toolSpec(d.Tool)
	if run == nil || spec == nil {
		return // reported already
	}
	now := *spec
	if pin, ok := c.pins[d.Tool]; ok {
		now.Pin = pin
	}
	hash := guard.ApprovalHash(now, run.Args)
	policy, err := guard.New(a.m.Spec().Permissions)
	if err != nil {
		a.fail("permissions: %v", err)
		return
	}
	verdict := policy.Judge(*spec).Verdict
	changed := now.Pin != spec.Pin
	switch {
	case verdict == event.Deny:
		a.fail("call %s of %s is carried out, which is forbidden", d.Call, d.Tool)
	case x.settled && !changed: // a person has looked at just this act
	case verdict == event.Ask && x.allowed[hash] == 0:
		a.fail("call %s of %s is carried out, and nobody has allowed it", d.Call, d.Tool)
	case changed && x.allowed[hash] == 0:
		a.fail("call %s of %s is carried out, and nobody has looked at its changed definition", d.Call, d.Tool)
	}
}

// request checks that a request has exactly one result for each call, in the
// order of the calls, and that it is what the journal says.
func (c *callAudit) request(a *audit, d *event.ModelCalled, next []loop.Command) {
	cmd, ok := find(next, d.ID).(*loop.CallModel)
	if !ok || d.Purpose != event.PurposeStep && d.Purpose != event.PurposeFinal {
		return
	}
	msgs := cmd.Messages
	had := map[string]bool{}
	for i := 0; i < len(msgs); i++ {
		if msgs[i].Role == message.Tool {
			a.fail("the request has a result of %s without its call", msgs[i].ToolCallID)
		}
		for _, p := range msgs[i].Parts {
			if p.Kind != message.ToolCall {
				continue
			}
			if had[p.ID] {
				a.fail("the request has the call %s twice", p.ID)
			}
			had[p.ID] = true
		}
		i += c.results(a, msgs[i:])
	}
	for _, x := range c.order {
		if !had[x.id] && !(c.compacted && x.told) {
			a.fail("the request does not have the call %s", x.id)
		}
		x.told = true
	}
}

// results checks the results behind an assistant message, and returns how many
// there are.
func (c *callAudit) results(a *audit, msgs []message.Message) int {
	n := 0
	for _, p := range msgs[0].Parts {
		if p.Kind != message.ToolCall {
			continue
		}
		if n++; n >= len(msgs) || msgs[n].Role != message.Tool || msgs[n].ToolCallID != p.ID {
			a.fail("the request has no result of call %s in its place", p.ID)
			return n - 1
		}
		x := c.byID[p.ID]
		if x == nil || x.shown == nil {
			a.fail("the request has a result of call %s, and the journal has none", p.ID)
		} else if !c.compacted && words(msgs[n].Parts) != words(x.shown.Parts) {
			a.fail("the request says of call %s\n%s\nand the journal\n%s", p.ID, words(msgs[n].Parts), words(x.shown.Parts))
		}
	}
	return n
}

func words(parts []message.Part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
		if p.Ref != nil {
			b.WriteString(p.Ref.SHA256)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
