package http

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/tool"
)

// Bounds of the schema of one operation's arguments.
const (
	maxSchema  = 64 << 10 // bytes
	maxNesting = 32
	maxDefs    = 100
)

// flat puts parameters and the members of a body into one object. Those of equal
// names are told apart by where they go: id and id_query.
type flat struct {
	*api
	op       *operation
	members  map[string]any
	required []string
	defs     map[string]any // by name of the component
}

// add adds what an operation takes.
func (f *flat) add(l *listed) error {
	params, err := parameters(l)
	if err != nil {
		return err
	}
	for _, where := range []in{inPath, inQuery, inHeader} { // the first keeps its name
		for _, p := range params {
			if in(p.In) != where || where == inHeader && (reserved(p.Name, f.op.keyHeader) || f.op.header[http.CanonicalHeaderKey(p.Name)] != nil) {
				continue
			}
			if f.secret(where, p.Name) { // filled in here
				continue
			}
			if err := f.parameter(p, where); err != nil {
				return fmt.Errorf("parameter %s: %w", short(p.Name, 80), err)
			}
		}
	}
	for _, hole := range f.op.template.holes() {
		if !slices.ContainsFunc(f.op.fields, func(x field) bool { return x.in == inPath && x.wire == hole }) {
			return fmt.Errorf("the path has {%s}, which is not declared", hole)
		}
	}
	return f.body(l.op.RequestBody)
}

// secret reports whether a parameter is one that auth sets.
func (f *flat) secret(where in, name string) bool {
	if where == inQuery {
		return f.op.auth.Query[name] != nil
	}
	return where == inHeader && f.op.auth.Header[http.CanonicalHeaderKey(name)] != nil
}

// parameters returns those of the operation and those of its path that it does not
// override.
func parameters(l *listed) ([]*openapi3.Parameter, error) {
	var out []*openapi3.Parameter
	for _, list := range []openapi3.Parameters{l.op.Parameters, l.item.Parameters} {
		for _, ref := range list {
			if ref == nil || ref.Value == nil {
				return nil, errors.New("a parameter is not there")
			}
			p := ref.Value
			if p.In == "cookie" {
				if p.Required {
					return nil, fmt.Errorf("it needs the cookie %s", short(p.Name, 80))
				}
				continue
			}
			if !slices.ContainsFunc(out, func(q *openapi3.Parameter) bool { return q.Name == p.Name && q.In == p.In }) {
				out = append(out, p)
			}
		}
	}
	return out, nil
}

// parameter adds one parameter.
func (f *flat) parameter(p *openapi3.Parameter, where in) error {
	if where == inHeader && !validHeader(p.Name) {
		return errors.New("that is no name of a header")
	}
	x := field{in: where, wire: p.Name, style: p.Style, explode: p.Style == "" || p.Style == "form"}
	if p.Explode != nil {
		x.explode = *p.Explode
	}
	if where == inPath && p.Style != "" && p.Style != "simple" {
		return fmt.Errorf("the style %s is not used in a path", short(p.Style, 40))
	}
	ref := p.Schema
	if ref == nil {
		media := p.Content.Get("application/json")
		if media == nil || media.Schema == nil {
			return errors.New("it has no schema, or is not JSON")
		}
		ref, x.asJSON = media.Schema, true
		if where != inQuery {
			return errors.New("JSON is used in a query only")
		}
	}
	s, err := f.convert(ref)
	if err != nil {
		return err
	}
	if text := tool.Clean(p.Description); text != "" {
		s["description"] = text
	}
	f.member(x, s, p.Required || where == inPath)
	return nil
}

// member adds an argument under a name that is free.
func (f *flat) member(x field, s map[string]any, required bool) {
	name := argument(x.wire)
	if _, taken := f.members[name]; taken {
		name = argument(x.wire + "_" + strings.ReplaceAll(string(x.in), " ", "_"))
	}
	for n := 2; f.members[name] != nil; n++ {
		name = argument(fmt.Sprintf("%.50s_%d", name, n))
	}
	x.arg = name
	f.op.fields = append(f.op.fields, x)
	f.members[name] = s
	if required {
		f.required = append(f.required, name)
	}
}

// argument makes a name of what every provider takes as a member's name.
func argument(name string) string {
	var b strings.Builder
	for _, c := range name {
		if c < 0x80 && isHole(string(c)) {
			b.WriteRune(c)
		} else if !strings.HasSuffix(b.String(), "_") {
			b.WriteByte('_')
		}
		if b.Len() == 64 {
			break
		}
	}
	if b.Len() == 0 {
		return "_"
	}
	return b.String()
}

