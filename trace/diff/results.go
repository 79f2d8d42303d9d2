package diff

import (
	"fmt"
	"slices"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/tool"
	"rein.example/rein/window"
)

// outcomes adds the calls before the parting that gave the model something else.
func (c *Comparison) outcomes() {
	for i := range c.alike {
		a, b := &c.a.Steps[i], &c.b.Steps[i]
		for k, x := range a.Calls {
			y := b.Calls[k]
			if sameOutcome(x, y) {
				continue
			}
			f := Finding{Kind: KindOutcome, Where: "before", StepA: ptr(a.Number), StepB: ptr(b.Number),
				Text: fmt.Sprintf("at %s %s", at(a, b), c.outcome(x, y))}
			if (x.cut() || y.cut()) && x.ok() && y.ok() {
				f.Kind = KindCut
			}
			if x.Child != "" && y.Child != "" {
				f.Look = "diff " + x.Child + " " + y.Child
			}
			c.reported[x] = len(c.found)
			c.find(f)
		}
	}
}

// steadied adds, once, that results differ in nothing but how long commands took.
func (c *Comparison) steadied() {
	for i := range c.alike {
		for k, x := range c.a.Steps[i].Calls {
			if y := c.b.Steps[i].Calls[k]; sameOutcome(x, y) && x.exact != y.exact {
				c.find(Finding{Kind: KindTimings, Where: "before", Text: "timings in commands' results differ"})
				return
			}
		}
	}
}

func (c *Call) ok() bool { return c.Status == event.StatusSuccess }

// outcome says how the outcomes of the same call differ.
func (c *Comparison) outcome(x, y *Call) string {
	what := c.a.label(x)
	switch {
	case x.Status != y.Status || x.ErrorType != y.ErrorType:
		return fmt.Sprintf("%s %s in A, %s in B", what, x.ended(), y.ended())
	case x.cut() != y.cut():
		name, cut, whole := "A", x, y
		other := "B"
		if y.cut() {
			name, cut, whole, other = "B", y, x, "A"
		}
		return fmt.Sprintf("%s was cut in %s: %s of %s shown%s; %s saw all %s", c.a.result(x),
			name, number(cut.Shown), plural(cut.Size, "byte", "bytes"), shaped(cut), other, number(whole.Size))
	case x.cut():
		return fmt.Sprintf("of %s A was shown %s of %s%s, B %s of %s%s", c.a.result(x), number(x.Shown), plural(x.Size, "byte", "bytes"),
			shaped(x), number(y.Shown), number(y.Size), shaped(y))
	case x.ErrorMessage != y.ErrorMessage:
		return fmt.Sprintf("%s failed with another message: %s in A, %s in B", what, quote(x.ErrorMessage), quote(y.ErrorMessage))
	}
	return fmt.Sprintf("%s gave another result: %s in A, %s in B", what, plural(x.Size, "byte", "bytes"), number(y.Size))
}

// shaped says what was done to a result.
func shaped(c *Call) string {
	if len(c.Shaped) == 0 {
		return ""
	}
	return " (" + clip(strings.Join(c.Shaped, "; "), quoteWidth) + ")"
}

// ended says how a call ended.
func (c *Call) ended() string {
	switch c.Status {
	case "":
		return "has no outcome"
	case event.StatusSuccess:
		return "succeeded"
	case event.StatusError:
		return "failed (" + strings.Trim(c.ErrorType+": "+clip(c.ErrorMessage, quoteWidth), ": ") + ")"
	}
	return "ended as " + strings.TrimSpace(string(c.Status)+" "+c.ErrorType)
}

// results compares the results that are not the same in the same place.
func (v *conversation) results() {
	a, b := v.a, v.b
	// The same result elsewhere is no difference that anybody would look for.
	a, b, _ = match(a, b, func(it *item) event.Hash { return it.key })
	a, b, pairs := match(a, b, func(it *item) event.Hash { return it.asked })
	for _, p := range pairs {
		v.changed(p[0], p[1])
	}
	for _, it := range a {
		v.missing(it, v.c.a, v.c.b, "A", "B")
	}
	for _, it := range b {
		v.missing(it, v.c.b, v.c.a, "B", "A")
	}
}

