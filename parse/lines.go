package parse

import (
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
)

// linesWord is in every text that calls by labelled lines, and answerWord in
// those that give the answer by one.
const (
	linesWord  = "Action"
	answerWord = "Final Answer"
)

// linesFormat is the id of the dialect of labelled lines.
const linesFormat = "react"

// label is what a line says that it is.
type label uint8

const (
	noLabel label = iota
	labelThought
	labelAction
	labelInput
	labelObservation
	labelAnswer
)

// labels are the words of the labels; those that begin others come after them.
var labels = [...]struct {
	word  string
	label label
}{
	{"Action Input", labelInput}, {"Action input", labelInput}, {"ActionInput", labelInput},
	{linesWord, labelAction}, {"Thought", labelThought}, {"Observation", labelObservation}, {answerWord, labelAnswer},
}

// labelAt returns the label that a line beginning at s[i] has, and the index
// after its colon. Labels may be emphasised or numbered: "**Action 1:**".
func labelAt(s string, i int) (l label, end int) {
	i = emphasis(s, i)
	for _, w := range labels {
		if !strings.HasPrefix(s[i:], w.word) {
			continue
		}
		l = w.label
		i = numbered(s, i+len(w.word))
		if l == labelAction && strings.HasPrefix(s[i:], "Input") { // "Action 1 Input:"
			l, i = labelInput, numbered(s, i+len("Input"))
		}
		if i < len(s) && s[i] == ':' {
			return l, emphasis(s, i+1)
		}
		break
	}
	return noLabel, i
}

// emphasis steps over blanks and what Markdown emphasises with.
func emphasis(s string, i int) int {
	for i < len(s) && emphatic(s[i]) {
		i++
	}
	return i
}

// numbered steps over a number, and what emphasises it.
func numbered(s string, i int) int {
	for i = emphasis(s, i); i < len(s) && '0' <= s[i] && s[i] <= '9'; {
		i++
	}
	return emphasis(s, i)
}

func emphatic(c byte) bool { return c == ' ' || c == '\t' || c == '*' || c == '#' || c == '_' }

// lines takes the labelled lines at s[i]: a call, or the answer.
func (r *reading) lines(i int) int {
	answer := strings.HasPrefix(r.s[i:], "Answer") && strings.HasSuffix(r.s[:i], "Final ")
	if !answer && !strings.HasPrefix(r.s[i:], linesWord) || !r.bareAllowed(dialect.Lines) || !r.spend(16) {
		return 0
	}
	from := i
	if answer {
		from -= len("Final ")
	}
	for from > r.from && emphatic(r.s[from-1]) {
		from--
	}
	if from > r.from && r.s[from-1] != '\n' {
		return 0
	}
	switch l, at := labelAt(r.s, from); l {
	case labelAction:
		if r.answered {
			return 0 // the answer speaks of actions
		}
		return r.action(from, at)
	case labelAnswer:
		r.answered = true
		return r.finalAnswer(from, at)
	}
	return 0
}

// labelled reports whether the reply begins with a label, so that it is one of
// this form as a whole.
func (r *reading) labelled() bool {
	start := 0
	if n := len(r.thought); n > 0 {
		start = r.thought[n-1].to
	}
	l, _ := labelAt(r.s, skip(r.s, start))
	return l != noLabel
}

// finalAnswer takes what stands before an answer and its label for reasoning, if
// the reply is of this form.
func (r *reading) finalAnswer(from, at int) int {
	if len(r.found) > 0 || !r.labelled() && (r.only == nil || r.only.Grammar != dialect.Lines) {
		return 0
	}
	r.thoughtUpTo(from)
	r.cuts = append(r.cuts, span{0, at})
	r.from = at
	return at
}

// thoughtUpTo takes what stands before s[i] for reasoning, without its label.
func (r *reading) thoughtUpTo(i int) {
	start := 0
	if n := len(r.thought); n > 0 {
		start = r.thought[n-1].to
	}
	if l, body := labelAt(r.s, skip(r.s, start)); l == labelThought {
		start = body
	}
	if skip(r.s, start) < i {
		r.thought = append(r.thought, span{start, i})
	}
}

