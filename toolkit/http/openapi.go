package http

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"

	"rein.example/rein/event"
	"rein.example/rein/schema"
	"rein.example/rein/tool"
)

// Bounds of an OpenAPI document.
const (
	// MaxDocument bounds the document, in bytes.
	MaxDocument = 8 << 20
	// maxOperations bounds the operations that are made into tools.
	maxOperations = 200
	// maxDescription bounds a description, in bytes: each request to the model has it.
	maxDescription = 4 << 10
)

// APIOptions describe a web service by its OpenAPI document. Operations are named by
// their operationId; one without is named by its method and path, as in
// "GET /orders/{id}". In Operations, Tags and Effects * stands for anything.
type APIOptions struct {
	// Name stands before the names of the tools, as in NAME_operation. Empty: they
	// are called as the document calls them.
	Name string
	// Document is an OpenAPI 3.x document, as JSON or YAML, of at most [MaxDocument]
	// bytes. What it refers to stands in it: no other file and no address is read.
	Document []byte
	// BaseURL is where the service is; empty: the document's first server. Requests go
	// to its host only.
	BaseURL string
	// Operations and Tags choose operations: those named, and those with a tag that is
	// named. Both empty: all that are not deprecated.
	Operations, Tags []string
	// Effects override what the document (x-rein-effect) and the method say: GET and
	// HEAD read, PUT and DELETE are repeatable, POST and PATCH once. A name wins over
	// patterns, and of several patterns the strictest.
	Effects map[string]event.Effect
	// Confirm names for an operation the one that finds out what became of its call:
	// of this document, else a tool of any other source.
	Confirm map[string]string
	// Alias gives operations other names as tools.
	Alias map[string]string
	// Header is sent with each request; Auth too, and is secret.
	Header http.Header
	Auth   Auth
	// KeyHeader carries the idempotency key; empty is [KeyHeader], "-" none.
	KeyHeader string
	// AllowPrivate lets the service have a private address.
	AllowPrivate bool
	// MaxBytes bounds what is read of an answer; 0 is [DefaultBody].
	MaxBytes int64
	// Timeout bounds one call; 0 is [tool.DefaultTimeout].
	Timeout time.Duration
	// ResultTokens bounds what a result shows; 0 is [tool.DefaultResultTokens].
	ResultTokens int
	// Group is the group of all tools; see [tool.Definition].
	Group string
	// Show is how JSON results of all operations are shortened.
	Show event.ShowSpec
	// Secrets are kept out of errors. Nil: none.
	Secrets *event.Secrets
	// Logger is told which operations are left out, and why. Nil: nobody is.
	Logger *slog.Logger
}

// API makes tools of the operations of an OpenAPI document. It fails if the document
// cannot be read, options name operations that it does not have, two tools would
// have the same name, or none is left. An operation that cannot be carried out here
// (a body that is not JSON, a reference to another document) is left out, and the log
// says why, unless it is named in Operations: then API fails. What answers mean is
// said in [NewCall].
func API(o *APIOptions) ([]tool.Tool, error) {
	tools, err := (&api{APIOptions: o}).tools()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.TrimSpace("OpenAPI document "+o.Name), err)
	}
	return tools, nil
}

type api struct {
	*APIOptions
	doc    *openapi3.T
	base   *url.URL
	listed []listed
}

// listed is an operation of the document.
type listed struct {
	id     string // what options call it
	method string
	path   string
	item   *openapi3.PathItem
	op     *openapi3.Operation
}

func (a *api) tools() ([]tool.Tool, error) {
	var err error
	if a.doc, err = readDocument(a.Document); err != nil {
		return nil, err
	}
	if err := a.list(); err != nil {
		return nil, err
	}
	if err := a.known(); err != nil {
		return nil, err
	}
	if a.base, err = a.server(); err != nil {
		return nil, err
	}
	c, err := newClient([]string{a.base.Host}, a.AllowPrivate, a.MaxBytes)
	if err != nil {
		return nil, err
	}
	return a.offer(c)
}

// readDocument reads a document. References to other documents are not followed.
func readDocument(text []byte) (doc *openapi3.T, err error) {
	if len(text) > MaxDocument {
		return nil, fmt.Errorf("it has more than %d bytes", MaxDocument)
	}
	defer func() {
		if p := recover(); p != nil { // of the library, about a document that is odd enough
			doc, err = nil, fmt.Errorf("it cannot be read: %v", p)
		}
	}()
	if err := precheck(text); err != nil {
		return nil, err
	}
	l := openapi3.NewLoader()
	l.IsExternalRefsAllowed = false
	l.Context = context.Background()
	doc, err = l.LoadFromData(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("it cannot be read: %s", short(err.Error(), 1000))
	case !strings.HasPrefix(doc.OpenAPI, "3."):
		return nil, fmt.Errorf("it is not of OpenAPI 3.x, but says %q", short(doc.OpenAPI, 40))
	case doc.Paths == nil:
		return nil, errors.New("it has no paths")
	}
	return doc, nil
}

