package script

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"rein.example/rein/internal/cut"
	"rein.example/rein/message"
)

// A conversation is what both wires are read into.
type conversation struct {
	messages []said
	// tools are the names offered; mayCall says that they may be used.
	tools   []string
	mayCall bool
	// schema names the form that is asked for; empty for none.
	schema string
	bytes  int
}

// said is one message of a conversation.
type said struct {
	role message.Role
	text string
	// calls of an assistant message.
	calls []calledTool
	// answers is the id of the call that a tool message answers.
	answers string
}

type calledTool struct{ id, name string }

// state is what was known at one place of a conversation.
type state struct {
	c *conversation
	// next is the index of the first message that is not yet part of it.
	next int
	// played counts the assistant messages before next.
	played  int
	results []string
	latest  map[string]string
	calls   map[string]string // tool names by call id
}

// begin returns the state before the first assistant message.
func begin(c *conversation) *state {
	s := &state{c: c, latest: map[string]string{}, calls: map[string]string{}}
	s.advance()
	return s
}

// more reports whether there is an assistant message to go past.
func (s *state) more() bool { return s.next < len(s.c.messages) }

// advance goes past everything up to the next assistant message.
func (s *state) advance() {
	for ; s.next < len(s.c.messages) && s.c.messages[s.next].role != message.Assistant; s.next++ {
		m := &s.c.messages[s.next]
		if m.role == message.Tool {
			s.results = append(s.results, m.text)
			s.latest[s.calls[m.answers]] = m.text
		}
	}
}

// skip goes past one assistant message and what follows it.
func (s *state) skip() {
	for _, c := range s.c.messages[s.next].calls {
		s.calls[c.id] = c.name
	}
	s.next++
	s.played++
	s.advance()
}

// any reports whether one of the conditions holds.
func (s *state) any(list conditions) bool {
	return slices.ContainsFunc(list, s.holds)
}

func (s *state) holds(c condition) bool {
	text, ok := s.latest[c.tool]
	if c.tool == "" {
		if ok = len(s.results) > 0; ok {
			text = s.results[len(s.results)-1]
		}
	}
	return ok && strings.Contains(text, c.contains) && (c.lacks == "" || !strings.Contains(text, c.lacks))
}

// find walks the nodes, one turn for each assistant message, and returns the
// turn that is to be played, or nil when the conversation is longer than nodes.
func (s *state) find(nodes []*node) *turn {
	for _, n := range nodes {
		if n.when != nil && !s.any(n.when) {
			continue
		}
		if n.turn != nil {
			if !s.more() {
				return n.turn
			}
			s.skip()
			continue
		}
		for range n.repeat {
			before := s.played
			if t := s.find(n.turns); t != nil {
				return t
			}
			if s.played == before {
				break // a round that plays nothing changes nothing
			}
			if s.any(n.until) {
				break
			}
		}
	}
	return nil
}

// A reply is a turn with its values filled in.
type reply struct {
	turn *turn
	// number is the turn's, from 1.
	number       int
	text, reason string
	calls        []message.Part
	finish       string
	usage        message.Usage
}

// A player plays one script and counts its tries. It is safe for concurrent use.
type player struct {
	script *Script
	mu     sync.Mutex
	tries  map[place]int
}

// place is a turn at a place of the conversation: a turn in a loop has its
// faults in each round.
type place struct {
	turn   *turn
	played int
}

func newPlayer(s *Script) *player { return &player{script: s, tries: map[place]int{}} }

