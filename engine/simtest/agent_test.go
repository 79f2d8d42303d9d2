package simtest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/message"
	"rein.example/rein/schema"
	"rein.example/rein/tool"
	"rein.example/rein/toolkit/ask"
	"rein.example/rein/toolkit/plan"
	"rein.example/rein/toolkit/submit"
	"rein.example/rein/window"
)

// kit is one tool of a history: how it is declared and called.
type kit struct {
	def  tool.Definition
	args func(d dice) string
	// of is the tool that it confirms, or nil.
	of *kit
	// luckless: no call of it comes to anything, and none is answered.
	luckless bool
	// real is the tool itself where it is one of Rein's own.
	real tool.Tool
}

// effect is its class; undeclared means once.
func (k *kit) effect() event.Effect { return cmp.Or(k.def.Effect, event.Once) }

// agent is what carries a task out in a history: drawn once, the same in all its
// processes.
type agent struct {
	kits []*kit
	spec event.Spec
	// depth is how many agents are above it; helper is the one that it can call.
	depth  int
	helper *agent
	// pinned is the tool whose definition changes between processes, or nil.
	pinned *kit
}

// result is what runs submit.
const result = `{"type":"object","properties":{"answer":{"type":"string"},"count":{"type":"integer"}},"required":["answer"],"additionalProperties":false}`

func newAgent(seed uint64, depth int) *agent {
	d := roll(seed, "agent", depth)
	a := &agent{depth: depth}
	if d.chance(20) && depth < 2 {
		a.hire(seed, d)
	}
	a.reading(d)
	a.writing(d)
	a.own(d)
	s := &a.spec
	s.Agent, s.Model, s.Seed = "sim", "fake/a", d.Int64()
	s.System = []event.Block{{Name: "contract", Text: "Work."}}
	if d.chance(30) {
		s.Fallback = []string{"fake/b", "fake/none"}[:1+d.IntN(2)]
	}
	a.limit(d)
	a.permit(d)
	a.order(d)
	a.hold(d)
	s.Chat = depth == 0 && len(s.Submit) == 0 && d.chance(15)
	s.Calling = callings(d)
	return a
}

// hire adds a tool that is another agent.
func (a *agent) hire(seed uint64, d dice) {
	a.helper = newAgent(seed, a.depth+1)
	k := &kit{def: tool.Definition{Name: "helper", Agent: "helper", Effect: one(d, event.Read, event.Repeatable, event.Once), Schema: object(`"task":{"type":"string"}`)},
		args: func(d dice) string { return fmt.Sprintf(`{"task":"part %08x"}`, d.Uint32()) }}
	if d.chance(30) {
		k.def.Timeout = one(d, 5*time.Second, time.Minute)
	}
	a.kits = append(a.kits, k)
}

// callings says of some models how they call tools.
func callings(d dice) []event.ModelCalling {
	switch d.IntN(6) {
	case 0:
		return []event.ModelCalling{{Model: "fake/a", Strict: true}}
	case 1:
		return []event.ModelCalling{{Model: "fake/b", Text: true}}
	}
	return nil
}

const noArgs = `{"type":"object","properties":{},"additionalProperties":false}`

func object(members string) jsontext.Value {
	return jsontext.Value(`{"type":"object","properties":{` + members + `},"additionalProperties":false}`)
}

const (
	pathMember   = `"path":{"type":"string"}`
	numberMember = `"n":{"type":"integer"}`
	textMember   = `"text":{"type":"string"}`
	toMember     = `"to":{"type":"string"}`
	amountMember = `"amount":{"type":"integer"}`
	keyMember    = `"idempotency_key":{"type":"string"}`
	idMember     = `"id":{"type":"string"}`
)

func (a *agent) add(k *kit, d dice) *kit {
	k.def.Timeout = one(d, 500*time.Millisecond, time.Second, 5*time.Second, 20*time.Second, time.Minute)
	switch {
	case k.def.Effect == event.Once && d.chance(30):
		k.def.MaxCalls = 1 + d.IntN(2) // also for an act repeated because its outcome is unknown
	case d.chance(12):
		k.def.MaxCalls = 1 + d.IntN(4)
	}
	k.luckless = k.of == nil && d.chance(6)
	if d.chance(10) {
		k.def.ResultTokens = 30
	}
	a.kits = append(a.kits, k)
	return k
}

// reading adds tools that read.
func (a *agent) reading(d dice) {
	look := &kit{def: tool.Definition{Name: "look", Effect: event.Read, Schema: object(pathMember + "," + numberMember)},
		args: func(d dice) string { return fmt.Sprintf(`{"path":"%s","n":%d}`, one(d, "a", "b", "a/c"), d.IntN(2)) }}
	if d.chance(60) {
		look.def.Resources = []string{"path"}
	}
	a.add(look, d)
	if d.chance(60) {
		a.add(&kit{def: tool.Definition{Name: "list", Effect: event.Read, Schema: jsontext.Value(noArgs)},
			args: func(d dice) string { return one(d, "{}", "", "{}") }}, d)
	}
	if d.chance(30) {
		a.add(&kit{def: tool.Definition{Name: "poll", Effect: event.Read, Polling: true, Schema: object(idMember)},
			args: func(d dice) string { return fmt.Sprintf(`{"id":"%s"}`, one(d, "x", "y")) }}, d)
	}
}

