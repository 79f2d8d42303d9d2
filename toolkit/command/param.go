package command

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The sizes of values.
const (
	// maxValue is the longest value, in bytes, where a parameter says nothing.
	maxValue = 1000
	// mostValue is the longest that one may allow: an argument has 128 KiB on Linux.
	mostValue = 64 << 10
	// maxList is the most values of a list.
	maxList = 100
	// maxPattern is the longest pattern, in bytes.
	maxPattern = 1000
)

// A Param says which values a hole in a template takes. Exactly one of Pattern,
// Enum and Flag is set.
//
// No value holds a control character, such as a line break or NUL. One that
// begins an argument does not begin with a dash, unless Dash is set or the
// argument stands behind one that is just --.
type Param struct {
	// Description is what the model is told.
	Description string
	// Pattern is a regular expression (RE2) that the whole of a value matches.
	Pattern string
	// Enum are the values that there are.
	Enum []string
	// Flag makes the parameter true or false: true puts this argument in, false
	// leaves it out.
	Flag string
	// List takes several values; each becomes an argument.
	List bool
	// Optional: it may be left out, and then the arguments that use it are too.
	Optional bool
	// Default is what is used if it is left out.
	Default string
	// Dash: a value may begin with a dash.
	Dash bool
	// Path: a value is a path below the root, without any .. and not through a
	// symbolic link that leads out, neither by itself nor with the text that stands
	// around it in its argument.
	Path bool
	// Max is the longest value, in bytes. 0: 1,000.
	Max int
	// Match and NoMatch are examples of values that the parameter takes and does
	// not take. They are tried when the template is loaded.
	Match, NoMatch []string
}

// param is a parameter that can be used.
type param struct {
	Param
	name    string
	pattern *regexp.Regexp
	// bare: some argument begins with it, so that a dash would make it an option.
	bare bool
}

// compile finds out whether the parameter can be used, but for its examples.
func (p *param) compile() error {
	kinds := 0
	for _, set := range []bool{p.Pattern != "", len(p.Enum) > 0, p.Flag != ""} {
		if set {
			kinds++
		}
	}
	switch {
	case !placeholder(p.name):
		return errors.New("a name has small letters, digits and underscores, and begins with a letter")
	case kinds != 1:
		return errors.New("it has to have one of pattern, enum and flag")
	case p.Flag != "" && (p.List || p.Optional || p.Default != "" || p.Path || p.Dash || p.Max > 0 || len(p.Match)+len(p.NoMatch) > 0):
		return errors.New("a flag is true or false and takes no values")
	case p.Optional && p.Default != "":
		return errors.New("it has a default, so that it is never left out: take optional out")
	case p.List && p.Default != "":
		return errors.New("a list has no default")
	case p.Max < 0 || p.Max > mostValue:
		return fmt.Errorf("max is from 1 to %d bytes", mostValue)
	case strings.ContainsFunc(p.Flag, unicode.IsControl):
		return errors.New("the flag holds a control character")
	}
	if p.Pattern == "" {
		return nil
	}
	if len(p.Pattern) > maxPattern {
		return fmt.Errorf("the pattern has more than %d bytes", maxPattern)
	}
	// By itself first, so that a stray ) is its own mistake.
	if _, err := regexp.Compile(p.Pattern); err != nil {
		return fmt.Errorf("the pattern cannot be read: %w", err)
	}
	p.pattern = regexp.MustCompile(p.whole())
	return nil
}

// whole is the pattern for the whole of a value.
func (p *param) whole() string { return "^(?:" + p.Pattern + ")$" }

// examples tries the parameter's own examples.
func (p *param) examples() error {
	for _, v := range append(p.Match, p.Enum...) {
		if why := p.refuse(v); why != "" {
			return fmt.Errorf("%q ought to be taken, but %s", v, why)
		}
	}
	for _, v := range p.NoMatch {
		if p.refuse(v) == "" {
			return fmt.Errorf("%q ought to be refused, but is taken", v)
		}
	}
	if p.Default != "" && p.refuse(p.Default) != "" {
		return fmt.Errorf("the default %q is not taken: %s", p.Default, p.refuse(p.Default))
	}
	return nil
}

// refuse says why a value is not taken, or "".
func (p *param) refuse(v string) string {
	switch {
	case !utf8.ValidString(v):
		return "it is not UTF-8 text"
	case strings.ContainsFunc(v, unicode.IsControl):
		return "it holds a control character, such as a line break"
	case len(v) > cmp.Or(p.Max, maxValue):
		return fmt.Sprintf("it has more than %d bytes", cmp.Or(p.Max, maxValue))
	case len(p.Enum) > 0 && !slices.Contains(p.Enum, v):
		return "it is none of " + strings.Join(p.Enum, ", ")
	case p.pattern != nil && !p.pattern.MatchString(v):
		return "it does not match " + p.Pattern
	case p.bare && !p.Dash && strings.HasPrefix(v, "-"):
		return "it begins with a dash and would be taken for an option"
	case p.Path && climbs(v):
		return "it has .. in it, which may lead anywhere behind a link; write the path without"
	case p.Path && !filepath.IsLocal(filepath.FromSlash(v)):
		return "it is not a relative path that stays below the working folder"
	}
	return ""
}

// member is the parameter's JSON Schema.
func (p *param) member() jsontext.Value {
	type value struct {
		Type        string   `json:"type"`
		Description string   `json:"description,omitempty"`
		Pattern     string   `json:"pattern,omitempty"`
		Enum        []string `json:"enum,omitempty"`
		MaxLength   int      `json:"maxLength,omitzero"`
		Default     string   `json:"default,omitempty"`
	}
	type list struct {
		Type        string `json:"type"`
		Description string `json:"description,omitempty"`
		Items       value  `json:"items"`
		MinItems    int    `json:"minItems,omitzero"`
		MaxItems    int    `json:"maxItems"`
	}
	v := value{Type: "string", Description: p.Description, Enum: p.Enum, Default: p.Default}
	switch {
	case p.Flag != "":
		v.Type = "boolean"
	case p.Pattern != "":
		v.Pattern, v.MaxLength = p.whole(), cmp.Or(p.Max, maxValue)
	}
	if !p.List {
		return written(v)
	}
	l := list{Type: "array", Description: v.Description, MaxItems: maxList}
	if v.Description = ""; !p.Optional {
		l.MinItems = 1
	}
	l.Items = v
	return written(l)
}

// written returns JSON of what is always valid.
func written(v any) jsontext.Value {
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(fmt.Sprintf("command: write a schema: %v", err)) // texts are UTF-8, or were refused
	}
	return text
}

// placeholder reports whether a name can stand in braces.
func placeholder(name string) bool {
	for i, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != "" && len(name) <= 64
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
