package dialect

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// writers are the dialects that a model can be asked for in a prompt.
var writers = []*Writer{
	{
		id: "hermes_tool_call", wrapped: true, calls: hermesCalls, result: responseBlock,
		form: "<tool_call>\n{\"name\": \"TOOL\", \"arguments\": {\"PARAMETER\": VALUE}}\n</tool_call>",
		how:  `Write {"name": <function-name>, "arguments": <args-json-object>} between <tool_call> and </tool_call>:`,
		values: `Inside a string write \" for a quotation mark, \\ for a backslash and \n for a line break. ` +
			"The arguments are one complete JSON object that fits the tool's parameters.",
		several: "For several calls that don't depend on each other write one such block after the other. Results come in the order of the calls.",
	},
	{
		id: "pythonic_list", calls: pythonCalls, result: responseBlock,
		form: "[TOOL(PARAMETER=VALUE)]",
		how:  "Write a Python list with the call in it, and nothing else on its lines:",
		values: `Name every argument. Write values as Python literals: "text", 12, 0.5, True, None, ["a", "b"], {"key": "value"}. ` +
			`Inside a string write \" for a quotation mark, \\ for a backslash and \n for a line break.`,
		several: "For several calls that don't depend on each other put them into one list, with commas between them. Results come in the order of the calls.",
	},
	{
		id: "qwen3_coder_xml", wrapped: true, calls: xmlCalls, result: responseBlock,
		form: "<tool_call>\n<function=TOOL>\n<parameter=PARAMETER>\nVALUE\n</parameter>\n</function>\n</tool_call>",
		how:  "Write the tool's name and each of its parameters in elements of these forms, each mark on a line of its own:",
		values: "Write a text between the marks as it is, with its line breaks, and without quotation marks or escapes; " +
			"write numbers, true, false, null, lists and objects as JSON.",
		several: "For several calls that don't depend on each other write one such block after the other. Results come in the order of the calls.",
	},
	{
		id: "react", calls: reactCalls, result: observation, labels: true,
		form: "Action: TOOL\nAction Input: {\"PARAMETER\": VALUE}",
		how:  "Write what you think if that helps, then these two lines, with the arguments as one JSON object on the second:",
		values: `Inside a string write \" for a quotation mark, \\ for a backslash and \n for a line break. ` +
			"The arguments are one complete JSON object that fits the tool's parameters.",
		several: "Make one call in a reply.",
		stop:    []string{"\nObservation:"},
	},
}

// hermesCalls writes a block for each call.
func hermesCalls(dst []byte, calls []Call) []byte {
	for i, c := range calls {
		if i > 0 {
			dst = append(dst, '\n')
		}
		dst = quote(append(dst, "<tool_call>\n{\"name\": "...), c.Name)
		dst = object(append(dst, `, "arguments": `...), c.Args)
		dst = append(dst, "}\n</tool_call>"...)
	}
	return dst
}

// xmlCalls writes a block for each call, with texts as they are. The form has no
// way to write a text that holds its own marks, so such a text stands there as
// the model wrote it.
func xmlCalls(dst []byte, calls []Call) []byte {
	for i, c := range calls {
		if i > 0 {
			dst = append(dst, '\n')
		}
		dst = append(append(append(dst, "<tool_call>\n<function="...), c.Name...), ">\n"...)
		members(c.Args, func(name string, value jsontext.Value) {
			dst = append(append(append(dst, "<parameter="...), name...), ">\n"...)
			if value.Kind() == '"' {
				dst, _ = jsontext.AppendUnquote(dst, value) // it is valid
			} else {
				dst, _ = jsontext.AppendFormat(dst, value, spaced...)
			}
			dst = append(dst, "\n</parameter>\n"...)
		})
		dst = append(dst, "</function>\n</tool_call>"...)
	}
	return dst
}

// pythonCalls writes one list of all calls. A member that no keyword argument can
// have as its name goes into a dictionary that is spread.
func pythonCalls(dst []byte, calls []Call) []byte {
	dst = append(dst, '[')
	for i, c := range calls {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(append(dst, c.Name...), '(')
		first := true
		members(c.Args, func(name string, value jsontext.Value) {
			if !first {
				dst = append(dst, ", "...)
			}
			first = false
			if keyword(name) {
				dst = literal(append(append(dst, name...), '='), value)
				return
			}
			dst = quote(append(dst, "**{"...), name)
			dst = append(literal(append(dst, ": "...), value), '}')
		})
		dst = append(dst, ')')
	}
	return append(dst, ']')
}

// keyword reports whether a name can be that of a keyword argument, as models
// write them: an identifier, in which hyphens and dots occur too.
func keyword(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || i > 0 && (c >= '0' && c <= '9' || c == '-' || c == '.') {
			continue
		}
		return false
	}
	return name != ""
}

// literal appends a JSON value as a Python literal. Strings and numbers are the
// same in both; only the three words differ.
func literal(dst []byte, v jsontext.Value) []byte {
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '"':
			end := i + 1
			for v[end] != '"' {
				if v[end] == '\\' {
					end++
				}
				end++
			}
			dst = append(dst, v[i:end+1]...)
			i = end
		case 't':
			dst, i = append(dst, "True"...), i+len("true")-1
		case 'f':
			dst, i = append(dst, "False"...), i+len("false")-1
		case 'n':
			dst, i = append(dst, "None"...), i+len("null")-1
		default:
			dst = append(dst, v[i])
		}
	}
	return dst
}

// reactCalls writes two lines for each call.
func reactCalls(dst []byte, calls []Call) []byte {
	for i, c := range calls {
		if i > 0 {
			dst = append(dst, '\n')
		}
		dst = append(append(dst, "Action: "...), c.Name...)
		dst = object(append(dst, "\nAction Input: "...), c.Args)
	}
	return dst
}

// responseBlock writes a result between marks that models know as those of one.
func responseBlock(dst []byte, label, text string) []byte {
	dst = append(append(append(dst, "<tool_response>\n"...), label...), '\n')
	dst = append(dst, text...)
	if !strings.HasSuffix(text, "\n") {
		dst = append(dst, '\n')
	}
	return append(dst, "</tool_response>"...)
}

// observation writes a result after the label of one.
func observation(dst []byte, label, text string) []byte {
	dst = append(append(append(dst, "Observation: "...), label...), '\n')
	return append(dst, text...)
}
