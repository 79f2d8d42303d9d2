// Package catalogue answers: how does a model use more tools than a list should
// have?
//
// A model chooses badly from a long list, and pays for all of it in every
// request. Where tools have groups, requests offer only those without, and two
// more: open_tools lists the groups, searches them and shows what is needed to
// call a tool; call_tool calls it. The machine makes of that a call of the tool
// itself, which is checked, judged and journalled like any other.
package catalogue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

const (
	// MaxListed is the most tools that one list should have (DESIGN 3.4).
	MaxListed = 15
	// resultTokens bounds what open_tools shows: some ten tools with their schemas.
	resultTokens = 4000
	// maxNamed bounds the groups that the tool's own document names.
	maxNamed = 30
)

// Others is the group of what has no better one; see [Assign].
const Others = "others"

// Assign gives tools groups where there are more than [MaxListed], not counting
// the harness's, and none declares one: the first word of the name, such as
// github for github_list_issues, if more than one tool begins with it, else
// [Others]. Otherwise it changes nothing. It reports whether any tool has a group
// in the end.
func Assign(specs []event.ToolSpec) bool {
	n, first := 0, map[string]int{}
	for i := range specs {
		switch t := &specs[i]; {
		case t.Harness:
		case t.Group != "":
			return true
		default:
			n++
			first[firstWord(t.Name)]++
		}
	}
	if n <= MaxListed {
		return false
	}
	for i := range specs {
		t := &specs[i]
		if t.Harness {
			continue
		}
		if t.Group = firstWord(t.Name); first[t.Group] < 2 {
			t.Group = Others
		}
	}
	return true
}

func firstWord(name string) string {
	if i := strings.IndexAny(name, "_-"); i > 0 {
		return name[:i]
	}
	return name
}

// Tools returns open_tools and call_tool for those of the tools that have a
// group.
func Tools(specs []event.ToolSpec) []tool.Tool {
	c := newCatalogue(specs)
	open := tool.Doc{
		What: "Shows tools that are not in your list: the groups there are, a search, or what is needed to call them. " + c.summary(),
		When: "When no tool of your list does what the task needs: search for it in a word or two, or open the group. Not again for tools that you have been shown.",
		Returns: "Lines with a tool each, or each tool's document and the JSON Schema of its arguments; call it with " + tool.CallTool + ". " +
			"\"Nothing found\" names the groups there are.",
	}
	call := tool.Doc{
		What:    "Calls a tool that " + tool.OpenTools + " has shown. It is checked and carried out like a call of that tool.",
		When:    "Once you know the tool's schema. A tool of your own list is called by its name, not through this.",
		Returns: "What the tool returns.",
	}
	return []tool.Tool{
		tool.New(tool.OpenTools, open, c.open, &tool.Options{Effect: event.Read, Harness: true, ResultTokens: resultTokens}),
		tool.New(tool.CallTool, call, refuse, &tool.Options{Effect: event.Read, Harness: true}),
	}
}

type callArgs struct {
	Name      string         `json:"name" jsonschema:"the tool, as open_tools names it" schema:"minLength=1;maxLength=64"`
	Arguments map[string]any `json:"arguments,omitempty" jsonschema:"its arguments, an object of its own schema; left out: none"`
}

// refuse is what call_tool itself does: a call that names another tool never
// comes here.
func refuse(context.Context, callArgs) (*tool.Result, error) {
	return nil, &tool.Error{Type: "invalid_arguments", Message: "call_tool cannot call itself",
		Hint: "name the tool to call; open_tools shows what there is", NoEffect: true}
}

// catalogue are the tools that have a group.
type catalogue struct {
	entries []entry  // sorted by name
	groups  []string // sorted
}

// entry is one tool.
type entry struct {
	*event.ToolSpec
	line  string   // the first sentence of its document
	name  []string // the words of its name
	words []string // those of its document, each once
}

func newCatalogue(specs []event.ToolSpec) *catalogue {
	c := &catalogue{}
	for i := range specs {
		t := &specs[i]
		if t.Harness || t.Group == "" {
			continue
		}
		c.entries = append(c.entries, entry{t, firstSentence(t.Description), words(t.Name), words(t.Description)})
		c.groups = append(c.groups, t.Group)
	}
	slices.SortFunc(c.entries, func(a, b entry) int { return cmp.Compare(a.Name, b.Name) })
	slices.Sort(c.groups)
	c.groups = slices.Compact(c.groups)
	return c
}

// summary names the groups with how many tools they have.
func (c *catalogue) summary() string {
	var list []string
	for _, g := range c.groups[:min(len(c.groups), maxNamed)] {
		list = append(list, fmt.Sprintf("%s (%d)", g, len(c.of(g))))
	}
	if more := len(c.groups) - maxNamed; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return "Groups: " + strings.Join(list, ", ") + "."
}

// of returns the tools of a group.
func (c *catalogue) of(group string) []*entry {
	var out []*entry
	for i := range c.entries {
		if c.entries[i].Group == group {
			out = append(out, &c.entries[i])
		}
	}
	return out
}

// firstSentence returns the beginning of a document, in one line.
func firstSentence(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if i := strings.Index(line, ". "); i > 0 {
		line = line[:i+1]
	}
	const most = 160
	if r := []rune(line); len(r) > most {
		line = string(r[:most]) + "…"
	}
	return line
}
