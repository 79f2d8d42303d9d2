package window

import (
	"slices"

	"rein.example/rein/event"
)

// Names of shares that are not names of blocks.
const (
	// ShareTask is of the first input: the original request with what a finished
	// task looks like.
	ShareTask = "task"
	// ShareInput is of any one message of a user. What goes beyond it is left out in
	// the middle when it comes in.
	ShareInput = "input"
	// ShareState is of the volatile block at the tail.
	ShareState = "state"
)

// StateTokens is the most that the block at the tail may have, whatever its share.
const StateTokens = 400

// shares are the defaults, in the order of the request.
var shares = [...]event.BlockShare{
	{Name: BlockRules, Share: 150_000},
	{Name: BlockTools, Share: 200_000},
	{Name: ShareTask, Share: 80_000},
	{Name: ShareInput, Share: 80_000},
	{Name: BlockDigest, Share: 200_000},
	{Name: BlockMaterial, Share: 100_000},
	{Name: BlockTurns, Share: 350_000},
	{Name: ShareState, Share: 100_000},
}

// Shares returns the default share of every name, in the order of the request.
func Shares() []event.BlockShare { return append([]event.BlockShare(nil), shares[:]...) }

// Share returns how many tokens of a budget the block of that name may have, by
// the spec or by default: rules 15%, tools 20%, task 8%, input 8%, digest (summary
// and snapshot) 20%, material 10%, turns 35%, state 10% and at most 400 tokens. 0
// for a name that there is no share of, and for a budget that is not known.
func Share(spec *event.WindowSpec, name string, budget int64) int64 {
	i := slices.IndexFunc(shares[:], func(b event.BlockShare) bool { return b.Name == name })
	if i < 0 {
		return 0
	}
	ppm := shares[i].Share
	for _, b := range spec.Shares {
		if b.Name == name {
			ppm = b.Share
		}
	}
	n := part(max(budget, 0), max(min(ppm, million), 0))
	if name == ShareState {
		n = min(n, StateTokens)
	}
	return n
}
