package http

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// KeyHeader is the header that carries the idempotency key of a write, unless
// another is named.
const KeyHeader = "Idempotency-Key"

// Call describes one request as a tool.
type Call struct {
	Name string
	Doc  tool.Doc
	// Method is GET, HEAD, PUT, DELETE, POST or PATCH; empty is GET.
	Method string
	// URL is where it goes. {name} is a parameter, in a segment of the path or as a
	// whole value of the query: https://desk.example.com/orders/{id}?view={view}.
	URL string
	// Params are the parameters by name: those of the URL, and further ones.
	Params map[string]Param
	// Header is sent with each request; Auth too, and is secret.
	Header http.Header
	Auth   Auth
	// Effect is what the request may change; empty: by its method. GET and HEAD
	// read, PUT and DELETE are repeatable, POST and PATCH once.
	Effect event.Effect
	// KeyHeader carries the idempotency key; empty is [KeyHeader], "-" none.
	KeyHeader string
	// Success are the statuses that mean success; empty: 200 to 299.
	Success []int
	// Done and NotDone make the tool one that finds out whether something was done:
	// with these statuses its result is {"done": true} or {"done": false}. No status
	// stands in both.
	Done, NotDone []int
	// AllowPrivate lets the host have a private address.
	AllowPrivate bool
	// MaxBytes bounds what is read of an answer; 0 is [DefaultBody].
	MaxBytes int64
	// Secrets are kept out of errors. Nil: none.
	Secrets *event.Secrets

	// These are as in [tool.Definition].
	Timeout      time.Duration
	ResultTokens int
	Confirm      string
	KeyFields    []string
	Resources    []string
	Polling      bool
	Sensitive    bool
	Group        string
	MaxCalls     int
	Show         event.ShowSpec
}

// Param is one parameter of a request.
type Param struct {
	// In is path, query, header or body. Empty: where the URL has it; else query for
	// a method without a body, and body for one with.
	In string
	// As is its name in the request; empty: as it is called here.
	As string
	// Type is string, integer, number, boolean, list (of texts) or object; empty is
	// string.
	Type string
	// Description is what the model is told of it.
	Description string
	// Enum are the texts that it takes; Pattern a regular expression (RE2) that they
	// match. Both are for string and list.
	Enum    []string
	Pattern string
	// Optional: it may be left out. One in the path may not.
	Optional bool
}

// NewCall makes the tool of one request. It fails if the description is wrong.
//
// What an answer means:
//
//   - 200 to 299, or Success: done. A body that breaks off then is said to, and the
//     call is a success all the same if it writes; a read is an error, retryable.
//   - 4xx: an error with the beginning of the body, not retryable, proven to have had
//     no effect; but 409 (conflict) proves nothing, 425 and 429 are retryable, and 408
//     is as 5xx.
//   - 5xx, a connection lost or a time that is over after something was sent: a read
//     or a repeatable call is retryable; of what writes, the outcome is unknown.
//   - Redirects are followed for reads, to the same server. For writes they are not:
//     307 and 308 prove that nothing was done, others leave it unknown.
func NewCall(c *Call) (tool.Tool, error) {
	o, err := c.operation()
	if err != nil {
		return nil, fmt.Errorf("http %s: %w", c.Name, err)
	}
	return o, nil
}

var methods = []string{"GET", "HEAD", "PUT", "DELETE", "POST", "PATCH"}

func (c *Call) operation() (*operation, error) {
	o := &operation{
		method: cmp.Or(c.Method, http.MethodGet), header: c.Header, auth: c.Auth, secrets: c.Secrets, keyHeader: cmp.Or(c.KeyHeader, KeyHeader),
		success: c.Success, done: c.Done, notDone: c.NotDone,
	}
	if !slices.Contains(methods, o.method) {
		return nil, fmt.Errorf("the method %q is not one of %s", short(o.method, 40), strings.Join(methods, ", "))
	}
	if o.keyHeader == "-" {
		o.keyHeader = ""
	}
	for _, s := range slices.Concat(c.Success, c.Done, c.NotDone) {
		if s < 200 || s > 599 {
			return nil, fmt.Errorf("the status %d is none that ends a request", s)
		}
	}
	for _, s := range c.Done {
		if slices.Contains(c.NotDone, s) {
			return nil, fmt.Errorf("the status %d stands under done and under not_done: it can say only one of the two", s)
		}
	}
	effect := cmp.Or(c.Effect, defaultEffect(o.method))
	if len(c.Done)+len(c.NotDone) > 0 && effect != event.Read {
		return nil, errors.New("done and not_done are for a tool that only reads")
	}
	if c.Doc.What == "" {
		return nil, errors.New("it does not say what it does: fill in the document")
	}
	var err error
	if o.template, err = parseTemplate(c.URL); err != nil {
		return nil, err
	}
	if o.client, err = newClient([]string{o.template.base.Host}, c.AllowPrivate, c.MaxBytes); err != nil {
		return nil, err
	}
	o.client.fix(o.template)
	args, err := c.arguments(o)
	if err != nil {
		return nil, err
	}
	o.def = &tool.Definition{
		Name: c.Name, Doc: c.Doc, Schema: args, Effect: effect, Timeout: c.Timeout, ResultTokens: c.ResultTokens, Confirm: c.Confirm,
		KeyFields: c.KeyFields, Resources: c.Resources, Polling: c.Polling, Sensitive: c.Sensitive, Group: c.Group, MaxCalls: c.MaxCalls, Show: c.Show,
	}
	return o, o.check()
}

