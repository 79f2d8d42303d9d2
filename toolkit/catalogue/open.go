package catalogue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"rein.example/rein/schema"
	"rein.example/rein/tool"
)

type openArgs struct {
	Group  string   `json:"group,omitempty" jsonschema:"the group to open: every tool of it with its schema"`
	Tools  []string `json:"tools,omitempty" jsonschema:"names of tools to open" schema:"maxItems=20"`
	Search string   `json:"search,omitempty" jsonschema:"words to look for in names and documents, such as refund payment" schema:"maxLength=200"`
}

const (
	// maxOpened is how many of what a search finds are shown with their schemas,
	// maxFound how many at all.
	maxOpened = 3
	maxFound  = 15
)

// open shows what is asked for; without arguments, every group with a line for
// each tool.
func (c *catalogue) open(_ context.Context, in openArgs) (string, error) {
	asked := 0
	for _, given := range []bool{in.Group != "", len(in.Tools) > 0, in.Search != ""} {
		if given {
			asked++
		}
	}
	switch {
	case asked > 1:
		return "", &tool.Error{Type: "invalid_arguments", Message: "group, tools and search were given together", Hint: "give one of them", NoEffect: true}
	case in.Group != "":
		return c.openGroup(in.Group)
	case len(in.Tools) > 0:
		return c.openNamed(in.Tools)
	case in.Search != "":
		return c.search(in.Search), nil
	}
	return c.all(), nil
}

func (c *catalogue) all() string {
	var b strings.Builder
	for _, g := range c.groups {
		tools := c.of(g)
		fmt.Fprintf(&b, "%s (%s):\n", g, plural(len(tools)))
		for _, e := range tools {
			e.oneLine(&b)
		}
	}
	b.WriteString("Open a group, or name the tools that you need, to be shown their arguments.")
	return b.String()
}

func (c *catalogue) openGroup(name string) (string, error) {
	tools := c.of(name)
	if len(tools) == 0 {
		return "", c.notFound("group", name, c.groups)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The group %s has %s. Call one with %s.\n", name, plural(len(tools)), tool.CallTool)
	for _, e := range tools {
		e.whole(&b)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func (c *catalogue) openNamed(names []string) (string, error) {
	var b strings.Builder
	for _, name := range names {
		i, ok := slices.BinarySearchFunc(c.entries, name, func(e entry, name string) int { return cmp.Compare(e.Name, name) })
		if !ok {
			all := make([]string, len(c.entries))
			for k := range c.entries {
				all[k] = c.entries[k].Name
			}
			return "", c.notFound("tool", name, all)
		}
		c.entries[i].whole(&b)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// notFound is the error for a name that there is not.
func (c *catalogue) notFound(what, name string, names []string) error {
	hint := ""
	if near := schema.Nearest(name, names); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "? "
	}
	return &tool.Error{Type: "not_found", Message: fmt.Sprintf("there is no %s %q in the catalogue", what, name),
		Hint: hint + c.summary() + " Search, or open one of them.", NoEffect: true}
}

func (c *catalogue) search(text string) string {
	found := c.rank(text)
	if len(found) == 0 {
		return fmt.Sprintf("Nothing found for %q. %s Try other words, or open a group.", text, c.summary())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s found, the likeliest first. Call one with %s.\n", plural(len(found)), tool.CallTool)
	for i, e := range found[:min(len(found), maxFound)] {
		if i < maxOpened {
			e.whole(&b)
			continue
		}
		if i == maxOpened {
			b.WriteString("Less likely, to be opened by name:\n")
		}
		e.oneLine(&b)
	}
	if more := len(found) - maxFound; more > 0 {
		fmt.Fprintf(&b, "%d more are not shown: add a word to narrow the search.", more)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// What a word is worth where it is found. A match of all of a word of the name
// says most; the beginning of a word counts less, since words are bent.
const (
	inName, beginsName, inGroup, inText, beginsText = 16, 8, 6, 4, 2
	// minStem is the least of a word that may stand for its beginning.
	minStem = 4
)

// rank returns the tools in which something of the text is found: first those
// with more of its words, then those where they weigh more, then by name.
func (c *catalogue) rank(text string) []*entry {
	type hit struct {
		*entry
		words, weight int
	}
	terms := words(text)
	var hits []hit
	for i := range c.entries {
		h := hit{entry: &c.entries[i]}
		for _, t := range terms {
			if w := h.weigh(t); w > 0 {
				h.words++
				h.weight += w
			}
		}
		if h.words > 0 {
			hits = append(hits, h)
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.words, a.words), cmp.Compare(b.weight, a.weight), cmp.Compare(a.Name, b.Name))
	})
	out := make([]*entry, len(hits))
	for i := range hits {
		out[i] = hits[i].entry
	}
	return out
}

// weigh returns how much a word says for the tool.
func (e *entry) weigh(term string) int {
	switch {
	case slices.Contains(e.name, term):
		return inName
	case slices.ContainsFunc(e.name, func(w string) bool { return stem(w, term) }):
		return beginsName
	case slices.Contains(words(e.Group), term):
		return inGroup
	case slices.Contains(e.words, term):
		return inText
	case slices.ContainsFunc(e.words, func(w string) bool { return stem(w, term) }):
		return beginsText
	}
	return 0
}

// stem reports whether the shorter of two words begins the longer.
func stem(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) >= minStem && strings.HasPrefix(b, a)
}

// words returns the words of a text in lower case, each once, in order. Words
// that stand in every document say nothing and are left out.
func words(text string) []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !seen[w] && !slices.Contains(empty, w) {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}

var empty = []string{"a", "an", "and", "for", "in", "is", "it", "of", "on", "or", "that", "the", "to", "tool", "use", "when", "with"}

// oneLine writes name and first sentence.
func (e *entry) oneLine(b *strings.Builder) {
	fmt.Fprintf(b, "- %s: %s\n", e.Name, e.line)
}

// whole writes what is needed to call the tool.
func (e *entry) whole(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s (%s)\n%s\nArguments: %s\n", e.Name, e.Effect, e.Description, e.Schema)
}

func plural(n int) string {
	if n == 1 {
		return "1 tool"
	}
	return fmt.Sprintf("%d tools", n)
}
