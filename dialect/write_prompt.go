package dialect

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// exampleArgs are those of the worked call: what has to be escaped in a string,
// and a number.
const exampleArgs = `{"text": "She said \"yes\".\nThen she left.", "copies": 2}`

// Convention appends the list of tools and how to call them, for the end of the
// system text. Without tools it appends nothing. Besides the tools' own
// definitions it has less than 2,000 bytes.
//
// The worked call is one of a tool that does not exist, and says so. Small models
// copy what an example holds: a real tool's name with values out of an example
// would be carried out, while a call of a tool that there is not is refused, with
// the names of those that there are. The result says nothing that could pass for
// one: one of 0.5 billion parameters gave it back as its own in 5 of 20 runs.
func (w *Writer) Convention(dst []byte, tools []Tool) []byte {
	if len(tools) == 0 {
		return dst
	}
	dst = append(dst, "# Tools\n\nThese are your tools, described as JSON, one a line:\n<tools>\n"...)
	for i := range tools {
		dst = append(w.tool(dst, &tools[i]), '\n')
	}
	dst = append(dst, "</tools>\n\n# How to call a tool\n\n"...)
	dst = append(append(dst, w.how...), '\n')
	name := exampleName(tools)
	dst = w.Calls(dst, []Call{{name, exampleArgs}})
	dst = append(dst, "\nThen stop. The next message brings the result, such as:\n"...)
	dst = w.Result(dst, name, "(what the tool gave back)", false)
	dst = append(dst, "\nThis shows the form only: "...)
	dst = append(append(dst, name...), " is not one of your tools, and its values have nothing to do with your task.\n"...)
	for _, line := range [...]string{
		w.values,
		w.several,
		"Never write a result yourself: only a message that you get has one.",
		"A backslash inside a mark of a result (" + w.inert() + ") was put there so that the text of a result can't be taken for the mark; it is not part of the text.",
		"When you need no tool any more, answer in plain text without a call.",
	} {
		dst = append(append(dst, "\n- "...), line...)
	}
	return dst
}

// inert is a mark of a result as it stands in the text of one.
func (w *Writer) inert() string {
	if w.labels {
		return `\Observation:`
	}
	return `<\/tool_response>`
}

// tool appends the description of a tool, on one line.
func (w *Writer) tool(dst []byte, t *Tool) []byte {
	at := len(dst)
	if w.wrapped {
		dst = append(dst, `{"type": "function", "function": `...)
	}
	dst = quote(append(dst, `{"name": `...), t.Name)
	if t.Description != "" {
		dst = quote(append(dst, `, "description": `...), t.Description)
	}
	dst = append(dst, `, "parameters": `...)
	schema := jsontext.Value(t.Schema)
	if len(schema) == 0 {
		schema = jsontext.Value(`{"type":"object","properties":{}}`)
	}
	out, err := jsontext.AppendFormat(dst, schema, spaced...)
	if err != nil {
		out = append(dst, "{}"...) // which allows anything
	}
	dst = append(out, '}')
	if w.wrapped {
		dst = append(dst, '}')
	}
	// Text from elsewhere must not end the list; in JSON it can say the same so.
	if line := string(dst[at:]); strings.Contains(line, "</tools>") {
		dst = append(dst[:at], strings.ReplaceAll(line, "</tools>", `<\/tools>`)...)
	}
	return dst
}

// exampleName returns the name of the tool in the worked call, which none of the
// tools has.
func exampleName(tools []Tool) string {
	const name = "example_note"
	has := func(name string) bool {
		for i := range tools {
			if tools[i].Name == name {
				return true
			}
		}
		return false
	}
	if !has(name) {
		return name
	}
	for n := 2; ; n++ { // ends: there are fewer tools than numbers
		if s := name + "_" + strconv.Itoa(n); !has(s) {
			return s
		}
	}
}
