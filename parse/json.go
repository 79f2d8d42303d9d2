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
	// foreign: something that is not a call stands among the elements of a
	// list, so that the whole is data, not a request.
	foreign bool
	// torn: the text ends inside an element of which too little is left to say
	// what it was.
	torn bool
	// envelope: they stand in the message of a chat completion. list: in a list.
	envelope, list bool
	// data: after the calls stands JSON that is none, such as a result that the
	// model made up.
	data bool
}

// The members that a call may have. What has others is not taken for a call
// where nothing marks it as one: the commonest JSON with a tool's name in it is
// that tool's definition.
//
// Aliases are in the order in which they are preferred.
var (
	nameKeys = [...]string{"name", "tool_name", "tool", "function", "function_name"}
	argsKeys = [...]string{"arguments", "parameters", "args", "input", "params", "kwargs", "argument",
		"tool_args", "tool_input", "action_input"}
)

func rank(keys []string, key string) int {
	for i, k := range keys {
		if k == key {
			return i
		}
	}
	return -1
}

// argsRank is rank of a name for the arguments, in capitals or not.
func argsRank(key string) int {
	for i, k := range argsKeys {
		if strings.EqualFold(k, key) {
			return i
		}
	}
	return -1
}

// known counts the calls that name a tool of the request.
func (in *Input) known(calls []event.ParsedCall) int {
	if in.AnyName {
		return len(calls)
	}
	n := 0
	for i := range calls {
		if in.declared(calls[i].Name) {
			n++
		}
	}
	return n
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

// elements reads calls from JSON: one object, several with white space, commas
// or semicolons between, or a list.
type elements struct {
	group
	// marked: the text was marked as a call, so that members which a call has
	// not are passed over, and arguments may be missing.
	marked bool
	// has reports whether a tool declares a parameter. Nil: nobody knows.
	has func(tool, key string) bool
	// nameIsKey: the only key of an object is the tool's name.
	nameIsKey bool
	// inner: inside an envelope, where no other can stand.
	inner bool
	// named is the name of a call that gives none, from outside of the JSON.
	named string
	// strict: what lacks its own bracket is cut off.
	strict bool
	// resume: after an element that is broken reading goes on, if there is a
	// place from which it surely can.
	resume bool
	// spent is how much of the text was read twice for that, in bytes. ahead is what
	// looked counts.
	spent, ahead int
	// fault is where the last element was broken, if reading could not go on
	// after it.
	fault int
	// last is where the last element begins. shut: the list has its bracket.
	last int
	shut bool
	// strange shows the first thing among marked calls that is none.
	strange string
	// answers: there were calls which say that nothing is called.
	answers bool
	// ended is how the last element ended.
	ended state
}

// again is how many bytes were looked at beside those that were read once.
func (e *elements) again() int { return e.spent + e.ahead }

// looked counts n bytes that were looked at beyond what was read, for a value that
// is no call. Its end is found far faster than it would be read; but brackets that
// are too deep are looked at from each of them.
func (e *elements) looked(n int, st state) {
	if st != tooDeep {
		n /= 2
	}
	e.ahead += n
}

// read reads from s[i], which is '{' or '[', and returns the index after what
// it read.
func (e *elements) read(s string, i int) (end int) {
	list := s[i] == '['
	if e.list = list; list {
		i++
	}
	for first := true; ; first = false {
		j := i
		for j < len(s) && (blank(s[j]) || s[j] == ',' || s[j] == ';') {
			j++
		}
		switch {
		case j == len(s):
			if n := len(e.calls); list && n > 0 && strings.IndexByte(s[i:], ',') < 0 {
				// Every element is closed and no other was begun.
				last := &e.calls[n-1]
				last.Repairs = append(last.Repairs, event.Repair{Kind: RepairList})
			} else if list {
				e.torn, e.ended = true, cut
			}
			return j
		case list && s[j] == ']':
			e.shut = true
			return j + 1
		case s[j] != '{':
			next := j
			if list {
				next = e.other(s, j)
			}
			if next > j {
				i = next
				continue
			}
			return i
		}
		text, stop, st, repairs := e.value(s, j)
		if st == cut || st == tooDeep {
			stop = len(s)
		}
		e.ended = st
		if !list && !first && st == whole && len(e.calls) > 0 {
			// After complete calls only more calls belong to them.
			if o := e.object(text, st); o.envelope != "" || !o.isCall(e.marked) {
				e.data = true
				return i
			}
		}
		e.last = j
		next := stop
		if e.resume && st == broken {
			if next = e.after(s, j, list); next > j {
				text = s[j:trimEnd(s, next)]
			}
		}
		if !e.foreign && len(e.calls) <= MaxCalls {
			e.add(text, st, repairs)
		}
		switch {
		case st == whole, e.resume && st == broken && next > j:
		case e.resume:
			e.fault = stop
			return len(s) // what follows may be a part of it
		default:
			return stop
		}
		i = next
	}
}

// other reads what stands at s[j] in a list and is no object, and returns the
// index after it if reading can go on there, else j. It may be one in a string.
func (e *elements) other(s string, j int) int {
	end, st := value(s, j)
	if st == whole && s[j] == '"' && e.quoted(s[j:end]) {
		return end
	}
	if !e.marked || st != whole {
		e.foreign = true
		e.looked(end-j, st)
		return j
	}
	if k := skip(s, end); k < len(s) && s[k] == ':' {
		e.looked(end-j, st)
		return j // the member of an object that ended too early
	}
	e.stray(s[j:end])
	return end
}

// stray takes down what stands among marked calls and is none.
func (e *elements) stray(text string) {
	if e.strange == "" {
		e.strange = excerpt(text, 0)
	}
}

// quoted reads an element that is an object inside a string.
func (e *elements) quoted(lit string) bool {
	if !jsontext.Value(lit).IsValid() {
		return false
	}
	text := trim(unquote(lit))
	if text == "" || text[0] != '{' || check(text) != "" {
		return false
	}
	o := e.object(text, whole)
	if !o.isCall(e.marked) {
		return false
	}
	e.calls = append(e.calls, e.call(&o, text, nil))
	return true
}

// value returns the JSON object at s[j], mended where that is needed.
func (e *elements) value(s string, j int) (text string, end int, st state, repairs []event.Repair) {
	text, end, st, repairs = mend(s, j)
	if st != whole {
		text = s[j:]
		if st == broken && end > j {
			// What the object said before its fault still names the call.
			end = max(end, j+1)
		}
	}
	return text, end, st, repairs
}

// add reads one element: a call, or an envelope of calls at the outermost level.
func (e *elements) add(text string, st state, repairs []event.Repair) {
	o := e.object(text, st)
	switch {
	case o.envelope != "" && !e.inner && !o.foreign && o.name == "":
		in := elements{inner: true, marked: e.marked, has: e.has}
		in.read(o.envelope, 0)
		for i := range in.calls {
			if c := &in.calls[i]; c.Problem == "" && st == whole {
				c.Problem = o.problem // such as a second list of the same name
			}
		}
		e.calls = append(e.calls, in.calls...)
		e.envelope = true
		e.foreign = e.foreign || in.foreign
		if in.strange != "" {
			e.stray(in.strange)
		}
		e.torn = e.torn || in.torn
		e.ahead += in.ahead
		e.content += o.content
	case o.isCall(e.marked):
		e.calls = append(e.calls, e.call(&o, text, repairs))
	case st != whole && !o.foreign:
		e.torn = true
	case e.marked:
		e.stray(text)
	default:
		e.foreign = true
	}
}

// object is what the members of an element say.
type object struct {
	name, id string
	args     string
	hasArgs  bool
	argsRank int
	// spare is what another member for the arguments holds, if anything, and
	// extra are the members with a value that no call has.
	spare string
	extra []string
	// wire: the form of an OpenAI tool call, whose arguments are always text.
	wire     bool
	envelope string
	content  string
	foreign  bool
	problem  string
	// unclosed: its own bracket is missing, while all in it is closed.
	unclosed bool
}

// object reads an element, as far as it goes.
func (e *elements) object(s string, st state) (o object) {
	switch {
	case st == cut:
		o.problem = ProblemIncomplete
	case st == tooDeep:
		o.problem = ProblemLimit
	case st == broken:
		o.problem = ProblemInvalid
	}
	if e.nameIsKey {
		o.keyed(s, e.strict)
		return o
	}
	o.argsRank = len(argsKeys)
	m := newMembers(s)
	for {
		key, raw, ok := m.next()
		if !ok {
			break
		}
		o.member(key, raw, m.state, true)
	}
	if o.name == "" && o.hasArgs {
		o.name = e.named
	}
	return o
}

// keyed reads an element whose only member is the tool's name and the arguments.
// Once these are closed, nothing of the call can be missing, unless the policy is
// strict.
func (o *object) keyed(s string, strict bool) {
	m := newMembers(s)
	key, raw, ok := m.next()
	if !ok {
		return
	}
	o.name, o.args, o.hasArgs = key, raw, true
	closed := m.state == whole && skip(s, m.i) == len(s)
	if _, _, ok = m.next(); ok {
		o.foreign, o.problem = true, ProblemTwoNames
	} else if closed && o.problem == ProblemIncomplete && !strict {
		o.problem, o.unclosed = "", true
	}
}

// member takes in one member. outer is false inside a "function" object.
func (o *object) member(key, raw string, st state, outer bool) {
	text := raw != "" && raw[0] == '"'
	switch {
	case rank(nameKeys[:], key) >= 0 && text && st == whole:
		name := unquote(raw)
		if o.name != "" && o.name != name {
			o.foreign, o.problem = true, ProblemTwoNames
		}
		o.name = name
	case argsRank(key) >= 0:
		o.argument(argsRank(key), raw, outer)
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
		} else if !hollow(raw) {
			o.extra = append(o.extra, key)
		}
	case key == "role" && outer:
	default:
		o.foreign = true
		if !hollow(raw) {
			o.extra = append(o.extra, key)
		}
	}
}

