package guard

import (
	"fmt"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/schema"
	"rein.example/rein/tool"
)

// Kept is what a journal says of a rule.
type Kept string

// A rule is kept, broken, or such that no journal can say.
const (
	RuleKept    Kept = "kept"
	RuleBroken  Kept = "broken"
	Undecidable Kept = "not decidable"
)

// Checked is what became of one rule in a run.
type Checked struct {
	Rule   event.RuleSpec
	Result Kept
	// Why says more, for people.
	Why string
	// Events are those that break it, by sequence, at most 100.
	Events []int64
	// Refused counts the calls that were not run because of it, Applied those
	// that it was asked about and let through.
	Refused, Applied int64
}

// Check holds a run's journal against rules. The zero value checks it against
// the rules that the run was started with. It is not safe for concurrent use.
//
// It looks at what was executed, not at what the guard said then: a run that was
// not bound by a rule may have broken it.
type Check struct {
	// Rules, if not nil, are taken instead of the run's own.
	Rules []event.RuleSpec

	rules   []*Rules // one for each rule, so that each is judged by itself
	out     []Checked
	tools   map[string]*event.ToolSpec // looked up only
	names   []string
	pending []pendingCall // of the last reply
	// asked are the tools of calls by id, and unknown the last call of a tool of
	// which nobody knows whether it took effect; both are looked up only.
	asked, unknown map[string]string
}

// pendingCall is a call of the last reply.
type pendingCall struct {
	id, tool string
	// may: it may be executed yet.
	may bool
	// breach has, for each rule, why the call breaks it; or that an earlier call
	// of the reply decides.
	breach []*Breach
}

// Results returns what became of each rule, in order. It is valid until the next
// Add.
func (c *Check) Results() []Checked { return c.out }

// Add folds the next event. It fails if the rules cannot be used.
func (c *Check) Add(e *event.Event) error {
	switch d := e.Data.(type) {
	case *event.RunStarted:
		return c.start(&d.Spec)
	case *event.ReplyParsed:
		c.pending = c.pending[:0]
	case *event.CallJudged:
		c.judged(d)
	case *event.ToolStarted:
		if d.For == "" && d.Undoes == "" {
			c.began(e.Seq, d)
		}
	case *event.ToolFinished:
		for i := range c.pending {
			if c.pending[i].id == d.Call {
				c.pending[i].may = false
			}
		}
		c.finished(d)
	case *event.RunFinished:
		if d.Reason == event.ReasonAnswered {
			c.ended(e.Seq)
		}
	case *event.ApprovalGiven:
		if d.Decision == event.Done || d.Decision == event.NotDone {
			c.settle(d.Call, c.asked[d.Call], d.Decision == event.Done)
		}
	}
	return nil
}

// finished folds an outcome; that of a confirm tool may settle an unknown one.
func (c *Check) finished(d *event.ToolFinished) {
	t := c.tools[d.Tool]
	for _, r := range c.rules {
		r.Add(d, t)
	}
	if t == nil || d.For != "" {
		return
	}
	if mayHaveActed(d, t) {
		c.unknown[d.Tool] = d.Call
	}
	if done, ok := schema.BoolField(d.Result, "done"); ok && d.Status == event.StatusSuccess {
		for _, name := range c.names {
			if call := c.unknown[name]; call != "" && c.tools[name].Confirm == d.Tool {
				c.settle(call, name, done)
			}
		}
	}
}

// settle folds what became of a call: of the last one of its tool whose outcome
// was unknown, where call only asks for the same again.
func (c *Check) settle(call, name string, done bool) {
	for _, r := range c.rules {
		r.Settle(call, c.tools[name], done)
		r.Settle(c.unknown[name], c.tools[name], done)
	}
	delete(c.unknown, name)
}