// match pairs what has the same key, in order, and returns what is left of both.
func match(a, b []*item, key func(*item) event.Hash) (restA, restB []*item, pairs [][2]*item) {
	open := map[event.Hash][]int{} // indices in b; looked up only
	for i, it := range b {
		k := key(it)
		open[k] = append(open[k], i)
	}
	taken := make([]bool, len(b))
	for _, it := range a {
		k := key(it)
		if l := open[k]; len(l) > 0 {
			open[k], taken[l[0]] = l[1:], true
			pairs = append(pairs, [2]*item{it, b[l[0]]})
			continue
		}
		restA = append(restA, it)
	}
	for i, it := range b {
		if !taken[i] {
			restB = append(restB, it)
		}
	}
	return restA, restB, pairs
}

// changed adds that the result of the same call is another one in both contexts.
func (v *conversation) changed(x, y *item) {
	c := v.c
	editA, inA := c.a.edits[x.raw]
	editB, inB := c.b.edits[y.raw]
	f := Finding{Kind: KindStubbed, Where: "context", StepA: x.step, StepB: y.step}
	switch {
	case inA && !inB:
		f.Only, f.Text = "b", c.a.edited(x, editA, "A", "B")
		if c.rewroteA && c.follow(f.Text) {
			return
		}
	case inB && !inA:
		f.Only, f.Text = "a", c.b.edited(y, editB, "B", "A")
		if c.rewroteB && c.follow(f.Text) {
			return
		}
	default:
		if n, ok := c.reported[x.call]; ok && x.call != nil {
			c.found[n].Diff = c.diffOf(c.found[n].Kind, x.text, y.text)
			c.found[n].Text += beginning(x.text, y.text) + onlySecrets(x.text, y.text)
			return
		}
		f.Kind, f.Text, f.Diff = KindResult, c.a.of(x)+" is another text in A than in B"+onlySecrets(x.text, y.text), c.diffOf(KindResult, x.text, y.text)
	}
	c.find(f)
}

// diffOf is textDiff for findings of which a report lists the first ones only: the
// others get none.
func (c *Comparison) diffOf(k Kind, a, b string) []string {
	if c.diffs[k]++; c.diffs[k] > mostOfKind+1 {
		return []string{}
	}
	return textDiff(a, b)
}

// beginning says that one text is only the beginning of the other, and does not say
// so itself.
func beginning(a, b string) string {
	switch {
	case len(a) < len(b) && strings.HasPrefix(b, a):
		return "; A's text is the beginning of B's, and ends there without a word"
	case len(b) < len(a) && strings.HasPrefix(a, b):
		return "; B's text is the beginning of A's, and ends there without a word"
	}
	return ""
}

// onlySecrets says that two texts differ in nothing but the names of secrets.
func onlySecrets(a, b string) string {
	if a != b && masked(a) == masked(b) {
		return "; only what is redacted there differs"
	}
	return ""
}

// of names the result that a message holds.
func (r *Run) of(it *item) string {
	if it.call == nil {
		return "a result of " + it.tool
	}
	return fmt.Sprintf("the result of %s, step %s,", r.label(it.call), number(it.call.Step))
}

// edited says that a rewrite has put something else in the place of a result.
func (r *Run) edited(it *item, e edit, name, other string) string {
	what := "a stub in the place of"
	if e.action == window.ActionTrim {
		what = "a part of"
	}
	return fmt.Sprintf("%s had only %s %s since its context was rewritten before step %s; %s had what was shown at first",
		name, what, r.of(it), number(r.Rewrites[e.rewrite].Step), other)
}

