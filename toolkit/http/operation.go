package http

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/schema"
	"rein.example/rein/tool"
)

// in says where an argument goes.
type in string

const (
	inPath   in = "path"
	inQuery  in = "query"
	inHeader in = "header"
	inBody   in = "body"
	// inWhole: the argument is the whole body.
	inWhole in = "whole body"
)

// field is one argument of an operation.
type field struct {
	arg  string // its name for the model
	in   in
	wire string // its name in the request
	// style is how a list or an object is written in a query; explode, that each
	// item stands by itself.
	style   string
	explode bool
	// asJSON: the value is written as JSON text.
	asJSON bool
}

// Auth is what requests say of who sends them: secrets, which stand in no error and
// no log.
type Auth struct {
	// Header is set on each request.
	Header http.Header
	// Query is added to each query.
	Query url.Values
}

// operation is a tool that sends a request.
type operation struct {
	def      *tool.Definition
	client   *client
	method   string
	template *template
	fields   []field
	// hasBody: the request has a body even if it has no members.
	hasBody bool
	header  http.Header // without secrets
	auth    Auth
	secrets *event.Secrets
	// keyHeader is the header for the idempotency key; empty: none.
	keyHeader string
	// success are the statuses that mean success; empty: 200 to 299.
	success []int
	// done and notDone are statuses that answer whether something was done: the
	// result then is what a confirm tool answers.
	done, notDone []int
}

// Definition returns what the tool is.
func (o *operation) Definition() *tool.Definition { return o.def }

// Run sends one request.
func (o *operation) Run(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	req, err := o.request(ctx, call)
	if err != nil {
		return nil, &tool.Error{Type: typeInvalid, NoEffect: true, Message: short(err.Error(), 500), Hint: "nothing was sent; call again with other arguments"}
	}
	writes := o.def.Effect.Writes()
	s := &sending{Request: req, follow: !writes, same: true}
	a, err := o.client.do(s, writes)
	if err != nil {
		return nil, o.redacted(o.failed(s, err))
	}
	switch {
	case slices.Contains(o.done, a.status):
		return &tool.Result{Value: jsontext.Value(`{"done":true}`)}, nil
	case slices.Contains(o.notDone, a.status):
		return &tool.Result{Value: jsontext.Value(`{"done":false}`)}, nil
	case !o.succeeded(a.status):
		return nil, o.redacted(statusError(o.def.Name, a, o.def.Effect, o.def.Confirm))
	case a.cut != nil && !writes: // nothing is lost by asking again
		return nil, o.redacted(&tool.Error{Type: tool.TypeConnection, Retryable: true, Message: "the answer to " + o.def.Name + " broke off: " + short(a.cut.Error(), 300), Hint: "call it again if you still need it"})
	}
	return o.result(a), nil
}

func (o *operation) succeeded(status int) bool {
	if len(o.success) == 0 {
		return status >= 200 && status <= 299
	}
	return slices.Contains(o.success, status)
}

// redacted keeps secrets out of an error: a server may repeat what it was sent.
func (o *operation) redacted(err error) error {
	if e, ok := err.(*tool.Error); ok {
		e.Message = o.secrets.Redact(e.Message)
	}
	return err
}

// failed says what became of a request that was not answered.
func (o *operation) failed(s *sending, err error) error {
	if e := s.unsent(err); e != nil {
		return e
	}
	if !s.sent.Load() { // given up before anything was sent
		e := &tool.Error{Type: tool.TypeCancelled, NoEffect: true, Message: "no connection to " + short(s.URL.Host, 80) + " was made in time", Hint: "nothing was sent; go on without it, or try again later"}
		if s.Context().Err() == context.DeadlineExceeded {
			e.Type, e.Retryable = tool.TypeTimeout, true
		}
		return e
	}
	if s.Context().Err() != nil {
		return s.Context().Err() // of unknown outcome, if it writes: the harness says so
	}
	e := &tool.Error{Type: tool.TypeConnection, Message: "the connection to " + short(s.URL.Host, 80) + " was lost before it answered " + o.def.Name + ": " + reason(err)}
	doubtful(e, o.def.Effect, o.def.Confirm)
	return e
}

