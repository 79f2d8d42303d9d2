// Package parse answers: what did the model ask for?
//
// [Parse] reads one complete reply and returns the calls that it makes, in
// order, or none. It looks where a call can stand, from the surest place to the
// least sure:
//
//  1. the wire's own tool calls;
//  2. text between the markers of a dialect, in whatever form its table (package
//     dialect) gives: JSON, a name and JSON, elements, Python, …;
//  3. text that nothing marks but that reads as calls: JSON, in fences or with
//     prose around, Python lists, elements named after tools, labelled lines.
//
// Reasoning is split off first and never read for calls. A text counts only
// where [Input].TextCalls allows it, since prose may well mention a call that
// nobody wants run; what nothing marks as a call must name a tool that was
// offered, and must not stand in an answer as an example.
//
// What was cut off is never completed, and what cannot be read is never
// dropped: such a call comes back with a Problem and must not run; the others
// of the reply are not touched by it. Slips that leave no doubt about what was
// meant are mended, and each is reported. [Explain] says to the model what was
// wrong, and [Assistant] gives the message as later requests carry it.
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
	"rein.example/rein/schema"
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

// Where the calls of a reply were found, as [event.ReplyParsed].Format has it:
// one of these words, or the id of a dialect.
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
	// ProblemSyntax: the arguments are not written in the way that the call's
	// dialect, which is not JSON, has for them.
	ProblemSyntax = "syntax"
	// ProblemNotObject: the arguments are JSON, but not an object.
	ProblemNotObject = "not_object"
	// ProblemNoName: the call does not say which tool it is for.
	ProblemNoName = "no_name"
	// ProblemTwoNames: the call names two tools.
	ProblemTwoNames = "two_names"
	// ProblemStopped: the call is complete, but the provider stopped the reply
	// (a content filter, an error), so that it does not stand for what the
	// model wanted.
	ProblemStopped = "stopped"
	// ProblemShape: the call is not of the form that its dialect has, such as
	// one object where a list is wanted.
	ProblemShape = "shape"
	// ProblemParams: the parameters of the call, written in markup, can't be told
	// apart, or one stands twice with different values.
	ProblemParams = "parameters"
	// ProblemLimit: beyond MaxText, MaxDepth or MaxCalls.
	ProblemLimit = "limit"
)

// The kinds of [event.Repair] that are made to blocks of calls, lossless but for
// the last.
// Those made within JSON stand with the function that makes them.
const (
	// RepairEmpty: absent arguments are read as {}.
	RepairEmpty = "empty_arguments"
	// RepairList: a list of calls lacks its closing bracket.
	RepairList = "unclosed_list"
	// RepairFence: a fence lacks its closing line.
	RepairFence = "unclosed_fence"
	// RepairBlock: a block of calls lacks its closing marker, while all that it
	// holds is closed.
	RepairBlock = "unclosed_block"
	// RepairMembers: members that stand beside a call's arguments and are none,
	// such as a remark, are left out. Lossy.
	RepairMembers = "extra_members"
)

// Input is one reply and what is needed to read it.
type Input struct {
	// Message is the assistant message as the wire gave it. It is not changed.
	Message *message.Message
	// Finish is why the model stopped.
	Finish event.Finish
	// Tools are the tools that the request offered, sorted by name; none for a
	// request without tools, whose text is then never a call.
	Tools []Tool
	// AnyName: there is no list of tools, and calls of any name count.
	AnyName bool
	// Base makes the ids of calls whose own cannot be kept: BASE_0, BASE_1, ….
	// It must be unique in the run, such as one made of the command's id.
	Base string
	// Used reports whether an earlier reply of the run used a call id. Nil: none.
	Used func(id string) bool
	// TextCalls: calls that the model writes as text count too. It belongs to the
	// model: one that calls well on its wire can do without, and then no text is
	// ever taken for a call.
	TextCalls bool
	// Dialect is the id of the one dialect to read; empty: recognise it.
	Dialect string
	// Asked is the id of the dialect in which the model was asked to call, if it
	// was: what it makes up as a result looks as results do there.
	Asked  string
	Policy Policy
}

// Tool is a tool that the request offered.
type Tool struct {
	Name string
	// Params types the raw text of arguments; nil: they are typed by their look.
	Params *schema.Schema
}