// missing adds that a result is only in the context of one run.
func (v *conversation) missing(it *item, have, lack *Run, name, other string) {
	f := Finding{Kind: KindMissing, Where: "context", Only: strings.ToLower(name)}
	if name == "A" {
		f.StepA = it.step
	} else {
		f.StepB = it.step
	}
	f.Text = v.c.onlyIn(it, have, lack, name, other)
	if w := lack.lastRewrite(v.c.place()); w != nil && it.call != nil && it.call.at < v.c.alike {
		f.Text = fmt.Sprintf("%s has left %s's context, which was rewritten before step %s; %s still had it",
			have.of(it), other, number(w.Step), name)
		if v.c.rewrote(other == "A") && v.c.follow(fmt.Sprintf("%s has left %s's context; %s still had it", have.of(it), other, name)) {
			return
		}
		if step := &lack.Steps[it.call.at]; name == "A" {
			f.StepB = ptr(step.Number)
		} else {
			f.StepA = ptr(step.Number)
		}
	}
	v.c.find(f)
}

// onlyIn says of a result that it is in one context, and that the other run never saw
// it if that is so.
func (c *Comparison) onlyIn(it *item, have, lack *Run, name, other string) string {
	switch {
	case it.call == nil:
		return fmt.Sprintf("a result of %s is only in %s's context", it.tool, name)
	case it.call.at >= c.alike:
		if text := c.unseen(it.call, have, lack, name, other); text != "" {
			return text
		}
	}
	return fmt.Sprintf("%s is only in %s's context", have.of(it), name)
}

// lastRewrite returns the last rewrite before the request of a step, nil for none.
func (r *Run) lastRewrite(step int) *Rewrite {
	list := r.rewritesBefore(step)
	if len(list) == 0 {
		return nil
	}
	return &list[len(list)-1]
}

// rewritesBefore returns the rewrites that the request of a step comes after.
func (r *Run) rewritesBefore(step int) []Rewrite {
	n := 0
	for n < len(r.Rewrites) && r.Rewrites[n].Event < r.Steps[step].Event {
		n++
	}
	return r.Rewrites[:n]
}

// rewrites compares the compactions of the contexts.
func (c *Comparison) rewrites() {
	i := c.place()
	a, b := c.a.rewritesBefore(i), c.b.rewritesBefore(i)
	n := 0
	for n < len(a) && n < len(b) && a[n].hash == b[n].hash {
		n++
	}
	a, b = a[n:], b[n:]
	c.rewroteA, c.rewroteB = len(a) > 0, len(b) > 0
	f := Finding{Kind: KindRewrite, Where: "context"}
	switch {
	case len(a) == 0 && len(b) == 0:
		return
	case len(b) == 0:
		f.Only, f.StepA = "a", ptr(a[0].Step)
		f.Text = fmt.Sprintf("A's context was rewritten %s; B's was not", times(a))
	case len(a) == 0:
		f.Only, f.StepB = "b", ptr(b[0].Step)
		f.Text = fmt.Sprintf("B's context was rewritten %s; A's was not", times(b))
	default:
		f.StepA, f.StepB = ptr(a[0].Step), ptr(b[0].Step)
		f.Text = fmt.Sprintf("A's context was rewritten %s, B's %s", times(a), times(b))
	}
	if n > 0 {
		f.Text += fmt.Sprintf(" (%s before are the same)", plural(n, "rewrite", "rewrites"))
	}
	c.rewritten = len(c.found)
	c.find(f)
}

// rewrote reports whether the context of A, or of B, was rewritten where that of the
// other was not in the same way.
func (c *Comparison) rewrote(a bool) bool { return a && c.rewroteA || !a && c.rewroteB }

// follow adds what has come of the rewrites that differ to their finding, and reports
// whether there is one.
func (c *Comparison) follow(text string) bool {
	if !c.rewroteA && !c.rewroteB {
		return false
	}
	f := &c.found[c.rewritten]
	if c.followed++; c.followed > mostOfKind {
		f.Follows = append(f.Follows[:mostOfKind], fmt.Sprintf("and %s like these", number(c.followed-mostOfKind)))
		return true
	}
	f.Follows = append(f.Follows, text)
	return true
}

