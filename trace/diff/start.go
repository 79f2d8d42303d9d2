package diff

import (
	"fmt"
	"slices"
	"strings"

	"rein.example/rein/event"
)

// started compares how the runs were begun, and what was said to them up to the
// place where they part.
func (c *Comparison) started() {
	c.inputs()
	a, b := c.a.Spec, c.b.Spec
	if i := c.place(); i >= 0 {
		if x, y := &c.a.Steps[i], &c.b.Steps[i]; x.Model != y.Model {
			c.find(Finding{Kind: KindModel, Where: "start", StepA: ptr(x.Number), StepB: ptr(y.Number),
				Text: fmt.Sprintf("A asked the model %s, B %s", x.Model, y.Model)})
		}
	}
	if a == nil || b == nil {
		return
	}
	if !c.has(KindModel) && a.Model != b.Model {
		c.find(Finding{Kind: KindModel, Where: "start", Text: fmt.Sprintf("A is to ask the model %s, B %s", a.Model, b.Model)})
	}
	if a.Sampling != b.Sampling {
		x, y := string(a.Sampling.AppendJSON(nil)), string(b.Sampling.AppendJSON(nil))
		c.find(Finding{Kind: KindSampling, Where: "start", Text: fmt.Sprintf("sampling: %s in A, %s in B", x, y)})
	}
	c.settings(a, b)
	if c.seenA == nil {
		c.system(blocksText(a), blocksText(b), a, b, "start")
		c.tools(a.Tools, b.Tools, "start")
	}
}

// served compares which model answered, as the servers say, where both runs asked for
// the same one.
func (c *Comparison) served() {
	var first *Finding
	more := 0
	for i := 0; i <= c.place(); i++ {
		x, y := &c.a.Steps[i], &c.b.Steps[i]
		switch {
		case x.Model != y.Model || x.Served == "" || y.Served == "" || x.Served == y.Served:
		case first != nil:
			more++
		default:
			first = &Finding{Kind: KindServed, Where: "start", StepA: ptr(x.Number), StepB: ptr(y.Number),
				Text: fmt.Sprintf("both asked for the model %s; at %s the server says that %s answered in A, %s in B", x.Model, at(x, y), clip(x.Served, quoteWidth), clip(y.Served, quoteWidth))}
		}
	}
	if first == nil {
		return
	}
	if more > 0 {
		first.Text += fmt.Sprintf(", and differently at %s", plural(more, "more step", "more steps"))
	}
	c.find(*first)
}

func blocksText(s *event.Spec) string {
	var list []string
	for i := range s.System {
		list = append(list, strings.TrimSpace(s.System[i].Text))
	}
	return strings.Join(list, "\n\n")
}

// inputs compares what people said before the runs part.
func (c *Comparison) inputs() {
	a, b := c.a.said(c.alike), c.b.said(c.alike)
	ids := interner[event.Hash]{}
	spans, _ := common(ids.all(hashesOf(a)), ids.all(hashesOf(b)))
	i, j := 0, 0
	for _, s := range append(spans, span{len(a), len(b), 0}) {
		for i < s.a || j < s.b {
			var x, y *Input
			if i < s.a {
				x, i = &a[i], i+1
			}
			if j < s.b {
				y, j = &b[j], j+1
			}
			c.input(x, y, x != nil && x == &a[0] || y != nil && y == &b[0])
		}
		i, j = s.a+s.n, s.b+s.n
	}
}

func hashesOf(list []Input) []event.Hash {
	out := make([]event.Hash, len(list))
	for i := range list {
		out[i] = list[i].hash
	}
	return out
}

// said returns the inputs before a step.
func (r *Run) said(step int) []Input {
	n := 0
	for n < len(r.Inputs) && r.Inputs[n].Before <= step {
		n++
	}
	return r.Inputs[:n]
}

// input adds the finding of an input that differs.
func (c *Comparison) input(x, y *Input, task bool) {
	f := Finding{Kind: KindInput, Where: "start"}
	what := "what the user said later"
	if task {
		f.Kind, what = KindTask, "the task"
	}
	switch {
	case x != nil && y != nil:
		f.StepA, f.StepB = c.a.next(x), c.b.next(y)
		f.Diff = textDiff(x.Text, y.Text)
		f.Text = fmt.Sprintf("%s differs: %s in A, %s in B", what, quote(x.Text), quote(y.Text))
		if x.Text == y.Text {
			f.Text = fmt.Sprintf("%s differs, after the same beginning or in what is no text: %s", what, quote(x.Text))
		}
	case x != nil:
		f.StepA, f.Only = c.a.next(x), "a"
		f.Text = "only A was told " + quote(x.Text)
	default:
		f.StepB, f.Only = c.b.next(y), "b"
		f.Text = "only B was told " + quote(y.Text)
	}
	c.find(f)
}

