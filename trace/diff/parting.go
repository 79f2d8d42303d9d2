package diff

import (
	"fmt"
	"strings"
)

// short reports whether two texts can stand in a sentence as a whole.
func short(a, b string) bool {
	const most = 60
	return len(a) <= most && len(b) <= most && !strings.Contains(a+b, "\n")
}

// didEach says what the two runs did in the steps where they part.
func (c *Comparison) didEach(a, b *Step) string {
	if !sameTools(a, b) {
		return fmt.Sprintf("at %s A %s, B %s", at(a, b), c.a.did(a), c.b.did(b))
	}
	if x, y := a.Calls[0], b.Calls[0]; len(a.Calls) == 1 && short(x.Args, y.Args) {
		return fmt.Sprintf("at %s both called %s, with %s in A and %s in B", at(a, b), x.Tool, clip(x.Args, quoteWidth), clip(y.Args, quoteWidth))
	}
	var names []string
	for i, x := range a.Calls {
		if i == 3 && len(a.Calls) > 4 {
			names = append(names, plural(len(a.Calls)-i, "more tool", "more tools"))
			break
		}
		names = append(names, clip(x.Tool, quoteWidth))
	}
	return fmt.Sprintf("at %s both called %s, with other arguments", at(a, b), joined(names))
}

// sameTools reports whether two steps call the same tools in the same order.
func sameTools(a, b *Step) bool {
	if len(a.Calls) == 0 || len(a.Calls) != len(b.Calls) {
		return false
	}
	for i := range a.Calls {
		if a.Calls[i].Tool != b.Calls[i].Tool {
			return false
		}
	}
	return true
}

// differently adds what is different in what the models did where they part, unless
// that is said in a sentence: the arguments of a call of the same tool, or the words of
// an answer.
func (c *Comparison) differently() {
	if c.alike >= len(c.a.Steps) || c.alike >= len(c.b.Steps) {
		return
	}
	a, b := &c.a.Steps[c.alike], &c.b.Steps[c.alike]
	f := Finding{Where: "parting", StepA: ptr(a.Number), StepB: ptr(b.Number)}
	switch {
	case sameTools(a, b):
		for i, x := range a.Calls {
			y := b.Calls[i]
			if x.args == y.args {
				continue
			}
			c.paired[x], c.paired[y] = true, true
			if len(a.Calls) == 1 && short(x.Args, y.Args) {
				return
			}
			f.Kind, f.Text, f.Diff = KindArguments, fmt.Sprintf("the arguments of %s differ", clip(x.Tool, quoteWidth)), argsDiff(x.Args, y.Args)
			c.find(f)
		}
	case len(a.Calls)+len(b.Calls) == 0 && a.Text != "" && b.Text != "" && !short(a.Text, b.Text):
		f.Kind, f.Text, f.Diff = KindAnswer, "the answers differ", textDiff(a.Text, b.Text)
		c.find(f)
	}
}

// argsDiff compares arguments, each member on a line of its own; a text of several
// lines in one of them by its lines.
func argsDiff(a, b string) []string {
	if x, ok := indented(a); ok {
		if y, ok := indented(b); ok {
			a, b = unescaped(x), unescaped(y)
		}
	}
	return textDiff(a, b)
}

// unescaped returns JSON with the line ends in its strings as line ends: no JSON any
// more, but easier to read.
func unescaped(s string) string {
	return strings.NewReplacer(`\\`, `\\`, `\n`, "\n", `\"`, `"`).Replace(s)
}
