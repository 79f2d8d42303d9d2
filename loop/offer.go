package loop

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/schema"
	"rein.example/rein/tool"
	"rein.example/rein/window"
)

// noticePhase tells the model that the next phase has begun.
const noticePhase = "phase"

// stage is a phase of the spec, compiled.
type stage struct {
	tools, until guard.Names
}

// beginPhases compiles the phases of the spec.
func (m *Machine) beginPhases() error {
	for i := range m.spec.Phases {
		p := &m.spec.Phases[i]
		var s stage
		var err error
		if s.tools, err = guard.NewNames(p.Tools...); err == nil && p.Until != "" {
			s.until, err = guard.NewNames(p.Until)
		}
		if err != nil {
			return fmt.Errorf("phase %q: %w", p.Name, err)
		}
		m.stages = append(m.stages, s)
	}
	return nil
}

// offer decides which tools requests have from now on: those of the present
// phase, and where there is a catalogue those without a group. What the system
// text says of them follows.
func (m *Machine) offer() {
	m.catalogue = m.harness(tool.OpenTools) && m.harness(tool.CallTool)
	m.offered = make([]event.ToolSpec, 0, len(m.spec.Tools))
	for i := range m.spec.Tools {
		t := &m.spec.Tools[i]
		if m.inPhase(t) && (!m.catalogue || t.Harness || t.Group == "" || m.tool(t.Name).joined) {
			m.offered = append(m.offered, *t)
		}
	}
	m.address()
}

// harness reports whether the run has that tool of Rein's own.
func (m *Machine) harness(name string) bool {
	t := m.tool(name)
	return t != nil && t.Harness
}

// phaseSpec returns the present phase; nil in a run without.
func (m *Machine) phaseSpec() *event.PhaseSpec {
	if len(m.stages) == 0 {
		return nil
	}
	return &m.spec.Phases[m.stage]
}

// inPhase reports whether the tool belongs to the present phase.
func (m *Machine) inPhase(t *event.ToolSpec) bool {
	return len(m.stages) == 0 || t.Harness || m.stages[m.stage].tools.Has(t.Name)
}

// nextPhase begins the next phase if a call of the turn that ends was what the
// present one lasts until. The list of tools changes, and with it the head of
// every request: it is one of the boundaries at which that is done.
func (m *Machine) nextPhase() {
	old := m.stage
	for i := range m.turn {
		c := &m.turn[i]
		if m.stage < len(m.stages)-1 && c.done.Status == event.StatusSuccess && m.stages[m.stage].until.Has(c.Name) {
			m.stage++
		}
	}
	if m.stage == old {
		return
	}
	m.join()
	m.offer()
	m.epoch++
	m.sent = 0
	m.remark(noticePhase, "The phase "+strconv.Quote(m.spec.Phases[old].Name)+" is over, and "+strconv.Quote(m.phaseSpec().Name)+
		" begins. Its tools are: "+strings.Join(m.offeredNames(), ", ")+". No other can be called.")
}

// offeredNames returns the names of what requests offer, sorted.
func (m *Machine) offeredNames() []string {
	names := make([]string, len(m.offered))
	for i := range m.offered {
		names[i] = m.offered[i].Name
	}
	sort.Strings(names)
	return names
}

// available says which tools there are.
func (m *Machine) available() string {
	s := "available tools: " + strings.Join(m.offeredNames(), ", ")
	if m.catalogue {
		s += "; " + tool.OpenTools + " shows the others"
	}
	return s
}

// whichPhase says when a tool can be called.
func (m *Machine) whichPhase(t *event.ToolSpec) string {
	for i := m.stage + 1; i < len(m.stages); i++ {
		if m.stages[i].tools.Has(t.Name) {
			return "it is one of the phase " + strconv.Quote(m.spec.Phases[i].Name) + ", which begins when " + m.spec.Phases[i-1].Until +
				" has succeeded; now there are: " + strings.Join(m.offeredNames(), ", ")
		}
	}
	return m.available()
}

// through makes a call of call_tool one of the tool that it names, so that
// everything else sees just that. What it cannot make sense of stays a call of
// call_tool, whose schema then says what is wrong. It returns the repairs that
// had to be made to the outer arguments.
func (m *Machine) through(c *event.ParsedCall) []schema.Repair {
	if !m.catalogue || c.Name != tool.CallTool || c.Problem != "" {
		return nil
	}
	outer := m.tool(tool.CallTool)
	args, repairs, problems := outer.schema.CheckIn(&m.scratch, []byte(orEmpty(c.Args)))
	if len(problems) > 0 {
		return nil
	}
	name, ok := schema.StringField(args, "name")
	if !ok || name == tool.CallTool {
		return nil
	}
	inner, ok := schema.Field(args, "arguments")
	if !ok {
		inner = jsontext.Value("{}")
	}
	c.Name, c.Args = name, string(inner)
	return slices.Clone(repairs)
}

// breach returns the rule that forbids the i-th call of the turn, c, now.
func (m *Machine) breach(c *call, i int, claims []*toolInfo) *guard.Breach {
	if !m.rules.Binds(c.tool.ToolSpec) {
		return nil
	}
	return m.rules.Judge(c.tool.ToolSpec, m.before(i, claims), m.names)
}

// place returns where a call of the turn stands in it.
func (m *Machine) place(c *call) int {
	for i := range m.turn {
		if &m.turn[i] == c {
			return i
		}
	}
	return len(m.turn)
}

// before returns the tools of the calls before the i-th of this reply that may
// still be executed or are being; claims are those that have not begun.
func (m *Machine) before(i int, claims []*toolInfo) []*event.ToolSpec {
	var tools []*event.ToolSpec
	for _, t := range claims {
		tools = append(tools, t.ToolSpec)
	}
	for k := range i {
		if c := &m.turn[k]; c.tool != nil && c.state != callNew && c.state != callRefused && c.state != callDone {
			tools = append(tools, c.tool.ToolSpec)
		}
	}
	return tools
}

// opens takes note of the tools that the model has asked to see, or has used, while
// they stand in no list. They join it at the next boundary.
func (m *Machine) opens(c *call, d *event.ToolFinished) {
	if !m.catalogue || c.tool == nil || d.Status != event.StatusSuccess {
		return
	}
	c.tool.opened = true
	if !c.tool.Harness || c.Name != tool.OpenTools {
		return
	}
	group, _ := schema.StringField(c.args, "group")
	var named []string
	if list, ok := schema.Field(c.args, "tools"); ok && json.Unmarshal(list, &named) != nil {
		named = nil
	}
	for i := range m.tools {
		if t := &m.tools[i]; group != "" && t.Group == group || slices.Contains(named, t.Name) {
			t.opened = true
		}
	}
}

// join lets the tools that were opened into the list, as far as it has room, and
// reports whether there are any.
func (m *Machine) join() bool {
	most, size := window.Share(&m.spec.Window, window.BlockTools, m.budget()), m.sizes.Tools
	joined := false
	for i := range m.tools {
		t := &m.tools[i]
		if !m.catalogue || !t.opened || t.joined || t.Group == "" || t.Harness {
			continue
		}
		if size += t.Tokens.Or(0); most > 0 && size > most {
			break
		}
		t.joined, joined = true, true
	}
	return joined
}

// joinOpened is join for a boundary at which the list is as it was otherwise, and
// reports whether it has changed.
func (m *Machine) joinOpened() bool {
	if !m.join() {
		return false
	}
	m.offer()
	return true
}
