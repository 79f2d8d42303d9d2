package config

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/tool"
	httptool "rein.example/rein/toolkit/http"
)

// HTTPGet lets the model read pages.
type HTTPGet struct {
	Hosts        []string `yaml:"hosts" is:"host" max:"200" need:"true" doc:"The hosts that may be asked, redirects included. *.example.com stands for every name below it; a port has to be named if it is not the scheme's own."`
	AllowPrivate bool     `yaml:"allow_private" doc:"true: the hosts may have private addresses, of this machine or of a network that is not the internet. Link-local ones and those of metadata services are never asked."`
	MaxBytes     int64    `yaml:"max_bytes" min:"1024" max:"67108864" doc:"The most bytes that are read of an answer. Left out: 4,194,304."`
	Timeout      string   `yaml:"timeout" is:"duration" doc:"How long one call may take. Left out: 60s."`
	Group        string   `yaml:"group" is:"prefix" doc:"The group in which the tool is offered where there are many."`
}

// HTTP is one request as a tool.
type HTTP struct {
	Name         string               `yaml:"name" is:"toolname" need:"true" doc:"What the tool is called."`
	Doc          HTTPDoc              `yaml:"doc" need:"true" doc:"What the model is told of the tool."`
	Method       string               `yaml:"method" is:"method" doc:"The method. Left out: GET."`
	URL          string               `yaml:"url" is:"template" need:"true" doc:"Where the request goes. {name} stands for the parameter of that name, in a segment of the path or as a whole value of the query. Requests go to this host only."`
	Params       map[string]HTTPParam `yaml:"params" keys:"argname" max:"50" doc:"The parameters by name: of those in the url what there is to say, and further ones."`
	Effect       string               `yaml:"effect" is:"effect" doc:"What the request may change, see permissions. Left out: GET and HEAD read, PUT and DELETE are repeatable, POST and PATCH once."`
	Headers      map[string]string    `yaml:"headers" keys:"header" is:"value" max:"50" doc:"Headers of each request. Not for secrets: this file is kept with each run."`
	Auth         HTTPAuth             `yaml:"auth" doc:"What says who asks: secrets, named by their environment variables."`
	KeyHeader    string               `yaml:"key_header" is:"header" doc:"The header that carries the idempotency key of what writes. none: no header. Left out: Idempotency-Key."`
	Success      []int64              `yaml:"success" min:"200" max:"599" doc:"The statuses that mean success. Left out: 200 to 299."`
	Done         []int64              `yaml:"done" min:"200" max:"599" doc:"For a tool that finds out what became of a call: the statuses that say that it was done. The result then is {\"done\": true}."`
	NotDone      []int64              `yaml:"not_done" min:"200" max:"599" doc:"The statuses that say that it was not done. The result then is {\"done\": false}."`
	Confirm      string               `yaml:"confirm" is:"toolname" doc:"The tool that finds out what became of a call whose outcome is unknown: it reads, and gives {\"done\": true} or {\"done\": false}."`
	KeyFields    []string             `yaml:"key_fields" is:"argname" max:"50" doc:"The parameters that make two calls the same business act. Left out: all."`
	Resources    []string             `yaml:"resources" is:"argname" max:"50" doc:"The parameters that say what a call works on, so that calls about other things may run beside it. Left out: it may work on anything."`
	Sensitive    bool                 `yaml:"sensitive" doc:"true: a permission by effect class does not cover the tool; it has to be named."`
	Polling      bool                 `yaml:"polling" doc:"true: the same call is meant to be repeated."`
	MaxCalls     int64                `yaml:"max_calls" min:"1" max:"1000000" doc:"How often a run may call it. Left out: as often as its limits allow."`
	AllowPrivate bool                 `yaml:"allow_private" doc:"true: the host may have a private address, as a service of one's own usually has."`
	MaxBytes     int64                `yaml:"max_bytes" min:"1024" max:"67108864" doc:"The most bytes that are read of an answer. Left out: 4,194,304."`
	Timeout      string               `yaml:"timeout" is:"duration" doc:"How long one call may take. Left out: 60s."`
	Group        string               `yaml:"group" is:"prefix" doc:"The group in which the tool is offered where there are many."`
}

// HTTPDoc is what the model is told.
type HTTPDoc struct {
	What    string `yaml:"what" is:"prose" need:"true" doc:"What it does, in one or two sentences."`
	When    string `yaml:"when" is:"prose" doc:"When to use it, and when not."`
	Returns string `yaml:"returns" is:"prose" doc:"What comes back: also what it looks like when there is nothing, and which result means that no further call is needed."`
}

// HTTPParam is one parameter of a request.
type HTTPParam struct {
	In          string   `yaml:"in" is:"place" doc:"Where it goes. Left out: where the url has it; else into the query of GET, HEAD and DELETE, and into the JSON body of others."`
	As          string   `yaml:"as" is:"member" doc:"What it is called in the request, if not as here."`
	Type        string   `yaml:"type" is:"paramtype" doc:"What it is; a list is one of texts. Left out: string."`
	Description string   `yaml:"description" is:"prose" doc:"What the model is told of it."`
	Enum        []string `yaml:"enum" is:"argument" max:"100" doc:"The texts that there are."`
	Pattern     string   `yaml:"pattern" is:"regexp" doc:"A regular expression (RE2) that the whole of a text matches."`
	Optional    bool     `yaml:"optional" doc:"true: it may be left out."`
}