// body adds what the body takes: the members of an object, or else the whole as one
// argument.
func (f *flat) body(ref *openapi3.RequestBodyRef) error {
	if ref == nil {
		return nil
	}
	if ref.Value == nil {
		return errors.New("its body is not there")
	}
	b := ref.Value
	media := jsonOf(b.Content)
	if media == nil || media.Schema == nil {
		if !b.Required {
			return nil
		}
		return errors.New("its body is not JSON, or has no schema")
	}
	s, err := f.convert(media.Schema)
	if err != nil {
		return fmt.Errorf("body: %w", err)
	}
	open := f.resolved(s)
	members, _ := open["properties"].(map[string]any)
	required := texts(open["required"])
	if !plainObject(open) || len(members) == 0 || !b.Required && len(required) > 0 {
		if text := tool.Clean(b.Description); text != "" {
			if s["$ref"] != nil {
				s = map[string]any{"allOf": []any{s}}
			}
			s["description"] = text
		}
		f.member(field{in: inWhole, wire: "body"}, s, b.Required)
		return nil
	}
	f.op.hasBody = b.Required
	for _, name := range sortedKeys(members) {
		m, ok := members[name].(map[string]any)
		if !ok {
			m = map[string]any{}
		}
		f.member(field{in: inBody, wire: name}, m, slices.Contains(required, name))
	}
	return nil
}

// jsonOf returns the media type of a body that is JSON.
func jsonOf(c openapi3.Content) *openapi3.MediaType {
	for _, name := range sortedKeys(c) {
		media, _, err := mime.ParseMediaType(name)
		if err == nil && media == "application/json" || strings.HasSuffix(media, "+json") && media != "application/json-patch+json" && media != "application/merge-patch+json" {
			return c[name]
		}
	}
	return nil
}

// plainObject reports whether a schema is an object that is its members and no more.
func plainObject(s map[string]any) bool {
	for key := range s {
		switch key {
		case "type", "properties", "required", "description", "title":
		case "additionalProperties":
			if s[key] != false {
				return false
			}
		default:
			return false
		}
	}
	return s["type"] == nil || s["type"] == "object"
}

