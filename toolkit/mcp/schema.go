package mcp

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"rein.example/rein/schema"
	"rein.example/rein/tool"
)

// maxSchema bounds a schema in bytes, maxNesting its depth: both are sent with
// every request, and no tool needs more.
const (
	maxSchema  = 64 << 10
	maxNesting = 32
)

// arguments returns the schema that a tool's arguments are held against before
// anything runs. A schema that uses what package schema does not know is returned
// without that, with a sentence in its description instead, so that the model
// knows of it; check then holds arguments against the whole schema. Else check is
// nil.
func arguments(given any) (text jsontext.Value, check *jsonschema.Schema, err error) {
	root, ok := given.(map[string]any)
	if given == nil {
		root, ok = map[string]any{}, true
	}
	if !ok {
		return nil, nil, errors.New("its input schema is no JSON object")
	}
	if text, err = deterministic(root); err != nil {
		return nil, nil, fmt.Errorf("its input schema: %w", err)
	}
	if root, err = tidy(text); err != nil {
		return nil, nil, fmt.Errorf("its input schema: %w", err)
	}
	if text, err = deterministic(root); err != nil {
		return nil, nil, fmt.Errorf("its input schema: %w", err)
	}
	whole, err := schema.Compile(text)
	if err == nil && !whole.Object() {
		err = errors.New(`its input schema has not "type": "object"`)
	}
	if err == nil || !errors.Is(err, schema.ErrUnsupported) {
		return text, nil, err
	}
	if check, err = compile(given); err != nil {
		return nil, nil, fmt.Errorf("its input schema: %w", err)
	}
	weak, _ := weaken(root, true)
	if text, err = deterministic(weak); err != nil {
		return nil, nil, fmt.Errorf("its input schema: %w", err)
	}
	if _, err = schema.Compile(text); err != nil {
		return nil, nil, err
	}
	return text, check, nil
}

// tidy returns a schema of arguments as an object's, without what only costs
// tokens, and with its descriptions cleaned.
func tidy(text jsontext.Value) (map[string]any, error) {
	var root map[string]any
	if err := json.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	delete(root, "$schema")
	delete(root, "title")
	if _, ok := root["type"]; !ok {
		root["type"] = "object"
	}
	if !tidyAll(root, 0) {
		return nil, fmt.Errorf("it is nested more than %d deep", maxNesting)
	}
	return root, nil
}

// constants are keywords under which no schema stands.
var constants = []string{"const", "default", "enum", "examples"}

// tidyAll cleans the descriptions of a schema in place, and reports whether it is
// not too deep.
func tidyAll(v any, depth int) bool {
	if depth > maxNesting {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v { // order: each is looked at by itself
			if slices.Contains(constants, key) {
				continue
			}
			if text, ok := inner.(string); ok && (key == "description" || key == "title") {
				v[key] = tool.Clean(text)
			} else if !tidyAll(inner, depth+1) {
				return false
			}
		}
	case []any:
		for _, inner := range v {
			if !tidyAll(inner, depth+1) {
				return false
			}
		}
	}
	return true
}

// compile reads a schema of whatever draft. References to other documents are not
// followed.
func compile(given any) (*jsonschema.Schema, error) {
	text, err := deterministic(given)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		return nil, err
	}
	const name = "http://arguments.invalid/"
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(lenientRegexp)
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	return c.Compile(name)
}

// noLoader follows no reference: a schema could name any file and any server.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, errors.New("references to other documents are not followed")
}

// lenientRegexp reads a pattern. What Go cannot read, such as a look-ahead, is
// left to the server.
func lenientRegexp(pattern string) (jsonschema.Regexp, error) {
	r, err := regexp.Compile(pattern)
	if err != nil {
		return anything(pattern), nil
	}
	return r, nil
}

type anything string

func (anything) MatchString(string) bool { return true }
func (a anything) String() string        { return string(a) }

// unknownKeywords are what package schema refuses wherever it stands.
var unknownKeywords = []string{"$dynamicRef", "$recursiveRef", "unevaluatedItems", "unevaluatedProperties"}

