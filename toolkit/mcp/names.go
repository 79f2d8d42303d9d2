package mcp

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"rein.example/rein/event"
	"rein.example/rein/schema"
	"rein.example/rein/tool"
)

// maxName is the longest name of a tool.
const maxName = 64

// offer makes tools of those that the server lists and the options allow.
func (s *Server) offer(listed []*mcp.Tool) ([]tool.Tool, error) {
	byName := map[string]*mcp.Tool{}
	for _, t := range listed {
		if byName[t.Name] != nil {
			return nil, fmt.Errorf("it lists two tools that are both called %q", t.Name)
		}
		byName[t.Name] = t
	}
	names := slices.Sorted(maps.Keys(byName))
	if err := s.known(names); err != nil {
		return nil, err
	}
	var out []tool.Tool
	given := map[string]string{} // the server's name by the folded one here
	for _, name := range names {
		if len(s.o.Allow) > 0 && !matchesAny(s.o.Allow, name) {
			continue
		}
		t, err := s.tool(byName[name])
		if err != nil {
			if slices.Contains(s.o.Allow, name) {
				return nil, fmt.Errorf("its tool %s cannot be used: %w", name, err)
			}
			s.log.Warn("a tool is left out", slog.String("tool", name), slog.Any("err", err))
			continue
		}
		folded := fold(t.def.Name)
		if other, ok := given[folded]; ok {
			return nil, fmt.Errorf("its tools %q and %q would both be called %s here: give one of them another name (alias)", other, name, t.def.Name)
		}
		given[folded] = name
		out = append(out, t)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("none of its %d tools can be offered", len(listed))
	}
	slices.SortFunc(out, func(a, b tool.Tool) int { return cmp.Compare(a.Definition().Name, b.Definition().Name) })
	return out, nil
}

// known refuses options for tools that the server does not have: a slip there
// would leave a tool with another effect, or offered, than its owner believes.
func (s *Server) known(names []string) error {
	for _, list := range []struct {
		option string
		names  []string
	}{
		{"allow", s.o.Allow}, {"effects", slices.Sorted(maps.Keys(s.o.Effects))},
		{"confirm", slices.Sorted(maps.Keys(s.o.Confirm))}, {"alias", slices.Sorted(maps.Keys(s.o.Alias))},
	} {
		for _, name := range list.names {
			patterns := list.option == "allow" || list.option == "effects"
			if slices.Contains(names, name) || patterns && slices.ContainsFunc(names, func(n string) bool { return matches(name, n) }) {
				continue
			}
			err := fmt.Errorf("%s: it has no tool %q; its tools: %s", list.option, name, strings.Join(names, ", "))
			if near := schema.Nearest(name, names); len(near) > 0 {
				err = fmt.Errorf("%s: it has no tool %q; did you mean %s?", list.option, name, strings.Join(near, " or "))
			}
			return err
		}
	}
	return nil
}

// name returns what a tool of the server is called here.
func (s *Server) name(remote string) string {
	if alias := s.o.Alias[remote]; alias != "" {
		return alias
	}
	name := remote
	if s.o.Name != "" {
		name = s.o.Name + "_" + remote
	}
	return usable(name)
}

// usable makes a name of what every wire takes: other characters become _, and of
// a long one the end becomes a hash.
func usable(name string) string {
	var b strings.Builder
	for _, c := range name {
		if c < 0x80 && (c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			b.WriteRune(c)
		} else {
			b.WriteByte('_')
		}
	}
	out := b.String()
	if len(out) > maxName {
		sum := sha256.Sum256([]byte(name))
		out = out[:maxName-9] + "_" + hex.EncodeToString(sum[:4])
	}
	return out
}

// fold makes names equal that a model would mistake for each other.
func fold(name string) string { return strings.ReplaceAll(strings.ToLower(name), "-", "_") }

// effect returns what a tool may change: what the options say, else its
// annotations. Whatever these leave open, or contradict themselves in, is once.
func (s *Server) effect(t *mcp.Tool) event.Effect {
	if e, ok := s.o.Effects[t.Name]; ok {
		return e
	}
	strictest := event.Effect("")
	for pattern, e := range s.o.Effects {
		if matches(pattern, t.Name) && rank(e) > rank(strictest) {
			strictest = e
		}
	}
	if strictest != "" {
		return strictest
	}
	switch a := t.Annotations; {
	case a == nil:
		return event.Once
	case a.ReadOnlyHint && (a.DestructiveHint == nil || !*a.DestructiveHint):
		return event.Read
	case a.IdempotentHint && !a.ReadOnlyHint:
		return event.Repeatable
	}
	return event.Once
}

func rank(e event.Effect) int {
	return slices.Index([]event.Effect{"", event.Read, event.Repeatable, event.Once}, e)
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, name) })
}

// matches reports whether a name matches a pattern, in which * stands for any
// text.
func matches(pattern, name string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, head)
	if !ok {
		return false
	}
	for {
		part, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(name, part)
		}
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name, rest = name[i+len(part):], after
	}
}