// next returns the number of the step that an input came before, nil if there is none.
func (r *Run) next(in *Input) *int64 {
	if in.Before < len(r.Steps) {
		return ptr(r.Steps[in.Before].Number)
	}
	return nil
}

// settings compares what else decides how a run goes, and is not shown to the model.
func (c *Comparison) settings(a, b *event.Spec) {
	if d := textDiff(c.a.settings(a), c.b.settings(b)); d != nil {
		c.find(Finding{Kind: KindSettings, Where: "start", Diff: d, Text: "the settings of the runs differ: limits, permissions, window or the like"})
	}
	inB := byName(b.Tools)
	for i := range a.Tools {
		if c.a.toolsUnknown || c.b.toolsUnknown {
			break
		}
		other := inB[a.Tools[i].Name]
		if other == nil {
			continue
		}
		x, y := a.Tools[i], *other
		for _, t := range []*event.ToolSpec{&x, &y} {
			t.Description, t.Schema, t.Tokens = "", nil, 0
		}
		if d := textDiff(pretty(x.AppendJSON(nil)), pretty(y.AppendJSON(nil))); d != nil {
			c.find(Finding{Kind: KindSettings, Where: "start", Diff: d, Text: fmt.Sprintf("the tool %s is set up differently", x.Name)})
		}
	}
}

// settings returns a spec without what is compared otherwise, and without what differs
// from run to run by itself.
func (r *Run) settings(s *event.Spec) string {
	x := *s
	if r.below { // they are what was left of those of the run above
		x.Limits = event.Limits{}
	}
	x.System, x.Tools, x.Prices, x.Calling = nil, nil, nil, nil
	x.Model, x.Fallback, x.Sampling = "", nil, event.Sampling{}
	x.Seed, x.Config, x.BaseDir = 0, "", ""
	// What a rule says stands in the system text.
	x.Rules = slices.DeleteFunc(slices.Clone(s.Rules), func(r event.RuleSpec) bool { return r.Kind == "" })
	return pretty(x.AppendJSON(nil))
}

// pretty returns JSON with a line for each value.
func pretty(b []byte) string {
	if s, ok := indented(string(b)); ok {
		return s
	}
	return string(b)
}

// system compares the text before the conversation, line by line.
func (c *Comparison) system(a, b string, specA, specB *event.Spec, where string) {
	if a == b {
		return
	}
	lines, _ := Lines(strings.Split(a, "\n"), strings.Split(b, "\n"))
	na, nb, found := 0, 0, 0
	for i := 0; i < len(lines); {
		if lines[i].Op == Both {
			na, nb, i = na+1, nb+1, i+1
			continue
		}
		h := hunk{lineA: na + 1, lineB: nb + 1}
		for ; i < len(lines) && lines[i].Op != Both; i++ {
			if lines[i].Op == OnlyA {
				h.a, na = append(h.a, lines[i].Text), na+1
			} else {
				h.b, nb = append(h.b, lines[i].Text), nb+1
			}
		}
		if found++; found > mostOfKind { // the difference is shown whole below
			continue
		}
		f := Finding{Kind: KindSystem, Where: where, Text: h.text(specA, specB), Only: h.only()}
		if found == 1 {
			f.Diff = excerpt.Of(lines)
		}
		c.find(f)
	}
}

// hunk is lines of a in the place of lines of b.
type hunk struct {
	a, b         []string
	lineA, lineB int
}

func (h *hunk) only() string {
	switch {
	case len(h.b) == 0:
		return "a"
	case len(h.a) == 0:
		return "b"
	}
	return ""
}

