// Package guard answers: may this call run?
//
// A [Policy] is made once from a run's permissions and judges every call: allow,
// ask or deny. A permission matches by the tool's name, with * for any run of
// characters, or by its effect class. The strictest match wins, in whatever
// order the permissions stand, and what none matches is denied. Rein's own
// tools need no permission.
//
// What is judged is always the one tool and, in time, its arguments as they will
// run; never a text that something else will parse again. [ApprovalHash] binds a
// person's yes to exactly that.
//
// A tool may declare that it is sensitive: then allowing its effect class, or
// everything, is not enough, and a person is asked unless a permission names it.
//
// The package is pure, and a Policy may be used from any goroutine.
package guard

import (
	"fmt"
	"strconv"

	"rein.example/rein/event"
)

// Bounds of what [New] takes. Permissions are written by people; the bounds keep
// judging cheap whatever they write.
const (
	// MaxPermissions is the most permissions of a policy.
	MaxPermissions = 1000
	// MaxPattern is the longest pattern, in bytes.
	MaxPattern = 256
)

// DefaultPermissions returns what a run may do when nobody says: what reads is
// allowed, what writes is asked. Reading is what an agent is for and can be
// undone by looking away; a write is the first thing that a person may regret,
// and asking costs one answer, while a default of deny would leave a newcomer
// with an agent that can do nothing. The caller gives them to the run in words,
// so that the journal says what applied; a policy without any denies all.
func DefaultPermissions() []event.Permission {
	return []event.Permission{
		{Verdict: event.Allow, Match: "effect:read"},
		{Verdict: event.Ask, Match: "effect:repeatable"},
		{Verdict: event.Ask, Match: "effect:once"},
	}
}

// Policy is a set of permissions, ready to judge. The zero value denies all but
// Rein's own tools.
type Policy struct {
	rules []rule
}

// rule is one permission, compiled.
type rule struct {
	event.Permission
	// effect is set for a rule by effect class, name otherwise.
	effect event.Effect
	name   pattern
	// text names the rule as its author would: "deny write_*".
	text string
	// why says so in a sentence, unless the rule allows.
	why string
}

// Decision is the policy's word on one call.
type Decision struct {
	// Verdict is allow, ask or deny.
	Verdict event.Verdict
	// Rule is the permission that decided, as "deny write_*"; [RuleHarness] or
	// [RuleSensitive]; empty if none matched.
	Rule string
	// Why is for people and for the model; empty for allow. If none matched it
	// says which permission would allow the call.
	Why string
}

const (
	// RuleHarness is the rule that allows Rein's own tools.
	RuleHarness = "harness"
	// RuleSensitive asks about a sensitive tool that no permission names.
	RuleSensitive = "sensitive"
)

// New compiles permissions. Its errors name the permission by its place and
// text: an unknown verdict, an unknown effect, a pattern that no tool name can
// match.
func New(permissions []event.Permission) (*Policy, error) {
	if len(permissions) > MaxPermissions {
		return nil, fmt.Errorf("%d permissions are more than %d: use patterns such as read_* or effect:read", len(permissions), MaxPermissions)
	}
	p := &Policy{rules: make([]rule, 0, len(permissions))}
	for i, perm := range permissions {
		r, err := compile(perm)
		if err != nil {
			return nil, fmt.Errorf("permission %d, %q: %w", i+1, clip(string(perm.Verdict)+" "+perm.Match), err)
		}
		p.rules = append(p.rules, r)
	}
	return p, nil
}

// clip keeps an error readable whatever was written.
func clip(s string) string {
	if len(s) > MaxPattern {
		return s[:MaxPattern] + "…"
	}
	return s
}

func compile(perm event.Permission) (rule, error) {
	r := rule{Permission: perm, text: string(perm.Verdict) + " " + perm.Match}
	if perm.Verdict != event.Allow {
		r.why = "the permission " + quote(r.text) + " decides"
	}
	if strictness(perm.Verdict) == 0 {
		return r, fmt.Errorf("unknown verdict %q: use allow, ask or deny", clip(string(perm.Verdict)))
	}
	if effect, ok := cutEffect(perm.Match); ok {
		switch e := event.Effect(effect); e {
		case event.Read, event.Repeatable, event.Once:
			r.effect = e
			return r, nil
		}
		return r, fmt.Errorf("unknown effect %q: use effect:read, effect:repeatable or effect:once", effect)
	}
	var err error
	r.name, err = newPattern(perm.Match)
	return r, err
}

// strictness orders verdicts; 0 is not a permission's verdict.
func strictness(v event.Verdict) int {
	switch v {
	case event.Allow:
		return 1
	case event.Ask:
		return 2
	case event.Deny:
		return 3
	}
	return 0
}

// Judge says whether a call of the tool may run. It takes time linear in the
// number of permissions and does not depend on their order, except that of
// equally strict ones the first is named.
func (p *Policy) Judge(tool event.ToolSpec) Decision {
	if tool.Harness {
		return Decision{Verdict: event.Allow, Rule: RuleHarness}
	}
	effect := class(tool.Effect)
	var won, covered *rule
	for i := range p.rules {
		r := &p.rules[i]
		if won != nil && strictness(r.Verdict) <= strictness(won.Verdict) || !r.matches(tool.Name, effect) {
			continue
		}
		if tool.Sensitive && r.Verdict == event.Allow && r.broad() {
			covered = r
			continue
		}
		won = r
	}
	switch {
	case won != nil:
	case covered != nil:
		return Decision{Verdict: event.Ask, Rule: RuleSensitive, Why: "the tool is sensitive, and " + quote(covered.text) +
			" does not name it: allow " + quote(tool.Name) + " to change that"}
	default:
		return Decision{Verdict: event.Deny, Why: "no permission matches it: allow or ask " +
			quote(tool.Name) + " or " + quote("effect:"+string(effect)) + " to change that"}
	}
	return Decision{Verdict: won.Verdict, Rule: won.text, Why: won.why}
}

// class returns the effect class that counts: a tool that declares none, or one
// that this version does not know, may do anything once.
func class(e event.Effect) event.Effect {
	switch e {
	case event.Read, event.Repeatable:
		return e
	}
	return event.Once
}

// broad reports whether the permission names no tool: it is by effect class, or
// for all.
func (r *rule) broad() bool { return r.effect != "" || r.name.text == "*" }

func (r *rule) matches(name string, effect event.Effect) bool {
	if r.effect != "" {
		return r.effect == effect
	}
	return r.name.match(name)
}

func quote(s string) string { return strconv.Quote(clip(s)) }
