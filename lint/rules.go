package lint

import (
	"fmt"
	"slices"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/guard"
)

// untestable are phrases of rules of which nobody can see in a run whether they
// were kept.
var untestable = []string{"be careful", "be helpful", "be smart", "be thorough", "be accurate", "be precise", "be professional", "be responsible",
	"carefully", "common sense", "do your best", "try to", "try your best", "as much as possible", "as well as possible", "if possible", "where possible",
	"when appropriate", "as appropriate", "if appropriate", "good judgement", "good judgment", "use your judgement", "use your judgment",
	"high quality", "properly", "reasonable", "reasonably", "think hard", "think twice", "pay attention", "keep in mind", "make sure everything"}

// rules checks the rules one by one, then against each other.
func (c *checker) rules() {
	place := map[string]int{}
	var about []string
	for i := range c.Rules {
		r := &c.Rules[i]
		about = append(about, fmt.Sprintf("rule %s[%d]", r.List, place[r.List]))
		place[r.List]++
		if r.Kind == "" {
			c.textRule(r, about[i])
		}
	}
	for i := range c.Rules {
		for k := range i {
			c.pair(&c.Rules[k], &c.Rules[i], about[k], about[i])
		}
	}
	c.reachable()
}

// textRule checks a rule that is only told.
func (c *checker) textRule(r *event.RuleSpec, about string) {
	for _, p := range untestable {
		if anyOf(r.Text, p) {
			c.add(Warning, about, "", quote(p)+" is nothing that anybody could see in a run",
				`say what has to be seen there: "quote the line that a figure comes from" rather than "be accurate"`)
			break
		}
	}
	switch negative := startsNegative(r.Text); {
	case negative && r.List == "never":
		c.add(Warning, about, "", "it stands under never and forbids once more: "+quote(r.Text), "leave the negation out; the list says it")
	case negative && r.List == "must":
		c.add(Hint, about, "", "it says what not to do, under must: "+quote(r.Text), "put it under never, or say what to do instead")
	}
	for _, d := range c.Tools {
		if strings.Contains(r.Text, d.Name) && strings.Contains(d.Name, "_") {
			c.add(Hint, about, "", "it names "+d.Name+", and is only told to the model, not enforced",
				"if it is about the order of calls, write {call: …, before: …} or {never: …, after: …}, which code enforces")
			break
		}
	}
}

// pair checks two rules against each other.
func (c *checker) pair(a, b *event.RuleSpec, aboutA, aboutB string) {
	if a.Kind != b.Kind || a.Kind != "" {
		if a.Kind == b.Kind && a.Call == b.Call && a.Before == b.Before && a.After == b.After && a.Kind != "" {
			c.add(Warning, aboutB, "", "it is the same as "+aboutA, "leave one out")
		}
		return
	}
	wa, wb := content(a.Text), content(b.Text)
	same := slices.Equal(wa, wb)
	switch {
	case same && a.List == b.List:
		c.add(Warning, aboutB, "", "it says the same as "+aboutA, "leave one out: twice is not stronger, and both are paid for")
	case same && len(wa) > 0:
		c.add(Error, aboutB, "", "it contradicts "+aboutA+", which stands under "+a.List, "leave one out")
	case a.List == b.List && alike(wa, wb):
		c.add(Hint, aboutB, "", "it is nearly the same as "+aboutA, "join them into one")
	}
}