// weaken returns a schema that takes all that v takes, and perhaps more, without
// what package schema does not know, and whether anything was changed. A
// description says what was left out.
func weaken(v any, root bool) (any, bool) {
	o, ok := v.(map[string]any)
	if !ok {
		return v, false
	}
	out, left, changed := make(map[string]any, len(o)), []string{}, false
	leave := func(key string) {
		text, err := deterministic(o[key])
		if err == nil {
			left = append(left, fmt.Sprintf("%q: %s", key, shorten(string(text), 200)))
		}
		delete(out, key)
		changed = true
	}
	if o["$id"] != nil && !root { // its references start from there
		text, err := deterministic(o)
		if err != nil {
			return map[string]any{}, true
		}
		return map[string]any{"description": "Also holds: " + shorten(string(text), 400)}, true
	}
	for key, inner := range o {
		weak, differs := weakenUnder(key, inner)
		out[key] = weak
		changed = changed || differs
	}
	for _, key := range slices.Sorted(maps.Keys(o)) {
		switch inner := o[key]; {
		case slices.Contains(unknownKeywords, key):
			leave(key)
		case key == "$ref" && !localRef(inner):
			leave(key)
		case key == "$id":
			delete(out, key)
		case key == "pattern" && !readable(inner):
			leave(key)
		case key == "patternProperties":
			if m, ok := inner.(map[string]any); ok && slices.ContainsFunc(slices.Collect(maps.Keys(m)), func(p string) bool { return !readable(p) }) {
				leave(key)
				delete(out, "additionalProperties") // which means: those that no pattern names
			}
		case key == "not" || key == "if" || key == "oneOf" || key == "contains" && o["maxContains"] != nil:
			// What is taken out in there may let less through here.
			if _, differs := weakenUnder(key, inner); differs {
				leave(key)
				if key == "if" {
					delete(out, "then")
					delete(out, "else")
				}
			}
		}
	}
	if len(left) > 0 {
		text, _ := out["description"].(string)
		out["description"] = strings.TrimSpace(text + " Also holds: " + strings.Join(left, ", "))
	}
	return out, changed
}

// weakenUnder weakens what stands under a keyword, by the form that it has there.
func weakenUnder(key string, v any) (any, bool) {
	switch key {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
		m, ok := v.(map[string]any)
		if !ok {
			return v, false
		}
		out, changed := make(map[string]any, len(m)), false
		for name, inner := range m {
			weak, differs := weaken(inner, false)
			out[name], changed = weak, changed || differs
		}
		return out, changed
	case "allOf", "anyOf", "oneOf", "prefixItems", "items":
		list, ok := v.([]any)
		if !ok {
			return weaken(v, false)
		}
		out, changed := make([]any, len(list)), false
		for i, inner := range list {
			weak, differs := weaken(inner, false)
			out[i], changed = weak, changed || differs
		}
		return out, changed
	case "additionalProperties", "additionalItems", "propertyNames", "contains", "not", "if", "then", "else":
		return weaken(v, false)
	}
	return v, false
}

// localRef reports whether a reference is one that package schema follows.
func localRef(v any) bool {
	s, ok := v.(string)
	return ok && (s == "#" || strings.HasPrefix(s, "#/"))
}

// readable reports whether package schema reads a pattern.
func readable(v any) bool {
	s, ok := v.(string)
	if !ok {
		return true
	}
	text, err := deterministic(map[string]any{"pattern": s})
	if err == nil {
		_, err = schema.Compile(text)
	}
	return err == nil
}

// problems returns what is wrong with arguments, for the model; nil for nothing.
func problems(check *jsonschema.Schema, args jsontext.Value) []string {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(args)))
	if err == nil {
		err = check.Validate(v)
	}
	var invalid *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &invalid):
		return []string{err.Error()}
	}
	var out []string
	for _, unit := range invalid.BasicOutput().Errors {
		if unit.Error == nil || len(out) == maxProblems {
			continue
		}
		out = append(out, cmp.Or(unit.InstanceLocation, "the arguments")+": "+unit.Error.String())
	}
	if len(out) == 0 {
		out = append(out, shorten(invalid.Error(), 1000))
	}
	return out
}

// maxProblems bounds how many are listed.
const maxProblems = 20
