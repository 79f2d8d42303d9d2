package loop

import (
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/tokens"
	"rein.example/rein/tool"
	"rein.example/rein/window"
)

// item is what the machine knows of one message of the conversation.
type item struct {
	// number is its place in all that was said; -1 for a digest.
	number  int64
	kind    window.Kind
	tokens  int64
	stubbed bool
	// Of a result: the call, and what has become of it.
	rec  *record
	done *event.ToolFinished
	// full is the whole of an input of which the message has only parts.
	full *message.Ref
}

// Said is one message of a run's conversation, as it was when it was said.
type Said struct {
	// Number is its place, from 0; it never changes. Events name messages by it.
	Number int64
	// Message must not be changed.
	Message *message.Message
	// Full is the whole of an input of which Message has only parts, else nil.
	Full *message.Ref
	// Done is what a result comes from, nil for other messages.
	Done *event.ToolFinished
}

// History is all that was said in a run up to a moment, what is not in the context
// any more included. It may be read on any goroutine.
type History struct {
	msgs  []message.Message
	items []item
}

// Len returns how many messages there are.
func (h History) Len() int { return len(h.msgs) }

// At returns message n, 0 <= n < Len.
func (h History) At(n int) Said {
	it := &h.items[n]
	return Said{Number: it.number, Message: &h.msgs[n], Full: it.full, Done: it.done}
}

// History returns what was said so far. It costs nothing, whatever its length.
func (m *Machine) History() History {
	msgs, items := m.msgs, m.items
	if m.past.Len() > 0 {
		msgs, items = m.past.msgs, m.past.items
	}
	return History{msgs[:len(msgs):len(msgs)], items[:len(items):len(items)]}
}

// say puts a message at the end of the conversation.
func (m *Machine) say(kind window.Kind, msg message.Message, tokens int64) {
	m.put(msg, item{kind: kind, tokens: tokens})
}

// put is say for a message of which more is known.
func (m *Machine) put(msg message.Message, it item) {
	if m.past.Len() > 0 {
		it.number = int64(m.past.Len())
		m.past.msgs, m.past.items = append(m.past.msgs, msg), append(m.past.items, it)
	} else {
		it.number = int64(len(m.msgs))
	}
	m.msgs, m.items = append(m.msgs, msg), append(m.items, it)
	m.sizes.Add(it.kind, it.tokens)
}

// Reach says with which of the harness's tools the model can read what has left the
// context. Tools of others under these names are no such tools.
func (m *Machine) Reach() window.Reach {
	return window.Reach{Search: m.harness(tool.SearchHistory), Page: m.harness(tool.ReadArtifact)}
}

// plainEntries returns the conversation as a rewrite sees it.
func (m *Machine) plainEntries() []window.Entry {
	paged := m.harness(tool.ReadArtifact)
	out := make([]window.Entry, len(m.items))
	for i := range m.items {
		it := &m.items[i]
		e := &out[i]
		e.Number, e.Kind, e.Msg, e.Tokens, e.Stubbed = it.number, it.kind, &m.msgs[i], it.tokens, it.stubbed
		if it.rec == nil {
			continue
		}
		e.Call, e.Tool, e.Args = it.rec.id, it.done.Tool, string(it.rec.args)
		e.Failed, e.Paged = m.msgs[i].Failed, paged
	}
	return out
}

// viewEntries returns the conversation as a strategy sees it: with what later calls
// say of earlier ones.
func (m *Machine) viewEntries() []window.Entry {
	out := m.plainEntries()
	l := later{same: make(map[act]int, len(out)/2), things: map[string]*sight{}}
	for i := len(out) - 1; i >= 0; i-- {
		it, e := &m.items[i], &out[i]
		if it.rec == nil {
			continue
		}
		if e.Failed {
			e.Handled = m.handled(it)
		}
		e.Same = l.repeats(m.items, i)
		e.Newer = l.replaces(it)
	}
	return out
}

// handled reports whether a call has failed whose tool has succeeded since.
func (m *Machine) handled(it *item) bool {
	if !it.rec.failed() {
		return false
	}
	t := m.tool(it.done.Tool)
	return t != nil && t.worked > it.rec.at
}

// later is what is known of the calls after one, when they are looked at from the
// last to the first. Its maps are looked up only.
type later struct {
	same   map[act]int       // the last call of each kind that can be read, by its place
	things map[string]*sight // what was read and written, by resource
}

// sight is what calls have last seen of a resource.
type sight struct {
	version, call string // of the last one
	reads         []sighting
}

type sighting struct {
	from, to int64
	call     string
}

// maxSightings bounds how many reads of one version are compared with an earlier
// one, so that many small reads of a long file cost no more than as many others.
const maxSightings = 64

// repeats returns the last call that had the same tool, arguments and result as
// the i-th message, which is not looked for again; empty for none.
func (l *later) repeats(items []item, i int) string {
	it := &items[i]
	if it.rec.index < 0 || it.stubbed {
		return ""
	}
	k := act{it.rec.tool, it.rec.hash}
	at, ok := l.same[k]
	if !ok {
		l.same[k] = i
		return ""
	}
	if o := &items[at]; o.done.Status == it.done.Status && equalParts(o.done.Parts, it.done.Parts) {
		return o.rec.id
	}
	return ""
}

// replaces returns the later call that makes what this one has read out of date:
// it has read as much of the same version, or there is another version. Empty for
// none, and where any of what it has read stands nowhere else.
func (l *later) replaces(it *item) (by string) {
	seen := it.done.Seen
	read := false
	for i := range seen {
		s := &seen[i]
		if s.Wrote || s.Gone {
			continue
		}
		if by = l.things[s.Resource].covers(s); by == "" {
			break
		}
		read = true
	}
	for i := range seen {
		l.add(&seen[i], it)
	}
	if !read {
		return ""
	}
	return by
}

// covers returns the later call that has seen what s has, or that it is not there
// any more.
func (t *sight) covers(s *event.Seen) string {
	switch {
	case t == nil:
		return ""
	case t.version != s.Version:
		return t.call
	}
	for _, r := range t.reads {
		if r.from <= s.From && r.to >= max(s.To, s.From) {
			return r.call
		}
	}
	return ""
}

func (l *later) add(s *event.Seen, it *item) {
	t := l.things[s.Resource]
	if t == nil {
		t = &sight{version: s.Version, call: it.rec.id}
		if s.Gone {
			t.version = ""
		}
		l.things[s.Resource] = t
	}
	if t.version == s.Version && !s.Wrote && !s.Gone && !it.stubbed && len(t.reads) < maxSightings {
		t.reads = append(t.reads, sighting{s.From, s.To, it.rec.id})
	}
}

// equalParts reports whether two results show the same.
func equalParts(a, b []message.Part) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := &a[i], &b[i]
		if x.Kind != y.Kind || x.Text != y.Text || x.URL != y.URL || (x.Ref == nil) != (y.Ref == nil) || x.Ref != nil && x.Ref.SHA256 != y.Ref.SHA256 {
			return false
		}
	}
	return true
}

// estimate returns the size of a message that the machine itself has made.
func estimate(msg *message.Message) int64 { return int64(tokens.Message(tokens.Estimate{}, msg)) }
