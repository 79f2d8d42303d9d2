package lint

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// maxDocument is more than a document needs, in tokens: a hundred words each for
// four parts.
const maxDocument = 600

// tool checks one tool. What comes from another process is somebody else's to
// write, so that what is missing there is a hint.
func (c *checker) tool(d *tool.Definition) {
	about, missing := "tool "+d.Name, Warning
	if d.Pin != "" {
		missing = Hint
	}
	doc := d.Doc
	switch {
	case strings.TrimSpace(doc.What) == "":
		c.add(Error, about, "what", "it does not say what it does", "say in one or two sentences what it does")
	case len(words(doc.What)) < 3:
		c.add(missing, about, "what", "it hardly says what it does: "+quote(doc.What), "say in one or two sentences what it does, and to what")
	}
	c.when(d, about, missing)
	c.returns(d, about, missing)
	c.parameters(about, d.Schema, missing)
	for _, p := range []struct{ part, text string }{{"what", doc.What}, {"when", doc.When}, {"returns", doc.Returns}} {
		c.vague(about, p.part, p.text)
	}
	if n := c.Counter.Count(d.Description()); n > maxDocument {
		c.add(Hint, about, "", fmt.Sprintf("its document has %d tokens, which every request pays for", n), "keep what decides whether and how to call it, and cut the rest")
	}
	c.name(d, about)
	c.effect(d, about)
	c.setup(d, about)
}

// when checks the second part: when to use it, and when not.
func (c *checker) when(d *tool.Definition, about string, missing Level) {
	text := d.Doc.When
	sentences := split(text)
	negative := 0
	for _, s := range sentences {
		if startsNegative(s) {
			negative++
		}
	}
	switch {
	case len(sentences) == 0:
		c.add(missing, about, "when", "it does not say when to use it, and when not", "add both: for what it is the right tool, and for what another one is")
	case negative == len(sentences):
		c.add(Warning, about, "when", "it says only when not to use it", "say first, in the positive, when to use it")
	case !anyOf(text, "not", "never", "don t", "instead", "only", "unless", "except", "rather") && !strings.Contains(text, "_"):
		// To name another tool says it as well: "for new files use write_file".
		c.add(Hint, about, "when", "it does not say when not to use it", "name the case that is likeliest to be mistaken for its own, and the tool for that")
	}
}

// returns checks the last part.
func (c *checker) returns(d *tool.Definition, about string, missing Level) {
	text := d.Doc.Returns
	if strings.TrimSpace(text) == "" {
		c.add(missing, about, "returns", "it does not say what it returns", "describe the result, what \"nothing found\" looks like, and which result means that no further call is needed")
		return
	}
	if d.Effect == event.Read && !anyOf(text, "nothing", "empty", "no", "none", "not", "null", "zero", "without", "missing", "error") {
		c.add(Hint, about, "returns", "it does not say what \"nothing found\" looks like", "say it, or a model takes an empty result for a failure and calls again")
	}
	if d.Effect.Writes() && !anyOf(text, "no", "nothing", "not", "enough", "done", "complete", "finished", "further") {
		c.add(Hint, about, "returns", "it does not say which result means that no further call is needed", "say by which words of the result it is done")
	}
}

// maxDepth bounds how deep parameters are looked at.
const maxDepth = 5

// parameters checks that every argument says what it means.
func (c *checker) parameters(about string, schema jsontext.Value, missing Level) {
	c.members(about, "", schema, missing, maxDepth)
}

func (c *checker) members(about, path string, schema jsontext.Value, missing Level, depth int) {
	var s struct {
		Properties map[string]jsontext.Value `json:"properties"`
		Items      jsontext.Value            `json:"items"`
	}
	if depth == 0 || json.Unmarshal(schema, &s, json.MatchCaseInsensitiveNames(false)) != nil {
		return
	}
	for _, name := range sorted(s.Properties) {
		var p struct {
			Description string         `json:"description"`
			Type        jsontext.Value `json:"type"`
			Const       jsontext.Value `json:"const"`
			Enum        jsontext.Value `json:"enum"`
			Ref         string         `json:"$ref"`
			AnyOf       jsontext.Value `json:"anyOf"`
			OneOf       jsontext.Value `json:"oneOf"`
			AllOf       jsontext.Value `json:"allOf"`
		}
		if json.Unmarshal(s.Properties[name], &p) != nil {
			continue // true or false
		}
		at := "parameter " + path + name
		switch {
		case strings.TrimSpace(p.Description) == "":
			c.add(missing, about, at, "it has no description", "say what it means, in which form, and give an example")
		case strings.Join(words(p.Description), " ") == strings.Join(words(name), " "):
			c.add(missing, about, at, "its description only repeats its name", "say what it means, in which form, and give an example")
		default:
			c.vague(about, at, p.Description)
		}
		if len(p.Type)+len(p.Const)+len(p.Enum)+len(p.Ref)+len(p.AnyOf)+len(p.OneOf)+len(p.AllOf) == 0 {
			c.add(Hint, about, at, "it declares no type, so anything passes", "declare its type, and its range or its values")
		}
		c.members(about, path+name+".", s.Properties[name], missing, depth-1)
	}
	if len(s.Items) > 0 {
		c.members(about, path, s.Items, missing, depth-1)
	}
}

// vagueWords say nothing that a model could act on.
var vagueWords = []string{"etc", "and so on", "and the like", "as needed", "as appropriate", "when appropriate", "if appropriate",
	"if necessary", "where necessary", "some kind of", "various", "stuff", "things", "miscellaneous", "whatever", "properly", "handles data", "processes data"}

func (c *checker) vague(about, part, text string) {
	for _, w := range vagueWords {
		if anyOf(text, w) {
			c.add(Hint, about, part, quote(w)+" leaves open what is meant", "name what it stands for")
		}
	}
}

// effect checks what is declared of what the tool does.
func (c *checker) effect(d *tool.Definition, about string) {
	switch {
	case d.Effect == "":
		c.add(Warning, about, "effect", "it declares no effect, and so counts as once: never tried again, and asked about", "declare read, repeatable or once")
	case d.Effect == event.Once && d.Confirm == "":
		c.add(Warning, about, "confirm", "when its answer is lost, nobody can find out whether it took effect", `name a reading tool that answers {"done": true} or {"done": false}, or make it repeatable with an idempotency key`)
	}
}
