package script

import (
	"strconv"

	"rein.example/rein/internal/yamltree"
)

func parseInt(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }

// Parse reads a script. The error is a [*ParseError].
func Parse(data []byte) (*Script, error) {
	root, err := parseYAML(data)
	if err != nil {
		return nil, err
	}
	m, err := readMapping(root, "a script")
	if err != nil {
		return nil, err
	}
	s := &Script{structured: map[string][]*node{}}
	err = m.readFields("a script", "model, turns, final, structured", map[string]field{
		"model": text(&s.model),
		"turns": nodes(&s.turns, 1),
		"final": alternatives(&s.final),
		"structured": func(n *yamltree.Node) error {
			byName, err := readMapping(n, "structured")
			if err != nil {
				return err
			}
			for _, e := range byName.Entries {
				var list []*node
				if err := alternatives(&list)(e.Value); err != nil {
					return err
				}
				s.structured[e.Key] = list
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	if len(s.turns) == 0 && len(s.final) == 0 && len(s.structured) == 0 {
		return nil, errAt(root.Pos, "a script needs turns, final or structured")
	}
	return s, nil
}

// nodes reads a list of turns and groups, depth levels down.
func nodes(dst *[]*node, depth int) field {
	return func(n *yamltree.Node) error {
		if n.Kind != yamltree.List {
			return errAt(n.Pos, "turns are a list: begin each with a dash")
		}
		if depth > maxDepth {
			return errAt(n.Pos, "groups are nested too deeply; at most %d levels", maxDepth)
		}
		for _, v := range n.Items {
			parsed, err := parseNode(v, depth)
			if err != nil {
				return err
			}
			*dst = append(*dst, parsed)
		}
		return nil
	}
}

// alternatives reads one turn, or a list of turns of which one is played.
func alternatives(dst *[]*node) field {
	return func(n *yamltree.Node) error {
		list := []*yamltree.Node{n}
		if n.Kind == yamltree.List {
			list = n.Items
		}
		for _, v := range list {
			parsed, err := parseNode(v, 1)
			if err != nil {
				return err
			}
			if parsed.turn == nil {
				return errAt(v.Pos, "this is a turn; groups belong under turns")
			}
			*dst = append(*dst, parsed)
		}
		return nil
	}
}

func parseNode(n *yamltree.Node, depth int) (*node, error) {
	if n.Kind == yamltree.Text {
		t := newTurn()
		return &node{turn: t}, templated(&t.say)(n)
	}
	m, err := readMapping(n, "a turn")
	if err != nil {
		return nil, err
	}
	if m.has("turns") != nil {
		return parseGroup(m, depth)
	}
	return parseTurn(m)
}

func parseGroup(m *mapping, depth int) (*node, error) {
	g := &node{}
	var repeat int64
	err := m.readFields("a group", "when, until, repeat, turns", map[string]field{
		"when":   conditional(&g.when),
		"until":  conditional(&g.until),
		"repeat": integer(&repeat, 1, maxRepeat),
		"turns":  nodes(&g.turns, depth+1),
	})
	g.repeat = int(repeat)
	switch {
	case g.repeat > 0:
	case g.until != nil:
		g.repeat = untilRounds
	default:
		g.repeat = 1
	}
	return g, err
}

func newTurn() *turn { return &turn{chunk: chunkBytes} }

func parseTurn(m *mapping) (*node, error) {
	t := newTurn()
	n := &node{turn: t}
	chunk := int64(chunkBytes)
	err := m.readFields("a turn",
		"say, reason, call, calls, finish, usage, delay, chunk, expect, faults, when; a group takes when, until, repeat, turns",
		map[string]field{
			"when":   conditional(&n.when),
			"say":    templated(&t.say),
			"reason": templated(&t.reason),
			"call": func(n *yamltree.Node) error {
				c, err := parseCall(n)
				t.calls = append(t.calls, c)
				return err
			},
			"calls": func(n *yamltree.Node) error {
				if n.Kind != yamltree.List {
					return errAt(n.Pos, "calls is a list; for one call write call")
				}
				for _, v := range n.Items {
					c, err := parseCall(v)
					if err != nil {
						return err
					}
					t.calls = append(t.calls, c)
				}
				return nil
			},
			"finish": text(&t.finish),
			"usage":  tokens(&t.usage),
			"delay":  duration(&t.delay),
			"chunk":  integer(&chunk, 1, maxBytes),
			"expect": expectation(&t.expect),
			"faults": faults(&t.faults),
		})
	if err != nil {
		return nil, err
	}
	t.chunk = int(chunk)
	if one, many := m.has("call"), m.has("calls"); one != nil && many != nil {
		return nil, errAt(one.Pos, "a turn takes call or calls, not both")
	}
	if m.has("say") == nil && m.has("reason") == nil && len(t.calls) == 0 {
		return nil, errAt(m.Pos, `a turn says or calls something; for an empty reply write say: ""`)
	}
	return n, nil
}

func parseCall(n *yamltree.Node) (call, error) {
	var c call
	m, err := readMapping(n, "a call")
	if err != nil {
		return c, err
	}
	err = m.readFields("a call", "name, arguments, raw_arguments, id", map[string]field{
		"name": text(&c.name),
		"id":   text(&c.id),
		"arguments": func(n *yamltree.Node) error {
			if _, err := readMapping(n, "arguments"); err != nil {
				return err
			}
			v, err := parseValue(n, 1)
			c.arguments = v
			return err
		},
		"raw_arguments": func(n *yamltree.Node) error {
			c.isRaw = true
			return templated(&c.raw)(n)
		},
	})
	if err != nil {
		return c, err
	}
	if m.has("name") == nil {
		return c, errAt(n.Pos, "a call needs a name")
	}
	if raw := m.has("raw_arguments"); raw != nil && m.has("arguments") != nil {
		return c, errAt(raw.Pos, "a call takes arguments or raw_arguments, not both")
	}
	return c, nil
}

// conditional reads one condition, or a list of which one has to hold.
func conditional(dst *conditions) field {
	return func(n *yamltree.Node) error {
		list := []*yamltree.Node{n}
		if n.Kind == yamltree.List {
			list = n.Items
		}
		for _, v := range list {
			m, err := readMapping(v, "a condition")
			if err != nil {
				return err
			}
			var c condition
			err = m.readFields("a condition", "result, contains, lacks", map[string]field{
				"result": text(&c.tool), "contains": text(&c.contains), "lacks": text(&c.lacks),
			})
			if err != nil {
				return err
			}
			if c.contains == "" && c.lacks == "" {
				return errAt(v.Pos, "a condition needs contains or lacks, with a text")
			}
			*dst = append(*dst, c)
		}
		if len(list) == 0 {
			return errAt(n.Pos, "this is a condition, or a list of conditions of which one has to hold")
		}
		return nil
	}
}

func expectation(dst *expect) field {
	return func(n *yamltree.Node) error {
		m, err := readMapping(n, "expect")
		if err != nil {
			return err
		}
		return m.readFields("expect", "contains, last_result, tools", map[string]field{
			"contains": texts(&dst.contains), "last_result": texts(&dst.lastResult), "tools": texts(&dst.tools),
		})
	}
}

func tokens(dst **usage) field {
	return func(n *yamltree.Node) error {
		u := &usage{-1, -1, -1, -1}
		*dst = u
		if n.Kind == yamltree.Text && n.Scalar == "none" {
			return nil
		}
		m, err := readMapping(n, "usage, unless it is none,")
		if err != nil {
			return err
		}
		const most = 1 << 40
		return m.readFields("usage", "input, output, cached, reasoning", map[string]field{
			"input": integer(&u.input, 0, most), "output": integer(&u.output, 0, most),
			"cached": integer(&u.cached, 0, most), "reasoning": integer(&u.reasoning, 0, most),
		})
	}
}

// A value is a JSON value whose strings are templates.
type value struct {
	kind byte // { [ " or 0 for literal
	// literal is the JSON of a number, true, false or null.
	literal string
	text    template
	keys    []string
	items   []value
}

func parseValue(n *yamltree.Node, depth int) (value, error) {
	if depth > maxDepth {
		return value{}, errAt(n.Pos, "this is nested too deeply; at most %d levels", maxDepth)
	}
	switch n.Kind {
	case yamltree.Null, yamltree.Bool:
		return value{literal: n.Scalar}, nil
	case yamltree.Int, yamltree.Float:
		if !isJSONNumber(n.Written) {
			return value{}, errAt(n.Pos, "write the number %s as JSON does, or in quotes if it is a text", n.Written)
		}
		return value{literal: n.Written}, nil
	case yamltree.Text:
		v := value{kind: '"'}
		return v, templated(&v.text)(n)
	case yamltree.List:
		v := value{kind: '['}
		for _, item := range n.Items {
			parsed, err := parseValue(item, depth+1)
			if err != nil {
				return v, err
			}
			v.items = append(v.items, parsed)
		}
		return v, nil
	}
	v := value{kind: '{'}
	for _, e := range n.Entries {
		parsed, err := parseValue(e.Value, depth+1)
		if err != nil {
			return v, err
		}
		v.keys, v.items = append(v.keys, e.Key), append(v.items, parsed)
	}
	return v, nil
}