// HTTPAuth says who asks. What is in the environment variables is kept out of
// journals, and no model sees it.
type HTTPAuth struct {
	BearerEnv  string            `yaml:"bearer_env" is:"env" doc:"The environment variable with the token of the header Authorization: Bearer …."`
	BasicUser  string            `yaml:"basic_user" is:"value" doc:"The user of HTTP's basic authentication."`
	BasicEnv   string            `yaml:"basic_env" is:"env" doc:"The environment variable with that user's password."`
	HeadersEnv map[string]string `yaml:"headers_env" keys:"header" is:"env" max:"50" doc:"Headers whose values are secrets, and the environment variables that hold them."`
	QueryEnv   map[string]string `yaml:"query_env" keys:"member" is:"env" max:"50" doc:"Parameters of the query whose values are secrets, and the environment variables that hold them."`
}

// OpenAPI is a web service whose operations are tools. They are named here as the
// document names them, but in permissions as they are called here.
type OpenAPI struct {
	Document     string            `yaml:"document" is:"path" need:"true" doc:"The file with the OpenAPI 3 document, JSON or YAML, of at most 8 MiB. It refers to no other."`
	Name         string            `yaml:"name" is:"prefix" doc:"Stands before the names of the tools, as in NAME_operation. Left out: they are called what the document calls them."`
	BaseURL      string            `yaml:"base_url" is:"url" doc:"Where the service is. Left out: at the document's first server. Requests go to this host only."`
	Operations   []string          `yaml:"operations" is:"remote" max:"200" doc:"The operations to offer, by operationId or by pattern; one without an id is called by its method and path, as in GET /orders/{id}. Left out, and no tags: all that are not deprecated."`
	Tags         []string          `yaml:"tags" is:"remote" max:"200" doc:"Offer the operations with one of these tags too."`
	Effects      map[string]string `yaml:"effects" keys:"remote" is:"effect" max:"1000" doc:"What operations may change, by name or by pattern: overrides what the document says (x-rein-effect), and what follows from the method: GET and HEAD read, PUT and DELETE are repeatable, POST and PATCH once."`
	Confirm      map[string]string `yaml:"confirm" keys:"remote" is:"remote" max:"1000" doc:"For an operation, the one that finds out whether a call of it took effect, or a tool of another entry: it only reads, and gives {\"done\": true} or {\"done\": false}."`
	Alias        map[string]string `yaml:"alias" keys:"remote" is:"toolname" max:"1000" doc:"Other names for operations as tools, used as they are."`
	Headers      map[string]string `yaml:"headers" keys:"header" is:"value" max:"50" doc:"Headers of each request. Not for secrets."`
	Auth         HTTPAuth          `yaml:"auth" doc:"What says who asks: secrets, named by their environment variables."`
	KeyHeader    string            `yaml:"key_header" is:"header" doc:"The header that carries the idempotency key of what writes. none: no header. Left out: Idempotency-Key."`
	AllowPrivate bool              `yaml:"allow_private" doc:"true: the host may have a private address, as a service of one's own usually has."`
	MaxBytes     int64             `yaml:"max_bytes" min:"1024" max:"67108864" doc:"The most bytes that are read of an answer. Left out: 4,194,304."`
	Timeout      string            `yaml:"timeout" is:"duration" doc:"How long one call may take. Left out: 60s."`
	Group        string            `yaml:"group" is:"prefix" doc:"The group in which the tools are offered where there are many."`
}

func (HTTPAuth) later() map[string]string { return noSecrets }
func (HTTP) later() map[string]string     { return noSecrets }
func (OpenAPI) later() map[string]string  { return noSecrets }

const noSecret = "a secret does not belong in this file; put it into an environment variable and name that in auth (bearer_env, basic_env, headers_env or query_env)"

var noSecrets = map[string]string{"token": noSecret, "key": noSecret, "api_key": noSecret, "secret": noSecret, "password": noSecret, "bearer": noSecret}

// statuses checks that no status says of a call both that it was done and that it
// was not.
func (d *decoder) statuses(c *HTTP, path string) {
	if c == nil {
		return
	}
	for _, s := range c.NotDone {
		if slices.Contains(c.Done, s) {
			d.add(d.at[path], path, "the status %d stands under done too, and can say only one of the two; keep it in one list", s)
		}
	}
}

// tool makes http_get.
func (g *HTTPGet) tool() (tool.Tool, error) {
	return httptool.Get(&httptool.GetOptions{Hosts: g.Hosts, AllowPrivate: g.AllowPrivate, MaxBytes: g.MaxBytes, Timeout: duration(g.Timeout), Group: g.Group})
}

