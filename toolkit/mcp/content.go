package mcp

import (
	"encoding/base64"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"rein.example/rein/message"
	"rein.example/rein/tool"
)

const (
	// maxErrorText bounds the message of a failed call, in bytes.
	maxErrorText = 4000
	// maxImage bounds an image that is shown, in bytes: what providers take.
	maxImage = 5 << 20
	// maxDepth bounds how deep the JSON value of a result is nested.
	maxDepth = 64
)

// result makes of a server's answer what the model is shown, or the error that it
// is.
func (t *remote) result(r *mcp.CallToolResult) (*tool.Result, error) {
	if len(r.InputRequests) > 0 {
		return nil, &tool.Error{Type: typeNeedsInput, Message: t.def.Name + " was not carried out to its end: it asks for more than its arguments", Hint: needsPerson}
	}
	var c content
	for _, part := range r.Content {
		c.add(part)
	}
	if r.IsError {
		return nil, t.told(&c, r.StructuredContent)
	}
	out := &tool.Result{Value: c.value(r.StructuredContent)}
	if c.empty() {
		c.parts, c.ours = nil, nil
		c.text(t.def.Name + " succeeded; it returned nothing.")
	}
	out.Parts, out.Remarks = c.shown()
	return out, nil
}

// told returns the error that a failed call reports in its content.
func (t *remote) told(c *content, value any) error {
	if value != nil && c.empty() {
		c.value(value)
	}
	var text []string
	for i, p := range c.parts {
		if s := strings.TrimSpace(p.Text); p.Kind == message.Text && s != "" && !c.ours[i] {
			text = append(text, s)
		}
	}
	message, _ := tool.Disown(strings.Join(text, "\n"))
	if message == "" {
		message = t.def.Name + " failed, and does not say why"
	}
	if len(message) > maxErrorText {
		message = fmt.Sprintf("%s (%d bytes in all; the rest is left out)", shorten(message, maxErrorText), len(message))
	}
	return &tool.Error{Type: tool.TypeError, Message: message, Hint: "the tool itself reports this; change the arguments as it says, or go on without it"}
}

// content is what an answer shows, part by part: texts and images as they are,
// what a model cannot be shown described.
type content struct {
	parts []message.Part
	ours  []bool // which are remarks of the harness
}

func (c *content) put(p message.Part, ours bool) {
	c.parts, c.ours = append(c.parts, p), append(c.ours, ours)
}

func (c *content) text(s string) { c.put(message.Part{Kind: message.Text, Text: s}, false) }

func (c *content) note(format string, args ...any) {
	c.put(message.Part{Kind: message.Text, Text: tool.Notice(fmt.Sprintf(format, args...))}, true)
}

// add adds one part of an answer.
func (c *content) add(part mcp.Content) {
	switch p := part.(type) {
	case *mcp.TextContent:
		c.text(p.Text)
	case *mcp.ImageContent:
		c.image(p.MIMEType, p.Data)
	case *mcp.AudioContent:
		c.note("audio (%s, %d bytes) is not shown", tool.Clean(p.MIMEType), len(p.Data))
	case *mcp.ResourceLink:
		c.text(linked(p))
	case *mcp.EmbeddedResource:
		c.resource(p.Resource)
	default:
		c.note("a part of a kind that is not known here is left out")
	}
}

