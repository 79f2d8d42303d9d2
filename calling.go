package rein

import (
	"fmt"
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
)

// Calling says how one model of an agent calls tools. What is left out is what is
// known of the model: it calls on its wire, and in its text too unless its client
// says that its calls can be relied on (OwnCalls of [model.Info]).
type Calling struct {
	// Model is "provider/model"; empty is the agent's first.
	Model string
	// Dialect asks the model, in the system text, to write its calls in this form:
	// hermes, pythonic, xml or react. It is for models and servers that have no tool
	// calls of their own: their wire gets to see none, and no results but as text.
	Dialect string
	// Text says whether calls that the model writes as text count: "read" or
	// "ignore". Only those of tools that it was offered ever do. In a Dialect there
	// are no others, so they are always read.
	Text string
	// Strict says when calls are held to the tools' schemas while the model writes
	// them, where its endpoint can do so: "always", or "auto" (empty means this)
	// once after a call that could not be used.
	Strict string
}

// The words of [Calling].
const (
	textRead     = "read"
	textIgnore   = "ignore"
	strictAuto   = "auto"
	strictAlways = "always"
)

// calling returns how each of the agent's models calls tools.
func (a *Agent) calling() ([]event.ModelCalling, error) {
	out := make([]event.ModelCalling, len(a.models))
	for i, m := range a.models {
		info := m.Info()
		out[i] = event.ModelCalling{Model: info.Name(), Text: !info.OwnCalls}
	}
	said := map[string]bool{}
	for _, c := range a.opts.Calling {
		name := c.Model
		if name == "" {
			name = out[0].Model
		}
		at := -1
		for i := range out {
			if out[i].Model == name {
				at = i
			}
		}
		switch {
		case at < 0:
			return nil, fmt.Errorf("how the model %s calls tools is said, and the agent has no such model", name)
		case said[name]:
			return nil, fmt.Errorf("how the model %s calls tools is said twice", name)
		}
		said[name] = true
		if err := c.apply(&out[at]); err != nil {
			return nil, fmt.Errorf("how the model %s calls tools: %w", name, err)
		}
	}
	return out, nil
}

// apply sets what c says of a model.
func (c *Calling) apply(to *event.ModelCalling) error {
	if c.Dialect != "" {
		w, ok := dialect.WriterFor(c.Dialect)
		if !ok {
			return fmt.Errorf("no model can be asked to write calls in the dialect %q: use one of %s", c.Dialect, strings.Join(dialect.Promptable(), ", "))
		}
		to.Dialect, to.Text = w.ID(), true
	}
	switch {
	case c.Text == textIgnore && c.Dialect != "":
		return fmt.Errorf("its text cannot be ignored, as calls in the dialect %s stand there: leave one of the two out", c.Dialect)
	case c.Text == textRead || c.Text == textIgnore:
		to.Text = c.Text == textRead
	case c.Text != "":
		return fmt.Errorf("text is %q: use %s or %s", c.Text, textRead, textIgnore)
	}
	switch c.Strict {
	case "", strictAuto:
	case strictAlways:
		if c.Dialect != "" {
			return fmt.Errorf("calls in the dialect %s cannot be held to schemas by the endpoint: leave strict out", c.Dialect)
		}
		to.Strict = true
	default:
		return fmt.Errorf("strict is %q: use %s or %s", c.Strict, strictAuto, strictAlways)
	}
	return nil
}
