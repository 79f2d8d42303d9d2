package parse

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
)

// A group is what stands in one JSON text: calls, or something else.
type group struct {
	calls []event.ParsedCall
	// content is the text that an envelope carries beside its calls.
	content string
	// foreign: something that is not a call stands among the elements, so that
	// the whole is data, not a request.
	foreign bool
	// torn: the text ends inside an element of which too little is left to say
	// what it was.
	torn bool
}

// The members that a call may have. What has others is not taken for a call:
// the commonest JSON with a tool's name in it is that tool's definition.
//
// Aliases are in the order in which they are preferred.
var (
	nameKeys = [...]string{"name", "tool", "function"}
	argsKeys = [...]string{"arguments", "parameters", "args", "input"}
)

func rank(keys []string, key string) int {
	for i, k := range keys {
		if k == key {
			return i
		}
	}
	return -1
}

// bare reads a text that is JSON from end to end. It reports whether the text
// is settled: calls, or JSON that is none.
func bare(r *Result, text string, tools []string) bool {
	s := trim(text[reasoningEnd(text):])
	if s == "" || s[0] != '{' && s[0] != '[' {
		return false
	}
	g, end := elements(s, true)
	n := known(g.calls, tools)
	switch {
	case n > 0 && g.settles(s[end:]):
	case n > 0 && !g.foreign:
		r.note("a call of " + quote(g.calls[0].Name) + " was left alone: other text follows it")
		return false
	case n == 0 && g.calls != nil && !g.foreign && end == len(s) && len(tools) > 0 && argued(g.calls):
		r.problem("it is nothing but a call of " + quote(g.calls[0].Name) + ", and no such tool is offered; there are " + strings.Join(tools, ", "))
		return true
	default:
		// An answer in JSON, or prose that begins with a bracket.
		r.leave(&g, n)
		return end == len(s)
	}
	r.Format, r.Calls, r.Text = JSON, g.calls, g.content
	if g.torn {
		r.problem(tornProblem(len(g.calls)))
	}
	return true
}

// argued reports whether every call has arguments: what has only a name is more
// likely data.
func argued(calls []event.ParsedCall) bool {
	for i := range calls {
		if calls[i].Args == "" {
			return false
		}
	}
	return true
}

// settles reports whether the group is calls and nothing else, given what
// follows it. More closers than openers leave the calls plain but their text
// no JSON: the last one is marked.
func (g *group) settles(rest string) bool {
	if g.foreign || len(g.calls) == 0 {
		return false
	}
	if rest = trim(rest); rest == "" {
		return true
	}
	if strings.Trim(rest, "]}),; \t\r\n") != "" {
		return false
	}
	if last := &g.calls[len(g.calls)-1]; last.Problem == "" {
		last.Problem = ProblemInvalid
	}
	return true
}

// leave notes why a group with calls in it is not acted on; n of its calls name
// tools of the request.
func (r *Result) leave(g *group, n int) {
	switch {
	case len(g.calls) == 0:
	case n == 0:
		r.note("what reads as a call of " + quote(g.calls[0].Name) + " was left alone: no such tool was offered")
	default:
		r.note("a call of " + quote(g.calls[0].Name) + " was left alone: it stands among other data")
	}
}

// elements reads calls from the beginning of s, which is '{' or '[': one
// object, several with white space, commas or semicolons between, or a list. It
// returns the index after what it read. outer is false inside an envelope,
// where no other can stand.
func elements(s string, outer bool) (g group, end int) {
	i, list := 0, s[0] == '['
	if list {
		i = 1
	}
	for {
		j := i
		for j < len(s) && (blank(s[j]) || s[j] == ',' || s[j] == ';') {
			j++
		}
		switch {
		case j == len(s):
			if n := len(g.calls); list && n > 0 && strings.IndexByte(s[i:], ',') < 0 {
				// Every element is closed and no other was begun.
				last := &g.calls[n-1]
				last.Repairs = append(last.Repairs, event.Repair{Kind: RepairList})
			} else {
				g.torn = g.torn || list
			}
			return g, j
		case list && s[j] == ']':
			return g, j + 1
		case s[j] != '{':
			if list {
				g.foreign = true
			}
			return g, i
		}
		stop, st := value(s, j)
		elem := s[j:stop]
		if st != whole {
			elem, stop = s[j:], len(s)
		}
		if !g.foreign && len(g.calls) <= MaxCalls {
			g.add(elem, st, outer)
		}
		if i = stop; st != whole {
			return g, i
		}
	}
}

