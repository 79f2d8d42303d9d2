package rehearsal

import (
	"fmt"
	"slices"

	"rein.example/rein/engine/rehearsal/internal/plant"
	"rein.example/rein/message"
	"rein.example/rein/trace/recording"
)

// Script is a recorded conversation as it can be played: what a run would have
// taken in, one after the other. It does not change and may be used by several
// rehearsals at once.
type Script struct {
	// ID is the conversation's.
	ID string
	// Facts and Constraints were planted.
	Facts, Constraints []Fact
	// Repairs say what was changed, in the recording's words and ours.
	Repairs []string

	system []string
	items  []message.Message
	tools  []recording.Tool
}

// Fact is something of known wording that was put into a conversation.
type Fact = plant.Fact

// opening stands before a reply that a recording begins with.
const opening = "(The recording begins with a reply.)"

// Prepare makes a script of a recording. Replies to which nobody has said anything
// become one with the reply before, empty ones are left out, and before a first
// reply that answers nobody a message is put that says so; Repairs tell.
func Prepare(c *recording.Conversation) *Script {
	s := &Script{ID: c.ID, system: c.System, tools: c.Tools}
	for _, r := range c.Repairs {
		s.Repairs = append(s.Repairs, r.String())
	}
	var empty, merged int
	answered := -1 // the reply without calls after which nobody has spoken yet
	for i := range c.Messages {
		m := c.Messages[i]
		switch {
		case m.Role == message.User || m.Role == message.Tool:
			answered = -1
		case m.Role != message.Assistant:
		case blank(&m):
			empty++
			continue
		case answered >= 0:
			s.items[answered] = joined(&s.items[answered], &m)
			merged++
			if m.Calls() > 0 {
				// Whatever was noticed between comes before: results follow their calls.
				last := s.items[answered]
				s.items = append(slices.Delete(s.items, answered, answered+1), last)
				answered = -1
			}
			continue
		default:
			if !slices.ContainsFunc(s.items, func(m message.Message) bool { return m.Role == message.User }) {
				s.items = append(s.items, message.NewText(message.User, opening))
				s.Repairs = append(s.Repairs, "a message was put before the first reply, which answers nobody")
			}
			if m.Calls() == 0 {
				answered = len(s.items)
			}
		}
		s.items = append(s.items, m)
	}
	s.repaired(empty, "empty reply left out", "empty replies left out")
	s.repaired(merged, "reply joined to the one before, to which nobody had said anything", "replies joined to those before, to which nobody had said anything")
	return s
}

func (s *Script) repaired(n int, one, many string) {
	if n == 1 {
		many = one
	}
	if n > 0 {
		s.Repairs = append(s.Repairs, fmt.Sprintf("%d %s", n, many))
	}
}

// blank reports whether a reply says and does nothing.
func blank(m *message.Message) bool {
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind != message.Text && p.Kind != message.Reasoning || p.Kind == message.Text && !space(p.Text) {
			return false
		}
	}
	return true
}

func space(s string) bool {
	for _, r := range s {
		if r != ' ' && r != '\n' && r != '\t' && r != '\r' {
			return false
		}
	}
	return true
}

// joined returns one reply of two.
func joined(a, b *message.Message) message.Message {
	m := *a
	m.Parts = append(slices.Clip(slices.Clone(a.Parts)), message.Part{Kind: message.Text, Text: "\n\n"})
	m.Parts = append(m.Parts, b.Parts...)
	return m
}

// Calls returns how many model calls the script has.
func (s *Script) Calls() int {
	n := 0
	for i := range s.items {
		if s.items[i].Role == message.Assistant {
			n++
		}
	}
	return n
}

// Messages returns how many messages it has.
func (s *Script) Messages() int { return len(s.items) }

// constraints is how many a user is made to declare beside planted facts.
const constraints = 6

// Plant returns the script with n facts at random places, 6 constraints among what
// the user says if n is not 0, and these in Facts and Constraints. Equal seeds give
// equal scripts.
func (s *Script) Plant(n int, seed uint64) *Script {
	out := *s
	if n <= 0 {
		return &out
	}
	out.items, out.Facts = plant.In(s.items, n, seed)
	out.items, out.Constraints = plant.Constraints(out.items, constraints, seed)
	return &out
}
