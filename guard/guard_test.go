package guard_test

import (
	"slices"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/guard"
)

// rules writes permissions as "allow effect:read, deny write_*".
func rules(t testing.TB, s string) *guard.Policy {
	t.Helper()
	p, err := guard.New(permissions(s))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func permissions(s string) []event.Permission {
	var out []event.Permission
	for one := range strings.SplitSeq(s, ", ") {
		if verdict, match, ok := strings.Cut(one, " "); ok {
			out = append(out, event.Permission{Verdict: event.Verdict(verdict), Match: match})
		}
	}
	return out
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		rules, tool string
		effect      event.Effect
		verdict     event.Verdict
		rule        string
	}{
		// By effect, by name, by pattern.
		{"allow effect:read", "read_file", event.Read, event.Allow, "allow effect:read"},
		{"allow read_file", "read_file", event.Read, event.Allow, "allow read_file"},
		{"ask write_*", "write_file", event.Repeatable, event.Ask, "ask write_*"},
		{"allow *", "anything", event.Once, event.Allow, "allow *"},
		{"allow *_file", "read_file", event.Read, event.Allow, "allow *_file"},
		{"allow a*b*c", "a_b_b_c", event.Read, event.Allow, "allow a*b*c"},
		// The strictest wins, wherever it stands; of equals the first is named.
		{"allow *, deny delete_*, ask effect:once", "delete_all", event.Once, event.Deny, "deny delete_*"},
		{"deny delete_*, ask effect:once, allow *", "delete_all", event.Once, event.Deny, "deny delete_*"},
		{"allow send_mail, ask effect:once", "send_mail", event.Once, event.Ask, "ask effect:once"},
		{"deny x*, deny *x", "xx", event.Read, event.Deny, "deny x*"},
		// What nothing matches is denied.
		{"", "read_file", event.Read, event.Deny, ""},
		{"allow effect:read", "write_file", event.Repeatable, event.Deny, ""},
		{"allow write_file", "write_files", event.Read, event.Deny, ""},
		{"allow write_file", "Write_File", event.Read, event.Deny, ""},
		{"allow a*a", "a", event.Read, event.Deny, ""},
		{"allow a*bc*c", "abc", event.Read, event.Deny, ""},
		{"allow effect:repeatable", "pay", event.Once, event.Deny, ""},
		// An effect that is not declared, or not known, counts as once.
		{"allow effect:read, ask effect:once", "thing", "", event.Ask, "ask effect:once"},
		{"allow effect:read, deny effect:once", "thing", "readonly", event.Deny, "deny effect:once"},
	} {
		d := rules(t, c.rules).Judge(event.ToolSpec{Name: c.tool, Effect: c.effect})
		if d.Verdict != c.verdict || d.Rule != c.rule || (d.Why == "") != (d.Verdict == event.Allow) {
			t.Errorf("with %q, %s (%s): %s by %q (%s), want %s by %q",
				c.rules, c.tool, c.effect, d.Verdict, d.Rule, d.Why, c.verdict, c.rule)
		}
	}
}

func TestOrderDoesNotMatter(t *testing.T) {
	all := permissions("allow *, ask w*, deny effect:once, allow effect:read, deny *_secret")
	tools := []event.ToolSpec{
		{Name: "read_file", Effect: event.Read}, {Name: "write_file", Effect: event.Repeatable},
		{Name: "pay", Effect: event.Once}, {Name: "read_secret", Effect: event.Read}, {Name: "other", Effect: event.Repeatable},
	}
	var want []event.Verdict
	for turn := range all {
		p, err := guard.New(append(slices.Clone(all[turn:]), all[:turn]...))
		if err != nil {
			t.Fatal(err)
		}
		var got []event.Verdict
		for _, tool := range tools {
			got = append(got, p.Judge(tool).Verdict)
		}
		if turn == 0 {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("turned by %d: %v, want %v", turn, got, want)
		}
	}
	if !slices.Equal(want, []event.Verdict{event.Allow, event.Ask, event.Deny, event.Deny, event.Allow}) {
		t.Errorf("got %v", want)
	}
}

func TestHarnessToolsNeedNoPermission(t *testing.T) {
	d := rules(t, "deny *").Judge(event.ToolSpec{Name: "submit_result", Effect: event.Once, Harness: true})
	if d.Verdict != event.Allow || d.Rule != guard.RuleHarness {
		t.Errorf("got %+v", d)
	}
}

// A sensitive tool needs a permission that names it; what allows its class, or
// everything, makes it a question.
func TestSensitive(t *testing.T) {
	for _, c := range []struct {
		rules   string
		verdict event.Verdict
		rule    string
	}{
		{"allow effect:read", event.Ask, guard.RuleSensitive},
		{"allow *", event.Ask, guard.RuleSensitive},
		{"allow effect:read, allow read_payroll", event.Allow, "allow read_payroll"},
		{"allow read_pay*", event.Allow, "allow read_pay*"},
		{"ask effect:read, allow read_payroll", event.Ask, "ask effect:read"},
		{"allow *, deny effect:read", event.Deny, "deny effect:read"},
		{"allow effect:once", event.Deny, ""},
		{"", event.Deny, ""},
	} {
		d := rules(t, c.rules).Judge(event.ToolSpec{Name: "read_payroll", Effect: event.Read, Sensitive: true})
		if d.Verdict != c.verdict || d.Rule != c.rule || (d.Why == "") != (d.Verdict == event.Allow) {
			t.Errorf("with %q: %+v, want %s by %q", c.rules, d, c.verdict, c.rule)
		}
	}
	d := rules(t, "allow *").Judge(event.ToolSpec{Name: "submit", Sensitive: true, Harness: true})
	if d.Verdict != event.Allow {
		t.Errorf("a harness tool: %+v", d)
	}
}