// argument takes in a member for the arguments whose name is the n-th of them.
func (o *object) argument(n int, raw string, outer bool) {
	other := raw
	if n < o.argsRank {
		other = o.args
		o.args, o.argsRank, o.hasArgs = raw, n, true
		o.wire = !outer
		o.foreign = o.foreign || definition(raw)
	}
	if !hollow(other) {
		o.spare = other
	}
}

// hollow reports whether a value says nothing: null, and what has nothing in it.
func hollow(raw string) bool {
	for range 2 { // once inside a string
		if raw = trim(raw); raw == "" || raw == "null" {
			return true
		}
		switch c := raw[0]; {
		case len(raw) < 2:
			return false
		case c == '{' || c == '[':
			return trim(raw[1:len(raw)-1]) == ""
		case c != '"':
			return false
		}
		raw = unquote(raw)
	}
	return false
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
// and, unless the text was marked as a call, nothing that a call has not. One
// that is cut off may end after the name.
func (o *object) isCall(marked bool) bool {
	if o.name == "" || o.envelope != "" {
		return false
	}
	if marked {
		return true
	}
	return (o.hasArgs || o.problem == ProblemIncomplete) && o.content == "" && !o.foreign
}

// more reports whether the object holds more than a call.
func (o *object) more() bool {
	return len(o.extra) > 0 || o.content != "" || o.spare != "" && o.spare != o.args
}

// call makes the call of an object that is one and that has this text. What it
// holds beside its arguments may be left out of them only if that is surely no
// argument.
func (e *elements) call(o *object, text string, repairs []event.Repair) event.ParsedCall {
	c := o.call(repairs)
	if c.Problem != "" || !o.more() {
		return c
	}
	missing := hollow(o.args)
	for _, key := range o.extra {
		missing = missing || e.has != nil && e.has(o.name, key)
	}
	if missing {
		c.Args, c.Problem, c.Repairs = text, ProblemParams, nil
		return c
	}
	c.Repairs = append(c.Repairs, event.Repair{Kind: RepairMembers, Lossy: true})
	return c
}

// call makes the call of an object that is one. WireID holds the model's id.
func (o *object) call(repairs []event.Repair) event.ParsedCall {
	c := event.ParsedCall{Name: o.name, WireID: o.id, Problem: o.problem}
	args := o.args
	if o.wire && o.problem == "" && args != "" && args[0] == '"' {
		args = unquote(args)
	}
	if args == "null" {
		args = "" // there are none
	}
	c.Args = args
	strict := !o.unclosed && args != "" && args[0] == '{' && len(args) <= MaxText // as part of the object that was read
	if o.problem == "" && (!strict || o.wire) {
		c.Args, c.Problem, c.Repairs = arguments(args)
	}
	c.Repairs = append(c.Repairs, repairs...)
	if o.unclosed {
		c.Repairs = append(c.Repairs, event.Repair{Kind: RepairBlock})
	}
	return c
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
