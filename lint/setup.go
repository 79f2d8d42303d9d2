package lint

import (
	"fmt"
	"regexp"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// setup checks how a configured tool does its work.
func (c *checker) setup(d *tool.Definition, about string) {
	s := c.Setups[d.Name]
	if s == nil {
		return
	}
	c.code(d, s, about)
	c.secrets(s, about)
	if s.Method != "" && s.Method != "GET" && s.Method != "HEAD" && d.Effect == event.Read {
		c.add(Warning, about, "effect", "its request is a "+s.Method+", and it declares that it reads, so that it is repeated without asking",
			"declare repeatable or once, unless the server only looks something up")
	}
}

// code checks a command's template for parameters in what its program runs as code.
func (c *checker) code(d *tool.Definition, s *tool.Setup, about string) {
	told := map[string]bool{}
	for _, h := range codeOf(s.Argv) {
		for _, name := range holes(h.text) {
			pattern, free := s.Free[name]
			if !free || told[name] {
				continue
			}
			told[name] = true
			level, takes := Warning, "what its pattern takes, "+h.by+" reads as code"
			if anything(pattern) {
				level, takes = Error, "its pattern takes anything, so whoever fills it runs what they like"
			}
			c.add(level, about, "argv", fmt.Sprintf("{%s} stands in code that %s runs: %s", name, h.by, takes), h.fix)
			if d.Effect == event.Read {
				c.add(Warning, about, "effect", fmt.Sprintf("it declares that it reads, and {%s} is part of code that %s runs, which may change anything", name, h.by),
					"declare once, or keep the parameter out of the code")
			}
		}
	}
}

// holes returns the names of the parameters in an entry of argv.
func holes(text string) []string {
	var out []string
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] != '{' && text[i] != '}':
		case i+1 < len(text) && text[i+1] == text[i]:
			i++
		case text[i] == '{':
			name, _, closed := strings.Cut(text[i+1:], "}")
			if !closed {
				return out
			}
			out = append(out, name)
			i += len(name) + 1
		}
	}
	return out
}

// hostile are values that no parameter in code may take: each runs something in one
// shell or language or other.
var hostile = []string{"a;b", "a & b", "a|b", "$(a)", "`a`", "a(b)", "a > b", "'a", `"a`}

// anything reports whether a pattern takes every one of the values that run
// something: it has not been written with code in mind.
func anything(pattern string) bool {
	if pattern == "" {
		return true
	}
	re, err := regexp.Compile("^(?:" + pattern + ")$")
	if err != nil {
		return false // the tool's own check says it
	}
	for _, v := range hostile {
		if !re.MatchString(v) {
			return false
		}
	}
	return true
}