// value returns the JSON value of an answer, nil if it has none: what the server
// gives as such, else a text that is one. A text that stands for the same value is
// shown instead of it, and is the value: its numbers are as the server wrote them.
func (c *content) value(structured any) jsontext.Value {
	if structured == nil {
		if len(c.parts) == 1 && c.parts[0].Kind == message.Text && isValue(jsontext.Value(c.parts[0].Text)) {
			return jsontext.Value(c.parts[0].Text)
		}
		return nil
	}
	for _, p := range c.parts {
		if v := jsontext.Value(p.Text); p.Kind == message.Text && isValue(v) && same(v, structured) {
			return v
		}
	}
	text, err := json.Marshal(structured, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil || nesting(text) > maxDepth {
		c.note("the result's JSON value is left out: it is nested too deep, or is no JSON")
		return nil
	}
	if c.empty() {
		c.parts, c.ours = nil, nil
	}
	c.text(string(text))
	return text
}

func (c *content) empty() bool {
	return !slices.ContainsFunc(c.parts, func(p message.Part) bool { return p.Kind != message.Text || strings.TrimSpace(p.Text) != "" })
}

// shown returns the parts, and whether there are remarks of the harness among
// them: then what looks like one in the others is marked.
func (c *content) shown() (parts []message.Part, remarks bool) {
	if !slices.Contains(c.ours, true) {
		return c.parts, false
	}
	for i := range c.parts {
		if !c.ours[i] {
			c.parts[i].Text, _ = tool.Disown(c.parts[i].Text)
		}
	}
	return c.parts, true
}

// shown are the kinds of images that every provider which takes images takes.
var shown = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// image adds an image, or says why it is not shown.
func (c *content) image(kind string, data []byte) {
	kind = strings.ToLower(strings.TrimSpace(kind))
	if !slices.Contains(shown, kind) || len(data) == 0 || len(data) > maxImage {
		c.note("an image (%s, %d bytes) is not shown: only %s up to %d bytes can be", tool.Clean(kind), len(data), strings.Join(shown, ", "), maxImage)
		return
	}
	c.put(message.Part{Kind: message.Image, MediaType: kind, URL: "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data)}, false)
}

// linked describes a resource that the server names and does not send.
func linked(l *mcp.ResourceLink) string {
	text := "resource " + l.URI
	for _, more := range []struct{ label, text string }{{"name", l.Name}, {"title", l.Title}, {"type", l.MIMEType}, {"description", l.Description}} {
		if more.text != "" {
			text += "; " + more.label + ": " + more.text
		}
	}
	if l.Size != nil {
		text += fmt.Sprintf("; %d bytes", *l.Size)
	}
	return text
}

// resource adds a resource that came with the answer.
func (c *content) resource(r *mcp.ResourceContents) {
	switch {
	case r == nil:
	case len(r.Blob) == 0:
		c.text("resource " + r.URI + ":\n" + r.Text)
	case strings.HasPrefix(strings.ToLower(r.MIMEType), "image/"):
		c.text("resource " + r.URI + ":")
		c.image(r.MIMEType, r.Blob)
	default:
		c.text("resource " + r.URI + ":")
		c.note("%d bytes of binary data (%s) are not shown", len(r.Blob), tool.Clean(r.MIMEType))
	}
}

// isValue reports whether a text is one JSON object or list that is not nested too
// deep. A bare word or number is text.
func isValue(v jsontext.Value) bool {
	text := strings.TrimSpace(string(v))
	if text == "" || text[0] != '{' && text[0] != '[' {
		return false
	}
	depth := nesting(jsontext.Value(text))
	return depth > 0 && depth <= maxDepth
}

// nesting returns how deep a text that is one JSON value is nested: 1 for a plain
// value, more than maxDepth for one that is too deep, 0 for what is no JSON.
func nesting(v jsontext.Value) int {
	dec, deepest := jsontext.NewDecoder(strings.NewReader(string(v))), 0
	for {
		if _, err := dec.ReadToken(); err != nil {
			return 0
		}
		deepest = max(deepest, dec.StackDepth()+1)
		if deepest > maxDepth {
			return deepest
		}
		if dec.StackDepth() == 0 {
			break
		}
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return 0
	}
	return deepest
}

// same reports whether a text stands for a value, as far as floats can tell.
func same(text jsontext.Value, value any) bool {
	var v any
	return json.Unmarshal(text, &v) == nil && reflect.DeepEqual(v, value)
}
