package rein

import (
	"errors"
	"fmt"
	"slices"

	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/tool"
	"rein.example/rein/toolkit/artifact"
	"rein.example/rein/toolkit/catalogue"
	"rein.example/rein/toolkit/submit"
	"rein.example/rein/window"
)

// Rules are told to the model, strictest first. Words are only told; what is in
// Enforced is code's to see to as well.
//
// An agent that can read what it changes has one rule more, which is enforced:
// what it has changed is read after its last change before a result is submitted.
type Rules struct {
	Never, Must, Can []string
	// Enforced are made with [Before] and [Never]. Their Text, if it is empty, is
	// made of what they say.
	Enforced []event.RuleSpec
}

// Before is the rule that a call of call has to have succeeded in the run before
// one of before: "check_stock" before "submit_*". Both are names of tools, with *
// for any run of characters.
func Before(call, before string) event.RuleSpec {
	return event.RuleSpec{List: "must", Kind: event.RuleBefore, Call: call, Before: before}
}

// Never is the rule that there is no call of call or, if after is not empty, none
// once a call of after may have taken effect.
func Never(call, after string) event.RuleSpec {
	return event.RuleSpec{List: "never", Kind: event.RuleNever, Call: call, After: after}
}

// specs returns the rules as a run's journal has them, and their text for the
// model.
func (r *Rules) specs(readBack bool) ([]event.RuleSpec, string) {
	enforced := r.Enforced
	if readBack {
		enforced = append(slices.Clone(enforced), event.RuleSpec{List: "must", Kind: event.RuleReadBack})
	}
	var out []event.RuleSpec
	list := func(name string, texts []string) (shown []string) {
		for _, text := range texts {
			out = append(out, event.RuleSpec{List: name, Text: text})
			shown = append(shown, text)
		}
		for _, e := range enforced {
			if e.List != name {
				continue
			}
			if e.Text == "" {
				e.Text = guard.RuleText(&e)
			}
			out = append(out, e)
			shown = append(shown, e.Text+" (enforced)")
		}
		return shown
	}
	never, must, can := list("never", r.Never), list("must", r.Must), list("can", r.Can)
	return out, window.Rules(never, must, can)
}

// Text returns the rules as they stand in the system text; readBack says that the agent
// has the rule that it reads what it has changed. Empty: there are none.
func (r *Rules) Text(readBack bool) string {
	_, text := r.specs(readBack)
	return text
}

// check returns what is wrong with the rules.
func (r *Rules) check() error {
	for i := range r.Enforced {
		if e := &r.Enforced[i]; e.Kind == "" || e.List != "must" && e.List != "never" {
			return fmt.Errorf("enforced rule %d (%q): make it with Before or Never", i+1, e.Text)
		}
	}
	specs, _ := r.specs(true)
	_, err := guard.NewRules(specs)
	return err
}

// readsBack reports whether the tools can read what they change.
func readsBack(policy *guard.Policy, specs []event.ToolSpec) bool {
	reads, writes := false, false
	for _, t := range specs {
		if t.Harness || len(t.Resources) == 0 || policy.Judge(t).Verdict == event.Deny {
			continue
		}
		reads = reads || !t.Effect.Writes()
		writes = writes || t.Effect.Writes()
	}
	return reads && writes
}

// offer makes the registry of the agent's own tools and those of the harness, and
// the specs of both. Where there are groups of tools, and no phases, the model
// opens them through a catalogue.
func (o *Options) offer(w event.WindowSpec) (*tool.Registry, []event.ToolSpec, error) {
	own, err := tool.NewRegistry(o.Tools...)
	if err != nil {
		return nil, nil, err
	}
	result, err := submit.Tool(o.Submit)
	if err != nil {
		return nil, nil, fmt.Errorf("submit schema: %w", err)
	}
	tools := append(slices.Clone(o.Tools), result)
	if slices.ContainsFunc(o.Tools, cuttable) {
		tools = append(tools, artifact.Tool())
	}
	if w.Strategy != window.Full && roomy(&w) {
		tools = append(tools, artifact.History())
	}
	grouped := own.Specs()
	if len(o.Phases) == 0 && catalogue.Assign(grouped) {
		tools = append(tools, catalogue.Tools(grouped)...)
	}
	all, err := tool.NewRegistry(tools...)
	if err != nil {
		return nil, nil, err
	}
	groups := map[string]string{} // looked up only
	for _, t := range grouped {
		groups[t.Name] = t.Group
	}
	specs := all.Specs()
	for i := range specs {
		specs[i].Group = groups[specs[i].Name]
	}
	return all, specs, checkPhases(o.Phases, specs)
}

// smallBudget is the budget in tokens below which a tool for reading what was said
// earlier is not offered: its description would take a tenth of it.
const smallBudget = 4_000

// roomy reports whether requests have room for such a tool.
func roomy(w *event.WindowSpec) bool { b := window.Budget(w); return b == 0 || b >= smallBudget }

// checkPhases returns what is wrong with the phases of an agent that has the
// tools.
func checkPhases(phases []event.PhaseSpec, specs []event.ToolSpec) error {
	names := map[string]bool{}
	for i, p := range phases {
		wrong := func(err error) error { return fmt.Errorf("phase %d, %q: %w", i+1, p.Name, err) }
		set, err := guard.NewNames(p.Tools...)
		if err != nil {
			return wrong(err)
		}
		last := i == len(phases)-1
		switch {
		case p.Name == "" || names[p.Name]:
			return wrong(errors.New("give each phase a name of its own"))
		case last && p.Until != "":
			return wrong(errors.New("the last phase lasts until the run's end: leave until out, or add the phase that follows"))
		case !last && p.Until == "":
			return wrong(errors.New("say until which tool's success it lasts: until"))
		}
		names[p.Name] = true
		has := func(set *guard.Names) bool {
			return slices.ContainsFunc(specs, func(t event.ToolSpec) bool { return !t.Harness && set.Has(t.Name) })
		}
		for _, text := range p.Tools {
			if one, _ := guard.NewNames(text); !has(&one) {
				return wrong(fmt.Errorf("there is no tool %q", text))
			}
		}
		if last {
			continue
		}
		until, err := guard.NewNames(p.Until)
		if err != nil {
			return wrong(err)
		}
		if !slices.ContainsFunc(specs, func(t event.ToolSpec) bool { return (t.Harness || set.Has(t.Name)) && until.Has(t.Name) }) {
			return wrong(fmt.Errorf("it lasts until %q, which is none of its tools, so it would never end", p.Until))
		}
	}
	return nil
}
