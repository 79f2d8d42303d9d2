package tool

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/schema"
)

// What a definition's zero values mean.
const (
	// DefaultTimeout bounds one execution.
	DefaultTimeout = 60 * time.Second
	// DefaultResultTokens bounds what a result shows, in tokens.
	DefaultResultTokens = 2000
)

// maxName is the longest name of a tool: what every wire takes.
const maxName = 64

// check returns what is wrong with a definition.
func (d *Definition) check() error {
	if !validName(d.Name) {
		return fmt.Errorf("tool name %q is not of the form [a-zA-Z0-9_-]{1,%d}", d.Name, maxName)
	}
	s, err := schema.Compile(d.Schema)
	if err != nil {
		return fmt.Errorf("tool %s: arguments: %w", d.Name, err)
	}
	if !s.Object() {
		return fmt.Errorf(`tool %s: arguments: the schema must have "type": "object"`, d.Name)
	}
	switch d.Effect {
	case "", event.Read, event.Repeatable, event.Once:
	default:
		return fmt.Errorf("tool %s: effect %q is not read, repeatable or once", d.Name, d.Effect)
	}
	if d.Timeout < 0 || d.ResultTokens < 0 || d.MaxCalls < 0 {
		return fmt.Errorf("tool %s: a limit is negative", d.Name)
	}
	if err := checkShow(&d.Show); err != nil {
		return fmt.Errorf("tool %s: show: %w", d.Name, err)
	}
	if len(d.Output) > 0 {
		if _, err := schema.Compile(d.Output); err != nil && !errors.Is(err, schema.ErrUnsupported) {
			return fmt.Errorf("tool %s: output: %w", d.Name, err)
		}
	}
	if d.Confirm == d.Name && d.Name != "" {
		return fmt.Errorf("tool %s confirms itself: name a tool that only reads", d.Name)
	}
	for _, list := range [][]string{d.KeyFields, d.Resources} {
		for _, name := range list {
			if !s.Has(name) {
				return fmt.Errorf("tool %s: %q is not a member of its arguments", d.Name, name)
			}
		}
	}
	return nil
}

// checkShow returns what is wrong with how results are to be shown.
func checkShow(s *event.ShowSpec) error {
	if s.Limit < 0 || s.Field < 0 {
		return errors.New("a limit is negative")
	}
	for _, word := range s.Noise {
		if !slices.Contains(noises, word) {
			return fmt.Errorf("noise %q is not one of %s", word, strings.Join(noises, ", "))
		}
	}
	return nil
}

func validName(name string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	for _, c := range []byte(name) {
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func (d *Definition) spec() event.ToolSpec {
	limit := cmp.Or(d.Timeout, DefaultTimeout)
	if d.Agent != "" {
		limit = d.Timeout
	}
	return event.ToolSpec{
		Name: d.Name, Description: d.Description(), Schema: d.Schema, Effect: cmp.Or(d.Effect, event.Once),
		Timeout:      limit.Milliseconds(),
		ResultTokens: int64(cmp.Or(d.ResultTokens, DefaultResultTokens)),
		Confirm:      d.Confirm, KeyFields: d.KeyFields, Resources: d.Resources,
		Polling: d.Polling, Harness: d.Harness, Sensitive: d.Sensitive,
		Group: d.Group, MaxCalls: int64(d.MaxCalls), Output: d.Output, Show: d.Show, Agent: d.Agent, Pin: d.Pin,
	}
}

// Description renders the document as the model reads it. That of a once tool
// ends with what to do after a timeout, or with what a repeat does.
func (d *Definition) Description() string {
	var parts []string
	for _, p := range []struct{ label, text string }{{"", d.Doc.What}, {"When to use it: ", d.Doc.When}, {"Returns: ", d.Doc.Returns}} {
		if text := strings.TrimSpace(p.text); text != "" {
			parts = append(parts, p.label+text)
		}
	}
	if cmp.Or(d.Effect, event.Once) == event.Once && !d.Harness {
		if d.Agent != "" {
			parts = append(parts, "Do not repeat a call: the same task is carried out once, and a repeat is answered with what came of it.")
		} else if d.Confirm != "" {
			parts = append(parts, "After a timeout do not repeat the call; call "+d.Confirm+".")
		} else {
			parts = append(parts, "After a timeout do not repeat the call; find out by reading whether it took effect.")
		}
	}
	return strings.Join(parts, "\n")
}
