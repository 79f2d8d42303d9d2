package loop

import (
	"slices"

	"rein.example/rein/event"
	"rein.example/rein/parse"
	"rein.example/rein/window"
)

// calling returns how the model that is asked now calls tools.
func (m *Machine) calling() event.ModelCalling { return m.spec.CallingOf(m.model()) }

// address makes the system text and its size those of the model that is asked now:
// one that is asked to call in a dialect is told there of the tools and how to call
// them, which others get to know apart from it.
func (m *Machine) address() {
	c := m.calling()
	blocks := m.spec.System
	m.sizes.Tools = tokensOf(m.offered)
	if c.Dialect != "" {
		blocks = append(slices.Clone(blocks), event.Block{Name: window.BlockTools, Text: window.Calling(c.Dialect, m.offered)})
		// What was counted is the convention with all tools.
		m.sizes.Tools = max(m.sizes.Tools, m.sizes.Tools+c.Tokens.Or(0)-tokensOf(m.spec.Tools))
	}
	m.system = window.System(blocks)
	m.loose = false
}

func tokensOf(tools []event.ToolSpec) (n int64) {
	for i := range tools {
		n += tools[i].Tokens.Or(0)
	}
	return n
}

// strict reports whether calls are to be held to the tools' schemas in the request
// that is made now: always if the model's entry says so, else once after a reply
// with a call that could not be used. That one request has no prefix in common with
// those before and after it, as strict tools are other tools at its head, so it
// costs what the server had cached; the model's next mistake would cost more.
func (m *Machine) strict(c *modelCall, calling *event.ModelCalling) bool {
	if calling.Dialect != "" || len(m.offered) == 0 {
		return false // nothing is sent that could be strict
	}
	return calling.Strict || m.misread && !m.loose && !c.noTools && c.purpose != event.PurposeSummary
}

// loosen takes note that a request failed which held calls to the schemas though
// nobody had asked for it: servers that don't know how to refuse it, some with a
// fault of their own, and such a one is not asked again. It reports whether the
// request is worth making again for that alone.
func (m *Machine) loosen(d *event.ModelFailed) bool {
	c := m.calling()
	if !m.call.strict || c.Strict || m.loose {
		return false
	}
	m.loose = d.Class == event.ClassBadRequest || d.Class == event.ClassServer
	return d.Class == event.ClassBadRequest
}

// misreads reports whether a call was not understood, or did not fit its schema, so
// that holding the next ones to it helps: not where the reply was clipped at its
// length, stopped, or too much.
func (c *call) misreads(clipped bool) bool {
	switch {
	case c.rule == ruleArguments:
		return true
	case c.rule != ruleReply || c.Problem == parse.ProblemStopped || c.Problem == parse.ProblemLimit:
		return false
	}
	return c.Problem != parse.ProblemIncomplete || !clipped
}

// howToCall is what a model is told after a reply in which no call could be read.
func (m *Machine) howToCall() string {
	if form := window.CallForm(m.calling().Dialect); form != "" {
		return "Write a call in exactly this form, with the tool and its own parameters, or answer in plain text:\n" + form
	}
	return "Call a tool with arguments that are one complete JSON object, or answer in plain text."
}
