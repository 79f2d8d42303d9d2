package loop

import (
	"fmt"
	"sort"

	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/parse"
	"rein.example/rein/schema"
	"rein.example/rein/window"
)

// toolInfo is a tool with its compiled schema.
type toolInfo struct {
	*event.ToolSpec
	schema *schema.Schema
	// confirms: it is the confirm tool of another.
	confirms bool
	// calls of it were executed. worked is how many results the run had when one of
	// them succeeded last.
	calls  int64
	worked int
	// opened: the model has asked to be shown it, or has used it, where it is in no
	// list; joined: it has come into the list since.
	opened, joined bool
	// sizes are what its results had, suspected that it was found to cut them.
	sizes     guard.Sizes
	suspected bool
	// changed: its source gives it another definition than when the run began;
	// ToolSpec then has the pin of that.
	changed bool
	began   *event.ToolSpec
}

// begin folds run.started.
func (m *Machine) begin(e *event.Event, d *event.RunStarted) error {
	if d.Format > event.Version {
		return fmt.Errorf("the run was recorded by a newer version (format %d, this one reads up to %d): update rein", d.Format, event.Version)
	}
	m.root, m.origin = d.Root, d.Origin
	if err := m.adopt(&d.Spec); err != nil {
		return err
	}
	if d.Call != "" {
		m.caller = string(appendField(appendField(nil, d.Parent), d.Call))
	}
	if m.root == "" {
		m.root = m.run
	}
	m.seq, m.now, m.started, m.began = e.Seq, e.Time, e.Time, e.Time
	m.wallID = m.id(0)
	m.phase, m.idle = phaseBoundary, true
	return nil
}

// adopt takes what a spec says for how the run goes from here on.
func (m *Machine) adopt(spec *event.Spec) error {
	policy, err := guard.New(spec.Permissions)
	if err != nil {
		return fmt.Errorf("permissions of the run: %w", err)
	}
	m.tools, m.names, m.callable, m.submit, m.strategy = nil, nil, nil, nil, nil
	m.stages, m.stage, m.mustCall, m.sizes.System = nil, 0, nil, nil
	for i := range spec.Tools {
		t := &spec.Tools[i]
		s, err := schema.Compile(t.Schema)
		if err != nil {
			return fmt.Errorf("schema of tool %s: %w", t.Name, err)
		}
		m.tools = append(m.tools, toolInfo{ToolSpec: t, schema: s, began: t})
	}
	sort.SliceStable(m.tools, func(i, j int) bool { return m.tools[i].Name < m.tools[j].Name })
	for i := range m.tools {
		m.names = append(m.names, m.tools[i].Name)
		m.callable = append(m.callable, parse.Tool{Name: m.tools[i].Name, Params: m.tools[i].schema})
		if t := m.tool(m.tools[i].Confirm); t != nil {
			t.confirms = true
		}
	}
	m.spec, m.policy = spec, policy
	if name := spec.Window.Strategy; name != "" {
		if m.strategy, err = window.For(name); err != nil {
			return fmt.Errorf("window of the run: %w", err)
		}
	}
	if len(spec.Submit) > 0 {
		if m.submit, err = schema.Compile(spec.Submit); err != nil {
			return fmt.Errorf("schema of the run's result: %w", err)
		}
	}
	m.gauge.cal = newCalibrations(spec)
	if m.rules, err = guard.NewRules(spec.Rules); err != nil {
		return fmt.Errorf("rules of the run: %w", err)
	}
	if err := m.beginPhases(); err != nil {
		return fmt.Errorf("phases of the run: %w", err)
	}
	if err := m.beginAccept(); err != nil {
		return fmt.Errorf("what the run accepts: %w", err)
	}
	m.offer()
	for _, b := range spec.System {
		m.sizes.System = append(m.sizes.System, event.BlockSize{Name: b.Name, Tokens: b.Tokens.Or(0)})
	}
	return nil
}

// tool returns the tool of that name, or nil.
func (m *Machine) tool(name string) *toolInfo {
	i := sort.Search(len(m.tools), func(i int) bool { return m.tools[i].Name >= name })
	if i < len(m.tools) && m.tools[i].Name == name {
		return &m.tools[i]
	}
	return nil
}
