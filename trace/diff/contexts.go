package diff

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// Context is what a model saw in one request, before an encoder gave it the form of
// a wire.
type Context struct {
	// System are the messages before the conversation, Messages the conversation with
	// what is out of line in place, Tail the block at the end, nil for none.
	System, Messages []message.Message
	Tail             *message.Message
	// Tools are those that the request offers.
	Tools []event.ToolSpec
	// Dialect is that of the calls, empty for the wire's own.
	Dialect string
}

// item is one message of a conversation, as it is compared.
type item struct {
	kind Kind
	// text is what was said, without ids of calls; raw with them.
	text, raw string
	// calls are the calls of a reply, a line each.
	calls   string
	thought string
	call    *Call // of a result, nil if it is not known
	tool    string
	step    *int64
	// key is the same for messages that say the same.
	key event.Hash
	// asked is the same for results of the same call, and for replies that make the
	// same calls.
	asked event.Hash
}

// contexts compares what the models saw.
func (c *Comparison) contexts() {
	a, b := c.seenA, c.seenB
	before := len(c.found)
	if a.Dialect != b.Dialect {
		c.find(Finding{Kind: KindDialect, Where: "context", Text: fmt.Sprintf("calls are written in %s in A, in %s in B", dialect(a), dialect(b))})
	}
	c.system(systemText(a), systemText(b), c.a.Spec, c.b.Spec, "context")
	c.tools(a.Tools, b.Tools, "context")
	c.rewrites()
	c.secrets()
	renameA, renameB := c.renamers()
	same := c.messages(itemsOf(c.a, a, renameA), itemsOf(c.b, b, renameB))
	if x, y := renameA.Replace(tailText(a)), renameB.Replace(tailText(b)); x != y {
		c.find(Finding{Kind: KindTail, Where: "context", Diff: textDiff(x, y), Text: "the block at the end (state and notices) differs"})
		same = false
	}
	c.same = same
	for i := before; i < len(c.found); i++ {
		switch c.found[i].Kind {
		case KindDialect, KindSystem, KindOffered, KindTool:
			c.same = false
		}
	}
}

func dialect(c *Context) string {
	if c.Dialect == "" {
		return "the wire's own way"
	}
	return "the dialect " + c.Dialect
}

func systemText(c *Context) string {
	var list []string
	for i := range c.System {
		list = append(list, c.System[i].PlainText())
	}
	return strings.Join(list, "\n\n")
}

func tailText(c *Context) string {
	if c.Tail == nil {
		return ""
	}
	return c.Tail.PlainText()
}

// renamer gives ids of calls names that do not depend on the run. nil changes
// nothing.
type renamer struct{ r *strings.Replacer }

func (r *renamer) Replace(s string) string {
	if r == nil {
		return s
	}
	return r.r.Replace(s)
}

// leastID is how long an id must be, in bytes, to be found in a text without finding
// something else.
const leastID = 6

// renamers returns what names the calls that both runs made by their place, where
// their ids differ: models number their calls as they like, and remarks in results
// name them.
func (c *Comparison) renamers() (a, b *renamer) {
	type pair struct{ id, name string }
	var x, y []pair
	for i := range c.alike {
		for k, call := range c.a.Steps[i].Calls {
			other := c.b.Steps[i].Calls[k]
			if call.ID != other.ID && len(call.ID) >= leastID && len(other.ID) >= leastID {
				x, y = append(x, pair{call.ID, call.place()}), append(y, pair{other.ID, call.place()})
			}
		}
	}
	make := func(list []pair) *renamer {
		if len(list) == 0 {
			return nil
		}
		// One id may begin with another: the longer one counts.
		slices.SortStableFunc(list, func(p, q pair) int { return cmp.Compare(len(q.id), len(p.id)) })
		var args []string
		for _, p := range list {
			args = append(args, p.id, p.name)
		}
		return &renamer{strings.NewReplacer(args...)}
	}
	return make(x), make(y)
}

