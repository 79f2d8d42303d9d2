package config

import (
	"strings"
	"testing"
)

// What an agent tells its model is taken from a whole file or from lists of rules alone,
// and reads as it would stand in a request.
func TestParseProse(t *testing.T) {
	tools := []string{"read_file", "write_file"}
	text := func(s *string) string {
		if s == nil {
			return "(not said)"
		}
		return *s
	}
	for _, c := range []struct{ file, want string }{
		{"never: [guess]\ncan: [ask]\n", "(not said)|Never:\n- guess\nYou may:\n- ask|(not said)"},
		{"must: [{call: read_file, before: write_*}]\n", "(not said)|Always:\n- call read_file before write_* (enforced)|(not said)"},
		{"model: openai/x\ntools: [clock]\nrules: {never: [guess]}\n", "(not said)|Never:\n- guess|(not said)"},
		{"contract: |\n  Be brief.\naccept: {text: it is done}\n", "Be brief.|(not said)|it is done"},
		{"rules: {}\n", "(not said)||(not said)"},
	} {
		p, err := ParseProse("rules.yaml", []byte(c.file), tools, false)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
		} else if got := text(p.Contract) + "|" + text(p.Rules) + "|" + text(p.Accept); got != c.want {
			t.Errorf("%s: %q, want %q", c.file, got, c.want)
		}
	}
	p, err := ParseProse("rules.yaml", []byte("never: [guess]\n"), tools, true)
	if err != nil || !strings.Contains(*p.Rules, "(enforced)") {
		t.Errorf("with what is read back: %+v, %v", p, err)
	}
	for _, c := range []struct{ file, want string }{
		{"name: desk\n", "nothing here is told to the model"},
		{"never: guess\n", "never"},
		{"never: [{call: x}]\n", "this has to be a rule"},
		{"must: [{call: read_fil, before: write_file}]\n", `rules.yaml:1:15: rules.must[0].call: there is no tool "read_fil"; did you mean read_file?`},
		{"rules: {never: [x]}\nnever: [x]\n", "never"},
		{"", "empty"},
	} {
		if _, err := ParseProse("rules.yaml", []byte(c.file), tools, false); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.file, err, c.want)
		}
	}
}
