package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/parse"
	"rein.example/rein/schema"
)

// toolList is the tools that a model was offered.
type toolList struct {
	// tools are sorted by name, each name once.
	tools []parse.Tool
	// notes say of which tools the parameters could not be used.
	notes []string
}

// listedTool is a tool as requests and servers list it: in the chat wire's own
// form, bare, as the Messages wire has it, or as MCP has it.
type listedTool struct {
	Name        string         `json:"name"`
	Parameters  jsontext.Value `json:"parameters"`
	InputSchema jsontext.Value `json:"inputSchema"`
	Messages    jsontext.Value `json:"input_schema"`
	Function    *listedTool    `json:"function"`
}

// readTools reads a JSON list of tools, or an object that holds one as "tools".
func readTools(text []byte) (*toolList, error) {
	if text = bytes.TrimSpace(text); len(text) > 0 && text[0] == '{' {
		var o struct {
			Tools jsontext.Value `json:"tools"`
		}
		if err := json.Unmarshal(text, &o); err != nil {
			return nil, fmt.Errorf("not JSON: %w", err)
		}
		text = o.Tools
	}
	var list []listedTool
	if len(text) == 0 || text[0] != '[' {
		return nil, errors.New(`not a JSON list of tools: [{"name": …, "parameters": {…}}]`)
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("not a list of tools: %w", err)
	}
	out := &toolList{}
	for i := range list {
		if err := out.add(&list[i]); err != nil {
			return nil, fmt.Errorf("tool %d: %w", i+1, err)
		}
	}
	slices.SortFunc(out.tools, func(x, y parse.Tool) int { return strings.Compare(x.Name, y.Name) })
	for i := 1; i < len(out.tools); i++ {
		if name := out.tools[i].Name; name == out.tools[i-1].Name {
			return nil, fmt.Errorf("there are two tools %q", clip(name, nameWidth))
		}
	}
	return out, nil
}

func (l *toolList) add(t *listedTool) error {
	if t.Function != nil {
		t = t.Function
	}
	if t.Name == "" {
		return errors.New("it has no name")
	}
	tool := parse.Tool{Name: t.Name}
	for _, p := range []jsontext.Value{t.Parameters, t.InputSchema, t.Messages} {
		if len(p) == 0 || p.Kind() == 'n' {
			continue
		}
		s, err := schema.Compile(p)
		if err != nil {
			l.notes = append(l.notes, fmt.Sprintf("the parameters of %s cannot be used: %v", clip(t.Name, nameWidth), err))
			break
		}
		tool.Params = s
		break
	}
	l.tools = append(l.tools, tool)
	return nil
}

// find returns the tool of that name; nil if there is none.
func (l *toolList) find(name string) *parse.Tool {
	if l == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(l.tools, name, func(t parse.Tool, name string) int { return strings.Compare(t.Name, name) })
	if !ok {
		return nil
	}
	return &l.tools[i]
}

// nearest returns the names that are like one that is not there.
func (l *toolList) nearest(name string) []string {
	names := make([]string, len(l.tools))
	for i := range l.tools {
		names[i] = l.tools[i].Name
	}
	return schema.Nearest(name, names)
}
