package parse_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
	"rein.example/rein/internal/golden"
	"rein.example/rein/message"
	"rein.example/rein/parse"
)

//go:generate go test . -count=1 -run ^TestDialectsPage$ -update

// inputOf is the input of a text, with the tools of the test cases.
func inputOf(text string) parse.Input {
	m := message.NewText(message.Assistant, text)
	return parse.Input{Message: &m, Finish: event.FinishStop, Tools: tools, Base: "c7", TextCalls: true}
}

// exampleOf reads the example of a row; forced: with the word that it is of that
// row.
func exampleOf(d *dialect.Dialect, forced bool) parse.Result {
	in := inputOf(d.Example)
	if forced {
		in.Dialect = d.ID
	}
	return parse.Parse(in)
}

// Every row of the table has an example, and it is read as what it is.
func TestEveryExampleIsRead(t *testing.T) {
	for _, d := range dialect.All() {
		for _, forced := range []bool{false, true} {
			r := exampleOf(d, forced)
			if r.Format != d.ID || len(r.Calls) != 1 || r.Calls[0].Name != "read_file" || r.Calls[0].Args != `{"path":"a.txt"}` && r.Calls[0].Args != `{"path": "a.txt"}` ||
				r.Calls[0].Problem != "" || len(r.Problems) > 0 || len(r.Notes) > 0 || r.Text != "" || r.Reasoning != "" {
				t.Errorf("%s, forced %v, is read as\n%s\n\n%s", d.ID, forced, show(&r), d.Example)
			}
			for _, p := range r.Calls {
				if len(p.Repairs) > 0 {
					t.Errorf("%s, forced %v: the example needs repairs %v", d.ID, forced, p.Repairs)
				}
			}
		}
	}
}

// An example stays what it is with prose around it.
func TestEveryExampleStandsInProse(t *testing.T) {
	for _, d := range dialect.All() {
		r := parse.Parse(inputOf("Let me look.\n" + d.Example))
		if r.Format != d.ID || len(r.Calls) != 1 || r.Calls[0].Problem != "" || r.Text != "Let me look." {
			t.Errorf("%s after prose is read as\n%s\n\n%s", d.ID, show(&r), d.Example)
		}
	}
}

var rowID = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// What a row must be so that the scan finds it, and people understand it.
func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range dialect.All() {
		if !rowID.MatchString(d.ID) || seen[d.ID] || d.ID == parse.Native || d.ID == parse.JSON || d.ID == parse.JSONFence || d.ID == parse.Text {
			t.Errorf("%q is no id, or not the only one", d.ID)
		}
		seen[d.ID] = true
		if d.Models == "" || d.Grammar == "" || d.Arguments == "" || d.Example == "" {
			t.Errorf("%s has an empty field: %+v", d.ID, *d)
		}
		if len(d.Open) == 0 && len(d.Tags) == 0 && !d.Bare {
			t.Errorf("nothing begins %s", d.ID)
		}
		if d.Special && len(d.Open) == 0 {
			t.Errorf("%s has no opener that could be special", d.ID)
		}
		for what, list := range map[string][]string{"opener": d.Open, "tag": d.Tags, "closer": d.Close, "wrapper": d.Wrap} {
			for i, s := range list {
				if s == "" || strings.TrimSpace(s) != s || slices.Contains(list[:i], s) {
					t.Errorf("%s has the %s %q, which is blank, has blanks around it, or stands twice", d.ID, what, s)
				}
				if what != "tag" && !strings.ContainsAny(s, "<[]") {
					t.Errorf("the %s %q of %s has nothing to be found by", what, s, d.ID)
				}
				if slices.ContainsFunc(dialect.Thinking(), func(m dialect.Span) bool { return s == m.Open || s == m.Close }) && what != "closer" {
					t.Errorf("the %s %q of %s marks reasoning", what, s, d.ID)
				}
				if what == "opener" && slices.Contains(d.Close, s) {
					t.Errorf("%q both opens and closes %s", s, d.ID)
				}
			}
		}
		if found, ok := dialect.Find(d.ID); !ok || found != d {
			t.Errorf("%s is not found by its id", d.ID)
		}
	}
	for _, name := range dialect.Promptable() {
		if _, ok := dialect.Find(name); !ok {
			t.Errorf("what can be asked for as %s is not in the table", name)
		}
	}
}

const dialectsPreface = `# Dialects

<!-- Made from the table in package dialect by make generate; do not edit. -->

How models write tool calls in plain text, and what Rein makes of it. A server normally turns these texts into tool calls of its own wire; where it does not, or fails to, the text is read here. Nothing needs
to be set: the dialect is recognised, also where a reply mixes several. ` + "`rein parse`" + ` shows what is made of a text.

What nothing marks as a call (bare or fenced JSON, Python calls, elements named after tools, labelled lines) counts only if it names a tool that the request offered, and not where it stands in an answer as an example.
A value that is cut off is never completed: such a call does not run, and the model is told.

| dialect | models | a call begins with | arguments |
|---|---|---|---|
`

// The page for people is made from the table that texts are read by, and each
// example on it is read on the way.
func TestDialectsPage(t *testing.T) {
	const file = "../docs/dialects.md"
	golden.Check(t, file, dialectsPage(), *update, "run make generate")
}

func dialectsPage() []byte {
	out := bytes.NewBufferString(dialectsPreface)
	for _, d := range dialect.All() {
		fmt.Fprintf(out, "| [%s](#%s) | %s | %s | %s |\n", d.ID, d.ID, tableCell(d.Models), begins(d), tableCell(d.Arguments))
	}
	out.WriteString("\nFor models without tool calls of their own, calls can be asked for in the prompt as " +
		strings.Join(dialect.Promptable(), ", ") + ".\n")
	for _, d := range dialect.All() {
		r := exampleOf(d, false)
		also := ""
		if len(d.Also) > 0 {
			also = " Also called " + strings.Join(d.Also, ", ") + "."
		}
		fmt.Fprintf(out, "\n## %s\n\n%s. Arguments: %s.%s%s\n\n", d.ID, d.Models, plainText(d.Arguments), thinks(d), also)
		mark := strings.Repeat("`", 4)
		fmt.Fprintf(out, "%stext\n%s\n%s\n\n", mark, strings.TrimRight(d.Example, "\n"), mark)
		for _, c := range r.Calls {
			fmt.Fprintf(out, "This is a call of `%s` with `%s`.\n", c.Name, c.Args)
		}
	}
	return out.Bytes()
}

// begins shows what begins a call, as the model's template has it.
func begins(d *dialect.Dialect) string {
	var out []string
	switch {
	case len(d.Open) > 0:
		out = append(out, tableCode(d.Open[0]))
	case len(d.Tags) > 0:
		out = append(out, tableCode("<"+d.Tags[0]+">"))
	}
	if d.Bare {
		out = append(out, "nothing")
	}
	return strings.Join(out, " or ")
}

func thinks(d *dialect.Dialect) string {
	var out []string
	for _, s := range d.Think {
		out = append(out, "`"+s.Open+"` … `"+s.Close+"`")
	}
	if out == nil {
		return ""
	}
	return " Reasoning: " + strings.Join(out, " or ") + "."
}

func tableCell(s string) string { return strings.ReplaceAll(plainText(s), "|", `\|`) }

func tableCode(s string) string { return "`" + strings.ReplaceAll(s, "|", `\|`) + "`" }

// plainText keeps Markdown from taking words between angle brackets for HTML.
func plainText(s string) string { return strings.ReplaceAll(s, "<", "&lt;") }
