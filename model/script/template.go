package script

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/internal/cut"
)

// A template is a text with placeholders, in pieces.
type template []piece

// A piece is literal text or, with a verb, a placeholder.
type piece struct {
	text string
	verb string
	// tool names whose latest result is meant; empty is the result number nth.
	tool string
	nth  int
	path []string       // of field
	re   *regexp.Regexp // of match
}

// parseTemplate reads the placeholders of s.
func parseTemplate(s string) (template, error) {
	var t template
	for {
		before, rest, found := strings.Cut(s, "{{")
		if before != "" {
			t = append(t, piece{text: before})
		}
		if !found {
			return t, nil
		}
		args, rest, err := placeholderArgs(rest)
		if err != nil {
			return nil, err
		}
		p, err := newPiece(args)
		if err != nil {
			return nil, err
		}
		t, s = append(t, p), rest
	}
}

// placeholderArgs reads words up to the closing braces. Quoted words keep their
// quotes.
func placeholderArgs(s string) (args []string, rest string, err error) {
	for {
		s = strings.TrimLeft(s, " \t\n")
		if after, ok := strings.CutPrefix(s, "}}"); ok {
			return args, after, nil
		}
		if len(args) == 4 {
			return nil, "", fmt.Errorf("a placeholder has at most two arguments; close it with }}")
		}
		word, err := strconv.QuotedPrefix(s)
		if err != nil {
			end := strings.IndexAny(s, " \t\n}\"`")
			if end <= 0 {
				return nil, "", fmt.Errorf("a placeholder is not closed; write }} behind it, or {{\"{{\"}} for two braces")
			}
			word = s[:end]
		}
		args, s = append(args, word), s[len(word):]
	}
}

const verbs = `result "tool", field "tool" "path", match "tool" "expression", turn, or a text in quotes`

func newPiece(args []string) (piece, error) {
	if len(args) == 0 {
		return piece{}, fmt.Errorf("a placeholder is empty; it takes %s", verbs)
	}
	if lit, err := strconv.Unquote(args[0]); err == nil && len(args) == 1 {
		return piece{text: lit}, nil
	}
	p := piece{verb: args[0]}
	want, ok := map[string]int{"turn": 1, "result": 2, "field": 3, "match": 3}[p.verb]
	if !ok {
		return p, fmt.Errorf("no placeholder %s; there are %s", p.verb, verbs)
	}
	if len(args) != want {
		return p, fmt.Errorf("the placeholder %s takes %d more words and has %d; there are %s", p.verb, want-1, len(args)-1, verbs)
	}
	if want == 1 {
		return p, nil
	}
	var err error
	if p.tool, err = strconv.Unquote(args[1]); err != nil || p.tool == "" {
		if p.nth, err = strconv.Atoi(args[1]); err != nil || p.nth < 1 {
			return p, fmt.Errorf("the placeholder %s takes a tool's name in quotes or the number of a result, not %s", p.verb, args[1])
		}
	}
	if want == 2 {
		return p, nil
	}
	arg, err := strconv.Unquote(args[2])
	if err != nil || arg == "" {
		return p, fmt.Errorf("the placeholder %s takes its second argument in quotes, not %s", p.verb, args[2])
	}
	if p.verb == "field" {
		p.path = strings.Split(arg, ".")
		return p, nil
	}
	if p.re, err = regexp.Compile(arg); err != nil {
		return p, fmt.Errorf("the placeholder match: %w", err)
	}
	return p, nil
}

// expand returns the text with the values that s holds.
func (t template) expand(s *state) (string, error) {
	if len(t) == 1 && t[0].verb == "" {
		return t[0].text, nil
	}
	var b strings.Builder
	for i := range t {
		text, err := t[i].value(s)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func (p *piece) value(s *state) (string, error) {
	switch p.verb {
	case "":
		return p.text, nil
	case "turn":
		return strconv.Itoa(s.played + 1), nil
	}
	text, err := p.result(s)
	if err != nil {
		return "", err
	}
	switch p.verb {
	case "field":
		return member(jsontext.Value(text), p.path)
	case "match":
		groups := p.re.FindStringSubmatch(text)
		switch len(groups) {
		case 0:
			return "", fmt.Errorf("match: %s is nowhere in the result %s", p.re, excerpt(text))
		case 1:
			return groups[0], nil
		}
		return groups[1], nil
	}
	return text, nil
}

func (p *piece) result(s *state) (string, error) {
	if p.tool != "" {
		if text, ok := s.latest[p.tool]; ok {
			return text, nil
		}
		return "", fmt.Errorf("%s: the conversation has no result of %s", p.verb, p.tool)
	}
	if p.nth > len(s.results) {
		return "", fmt.Errorf("%s: the conversation has %d results, not %d", p.verb, len(s.results), p.nth)
	}
	return s.results[p.nth-1], nil
}

// member returns what path leads to in the JSON value v: a string's text, or
// the JSON of anything else.
func member(v jsontext.Value, path []string) (string, error) {
	for i, name := range path {
		var next jsontext.Value
		switch v.Kind() {
		case '{':
			var object map[string]jsontext.Value
			if err := json.Unmarshal(v, &object); err != nil {
				return "", fmt.Errorf("field: the result is not JSON: %w", err)
			}
			next = object[name]
		case '[':
			var list []jsontext.Value
			if err := json.Unmarshal(v, &list); err != nil {
				return "", fmt.Errorf("field: the result is not JSON: %w", err)
			}
			if n, err := strconv.Atoi(name); err == nil && n >= 0 && n < len(list) {
				next = list[n]
			}
		}
		if next == nil {
			return "", fmt.Errorf("field: there is no %s in the result %s", strings.Join(path[:i+1], "."), excerpt(string(v)))
		}
		v = next
	}
	if v.Kind() == '"' {
		var s string
		err := json.Unmarshal(v, &s)
		return s, err
	}
	return string(v), nil
}

// excerpt quotes the beginning of s for an error message.
func excerpt(s string) string {
	const most = 120
	if len(s) <= most {
		return strconv.Quote(s)
	}
	return strconv.Quote(s[:cut.Down(s, most)]) + "…"
}

// isJSONNumber reports whether s is a number as JSON writes it.
func isJSONNumber(s string) bool {
	v := jsontext.Value(s)
	return v.Kind() == '0' && v.IsValid() && strings.TrimSpace(s) == s
}

// append appends the JSON of v, with the values that s holds.
func (v *value) append(dst []byte, s *state) ([]byte, error) {
	switch v.kind {
	case '"':
		text, err := v.text.expand(s)
		if err != nil {
			return dst, err
		}
		return jsontext.AppendQuote(dst, text)
	case '[', '{':
		dst = append(dst, v.kind)
		for i := range v.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			var err error
			if v.kind == '{' {
				if dst, err = jsontext.AppendQuote(dst, v.keys[i]); err != nil {
					return dst, err
				}
				dst = append(dst, ':')
			}
			if dst, err = v.items[i].append(dst, s); err != nil {
				return dst, err
			}
		}
		return append(dst, v.kind+2), nil // ']' is '['+2, '}' is '{'+2
	}
	return append(dst, v.literal...), nil
}