// list lists the operations, sorted by path and method.
func (a *api) list() error {
	seen := map[string]bool{}
	paths := a.doc.Paths.Map()
	for _, path := range sortedKeys(paths) {
		item := paths[path]
		if item == nil {
			continue
		}
		ops := item.Operations()
		for _, method := range sortedKeys(ops) {
			l := listed{id: ops[method].OperationID, method: method, path: path, item: item, op: ops[method]}
			if l.id == "" {
				l.id = method + " " + path
			}
			if seen[l.id] {
				return fmt.Errorf("it has two operations that are both called %q", short(l.id, 80))
			}
			seen[l.id] = true
			a.listed = append(a.listed, l)
		}
	}
	return nil
}

// known refuses options for operations that there are not: a slip there would leave a
// tool with another effect, or offered, than its owner believes.
func (a *api) known() error {
	ids, tags := []string{}, []string{}
	for _, l := range a.listed {
		ids, tags = append(ids, l.id), append(tags, l.op.Tags...)
	}
	for _, list := range []struct {
		option   string
		names    []string
		among    []string
		patterns bool
	}{
		{"operations", a.Operations, ids, true}, {"tags", a.Tags, tags, true}, {"effects", sortedKeys(a.Effects), ids, true},
		{"confirm", sortedKeys(a.Confirm), ids, false}, {"alias", sortedKeys(a.Alias), ids, false},
	} {
		for _, name := range list.names {
			if slices.Contains(list.among, name) || list.patterns && slices.ContainsFunc(list.among, func(s string) bool { return matches(name, s) }) {
				continue
			}
			hint := ""
			if near := schema.Nearest(name, list.among); len(near) > 0 {
				hint = "; did you mean " + strings.Join(near, " or ") + "?"
			}
			return fmt.Errorf("%s: there is no %q in it%s", list.option, short(name, 80), hint)
		}
	}
	return nil
}

// server returns where the service is.
func (a *api) server() (*url.URL, error) {
	text := a.BaseURL
	if text == "" {
		if len(a.doc.Servers) == 0 || a.doc.Servers[0] == nil {
			return nil, errors.New("it does not say where the service is: set the base URL")
		}
		text = a.doc.Servers[0].URL
		for _, name := range sortedKeys(a.doc.Servers[0].Variables) {
			if v := a.doc.Servers[0].Variables[name]; v != nil {
				text = strings.ReplaceAll(text, "{"+name+"}", v.Default)
			}
		}
	}
	if len(text) > maxURL || strings.ContainsAny(text, "{}?#") {
		return nil, fmt.Errorf("the server %q has something in it that a base URL cannot have: set the base URL", short(text, 200))
	}
	u, err := url.Parse(strings.TrimRight(text, "/"))
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("the server %q is not a whole address: set the base URL", short(text, 200))
	}
	if _, err := placeOf(u); err != nil {
		return nil, err
	}
	return u, nil
}

// chosen reports whether an operation is to be offered, and whether it is named.
func (a *api) chosen(l *listed) (chosen, named bool) {
	if slices.Contains(a.Operations, l.id) {
		return true, true
	}
	if l.op.Deprecated {
		return false, false
	}
	if len(a.Operations)+len(a.Tags) == 0 {
		return true, false
	}
	byTag := slices.ContainsFunc(l.op.Tags, func(tag string) bool { return matchesAny(a.Tags, tag) })
	return byTag || matchesAny(a.Operations, l.id), false
}

// offer makes tools of the chosen operations.
func (a *api) offer(c *client) ([]tool.Tool, error) {
	var out []tool.Tool
	given := map[string]string{}
	for i := range a.listed {
		l := &a.listed[i]
		chosen, named := a.chosen(l)
		if !chosen {
			continue
		}
		o, err := a.operation(l, c)
		if err != nil && named {
			return nil, fmt.Errorf("its operation %s cannot be used: %w", l.id, err)
		}
		if err != nil {
			if a.Logger != nil {
				a.Logger.Warn("an operation is left out", slog.String("operation", l.id), slog.Any("err", err))
			}
			continue
		}
		folded := strings.ReplaceAll(strings.ToLower(o.def.Name), "-", "_")
		if other, ok := given[folded]; ok {
			return nil, fmt.Errorf("its operations %q and %q would both be called %s: give one of them another name (alias)", other, l.id, o.def.Name)
		}
		given[folded] = l.id
		if len(out) == maxOperations {
			return nil, fmt.Errorf("more than %d operations are chosen: name fewer (operations, tags)", maxOperations)
		}
		out = append(out, o)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("none of its %d operations can be offered", len(a.listed))
	}
	slices.SortFunc(out, func(x, y tool.Tool) int { return cmp.Compare(x.Definition().Name, y.Definition().Name) })
	return out, nil
}

