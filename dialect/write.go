package dialect

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// writerVersion names the output of all writers; any change of a byte needs
// another, since journals name it with every request.
const writerVersion = 1

// A Tool is one as a model is told of it.
type Tool struct {
	Name, Description string
	// Schema is the JSON Schema of the arguments; empty for a tool without any.
	Schema []byte
}

// A Call is one as a model makes it. Args is a JSON object; empty is {}, and
// what is no object is written as {"invalid_arguments":"…"}.
type Call struct{ Name, Args string }

// A Writer says in the text of a conversation what a wire with tool calls of its
// own says apart from it: which tools there are and how to call them, what was
// called, and what came back. Equal input gives equal bytes; all text is UTF-8,
// as it is and never \u-escaped (control characters inside JSON excepted).
//
// The methods append to dst and return it, take time linear in what they are
// given, and may be called from any goroutine.
type Writer struct {
	id string
	// wrapped: a tool is described as {"type": "function", "function": {…}}.
	wrapped bool
	// calls appends calls, at least one, and form is one with names in place of
	// what it is about.
	calls func(dst []byte, calls []Call) []byte
	form  string
	// result appends what stands before and after the text of a result, whose
	// marks were made inert.
	result func(dst []byte, label, text string) []byte
	// labels: the marks of a result are labels at the beginning of a line.
	labels bool
	// how says how to call, why how values are written, and several what to do
	// about more than one call.
	how, values, several string
	stop                 []string
}

// WriterFor returns the writer of a dialect, by its id or short name: hermes,
// pythonic, xml or react. ok is false for any other.
func WriterFor(id string) (w *Writer, ok bool) {
	d, ok := Find(id)
	if !ok {
		return nil, false
	}
	for _, w := range writers {
		if w.id == d.ID {
			return w, true
		}
	}
	return nil, false
}

// Promptable returns the short names of the dialects that have a writer.
func Promptable() []string { return []string{"hermes", "pythonic", "xml", "react"} }

// ID returns the dialect's id.
func (w *Writer) ID() string { return w.id }

// Version names the dialect and the version of the writer's output, such as
// "hermes_tool_call/1".
func (w *Writer) Version() string { return w.id + "/" + strconv.Itoa(writerVersion) }

// Stop are the texts at which the server should end a reply, since what follows
// them is not the model's to write. Most dialects have none: their marks of a
// result may well be what an answer is about.
func (w *Writer) Stop() []string { return w.stop }

// Form is a call with capitals in place of what it is about, to remind a model of
// the form after a call that could not be read.
func (w *Writer) Form() string { return w.form }

// Calls appends calls as the model would have written them in one reply. None
// append nothing.
func (w *Writer) Calls(dst []byte, calls []Call) []byte {
	if len(calls) == 0 {
		return dst
	}
	return w.calls(dst, calls)
}

// Result appends the result of a call of the tool name, labelled as one; failed
// says that it reports a problem, or that nobody knows what came of the call.
//
// Whatever the text holds, it can't end the result, begin another one, or begin a
// turn: a backslash is put into every mark that could, after its first character
// ("<\/tool_response>"; at the beginning of a line before the label of one), and
// one more into marks that have some already, so that what a tool returned can be
// told from it. [Writer.Convention] says so to the model.
func (w *Writer) Result(dst []byte, name, text string, failed bool) []byte {
	label := plain(name) + " returned:"
	if failed {
		label = "problem with " + plain(name) + ":"
	}
	if strings.TrimSpace(text) == "" {
		text = "(no content)"
	}
	text = inertTokens(text)
	if w.labels {
		text = inertLabels(text)
	}
	return w.result(dst, label, text)
}

// maxName is the longest name of a tool that is written, in bytes: names on the
// wires have at most 128.
const maxName = 128

// plain returns a name with "_" for every byte that could stand for more than
// itself: a model may have called a tool by any text.
func plain(name string) string {
	if len(name) > maxName {
		name = name[:maxName]
	}
	if name == "" {
		return "unnamed"
	}
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.:/", r) {
			return r
		}
		return '_'
	}, name)
}

// spaced are the options by which JSON is written: as the templates that models
// were trained with write it.
var spaced = []jsontext.Options{
	jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true), jsontext.PreserveRawStrings(false),
}

// object appends arguments as a JSON object.
func object(dst []byte, args string) []byte {
	v := jsontext.Value(args)
	if strings.TrimSpace(args) == "" {
		return append(dst, "{}"...)
	}
	if v.Kind() == '{' {
		if out, err := jsontext.AppendFormat(dst, v, spaced...); err == nil {
			return out
		}
	}
	return append(quote(append(dst, `{"invalid_arguments": `...), args), '}')
}

// quote appends s as a JSON string; bytes that are not UTF-8 become U+FFFD.
func quote(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // the error only tells of U+FFFD
	return dst
}

// members calls f with the name and value of each member of arguments, in order.
func members(args string, f func(name string, value jsontext.Value)) {
	d := jsontext.NewDecoder(strings.NewReader(string(object(nil, args))))
	if _, err := d.ReadToken(); err != nil {
		return // not reached: object gives an object
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return
		}
		text := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return
		}
		f(text, value)
	}
}
