package parse

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// Assistant returns the assistant message m as later requests carry it, given
// what was made of it: calls found in the text are calls, every call has its
// unique id, and all arguments are valid JSON objects, without which servers
// refuse every later request. A call with a problem has {} there; what the model
// really wrote stays in the journal, and [Explain] tells it.
//
// It follows from the two events alone, so that a folded journal gives the same
// bytes. m is not changed; the result may share its parts.
func Assistant(m *message.Message, p *event.ReplyParsed) message.Message {
	retold := p.Text != "" || p.Reasoning != ""
	if len(p.Calls) == 0 && !retold {
		return *m
	}
	if p.Format == Native && asWritten(m, p) {
		return *m
	}
	out := message.Message{Role: m.Role, Parts: make([]message.Part, 0, len(m.Parts)+len(p.Calls)+1)}
	wire, n := p.Format == Native, 0
	if !wire && p.Reasoning != "" {
		out.Parts = append(out.Parts, message.Part{Kind: message.Reasoning, Text: p.Reasoning})
	}
	for i := range m.Parts {
		part := m.Parts[i]
		switch {
		case part.Kind == message.Text && !wire:
			continue
		case part.Kind == message.ToolCall && n < len(p.Calls):
			c := &p.Calls[n]
			part.ID, part.Name, part.Args = c.ID, c.Name, sayable(c)
			n++
		}
		out.Parts = append(out.Parts, part)
	}
	if !wire && strings.TrimSpace(p.Text) != "" {
		out.Parts = append(out.Parts, message.Part{Kind: message.Text, Text: p.Text})
	}
	for ; n < len(p.Calls); n++ {
		c := &p.Calls[n]
		out.Parts = append(out.Parts, message.Part{Kind: message.ToolCall, ID: c.ID, Name: c.Name, Args: sayable(c)})
	}
	return out
}

// asWritten reports whether the calls stand in m just as later requests carry
// them.
func asWritten(m *message.Message, p *event.ReplyParsed) bool {
	n := 0
	for i := range m.Parts {
		if part := &m.Parts[i]; part.Kind == message.ToolCall && n < len(p.Calls) {
			c := &p.Calls[n]
			if part.ID != c.ID || part.Name != c.Name || part.Args != sayable(c) {
				return false
			}
			n++
		}
	}
	return n == len(p.Calls)
}

// sayable returns the arguments of a call as an object that any server takes.
func sayable(c *event.ParsedCall) string {
	switch {
	case c.Args == "" || c.Problem != "" && (c.Args[0] != '{' || check(c.Args) != ""):
		return "{}"
	case c.Args[0] == '"':
		return trim(unquote(c.Args))
	}
	return c.Args
}

// Explain says why a call with a Problem was not run, and what to do, in words
// for the model. Both are empty for a call without one.
func Explain(c *event.ParsedCall) (message, hint string) {
	const object = "Send the arguments as one JSON object: double quotes around names and strings, " +
		`\n for a line break inside a string, no comments, no trailing commas, each name once.`
	switch c.Problem {
	case "":
		return "", ""
	case ProblemIncomplete:
		if c.Args != "" && check(c.Args) == "" {
			return "The reply ended before the call was surely whole, so nothing was run.",
				"Send the call again, with less text before it. If it is long, do the work in several smaller calls."
		}
		return fmt.Sprintf("The call was cut off after %d bytes of arguments, so nothing was run.", len(c.Args)),
			"Send the whole call again. If it is long, do the work in several smaller calls."
	case ProblemInvalid:
		if check(c.Args) == "" {
			return "The JSON around the arguments is not valid, so nothing was run.",
				"Send the call as one JSON object with as many closing brackets as opening ones."
		}
		return "The arguments are not valid JSON" + fault(c.Args) + ", so nothing was run.", object
	case ProblemSyntax:
		return "The arguments can not be read: " + excerpt(c.Args, 0) + " is not written as the call has to be. Nothing was run.",
			"Write the call in the form that the tools were given with: name every argument, put every text between its marks, and compute nothing in it."
	case ProblemNotObject:
		return "The arguments are JSON, but not an object: they begin with " + excerpt(c.Args, 0) + ". Nothing was run.", object
	case ProblemNoName:
		return "The call does not name a tool, so nothing was run.", "Call one of the tools by its name."
	case ProblemTwoNames:
		return "The call names two different tools, so nothing was run.", "Call one tool by its name; write one call for each tool."
	case ProblemStopped:
		return "The reply was stopped by the provider, so none of its calls was run.", "Decide again what to do."
	case ProblemShape:
		return "The call is not of the form that is wanted here: a list where one object is wanted, or the reverse. Nothing was run.",
			"Write the call in the form that the tools were given with."
	case ProblemParams:
		if strings.HasPrefix(c.Args, "{") {
			return "Arguments stand beside the member that is for them, or in two: " + excerpt(c.Args, 0) + ". Nothing was run.",
				"Send all arguments in one JSON object, in the member for arguments, and nothing else beside the tool's name."
		}
		return "The parameters of the call could not be told apart, or are not those of the tool, so nothing was run.",
			"Write each parameter that the tool has once, between its own opening and closing mark, and nothing between them."
	case ProblemLimit:
		return fmt.Sprintf("The call is beyond a limit, so nothing was run: %d calls a reply, %d bytes and %d levels of arguments.",
			MaxCalls, MaxText, MaxDepth), "Do the work in fewer or smaller calls."
	}
	return "The call could not be used (" + c.Problem + "), so nothing was run.", object
}

// fault says where arguments stop being JSON.
func fault(args string) string {
	d := jsontext.NewDecoder(strings.NewReader(args))
	_, err := d.ReadValue()
	at := d.InputOffset()
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		at = syntax.ByteOffset
	}
	if at < 0 || at > int64(len(args)) {
		at = 0
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return fmt.Sprintf(": a name stands twice, near %s", excerpt(args, int(at)))
	}
	return fmt.Sprintf(" at byte %d, near %s", at, excerpt(args, int(at)))
}

// excerpt shows what stands around s[at], quoted.
func excerpt(s string, at int) string {
	const before, after = 12, 24
	from, to := max(at-before, 0), min(at+after, len(s))
	for from > 0 && !utf8.RuneStart(s[from]) {
		from--
	}
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to++
	}
	return strconv.Quote(s[from:to])
}

// Object returns the JSON object that a text is, from end to end or in its only
// fenced block, or nil. It serves a reply that was asked for as JSON where the
// server does not enforce that. Reasoning before it is left out.
func Object(text string) jsontext.Value {
	if len(text) > MaxText {
		return nil
	}
	r := newReading(&Input{}, text)
	r.scan()
	s := trim(r.without(0, nil))
	if s != "" && s[0] != '{' {
		var block *found
		for i := range r.found {
			f := r.found[i]
			if f.kind != fenced {
				continue
			}
			if block != nil {
				return nil // which?
			}
			block = f
		}
		if block == nil {
			return nil
		}
		s = inner(text[block.from:block.end])
	}
	if s == "" || s[0] != '{' || check(s) != "" {
		return nil
	}
	return jsontext.Value(s)
}

// inner returns the body of a fenced block whose info word is json or nothing.
func inner(b string) string {
	b = strings.Trim(trim(b), "`")
	if len(b) >= 4 && strings.EqualFold(b[:4], "json") {
		b = b[4:]
	}
	return trim(b)
}
