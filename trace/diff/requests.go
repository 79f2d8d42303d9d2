package diff

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// Request is one request of a run.
type Request struct {
	Called *event.ModelCalled
	// Seq is the sequence of Called.
	Seq int64
	Context
	// Body is what was sent, or what would be sent today; empty where nobody knows it,
	// as in a run that another program has recorded.
	Body string
}

// Changes says how a request differs from one before it, of the same run. The names
// of its JSON members are stable.
type Changes struct {
	// Changes are the differences in words, in the order of a request.
	Changes []Change `json:"changes"`
	// Prefix is what a provider that has cached the request before can use of that.
	Prefix Prefix `json:"cached_prefix"`
	// Diff are the two bodies, indented, as [Excerpt.Of] has them, with three lines
	// around what differs; where one is not known, the two contexts.
	Diff []string `json:"diff"`
}

// Change is one difference.
type Change struct {
	// Kind is "added", "removed" or "changed" of a message, or one of the kinds of
	// findings: model, tool_offered, tool, system, rewrite, tail.
	Kind Kind   `json:"kind"`
	Text string `json:"text"`
}

// The kinds of changes that findings do not have.
const (
	KindAdded   Kind = "added"
	KindRemoved Kind = "removed"
	KindChanged Kind = "changed"
)

// Prefix is the beginning that two requests have in common.
type Prefix struct {
	// Kept: all that the first request had is in the second, in the same place, but
	// for the block at the end.
	Kept bool `json:"kept"`
	// Bytes is how many bytes of the bodies are the same from the start, and Of the
	// length of the first body; 0 and 0 where they are not known.
	Bytes int64 `json:"bytes"`
	Of    int64 `json:"of"`
	// At is a JSON pointer to the value that differs first, empty if that is not known.
	At string `json:"at"`
	// Text says it in words.
	Text string `json:"text"`
}

