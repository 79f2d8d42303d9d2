package config

import (
	"fmt"
	"slices"
	"strings"

	"rein.example/rein/internal/yamltree"
	"rein.example/rein/tool"
)

// Prose is what an agent file tells the model in words of its own; nil is what it does
// not say. The texts are as they stand in a request.
type Prose struct {
	// Contract opens the system text, Rules stand after it, and Accept says with the
	// task what a finished one looks like.
	Contract, Rules, Accept *string
}

// LoadProse reads what the file at path tells the model. It is an agent file, whose
// other settings are not looked at beyond their form, or only what one has below rules:
// never, must and can. tools are the names of the tools that rules may name, and
// readBack says whether the agent has the rule that it reads what it has changed. What
// is wrong with the content is an [*Error].
func LoadProse(path string, tools []string, readBack bool) (*Prose, error) {
	text, err := read(path, int64(bounds.Bytes))
	if err != nil {
		return nil, fmt.Errorf("read the rules: %w", err)
	}
	return ParseProse(path, text, tools, readBack)
}

// ParseProse is [LoadProse] of a file's text; name stands for the file in errors.
func ParseProse(name string, text []byte, tools []string, readBack bool) (*Prose, error) {
	a, err := parse(name, text, ruleBlock)
	if err != nil {
		return nil, err
	}
	var out Prose
	r := report{file: name}
	if _, ok := a.source.at["rules"]; ok {
		names := slices.Concat(tools, []string{tool.SubmitResult, tool.ReadArtifact})
		slices.Sort(names)
		rules := a.rulesFor(&r, slices.Compact(names))
		text := rules.Text(readBack)
		out.Rules = &text
	}
	if _, ok := a.source.at["contract"]; ok {
		text := strings.TrimSpace(a.Contract)
		out.Contract = &text
	}
	if _, ok := a.source.at["accept.text"]; ok {
		out.Accept = &a.Accept.Text
	}
	if out == (Prose{}) {
		r.add(yamltree.Pos{Line: 1, Column: 1}, "", "nothing here is told to the model: write rules, contract or accept, or the lists never, must and can alone")
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return &out, nil
}

// ruleBlock reads the lists of rules alone as an agent file that has them.
func ruleBlock(root *yamltree.Node) *yamltree.Node {
	if root.Kind != yamltree.Mapping || len(root.Entries) == 0 {
		return root
	}
	for _, e := range root.Entries {
		if e.Key != "never" && e.Key != "must" && e.Key != "can" {
			return root
		}
	}
	return &yamltree.Node{Kind: yamltree.Mapping, Pos: root.Pos, Entries: []yamltree.Entry{{Key: "rules", Pos: root.Pos, Value: root}}}
}