// result is what is shown of a success.
func (o *operation) result(a *answer) *tool.Result {
	if len(a.body) == 0 && a.cut == nil {
		text := fmt.Sprintf("%s succeeded (HTTP status %d); the answer is empty.", o.def.Name, a.status)
		if a.status == http.StatusAccepted {
			text = o.def.Name + " was accepted (HTTP status 202) and may still be going on; the answer is empty."
		}
		return tool.Text(text)
	}
	k, _, charset := kindOf(a.header, a.body)
	if k != binary && !a.more && a.cut == nil {
		if text, _ := decode(a.body, charset, false); isValue(text) {
			return &tool.Result{Parts: tool.Text(text).Parts, Value: jsontext.Value(text)}
		}
	}
	r := a.shown()
	if o.def.Effect.Writes() {
		r.Parts = append([]message.Part{{Kind: message.Text, Text: o.def.Name + " succeeded."}}, r.Parts...)
	}
	return r
}

// request makes the request of a call.
func (o *operation) request(ctx context.Context, call *tool.Call) (*http.Request, error) {
	var args map[string]jsontext.Value
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return nil, fmt.Errorf("the arguments cannot be read: %w", err)
	}
	text := func(name string) string {
		for _, f := range o.fields {
			if f.in == inPath && f.wire == name {
				return simple(args[f.arg])
			}
		}
		return ""
	}
	u, err := o.template.fill(text)
	if err != nil {
		return nil, err
	}
	q, err := o.query(args)
	if err != nil {
		return nil, err
	}
	u.RawQuery = q
	if len(u.String()) > maxURL {
		return nil, fmt.Errorf("the arguments make an address of more than %d bytes", maxURL)
	}
	body, err := o.body(args)
	if err != nil {
		return nil, err
	}
	var from io.Reader
	if body != nil {
		from = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, o.method, u.String(), from)
	if err != nil {
		return nil, fmt.Errorf("that makes no request: %w", err)
	}
	req.GetBody = nil // what was sent is not sent again by itself
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json, text/*;q=0.8, */*;q=0.5")
	return req, o.setHeader(req.Header, args, call)
}

// setHeader sets the header: what is configured wins over what the model gives.
func (o *operation) setHeader(h http.Header, args map[string]jsontext.Value, call *tool.Call) error {
	for _, f := range o.fields {
		if v := args[f.arg]; f.in == inHeader && v != nil {
			text := simple(v)
			if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
				return fmt.Errorf("%s has more than one line, which no header can", f.arg)
			}
			h.Set(f.wire, text)
		}
	}
	for _, given := range []http.Header{o.header, o.auth.Header} {
		for name, values := range given {
			h[http.CanonicalHeaderKey(name)] = slices.Clone(values)
		}
	}
	if o.keyHeader != "" && call.Key != "" && o.def.Effect.Writes() {
		h.Set(o.keyHeader, call.Key)
	}
	return nil
}

// body returns the JSON of the body, nil for none.
func (o *operation) body(args map[string]jsontext.Value) ([]byte, error) {
	members := map[string]jsontext.Value{}
	for _, f := range o.fields {
		v := args[f.arg]
		if v == nil {
			continue
		}
		switch f.in {
		case inWhole:
			return v, nil
		case inBody:
			members[f.wire] = v
		}
	}
	if !o.hasBody && len(members) == 0 {
		return nil, nil
	}
	return json.Marshal(members, json.Deterministic(true))
}