// content returns the words of a rule that carry it, sorted, each once.
func content(text string) []string {
	var out []string
	for _, w := range words(text) {
		if !slices.Contains([]string{"a", "an", "the", "to", "of", "is", "are", "be", "do", "not", "don", "t", "never", "always", "must", "please", "you", "your", "and", "or", "in", "on", "for"}, w) {
			out = append(out, w)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// alike reports whether two rules share four fifths of their words, at least 4.
func alike(a, b []string) bool {
	shared := 0
	for _, w := range a {
		if slices.Contains(b, w) {
			shared++
		}
	}
	return shared >= 4 && 5*shared >= 4*(len(a)+len(b)-shared)
}

// reachable finds tools that no order of calls can reach: what has to be called
// before them cannot be called, or is itself to be called after them.
func (c *checker) reachable() {
	specs := c.specs()
	var policy *guard.Policy
	if c.Permissions != nil {
		policy, _ = guard.New(c.Permissions) // its errors are said elsewhere
	}
	rules, err := guard.NewRules(c.Rules)
	if err != nil {
		c.add(Error, "rules", "", err.Error(), "write names of tools, with * for any run of characters")
		return
	}
	names := make([]string, len(specs))
	for i := range specs {
		names[i] = specs[i].Name
	}
	c.nowhere(names)
	open := map[string]bool{}
	for grown := true; grown; {
		grown = false
		for i := range specs {
			t := &specs[i]
			if open[t.Name] || policy != nil && policy.Judge(*t).Verdict == event.Deny || !permits(c.Rules, t.Name, open, names) {
				continue
			}
			open[t.Name], grown = true, true
		}
	}
	for i := range specs {
		t := &specs[i]
		b := rules.Judge(t, nil, names)
		if open[t.Name] || b == nil || policy != nil && policy.Judge(*t).Verdict == event.Deny {
			continue
		}
		if b.Rule.Kind == event.RuleNever {
			c.add(Hint, "tool "+t.Name, "", "a rule forbids it at any time, and it is offered all the same", "leave the tool out, which saves the model the thought")
			continue
		}
		c.add(Error, "tool "+t.Name, "", "it can never be called: the rule "+quote(b.Rule.Text)+" asks for something first that cannot be called before it",
			"take the rule or what stands against it out")
	}
}

// permits reports whether the rules let a tool be called once those of open have
// been.
func permits(rules []event.RuleSpec, name string, open map[string]bool, names []string) bool {
	for i := range rules {
		r := &rules[i]
		switch r.Kind {
		case event.RuleNever:
			if matches(r.Call, name) && r.After == "" {
				return false
			}
		case event.RuleBefore:
			if matches(r.Before, name) && !matches(r.Call, name) &&
				!slices.ContainsFunc(names, func(n string) bool { return open[n] && matches(r.Call, n) }) {
				return false
			}
			// What must come first must not be forbidden once this was called; the
			// order A, B keeps both rules, so that is no contradiction.
		}
	}
	// {call: a, before: b} with {never: b, after: a} leaves no order for b.
	for i := range rules {
		n := &rules[i]
		if n.Kind != event.RuleNever || n.After == "" || !matches(n.Call, name) {
			continue
		}
		for k := range rules {
			b := &rules[k]
			if b.Kind == event.RuleBefore && matches(b.Before, name) && !matches(b.Call, name) && b.Call == n.After {
				return false
			}
		}
	}
	return true
}

func matches(text, name string) bool {
	set, err := guard.NewNames(text)
	return err == nil && set.Has(name)
}

// nowhere finds rules that name no tool, and so never apply.
func (c *checker) nowhere(names []string) {
	if len(c.Tools) == 0 {
		return
	}
	for i := range c.Rules {
		r := &c.Rules[i]
		for _, text := range []string{r.Call, r.Before, r.After} {
			if text != "" && !slices.ContainsFunc(names, func(n string) bool { return matches(text, n) }) {
				c.add(Error, "rule "+quote(r.Text), "", "there is no tool "+quote(text)+", so it never does what it says", "name a tool of the agent")
			}
		}
	}
}

// specs returns the tools as the guard sees them.
func (c *checker) specs() []event.ToolSpec {
	out := make([]event.ToolSpec, len(c.Tools))
	for i, d := range c.Tools {
		out[i] = event.ToolSpec{Name: d.Name, Effect: d.Effect, Harness: d.Harness, Sensitive: d.Sensitive}
	}
	return out
}
