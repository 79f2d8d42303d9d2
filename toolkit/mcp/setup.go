package mcp

import (
	"strings"

	"rein.example/rein/tool"
)

// Setup implements [tool.Configured]: what was written for the server, without what
// holds one of its secrets. Where none are known, nobody can tell the two apart.
func (t *remote) Setup() *tool.Setup {
	s := &tool.Setup{Header: map[string]string{}, Env: map[string]string{}}
	if t.server.o.Secrets == nil {
		return s
	}
	known := func(value string) bool { return t.server.redact(value) != value }
	for name := range t.server.o.Header { // order: each is its own
		if value := t.server.o.Header.Get(name); !known(value) {
			s.Header[name] = value
		}
	}
	for _, v := range t.server.o.Env {
		if name, value, _ := strings.Cut(v, "="); !known(value) {
			s.Env[name] = value
		}
	}
	return s
}