func (c *Check) start(spec *event.Spec) error {
	rules := c.Rules
	if rules == nil {
		rules = spec.Rules
	}
	c.tools, c.asked, c.unknown = map[string]*event.ToolSpec{}, map[string]string{}, map[string]string{}
	for i := range spec.Tools {
		c.tools[spec.Tools[i].Name] = &spec.Tools[i]
		c.names = append(c.names, spec.Tools[i].Name)
	}
	for i := range rules {
		one, err := NewRules(rules[i : i+1])
		if err != nil {
			return err
		}
		c.rules = append(c.rules, one)
		k := Checked{Rule: rules[i], Result: RuleKept, Why: "it never came up"}
		if one.Empty() {
			k.Result, k.Why = Undecidable, "it is in words, which no code can hold against a journal"
		}
		c.out = append(c.out, k)
	}
	return nil
}

// judged notes what the rules say of a call at the moment when it was judged.
func (c *Check) judged(d *event.CallJudged) {
	t := c.tools[d.Tool]
	if t == nil {
		return
	}
	c.asked[d.Call] = d.Tool
	p := pendingCall{id: d.Call, tool: d.Tool, may: d.Verdict == event.Allow || d.Verdict == event.Ask, breach: make([]*Breach, len(c.rules))}
	var earlier []*event.ToolSpec
	for i := range c.pending {
		if c.pending[i].may {
			earlier = append(earlier, c.tools[c.pending[i].tool])
		}
	}
	for i, r := range c.rules {
		if d.Rule == BreachRule(&c.out[i].Rule) {
			c.out[i].Refused++
			c.told(i)
		}
		p.breach[i] = r.Judge(t, earlier, c.names)
	}
	c.pending = append(c.pending, p)
}

// BreachRule is the rule that call.judged names where a rule of the agent forbids
// the call.
func BreachRule(r *event.RuleSpec) string { return breachPrefix + r.Text }

const breachPrefix = "rule: "

// IsBreach reports whether call.judged names a rule of the agent.
func IsBreach(rule string) bool { return strings.HasPrefix(rule, breachPrefix) }

// stands reports whether what the guard feared of an earlier call of the same
// reply has come to be.
func (r *Rules) stands(b *Breach) bool {
	e := &r.list[0]
	return b.Rule.Kind != event.RuleNever || e.spec.After == "" || e.met
}

// maxEvents bounds what breaks one rule.
const maxEvents = 100

// began notes that a call was executed.
func (c *Check) began(seq int64, d *event.ToolStarted) {
	if d.Attempt > 1 {
		return
	}
	for k := range c.pending {
		p := &c.pending[k]
		if p.id != d.Call {
			continue
		}
		for i, b := range p.breach {
			out := &c.out[i]
			switch {
			case b == nil || !c.rules[i].stands(b):
				if c.rules[i].Binds(c.tools[p.tool]) {
					out.Applied++
					c.told(i)
				}
			default:
				out.Result = RuleBroken
				if len(out.Events) < maxEvents {
					out.Events = append(out.Events, seq)
				}
				if len(out.Events) == 1 {
					out.Why = fmt.Sprintf("call %s of %s was executed (event %d): %s", d.Call, d.Tool, seq, b.Why)
				}
			}
		}
	}
}

// ended notes that an answer in words ended the run. Where a tool takes results,
// such an answer is held to the rules of that.
func (c *Check) ended(seq int64) {
	submit := c.tools[tool.SubmitResult]
	if submit == nil || !submit.Harness {
		return
	}
	for i, r := range c.rules {
		out := &c.out[i]
		if b := r.JudgeEnd(c.names); b != nil {
			out.Result = RuleBroken
			if out.Events = append(out.Events, seq); len(out.Events) == 1 {
				out.Why = fmt.Sprintf("the run ended with an answer (event %d): %s", seq, b.Why)
			}
		} else if out.Result == RuleKept && len(r.list) > 0 && r.endsBy(0, submit) && out.Applied+out.Refused == 0 {
			out.Why = "the answer that ended the run kept it"
		}
	}
}

// told says of a rule that is kept how often it came up.
func (c *Check) told(i int) {
	k := &c.out[i]
	if k.Result != RuleKept {
		return
	}
	var parts []string
	if k.Applied > 0 {
		parts = append(parts, times(k.Applied, "call")+" kept it")
	}
	if k.Refused > 0 {
		parts = append(parts, times(k.Refused, "call")+" refused")
	}
	k.Why = strings.Join(parts, ", ")
}

func times(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