// query returns the query: what the template has, the arguments, and what auth adds.
func (o *operation) query(args map[string]jsontext.Value) (string, error) {
	var out []string
	add := func(name, value string) { out = append(out, url.QueryEscape(name)+"="+url.QueryEscape(value)) }
	for _, p := range o.template.query {
		if p.value.hole == "" {
			add(p.name, p.value.text)
		}
	}
	for i := range o.fields {
		if f := &o.fields[i]; f.in == inQuery && args[f.arg] != nil {
			if err := f.write(args[f.arg], add); err != nil {
				return "", err
			}
		}
	}
	for _, name := range sortedKeys(o.auth.Query) {
		for _, v := range o.auth.Query[name] {
			add(name, v)
		}
	}
	return strings.Join(out, "&"), nil
}

// write writes a value into a query as the field's style says.
func (f *field) write(v jsontext.Value, add func(name, value string)) error {
	switch kind := v.Kind(); {
	case f.asJSON:
		add(f.wire, string(v))
	case kind == '[':
		var items []jsontext.Value
		if err := json.Unmarshal(v, &items); err != nil {
			return err
		}
		var texts []string
		for _, item := range items {
			if f.explode {
				add(f.wire, simple(item))
			}
			texts = append(texts, simple(item))
		}
		if !f.explode && len(texts) > 0 {
			add(f.wire, strings.Join(texts, map[string]string{"spaceDelimited": " ", "pipeDelimited": "|"}[f.style]+f.comma()))
		}
	case kind == '{':
		var members map[string]jsontext.Value
		if err := json.Unmarshal(v, &members); err != nil {
			return err
		}
		for _, name := range sortedKeys(members) {
			switch {
			case f.style == "deepObject":
				add(f.wire+"["+name+"]", simple(members[name]))
			case f.explode:
				add(name, simple(members[name]))
			}
		}
		if f.style != "deepObject" && !f.explode {
			add(f.wire, simple(v))
		}
	default:
		add(f.wire, simple(v))
	}
	return nil
}

func (f *field) comma() string {
	if f.style == "spaceDelimited" || f.style == "pipeDelimited" {
		return ""
	}
	return ","
}

// simple writes a value as text: a list as its items with commas between them, an
// object as names and values in turn.
func simple(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		var s string
		_ = json.Unmarshal(v, &s) // it has been checked
		return s
	case '[':
		var items []jsontext.Value
		_ = json.Unmarshal(v, &items)
		var out []string
		for _, item := range items {
			out = append(out, scalar(item))
		}
		return strings.Join(out, ",")
	case '{':
		var members map[string]jsontext.Value
		_ = json.Unmarshal(v, &members)
		var out []string
		for _, name := range sortedKeys(members) {
			out = append(out, name, scalar(members[name]))
		}
		return strings.Join(out, ",")
	}
	return string(v)
}

// scalar is simple without lists in lists: those stay JSON.
func scalar(v jsontext.Value) string {
	if v.Kind() == '"' {
		return simple(v)
	}
	return string(v)
}

// check refuses an operation whose header cannot be sent, or whose definition no
// registry takes.
func (o *operation) check() error {
	for _, given := range []http.Header{o.header, o.auth.Header} {
		for name, values := range given {
			if !validHeader(name) || ofTransport(name) || o.keyHeader != "" && strings.EqualFold(name, o.keyHeader) {
				return fmt.Errorf("the header %q cannot be set", short(name, 80))
			}
			if slices.ContainsFunc(values, func(v string) bool {
				return strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
			}) {
				return fmt.Errorf("the header %s has control characters in its value", name)
			}
		}
	}
	if o.keyHeader != "" && (!validHeader(o.keyHeader) || ofTransport(o.keyHeader)) {
		return fmt.Errorf("the header %q cannot carry the idempotency key", short(o.keyHeader, 80))
	}
	probe := *o.def
	probe.Confirm = "" // of another source, perhaps
	if _, err := tool.NewRegistry(&operation{def: &probe}); err != nil {
		return err
	}
	_, err := schema.Compile(o.def.Schema)
	return err
}

// defaultEffect is what a method may change, by its meaning.
func defaultEffect(method string) event.Effect {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return event.Read
	case http.MethodPut, http.MethodDelete:
		return event.Repeatable
	}
	return event.Once
}
