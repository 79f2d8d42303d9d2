package lint

import (
	"slices"
	"strings"

	"rein.example/rein/tool"
)

// secrets finds secrets that were written where a name should stand. Each is told
// once, though many tools share it, and never shown.
func (c *checker) secrets(s *tool.Setup, about string) {
	for _, p := range []struct {
		values    map[string]string
		what, fix string
	}{
		{s.Header, "the header ", "name an environment variable: headers_env, or bearer_env for Authorization: Bearer"},
		{s.Query, "the query's ", "name an environment variable: query_env"},
		{s.Env, "the variable ", "name the environment's variable under secret_env"},
	} {
		for _, name := range sorted(p.values) {
			if value := p.values[name]; secret(name, value) {
				c.secret(about, p.what+name, value, p.fix)
			}
		}
	}
	for _, a := range s.Argv {
		if slices.ContainsFunc(tokensOf(a), knownKey) {
			c.secret(about, "an argument of its program", a, "let the program read it from a variable, and name that under secret_env")
		}
	}
}

func (c *checker) secret(about, where, value, fix string) {
	if c.told == nil {
		c.told = map[string]bool{}
	}
	if key := where + "\x00" + value; !c.told[key] {
		c.told[key] = true
		c.add(Error, about, "secret", where+" looks like a secret, and the agent's file is kept with each run", fix)
	}
}

// secretNames are parts of names of what is secret.
var secretNames = []string{"token", "secret", "password", "passwd", "apikey", "accesskey", "privatekey", "authkey", "credential", "authorization", "cookie"}

// secret reports whether a value with this name looks like a secret.
func secret(name, value string) bool {
	if strings.TrimSpace(value) == "" {
		return false
	}
	plain := strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name))
	switch {
	case plain == "authorization" || plain == "proxyauthorization" || plain == "cookie":
		return true
	case len(value) >= 8 && slices.ContainsFunc(secretNames, func(p string) bool { return strings.Contains(plain, p) }):
		return !strings.ContainsAny(value, "/ ") // the path of a file with one, or a sentence
	}
	return slices.ContainsFunc(tokensOf(value), func(t string) bool { return knownKey(t) || random(t) })
}

// tokensOf returns the parts of a value that could be a key each.
func tokensOf(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" =:,;\"'", r) })
}

// keyBegins are how services' keys begin, and how long they are at least.
var keyBegins = []struct {
	text string
	min  int
}{{"sk-", 20}, {"sk_live_", 16}, {"sk_test_", 16}, {"rk_live_", 16}, {"ghp_", 20}, {"gho_", 20}, {"ghs_", 20}, {"ghu_", 20}, {"github_pat_", 20}, {"glpat-", 16},
	{"xoxb-", 16}, {"xoxp-", 16}, {"xoxa-", 16}, {"AKIA", 20}, {"ASIA", 20}, {"AIza", 30}, {"hf_", 20}, {"npm_", 20}, {"pypi-", 20}, {"SG.", 20}, {"-----BEGIN", 10}}

// knownKey reports whether a text begins as services' keys do, or is a JSON web
// token.
func knownKey(t string) bool {
	for _, k := range keyBegins {
		if strings.HasPrefix(t, k.text) && len(t) >= k.min {
			return true
		}
	}
	return strings.HasPrefix(t, "eyJ") && strings.Count(t, ".") == 2 && len(t) >= 30
}

// random reports whether a text is as long and as mixed as keys are. A UUID is not:
// it names more often than it opens.
func random(t string) bool {
	if len(t) < 24 || len(t) == 36 && strings.Count(t, "-") == 4 {
		return false
	}
	digits, letters := 0, 0
	for _, b := range []byte(t) {
		switch {
		case b >= '0' && b <= '9':
			digits++
		case b|0x20 >= 'a' && b|0x20 <= 'z':
			letters++
		case b != '-' && b != '_' && b != '+':
			return false
		}
	}
	return digits >= 4 && letters >= 4
}