// itemsOf returns the messages of a conversation as they are compared.
func itemsOf(r *Run, c *Context, rename *renamer) []item {
	out := make([]item, 0, len(c.Messages))
	for i := range c.Messages {
		out = append(out, itemOf(r, &c.Messages[i], rename))
	}
	return out
}

func itemOf(r *Run, m *message.Message, rename *renamer) item {
	it := item{raw: m.PlainText()}
	text := it.raw
	var asked strings.Builder
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case message.Text:
		case message.Reasoning:
			it.thought += p.Text
		case message.ToolCall:
			it.calls += "calls " + p.Name + " " + p.Args + "\n"
			args := p.Args
			if call := r.calls[p.ID]; call != nil {
				it.step = ptr(call.Step)
				args = call.args.String()
			}
			asked.WriteString(p.Name + " " + args + "\n")
		default:
			hash := sha256.Sum256([]byte(p.URL))
			text += fmt.Sprintf("\n[%s %s %s, %s, SHA-256 %x…]", p.Kind, p.MediaType, p.Name, plural(len(p.URL), "byte", "bytes"), hash[:6])
		}
	}
	switch m.Role {
	case message.User:
		it.kind = KindMessage
	case message.Assistant:
		it.kind = KindReply
	case message.Tool:
		it.kind, it.tool = KindResult, m.ToolName
		asked.WriteString(m.ToolName + " ")
		if it.call = r.calls[m.ToolCallID]; it.call != nil {
			asked.WriteString(it.call.args.String())
			it.step = ptr(it.call.Step)
		}
	default:
		it.kind = KindNotice
	}
	if it.text = rename.Replace(text); it.kind == KindResult {
		it.text = steady(it.text)
	}
	it.asked = sha256.Sum256([]byte(string(it.kind) + "\n" + rename.Replace(asked.String())))
	h := sha256.New()
	h.Write(it.asked[:])
	fmt.Fprintf(h, "%v\n%s", m.Failed, it.text)
	h.Sum(it.key[:0])
	return it
}

// messages compares two conversations and reports whether they are the same.
func (c *Comparison) messages(a, b []item) bool {
	ids := interner[event.Hash]{}
	spans, _ := common(ids.all(keys(a)), ids.all(keys(b)))
	same := len(spans) == 0 && len(a)+len(b) == 0 || len(spans) == 1 && spans[0].n == len(a) && len(a) == len(b)
	rest := conversation{c: c}
	i, j := 0, 0
	for _, s := range append(spans, span{len(a), len(b), 0}) {
		rest.gap(a[i:s.a], b[j:s.b])
		for k := range s.n {
			if x, y := &a[s.a+k], &b[s.b+k]; x.thought != y.thought {
				rest.thoughts.add(x, y)
				same = false
			}
		}
		i, j = s.a+s.n, s.b+s.n
	}
	rest.results()
	rest.replies()
	return same
}

func keys(list []item) []event.Hash {
	out := make([]event.Hash, len(list))
	for i := range list {
		out[i] = list[i].key
	}
	return out
}

// conversation gathers what differs between two conversations.
type conversation struct {
	c *Comparison
	// a and b are the results that are not in the same place of the other.
	a, b []*item
	// words are replies that say something else, thoughts those that only think
	// something else.
	words, thoughts changes
	onlyA, onlyB    int // replies that only one has
}

// changes counts messages that differ, and keeps the first.
type changes struct {
	n    int
	x, y *item
}

func (d *changes) add(x, y *item) {
	if d.n++; d.n == 1 {
		d.x, d.y = x, y
	}
}

// gap compares messages that stand between those that are the same.
func (v *conversation) gap(a, b []item) {
	var sides [2]map[Kind][]*item // looked up only
	for i, list := range [][]item{a, b} {
		sides[i] = map[Kind][]*item{}
		for k := range list {
			it := &list[k]
			sides[i][it.kind] = append(sides[i][it.kind], it)
		}
	}
	v.a, v.b = append(v.a, sides[0][KindResult]...), append(v.b, sides[1][KindResult]...)
	for _, kind := range []Kind{KindMessage, KindNotice, KindReply} {
		x, y := sides[0][kind], sides[1][kind]
		for k := range max(len(x), len(y)) {
			var p, q *item
			if k < len(x) {
				p = x[k]
			}
			if k < len(y) {
				q = y[k]
			}
			v.pair(kind, p, q)
		}
	}
}

