package command

import "rein.example/rein/tool"

// Setup implements [tool.Configured].
func (c *command) Setup() *tool.Setup {
	s := &tool.Setup{Argv: c.t.Argv, Free: map[string]string{}, Env: c.t.Env}
	for name, p := range c.params { // order: each is its own
		if p.Flag == "" && len(p.Enum) == 0 {
			s.Free[name] = p.Pattern
		}
	}
	return s
}