// times says when a context was rewritten, and how.
func times(list []Rewrite) string {
	var out []string
	for i := range list {
		if i == 3 && len(list) > 4 {
			out = append(out, plural(len(list)-i, "more time", "more times"))
			break
		}
		out = append(out, fmt.Sprintf("before step %s (%s%s)", number(list[i].Step), list[i].what(), because(list[i].Why)))
	}
	return joined(out)
}

// what says what a rewrite did, and why.
func (w *Rewrite) what() string {
	var out []string
	for _, n := range []struct {
		n    int
		what [2]string
	}{
		{w.Stubbed, [2]string{"result stubbed", "results stubbed"}},
		{w.Trimmed, [2]string{"message shortened", "messages shortened"}},
		{w.Dropped, [2]string{"message dropped", "messages dropped"}},
	} {
		if n.n > 0 {
			out = append(out, plural(n.n, n.what[0], n.what[1]))
		}
	}
	if w.Upto > 0 {
		out = append(out, fmt.Sprintf("the messages before %s taken out", number(w.Upto)))
	}
	if w.Summary {
		out = append(out, "a summary in their place")
	}
	if len(out) == 0 {
		out = append(out, "nothing taken out")
	}
	return strings.Join(out, ", ")
}

// after adds what only one run has found out or done, from the parting on.
func (c *Comparison) after() {
	if !c.parts() {
		return
	}
	c.alone(c.a, c.b, "A", "B")
	c.alone(c.b, c.a, "B", "A")
}

// missed says what a run has not seen of what a call of the other one showed; empty for
// nothing, and for what is said where they part.
func (c *Comparison) missed(call *Call, have, lack *Run, name, other string, tried bool) string {
	how, _ := lack.saw(call)
	switch {
	case c.paired[call] && how != sightPart:
		return ""
	case tried && how != sightNone && how != sightPart:
		return fmt.Sprintf("%s succeeded in %s at step %s, and did not in %s", have.label(call), name, number(call.Step), other)
	}
	return c.unseen(call, have, lack, name, other)
}

// alone adds the calls that one run made with success, and the other not at all.
func (c *Comparison) alone(have, lack *Run, name, other string) {
	asked, done := lack.sights().asked, map[ask]bool{} // looked up only
	for i := c.alike; i < len(have.Steps); i++ {
		for _, call := range have.Steps[i].Calls {
			key := call.ask()
			spec := have.offers(call.Tool)
			if !call.ok() || done[key] || asked[key].ok || spec != nil && spec.Harness && call.Tool != tool.ReadArtifact {
				continue
			}
			done[key] = true
			f := Finding{Kind: KindMissing, Where: "after", Only: strings.ToLower(name)}
			_, tried := asked[key]
			if spec == nil || spec.Effect.Writes() {
				if c.paired[call] {
					continue // said where they part
				}
				f.Kind = KindDone
				f.Text = fmt.Sprintf("run %s never called %s, which %s did at step %s", other, strings.TrimSpace(call.Tool+" "+argsText(call.Args)), name, number(call.Step))
				if tried {
					f.Text = fmt.Sprintf("%s succeeded in %s at step %s, and did not in %s", strings.TrimSpace(call.Tool+" "+argsText(call.Args)), name, number(call.Step), other)
				}
			} else if f.Text = c.missed(call, have, lack, name, other, tried); f.Text == "" {
				continue
			}
			if name == "A" {
				f.StepA = ptr(call.Step)
			} else {
				f.StepB = ptr(call.Step)
			}
			c.find(f)
		}
	}
}

func (r *Run) offers(name string) *event.ToolSpec {
	if r.Spec == nil {
		return nil
	}
	i := slices.IndexFunc(r.Spec.Tools, func(t event.ToolSpec) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &r.Spec.Tools[i]
}

// ended adds that the runs stand differently.
func (c *Comparison) ended() {
	if x, y := c.a.state(), c.b.state(); x != y || c.a.OK != c.b.OK {
		c.find(Finding{Kind: KindEnd, Where: "after", Text: fmt.Sprintf("A is %s after %s, B %s after %s",
			x, plural(len(c.a.Steps), "step", "steps"), y, plural(len(c.b.Steps), "step", "steps"))})
	}
}