// operation makes the tool of one operation.
func (a *api) operation(l *listed, c *client) (*operation, error) {
	if a.BaseURL == "" && (l.op.Servers != nil && len(*l.op.Servers) > 0 || len(l.item.Servers) > 0) {
		return nil, errors.New("it has a server of its own: set the base URL, if all operations are there")
	}
	if !slices.Contains(methods, l.method) {
		return nil, fmt.Errorf("the method %s is not used", l.method)
	}
	o := &operation{
		client: c, method: l.method, header: a.Header, auth: a.Auth, secrets: a.Secrets, keyHeader: cmp.Or(a.KeyHeader, KeyHeader),
	}
	if o.keyHeader == "-" {
		o.keyHeader = ""
	}
	var err error
	if o.template, err = parseTemplate(a.base.String() + "/" + strings.TrimPrefix(l.path, "/")); err != nil {
		return nil, err
	}
	f := flat{api: a, op: o, members: map[string]any{}, defs: map[string]any{}}
	if err := f.add(l); err != nil {
		return nil, err
	}
	args, err := f.schema()
	if err != nil {
		return nil, err
	}
	o.def = &tool.Definition{
		Name: a.name(l.id), Doc: l.doc(), Schema: args, Effect: a.effect(l), Timeout: a.Timeout, ResultTokens: a.ResultTokens,
		Confirm: a.confirm(l.id), Group: a.Group, Show: a.Show,
	}
	if o.def.Pin, err = a.pin(l, o); err != nil {
		return nil, err
	}
	return o, o.check()
}

// pin returns the hash of what a person who approves a call has relied on.
func (a *api) pin(l *listed, o *operation) (string, error) {
	text, err := json.Marshal([]any{a.base.String(), l.method, l.path, o.def.Doc.What, o.def.Doc.When, o.def.Doc.Returns, o.def.Schema}, json.Deterministic(true))
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}

// name returns what an operation is called as a tool.
func (a *api) name(id string) string {
	if alias := a.Alias[id]; alias != "" {
		return alias
	}
	if a.Name != "" {
		id = a.Name + "_" + id
	}
	var b strings.Builder
	for _, c := range strings.Trim(id, "/{} ") {
		switch {
		case c < 0x80 && (c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_'):
			b.WriteRune(c)
		case !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	const most = 64
	out := b.String()
	if len(out) > most {
		sum := sha256.Sum256([]byte(id))
		out = out[:most-9] + "_" + hex.EncodeToString(sum[:4])
	}
	return out
}

func (a *api) confirm(id string) string {
	c := a.Confirm[id]
	if slices.ContainsFunc(a.listed, func(l listed) bool { return l.id == c }) {
		return a.name(c)
	}
	return c
}

// effect returns what an operation may change.
func (a *api) effect(l *listed) event.Effect {
	if e, ok := a.Effects[l.id]; ok {
		return e
	}
	rank := []event.Effect{"", event.Read, event.Repeatable, event.Once}
	strictest := event.Effect("")
	for _, pattern := range sortedKeys(a.Effects) {
		if e := a.Effects[pattern]; matches(pattern, l.id) && slices.Index(rank, e) > slices.Index(rank, strictest) {
			strictest = e
		}
	}
	if strictest != "" {
		return strictest
	}
	switch said, _ := l.op.Extensions["x-rein-effect"].(string); event.Effect(said) {
	case event.Read, event.Repeatable, event.Once:
		return event.Effect(said)
	}
	if _, ok := l.op.Extensions["x-rein-effect"]; ok { // what it means nobody knows
		return event.Once
	}
	return defaultEffect(l.method)
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, name) })
}

// matches reports whether a name matches a pattern, in which * stands for any text.
func matches(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	last := len(parts) - 1
	name, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1:last] {
		_, after, ok := strings.Cut(name, part)
		if !ok {
			return false
		}
		name = after
	}
	return strings.HasSuffix(name, parts[last])
}
