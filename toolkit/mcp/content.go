package mcp

import (
	"encoding/base64"
	"fmt"
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
	parts := contents(r.Content)
	if r.IsError {
		return nil, t.told(parts, r.StructuredContent)
	}
	out := &tool.Result{Parts: parts}
	if r.StructuredContent != nil {
		return t.structured(out, r.StructuredContent)
	}
	if len(parts) == 1 && parts[0].Kind == message.Text {
		if v := jsontext.Value(parts[0].Text); isValue(v) {
			out.Value = v
		}
	}
	if empty(parts) {
		out.Parts = tool.Text(t.def.Name + " succeeded; it returned nothing.").Parts
	}
	return out, nil
}

// structured completes a result that has a JSON value beside its text. A text that
// is the same value is shown instead of it, and is the value: its numbers are as
// the server wrote them.
func (t *remote) structured(out *tool.Result, value any) (*tool.Result, error) {
	for _, p := range out.Parts {
		if v := jsontext.Value(p.Text); p.Kind == message.Text && isValue(v) && same(v, value) {
			out.Value = v
			return out, nil
		}
	}
	text, err := json.Marshal(value, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil || !isValue(text) {
		out.Parts = append(out.Parts, note("the result's JSON value is left out: it is nested too deep, or is no JSON"))
		return out, nil
	}
	out.Value = text
	if empty(out.Parts) {
		out.Parts = nil
	}
	out.Parts = append(out.Parts, message.Part{Kind: message.Text, Text: string(text)})
	return out, nil
}

// told returns the error that a failed call reports in its content.
func (t *remote) told(parts []message.Part, value any) error {
	var text []string
	for _, p := range parts {
		if s := strings.TrimSpace(p.Text); p.Kind == message.Text && s != "" {
			text = append(text, s)
		}
	}
	if len(text) == 0 && value != nil {
		if v, err := json.Marshal(value, json.Deterministic(true), jsontext.AllowInvalidUTF8(true)); err == nil {
			text = append(text, string(v))
		}
	}
	message := strings.Join(text, "\n")
	if message == "" {
		message = t.def.Name + " failed, and does not say why"
	}
	if len(message) > maxErrorText {
		message = fmt.Sprintf("%s (%d bytes in all; the rest is left out)", shorten(message, maxErrorText), len(message))
	}
	return &tool.Error{Type: tool.TypeError, Message: message, Hint: "the tool itself reports this; change the arguments as it says, or go on without it"}
}

// contents turns the content of an answer into parts: texts and images as they
// are, what a model cannot be shown described.
func contents(list []mcp.Content) []message.Part {
	var out []message.Part
	for _, c := range list {
		switch c := c.(type) {
		case *mcp.TextContent:
			out = append(out, message.Part{Kind: message.Text, Text: c.Text})
		case *mcp.ImageContent:
			out = append(out, image(c.MIMEType, c.Data))
		case *mcp.AudioContent:
			out = append(out, note(fmt.Sprintf("audio (%s, %d bytes) is not shown", clean(c.MIMEType), len(c.Data))))
		case *mcp.ResourceLink:
			out = append(out, message.Part{Kind: message.Text, Text: link2text(c)})
		case *mcp.EmbeddedResource:
			if c.Resource != nil {
				out = append(out, resource(c.Resource)...)
			}
		default:
			out = append(out, note("a part of a kind that is not known here is left out"))
		}
	}
	return out
}

// shown are the kinds of images that every provider which takes images takes.
var shown = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// image returns an image, or says why it is not shown.
func image(kind string, data []byte) message.Part {
	kind = strings.ToLower(strings.TrimSpace(kind))
	if !slices.Contains(shown, kind) || len(data) == 0 || len(data) > maxImage {
		return note(fmt.Sprintf("an image (%s, %d bytes) is not shown: only %s up to %d bytes can be", clean(kind), len(data), strings.Join(shown, ", "), maxImage))
	}
	return message.Part{Kind: message.Image, MediaType: kind, URL: "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data)}
}

// link2text describes a resource that the server names and does not send.
func link2text(c *mcp.ResourceLink) string {
	text := "resource " + c.URI
	for _, more := range []struct{ label, text string }{{"name", c.Name}, {"title", c.Title}, {"type", c.MIMEType}, {"description", c.Description}} {
		if more.text != "" {
			text += "; " + more.label + ": " + more.text
		}
	}
	if c.Size != nil {
		text += fmt.Sprintf("; %d bytes", *c.Size)
	}
	return text
}

// resource returns a resource that came with the answer.
func resource(r *mcp.ResourceContents) []message.Part {
	if len(r.Blob) == 0 {
		return []message.Part{{Kind: message.Text, Text: "resource " + r.URI + ":\n" + r.Text}}
	}
	heading := message.Part{Kind: message.Text, Text: "resource " + r.URI + ":"}
	if slices.Contains(shown, strings.ToLower(r.MIMEType)) {
		return []message.Part{heading, image(r.MIMEType, r.Blob)}
	}
	return []message.Part{heading, note(fmt.Sprintf("%d bytes of binary data (%s) are not shown", len(r.Blob), clean(r.MIMEType)))}
}

func note(text string) message.Part {
	return message.Part{Kind: message.Text, Text: tool.Notice(text)}
}

func empty(parts []message.Part) bool {
	return !slices.ContainsFunc(parts, func(p message.Part) bool { return p.Kind != message.Text || strings.TrimSpace(p.Text) != "" })
}

// isValue reports whether a text is one JSON value that is not nested too deep. A
// bare word or number is text.
func isValue(v jsontext.Value) bool {
	text := strings.TrimSpace(string(v))
	if text == "" || text[0] != '{' && text[0] != '[' {
		return false
	}
	dec := jsontext.NewDecoder(strings.NewReader(text))
	for {
		_, err := dec.ReadToken()
		if err != nil || dec.StackDepth() > maxDepth {
			return false
		}
		if dec.StackDepth() == 0 {
			return dec.InputOffset() == int64(len(text))
		}
	}
}

// same reports whether a text stands for a value, as far as floats can tell.
func same(text jsontext.Value, value any) bool {
	var v any
	return json.Unmarshal(text, &v) == nil && reflect.DeepEqual(v, value)
}
