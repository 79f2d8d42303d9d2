package loop

import (
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

// A call of a tool that is an agent is carried out by a run of its own below this
// one, with its own journal, within what is left of this run's limits. Its id
// follows from this run's id and the call's place, so that whoever carries this run
// on finds it again: it is resumed, and never started twice.

const (
	// maxAgents is how many runs below this one go on at once.
	maxAgents = maxParallel
	// leastTokens is the least that a run below is given where tokens are limited:
	// with less there is hardly room for its first request.
	leastTokens = 1_000
)

// agent reports whether a run of its own carries the call out.
func (c *call) agent() bool { return c.tool != nil && c.tool.Agent != "" }

// below reports whether the run that carries the call out was started and has not
// come to its end: it goes on, has paused, or is to be resumed.
func (c *call) below() bool {
	return c.agent() && (c.state == callRunning || c.state == callReady && c.attempt > 0)
}

// nameRun gives a call that may run the id of the run that is to carry it out.
func (m *Machine) nameRun(c *call) {
	if c.agent() {
		m.agents++
		c.child = event.BelowID(m.run, m.agents)
	}
}

// agentCommands appends the commands of the turn's calls of agents: of those that
// were begun, and of as many others as may be begun now, slots at most.
func (m *Machine) agentCommands(slots int) {
	more, each, counted := int64(0), event.Limits{}, false
	for i := range m.turn {
		c := &m.turn[i]
		switch {
		case !c.agent():
		case c.state == callRunning:
			c.start.Pause, c.start.Stop, c.start.Cancel = m.pause, m.halt == event.InputStop, m.halt == event.InputCancel
			m.out = append(m.out, c.start)
		case c.state != callReady || m.halt != "" || slots <= 0 || !m.mayRun(i):
		case c.attempt > 0:
			slots--
			m.out = append(m.out, m.startRun(c, c.grant))
		case !m.pause:
			if !counted {
				more, each, _ = m.shares()
				counted = true
			}
			if more > 0 {
				more--
				slots--
				m.out = append(m.out, m.startRun(c, c.grantOf(each)))
			}
		}
	}
}

// startRun returns the command that has a call carried out by a run of its own.
func (m *Machine) startRun(c *call, limits event.Limits) *StartRun {
	s := &StartRun{ID: c.id, Call: c.ID, Tool: c.Name, Agent: c.tool.Agent, Run: c.child, Root: m.root, Args: c.args, ArgsHash: c.hash,
		Effect: c.tool.Effect, Attempt: c.attempt + 1, Limits: limits, Key: c.key}
	if s.Key == "" && s.Effect.Writes() {
		s.Key = m.key(c)
	}
	return s
}

// agentStarted folds tool.started of a call of an agent.
func (m *Machine) agentStarted(c *call, d *event.ToolStarted) {
	if c.attempt == 0 {
		_, each, _ := m.shares()
		c.grant = c.grantOf(each)
	}
	if d.Run != "" {
		c.child = d.Run // of the run that this one was forked from, as it may be
	}
	if c.attempt == 0 {
		m.children = append(m.children, c.child)
	}
	c.start = m.startRun(c, c.grant)
	c.start.Key = d.Key
}

// Run returns the run's id.
func (m *Machine) Run() string { return m.run }

// Root returns the run at the top of the tree that the run belongs to, which may be
// the run itself.
func (m *Machine) Root() string { return m.root }

// Children returns the runs that were started to carry out calls of this one, in
// that order. The list must not be changed.
func (m *Machine) Children() []string { return m.children[:len(m.children):len(m.children)] }

// Once is an act that must not be done twice and that the run has begun.
type Once struct {
	// Key identifies the act in all runs of a tree.
	Key        string
	Call, Tool string
	// Done is the outcome of the call, nil while it is carried out.
	Done *event.ToolFinished
	// Unknown: nobody can say whether it took effect. Settled: that was so, and it is
	// known to have.
	Unknown, Settled bool
}

// Ledger returns the acts that must not be done twice, in the order in which they
// began, apart from those that are known to have had no effect.
func (m *Machine) Ledger() []Once {
	var out []Once
	for _, e := range m.entries {
		if m.ledger[e.key] == e {
			out = append(out, Once{Key: e.key, Call: e.rec.id, Tool: e.rec.tool, Done: e.rec.done, Unknown: e.unknown, Settled: e.settled})
		}
	}
	return out
}

// grantOf returns what a run may use that carries the call out, of its share.
func (c *call) grantOf(each event.Limits) event.Limits {
	if t := c.tool.Timeout; t > 0 && (each.Wall == 0 || t < each.Wall) {
		each.Wall = t
	}
	return each
}

// resource is one of the things that a run's limits bound.
type resource struct {
	limit, used, held int64
	// least is what a run below must be given of it.
	least int64
	share *int64
}

// shares returns how many runs below this one may be started now, and what each of
// them may use: what is left, less what those that go on were given, in equal
// parts, since they are started together. Where none may be started although there
// is a slot for it, why says which limit is in the way.
//
// One step is kept for this run itself, while there is more than one.
func (m *Machine) shares() (n int64, each event.Limits, why string) {
	var held event.Limits
	var busy, pending int64
	for i := range m.turn {
		switch c := &m.turn[i]; {
		case c.below():
			busy++
			held.Steps += c.grant.Steps
			held.ToolCalls += c.grant.ToolCalls
			held.Tokens += c.grant.Tokens
			held.Cost += c.grant.Cost
			held.Work += c.grant.Work
		case c.running():
			busy++
		case (c.state == callReady || c.state == callAsking) && c.attempt == 0:
			pending++ // each is a tool call of this run
			if c.agent() && c.state == callReady && m.mayRun(i) {
				n++
			}
		}
	}
	if n = min(n, maxAgents-busy); n <= 0 {
		return 0, each, ""
	}
	if m.over != "" {
		return 0, each, m.overWhy
	}
	l := &m.spec.Limits
	if l.Cost > 0 && m.counted && !known(m.cost) {
		return 0, each, "what the run has cost is not known"
	}
	steps := m.steps + m.below.Steps
	if l.Steps-steps-held.Steps > 1 {
		steps++
	}
	all := [...]resource{
		{l.Steps, steps, held.Steps, 1, &each.Steps},
		{l.ToolCalls, m.toolCalls + pending, held.ToolCalls, 1, &each.ToolCalls},
		{l.Tokens, m.fresh, held.Tokens, leastTokens, &each.Tokens},
		{l.Cost, m.cost.Or(0), held.Cost, 1, &each.Cost},
		{l.Work, m.worked, held.Work, 1, &each.Work},
	}
	left := [...]string{"few steps", "few tool calls", "few tokens", "little money", "little working time"}
	for i := range all {
		if r := &all[i]; r.limit > 0 {
			if n = min(n, max(r.limit-r.used-r.held, 0)/r.least); n == 0 {
				return 0, event.Limits{}, "the run's limits leave too " + left[i] + " for another agent"
			}
		}
	}
	for i := range all {
		if r := &all[i]; r.limit > 0 {
			*r.share = (r.limit - r.used - r.held) / n
		}
	}
	if l.Wall > 0 {
		if each.Wall = m.started + m.away + l.Wall - m.now; each.Wall <= 0 {
			return 0, event.Limits{}, timeUsedUp
		}
	}
	return n, each, ""
}

// unaffordable returns why a call of an agent that is ready cannot be begun, now or
// when others have ended; empty if it can.
func (m *Machine) unaffordable() string {
	n, _, why := m.shares()
	if n > 0 || why == "" {
		return ""
	}
	for i := range m.turn {
		if m.turn[i].below() && m.over == "" {
			return "" // what it was given and does not use is free then
		}
	}
	return why
}

// unbegun appends the results of calls of agents for which nothing is left.
func (m *Machine) unbegun(out []event.Data) []event.Data {
	why, sure := "", false
	for i := range m.turn {
		c := &m.turn[i]
		if !c.agent() || c.state != callReady || c.attempt > 0 || !m.mayRun(i) {
			continue
		}
		if !sure {
			why, sure = m.unaffordable(), true
		}
		if why != "" {
			d := &event.ToolFinished{Call: c.ID, Tool: c.Name, Status: event.StatusDenied, NoEffect: true}
			out = append(out, finishWith(d, &tool.Error{Type: "agent_limit", Message: why, Hint: "finish with what you have, without another agent"}))
		}
	}
	return out
}

// waitsForOthers reports whether a call of an agent that is ready waits for others of this
// turn: because the run is to pause, or for what they were given.
func (m *Machine) waitsForOthers(c *call) bool {
	if !c.agent() || c.attempt > 0 {
		return false
	}
	n, _, _ := m.shares()
	return n == 0 || m.pause
}

// Below is a call that a run of its own carries out.
type Below struct {
	Call, Tool string
	// Agent is the agent's name, Run the id of its run.
	Agent, Run string
}

// openBelow returns the calls whose runs were started and have not come to their end.
func (m *Machine) openBelow() []Below {
	var out []Below
	if m.phase != phaseTools {
		return nil
	}
	for i := range m.turn {
		if c := &m.turn[i]; c.below() {
			out = append(out, Below{Call: c.ID, Tool: c.Name, Agent: c.tool.Agent, Run: c.child})
		}
	}
	return out
}

// known reports whether a count is.
func known(c message.Count) bool {
	_, ok := c.Get()
	return ok
}

// Wrote reports whether a call of the run may have changed something: it was begun,
// may write, and is not proven to have had no effect.
func (m *Machine) Wrote() bool {
	for _, r := range m.calls {
		t := m.tool(r.tool)
		if r.ran && t != nil && !t.Harness && t.Effect.Writes() && (r.done == nil || !r.done.NoEffect) {
			return true
		}
	}
	return false
}
