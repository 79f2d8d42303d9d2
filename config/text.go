package config

import (
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/tool"
	"rein.example/rein/window"
)

// textRule says which texts a setting takes.
type textRule struct {
	// what completes "this has to be …".
	what string
	// pattern is a regular expression that Go and JSON Schema read alike; max
	// the most characters.
	pattern string
	max     int
	// words, if any, are the only texts allowed; otherwise names words that
	// somebody might expect, and what to do instead.
	words     []string
	otherwise map[string]string
	// empty: the empty text is one too.
	empty bool
	// secret texts are not repeated in errors.
	secret bool
}

// textRules returns the kinds of text that struct tags name.
func textRules() map[string]textRule {
	return map[string]textRule{
		"name":     {what: "a name of letters, digits, dots, dashes and underscores, such as order-desk", pattern: `^[A-Za-z0-9][A-Za-z0-9._-]*$`, max: 64},
		"model":    {what: "provider/model, such as openai/gpt-5.1-mini", pattern: `^[a-z0-9][a-z0-9_-]*/[!-~]+$`, max: 200},
		"url":      {what: "the address of an API without a user, query or fragment, such as http://127.0.0.1:11434/v1", pattern: `^https?://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[A-Za-z0-9._~!$&'()*+,;=:@/-]*)?$`, max: 1000, secret: true},
		"env":      {what: "the name of an environment variable, such as OPENAI_API_KEY, and not the key itself", pattern: `^[A-Za-z_][A-Za-z0-9_]*$`, max: 128, secret: true},
		"path":     {what: "a path", pattern: `^[^\x00-\x1f\x7f]+$`, max: 1000},
		"rule":     {what: "a rule in words", pattern: `[^ \t\r\n]`, max: 2000},
		"tools":    {what: "the name of a tool, in which * stands for anything, such as submit_*", pattern: `^[A-Za-z0-9_*-]+$`, max: 64},
		"prose":    {what: "text", pattern: `[^ \t\r\n]`, max: 20_000},
		"match":    {what: "effect:read, effect:repeatable, effect:once, or the name of a tool, in which * stands for anything, such as write_*", pattern: `^(effect:(read|repeatable|once)|[A-Za-z0-9_*-]+)$`, max: 64},
		"duration": {what: "a time such as 90s, 30m or 1h30m", pattern: `^([1-9][0-9]{0,4}h)?([1-9][0-9]{0,5}m)?([1-9][0-9]{0,6}s)?$`, max: 24},
		"zone":     {what: "a time zone such as Europe/Oslo or UTC", pattern: `^[A-Za-z0-9_+/-]+$`, max: 64},
		"preset":   {words: presetNames()},
		"retry":    {words: []string{"patient", "fast"}},
		"dialect":  {words: dialect.Promptable()},
		"in_text":  {words: []string{"read", "ignore"}},
		"strict":   {words: []string{"auto", "always"}},
		"sandbox": {
			words:     []string{"none"},
			otherwise: map[string]string{"native": sandboxLater, "landlock": sandboxLater, "bubblewrap": sandboxLater},
		},
		"member":      {what: "the name of a member of a JSON object, such as status", pattern: `^[^\x00-\x1f\x7f]+$`, max: 200},
		"noise":       {words: []string{tool.NoiseTimestamps, tool.NoisePaths, tool.NoiseColumns}},
		"toolname":    {what: "the name of a tool, such as go_test", pattern: `^[a-zA-Z0-9_-]+$`, max: 64},
		"prefix":      {what: "a short name of letters, digits and underscores, such as github", pattern: `^[A-Za-z][A-Za-z0-9_]*$`, max: 32},
		"remote":      {what: "the name of a tool as its server gives it, in which * stands for anything where patterns are taken", pattern: `^[^\x00-\x1f\x7f]+$`, max: 256},
		"value":       {what: "a text of one line", pattern: `^[^\x00-\x08\x0a-\x1f\x7f]*$`, max: 4000, empty: true, secret: true},
		"header":      {what: "the name of an HTTP header, such as X-Tenant", pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", max: 128},
		"effect":      {words: []string{"read", "repeatable", "once"}},
		"argument":    {what: "an argument without control characters", pattern: `^[^\x00-\x1f\x7f]*$`, max: 4000, empty: true},
		"placeholder": {what: "a name of small letters, digits and underscores, such as package", pattern: `^[a-z][a-z0-9_]*$`, max: 64},
		"host":        {what: "a host, such as docs.example.com", pattern: `^[A-Za-z0-9_.:*\[\]-]+$`, max: 256},
		"template":    {what: "an address with parameters in braces, such as https://desk.example.com/orders/{id}", pattern: `^https?://[^\x00-\x20\x7f]+$`, max: 2000},
		"argname":     {what: "the name of a parameter, such as order_id", pattern: `^[A-Za-z0-9_.-]+$`, max: 64},
		"method":      {words: []string{"GET", "HEAD", "PUT", "DELETE", "POST", "PATCH"}},
		"place":       {words: []string{"path", "query", "header", "body"}},
		"paramtype":   {words: []string{"string", "integer", "number", "boolean", "list", "object"}},
		"regexp":      {what: "a regular expression (RE2)", pattern: `^[^\x00-\x1f\x7f]+$`, max: 1000},
		"reasoning": {
			words: []string{"low", "medium", "high"},
		},
		"write": {
			words:     []string{"none", "direct"},
			otherwise: map[string]string{"staged": "staged writes are " + strings.TrimPrefix(notCarriedOut, "is ")},
		},
		"strategy":  {words: window.Strategies()},
		"tokenizer": {what: "o200k_base, cl100k_base, server, estimate, or the path of a file such as tokenizer.json", pattern: `^(o200k_base|cl100k_base|server|estimate|[^\x00-\x1f\x7f]*\.json)$`, max: 1000},
	}
}

const sandboxLater = "a sandbox " + notCarriedOut + ", and commands without one can do all that you can"

// allowed returns the words for a message.
func (r *textRule) allowed() string {
	if len(r.words) == 0 {
		return r.what
	}
	return orList(r.words)
}

// orList returns "a", "a or b", "a, b or c".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
