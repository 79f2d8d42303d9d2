package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"rein.example/rein/internal/cut"
	"rein.example/rein/schema"
	"rein.example/rein/tool"
)

const (
	// maxDescription bounds a description, in bytes: it is sent with every request
	// to the model.
	maxDescription = 8 << 10
	// maxReturns bounds what is said of a result's form.
	maxReturns = 600
)

// tool makes a tool of one that the server lists.
func (s *Server) tool(t *mcp.Tool) (*remote, error) {
	args, check, err := arguments(t.InputSchema)
	if err != nil {
		return nil, err
	}
	def := &tool.Definition{
		Name: s.name(t.Name), Doc: s.doc(t), Schema: args, Effect: s.effect(t), Timeout: s.o.Timeout,
		Confirm: s.confirm(t.Name), Group: s.o.Group, Pin: s.pin(t),
	}
	if t.OutputSchema != nil {
		if text, err := deterministic(t.OutputSchema); err == nil {
			if _, err := schema.Compile(text); err == nil {
				def.Output = text
			}
		}
	}
	// The registry would refuse the whole agent for one bad definition.
	probe := *def
	probe.Confirm = "" // of another source, perhaps
	if _, err := tool.NewRegistry(&remote{def: &probe}); err != nil {
		return nil, err
	}
	return &remote{server: s, name: t.Name, def: def, check: check}, nil
}

// confirm returns the name here of the tool that confirms calls of one.
func (s *Server) confirm(name string) string {
	c := s.o.Confirm[name]
	if c == "" {
		return ""
	}
	s.mu.Lock()
	l := s.cur
	s.mu.Unlock()
	if l != nil && l.pinned(c) != "" {
		return s.name(c)
	}
	return c
}

// doc makes the document of a tool from what the server says of it.
func (s *Server) doc(t *mcp.Tool) tool.Doc {
	what := tool.Clean(t.Description)
	if len(what) > maxDescription {
		what = fmt.Sprintf("%s… (the description has %d bytes; the rest is left out)", what[:cut.Down(what, maxDescription)], len(what))
	}
	if what == "" {
		what = tool.Clean(t.Title)
	}
	if what == "" && t.Annotations != nil {
		what = tool.Clean(t.Annotations.Title)
	}
	if what == "" {
		what = fmt.Sprintf("The tool %s of the server %s, which does not describe it.", s.name(t.Name), s.label)
	}
	return tool.Doc{What: what, Returns: returns(t.OutputSchema)}
}

// returns describes the members of a declared result.
func returns(output any) string {
	o, _ := output.(map[string]any)
	members, _ := o["properties"].(map[string]any)
	if len(members) == 0 {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		m, _ := members[name].(map[string]any)
		part := tool.Clean(name)
		if kind, ok := m["type"].(string); ok {
			part += " (" + tool.Clean(kind) + ")"
		}
		if text, ok := m["description"].(string); ok && text != "" {
			part += ": " + tool.Clean(text)
		}
		parts = append(parts, part)
	}
	out := "JSON with the members " + strings.Join(parts, "; ") + "."
	if len(out) > maxReturns {
		return "JSON with the members " + shorten(strings.Join(slices.Sorted(maps.Keys(members)), ", "), maxReturns) + "."
	}
	return out
}

// shorten cuts a text to at most most bytes, at a rune's end.
func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return text[:cut.Down(text, most)] + "…"
}

// pin returns the hash of everything that a person who approves a call has relied
// on: the server, and the definition as it gave it.
func (s *Server) pin(t *mcp.Tool) string {
	text, err := json.Marshal([]any{s.identity, t.Name, t.Title, t.Description, t.InputSchema, t.OutputSchema, annotations(t)},
		json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil { // values that came as JSON can be written as JSON
		panic(fmt.Sprintf("mcp: write a definition: %v", err))
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// annotations returns what a tool's annotations say, nil for what they leave open.
func annotations(t *mcp.Tool) []any {
	a := t.Annotations
	if a == nil {
		return nil
	}
	return []any{a.Title, a.ReadOnlyHint, a.IdempotentHint, a.DestructiveHint, a.OpenWorldHint}
}

// deterministic writes a value that came as JSON, with sorted members.
func deterministic(v any) (jsontext.Value, error) {
	text, err := json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err == nil && len(text) > maxSchema {
		err = errors.New("it has more than 64 KiB")
	}
	return text, err
}
