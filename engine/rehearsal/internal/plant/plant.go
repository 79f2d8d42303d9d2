// Package plant answers: which of the things that were said once can still be
// found? It puts facts of known wording at random places of a conversation, for
// a rehearsal to look for them afterwards.
//
// The facts are varied on purpose (see shapes.go), and half of them stand in
// sentences without any word that would point at them. The package knows nothing
// of how package window chooses what it keeps, and must not: it is what that is
// measured with.
package plant

import (
	"math/rand/v2"
	"slices"
	"strings"

	"rein.example/rein/message"
)

// Fact is one that was planted.
type Fact struct {
	// Text is what has to be found again, to the letter.
	Text string `json:"text"`
	// Shape is what it looks like: id, amount, date, name, negation, path,
	// quantity, phrase or setting.
	Shape string `json:"shape"`
	// Cue: it stands in a sentence that says that it matters.
	Cue bool `json:"cue"`
	// Message is the index of the message that it stands in, Role who says it.
	Message int          `json:"message"`
	Role    message.Role `json:"role"`
}

// maxTries bounds the search for a fact that the conversation has not got yet.
const maxTries = 100

// In returns a copy of msgs with n facts in it, and these in the order of the
// messages. Only messages that a later reply of the model could know are planted
// in: those before the last assistant message. The three roles (user, assistant,
// tool) get as many each as far as there are messages of all of them. Equal
// arguments give equal facts. A conversation without such messages gets none.
func In(msgs []message.Message, n int, seed uint64) ([]message.Message, []Fact) {
	g := newGrower(msgs, seed)
	var facts []Fact
	for i := range n {
		role, ok := g.role()
		if !ok {
			break
		}
		shape := shapes[i%len(shapes)]
		f := Fact{Shape: shape.name, Cue: i/len(shapes)%2 == 0, Role: role}
		if f.Text, ok = g.fresh(shape.text); !ok {
			continue
		}
		f.Message = g.put(role, g.sentence(&shape, f.Text, f.Cue))
		facts = append(facts, f)
	}
	sortByMessage(facts)
	return g.msgs, facts
}

// Constraints returns a copy of msgs in which the user declares n constraints, and
// these in the order of the messages.
func Constraints(msgs []message.Message, n int, seed uint64) ([]message.Message, []Fact) {
	g := newGrower(msgs, seed^0x5DEECE66D)
	var out []Fact
	for range n {
		if len(g.places[message.User]) == 0 {
			break
		}
		text, ok := g.fresh(constraint)
		if !ok {
			continue
		}
		at := g.put(message.User, text)
		out = append(out, Fact{Text: text, Shape: "constraint", Cue: true, Message: at, Role: message.User})
	}
	sortByMessage(out)
	return g.msgs, out
}

// grower plants in one conversation.
type grower struct {
	r    *rand.Rand
	msgs []message.Message
	// places are the indexes of the messages that can be planted in, by role.
	places map[message.Role][]int
	roles  []message.Role
	next   int
	// all is everything that was said or planted, planted what was planted.
	all     strings.Builder
	planted []string
}

func newGrower(msgs []message.Message, seed uint64) *grower {
	g := &grower{r: rand.New(rand.NewPCG(seed, uint64(len(msgs)))), places: map[message.Role][]int{}}
	last := len(msgs) - 1
	for last >= 0 && msgs[last].Role != message.Assistant {
		last--
	}
	g.msgs = append(g.msgs, msgs...)
	for i := range msgs {
		g.all.WriteString(msgs[i].PlainText())
		if i < last {
			g.places[msgs[i].Role] = append(g.places[msgs[i].Role], i)
		}
	}
	for _, role := range []message.Role{message.Tool, message.Assistant, message.User} {
		if len(g.places[role]) > 0 {
			g.roles = append(g.roles, role)
		}
	}
	return g
}

// role returns whose turn it is to be planted in.
func (g *grower) role() (message.Role, bool) {
	if len(g.roles) == 0 {
		return "", false
	}
	g.next++
	return g.roles[g.next%len(g.roles)], true
}

// fresh returns a text that is not in the conversation yet, nor has a planted one
// as a part.
func (g *grower) fresh(invent func(*rand.Rand) string) (string, bool) {
	for range maxTries {
		text := invent(g.r)
		has := func(planted string) bool { return strings.Contains(text, planted) }
		if !strings.Contains(g.all.String(), text) && !slices.ContainsFunc(g.planted, has) {
			g.all.WriteString("\n" + text)
			g.planted = append(g.planted, text)
			return text, true
		}
	}
	return "", false
}

// put adds a sentence to a random message of the role, at the beginning or the end
// of a line, and returns the message's index.
func (g *grower) put(role message.Role, sentence string) int {
	at := g.places[role][g.r.IntN(len(g.places[role]))]
	m := &g.msgs[at]
	m.Parts = append([]message.Part(nil), m.Parts...)
	part := -1
	for i := range m.Parts {
		if m.Parts[i].Kind == message.Text {
			part = i
		}
	}
	if part < 0 {
		m.Parts = append([]message.Part{{Kind: message.Text, Text: sentence}}, m.Parts...)
		return at
	}
	m.Parts[part].Text = g.into(m.Parts[part].Text, sentence)
	return at
}

// into returns a text with a sentence at the end of one of its lines, or on a line
// of its own where that one is not prose.
func (g *grower) into(text, sentence string) string {
	lines := strings.Split(text, "\n")
	at := g.r.IntN(len(lines))
	if line := strings.TrimRight(lines[at], " \r"); strings.HasSuffix(line, ".") && len(line) > 20 {
		lines[at] = line + " " + sentence
	} else {
		lines[at] += "\n" + sentence
	}
	return strings.Join(lines, "\n")
}

func sortByMessage(facts []Fact) {
	slices.SortStableFunc(facts, func(a, b Fact) int { return a.Message - b.Message })
}
