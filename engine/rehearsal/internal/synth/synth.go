// Package synth answers: which conversations are there to rehearse when nobody
// has recorded any? It makes up three agents at work, of any length, from a seed:
// one that edits files, one that answers customers from records, and one that
// reads up on questions. What they say is invented and means nothing; how long it
// is, what repeats, what fails and what becomes out of date is as in real runs.
package synth

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"rein.example/rein/message"
	"rein.example/rein/trace/recording"
)

// Kinds are the agents, by name.
var Kinds = []string{"editing", "support", "research"}

// New makes up a conversation of an agent, of at least so many model calls (and few
// more). Equal arguments give equal conversations; a kind that is not among [Kinds]
// gives nil.
func New(kind string, calls int, seed uint64) *recording.Conversation {
	work := map[string]func(*talk){"editing": editing, "support": support, "research": research}[kind]
	if work == nil {
		return nil
	}
	t := &talk{r: rand.New(rand.NewPCG(seed, uint64(len(kind))))}
	t.c.ID = fmt.Sprintf("synthetic-%s-%d", kind, seed)
	for t.calls < calls {
		work(t)
	}
	return &t.c
}

// talk is a conversation that is being made up.
type talk struct {
	r     *rand.Rand
	c     recording.Conversation
	calls int
	next  int // of calls of tools
	shelf *shelf
	desk  *desk
}

func (t *talk) user(text string) {
	t.c.Messages = append(t.c.Messages, message.NewText(message.User, text))
}

func (t *talk) say(text string) {
	t.calls++
	t.c.Messages = append(t.c.Messages, message.NewText(message.Assistant, text))
}

// act is a call of a tool and what it gives.
type act struct {
	tool   string
	args   map[string]any
	result string
	failed bool
}

// do makes the calls of one reply, with a text before them or none.
func (t *talk) do(text string, acts ...act) {
	t.calls++
	m := message.Message{Role: message.Assistant}
	if text != "" {
		m.Parts = append(m.Parts, message.Part{Kind: message.Text, Text: text})
	}
	var results []message.Message
	for _, a := range acts {
		args, err := json.Marshal(a.args, json.Deterministic(true))
		if err != nil {
			panic(err) // maps of texts and numbers only
		}
		t.next++
		id := "call_" + strconv.Itoa(t.next)
		m.Parts = append(m.Parts, message.Part{Kind: message.ToolCall, ID: id, Name: a.tool, Args: string(args)})
		results = append(results, message.Result(id, a.tool, a.result, a.failed))
	}
	t.c.Messages = append(append(t.c.Messages, m), results...)
}

func (t *talk) tools(names ...string) {
	if t.c.Tools != nil {
		return
	}
	for _, n := range names {
		name, about, _ := strings.Cut(n, ": ")
		t.c.Tools = append(t.c.Tools, recording.Tool{Name: name, Description: about, Schema: []byte(`{"type":"object"}`)})
	}
}

// chance is true in so many of 100 cases.
func (t *talk) chance(percent int) bool { return t.r.IntN(100) < percent }

func (t *talk) pick(of []string) string { return of[t.r.IntN(len(of))] }

var (
	nouns = strings.Fields("valve ledger lantern orchard bridge parcel kettle meadow harbour engine basket carriage quarry tunnel " +
		"pulley beacon granary furnace sluice chapel wharf mill tannery cooper")
	verbs = strings.Fields("opens carries measures holds turns feeds follows covers drains lifts joins signals cools sorts weighs mends")
	kinds = strings.Fields("old narrow western quiet heavy second shallow painted spare northern broken tall wooden dry common")
)

// sentence makes up a plain sentence.
func (t *talk) sentence() string {
	s := fmt.Sprintf("The %s %s %s the %s %s", t.pick(kinds), t.pick(nouns), t.pick(verbs), t.pick(kinds), t.pick(nouns))
	switch t.r.IntN(4) {
	case 0:
		s += fmt.Sprintf(" when the %s is %s", t.pick(nouns), t.pick(kinds))
	case 1:
		s += fmt.Sprintf(", and the %s %s it about %d times a week", t.pick(nouns), t.pick(verbs), 2+t.r.IntN(40))
	case 2:
		s += " as it did before"
	}
	return s + "."
}

func (t *talk) prose(sentences int) string {
	var b strings.Builder
	for i := range sentences {
		if i > 0 {
			b.WriteString([]string{" ", " ", " ", "\n\n"}[t.r.IntN(4)])
		}
		b.WriteString(t.sentence())
	}
	return b.String()
}

// name makes up a name for a thing in a program.
func (t *talk) name() string { return t.pick(kinds) + "_" + t.pick(nouns) }
