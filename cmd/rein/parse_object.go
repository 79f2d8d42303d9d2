package main

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/parse"
	"rein.example/rein/schema"
)

// parsedObject is what rein parse prints of a text. The help of the command
// says what its members are.
type parsedObject struct {
	Format     string          `json:"format"`
	Calls      []parsedCall    `json:"calls"`
	Content    string          `json:"content"`
	Reasoning  string          `json:"reasoning"`
	Repairs    []parsedRepair  `json:"repairs"`
	Incomplete bool            `json:"incomplete"`
	Problems   []parsedProblem `json:"problems"`
	Notes      []string        `json:"notes"`
}

type parsedCall struct {
	ID   string         `json:"id"`
	Name string         `json:"name"`
	Args jsontext.Value `json:"arguments"`
}

// parsedRepair is one change; Call is the id of the call that it was made to.
type parsedRepair struct {
	Kind  string `json:"kind"`
	Lossy bool   `json:"lossy"`
	Call  string `json:"call"`
	Where string `json:"where"`
}

// parsedProblem is what would be told to the model. Call, Name and Raw are null
// where no single call is meant.
type parsedProblem struct {
	Problem string  `json:"problem"`
	Message string  `json:"message"`
	Call    *string `json:"call"`
	Name    *string `json:"name"`
	// Raw is what stands in the text for the arguments.
	Raw *string `json:"raw"`
}

// Problems beside those of package parse.
const (
	// problemUnreadable: what looks like an attempt to call cannot be read as one.
	problemUnreadable = "unreadable"
	// problemUnknownTool: the list of tools has none of that name.
	problemUnknownTool = "unknown_tool"
	// problemArguments: the arguments do not fit the tool's parameters.
	problemArguments = "invalid_arguments"
	// problemLine: a line of a batch is not of the form that is wanted.
	problemLine = "bad_line"
)

// anyObject stands for the parameters of a tool that declares none.
var anyObject = func() *schema.Schema {
	s, err := schema.Compile([]byte(`{"type":"object"}`))
	if err != nil {
		panic(err)
	}
	return s
}()

func emptyObject() *parsedObject {
	return &parsedObject{Calls: []parsedCall{}, Repairs: []parsedRepair{}, Problems: []parsedProblem{}, Notes: []string{}}
}

func newParsedObject(r *parse.Result, tools *toolList) *parsedObject {
	o := emptyObject()
	o.Format, o.Content, o.Reasoning, o.Incomplete = r.Format, r.Text, r.Reasoning, r.Cut
	o.Notes = append(o.Notes, r.Notes...)
	if tools != nil {
		o.Notes = append(o.Notes, tools.notes...)
	}
	for _, p := range r.Problems {
		o.Problems = append(o.Problems, parsedProblem{Problem: problemUnreadable, Message: p})
	}
	for i := range r.Calls {
		o.call(&r.Calls[i], tools)
	}
	return o
}

// call adds one call as far as it would get in a run.
func (o *parsedObject) call(c *event.ParsedCall, tools *toolList) {
	for _, r := range c.Repairs {
		o.Repairs = append(o.Repairs, parsedRepair{r.Kind, r.Lossy, c.ID, r.Where})
	}
	if c.Problem != "" {
		why, hint := parse.Explain(c)
		o.problem(c, c.Problem, why+" "+hint)
		return
	}
	params := anyObject
	if t := tools.find(c.Name); t != nil && t.Params != nil {
		params = t.Params
	} else if t == nil && tools != nil {
		why := "there is no tool " + c.Name
		if near := tools.nearest(c.Name); len(near) > 0 {
			why += "; the nearest: " + strings.Join(near, ", ")
		}
		o.problem(c, problemUnknownTool, why)
	}
	args, repairs, problems := params.Check([]byte(c.Args))
	if len(problems) > 0 {
		o.problem(c, problemArguments, schema.Text(problems))
		args = []byte(c.Args)
		if c.Args[0] == '"' {
			args = object(args)
		}
	}
	for _, r := range repairs {
		o.Repairs = append(o.Repairs, parsedRepair{r.Kind, r.Lossy, c.ID, r.Where})
	}
	if len(repairs) == 0 && c.Args[0] == '{' {
		args = []byte(c.Args) // as it was written
	}
	o.Calls = append(o.Calls, parsedCall{c.ID, c.Name, args})
}

// object returns the object that a string of JSON holds.
func object(text []byte) []byte {
	args, _, problems := anyObject.Check(text)
	if len(problems) > 0 {
		return text
	}
	return args
}

func (o *parsedObject) problem(c *event.ParsedCall, problem, why string) {
	o.Problems = append(o.Problems, parsedProblem{problem, why, &c.ID, &c.Name, &c.Args})
}

// text returns the object for people.
func (o *parsedObject) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "format: %s\n", o.Format)
	for _, c := range o.Calls {
		fmt.Fprintf(&b, "call %s: %s %s\n", c.ID, c.Name, c.Args)
		for _, r := range o.Repairs {
			if r.Call == c.ID {
				fmt.Fprintf(&b, "  %s\n", r.text())
			}
		}
	}
	for _, p := range o.Problems {
		p.text(&b)
	}
	for _, n := range o.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	block(&b, "reasoning", o.Reasoning)
	block(&b, "content", o.Content)
	return b.String()
}

func (r *parsedRepair) text() string {
	s := "mended: " + strings.ReplaceAll(r.Kind, "_", " ")
	if r.Where != "" {
		s += " at " + r.Where
	}
	if r.Lossy {
		s += " (something was lost)"
	}
	return s
}

func (p *parsedProblem) text(b *strings.Builder) {
	fmt.Fprintf(b, "problem: %s", strings.ReplaceAll(p.Problem, "_", " "))
	if p.Call != nil {
		fmt.Fprintf(b, ", call %s of %q", *p.Call, *p.Name)
	}
	b.WriteString("\n")
	indented(b, p.Message)
	if p.Raw != nil && p.Problem != problemUnknownTool {
		b.WriteString("  as it stands:\n")
		lines(b, *p.Raw)
	}
}

// block writes a text below a title, unless it is empty.
func block(b *strings.Builder, title, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	fmt.Fprintf(b, "%s:\n", title)
	lines(b, text)
}

func lines(b *strings.Builder, text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString("  | " + line + "\n")
	}
}

func indented(b *strings.Builder, text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString("  " + line + "\n")
	}
}
