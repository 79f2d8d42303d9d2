package lint

import (
	"fmt"
	"slices"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/tool"
)

// Bounds of a list of tools (DESIGN 3.4): from more than few on a model chooses
// worse, from more than many on badly.
const (
	few  = 10
	many = 15
)

// lists checks how many tools a request offers.
func (c *checker) lists() {
	if len(c.Phases) == 0 {
		c.list("tools", "", c.offered(nil))
	}
	for i := range c.Phases {
		p := &c.Phases[i]
		c.list("phase "+p.Name, "", c.offered(p))
	}
}

func (c *checker) list(about, part string, offered []*tool.Definition) {
	n := 0
	for _, d := range offered {
		if !d.Harness {
			n++
		}
	}
	const fix = "leave out what the task does not need, declare groups, which are opened on demand, or give each phase of the run its 5 to 8"
	switch {
	case n > many:
		c.add(Warning, about, part, fmt.Sprintf("a request offers %d tools; over %d a model often chooses the wrong one", n, many), fix)
	case n > few:
		c.add(Hint, about, part, fmt.Sprintf("a request offers %d tools; up to %d are chosen from well", n, few), fix)
	}
}

// offered returns what requests offer, in the phase if it is not nil.
func (c *checker) offered(p *event.PhaseSpec) []*tool.Definition {
	var out []*tool.Definition
	for _, d := range c.Tools {
		switch {
		case d.Harness:
		case p != nil && !slices.ContainsFunc(p.Tools, func(text string) bool { return matches(text, d.Name) }):
			continue
		case p == nil && c.Offered != nil && !slices.Contains(c.Offered, d.Name):
			continue
		}
		out = append(out, d)
	}
	return out
}

// permissions checks what may run.
func (c *checker) permissions() {
	if c.Permissions == nil {
		return
	}
	policy, err := guard.New(c.Permissions)
	if err != nil {
		c.add(Error, "permissions", "", err.Error(), "correct it")
		return
	}
	for _, line := range policy.Shadowed() {
		problem, why, _ := strings.Cut(line, ": ")
		c.add(Warning, "permissions", "", problem+": "+why, "take it out, or make the other narrower")
	}
	specs := c.specs()
	for i := range c.Permissions {
		p := &c.Permissions[i]
		if strings.HasPrefix(p.Match, "effect:") || p.Match == "*" || slices.ContainsFunc(specs, func(t event.ToolSpec) bool { return matches(p.Match, t.Name) }) {
			continue
		}
		c.add(Hint, "permissions", string(p.Verdict)+" "+p.Match, "it matches none of the tools", "take it out, or correct the name")
	}
	for _, t := range specs {
		if d := policy.Judge(t); d.Verdict == event.Deny && d.Rule == "" {
			c.add(Warning, "tool "+t.Name, "permission", "no permission matches it, so every call is refused", "allow or ask it, or leave it out")
		}
	}
}
