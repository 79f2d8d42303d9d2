package lint

import (
	"fmt"

	"rein.example/rein/event"
	"rein.example/rein/tokens"
	"rein.example/rein/tool"
	"rein.example/rein/window"
)

// budget checks how much of the window stands in every request.
func (c *checker) budget() {
	budget := window.Budget(&c.Window)
	if budget == 0 {
		return
	}
	var system int64
	for _, b := range c.System {
		system += int64(c.Counter.Count(b.Text))
	}
	tools, largest := c.toolSizes()
	fixed := system + tools
	switch result := largest.tokens; {
	case result > 0 && fixed+result > budget:
		c.add(Error, "budget", "", fmt.Sprintf("no run can start: some %d of the %d tokens of a request's budget are taken before the task, and one result of %s may have %d", fixed, budget, largest.name, result),
			"lower its result limit, offer fewer tools, shorten documents and rules, or use a model with a larger window")
	case fixed*2 > budget:
		c.add(Warning, "budget", "", fmt.Sprintf("some %d of the %d tokens of a request's budget are taken before the task: %d by tools, %d by contract and rules", fixed, budget, tools, system),
			"offer fewer tools, shorten documents and rules, or use a model with a larger window")
	default:
		c.share("tools", window.BlockTools, tools, budget, "offer fewer tools, declare groups, or shorten their documents")
		c.share("contract and rules", window.BlockRules, system, budget, "shorten them")
	}
}

// share says that a block has more than its share.
func (c *checker) share(what, name string, size, budget int64, fix string) {
	if most := window.Share(&c.Window, name, budget); size > most {
		c.add(Hint, "budget", name, fmt.Sprintf("%s take some %d tokens of every request; their share of the budget is %d", what, size, most), fix+", or give them a larger share")
	}
}

// largestResult is the tool whose results may be longest.
type largestResult struct {
	name   string
	tokens int64
}

// toolSizes returns what the tools of a request take at most, and whose results may
// take most.
func (c *checker) toolSizes() (size int64, largest largestResult) {
	phases := []*event.PhaseSpec{nil}
	if len(c.Phases) > 0 {
		phases = nil
		for i := range c.Phases {
			phases = append(phases, &c.Phases[i])
		}
	}
	for _, p := range phases {
		var n int64
		for _, d := range c.offered(p) {
			n += int64(tokens.Tool(c.Counter, d.Name, d.Description(), string(d.Schema)))
		}
		size = max(size, n)
	}
	for _, d := range c.Tools {
		limit := int64(d.ResultTokens)
		if limit == 0 {
			limit = tool.DefaultResultTokens
		}
		if !d.Harness && limit > largest.tokens {
			largest = largestResult{d.Name, limit}
		}
	}
	return size, largest
}
