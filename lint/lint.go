// Package lint answers: will a model understand these tools and rules, and can
// they be kept?
//
// It reads what an agent is made of, the documents of its tools, its rules and
// permissions, the size of what stands in every request, and says what is missing,
// vague, contradictory or of no effect, each time with what to do about it. It
// runs nothing.
//
//	for _, f := range lint.Tools(myTool) { t.Error(f) } // in a test of one's own tools
package lint

import (
	"cmp"
	"slices"

	"rein.example/rein/event"
	"rein.example/rein/tokens"
	"rein.example/rein/tool"
)

// Level says how bad a finding is.
type Level string

// The levels: a hint is worth a thought, a warning will make runs go wrong now and
// then, an error says that something can never work.
const (
	Hint    Level = "hint"
	Warning Level = "warning"
	Error   Level = "error"
)

// Finding is one thing that was found.
type Finding struct {
	Level Level `json:"level"`
	// About is what it was found in: tool read_file, rule must[2], tools,
	// permissions, budget.
	About string `json:"about"`
	// Part is the part of that: name, what, when, returns, parameter path, effect,
	// confirm, argv, secret; empty for the whole.
	Part string `json:"part,omitempty"`
	// Problem says what is wrong, Fix what to do.
	Problem string `json:"problem"`
	Fix     string `json:"fix"`
}

// String returns the finding in one line.
func (f Finding) String() string {
	s := string(f.Level) + ": " + f.About
	if f.Part != "" {
		s += ", " + f.Part
	}
	return s + ": " + f.Problem + "; " + f.Fix
}

// Input is what an agent is made of. Each part may be left out, and is not looked
// at then.
type Input struct {
	// Tools are the agent's, and those of the harness, which are only counted as
	// part of the budget.
	Tools []*tool.Definition
	// Setups are how tools do their work, by the tools' names: see [tool.SetupOf].
	Setups map[string]*tool.Setup
	Rules  []event.RuleSpec
	// Permissions; nil: not looked at.
	Permissions []event.Permission
	Phases      []event.PhaseSpec
	// Offered are the names of the tools that requests offer where there are no
	// phases; nil: all.
	Offered []string
	// System is what stands before the conversation.
	System []event.Block
	// Window is the model's; a window of unknown size is not looked at.
	Window event.WindowSpec
	// Counter counts tokens. Nil: an estimate.
	Counter tokens.Counter
}

// Report is what is found of an agent as a whole.
type Report struct {
	Findings []Finding
	// Rules are all of its rules, in the order shown: those with a Kind are
	// enforced, the others only told.
	Rules []event.RuleSpec
}

// Check returns what is found: of each thing in the order of the input, errors
// first where they are of one thing.
func Check(in *Input) []Finding {
	c := &checker{Input: in}
	if c.Counter == nil {
		c.Counter = tokens.Estimate{}
	}
	for _, d := range in.Tools {
		if !d.Harness {
			c.tool(d)
		}
	}
	c.rules()
	c.permissions()
	c.lists()
	c.budget()
	return c.found
}

// Tools checks tools by themselves, as in a test of them.
func Tools(tools ...tool.Tool) []Finding {
	in := &Input{Setups: map[string]*tool.Setup{}}
	for _, t := range tools {
		in.Tools = append(in.Tools, t.Definition())
		in.Setups[t.Definition().Name] = tool.SetupOf(t)
	}
	c := &checker{Input: in, Counter: tokens.Estimate{}}
	for _, d := range in.Tools {
		c.tool(d)
	}
	return c.found
}

// Worst returns the worst level of the findings; empty for none.
func Worst(findings []Finding) Level {
	var worst Level
	for _, f := range findings {
		if rank(f.Level) > rank(worst) {
			worst = f.Level
		}
	}
	return worst
}

func rank(l Level) int { return slices.Index([]Level{Hint, Warning, Error}, l) }

// checker collects findings.
type checker struct {
	*Input
	Counter tokens.Counter
	found   []Finding
	told    map[string]bool // secrets
}

// add notes a finding.
func (c *checker) add(level Level, about, part, problem, fix string) {
	c.found = append(c.found, Finding{level, about, part, problem, fix})
}

// sorted returns the keys of a map.
func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, cmp.Compare)
	return keys
}