func texts(v any) []string {
	var out []string
	list, _ := v.([]any)
	for _, x := range list {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// resolved follows references to components, to a copy that may be changed.
func (f *flat) resolved(s map[string]any) map[string]any {
	for range maxNesting {
		ref, ok := s["$ref"].(string)
		if !ok {
			break
		}
		target, ok := f.defs[strings.TrimPrefix(ref, defsPrefix)].(map[string]any)
		if !ok {
			break
		}
		s = target
	}
	return s
}

const (
	componentsPrefix = "#/components/schemas/"
	defsPrefix       = "#/$defs/"
)

// convert returns a schema of the document as one that stands alone: components that
// it refers to become definitions of the whole.
func (f *flat) convert(ref *openapi3.SchemaRef) (map[string]any, error) {
	if ref.Ref != "" {
		if err := f.component(ref.Ref, 0); err != nil {
			return nil, err
		}
		return map[string]any{"$ref": defsPrefix + strings.TrimPrefix(ref.Ref, componentsPrefix)}, nil
	}
	if ref.Value == nil {
		return nil, errors.New("a schema is not there")
	}
	return f.tree(ref.Value, 0)
}

// tree returns a schema as a tree that is tidied.
func (f *flat) tree(s *openapi3.Schema, depth int) (map[string]any, error) {
	text, err := s.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("a schema cannot be written: %w", err)
	}
	if len(text) > maxSchema {
		return nil, fmt.Errorf("a schema has more than %d bytes", maxSchema)
	}
	var tree any
	if err := json.Unmarshal(text, &tree, jsontext.AllowDuplicateNames(false)); err != nil {
		return nil, fmt.Errorf("a schema cannot be read: %w", err)
	}
	m, ok := tree.(map[string]any)
	if !ok {
		return map[string]any{}, nil // true: anything
	}
	return m, f.tidy(m, depth)
}

// component adds a component to the definitions.
func (f *flat) component(ref string, depth int) error {
	name, ok := strings.CutPrefix(ref, componentsPrefix)
	if !ok || strings.ContainsAny(name, "/~%") {
		return fmt.Errorf("it refers to %q, and only schemas among the components can be referred to", short(ref, 120))
	}
	if _, ok := f.defs[name]; ok {
		return nil
	}
	if f.doc.Components == nil || f.doc.Components.Schemas[name] == nil || f.doc.Components.Schemas[name].Value == nil {
		return fmt.Errorf("the component %q is not there", short(name, 80))
	}
	if len(f.defs) == maxDefs {
		return fmt.Errorf("its arguments need more than %d schemas", maxDefs)
	}
	target := f.doc.Components.Schemas[name]
	f.defs[name] = nil // it may refer to itself
	if target.Ref != "" {
		f.defs[name] = map[string]any{"$ref": defsPrefix + strings.TrimPrefix(target.Ref, componentsPrefix)}
		return f.component(target.Ref, depth+1)
	}
	tree, err := f.tree(target.Value, depth+1)
	f.defs[name] = tree
	return err
}

// useless are keywords that only cost tokens.
var useless = []string{"xml", "discriminator", "externalDocs", "example", "$schema", "$id", "$comment", "deprecated", "readOnly", "writeOnly"}

// tidy changes a schema so that it stands alone, in place.
func (f *flat) tidy(s map[string]any, depth int) error {
	if depth > maxNesting {
		return fmt.Errorf("its schemas are nested more than %d deep", maxNesting)
	}
	for key := range s {
		if slices.Contains(useless, key) || strings.HasPrefix(key, "x-") {
			delete(s, key)
		}
	}
	if ref, ok := s["$ref"].(string); ok {
		if err := f.component(ref, depth); err != nil {
			return err
		}
		s["$ref"] = defsPrefix + strings.TrimPrefix(ref, componentsPrefix)
	}
	for _, key := range []string{"description", "title"} {
		if text, ok := s[key].(string); ok {
			s[key] = tool.Clean(text)
		}
	}
	if members, ok := s["properties"].(map[string]any); ok {
		f.writable(s, members)
	}
	for _, key := range sortedKeys(s) {
		if err := f.tidyIn(s[key], key, depth); err != nil {
			return err
		}
	}
	return nil
}

// tidyIn tidies the schemas under a keyword.
func (f *flat) tidyIn(v any, key string, depth int) error {
	inner := func(v any) error {
		if m, ok := v.(map[string]any); ok {
			return f.tidy(m, depth+1)
		}
		return nil
	}
	switch key {
	case "properties", "patternProperties", "dependentSchemas", "$defs":
		m, _ := v.(map[string]any)
		for _, name := range sortedKeys(m) {
			if err := inner(m[name]); err != nil {
				return err
			}
		}
	case "allOf", "anyOf", "oneOf", "prefixItems":
		list, _ := v.([]any)
		for _, x := range list {
			if err := inner(x); err != nil {
				return err
			}
		}
	case "not", "items", "contains", "additionalProperties", "propertyNames", "if", "then", "else", "unevaluatedItems", "unevaluatedProperties", "contentSchema":
		return inner(v)
	}
	return nil
}

// writable leaves out members that only answers have.
func (f *flat) writable(s, members map[string]any) {
	required := texts(s["required"])
	for _, name := range sortedKeys(members) {
		if m, ok := members[name].(map[string]any); ok && m["readOnly"] == true {
			delete(members, name)
			required = slices.DeleteFunc(required, func(r string) bool { return r == name })
		}
	}
	if s["required"] == nil {
		return
	}
	delete(s, "required")
	if len(required) > 0 {
		list := make([]any, len(required))
		for i, r := range required {
			list[i] = r
		}
		s["required"] = list
	}
}

// schema returns the schema of the arguments.
func (f *flat) schema() (jsontext.Value, error) {
	s := map[string]any{"type": "object", "properties": f.members, "additionalProperties": false}
	if len(f.required) > 0 {
		slices.Sort(f.required)
		s["required"] = f.required
	}
	if defs := f.used(); len(defs) > 0 {
		s["$defs"] = defs
	}
	text, err := json.Marshal(s, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err == nil && len(text) > maxSchema {
		err = fmt.Errorf("the schema of its arguments has more than %d bytes", maxSchema)
	}
	return text, err
}

// used returns the definitions that members still refer to: those of a body that was
// taken apart are no longer needed.
func (f *flat) used() map[string]any {
	out := map[string]any{}
	todo := []any{any(f.members)}
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch v := v.(type) {
		case map[string]any:
			for _, x := range v { // order does not matter: a set is made
				todo = append(todo, x)
			}
			ref, _ := v["$ref"].(string)
			if name, ok := strings.CutPrefix(ref, defsPrefix); ok && f.defs[name] != nil && out[name] == nil {
				out[name] = f.defs[name]
				todo = append(todo, f.defs[name])
			}
		case []any:
			todo = append(todo, v...)
		}
	}
	return out
}

// doc makes the document of a tool of what the description says.
func (l *listed) doc() tool.Doc {
	what, more := tool.Clean(l.op.Summary), tool.Clean(l.op.Description)
	switch {
	case what == "":
		what = more
	case more != "" && more != what:
		what += "\n" + more
	}
	if what == "" {
		what = fmt.Sprintf("Sends %s %s to the service, which does not describe it.", l.method, short(tool.Clean(l.path), 200))
	}
	return tool.Doc{What: bounded(what), Returns: l.returns()}
}

// returns says what the document says of answers.
func (l *listed) returns() string {
	if l.op.Responses == nil {
		return ""
	}
	all := l.op.Responses.Map()
	var parts []string
	for _, status := range sortedKeys(all) {
		r := all[status]
		if r == nil || r.Value == nil || r.Value.Description == nil || len(parts) == 8 {
			continue
		}
		text := strings.TrimSuffix(short(tool.Clean(*r.Value.Description), 200), ".")
		if m := jsonOf(r.Value.Content); strings.HasPrefix(status, "2") && m != nil && m.Schema != nil && m.Schema.Value != nil {
			if names := sortedKeys(m.Schema.Value.Properties); len(names) > 0 {
				text += " (JSON with " + short(strings.Join(names, ", "), 300) + ")"
			}
		}
		parts = append(parts, tool.Clean(status)+": "+text+".")
	}
	return bounded(strings.Join(parts, " "))
}

func bounded(text string) string {
	if len(text) <= maxDescription {
		return text
	}
	return fmt.Sprintf("%s (%d bytes; the rest is left out)", short(text, maxDescription), len(text))
}
