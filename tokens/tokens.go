// Package tokens answers: how large is this text for a model?
//
// A [Counter] counts the tokens of one text and says how it came to the figure;
// the method travels with every figure, because what may be done with an exact
// count and with an estimate differs. [Message] and [Tool] count what goes into
// a request around the texts.
//
// Bytes bound tokens from above: no tokenizer in use makes more tokens of a text
// than it has bytes, so a text that fits in bytes fits; see [Fits]. (Some put a space
// before what they count, which can be one more for a text of a few letters.)
//
// The package is pure; its functions may be called from any goroutine.
package tokens

import (
	"strings"

	"rein.example/rein/message"
)

// Method says how a figure was counted.
type Method string

// The methods, from the best to the coarsest.
const (
	// Exact: with the model's own tokenizer.
	Exact Method = "exact"
	// Calibrated: estimated, then corrected by what the server reported.
	Calibrated Method = "calibrated"
	// Estimated: from the text alone.
	Estimated Method = "estimated"
)

// Counter counts tokens. It is safe for concurrent use.
type Counter interface {
	// Count returns the number of tokens of a text: 0 for an empty one, at least
	// 1 and at most its bytes for any other.
	Count(text string) int
	// Method says how Count counts. It never changes. Of a [Measurer] it is the best
	// of its methods.
	Method() Method
}

// Measurer is a Counter whose figures come about in different ways, such as one that
// asks a server, which may not answer.
type Measurer interface {
	Counter
	// Measure returns the number of tokens of a text, within the bounds of Count, and
	// how it was counted.
	Measure(text string) (int, Method)
}

// Measure returns the number of tokens of a text and how it was counted, whether c is
// a [Measurer] or not.
func Measure(c Counter, text string) (int, Method) {
	if m, ok := c.(Measurer); ok {
		return m.Measure(text)
	}
	return c.Count(text), c.Method()
}

// Worst returns the coarser of two methods, which is that of a sum of two figures. A
// method that is not known is as coarse as [Estimated].
func Worst(a, b Method) Method {
	switch {
	case a == Exact && b == Exact:
		return Exact
	case (a == Exact || a == Calibrated) && (b == Exact || b == Calibrated):
		return Calibrated
	}
	return Estimated
}

// What a request holds around the texts, in tokens. Wires differ; these are at
// the upper end of what OpenAI-compatible chat templates are seen to add.
const (
	// perMessage is the framing of one message: its start, role and end.
	perMessage = 4
	// perCall is the framing of one tool call or tool result beside its texts:
	// type, id and punctuation. Ids themselves are counted.
	perCall = 8
	// perTool is the framing of one tool definition beside its texts.
	perTool = 12
	// Image is what an image counts, whatever its size. Providers scale images
	// down to a fixed most: OpenAI's high detail is 765 for 1024x1024 and at most
	// about 1,500, Anthropic's at most about 1,600, Gemini's 258 a tile. Without
	// decoding the image the upper end is the safe figure.
	Image = 1600
	// filePage is what 64 KiB of a file that is not text count, such as a page
	// or so of PDF, which providers see as text and image.
	filePage      = 1600
	filePageBytes = 64 << 10
)

// Message returns the size of a message in a request, in tokens: framing, texts,
// reasoning, call names, ids and arguments, images ([Image] each) and files.
//
// A text that is stored out of line and not at hand is counted by its bytes, a
// token for three, which is more than prose and code have. Opaque provider data
// (signatures, encrypted reasoning) counts a token for four bytes where no
// text stands beside it: nobody but the provider knows better.
func Message(c Counter, m *message.Message) int {
	n := perMessage
	if m.ToolCallID != "" {
		n += perCall + c.Count(m.ToolCallID) + c.Count(m.ToolName)
	}
	for i := range m.Parts {
		n += part(c, &m.Parts[i])
	}
	return n
}

func part(c Counter, p *message.Part) int {
	switch p.Kind {
	case message.Text:
		if p.Text == "" && p.Ref != nil {
			return thirds(p.Ref.Bytes)
		}
		return c.Count(p.Text)
	case message.Reasoning:
		if p.Text == "" {
			return (len(p.Opaque) + 3) / 4
		}
		return c.Count(p.Text)
	case message.ToolCall:
		return perCall + c.Count(p.ID) + c.Count(p.Name) + c.Count(p.Args)
	case message.Image:
		return Image
	case message.File:
		return c.Count(p.Name) + file(p)
	}
	return 0
}

// file returns what a file's content counts.
func file(p *message.Part) int {
	if p.Ref == nil {
		return filePage
	}
	if strings.HasPrefix(p.MediaType, "text/") {
		return thirds(p.Ref.Bytes)
	}
	return clamp((max(p.Ref.Bytes, 0)/filePageBytes + 1) * filePage)
}

// thirds returns a token for each three bytes begun.
func thirds(n int64) int { return clamp(max(n, 0)/3 + 1) }

// clamp keeps absurd sizes from overflowing sums.
func clamp(n int64) int { return int(min(n, 1<<40)) }

// Tool returns the size of a tool's definition in a request, in tokens. schema
// is the JSON Schema of its arguments. Some providers rewrite schemas into a
// shorter form; the JSON as sent is the upper end.
func Tool(c Counter, name, description, schema string) int {
	return perTool + c.Count(name) + c.Count(description) + c.Count(schema)
}