// writing adds tools that write, some with others that confirm them.
func (a *agent) writing(d dice) {
	put := &kit{def: tool.Definition{Name: "put", Effect: event.Repeatable, Schema: object(pathMember + "," + textMember)},
		args: func(d dice) string {
			return fmt.Sprintf(`{"path":"%s","text":"%s"}`, one(d, "a", "b"), one(d, "1", "2"))
		}}
	if d.chance(60) {
		put.def.Resources = []string{"path"}
	}
	if d.chance(80) {
		a.add(put, d)
		if d.chance(25) {
			a.confirm(put, pathMember+","+textMember, d)
		}
	}
	pay := &kit{def: tool.Definition{Name: "pay", Effect: event.Once, Schema: object(toMember + "," + amountMember)},
		args: func(d dice) string { return fmt.Sprintf(`{"to":"%s","amount":%d}`, one(d, "ann", "bob"), 1+d.IntN(2)) }}
	if d.chance(85) {
		a.add(pay, d)
		if d.chance(70) {
			a.confirm(pay, one(d, toMember+","+amountMember, keyMember, toMember+","+amountMember+","+keyMember), d)
		}
	}
	order := &kit{def: tool.Definition{Name: "order", Effect: event.Once, KeyFields: []string{"id"}, Schema: object(idMember + "," + textMember)},
		args: func(d dice) string { return fmt.Sprintf(`{"id":"%s","text":"%s"}`, one(d, "7", "8"), one(d, "1", "2")) }}
	if d.chance(50) {
		a.add(order, d)
		if d.chance(60) {
			a.confirm(order, one(d, idMember, keyMember), d)
		}
	}
	if d.chance(40) {
		a.add(&kit{def: tool.Definition{Name: "mail", Schema: object(toMember)}, // undeclared: once
			args: func(d dice) string { return fmt.Sprintf(`{"to":"%s"}`, one(d, "ann", "bob")) }}, d)
	}
	if d.chance(25) {
		a.pinned = one(d, a.kits[len(a.kits)-1], a.kit("look")) // agents have no definition from elsewhere
	}
}

// confirm adds the tool that says whether a call of k took effect.
func (a *agent) confirm(k *kit, members string, d dice) {
	fits := func(d dice) string {
		s, err := schema.Compile(object(members))
		if err != nil {
			panic(err)
		}
		args, err := schema.Canonical([]byte(k.args(d)))
		if err != nil {
			panic(err)
		}
		if members == keyMember {
			return `{"idempotency_key":"unknown to the model"}`
		}
		return string(s.Members(args))
	}
	c := &kit{of: k, args: fits, def: tool.Definition{Name: "check_" + k.def.Name, Effect: event.Read, Schema: object(members)}}
	k.def.Confirm = c.def.Name
	a.add(c, d)
	c.def.MaxCalls = 0
}

// own adds tools of Rein's own.
func (a *agent) own(d dice) {
	add := func(t tool.Tool, err error, args func(d dice) string) {
		if err != nil {
			panic(err)
		}
		a.kits = append(a.kits, &kit{def: *t.Definition(), args: args, real: t})
	}
	submits := func(schema jsontext.Value) {
		t, err := submit.Tool(schema)
		add(t, err, func(d dice) string {
			return one(d, `{"answer":"done"}`, `{"answer":"done"}`, `{"answer":"done","count":"3"}`, `{"count":3}`)
		})
	}
	switch d.IntN(3) {
	case 0:
		a.spec.Submit = jsontext.Value(result)
		submits(a.spec.Submit)
	case 1:
		submits(jsontext.Value(result))
	}
	if d.chance(25) {
		add(ask.Tool(), nil, func(d dice) string { return fmt.Sprintf(`{"question":"which of %d?"}`, d.IntN(3)) })
	}
	if d.chance(25) {
		add(plan.Tool(), nil, func(d dice) string { return fmt.Sprintf(`{"goal":"all","current_step":"%d"}`, d.IntN(3)) })
	}
}

// limit draws the limits of the run.
func (a *agent) limit(d dice) {
	l := &a.spec.Limits
	if d.chance(80) {
		l.Steps = int64(1 + d.IntN(14))
	}
	if d.chance(40) {
		l.ToolCalls = int64(1 + d.IntN(12))
	}
	if d.chance(30) {
		l.Tokens = int64(200 + d.IntN(4_000))
	}
	if d.chance(40) {
		l.Wall = one(d, int64(2_000), 20_000, 120_000, 1_000_000)
	}
	if d.chance(20) {
		l.Output = 500
	}
	if d.chance(20) {
		l.Work = one(d, int64(500), 2_000, 10_000, 60_000)
	}
	if d.chance(20) {
		l.Cost = int64(1_000 + d.IntN(20_000))
	}
	for _, m := range []string{"fake/a", "fake/b"} {
		if d.chance(80) {
			a.spec.Prices = append(a.spec.Prices, event.ModelPrice{Model: m, Price: message.Price{Input: 10_000_000, Output: 30_000_000}})
		}
	}
	if d.chance(20) {
		a.narrow(d)
	}
	if d.chance(40) {
		a.spec.Retry = event.RetrySpec{Tries: int64(1 + d.IntN(4)), Base: int64(d.IntN(2_000)), Cap: int64(d.IntN(9_000)), ToolTries: int64(d.IntN(4))}
	}
}

