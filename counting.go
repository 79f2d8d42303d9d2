package rein

import (
	"cmp"
	"fmt"

	"rein.example/rein/model"
	"rein.example/rein/tokens"
	"rein.example/rein/tokens/vocab"
)

// counting is how an agent's tokens are counted.
type counting struct {
	counter tokens.Counter
	// own names the first model's own tokenizer, if that is what counts.
	own string
	// exact: it is the tokenizer of all of the models.
	exact bool
}

// Names of what counts, beside those of package tokens: none, and one of the
// program's that has no name.
const (
	estimated = "estimate"
	unnamed   = "the program's"
)

// counting chooses what counts tokens for the models, of which the first is asked
// first.
func (o *Options) counting(models []model.Client) (counting, error) {
	if c := o.Counter; c != nil {
		k := counting{counter: c}
		_, mixed := c.(tokens.Measurer) // not every figure of it need be exact
		if c.Method() == tokens.Exact && (!mixed || o.Window.Tokenizer != "") {
			k.own = cmp.Or(o.Window.Tokenizer, unnamed)
			k.exact = len(models) < 2 // nobody knows of the others
		}
		return k, nil
	}
	name := tokens.Tokenizer(o.Window.Tokenizer)
	if name == "" && len(models) > 0 {
		name = tokens.For(models[0].Info().Name())
	}
	var k counting
	switch name {
	case "", estimated:
		return counting{counter: tokens.Estimate{}}, nil
	case tokens.O200k:
		k.counter = vocab.O200k()
	case tokens.CL100k:
		k.counter = vocab.CL100k()
	default:
		return k, fmt.Errorf("the tokenizer %q does not come with Rein: use %s, %s or %s, or set Counter", name, tokens.O200k, tokens.CL100k, estimated)
	}
	k.exact = len(models) > 0
	for i, m := range models {
		if tokens.For(m.Info().Name()) != name {
			k.exact = false
		} else if i == 0 {
			k.own = string(name)
		}
	}
	return k, nil
}
