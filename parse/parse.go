// Package parse answers: what did the model ask for?
//
// [Parse] reads one complete reply and returns the calls that it makes, in
// order, or none. It tries the places where a call can stand, from the surest
// to the least sure, and stops at the first that holds one:
//
//  1. the wire's own tool calls;
//  2. a text that is JSON from end to end and reads as one or more calls;
//  3. fenced JSON blocks in a text that read as calls.
//
// Reasoning is never read for calls. A text counts only for tools that were
// offered, and only where [Input].TextCalls allows it, since prose may well
// mention a call that nobody wants run.
//
// What was cut off is never completed, and what cannot be read is never
// dropped: such a call comes back with a Problem and must not run; the others
// of the reply are not touched by it. [Explain] says to the model what was wrong,
// and [Assistant] gives the message as later requests carry it.
//
// Everything here takes time linear in the reply and is bounded by [MaxText],
// [MaxDepth] and [MaxCalls]. The package is pure; its functions may be called
// from any goroutine.
package parse

import (
	"slices"
	"strconv"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// The bounds of what is read. What lies beyond is refused, not cut.
const (
	// MaxText is the longest text that is searched for calls, and the longest
	// arguments that a call may have, in bytes.
	MaxText = 4 << 20
	// MaxDepth is how deep the JSON of a call may nest.
	MaxDepth = 128
	// MaxCalls is the most calls of one reply that can run. Native ones after
	// it come back with [ProblemLimit], since the wire wants a result for each;
	// those in a text are left out, and Problems says so.
	MaxCalls = 128
	// maxNotes bounds Problems and Notes of a result.
	maxNotes = 8
)

// Where the calls of a reply were found, as [event.ReplyParsed].Format has it.
const (
	// Native: the wire's own tool calls.
	Native = "native"
	// JSON: the whole text is JSON.
	JSON = "json"
	// JSONFence: JSON in fenced blocks, perhaps with prose around them.
	JSONFence = "json_fence"
	// Text: no call; the text is what the model says.
	Text = "text"
)

// What can be wrong with a call, as [event.ParsedCall].Problem has it. A call
// with a problem must not run.
const (
	// ProblemIncomplete: the call was cut off, or the reply was at its length
	// limit, so that nobody can say whether it was.
	ProblemIncomplete = "incomplete"
	// ProblemInvalid: the arguments are not JSON (RFC 8259 in UTF-8, without
	// duplicate names).
	ProblemInvalid = "invalid"
	// ProblemNotObject: the arguments are JSON, but not an object.
	ProblemNotObject = "not_object"
	// ProblemNoName: the call does not say which tool it is for.
	ProblemNoName = "no_name"
	// ProblemStopped: the call is complete, but the provider stopped the reply
	// (a content filter, an error), so that it does not stand for what the
	// model wanted.
	ProblemStopped = "stopped"
	// ProblemLimit: beyond MaxText, MaxDepth or MaxCalls.
	ProblemLimit = "limit"
)

// The kinds of [event.Repair] that this package makes. All are lossless.
const (
	// RepairEmpty: absent arguments are read as {}.
	RepairEmpty = "empty_arguments"
	// RepairList: a list of calls lacks its closing bracket.
	RepairList = "unclosed_list"
	// RepairFence: a fence lacks its closing line.
	RepairFence = "unclosed_fence"
)

// Input is one reply and what is needed to read it.
type Input struct {
	// Message is the assistant message as the wire gave it. It is not changed.
	Message *message.Message
	// Finish is why the model stopped.
	Finish event.Finish
	// Tools are the names of the tools that the request offered, sorted by
	// bytes; none for a request without tools, whose text is then never a call.
	Tools []string
	// Base makes the ids of calls whose own cannot be kept: BASE_0, BASE_1, ….
	// It must be unique in the run, such as one made of the command's id.
	Base string
	// Used reports whether an earlier reply of the run used a call id. Nil: none.
	Used func(id string) bool
	// TextCalls: calls that the model writes as text count too, if they name one
	// of Tools. It belongs to the model: one that calls well on its wire can do
	// without, and then no text is ever taken for a call.
	TextCalls bool
}

// Result is what the reply asks for.
type Result struct {
	// Format is one of the formats above.
	Format string
	// Calls in the order in which they were written. IDs are unique in the run;
	// where the model's own could not be kept it is in WireID. Args is a JSON
	// object, or a JSON string that holds one (left to the schema's walker,
	// which knows whether to open it), or, with a Problem, the raw text.
	Calls []event.ParsedCall
	// Text is the reply's text without reasoning parts and without the calls.
	Text string
	// Problems say what looks like an attempt to call and could not be read as
	// one. A reply with problems and no calls is malformed, not an answer.
	Problems []string
	// Notes say what was seen and deliberately left alone, such as a call that
	// stands in an answer as an example. They ask for nothing.
	Notes []string
}

// Event returns the result as an event for the reply to the command id.
func (r *Result) Event(id string) *event.ReplyParsed {
	e := &event.ReplyParsed{
		ID: id, Format: r.Format, Calls: r.Calls,
		Problems: r.Problems, Notes: r.Notes,
	}
	if r.Format != Native && r.Format != Text {
		e.Text = r.Text
	}
	return e
}

// Parse reads one complete reply. It never fails: whatever cannot be
// understood is in the result.
func Parse(in Input) Result {
	text := joined(in.Message)
	ids := ids{base: in.Base, before: in.Used}
	if ids.total = in.Message.Calls(); ids.total > 0 {
		return Result{Format: Native, Text: text, Calls: native(&in, &ids)}
	}
	r := Result{Format: Text, Text: text}
	if !in.TextCalls || len(in.Tools) == 0 || !mayHoldCalls(text) {
		return r
	}
	if len(text) > MaxText {
		r.note("the text was not searched for calls: it is longer than " + strconv.Itoa(MaxText) + " bytes")
		return r
	}
	if !bare(&r, text, in.Tools) {
		fenced(&r, text, in.Tools)
	}
	if len(r.Calls) > MaxCalls {
		r.Calls = r.Calls[:MaxCalls]
		r.problem("only the first " + strconv.Itoa(MaxCalls) + " calls were read")
	}
	ids.total = len(r.Calls)
	for i := range r.Calls {
		c := &r.Calls[i]
		wire := c.WireID
		c.ID, c.WireID = ids.take(i, wire)
		settle(c, in.Finish, i)
	}
	return r
}

// mayHoldCalls reports whether a text has the least that a call in it needs. It
// keeps plain prose fast.
func mayHoldCalls(text string) bool {
	return strings.IndexByte(text, '{') >= 0 && strings.IndexByte(text, '"') >= 0
}

// settle gives a call that could be read the problem of its reply, if any.
func settle(c *event.ParsedCall, finish event.Finish, index int) {
	switch {
	case finish == event.FinishLength:
		c.Problem = ProblemIncomplete
	case c.Problem != "":
	case finish == event.FinishContentFilter || finish == event.FinishError:
		c.Problem = ProblemStopped
	case index >= MaxCalls:
		c.Problem = ProblemLimit
	}
}

// joined returns the text parts as one string. Unlike repeated concatenation it
// stays linear for a server that sends a part per character.
func joined(m *message.Message) string {
	n, at := 0, 0
	for i := range m.Parts {
		if m.Parts[i].Kind == message.Text && m.Parts[i].Text != "" {
			n, at = n+1, i
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return m.Parts[at].Text
	}
	var b strings.Builder
	for i := range m.Parts {
		if m.Parts[i].Kind == message.Text {
			b.WriteString(m.Parts[i].Text)
		}
	}
	return b.String()
}

// declared reports whether tools, which is sorted, holds name.
func declared(tools []string, name string) bool {
	_, ok := slices.BinarySearch(tools, name)
	return ok
}

func (r *Result) note(s string) {
	if len(r.Notes) < maxNotes {
		r.Notes = append(r.Notes, s)
	}
}

func (r *Result) problem(s string) {
	if len(r.Problems) < maxNotes {
		r.Problems = append(r.Problems, s)
	}
}