// narrow gives the model a window that a run fills.
func (a *agent) narrow(d dice) {
	w := &a.spec.Window
	*w = event.WindowSpec{Size: int64(2_000 + 130*len(a.kits) + d.IntN(3_000)), Reserve: 300, Margin: 900_000,
		Strategy: one(d, append(window.Strategies(), "", window.Layered, window.Summary)...)}
	if d.chance(50) {
		w.Trigger, w.Target = 600_000, 300_000
	}
	for _, k := range a.kits {
		k.def.ResultTokens = one(d, 100, 200, 300)
	}
	if a.spec.Limits = (event.Limits{}); d.chance(50) {
		a.spec.Limits.Steps = int64(20 + d.IntN(30))
	}
}

// hold draws what the agent is held to before it may end, and on the way.
func (a *agent) hold(d dice) {
	s := &a.spec
	s.Check = d.chance(20)
	if d.chance(25) {
		s.ReadBack = int64(1 + d.IntN(4))
	}
	if d.chance(12) {
		s.Accept.Calls = []string{one(d, "look", "p*", "order")}
	}
	if d.chance(6) {
		s.Accept.IDs = []string{one(d, "done", "A-1")}
	}
	if len(s.Submit) > 0 && d.chance(10) {
		s.Accept.Fields = []string{"count"}
	}
	s.Retrieve = d.chance(15)
}

// permit draws what the agent may do.
func (a *agent) permit(d dice) {
	p := []event.Permission{{Verdict: event.Allow, Match: "*"}}
	if d.chance(35) {
		p = append(p, event.Permission{Verdict: event.Ask, Match: one(d, "pay", "effect:once", "put", "order", "mail")})
	}
	if d.chance(15) {
		p = append(p, event.Permission{Verdict: event.Deny, Match: one(d, "mail", "list", "poll", "check_pay", "effect:once")})
	}
	a.spec.Permissions = p
}

// forbidden returns the tools that the agent may not call; all where it may call any.
func (a *agent) forbidden() []*kit {
	policy, err := guard.New(a.spec.Permissions)
	if err != nil {
		panic(err)
	}
	var out []*kit
	for _, k := range a.kits {
		if !k.def.Harness && policy.Judge(event.ToolSpec{Name: k.def.Name, Effect: k.effect()}).Verdict == event.Deny {
			out = append(out, k)
		}
	}
	if len(out) == 0 {
		return a.kits
	}
	return out
}

// order draws rules and phases.
func (a *agent) order(d dice) {
	if d.chance(15) {
		a.spec.Rules = append(a.spec.Rules, event.RuleSpec{List: "must", Text: "look first", Kind: event.RuleBefore, Call: "look", Before: one(d, "pay", "put", "order")})
	}
	if d.chance(10) {
		a.spec.Rules = append(a.spec.Rules, event.RuleSpec{List: "never", Text: "no mail then", Kind: event.RuleNever, Call: "mail", After: "pay"})
	}
	if a.has(tool.SubmitResult) && d.chance(15) {
		a.spec.Rules = append(a.spec.Rules, event.RuleSpec{List: "must", Text: "read back", Kind: event.RuleReadBack})
	}
	if d.chance(10) {
		a.spec.Phases = []event.PhaseSpec{{Name: "looking", Tools: []string{"look", "list", "check_*"}, Until: "look"}, {Name: "doing", Tools: []string{"*"}}}
	}
}

func (a *agent) has(name string) bool {
	return slices.ContainsFunc(a.kits, func(k *kit) bool { return k.def.Name == name })
}

// kit returns the tool of that name, or nil.
func (a *agent) kit(name string) *kit {
	for _, k := range a.kits {
		if k.def.Name == name {
			return k
		}
	}
	return nil
}

// tools returns the agent's tools as the process p has them.
func (a *agent) tools(p *proc) *tool.Registry {
	var all []tool.Tool
	for _, k := range a.kits {
		i := &instrument{kit: k, p: p, def: k.def}
		if k == a.pinned {
			i.def.Pin = p.pin
		}
		all = append(all, i)
	}
	r, err := tool.NewRegistry(all...)
	if err != nil {
		panic(err)
	}
	return r
}

// instrument is a tool in a process.
type instrument struct {
	*kit
	p   *proc
	def tool.Definition
}

// Definition returns what the tool is.
func (i *instrument) Definition() *tool.Definition { return &i.def }

// Run executes one call: see deed.
func (i *instrument) Run(ctx context.Context, c *tool.Call) (*tool.Result, error) {
	return i.p.h.execute(ctx, i, c)
}
