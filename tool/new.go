package tool

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/schema"
)

// Options declare what [New] cannot see in a Go function; nil means the zero
// value of each, which is the careful choice. The fields are those of
// [Definition].
type Options struct {
	Effect       event.Effect
	Timeout      time.Duration
	ResultTokens int
	Confirm      string
	KeyFields    []string
	Resources    []string
	Polling      bool
	Harness      bool
	Sensitive    bool
	Group        string
	MaxCalls     int
	Show         event.ShowSpec
	Output       jsontext.Value
	// Schema replaces the schema that is made of the input type. Its members
	// must be the type's.
	Schema jsontext.Value
}

// New makes a tool of a Go function. The arguments' schema is made of In, which
// is a struct or a map, by [schema.For]: struct tags json, jsonschema and schema
// give the name, description and limits of each member. The arguments are
// decoded strictly; they have been checked against the schema before.
//
// What fn returns is shown like this: a string or []byte as text,
// []message.Part, [message.Part] and [*Result] as they are, anything else as
// JSON, which is also the result's Value unless opts.Harness is set. An empty
// result says that it is empty. An error is told to the model: see [Error].
//
// fn must be safe for concurrent use. [CallFrom] gives it the call.
//
// New panics if the declaration is wrong: an invalid name, no doc.What, a type
// that has no schema, a member that is named but does not exist.
func New[In, Out any](name string, doc Doc, fn func(context.Context, In) (Out, error), opts *Options) Tool {
	if opts == nil {
		opts = &Options{}
	}
	def := &Definition{
		Name: name, Doc: doc, Schema: opts.Schema, Effect: opts.Effect, Timeout: opts.Timeout,
		ResultTokens: opts.ResultTokens, Confirm: opts.Confirm, KeyFields: opts.KeyFields,
		Resources: opts.Resources, Polling: opts.Polling, Harness: opts.Harness,
		Sensitive: opts.Sensitive, Group: opts.Group, MaxCalls: opts.MaxCalls, Show: opts.Show, Output: opts.Output,
	}
	if fn == nil {
		panic(fmt.Sprintf("tool %s has no function", name))
	}
	if def.Schema == nil {
		s, err := schema.For[In]()
		if err != nil {
			panic(fmt.Sprintf("tool %s: %v", name, err))
		}
		def.Schema = s
	}
	if err := def.check(); err != nil {
		panic(err.Error())
	}
	if doc.What == "" {
		panic(fmt.Sprintf("tool %s does not say what it does: fill in Doc.What", name))
	}
	return &function[In, Out]{def: def, fn: fn}
}

// function is a tool made by New.
type function[In, Out any] struct {
	def *Definition
	fn  func(context.Context, In) (Out, error)
}

func (f *function[In, Out]) Definition() *Definition { return f.def }

func (f *function[In, Out]) Run(ctx context.Context, call *Call) (*Result, error) {
	var in In
	if err := json.Unmarshal(call.Args, &in, strictly); err != nil {
		return nil, &Error{
			Type: "invalid_arguments", Message: fmt.Sprintf("the arguments of %s cannot be read: %v", f.def.Name, err),
			Hint: "nothing was done; call again with arguments that fit the tool's schema", NoEffect: true,
		}
	}
	out, err := f.fn(context.WithValue(ctx, callKey{}, call), in)
	if err != nil {
		return nil, err
	}
	return f.result(out)
}

// strictly is how arguments are decoded; made once, for it is made of memory.
var strictly = json.RejectUnknownMembers(true)

type callKey struct{}

// CallFrom returns the call that a function of [New] is carrying out, given the
// function's context, or nil if there is none. A function that writes passes its
// Key on to where the effect takes place, so that what is sent again has no
// second effect.
func CallFrom(ctx context.Context) *Call {
	call, _ := ctx.Value(callKey{}).(*Call)
	return call
}

// result makes of a function's output what the model is shown.
func (f *function[In, Out]) result(out any) (*Result, error) {
	r := &Result{}
	switch out := out.(type) {
	case *Result:
		if out != nil {
			r = out
		}
	case Result:
		r = &out
	case []message.Part:
		r.Parts = out
	case message.Part:
		r.Parts = []message.Part{out}
	case string:
		r = Text(out)
	case []byte:
		r = Text(string(out))
	default:
		return f.json(out)
	}
	if r.empty() {
		r.Parts = Text(f.def.Name + " succeeded; it returned nothing.").Parts
	}
	return r, nil
}

func (f *function[In, Out]) json(out any) (*Result, error) {
	if t := reflect.TypeFor[Out](); t.Kind() == reflect.Struct && t.NumField() == 0 {
		return Text(f.def.Name + " succeeded."), nil
	}
	v, err := json.Marshal(out, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, &Error{Type: "bad_result", Message: fmt.Sprintf("%s ran, but its result cannot be written as JSON: %v", f.def.Name, err)}
	}
	text := string(v)
	switch {
	case bytes.Equal(v, []byte("null")):
		text = f.def.Name + " succeeded; it returned nothing."
	case bytes.Equal(v, []byte("[]")), bytes.Equal(v, []byte("{}")):
		text += " (empty: there is nothing to return)"
	}
	r := Text(text)
	if !f.def.Harness {
		r.Value = v
	}
	return r, nil
}

// empty reports whether a result shows nothing.
func (r *Result) empty() bool {
	for i := range r.Parts {
		if p := &r.Parts[i]; p.Kind != message.Text || p.Text != "" || p.Ref != nil {
			return false
		}
	}
	return true
}

// validText returns s with U+FFFD for each byte that is not UTF-8, and how many
// those are.
func validText(s string) (string, int) {
	if utf8.ValidString(s) {
		return s, 0
	}
	out, bad := make([]byte, 0, len(s)+16), 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			bad++
		}
		out = utf8.AppendRune(out, r)
		i += size
	}
	return string(out), bad
}