// play returns the reply to c and the fault that happens on its way, if any. An
// error means that the request is not the one that the script is for.
func (p *player) play(c *conversation) (*reply, *fault, error) {
	t, s, err := p.script.choose(c)
	if err != nil {
		return nil, nil, err
	}
	if err := t.expect.check(s); err != nil {
		return nil, nil, fmt.Errorf("turn %d: %w", s.played+1, err)
	}
	r, err := t.reply(s)
	if err != nil {
		return nil, nil, fmt.Errorf("turn %d: %w", s.played+1, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	at := place{t, s.played}
	if n := p.tries[at]; n < len(t.faults) {
		p.tries[at]++
		if t.faults[n].empty {
			// On the wire nothing is wrong with it, so it is just another reply.
			return r.emptied(s), nil, nil
		}
		return r, &t.faults[n], nil
	}
	return r, nil, nil
}

// asides are the replies to what Rein asks beside the steps, by the name of the
// schema, for scripts that say nothing of them: everything is done, and the work
// serves the goal.
var asides = map[string]*turn{
	"completion_check": {say: template{{text: `{"parts":[],"missing":[]}`}}},
	"read_back":        {say: template{{text: `{"goal":"","serves_goal":true,"why":"","completed_steps":[],"current_step":"","next_step":""}`}}},
}

// choose returns the turn that c is for and the state before it.
func (s *Script) choose(c *conversation) (*turn, *state, error) {
	at := begin(c)
	special, what := s.structured[c.schema], fmt.Sprintf("the schema %q", c.schema)
	if reply, ok := asides[c.schema]; ok && special == nil {
		for at.more() {
			at.skip()
		}
		return reply, at, nil
	}
	if c.schema == "" || special == nil {
		special, what = nil, "a request without tools"
		if !c.mayCall {
			special = s.final
		}
	}
	if special != nil {
		for at.more() {
			at.skip()
		}
		for _, n := range special {
			if n.when == nil || at.any(n.when) {
				return n.turn, at, nil
			}
		}
		return nil, nil, fmt.Errorf("no turn for %s has a condition that holds", what)
	}
	if t := at.find(s.turns); t != nil {
		return t, at, nil
	}
	for at.more() {
		at.skip()
	}
	return nil, nil, fmt.Errorf("the script is over: nothing is left for turn %d", at.played+1)
}

func (e *expect) check(s *state) error {
	for _, want := range e.contains {
		if !slices.ContainsFunc(s.c.messages, func(m said) bool { return strings.Contains(m.text, want) }) {
			return fmt.Errorf("no message contains %q", want)
		}
	}
	for _, want := range e.lastResult {
		if len(s.results) == 0 {
			return fmt.Errorf("there is no tool result, which should contain %q", want)
		}
		if last := s.results[len(s.results)-1]; !strings.Contains(last, want) {
			return fmt.Errorf("the last tool result should contain %q; it is %s", want, excerpt(last))
		}
	}
	for _, want := range e.tools {
		switch {
		case slices.Contains(s.c.tools, want):
		case len(s.c.tools) == 0:
			return fmt.Errorf("the tool %s is not offered; no tool is", want)
		default:
			return fmt.Errorf("the tool %s is not offered; offered are: %s", want, strings.Join(s.c.tools, ", "))
		}
	}
	return nil
}

func (t *turn) reply(s *state) (*reply, error) {
	r := &reply{turn: t, number: s.played + 1, finish: t.finish}
	var err error
	if r.text, err = t.say.expand(s); err != nil {
		return nil, err
	}
	if r.reason, err = t.reason.expand(s); err != nil {
		return nil, err
	}
	if len(t.calls) > 0 && !s.c.mayCall {
		return nil, fmt.Errorf("the script calls %s, but the request offers no tools or forbids their use", t.calls[0].name)
	}
	for i := range t.calls {
		part, err := t.calls[i].part(s, i)
		if err != nil {
			return nil, err
		}
		r.calls = append(r.calls, part)
	}
	if r.finish == "" {
		r.finish = "stop"
		if len(r.calls) > 0 {
			r.finish = "tool_calls"
		}
	}
	r.usage = t.usage.report(s.c.bytes, r.bytes())
	return r, nil
}

// emptied returns the reply of a model that had nothing to say.
func (r *reply) emptied(s *state) *reply {
	return &reply{turn: r.turn, number: r.number, finish: "stop", usage: r.turn.usage.report(s.c.bytes, 0)}
}

func (c *call) part(s *state, i int) (message.Part, error) {
	p := message.Part{Kind: message.ToolCall, ID: c.id, Name: c.name}
	if p.ID == "" {
		p.ID = fmt.Sprintf("call_%d_%d", s.played+1, i+1)
	}
	var err error
	switch {
	case c.isRaw:
		p.Args, err = c.raw.expand(s)
	case c.arguments.kind == 0:
		p.Args = "{}"
	default:
		var b []byte
		b, err = c.arguments.append(nil, s)
		p.Args = string(b)
	}
	return p, err
}

// bytes returns the size of what the model wrote.
func (r *reply) bytes() int {
	n := len(r.reason) + len(r.text)
	for i := range r.calls {
		n += len(r.calls[i].Name) + len(r.calls[i].Args)
	}
	return n
}

// report returns the usage of a request and a reply of so many bytes.
func (u *usage) report(in, out int) message.Usage {
	if u == nil {
		return message.Usage{Input: message.Known(int64(in+3) / 4), Output: message.Known(int64(out+3) / 4)}
	}
	return message.Usage{
		Input: message.Known(u.input), Output: message.Known(u.output),
		Cached: message.Known(u.cached), Reasoning: message.Known(u.reasoning),
	}
}

// pieces yields s in pieces of at most n bytes, of whole characters; one
// character may be longer.
func pieces(s string, n int) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for s != "" {
			end := max(cut.Down(s, n), firstRune(s))
			if !yield(s[:end]) {
				return
			}
			s = s[end:]
		}
	}
}

func firstRune(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}
