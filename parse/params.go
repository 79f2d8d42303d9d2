package parse

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
	"rein.example/rein/schema"
)

// The kinds of [event.Repair] that are made to parameters in markup.
const (
	// RepairTags: a tag is missing, doubled or torn, and what it was is clear from
	// the others. Lossless.
	RepairTags = "tags"
	// RepairStray: text between parameters, which belongs to none, is left out.
	// Lossy.
	RepairStray = "stray_text"
	// RepairWrapped: all arguments stand in one parameter, such as "arguments",
	// that the tool doesn't have. Lossless.
	RepairWrapped = "wrapped_arguments"
	// RepairUndeclared: parameters that the tool doesn't have are left out, as
	// the dialect has it. Lossy.
	RepairUndeclared = "undeclared_parameters"
	// RepairLetters: the letters that a tokenizer has for white space are read as
	// such. Lossy: they may have been meant.
	RepairLetters = "tokenizer_letters"
	// RepairEscaped: the markup is written in entities, and so are the values.
	// Lossy: a value may have held entities of its own.
	RepairEscaped = "escaped_markup"
)

// param is a parameter of a call as it is written.
type param struct {
	name string
	// raw is the text of the value, or, if json is set, the value.
	raw  string
	json bool
	// claim is what the call itself says of the type, which counts where the
	// schema is silent.
	claim claim
}

type claim uint8

const (
	noClaim claim = iota
	claimsText
	claimsJSON
)

// given returns the arguments of a call in whose element stands JSON, or a list of
// parameters, or nothing; repairs are those so far, and what this takes is added.
func (r *reading) given(d *dialect.Dialect, tool, json string, list []param, repairs []event.Repair) (args, problem string, all []event.Repair) {
	var more []event.Repair
	switch {
	case json != "":
		args, problem, more = arguments(json)
		return args, problem, append(more, repairs...)
	case len(list) == 0:
		return "{}", "", repairs
	}
	args, problem, more = r.assemble(d, tool, list)
	return args, problem, add(repairs, more...)
}

// assemble makes the arguments of a call of a tool from its parameters.
func (r *reading) assemble(d *dialect.Dialect, tool string, list []param) (args, problem string, repairs []event.Repair) {
	node := r.params(tool)
	if inner, more := r.unwrapped(tool, node, list); inner != nil {
		list, repairs = inner, append(repairs, more...)
		repairs = append(repairs, event.Repair{Kind: RepairWrapped})
	}
	n := len(list)
	if d.DeclaredOnly && r.declares(tool) {
		list = slices.DeleteFunc(slices.Clone(list), func(p param) bool { return !node.Declared(p.name) })
		if len(list) < n {
			repairs = append(repairs, event.Repair{Kind: RepairUndeclared, Lossy: true})
		}
	}
	room := 2
	for i := range list {
		room += len(list[i].name) + len(list[i].raw) + 8
	}
	out := append(make([]byte, 0, room), '{')
	var first firsts
	for i := range list {
		p := &list[i]
		if k := first.of(list, i); k < i {
			if list[k].raw != p.raw {
				return "", ProblemParams, nil
			}
			repairs = add(repairs, event.Repair{Kind: RepairDuplicateNames})
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out, _ = jsontext.AppendQuote(out, p.name) // what is not UTF-8 is replaced
		var more []event.Repair
		out, more = r.appendParam(append(out, ':'), d, tool, node.Member(p.name), p)
		repairs = add(repairs, more...)
	}
	args = string(append(out, '}'))
	if len(list) < n {
		if _, _, problems := r.in.tool(tool).Check([]byte(args)); len(problems) > 0 {
			return "", ProblemParams, nil
		}
	}
	return args, "", repairs
}

// declares reports whether the tool of that name was offered with a schema that
// names parameters.
func (r *reading) declares(tool string) bool {
	k := r.in.index(tool)
	if k < 0 {
		return false
	}
	if r.named == nil {
		r.named = make([]uint8, len(r.in.Tools))
	}
	const no, yes = 1, 2
	if r.named[k] == 0 {
		r.named[k] = no
		if len(r.in.Tools[k].Params.Root().Names()) > 0 {
			r.named[k] = yes
		}
	}
	return r.named[k] == yes
}

// firsts finds the first parameter of a name.
type firsts struct{ at map[string]int }

// of returns the index of the first of list that has the name of list[i]. It is
// asked for growing i.
func (f *firsts) of(list []param, i int) int {
	const few = 8
	if i < few {
		return slices.IndexFunc(list, func(p param) bool { return p.name == list[i].name })
	}
	if f.at == nil {
		f.at = make(map[string]int, len(list))
		for k := few - 1; k >= 0; k-- {
			f.at[list[k].name] = k
		}
	}
	if k, ok := f.at[list[i].name]; ok {
		return k
	}
	f.at[list[i].name] = i
	return i
}

// appendParam appends the JSON value of a parameter.
func (r *reading) appendParam(dst []byte, d *dialect.Dialect, tool string, n schema.Node, p *param) ([]byte, []event.Repair) {
	if p.json {
		return append(dst, p.raw...), nil
	}
	look := asString
	switch {
	case p.claim == claimsText:
	case p.claim == claimsJSON, d.ByLook, r.in.tool(tool) == nil:
		look = asJSON
	}
	return appendTyped(dst, p.raw, n.Kinds(), look)
}

// add appends repairs of kinds that are not among them.
func add(list []event.Repair, more ...event.Repair) []event.Repair {
	for _, m := range more {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// wrappers are the names of the one parameter that holds all arguments; of tools
// of which nothing is known, only the first.
var wrappers = []string{"arguments", "parameters", "args", "input", "properties", "params"}

// unwrapped returns the parameters that stand as an object in the only one, or
// nil.
func (r *reading) unwrapped(tool string, node schema.Node, list []param) ([]param, []event.Repair) {
	if len(list) != 1 || list[0].json || node.Declared(list[0].name) {
		return nil, nil
	}
	names := wrappers
	if !r.declares(tool) {
		names = wrappers[:1]
	}
	if !slices.Contains(names, list[0].name) {
		return nil, nil
	}
	text := trim(list[0].raw)
	if !strings.HasPrefix(text, "{") {
		return nil, nil
	}
	text, repairs := typedAs(text, schema.Object, asJSON)
	if text[0] != '{' || check(text) != "" {
		return nil, nil
	}
	out := []param{}
	for m := newMembers(text); ; {
		name, raw, ok := m.next()
		if !ok {
			return out, repairs
		}
		out = append(out, param{name: name, raw: raw, json: true})
	}
}