// fix makes the port of a template's host the only one.
func (c *client) fix(t *template) {
	p, err := placeOf(t.base)
	if err == nil {
		c.hosts = []hostRule{{host: p.host, port: p.port}}
	}
}

// arguments makes the fields of an operation, and the schema of its arguments.
func (c *Call) arguments(o *operation) (jsontext.Value, error) {
	holes := o.template.holes()
	params := maps.Clone(c.Params)
	if params == nil {
		params = map[string]Param{}
	}
	for _, name := range holes {
		if _, ok := params[name]; !ok {
			params[name] = Param{}
		}
	}
	o.hasBody = slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch}, o.method) && len(params) > 0
	hasBody := false
	members, required := map[string]any{}, []string{}
	for _, name := range sortedKeys(params) {
		p := params[name]
		f, err := c.field(o, name, &p, slices.Contains(holes, name))
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", name, err)
		}
		hasBody = hasBody || f.in == inBody
		o.fields = append(o.fields, f)
		if members[name], err = p.schema(); err != nil {
			return nil, fmt.Errorf("parameter %s: %w", name, err)
		}
		if !p.Optional {
			required = append(required, name)
		}
	}
	o.hasBody = o.hasBody && hasBody
	s := map[string]any{"type": "object", "properties": members, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return json.Marshal(s, json.Deterministic(true))
}

// field says where a parameter goes.
func (c *Call) field(o *operation, name string, p *Param, hole bool) (field, error) {
	f := field{arg: name, in: in(p.In), wire: cmp.Or(p.As, name), explode: true}
	place := inQuery
	if o.template.inPath(name) {
		place = inPath
	}
	switch {
	case !isHole(name):
		return f, errors.New("its name has to consist of letters, digits, dots, dashes and underscores, at most 64")
	case hole && f.in != "" && f.in != place:
		return f, errors.New("the URL has it in its " + string(place))
	case hole && p.As != "":
		return f, errors.New("the URL says what it is called in the request: take as out")
	case hole && place == inPath:
		if p.Optional {
			return f, errors.New("it is in the path, and so cannot be optional")
		}
		f.in = inPath
	case hole:
		f.in = inQuery
		for _, pair := range o.template.query {
			if pair.value.hole == name {
				f.wire = pair.name
			}
		}
	case f.in == "" && slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodDelete}, o.method):
		f.in = inQuery
	case f.in == "":
		f.in = inBody
	case f.in == inPath:
		return f, errors.New("it is said to be in the path, but the URL has no {" + name + "} there")
	case !slices.Contains([]in{inQuery, inHeader, inBody}, f.in):
		return f, fmt.Errorf("in is path, query, header or body, not %q", p.In)
	}
	if f.in == inBody && slices.Contains([]string{http.MethodGet, http.MethodHead}, o.method) {
		return f, errors.New("a " + o.method + " request has no body")
	}
	if f.in == inHeader && (!validHeader(f.wire) || reserved(f.wire, o.keyHeader)) {
		return f, fmt.Errorf("the header %q cannot be a parameter", short(f.wire, 80))
	}
	return f, nil
}

// schema describes a parameter's value.
func (p *Param) schema() (map[string]any, error) {
	text := map[string]any{"type": "string"}
	if len(p.Enum) > 0 {
		text["enum"] = p.Enum
	}
	if p.Pattern != "" {
		text["pattern"] = "^(?:" + p.Pattern + ")$"
	}
	var s map[string]any
	switch p.Type {
	case "", "string":
		s = text
	case "list":
		s = map[string]any{"type": "array", "items": text}
	case "integer", "number", "boolean", "object":
		if len(text) > 1 {
			return nil, fmt.Errorf("enum and pattern are for string and list, not for %s", p.Type)
		}
		s = map[string]any{"type": p.Type}
	default:
		return nil, fmt.Errorf("the type %q is not one of string, integer, number, boolean, list, object", p.Type)
	}
	if p.Description != "" {
		s["description"] = p.Description
	}
	return s, nil
}

// reserved reports whether a header is not for the model to set.
func reserved(name, key string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Content-Type", "Content-Encoding", "Cookie", "Authorization", "Proxy-Authorization", "Accept", KeyHeader, http.CanonicalHeaderKey(key):
		return true
	}
	return ofTransport(name)
}

// ofTransport reports whether a header is for whoever carries the request.
func ofTransport(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Upgrade", "Te", "Trailer", "Expect", "Accept-Encoding":
		return true
	}
	return false
}

func validHeader(name string) bool {
	return name != "" && len(name) <= 128 && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+.^_`|~-") == ""
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
