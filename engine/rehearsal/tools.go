package rehearsal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/schema"
	"rein.example/rein/tool"
	"rein.example/rein/toolkit/artifact"
)

// anyObject is the schema of a tool that the recording does not declare.
const anyObject = `{"type":"object"}`

// reserve is the room for a reply beside the budget, in tokens. Without one the
// machine would take it from the budget.
const reserve = 1024

// spec returns the spec of the run that the script is played to.
func (s *Script) spec(cfg *Config) *event.Spec {
	spec := &event.Spec{Model: modelName, Tools: s.specs(cfg.Strategy != Everything), Chat: true, Window: cfg.Window,
		Permissions: []event.Permission{{Verdict: event.Allow, Match: "*"}},
		Calling:     []event.ModelCalling{{Model: modelName}}}
	for i, text := range s.system {
		name := "rules"
		if i > 0 {
			name = fmt.Sprintf("rules %d", i+1)
		}
		spec.System = append(spec.System, event.Block{Name: name, Text: text})
	}
	w := &spec.Window
	w.Strategy, w.Size, w.Reserve, w.Margin = cfg.Strategy, cfg.Budget+reserve, reserve, 1_000_000
	if cfg.Strategy == Everything {
		w.Strategy, w.Size = "", 0
	}
	return spec
}

// specs returns the tools of the recording: those that it declares, those that it
// calls without, and, if something may leave the context, the two with which a model
// reads that.
func (s *Script) specs(leaves bool) []event.ToolSpec {
	var out []event.ToolSpec
	known := map[string]bool{}
	add := func(t event.ToolSpec) {
		if !known[t.Name] {
			known[t.Name] = true
			out = append(out, t)
		}
	}
	for _, t := range s.tools {
		add(recorded(t.Name, t.Description, t.Schema))
	}
	for i := range s.items {
		for k := range s.items[i].Parts {
			if p := &s.items[i].Parts[k]; p.Kind == message.ToolCall {
				add(recorded(p.Name, "", nil))
			}
		}
	}
	if leaves {
		for _, t := range readers() {
			add(t)
		}
	}
	slices.SortFunc(out, func(a, b event.ToolSpec) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// readers returns the two tools with which a model reads what it is not shown.
func readers() []event.ToolSpec {
	r, err := tool.NewRegistry(artifact.Tool(), artifact.History())
	if err != nil {
		panic("two tools of the harness cannot be offered: " + err.Error()) // a fault of ours
	}
	return r.Specs()
}

// recorded returns the spec of a recorded tool. Recordings do not say what a call
// may change or works on; its name and the names of its arguments have to.
func recorded(name, description string, params jsontext.Value) event.ToolSpec {
	t := event.ToolSpec{Name: name, Description: description, Schema: usable(params), Effect: event.Repeatable,
		Resources: resourceArgs, Polling: true}
	if reads(name) {
		t.Effect = event.Read
	}
	return t
}

// usable returns a schema that can be compiled, in the place of one that is none.
func usable(v jsontext.Value) jsontext.Value {
	if v.Kind() == '{' {
		if _, err := schema.Compile(v); err == nil {
			return v
		}
	}
	return jsontext.Value(anyObject)
}

// resourceArgs are the arguments that name what a call works on.
var resourceArgs = []string{"path", "file_path", "filepath", "filename", "file"}

// readWords begin the names of tools that change nothing.
var readWords = []string{"read", "get", "list", "search", "find", "look", "view", "show", "cat", "grep", "glob", "ls", "open", "fetch", "query", "check",
	"calculate", "think", "scroll", "goto", "describe", "web"}

// reads reports whether a tool of that name changes nothing, as far as one can tell.
func reads(name string) bool {
	first, _, _ := strings.Cut(strings.ToLower(name), "_")
	for _, w := range readWords {
		if first == w || strings.HasPrefix(name, w) && len(name) > len(w) && name[len(w)] >= 'A' && name[len(w)] <= 'Z' {
			return true
		}
	}
	return false
}

// firstLine returns the line that a call begins to read at, 0 if it does not say.
func firstLine(args jsontext.Value) int64 {
	var in struct {
		Offset int64 `json:"offset"`
		From   int64 `json:"from"`
		Start  int64 `json:"start_line"`
	}
	if json.Unmarshal(args, &in) != nil {
		return 0
	}
	return max(in.Offset, in.From, in.Start, 0)
}

// versionOf names a version of a thing after so many writes.
func versionOf(name string, writes int) string { return fmt.Sprintf("%s@%d", name, writes) }
