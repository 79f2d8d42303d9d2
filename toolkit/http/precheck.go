package http

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Bounds of what an OpenAPI document is made of. The library that reads it compares
// the keys of a mapping each with each, and follows references one in the other, so
// that a document of a few megabytes could keep it busy for minutes.
const (
	maxKeys  = 5_000      // of one mapping
	maxPairs = 50_000_000 // of keys in the same mapping, over all
	maxDeep  = 200
	maxNodes = 1_000_000
	// maxChain bounds how many references lead on one from the other.
	maxChain = 200
)

// precheck refuses documents that would take too long to read.
func precheck(text []byte) error {
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return fmt.Errorf("it cannot be read: %s", short(err.Error(), 500))
	}
	c := checker{schemas: map[string]*yaml.Node{}}
	if err := c.node(&root, 0); err != nil {
		return err
	}
	if len(root.Content) == 1 {
		c.components(root.Content[0])
	}
	return c.chains()
}

// checker counts what a document has.
type checker struct {
	nodes   int
	pairs   int
	schemas map[string]*yaml.Node // each reference's name to where it leads
}

func (c *checker) node(n *yaml.Node, depth int) error {
	c.nodes++
	switch {
	case c.nodes > maxNodes:
		return fmt.Errorf("it has more than %d values", maxNodes)
	case depth > maxDeep:
		return fmt.Errorf("it is nested more than %d deep", maxDeep)
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return fmt.Errorf("line %d has an anchor or an alias (& or *), which are not read: use $ref", n.Line)
	case n.Kind == yaml.MappingNode && len(n.Content)/2 > maxKeys:
		return fmt.Errorf("line %d begins a mapping with more than %d keys", n.Line, maxKeys)
	}
	if n.Kind == yaml.MappingNode {
		if err := c.keys(n); err != nil {
			return err
		}
	}
	for _, inner := range n.Content {
		if err := c.node(inner, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// keys refuses a mapping with a key that is there twice.
func (c *checker) keys(n *yaml.Node) error {
	count := len(n.Content) / 2
	if c.pairs += count * count; c.pairs > maxPairs {
		return errors.New("it has too many mappings with thousands of keys")
	}
	seen := make(map[string]bool, count)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || seen[key.Value] {
			return fmt.Errorf("line %d has a key that is there twice, or is no text: %q", key.Line, short(key.Value, 80))
		}
		seen[key.Value] = true
	}
	return nil
}

// member returns the value of a key, nil if there is none.
func member(n *yaml.Node, key string) *yaml.Node {
	if n != nil && n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				return n.Content[i+1]
			}
		}
	}
	return nil
}

// components notes all that can be referred to: #/components/kind/name.
func (c *checker) components(doc *yaml.Node) {
	kinds := member(doc, "components")
	if kinds == nil || kinds.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(kinds.Content); i += 2 {
		kind, list := kinds.Content[i].Value, kinds.Content[i+1]
		if list.Kind != yaml.MappingNode {
			continue
		}
		for k := 0; k+1 < len(list.Content); k += 2 {
			c.schemas["#/components/"+kind+"/"+list.Content[k].Value] = list.Content[k+1]
		}
	}
}

// chains refuses references that lead on for too long. It goes through them in depth,
// each component once.
func (c *checker) chains() error {
	type frame struct {
		name string
		todo []string
	}
	seen := map[string]bool{}
	for _, start := range sortedKeys(c.schemas) {
		if seen[start] {
			continue
		}
		seen[start] = true
		stack := []frame{{start, refs(c.schemas[start])}}
		for len(stack) > 0 {
			if len(stack) > maxChain {
				return fmt.Errorf("more than %d references lead on one from the other, from %s", maxChain, short(start, 100))
			}
			top := &stack[len(stack)-1]
			if len(top.todo) == 0 {
				stack = stack[:len(stack)-1]
				continue
			}
			next := top.todo[0]
			top.todo = top.todo[1:]
			if target := c.schemas[next]; target != nil && !seen[next] {
				seen[next] = true
				stack = append(stack, frame{next, refs(target)})
			}
		}
	}
	return nil
}

// refs returns the references below a node to components.
func refs(n *yaml.Node) []string {
	var out []string
	todo := []*yaml.Node{n}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if ref := member(n, "$ref"); ref != nil && strings.HasPrefix(ref.Value, "#/") {
			out = append(out, ref.Value)
		}
		todo = append(todo, n.Content...)
	}
	return out
}