// add reads one element: a call, or an envelope of calls at the outermost level.
func (g *group) add(elem string, st state, outer bool) {
	o := readObject(elem, st)
	switch {
	case o.envelope != "" && outer && !o.foreign && o.name == "":
		inner, _ := elements(o.envelope, false)
		for i := range inner.calls {
			if c := &inner.calls[i]; c.Problem == "" && st == whole {
				c.Problem = o.problem // such as a second list of the same name
			}
		}
		g.calls = append(g.calls, inner.calls...)
		g.foreign = g.foreign || inner.foreign
		g.torn = g.torn || inner.torn
		g.content += o.content
	case o.isCall():
		g.calls = append(g.calls, o.call())
	case st != whole && !o.foreign:
		g.torn = true
	default:
		g.foreign = true
	}
}

// object is what the members of an element say.
type object struct {
	name, id string
	args     string
	hasArgs  bool
	argsRank int
	// wire: the form of an OpenAI tool call, whose arguments are always text.
	wire     bool
	envelope string
	content  string
	foreign  bool
	problem  string
}

// readObject reads an element, as far as it goes.
func readObject(s string, st state) (o object) {
	switch {
	case st == cut:
		o.problem = ProblemIncomplete
	case st == tooDeep:
		o.problem = ProblemLimit
	case st == broken || !jsontext.Value(s).IsValid():
		o.problem = ProblemInvalid
	}
	o.argsRank = len(argsKeys)
	m := newMembers(s)
	for {
		key, raw, ok := m.next()
		if !ok {
			return o
		}
		o.member(key, raw, m.state, true)
	}
}

// member takes in one member. outer is false inside a "function" object.
func (o *object) member(key, raw string, st state, outer bool) {
	text := raw != "" && raw[0] == '"'
	switch {
	case rank(nameKeys[:], key) >= 0 && text && st == whole:
		name := unquote(raw)
		o.foreign = o.foreign || o.name != "" && o.name != name
		o.name = name
	case rank(argsKeys[:], key) >= 0:
		if n := rank(argsKeys[:], key); n < o.argsRank {
			o.args, o.argsRank, o.hasArgs = raw, n, true
			o.wire = !outer
			o.foreign = o.foreign || key == "parameters" && definition(raw)
		}
	case key == "function" && outer && raw != "" && raw[0] == '{':
		m := newMembers(raw)
		for {
			k, v, ok := m.next()
			if !ok {
				return
			}
			o.member(k, v, m.state, false)
		}
	case key == "id" || key == "call_id" || key == "tool_call_id":
		if text && st == whole && o.id == "" {
			o.id = unquote(raw)
		}
	case key == "type" || key == "index":
	case key == "tool_calls" && outer && raw != "" && raw[0] == '[':
		o.envelope = raw
	case key == "content" && outer:
		if text && st == whole {
			o.content = unquote(raw)
		}
	case key == "role" && outer:
	default:
		o.foreign = true
	}
}

// definition reports whether a value is a JSON Schema of arguments, so that
// what holds it describes a tool instead of calling it.
func definition(raw string) bool {
	if raw == "" || raw[0] != '{' {
		return false
	}
	m := newMembers(raw)
	object, properties := false, false
	for {
		key, v, ok := m.next()
		if !ok {
			return object && properties
		}
		object = object || key == "type" && v == `"object"`
		properties = properties || key == "properties"
	}
}

// isCall reports whether the members are those of a call: a name and arguments
// and nothing that a call has not. One that is cut off may end after the name.
func (o *object) isCall() bool {
	return o.name != "" && (o.hasArgs || o.problem == ProblemIncomplete) &&
		o.envelope == "" && o.content == "" && !o.foreign
}

// call makes the call of an object that is one. WireID holds the model's id.
func (o *object) call() event.ParsedCall {
	c := event.ParsedCall{Name: o.name, WireID: o.id, Problem: o.problem}
	args := o.args
	if o.wire && o.problem == "" && args[0] == '"' {
		args = unquote(args)
	}
	if c.Args = args; o.problem == "" {
		c.Args, c.Problem, c.Repairs = arguments(args)
	}
	return c
}

// known counts the calls that name a tool of the request.
func known(calls []event.ParsedCall, tools []string) int {
	n := 0
	for i := range calls {
		if declared(tools, calls[i].Name) {
			n++
		}
	}
	return n
}

func tornProblem(n int) string {
	return "the calls are cut off after the first " + strconv.Itoa(n)
}

// quote shows a name that a model wrote, at a length that is safe to show.
func quote(name string) string {
	const most = 64
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "…"
	}
	return strconv.Quote(name)
}
