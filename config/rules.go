package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/internal/yamltree"
	"rein.example/rein/tool"
)

// Rules are told to the model; those that name tools are enforced as well.
type Rules struct {
	Never []Rule   `yaml:"never" max:"100" doc:"What the agent must not do."`
	Must  []Rule   `yaml:"must" max:"100" doc:"What the agent has to do."`
	Can   []string `yaml:"can" is:"rule" max:"100" doc:"What the agent may do."`
}

// Rule is one of a list: words, or what code can enforce.
type Rule struct {
	Text   string `yaml:"text" is:"rule" doc:"The rule in words, which the model is told and no more."`
	Call   string `yaml:"call" is:"tools" doc:"What has to have been called, and to have succeeded."`
	Before string `yaml:"before" is:"tools" doc:"What may be called only after that; submit_result for the result."`
	Never  string `yaml:"never" is:"tools" doc:"What must not be called."`
	After  string `yaml:"after" is:"tools" doc:"What, once it has been called, forbids it. Left out: it is forbidden at any time."`
}

// Phase is a part of the run.
type Phase struct {
	Name  string   `yaml:"name" is:"name" need:"true" doc:"The phase's name, which the model is told."`
	Tools []string `yaml:"tools" is:"tools" max:"100" need:"true" doc:"The tools that there are in the phase. 5 to 8 are a good number."`
	Until string   `yaml:"until" is:"tools" doc:"The tool whose success ends the phase. Needed in every phase but the last."`
}

// spread reads "- be brief" as "- text: be brief".
func (Rule) spread(n *yamltree.Node) *yamltree.Node { return nested(n, "text", n) }

const ruleWhat = "a rule in words, {call: check_x, before: submit_x} or {never: a, after: b}"

// wrong says what does not fit in a rule; "" if it is one.
func (r *Rule) wrong() string {
	switch {
	case r.Text != "" && *r == Rule{Text: r.Text},
		r.Call != "" && r.Before != "" && *r == Rule{Call: r.Call, Before: r.Before},
		r.Never != "" && *r == Rule{Never: r.Never, After: r.After}:
		return ""
	}
	return "this has to be " + ruleWhat
}

// ruleSchema narrows the schema of a rule's mapping to what wrong lets pass.
func ruleSchema(s *jsonschema.Schema, texts map[string]textRule) *jsonschema.Schema {
	only := func(least int, keys ...string) *jsonschema.Schema {
		most := len(keys)
		shape := &jsonschema.Schema{Required: keys[:least], MaxProperties: &most}
		for _, k := range s.PropertyOrder {
			if !slices.Contains(keys, k) {
				shape.AllOf = append(shape.AllOf, &jsonschema.Schema{Not: &jsonschema.Schema{Required: []string{k}}})
			}
		}
		return shape
	}
	s.Type, s.Types = "object", nil
	s.AnyOf = []*jsonschema.Schema{only(1, "text"), only(2, "call", "before"), only(1, "never", "after")}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{textSchema(texts["rule"]), s}}
}

// checkRules checks the rules that were read.
func (d *decoder) checkRules(a *Agent) {
	for name, list := range map[string][]Rule{"never": a.Rules.Never, "must": a.Rules.Must} {
		for i := range list {
			at := fmt.Sprintf("rules.%s[%d]", name, i)
			said := slices.ContainsFunc(d.problems, func(p Problem) bool { return strings.HasPrefix(p.Setting, at) })
			if why := list[i].wrong(); why != "" && !said {
				d.add(d.at[at], at, "%s", why)
			}
		}
	}
}

// rules returns what [rein.New] takes. A name that no tool has would be a rule
// that never applies.
func (a *Agent) rules(r *report, tools []tool.Tool) rein.Rules {
	return a.rulesFor(r, offeredNames(tools))
}

// rulesFor is rules for tools of these names, sorted.
func (a *Agent) rulesFor(r *report, names []string) rein.Rules {
	out := rein.Rules{Can: a.Rules.Can}
	list := func(name string, rules []Rule, texts *[]string) {
		for i := range rules {
			rule, path := &rules[i], fmt.Sprintf("rules.%s[%d]", name, i)
			var e event.RuleSpec
			switch {
			case rule.Text != "":
				*texts = append(*texts, rule.Text)
				continue
			case rule.Never != "":
				e = rein.Never(rule.Never, rule.After)
				a.named(r, path+".never", rule.Never, names)
				a.named(r, path+".after", rule.After, names)
			default:
				e = rein.Before(rule.Call, rule.Before)
				a.named(r, path+".call", rule.Call, names)
				a.named(r, path+".before", rule.Before, names)
			}
			out.Enforced = append(out.Enforced, e)
		}
	}
	list("never", a.Rules.Never, &out.Never)
	list("must", a.Rules.Must, &out.Must)
	return out
}

// phases returns what [rein.New] takes.
func (a *Agent) phases(r *report, tools []tool.Tool) []event.PhaseSpec {
	var out []event.PhaseSpec
	names := offeredNames(tools)
	for i, p := range a.Phases {
		for k, text := range p.Tools {
			a.named(r, fmt.Sprintf("phases[%d].tools[%d]", i, k), text, names)
		}
		a.named(r, fmt.Sprintf("phases[%d].until", i), p.Until, names)
		out = append(out, event.PhaseSpec{Name: p.Name, Tools: p.Tools, Until: p.Until})
	}
	return out
}

// offeredNames returns the names of the tools and of those that are always there.
func offeredNames(tools []tool.Tool) []string {
	names := []string{tool.SubmitResult, tool.ReadArtifact}
	for _, t := range tools {
		if n := t.Definition().Name; !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}

// named reports a name or pattern, if there is one, that no tool has; not if
// tools are missing because of something that is reported already.
func (a *Agent) named(r *report, path, text string, names []string) {
	if text == "" || len(r.problems) > 0 && !r.onlyNames {
		return
	}
	set, err := guard.NewNames(text)
	switch {
	case err != nil:
		r.add(a.source.at[path], path, "%v", err)
	case !slices.ContainsFunc(names, set.Has):
		r.add(a.source.at[path], path, "%s", unknown("tool", text, names))
	default:
		return
	}
	r.onlyNames = true
}