// Policy decides where parsers of the field disagree. The zero value is the
// default.
type Policy struct {
	// DropUnknown leaves calls of tools that are not offered out, with a note.
	// Default: they are kept, so that the model hears of it.
	DropUnknown bool
	// StrictEnd takes a block without its closing marker for cut off. Default:
	// it is whole if every value in it is closed, and cut off otherwise.
	StrictEnd bool
	// UnreadableAsText leaves what no call can be read from in the text.
	// Default: it is reported as a problem.
	UnreadableAsText bool
	// OneDialect reads the dialect of the first marked call only. Default: all.
	OneDialect bool
	// OwnIDs replaces ids that stand in the text. Default: they are kept where
	// they are unique in the run.
	OwnIDs bool
}

// declared reports whether a tool of that name was offered.
func (in *Input) declared(name string) bool { return in.index(name) >= 0 }

func (in *Input) index(name string) int {
	from, to := 0, len(in.Tools)
	for from < to {
		k := int(uint(from+to) / 2)
		switch t := in.Tools[k].Name; {
		case t == name:
			return k
		case t < name:
			from = k + 1
		default:
			to = k
		}
	}
	return -1
}

// tool returns the schema of a tool's arguments, or nil.
func (in *Input) tool(name string) *schema.Schema {
	if i := in.index(name); i >= 0 {
		return in.Tools[i].Params
	}
	return nil
}

func (in *Input) names() string {
	var b strings.Builder
	for i := range in.Tools {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(in.Tools[i].Name)
	}
	return b.String()
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
	// Text is the reply's text without reasoning and without the calls.
	Text string
	// Reasoning is what stood as reasoning in the text; reasoning that the wire
	// gave as such is in the message.
	Reasoning string
	// Problems say what looks like an attempt to call and could not be read as
	// one. A reply with problems and no calls is malformed, not an answer.
	Problems []string
	// Notes say what was seen and deliberately left alone, such as a call that
	// stands in an answer as an example. They ask for nothing.
	Notes []string
	// Cut: a call, or a list of them, is cut off.
	Cut bool
}

// Event returns the result as an event for the reply m to the command id.
func (r *Result) Event(id string, m *message.Message) *event.ReplyParsed {
	e := &event.ReplyParsed{
		ID: id, Format: r.Format, Calls: r.Calls, Reasoning: r.Reasoning,
		Problems: r.Problems, Notes: r.Notes,
	}
	if r.Format != Native && r.Format != Text || r.Reasoning != "" || r.Text != joined(m) {
		e.Text = r.Text
	}
	return e
}

// Parse reads one complete reply. It never fails: whatever cannot be
// understood is in the result.
func Parse(in Input) Result {
	text := joined(in.Message)
	if n := in.Message.Calls(); n > 0 {
		res := Result{Format: Native, Text: text, Calls: native(&in, &ids{base: in.Base, before: in.Used, total: n})}
		res.Cut = slices.ContainsFunc(res.Calls, func(c event.ParsedCall) bool { return c.Problem == ProblemIncomplete })
		return res
	}
	_, res := in.read(text)
	return res
}

// read reads a text. The reading is nil where there is nothing in it to look at.
func (in *Input) read(text string) (*reading, Result) {
	res := Result{Format: Text, Text: text}
	if !in.TextCalls || len(in.Tools) == 0 && !in.AnyName && !mayHoldReasoning(text) || !mayHoldMore(text) {
		if in.TextCalls {
			in.sayForged(&res)
		}
		return nil, res
	}
	if len(text) > MaxText {
		res.note("the text was not searched for calls: it is longer than " + strconv.Itoa(MaxText) + " bytes")
		return nil, res
	}
	r := newReading(in, text)
	r.scan()
	if len(in.Tools) == 0 && !in.AnyName {
		r.found = nil // nothing can be called
	}
	r.decide(&res)
	in.finish(&res)
	return r, res
}

// mayHoldMore reports whether a text has the least that calls and reasoning
// need. It keeps plain prose fast.
func mayHoldMore(text string) bool {
	return strings.IndexByte(text, '<') >= 0 || strings.IndexByte(text, '[') >= 0 ||
		strings.IndexByte(text, '{') >= 0 || strings.Contains(text, linesWord) || strings.Contains(text, answerWord) ||
		strings.Contains(text, recipientMark) || strings.Contains(text, escapedTag) || mayThink(text)
}

// mayThink reports whether a text has marks of reasoning that hold no bracket.
func mayThink(text string) bool {
	p, _ := thinkSentence(text)
	return p != nil || strings.Contains(text, thinkToken)
}

func mayHoldReasoning(text string) bool {
	return strings.IndexByte(text, '<') >= 0 || strings.IndexByte(text, '[') >= 0 || strings.Contains(text, answerWord) || mayThink(text)
}

// settle gives a call that could be read the problem of its reply, if any. At
// the length limit none runs, native or in the text, not even those that others
// follow: the model had not come to the end of what it was about to ask for, and
// is told to send it again.
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
