package tool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/internal/cut"
	"rein.example/rein/schema"
)

// Registry holds the tools of a run under unique names. It does not change
// after [NewRegistry] and is safe for concurrent use.
type Registry struct {
	tools []Tool // sorted by name
	names []string
	specs []event.ToolSpec
}

// NewRegistry puts tools together. It fails if two have the same name, or names
// that differ only in case or in _ for -, which a model mistakes for each other; a
// definition is wrong (see [Definition]), a schema is not one that
// [schema.Compile] reads, or a confirm tool is not among the tools or writes.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := &Registry{tools: slices.Clone(tools)}
	for i, t := range tools {
		if t == nil {
			return nil, fmt.Errorf("tool %d of %d is nil", i+1, len(tools))
		}
		if err := t.Definition().check(); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(r.tools, func(a, b Tool) int { return cmp.Compare(a.Definition().Name, b.Definition().Name) })
	for i, t := range r.tools {
		d := t.Definition()
		if i > 0 && r.names[i-1] == d.Name {
			other := r.tools[i-1].Definition()
			return nil, fmt.Errorf("two tools are named %s (%q and %q): leave one out or give it another name", d.Name, excerpt(other.Doc.What), excerpt(d.Doc.What))
		}
		r.names = append(r.names, d.Name)
		spec := d.spec()
		_, spec.Undo = t.(Undoer)
		r.specs = append(r.specs, spec)
	}
	folded := make(map[string]string, len(r.names)) // looked up only
	for _, name := range r.names {
		f := strings.ReplaceAll(strings.ToLower(name), "-", "_")
		if other, ok := folded[f]; ok {
			return nil, fmt.Errorf("two tools are named %s and %s, which a model mistakes for each other: leave one out or give it another name", other, name)
		}
		folded[f] = name
	}
	for _, t := range r.tools {
		d := t.Definition()
		if d.Confirm == "" {
			continue
		}
		c := r.Get(d.Confirm)
		if c == nil {
			return nil, fmt.Errorf("tool %s is confirmed by %s, which is not among the tools: add it", d.Name, d.Confirm)
		}
		if c.Definition().Effect != event.Read {
			return nil, fmt.Errorf("tool %s is confirmed by %s, which does not declare that it only reads: name one whose effect is read", d.Name, d.Confirm)
		}
	}
	return r, nil
}

// Get returns the tool of that name, or nil.
func (r *Registry) Get(name string) Tool {
	if i, ok := slices.BinarySearch(r.names, name); ok {
		return r.tools[i]
	}
	return nil
}

// Names returns the names, sorted. The slice must not be changed.
func (r *Registry) Names() []string { return r.names }

// Nearest returns the names that look like name, the likeliest first, at most 3.
func (r *Registry) Nearest(name string) []string { return schema.Nearest(name, r.names) }

// Specs returns the tools as the model and the machine see them, sorted by
// name, with defaults filled in and the document rendered.
func (r *Registry) Specs() []event.ToolSpec { return slices.Clone(r.specs) }

// excerpt returns the beginning of a text for a message.
func excerpt(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return s[:cut.Down(s, most)] + "…"
}