// text says what differs: the lines themselves where they are few.
func (h *hunk) text(a, b *event.Spec) string {
	block := blockOf(a, h.a)
	if block == "" {
		block = blockOf(b, h.b)
	}
	if block != "" {
		block = " (" + block + ")"
	}
	x, y := h.first()
	switch {
	case h.only() == "a":
		return fmt.Sprintf("%s of the system text%s only in A: %s", lineNumbers(h.lineA, len(h.a)), block+" is", quote(x))
	case h.only() == "b":
		return fmt.Sprintf("%s of the system text%s only in B: %s", lineNumbers(h.lineB, len(h.b)), block+" is", quote(y))
	case len(h.a) == 1 && len(h.b) == 1:
		return fmt.Sprintf("line %d of the system text%s: %s in A → %s in B", h.lineA, block, quote(x), quote(y))
	}
	return fmt.Sprintf("%s of A's system text%s stand against %s of B's, from %s and %s on",
		lineNumbers(h.lineA, len(h.a)), block, lineNumbers(h.lineB, len(h.b)), quote(x), quote(y))
}

// first returns the first line on each side that is not blank.
func (h *hunk) first() (a, b string) { return firstLine(h.a), firstLine(h.b) }

func firstLine(lines []string) string {
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			return l
		}
	}
	return ""
}

func lineNumbers(from, n int) string {
	if n == 1 {
		return fmt.Sprintf("line %d", from)
	}
	return fmt.Sprintf("lines %d to %d", from, from+n-1)
}

// blockOf names the block that has the first of these lines; empty if none has.
func blockOf(s *event.Spec, lines []string) string {
	line := firstLine(lines)
	if s == nil || line == "" {
		return ""
	}
	for i := range s.System {
		for l := range strings.SplitSeq(s.System[i].Text, "\n") {
			if l == line {
				return s.System[i].Name
			}
		}
	}
	return ""
}

// byName returns the tools by their names, to be looked up.
func byName(list []event.ToolSpec) map[string]*event.ToolSpec {
	out := make(map[string]*event.ToolSpec, len(list))
	for i := range list {
		out[list[i].Name] = &list[i]
	}
	return out
}

// unlisted says that nobody knows which tools were offered, where the lists that were
// made of the calls would have one believe that they differ.
func (c *Comparison) unlisted(a, b []event.ToolSpec, where string) {
	inA, inB := byName(a), byName(b)
	if len(inA) == len(inB) && !slices.ContainsFunc(a, func(t event.ToolSpec) bool { return inB[t.Name] == nil }) {
		return
	}
	of := "A and B: the recordings do"
	switch {
	case !c.b.toolsUnknown:
		of = "A: the recording does"
	case !c.a.toolsUnknown:
		of = "B: the recording does"
	}
	c.find(Finding{Kind: KindUnlisted, Where: where, Text: fmt.Sprintf("which tools were offered is not known of %s not list them", of)})
}

// tools compares what is offered.
func (c *Comparison) tools(a, b []event.ToolSpec, where string) {
	switch {
	case c.a.toolsUnknown || c.b.toolsUnknown:
		c.unlisted(a, b, where)
		return
	case len(a) == 0 && len(b) > 0:
		c.find(Finding{Kind: KindOffered, Where: where, Only: "b", Text: fmt.Sprintf("no tools are offered in A, and %s in B", number(len(b)))})
		return
	case len(b) == 0 && len(a) > 0:
		c.find(Finding{Kind: KindOffered, Where: where, Only: "a", Text: fmt.Sprintf("no tools are offered in B, and %s in A", number(len(a)))})
		return
	}
	inA, inB := byName(a), byName(b)
	for i := range a {
		x, y := &a[i], inB[a[i].Name]
		if y == nil {
			c.find(Finding{Kind: KindOffered, Where: where, Only: "a", Text: fmt.Sprintf("the tool %s is offered only in A", x.Name)})
			continue
		}
		if x.Description != y.Description {
			c.find(Finding{Kind: KindTool, Where: where, Diff: textDiff(x.Description, y.Description), Text: fmt.Sprintf("the description of the tool %s differs", x.Name)})
		}
		if p, q := pretty(x.Schema), pretty(y.Schema); p != q {
			c.find(Finding{Kind: KindTool, Where: where, Diff: textDiff(p, q), Text: fmt.Sprintf("the parameters of the tool %s differ", x.Name)})
		}
	}
	for i := range b {
		if inA[b[i].Name] == nil {
			c.find(Finding{Kind: KindOffered, Where: where, Only: "b", Text: fmt.Sprintf("the tool %s is offered only in B", b[i].Name)})
		}
	}
}
