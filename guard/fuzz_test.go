package guard_test

import (
	"regexp"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/guard"
)

// FuzzPolicy holds patterns against the meaning of * spelled as a regular
// expression, and the linter against the judgement.
func FuzzPolicy(f *testing.F) {
	f.Add("read_*", "read_file", "allow", "*_file")
	f.Add("a*b*c", "a_b_c", "deny", "a*c")
	f.Add("**", "", "ask", "effect:read")
	f.Add("*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "allow", "x")
	f.Add("effect:once", "pay", "allow", "pa*y")
	f.Fuzz(func(t *testing.T, one, name, verdict, two string) {
		p, err := guard.New([]event.Permission{{Verdict: event.Ask, Match: one}, {Verdict: event.Verdict(verdict), Match: two}})
		if err != nil {
			return
		}
		for _, effect := range []event.Effect{event.Read, event.Repeatable, event.Once} {
			d := p.Judge(event.ToolSpec{Name: name, Effect: effect})
			a, b := meant(one, name, effect), meant(two, name, effect)
			want := event.Deny
			switch {
			case a && !(b && verdict == "deny"):
				want = event.Ask
			case b:
				want = event.Verdict(verdict)
			}
			if d.Verdict != want {
				t.Fatalf("ask %q, %s %q: %q (%s) is %+v, want %s", one, verdict, two, name, effect, d, want)
			}
			// Without a permission that never matters, nothing changes.
			for _, line := range p.Shadowed() {
				var left []event.Permission
				if strings.HasPrefix(line, "permission 1,") {
					left = []event.Permission{{Verdict: event.Verdict(verdict), Match: two}}
				} else {
					left = []event.Permission{{Verdict: event.Ask, Match: one}}
				}
				q, err := guard.New(left)
				if err != nil {
					t.Fatal(err)
				}
				for _, sensitive := range []bool{false, true} {
					tool := event.ToolSpec{Name: name, Effect: effect, Sensitive: sensitive}
					if with, without := p.Judge(tool).Verdict, q.Judge(tool).Verdict; with != without {
						t.Fatalf("%s; yet without it %q (sensitive: %v) is %s, not %s", line, name, sensitive, without, with)
					}
				}
			}
		}
	})
}

func meant(match, name string, effect event.Effect) bool {
	if class, ok := strings.CutPrefix(match, "effect:"); ok {
		return class == string(effect)
	}
	return regexp.MustCompile(`\A(?s:` + strings.ReplaceAll(regexp.QuoteMeta(match), `\*`, `.*`) + `)\z`).MatchString(name)
}