func TestZeroPolicyDenies(t *testing.T) {
	var p guard.Policy
	if d := p.Judge(event.ToolSpec{Name: "read_file", Effect: event.Read}); d.Verdict != event.Deny {
		t.Errorf("got %+v", d)
	}
}

func TestDenialSaysWhatWouldAllow(t *testing.T) {
	d := rules(t, "allow effect:read").Judge(event.ToolSpec{Name: "write_file", Effect: event.Repeatable})
	for _, hint := range []string{`"write_file"`, `"effect:repeatable"`} {
		if !strings.Contains(d.Why, hint) {
			t.Errorf("%q does not name %s", d.Why, hint)
		}
		// And it is true.
		p := rules(t, "allow "+strings.Trim(hint, `"`))
		if d := p.Judge(event.ToolSpec{Name: "write_file", Effect: event.Repeatable}); d.Verdict != event.Allow {
			t.Errorf("allowing %s does not allow: %+v", hint, d)
		}
	}
}

func TestDefaultPermissions(t *testing.T) {
	p, err := guard.New(guard.DefaultPermissions())
	if err != nil {
		t.Fatal(err)
	}
	for effect, want := range map[event.Effect]event.Verdict{
		event.Read: event.Allow, event.Repeatable: event.Ask, event.Once: event.Ask, "": event.Ask,
	} {
		if got := p.Judge(event.ToolSpec{Name: "x", Effect: effect}).Verdict; got != want {
			t.Errorf("%q: %s, want %s", effect, got, want)
		}
	}
	// Nobody can change them for everybody.
	guard.DefaultPermissions()[0].Verdict = event.Deny
	if guard.DefaultPermissions()[0].Verdict != event.Allow {
		t.Error("the defaults can be changed")
	}
}

func TestNewRefuses(t *testing.T) {
	long := strings.Repeat("a", guard.MaxPattern+1)
	for _, c := range []struct{ verdict, match, says string }{
		{"permit", "read_file", `permission 2, "permit read_file": unknown verdict "permit": use allow, ask or deny`},
		{"", "read_file", `unknown verdict ""`},
		{"halt", "x", "unknown verdict"},
		{"Allow", "x", "unknown verdict"},
		{"allow", "", "nothing to match"},
		{"allow", "effect:reed", `unknown effect "reed": use effect:read`},
		{"allow", "effect:", "unknown effect"},
		{"allow", "effect:*", "unknown effect"},
		{"allow", "effects:read", "position 8"},
		{"deny", "read file", "position 5"},
		{"deny", " read_file", "position 1"},
		{"deny", "read_f\u0131le", "position 7"},
		{"deny", "read.*", "position 5"},
		{"deny", long, "257 bytes"},
	} {
		_, err := guard.New([]event.Permission{{Verdict: event.Allow, Match: "ok"}, {Verdict: event.Verdict(c.verdict), Match: c.match}})
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "permission 2, ") {
			t.Errorf("%q %q: %v, want %q", c.verdict, c.match, err, c.says)
		} else if len(err.Error()) > 2*guard.MaxPattern {
			t.Errorf("the error has %d bytes", len(err.Error()))
		}
	}
	if _, err := guard.New(make([]event.Permission, guard.MaxPermissions+1)); err == nil {
		t.Error("too many permissions are taken")
	}
}

func TestShadowed(t *testing.T) {
	for _, c := range []struct {
		rules string
		want  []string // the permissions that never matter
	}{
		{"allow effect:read, ask effect:once, deny delete_*", nil},
		{"allow read_file, deny read_*", []string{"allow read_file"}},
		{"deny read_*, allow read_file", []string{"allow read_file"}},
		{"deny read_file, allow read_*", nil},
		// Of two that say the same the later one; of two as strict the narrower.
		{"allow a, allow a", []string{"allow a"}},
		{"allow a**, allow a*", []string{"allow a*"}},
		{"allow read_file, allow read_*", []string{"allow read_file"}},
		{"deny *, allow effect:read, ask x", []string{"allow effect:read", "ask x"}},
		{"allow *, ask effect:read", nil},
		// Of a sensitive tool a name says more than "all".
		{"allow *, allow pay", nil},
		{"allow effect:read, allow effect:once, allow effect:repeatable, allow pay_*", nil},
		{"allow *, allow effect:read", []string{"allow effect:read"}},
		// Overlap is not cover.
		{"allow a*b, deny a*c", nil},
		{"allow a*, deny *a", nil},
		{"ask a*b*, deny a*b*c", nil},
		{"ask a*b*c, deny a*c", []string{"ask a*b*c"}},
		{"allow effect:read, deny read_file", nil},
		// The three classes are everything.
		{"deny effect:read, deny effect:once, ask x, deny effect:repeatable", []string{"ask x"}},
		{"ask effect:read, deny effect:once, deny x, deny effect:repeatable", nil},
		{"ask effect:read, deny effect:once, allow *, deny effect:repeatable", []string{"allow *"}},
	} {
		got := rules(t, c.rules).Shadowed()
		for i := range got {
			if i < len(c.want) && !strings.Contains(got[i], `"`+c.want[i]+`"`) {
				t.Errorf("%q: %q, want %q", c.rules, got[i], c.want[i])
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%q: %q, want %q", c.rules, got, c.want)
		}
	}
}
