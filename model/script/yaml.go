package script

import (
	"errors"
	"fmt"
	"time"

	"rein.example/rein/internal/yamltree"
)

// parseYAML returns the root of the one document in data. What it says is read by
// hand rather than decoded into structs, so that every error has a place.
func parseYAML(data []byte) (*yamltree.Node, error) {
	root, err := yamltree.Parse(data, yamltree.Limits{Bytes: maxBytes, Depth: maxLevels})
	if e := (*yamltree.Error)(nil); errors.As(err, &e) {
		return nil, errAt(e.Pos, "%s", e.Message)
	}
	if root.Kind == yamltree.Null {
		return nil, &ParseError{Message: "the file is empty; begin with turns:"}
	}
	return root, nil
}

func errAt(p yamltree.Pos, format string, args ...any) error {
	return &ParseError{Line: p.Line, Column: p.Column, Message: fmt.Sprintf(format, args...)}
}

// A mapping is a node that is a YAML mapping.
type mapping struct{ *yamltree.Node }

// readMapping returns n as one; what says what n is meant to be.
func readMapping(n *yamltree.Node, what string) (*mapping, error) {
	if n.Kind != yamltree.Mapping {
		return nil, errAt(n.Pos, "%s is a mapping of names to values, not %s", what, n.Kind)
	}
	return &mapping{n}, nil
}

// A field reads the value of one key.
type field func(n *yamltree.Node) error

// readFields reads every entry of m by the field of its name. allowed lists the
// names for people, in the order of the documentation.
func (m *mapping) readFields(what, allowed string, fields map[string]field) error {
	for _, e := range m.Entries {
		read, ok := fields[e.Key]
		if !ok {
			return errAt(e.Pos, "%s has no %q; it takes %s", what, e.Key, allowed)
		}
		if e.Value.Kind == yamltree.Null {
			return errAt(e.Pos, "%s has no value", e.Key)
		}
		if err := read(e.Value); err != nil {
			return err
		}
	}
	return nil
}

// has returns the entry of a key, or nil.
func (m *mapping) has(key string) *yamltree.Entry {
	for i := range m.Entries {
		if m.Entries[i].Key == key {
			return &m.Entries[i]
		}
	}
	return nil
}

// text reads a text; numbers and the like count as the text they are written as.
func text(dst *string) field {
	return func(n *yamltree.Node) error {
		switch n.Kind {
		case yamltree.Null, yamltree.List, yamltree.Mapping:
			return errAt(n.Pos, "this is a text, not %s", n.Kind)
		}
		*dst = n.Written
		return nil
	}
}

// texts reads one text or a list of texts.
func texts(dst *[]string) field {
	return func(n *yamltree.Node) error {
		if n.Kind != yamltree.List {
			*dst = make([]string, 1)
			return text(&(*dst)[0])(n)
		}
		for _, v := range n.Items {
			var s string
			if err := text(&s)(v); err != nil {
				return err
			}
			*dst = append(*dst, s)
		}
		return nil
	}
}

func templated(dst *template) field {
	return func(n *yamltree.Node) error {
		var s string
		if err := text(&s)(n); err != nil {
			return err
		}
		t, err := parseTemplate(s)
		if err != nil {
			return errAt(n.Pos, "%v", err)
		}
		*dst = t
		return nil
	}
}

func integer(dst *int64, low, high int64) field {
	return func(n *yamltree.Node) error {
		i, err := parseInt(n.Written)
		if n.Kind != yamltree.Int || err != nil || i < low || i > high {
			return errAt(n.Pos, "this is a whole number from %d to %d", low, high)
		}
		*dst = i
		return nil
	}
}

func duration(dst *time.Duration) field {
	return func(n *yamltree.Node) error {
		d, err := time.ParseDuration(n.Written)
		if err != nil || d < 0 || d > maxDuration {
			return errAt(n.Pos, "this is a duration such as 20ms or 1.5s, at most %s", maxDuration)
		}
		*dst = d
		return nil
	}
}

func isTrue(dst *bool) field {
	return func(n *yamltree.Node) error {
		if n.Kind != yamltree.Bool || n.Scalar != "true" {
			return errAt(n.Pos, "this is true, or left out")
		}
		*dst = true
		return nil
	}
}