// action takes the call whose label "Action:" stands at s[from:at].
func (r *reading) action(from, at int) int {
	s := r.s
	if j := skip(s, at); j < len(s) && (s[j] == '{' || run(s, j) >= 3) {
		return r.blob(from, j)
	}
	end, input := lineOf(s, at), -1
	if k := strings.Index(s[at:end], linesWord); k >= 0 {
		if l, body := labelAt(s, at+k); l == labelInput {
			end, input = at+k, body // all on one line
		}
	}
	c, called := r.lineName(s[at:end])
	if c.Name == "" {
		return 0
	}
	if input < 0 {
		next := skip(s, end)
		l, body := labelAt(s, next)
		if l == labelInput || next < len(s) && r.in.declared(c.Name) && (s[next] == '{' || run(s, next) >= 3) {
			input = body
		}
	}
	switch {
	case called:
	case input >= 0:
		end = r.lineInput(&c, input)
	case !r.in.declared(c.Name), r.only == nil && !r.labelled():
		return 0 // no more than a sentence
	default:
		end = r.noInput(&c, end)
	}
	return r.lineCall(from, end, c)
}

// noInput takes what stands at s[i] behind a name for a call without arguments,
// if the tool has none. Otherwise they are missing.
func (r *reading) noInput(c *event.ParsedCall, i int) (end int) {
	next := skip(r.s, i)
	node := r.params(c.Name)
	switch {
	case next < len(r.s) && strings.HasPrefix(linesWord+" Input:", r.s[next:]):
		c.Problem = ProblemIncomplete
		return len(r.s)
	case i == len(r.s):
		c.Problem = ProblemIncomplete // perhaps in the name
	case len(node.Names()) == 0 && node.Kinds() != 0:
		c.Args, c.Problem, c.Repairs = arguments("")
	case next == len(r.s):
		c.Problem = ProblemIncomplete
	default:
		c.Problem = ProblemInvalid
	}
	return i
}

// lineOf returns where the line ends that s[i] is in.
func lineOf(s string, i int) int {
	if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(s)
}

// lineName reads what stands after "Action:": a name, perhaps marked as code, or
// a whole call as Python writes it.
func (r *reading) lineName(text string) (c event.ParsedCall, called bool) {
	text = strings.TrimRight(strings.Trim(text, " \t\r*`'\"[]<>"), ".")
	name, end := pyName(text, 0)
	switch {
	case name == "":
		return c, false
	case end == len(text) || text[end:] == "()" && r.in.declared(r.toolName(name)):
		return event.ParsedCall{Name: r.toolName(name)}, false
	case text[end] != '(':
		return c, false
	}
	p := pyCall{s: text, i: end + 1, node: r.params(r.toolName(name))}
	if p.read() != whole || p.i != len(text) {
		if !r.in.declared(r.toolName(name)) {
			return c, false
		}
		return event.ParsedCall{Name: r.toolName(name), Args: text[end:], Problem: ProblemSyntax}, true
	}
	return event.ParsedCall{Name: r.toolName(name), Args: p.args, Repairs: p.repairs}, true
}

// nextLabel returns where the next labelled line at or after s[i] begins.
func (r *reading) nextLabel(i int) int {
	from := i
	for ; i < len(r.s); i = min(lineOf(r.s, i)+1, len(r.s)) {
		if r.s[i] == '\n' {
			continue
		}
		if l, _ := labelAt(r.s, i); l != noLabel {
			break
		}
	}
	r.spend(i - from)
	return i
}

// lineCall records a call. In a reply of this form it is marked as one by its
// labels; elsewhere it must name a tool.
func (r *reading) lineCall(from, end int, c event.ParsedCall) int {
	f := found{from: from, format: linesFormat, kind: loose}
	if r.only != nil || r.labelled() {
		f.kind = marked
	} else if !r.offered(c.Name) {
		return 0
	}
	f.calls, f.end, f.invented = []event.ParsedCall{c}, end, r.invention(end)
	r.add(f)
	return end
}

// invention returns where, after a call that ends at s[i] and before the next,
// the model gives a result or an answer that it can not have; 0 for nowhere.
func (r *reading) invention(i int) int {
	if i > 0 && r.s[i-1] != '\n' {
		i = lineOf(r.s, i)
	}
	if n := &r.next; n.label == noLabel || i < n.from || i > n.at {
		n.from, n.at, n.label = i, len(r.s), labelAction
		for i < len(r.s) {
			i = r.nextLabel(i)
			if l, _ := labelAt(r.s, i); l == labelObservation || l == labelAnswer || l == labelAction {
				n.at, n.label = i, l
				break
			}
			i = lineOf(r.s, i)
		}
	}
	if r.next.label == labelAction {
		return 0
	}
	return r.next.at
}
