// Package window answers: what will the model see, and does it fit?
//
// A request is a row of blocks from stable to volatile: the contract and the
// rules, the tools, the original request with what a finished task looks like, a
// digest of what has left, retrieved material, the turns, and one volatile block
// at the tail. What comes first changes least, so that a provider's prompt cache
// can keep it; between two boundaries nothing that was sent is edited.
//
// At a boundary a [Strategy] plans what is given up. It sees the conversation as a
// row of entries ([View]) and answers with a [Plan], which [Apply] carries out;
// what leaves is replaced by a digest: a model's summary, if one was asked for
// ([SummaryPrompt], [CheckSummary]), and the facts that [TakeSnapshot] takes.
//
// The package is pure. Token counts come from outside, already counted.
package window

import (
	"fmt"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// Names of the blocks, in the order in which they stand in a request. Tools
// come before the request only because wires serialise them first.
const (
	BlockContract = "contract"
	BlockRules    = "rules"
	BlockTools    = "tools"
	// BlockInputs is what users have said, the original request first.
	BlockInputs = "inputs"
	// BlockDigest is the summary and the snapshot of what has left.
	BlockDigest   = "digest"
	BlockMaterial = "material"
	BlockTurns    = "turns"
	BlockTail     = "tail"
)

// Contract is the built-in opening of every system text: what holds for any
// task. It is at most 200 tokens and can be replaced.
const Contract = `You work on the user's task by calling tools.
- For anything that a tool can tell you or work out, use the tool, not your memory.
- Call only the tools you are offered, with arguments that fit their schema. Calls that do not depend on each other may be made together.
- Read what a tool returned before you go on. An error says what to do next; do not send the same call again unchanged.
- If it is unknown whether an action took effect, find out by reading before you act again.
- As soon as you have what the task asks for, deliver it: stop calling tools and answer, or call submit_result when it is offered. Say plainly what you could not do.`

// System returns the system messages that open a request: one, with every
// block in order, or none. Servers that take a single system message are many.
func System(blocks []event.Block) []message.Message {
	var b strings.Builder
	for _, x := range blocks {
		text := strings.TrimSpace(x.Text)
		if text == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(text)
	}
	if b.Len() == 0 {
		return nil
	}
	return []message.Message{message.NewText(message.System, b.String())}
}

// Rules renders the rules once, strictest first: never, must, can. Empty lists
// are left out; no rules give an empty text.
func Rules(never, must, can []string) string {
	var b strings.Builder
	for _, group := range []struct {
		title string
		rules []string
	}{{"Never:", never}, {"Always:", must}, {"You may:", can}} {
		if len(group.rules) == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString(group.title)
		for _, r := range group.rules {
			b.WriteString("\n- ")
			b.WriteString(strings.TrimSpace(r))
		}
	}
	return b.String()
}

// Acceptance renders what a finished task looks like, to stand with the
// original request; empty for none.
func Acceptance(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	return "The task is finished when: " + text
}

// Sizes are the sizes of a request's blocks, in tokens.
type Sizes struct {
	// System holds the system blocks by name, in order.
	System []event.BlockSize
	Tools  int64
	// Inputs, Digest, Material and Turns are those of the conversation's messages,
	// by their kind; see [Sizes.Add].
	Inputs   int64
	Digest   int64
	Material int64
	Turns    int64
	Tail     int64
}

// Add counts a message of that kind and size, which may be negative to take one
// away.
func (s *Sizes) Add(k Kind, tokens int64) {
	switch k {
	case Input:
		s.Inputs += tokens
	case Digest:
		s.Digest += tokens
	case Material:
		s.Material += tokens
	default:
		s.Turns += tokens
	}
}

// Total returns the sum, in tokens.
func (s *Sizes) Total() int64 {
	n := s.Tools + s.Inputs + s.Digest + s.Material + s.Turns + s.Tail
	for i := range s.System {
		n += s.System[i].Tokens
	}
	return n
}

// Blocks returns the sizes in the order of the request, without empty blocks.
func (s *Sizes) Blocks() []event.BlockSize {
	b := make([]event.BlockSize, 0, len(s.System)+6)
	for _, x := range s.System {
		if x.Tokens > 0 {
			b = append(b, x)
		}
	}
	for _, x := range [...]event.BlockSize{
		{Name: BlockTools, Tokens: s.Tools}, {Name: BlockInputs, Tokens: s.Inputs}, {Name: BlockDigest, Tokens: s.Digest},
		{Name: BlockMaterial, Tokens: s.Material}, {Name: BlockTurns, Tokens: s.Turns}, {Name: BlockTail, Tokens: s.Tail},
	} {
		if x.Tokens > 0 {
			b = append(b, x)
		}
	}
	return b
}

// million is the unit of WindowSpec.Margin.
const million = 1_000_000

// Budget returns how many tokens a request may have, (size - reserve) x margin,
// or 0 when the size of the window is unknown.
func Budget(w *event.WindowSpec) int64 {
	if w.Size <= 0 {
		return 0
	}
	margin := w.Margin
	if margin <= 0 || margin > million {
		margin = million
	}
	room := w.Size - w.Reserve
	if room <= 0 {
		return 1
	}
	// A window has at most some 10^9 tokens, so this cannot overflow.
	return max(room*margin/million, 1)
}

// An OverflowError is a request that does not fit, and cannot be sent.
type OverflowError struct {
	Tokens, Budget int64
	// Block is the largest one, and Size its size.
	Block string
	Size  int64
}

// Error says which block is too large and what to do.
func (e *OverflowError) Error() string {
	advice := "use a model with a larger window"
	switch e.Block {
	case BlockTools:
		advice = "offer fewer tools or shorten their descriptions and schemas"
	case BlockRules, BlockContract:
		advice = "shorten it"
	case BlockInputs:
		advice = "put long texts into files that a tool reads, or use a model with a larger window"
	case BlockDigest:
		advice = "lower its share, or use a model with a larger window"
	case BlockMaterial:
		advice = "retrieve less"
	case BlockTurns:
		advice = "lower the tools' result limits, split the task, or use a model with a larger window"
	}
	return fmt.Sprintf("the request needs %d tokens and the budget is %d; the largest block is %q with %d: %s",
		e.Tokens, e.Budget, e.Block, e.Size, advice)
}

// Check returns an *OverflowError if the request is larger than the budget of
// w. A window of unknown size is not checked.
func Check(s *Sizes, w *event.WindowSpec) error {
	budget := Budget(w)
	total := s.Total()
	if budget == 0 || total <= budget {
		return nil
	}
	e := &OverflowError{Tokens: total, Budget: budget}
	for _, b := range s.Blocks() {
		if b.Tokens > e.Size {
			e.Block, e.Size = b.Name, b.Tokens
		}
	}
	return e
}