// tool makes the tool of a request.
func (c *HTTP) tool(h *Host) (tool.Tool, error) {
	header, auth, err := c.Auth.of(h, c.Headers)
	if err != nil {
		return nil, err
	}
	call := &httptool.Call{
		Name: c.Name, Doc: tool.Doc(c.Doc), Method: c.Method, URL: c.URL, Params: map[string]httptool.Param{}, Header: header, Auth: auth,
		Effect: event.Effect(c.Effect), KeyHeader: keyHeader(c.KeyHeader), Success: ints(c.Success), Done: ints(c.Done), NotDone: ints(c.NotDone),
		AllowPrivate: c.AllowPrivate, MaxBytes: c.MaxBytes, Secrets: h.Secrets, Timeout: duration(c.Timeout), Confirm: c.Confirm, KeyFields: c.KeyFields,
		Resources: c.Resources, Polling: c.Polling, Sensitive: c.Sensitive, Group: c.Group, MaxCalls: int(c.MaxCalls),
	}
	for name, p := range c.Params {
		call.Params[name] = httptool.Param(p)
	}
	return httptool.NewCall(call)
}

// tools makes the tools of a document.
func (o *OpenAPI) tools(a *Agent, h *Host) ([]tool.Tool, error) {
	header, auth, err := o.Auth.of(h, o.Headers)
	if err != nil {
		return nil, err
	}
	doc, err := read(a.path(o.Document), httptool.MaxDocument)
	if err != nil {
		return nil, fmt.Errorf("the document cannot be read: %w", err)
	}
	effects := map[string]event.Effect{}
	for name, e := range o.Effects {
		effects[name] = event.Effect(e)
	}
	return httptool.API(&httptool.APIOptions{
		Name: o.Name, Document: doc, BaseURL: o.BaseURL, Operations: o.Operations, Tags: o.Tags, Effects: effects, Confirm: o.Confirm, Alias: o.Alias,
		Header: header, Auth: auth, KeyHeader: keyHeader(o.KeyHeader), AllowPrivate: o.AllowPrivate, MaxBytes: o.MaxBytes, Timeout: duration(o.Timeout),
		Group: o.Group, Secrets: h.Secrets, Logger: h.Logger,
	})
}

// of returns the header of each request, and its secrets.
func (s *HTTPAuth) of(h *Host, plain map[string]string) (http.Header, httptool.Auth, error) {
	header, auth := http.Header{}, httptool.Auth{Header: http.Header{}, Query: url.Values{}}
	var errs []error
	secret := func(env string, use func(value string)) {
		value, err := h.secret(env)
		if err == nil && strings.ContainsAny(value, "\r\n\x00") {
			err = fmt.Errorf("the environment variable %s holds more than one line, which no request can", env)
		}
		if err != nil {
			errs = append(errs, err)
			return
		}
		use(value)
	}
	set := func(in http.Header, name, value string) {
		if header.Get(name) != "" || auth.Header.Get(name) != "" {
			errs = append(errs, fmt.Errorf("the header %s is set twice", http.CanonicalHeaderKey(name)))
		}
		in.Set(name, value)
	}
	for _, name := range slices.Sorted(maps.Keys(plain)) {
		set(header, name, plain[name])
	}
	for _, name := range slices.Sorted(maps.Keys(s.HeadersEnv)) {
		secret(s.HeadersEnv[name], func(value string) { set(auth.Header, name, value) })
	}
	if s.BearerEnv != "" {
		secret(s.BearerEnv, func(value string) { set(auth.Header, "Authorization", "Bearer "+value) })
	}
	if (s.BasicUser == "") != (s.BasicEnv == "") || strings.Contains(s.BasicUser, ":") {
		errs = append(errs, errors.New("basic_user, without a colon, and basic_env, the variable with the password, go together"))
	} else if s.BasicEnv != "" {
		secret(s.BasicEnv, func(value string) {
			set(auth.Header, "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(s.BasicUser+":"+value)))
		})
	}
	for _, name := range slices.Sorted(maps.Keys(s.QueryEnv)) {
		secret(s.QueryEnv[name], func(value string) { auth.Query.Set(name, value) })
	}
	return header, auth, errors.Join(errs...)
}

// keyHeader returns what package http takes.
func keyHeader(name string) string {
	if name == "none" {
		return "-"
	}
	return name
}

// duration reads a time that has been checked; "" is 0.
func duration(text string) time.Duration {
	d, _ := time.ParseDuration(text)
	return d
}

func ints(list []int64) []int {
	var out []int
	for _, n := range list {
		out = append(out, int(n))
	}
	return out
}

// several are the kinds of tools of which a file may have more than one entry.
func several(kind string) bool {
	return slices.Contains([]string{"mcp", "http", "openapi", "agent"}, kind)
}

// web makes the tools of an entry that uses web servers.
func (a *Agent) web(t *Tool, h *Host) (list []tool.Tool, err error) {
	var one tool.Tool
	switch {
	case t.HTTPGet != nil:
		one, err = t.HTTPGet.tool()
	case t.HTTP != nil:
		one, err = t.HTTP.tool(h)
	default:
		return t.OpenAPI.tools(a, h)
	}
	if err != nil {
		return nil, err
	}
	return []tool.Tool{one}, nil
}