// pair compares two messages of one kind, of which one may be missing.
func (v *conversation) pair(kind Kind, x, y *item) {
	if kind == KindReply {
		switch {
		case y == nil:
			v.onlyA++
		case x == nil:
			v.onlyB++
		default:
			if x.key != y.key {
				v.words.add(x, y)
			}
			if x.thought != y.thought {
				v.thoughts.add(x, y)
			}
		}
		return
	}
	if kind == KindMessage && (v.c.has(KindTask) || v.c.has(KindInput)) {
		return // said already
	}
	f := Finding{Kind: kind, Where: "context"}
	defer func() { v.add(f, x, y) }()
	switch {
	case y == nil:
		f.Only, f.Text = "a", fmt.Sprintf("%s is only in A: %s", v.what(x), quote(x.text))
	case x == nil:
		f.Only, f.Text = "b", fmt.Sprintf("%s is only in B: %s", v.what(y), quote(y.text))
	default:
		f.Text, f.Diff = v.what(x)+" differs", textDiff(x.text, y.text)
	}
}

// add adds a finding about a notice; one about what a rewrite has left behind below
// that.
func (v *conversation) add(f Finding, x, y *item) {
	for _, it := range []*item{x, y} {
		if it != nil && it.kind == KindNotice && strings.HasPrefix(it.text, digestOpen) && v.c.follow(f.Text) {
			if r := &v.c.found[v.c.rewritten]; len(r.Diff) == 0 && f.Diff != nil {
				r.Diff = f.Diff
			}
			return
		}
	}
	v.c.find(f)
}

// digestOpen begins the digest that a rewrite puts in the place of messages.
const digestOpen = "[rein: digest of"

// what says what a message of a user or of the harness is.
func (v *conversation) what(it *item) string {
	switch {
	case it.kind == KindMessage:
		return "the instruction"
	case strings.HasPrefix(it.text, digestOpen):
		return "the digest of what is not shown any more"
	case strings.HasPrefix(it.text, "[rein: material retrieved"):
		return "the retrieved material"
	}
	return "the notice"
}

// replies adds what differs in what the models said on the way.
func (v *conversation) replies() {
	for _, d := range []struct {
		kind Kind
		what string
		*changes
	}{
		{KindReply, "what the model said on the way differs in ", &v.words},
		{KindReasoning, "what the model thought on the way, and is shown again, differs in ", &v.thoughts},
	} {
		if d.n == 0 {
			continue
		}
		x, y := d.x.text, d.y.text
		if d.x.asked != d.y.asked {
			x, y = strings.TrimPrefix(x+"\n"+d.x.calls, "\n"), strings.TrimPrefix(y+"\n"+d.y.calls, "\n")
		}
		if d.kind == KindReasoning {
			x, y = d.x.thought, d.y.thought
		}
		text := d.what + plural(d.n, "reply", "replies")
		if d.x.step != nil && d.n > 1 {
			text += ", first at step " + number(*d.x.step)
		}
		v.c.find(Finding{Kind: d.kind, Where: "context", Text: text, StepA: d.x.step, StepB: d.y.step, Diff: textDiff(x, y)})
	}
	for _, only := range []struct {
		n    int
		side string
	}{{v.onlyA, "a"}, {v.onlyB, "b"}} {
		if only.n == 0 {
			continue
		}
		text := fmt.Sprintf("%s only in %s's context", plural(only.n, "earlier reply of the model is", "earlier replies of the model are"), strings.ToUpper(only.side))
		if v.c.rewrote(only.side == "b") && v.c.follow(text) {
			continue
		}
		v.c.find(Finding{Kind: KindReply, Where: "context", Only: only.side, Text: text})
	}
}
