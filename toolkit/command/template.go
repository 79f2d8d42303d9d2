package command

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/tool"
)

// argument is one entry of a template's argv, in pieces.
type argument []piece

// piece is a text, or the parameter of that name.
type piece struct {
	text  string
	param *param
}

// maxArgv is the most entries of a template's argv.
const maxArgv = 200

// parse reads a template's argv and puts the parameters into their places.
func parse(t *Template) (args []argument, params map[string]*param, err error) {
	params = map[string]*param{}
	for _, name := range sortedKeys(t.Params) {
		p := &param{Param: t.Params[name], name: name}
		if err := p.compile(); err != nil {
			return nil, nil, fmt.Errorf("parameter %q: %w", name, err)
		}
		params[name] = p
	}
	used := map[string]bool{}
	operands := false // behind --
	for i, text := range t.Argv[1:] {
		a, err := pieces(text, params)
		if err != nil {
			return nil, nil, fmt.Errorf("argv[%d] %q: %w", i+1, text, err)
		}
		for k := range a {
			p := a[k].param
			if p == nil {
				continue
			}
			used[p.name] = true
			if (p.List || p.Flag != "") && len(a) > 1 {
				return nil, nil, fmt.Errorf("argv[%d] %q: {%s} is a list or a flag, and has to be an argument of its own", i+1, text, p.name)
			}
			p.bare = p.bare || k == 0 && !operands
		}
		operands = operands || text == "--"
		args = append(args, a)
	}
	for _, name := range sortedKeys(params) {
		if !used[name] {
			return nil, nil, fmt.Errorf("parameter %q is not used in argv: write {%s} where it belongs", name, name)
		}
		if err := params[name].examples(); err != nil {
			return nil, nil, fmt.Errorf("parameter %q: %w", name, err)
		}
	}
	return args, params, nil
}

// pieces takes one entry of argv apart.
func pieces(text string, params map[string]*param) (argument, error) {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return nil, errors.New("it holds a control character, or is not UTF-8 text")
	}
	var out argument
	var plain strings.Builder
	flush := func() {
		if plain.Len() > 0 {
			out = append(out, piece{text: plain.String()})
			plain.Reset()
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c != '{' && c != '}':
			plain.WriteByte(c)
		case i+1 < len(text) && text[i+1] == c:
			plain.WriteByte(c)
			i++
		case c == '}':
			return nil, errors.New("a } closes nothing; write }} for the character")
		default:
			name, _, closed := strings.Cut(text[i+1:], "}")
			if !closed {
				return nil, errors.New("a { is not closed; write {{ for the character")
			}
			p := params[name]
			if p == nil {
				return nil, fmt.Errorf("there is no parameter %q; declare it under params", name)
			}
			flush()
			out = append(out, piece{param: p})
			i += len(name) + 1
		}
	}
	flush()
	if out == nil {
		out = argument{{}}
	}
	return out, nil
}

// values are what a call gives for the parameters: texts, lists of them, or true
// and false.
type values map[string][]string

// fill returns the arguments that the values make.
func fill(args []argument, given values) []string {
	var out []string
	for _, a := range args {
		if len(a) == 1 && a[0].param != nil {
			if p := a[0].param; p.Flag == "" {
				out = append(out, given[p.name]...)
			} else if len(given[p.name]) > 0 {
				out = append(out, p.Flag)
			}
			continue
		}
		var b strings.Builder
		whole := true
		for _, x := range a {
			if x.param == nil {
				b.WriteString(x.text)
				continue
			}
			if v := given[x.param.name]; len(v) == 1 {
				b.WriteString(v[0])
			} else {
				whole = false
			}
		}
		if whole {
			out = append(out, b.String())
		}
	}
	return out
}

// schema is the JSON Schema of the arguments.
func schemaOf(params map[string]*param) jsontext.Value {
	var members, required []string
	for _, name := range sortedKeys(params) {
		p := params[name]
		members = append(members, `"`+name+`":`+string(p.member()))
		if p.Flag == "" && !p.Optional && p.Default == "" {
			required = append(required, `"`+name+`"`)
		}
	}
	text := `{"type":"object","properties":{` + strings.Join(members, ",") + `}`
	if required != nil {
		text += `,"required":[` + strings.Join(required, ",") + `]`
	}
	return jsontext.Value(text + `,"additionalProperties":false}`)
}

// doc is the template's document with the command line in it.
func doc(t *Template) tool.Doc {
	d := t.Doc
	d.What = strings.TrimSpace(d.What) + " Runs: " + strings.Join(t.Argv, " ")
	if d.Returns == "" {
		d.Returns = "What the program wrote, stdout and stderr together, and then a line with its exit code. A program that fails gives an error with its exit code and what it wrote. When the exit code means success no further call is needed."
	}
	return d
}