// Requests says how a request of a run differs from one before it.
func Requests(r *Run, before, after *Request) *Changes {
	v := &requests{run: r, before: before, after: after, c: &Comparison{a: r, b: r}, names: map[string]string{}}
	if before.Called.Model != after.Called.Model {
		v.lose("another model is asked")
		v.add(KindModel, "another model is asked: %s, before %s", after.Called.Model, before.Called.Model)
	}
	v.head()
	for i := range r.Rewrites {
		if w := &r.Rewrites[i]; w.Event > before.Seq && w.Event < after.Seq {
			v.add(KindRewrite, "the context was rewritten before this request (%s)%s", w.what(), because(w.Why))
		}
	}
	v.messages()
	if x, y := tailText(&before.Context), tailText(&after.Context); x != y {
		v.tail(x, y)
	}
	out := &Changes{Changes: v.list, Prefix: v.prefix()}
	lines, _ := Lines(v.lines())
	if out.Diff = (Excerpt{Around: 3}).Of(lines); out.Diff == nil {
		out.Diff = []string{}
	}
	return out
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// lines returns the two requests as lines to be compared.
func (v *requests) lines() (before, after []string) {
	if v.unknown() {
		return v.before.Context.lines(), v.after.Context.lines()
	}
	return bodyLines(v.before.Body), bodyLines(v.after.Body)
}

// unknown reports whether a body is not known.
func (v *requests) unknown() bool { return v.before.Body == "" || v.after.Body == "" }

// lines returns a context as lines.
func (c *Context) lines() []string {
	var out []string
	add := func(m *message.Message) {
		it := itemOf(&Run{}, m, nil)
		for i, l := range strings.Split(it.text, "\n") {
			if i == 0 {
				l = strings.TrimSpace(string(m.Role) + ": " + l)
			}
			out = append(out, l)
		}
		for i := range m.Parts {
			if p := &m.Parts[i]; p.Kind == message.ToolCall {
				out = append(out, "calls "+p.Name+" "+p.Args)
			}
		}
	}
	for _, list := range [][]message.Message{c.System, c.Messages} {
		for i := range list {
			add(&list[i])
		}
	}
	if c.Tail != nil {
		add(c.Tail)
	}
	return out
}

// bodyLines returns a body with a line for each value; one that is not JSON as it is.
func bodyLines(body string) []string {
	if s, ok := indented(body); ok {
		body = s
	}
	return strings.Split(body, "\n")
}

// requests compares two requests of one run.
type requests struct {
	run           *Run
	before, after *Request
	c             *Comparison
	list          []Change
	// lost says where the prefix that both have ends, if that is before the end.
	lost  string
	names map[string]string // what calls are called, by id; looked up only
}

func (v *requests) add(k Kind, format string, args ...any) {
	v.list = append(v.list, Change{k, fmt.Sprintf(format, args...)})
}

// lose notes that the prefix ends here; the first place counts.
func (v *requests) lose(where string) {
	if v.lost == "" {
		v.lost = where
	}
}

// head compares what stands before the messages.
func (v *requests) head() {
	a, b := &v.before.Context, &v.after.Context
	if a.Dialect != b.Dialect {
		v.lose("the way in which calls are written")
		v.add(KindDialect, "calls are written in %s, before in %s", dialect(b), dialect(a))
	}
	v.c.system(systemText(a), systemText(b), v.run.Spec, v.run.Spec, "")
	v.c.tools(a.Tools, b.Tools, "")
	for i := range v.c.found {
		f := &v.c.found[i]
		text := f.Text
		switch {
		case f.Kind == KindSystem:
			v.lose("the system text")
			text = strings.NewReplacer(" in A", " before", " in B", " now", "A's", "the earlier", "B's", "this one's").Replace(text)
		case f.Only == "a":
			text = strings.Replace(text, "is offered only in A", "is not offered any more", 1)
		case f.Only == "b":
			text = strings.Replace(text, "is offered only in B", "is offered now", 1)
		}
		if f.Kind != KindSystem {
			v.lose("the tools")
		}
		v.list = append(v.list, Change{f.Kind, text})
	}
}

// messages compares the conversations.
func (v *requests) messages() {
	a, b := itemsOf(v.run, &v.before.Context, nil), itemsOf(v.run, &v.after.Context, nil)
	ids := interner[event.Hash]{}
	spans, _ := common(ids.all(keys(a)), ids.all(keys(b)))
	var added, removed []string
	i, j := 0, 0
	for _, s := range append(spans, span{len(a), len(b), 0}) {
		if i < s.a || j < s.b && i < len(a) {
			v.lose(v.place(a, i))
		}
		plus, minus := v.gap(a, b, i, s.a, j, s.b)
		added, removed = append(added, plus...), append(removed, minus...)
		i, j = s.a+s.n, s.b+s.n
	}
	v.listed(KindRemoved, "removed", removed)
	v.listed(KindAdded, "added", added)
}

// place names a message.
func (v *requests) place(list []item, i int) string {
	return fmt.Sprintf("message %s, %s", number(i+1), v.name(&list[i], &v.before.Messages[i]))
}

// gap compares messages that stand between those that are the same: a result of the
// same call, or a reply with the same calls, has changed; all others have come or gone.
func (v *requests) gap(a, b []item, a0, a1, b0, b1 int) (added, removed []string) {
	now := map[string]int{} // by what identifies a message, looked up only
	for j := b0; j < b1; j++ {
		if id := identity(&v.after.Messages[j]); id != "" {
			now[id] = j + 1
		}
	}
	changed := make([]bool, b1-b0)
	for i := a0; i < a1; i++ {
		name := v.name(&a[i], &v.before.Messages[i])
		j := now[identity(&v.before.Messages[i])] - 1
		if j < 0 {
			removed = append(removed, name)
			continue
		}
		changed[j-b0] = true
		what := "has another text"
		if e, ok := v.run.edits[b[j].raw]; ok {
			what = map[string]string{"stub": "is a stub now", "trim": "is shortened now"}[e.action]
		}
		v.add(KindChanged, "%s %s: %s", name, what, quote(b[j].text))
	}
	for j := b0; j < b1; j++ {
		if !changed[j-b0] {
			added = append(added, v.name(&b[j], &v.after.Messages[j]))
		}
	}
	return added, removed
}

// identity returns what identifies a message within a run: the call of a result, the
// first call of a reply; empty for others.
func identity(m *message.Message) string {
	if m.Role == message.Tool {
		return "result " + m.ToolCallID
	}
	for i := range m.Parts {
		if m.Parts[i].Kind == message.ToolCall {
			return "reply " + m.Parts[i].ID
		}
	}
	return ""
}

// name says what a message is.
func (v *requests) name(it *item, m *message.Message) string {
	switch it.kind {
	case KindResult:
		if it.call == nil {
			return "a result of " + m.ToolName
		}
		return "the result of " + v.run.label(it.call)
	case KindReply:
		var calls []string
		for i := range m.Parts {
			if m.Parts[i].Kind == message.ToolCall {
				calls = append(calls, m.Parts[i].Name)
			}
		}
		switch {
		case len(calls) == 0:
			return "the reply " + quote(it.text)
		case it.step != nil:
			return fmt.Sprintf("the reply of step %s, which calls %s", number(*it.step), clip(joined(calls), quoteWidth))
		}
		return "a reply that calls " + clip(joined(calls), quoteWidth)
	case KindMessage:
		return "the instruction " + quote(it.text)
	}
	return (&conversation{}).what(it) + " " + quote(it.text)
}

// listed adds one change for messages that have come or gone.
func (v *requests) listed(k Kind, verb string, list []string) {
	if len(list) == 0 {
		return
	}
	shown := list
	if len(list) > mostOfKind+1 {
		shown = append(list[:mostOfKind:mostOfKind], number(len(list)-mostOfKind)+" more")
	}
	v.add(k, "%s: %s", plural(len(list), "message "+verb, "messages "+verb), strings.Join(shown, "; "))
}

// tail adds that the block at the end differs.
func (v *requests) tail(x, y string) {
	switch {
	case x == "":
		v.add(KindTail, "there is a block at the end now: %s", quote(y))
	case y == "":
		v.add(KindTail, "the block at the end is gone: it was %s", quote(x))
	default:
		v.add(KindTail, "the block at the end is another: %s, before %s", quote(y), quote(x))
	}
}

// prefix says what both bodies begin with.
func (v *requests) prefix() Prefix {
	a, b := v.before.Body, v.after.Body
	n := samePrefix(a, b)
	p := Prefix{Kept: v.lost == "", Bytes: int64(n), Of: int64(len(a)), At: pointerAt(b, n)}
	at := ""
	if p.At != "" {
		at = ", where " + p.At + " begins to differ"
	}
	switch {
	case v.unknown():
		p.Bytes, p.Of, p.At = 0, 0, ""
		if p.Text = "kept: all of the request before but what stands at its end"; !p.Kept {
			p.Text = "lost at " + v.lost
		}
		p.Text += " (the bytes of the requests are not known)"
		return p
	case p.Kept:
		p.Text = fmt.Sprintf("kept: all of the request before but what stands at its end; %s of its %s are the same", number(n), plural(len(a), "byte", "bytes"))
		return p
	}
	p.Text = fmt.Sprintf("lost at byte %s of %s%s: %s", number(n+1), number(len(a)), at, v.lost)
	return p
}

// pointerAt returns a JSON pointer to the innermost value that holds the byte at an
// offset; empty if the text is not JSON, or ends before.
func pointerAt(body string, offset int) string {
	dec := jsontext.NewDecoder(strings.NewReader(body), jsontext.AllowDuplicateNames(true))
	for {
		if _, err := dec.ReadToken(); err != nil {
			return ""
		}
		if dec.InputOffset() > int64(offset) {
			return string(dec.StackPointer())
		}
	}
}
