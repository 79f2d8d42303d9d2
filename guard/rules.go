package guard

import (
	"fmt"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// MaxRules is the most rules of a run: of each, every call asks.
const MaxRules = 300

// RuleText returns the words for a rule that code enforces, as they stand in its
// list: what has to be done, or what must not be.
func RuleText(r *event.RuleSpec) string {
	switch r.Kind {
	case event.RuleBefore:
		return "call " + r.Call + " before " + r.Before
	case event.RuleNever:
		if r.After == "" {
			return "call " + r.Call
		}
		return "call " + r.Call + " after " + r.After
	case event.RuleReadBack:
		return "read what you have changed again, after its last change, before you submit the result"
	}
	return r.Text
}

// Rules judge calls by what the run has done so far. A run has one; it is folded
// with [Rules.Add], and not safe for concurrent use.
//
// What counts is what was executed: a call that was answered with an earlier
// outcome, or that the harness made by itself to find out what became of
// another, is none.
type Rules struct {
	list []enforced
	// readBack: there is such a rule, and back is what it is about.
	readBack bool
	back     readBack
}

// enforced is one rule, compiled.
type enforced struct {
	spec *event.RuleSpec
	// binds are the tools whose calls it may forbid, on those it waits for.
	binds, on pattern
	// met: a call of on has succeeded or, for never, may have taken effect.
	met bool
	by  string
	// unsure is the call that has met it, where nobody can say whether that took
	// effect.
	unsure string
}

// NewRules compiles the rules that code enforces; the others are left out. Its
// errors name the rule by its place and text.
func NewRules(specs []event.RuleSpec) (*Rules, error) {
	r := &Rules{}
	if len(specs) > MaxRules {
		return nil, fmt.Errorf("%d rules are more than %d: join them", len(specs), MaxRules)
	}
	for i := range specs {
		s := &specs[i]
		if s.Kind == "" {
			continue
		}
		e, err := compileRule(s)
		if err != nil {
			return nil, fmt.Errorf("rule %d, %q: %w", i+1, clip(s.Text), err)
		}
		r.list = append(r.list, e)
		r.readBack = r.readBack || s.Kind == event.RuleReadBack
	}
	return r, nil
}

func compileRule(s *event.RuleSpec) (e enforced, err error) {
	e.spec = s
	pat := func(p *pattern, member, text string) {
		if err == nil {
			if *p, err = newPattern(text); err != nil {
				err = fmt.Errorf("%s: %w", member, err)
			}
		}
	}
	switch s.Kind {
	case event.RuleBefore:
		pat(&e.on, "call", s.Call)
		pat(&e.binds, "before", s.Before)
		if err == nil && e.on.covers(&e.binds) {
			err = fmt.Errorf("%s would have to be called before itself, so the rule forbids nothing: name another tool in call or in before", s.Before)
		}
	case event.RuleNever:
		pat(&e.binds, "never", s.Call)
		if s.After != "" {
			pat(&e.on, "after", s.After)
		}
	case event.RuleReadBack:
	default:
		err = fmt.Errorf("the kind %q is not known to this version", s.Kind)
	}
	return e, err
}

// Empty reports whether there is nothing to enforce.
func (r *Rules) Empty() bool { return len(r.list) == 0 }

// Binds reports whether a rule says anything of calls of the tool: only then has
// [Rules.Judge] anything to say.
func (r *Rules) Binds(t *event.ToolSpec) bool {
	for i := range r.list {
		e := &r.list[i]
		if e.spec.Kind == event.RuleReadBack && submits(t) || e.spec.Kind != event.RuleReadBack && e.binds.match(t.Name) {
			return true
		}
	}
	return false
}

// A Breach is a rule that forbids a call.
type Breach struct {
	Rule *event.RuleSpec
	// Why says what is wrong, for the model and for people; Do what to do first.
	Why, Do string
}

// Judge says which rule forbids a call of the tool now; nil for none. earlier
// are the tools of calls of the same reply that come before it and may still be
// executed; names are the tools that there are, for advice.
func (r *Rules) Judge(tool *event.ToolSpec, earlier []*event.ToolSpec, names []string) *Breach {
	for i := range r.list {
		e := &r.list[i]
		switch e.spec.Kind {
		case event.RuleReadBack:
			if b := r.back.judge(e.spec, tool, earlier); b != nil {
				return b
			}
		case event.RuleBefore:
			if e.binds.match(tool.Name) && !e.met && !e.on.match(tool.Name) {
				return &Breach{e.spec, "no call of " + e.spec.Call + " has succeeded in this run",
					"call " + named(&e.on, names) + " first, read what it returns, then send this call again if it is still right"}
			}
		case event.RuleNever:
			if e.binds.match(tool.Name) {
				if b := e.never(earlier); b != nil {
					return b
				}
			}
		}
	}
	return nil
}

// JudgeEnd says which rule forbids that the run ends well with an answer in words:
// such an answer hands in the result as a call of submit_result does, and is held
// to the same rules. A rule that the tool is never to be called says nothing of
// words. Do is empty where nothing can be done about it any more.
func (r *Rules) JudgeEnd(names []string) *Breach {
	submit := &event.ToolSpec{Name: tool.SubmitResult, Harness: true}
	for i := range r.list {
		if r.endsBy(i, submit) {
			one := Rules{list: r.list[i : i+1], back: r.back}
			if b := one.Judge(submit, nil, names); b != nil {
				b.Do = b.toEnd(&r.list[i], names)
				return b
			}
		}
	}
	return nil
}

// toEnd says what to do before the run can end; nothing where it is too late.
func (b *Breach) toEnd(e *enforced, names []string) string {
	switch b.Rule.Kind {
	case event.RuleBefore:
		return "call " + named(&e.on, names) + ", read what it returns, then answer again"
	case event.RuleReadBack:
		return "read what is named again, in parts if one call does not show all, and compare it with the task; then answer again"
	}
	return ""
}

// endsBy reports whether the i-th rule says anything of an end in words.
func (r *Rules) endsBy(i int, submit *event.ToolSpec) bool {
	e := &r.list[i]
	switch e.spec.Kind {
	case event.RuleReadBack:
		return true
	case event.RuleNever:
		return e.spec.After != "" && e.binds.match(submit.Name)
	}
	return e.binds.match(submit.Name)
}

// never returns the breach of a call that the rule binds, if it is one now.
func (e *enforced) never(earlier []*event.ToolSpec) *Breach {
	const instead = "do not repeat it; go on without it, or say in your answer that this was not permitted"
	if e.spec.After == "" {
		return &Breach{e.spec, "it must not be called", instead}
	}
	if e.met {
		return &Breach{e.spec, e.by + " has been called", instead}
	}
	for _, t := range earlier {
		if e.on.match(t.Name) {
			return &Breach{e.spec, t.Name + " is called before it in the same reply", instead}
		}
	}
	return nil
}

// named names what a pattern stands for.
func named(p *pattern, names []string) string {
	if len(p.pieces) == 1 {
		return p.text
	}
	const most = 5
	var found []string
	for _, n := range names {
		if p.match(n) {
			found = append(found, n)
		}
	}
	if len(found) == 0 || len(found) > most {
		return "a tool named " + p.text
	}
	return strings.Join(found, " or ")
}

// Add folds the outcome of a call of the tool; a nil tool is one that is not
// there.
func (r *Rules) Add(d *event.ToolFinished, tool *event.ToolSpec) {
	if tool == nil || d.For != "" {
		return
	}
	if d.Undoes != "" {
		if r.readBack && d.Status == event.StatusSuccess {
			r.back.undone(d)
		}
		return
	}
	done, maybe := d.Status == event.StatusSuccess, mayHaveActed(d, tool)
	for i := range r.list {
		e := &r.list[i]
		switch {
		case !e.waitsFor(tool.Name):
		case done:
			e.met, e.by, e.unsure = true, tool.Name, ""
		case maybe && !e.met && e.spec.Kind == event.RuleNever:
			e.met, e.by, e.unsure = true, tool.Name, d.Call
		case d.Status == event.StatusError && e.unsure == d.Call && d.Call != "":
			e.met, e.unsure = false, "" // it was found out that it did nothing
		}
	}
	if r.readBack {
		r.back.add(d, tool)
	}
}

// waitsFor reports whether a call of the tool is what the rule waits for.
func (e *enforced) waitsFor(tool string) bool {
	return (e.spec.Kind == event.RuleBefore || e.spec.Kind == event.RuleNever && e.spec.After != "") && e.on.match(tool)
}

// Settle folds that it has become known of a call of the tool, whose outcome was
// unknown, whether it took effect.
func (r *Rules) Settle(call string, tool *event.ToolSpec, done bool) {
	for i := range r.list {
		e := &r.list[i]
		switch {
		case tool == nil || !e.waitsFor(tool.Name):
		case done:
			e.met, e.by, e.unsure = true, tool.Name, ""
		case e.unsure == call && call != "":
			e.met, e.unsure = false, ""
		}
	}
}

// mayHaveActed reports whether nobody can say what a call did.
func mayHaveActed(d *event.ToolFinished, tool *event.ToolSpec) bool {
	return tool.Effect.Writes() && !d.NoEffect && (d.Status == event.StatusUnknown || d.Status == event.StatusTimeout)
}
