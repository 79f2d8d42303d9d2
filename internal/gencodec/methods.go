package main

import (
	"bytes"
	"fmt"
	"strings"

	"rein.example/rein/internal/gencodec/codec"
)

// quote returns s as a JSON string.
func quote(s string) string { return string(codec.AppendString(nil, s)) }

// index returns the loop variable of a nesting depth.
func index(depth int) string { return string(rune('i' + depth)) }

// appendMethod writes AppendJSON.
func (g *generator) appendMethod(t *typ) {
	g.printf("// AppendJSON appends x as a JSON object to dst.\nfunc (x *%s) AppendJSON(dst []byte) []byte {\n", t.name)
	g.lit("{")
	for _, f := range t.fields {
		x := "x." + f.name
		cond := ""
		switch {
		case f.omitEmpty:
			cond = present(f.typ, x)
		case f.omitZero:
			cond = nonZero(f.typ, x)
		}
		if cond != "" {
			g.flush()
			g.printf("if %s {\n", cond)
		}
		g.lit(quote(f.json) + ":")
		switch {
		case cond != "" && f.typ.kind == kindBool:
			g.lit("true")
		case cond != "" && f.typ.kind == kindPointer:
			g.appendPointed(f.typ, x, 0)
		default:
			g.appendValue(f.typ, x, 0)
		}
		g.lit(",")
		if cond != "" {
			g.flush()
			g.printf("}\n")
		}
	}
	g.flush()
	g.printf("return codec.End(dst, '}')\n}\n\n")
}

// lit appends literal JSON; literals that follow each other become one.
func (g *generator) lit(s string) { g.literal += s }

func (g *generator) flush() {
	switch len(g.literal) {
	case 0:
	case 1:
		g.printf("dst = append(dst, '%s')\n", g.literal)
	default:
		g.printf("dst = append(dst, `%s`...)\n", g.literal)
	}
	g.literal = ""
}

func (g *generator) appendValue(t *typ, x string, depth int) {
	g.flush()
	switch t.kind {
	case kindString:
		g.printf("dst = codec.AppendString(dst, %s)\n", x)
	case kindBool:
		g.printf("dst = codec.AppendBool(dst, %s)\n", convert(t, "bool", x))
	case kindInt:
		g.printf("dst = strconv.AppendInt(dst, %s, 10)\n", convert(t, "int64", x))
	case kindUint:
		g.printf("dst = strconv.AppendUint(dst, %s, 10)\n", convert(t, "uint64", x))
	case kindRaw:
		g.printf("dst = codec.AppendRaw(dst, %s)\n", x)
	case kindStruct, kindCustom:
		g.printf("dst = %s.AppendJSON(dst)\n", x)
	case kindPointer:
		g.printf("if %s == nil {\ndst = append(dst, `null`...)\n} else {\n", x)
		g.appendPointed(t, x, depth)
		g.flush()
		g.printf("}\n")
	case kindSlice:
		i := index(depth)
		g.lit("[")
		g.flush()
		g.printf("for %s := range %s {\n", i, x)
		g.appendValue(t.elem, x+"["+i+"]", depth+1)
		g.lit(",")
		g.flush()
		g.printf("}\ndst = codec.End(dst, ']')\n")
	}
}

// appendPointed writes what x, which is not nil, points to.
func (g *generator) appendPointed(t *typ, x string, depth int) {
	if t.elem.kind != kindStruct && t.elem.kind != kindCustom {
		x = "(*" + x + ")"
	}
	g.appendValue(t.elem, x, depth)
}

// convert converts x of type t to a basic type, where that is another one.
func convert(t *typ, to, x string) string {
	if t.expr == to {
		return x
	}
	return to + "(" + x + ")"
}

// present is the condition under which omitempty keeps a member.
func present(t *typ, x string) string {
	switch t.kind {
	case kindString:
		return x + ` != ""`
	case kindRaw, kindSlice:
		return "len(" + x + ") > 0"
	}
	return nonZero(t, x)
}

// nonZero is the condition that x is not its type's zero value.
func nonZero(t *typ, x string) string {
	switch t.kind {
	case kindString:
		return x + ` != ""`
	case kindBool:
		return x
	case kindInt, kindUint:
		return x + " != 0"
	case kindRaw, kindSlice, kindPointer:
		return x + " != nil"
	case kindCustom:
		return x + " != " + t.zero
	}
	var parts []string
	for _, f := range t.fields {
		parts = append(parts, nonZero(f.typ, x+"."+f.name))
	}
	return strings.Join(parts, " || ")
}

// decodeMethod writes DecodeJSON.
func (g *generator) decodeMethod(t *typ) {
	g.printf(`// DecodeJSON reads one JSON object, or null for the zero value, into x.
func (x *%s) DecodeJSON(dec *jsontext.Decoder) error {
*x = %s{}
if ok, err := codec.Begin(dec, '{'); !ok {
return err
}
for {
name, err := codec.Name(dec)
if name == nil || err != nil {
return err
}
switch string(name) {
`, t.name, t.name)
	for _, f := range t.fields {
		g.printf("case `%s`:\n", quote(f.json))
		g.decodeValue(f.typ, "x."+f.name)
	}
	g.printf("default:\nerr = dec.SkipValue()\n}\nif err != nil {\nreturn err\n}\n}\n}\n\n")
}

// decodeValue writes statements that read into x and set err.
func (g *generator) decodeValue(t *typ, x string) {
	if fn := g.reader(t); fn != "" {
		g.printf("%s, err = %s\n", x, fn)
		return
	}
	switch t.kind {
	case kindStruct, kindCustom:
		g.printf("err = %s.DecodeJSON(dec)\n", x)
	case kindSlice:
		g.printf("%s, err = codec.Slice(dec, %s)\n", x, g.element(t.elem))
	case kindPointer:
		g.printf("%s, err = codec.Pointer(dec, %s)\n", x, g.element(t.elem))
	default: // a named type without a reader of its own
		basic, call := "string", "codec.String(dec)"
		switch t.kind {
		case kindBool:
			basic, call = "bool", "codec.Bool(dec)"
		case kindInt:
			basic, call = "int64", fmt.Sprintf("codec.Int(dec, %d)", t.bits)
		case kindUint:
			basic, call = "uint64", fmt.Sprintf("codec.Uint(dec, %d)", t.bits)
		}
		g.printf("var v %s\nv, err = %s\n%s = %s(v)\n", basic, call, x, t.expr)
	}
}

// reader returns the call that reads a value of exactly type t, or "".
func (g *generator) reader(t *typ) string {
	switch {
	case t.kind == kindString && t.name != "" && len(t.pkg.consts[t.name]) > 0:
		name := enumName(t, g.home)
		if g.enums[name] == nil {
			g.enums[name] = t
			g.enumOrder = append(g.enumOrder, name)
		}
		return name + "(dec)"
	case t.expr == "string":
		return "codec.String(dec)"
	case t.expr == "bool":
		return "codec.Bool(dec)"
	case t.expr == "int64":
		return "codec.Int(dec, 64)"
	case t.expr == "uint64":
		return "codec.Uint(dec, 64)"
	case t.kind == kindRaw:
		return "codec.Raw(dec)"
	case t.expr == "[]string":
		return "codec.Strings(dec)"
	}
	return ""
}

// element returns a function that reads one value through a pointer.
func (g *generator) element(t *typ) string {
	if t.kind == kindStruct || t.kind == kindCustom {
		return "(*" + t.expr + ").DecodeJSON"
	}
	outer := g.body
	g.body = bytes.Buffer{}
	g.decodeValue(t, "*x")
	inner := g.body.String()
	g.body = outer
	return "func(x *" + t.expr + ", dec *jsontext.Decoder) (err error) {\n" + inner + "return err\n}"
}

// mapMethod writes MapText, or mapText.
func (g *generator) mapMethod(t *typ, event bool) {
	if !t.hasText(nil) {
		if event {
			g.printf("func (*%s) %s(func(string) string) {}\n\n", t.name, g.mapText)
		}
		return
	}
	if g.mapText == "MapText" {
		g.printf("// MapText replaces every text that a person, a model, a tool or a server may\n// have written by f of it. Slices and pointers with text are copied first.\n")
	}
	g.printf("func (x *%s) %s(f func(string) string) {\n", t.name, g.mapText)
	for _, f := range t.fields {
		if f.isText(nil) {
			g.mapValue(f.typ, "x."+f.name, f.rein, 0)
		}
	}
	g.printf("}\n\n")
}

func (g *generator) mapValue(t *typ, x, rein string, depth int) {
	switch t.kind {
	case kindString:
		switch {
		case rein == "json":
			g.printf("%s = codec.MapJSON(%s, f)\n", x, x)
		case t.name != "":
			g.printf("%s = %s(f(string(%s)))\n", x, t.expr, x)
		default:
			g.printf("%s = f(%s)\n", x, x)
		}
	case kindRaw:
		g.printf("%s = codec.MapRaw(%s, f)\n", x, x)
	case kindStruct:
		name := g.mapText
		if t.pkg != g.home {
			name = "MapText"
		}
		g.printf("%s.%s(f)\n", x, name)
	case kindPointer:
		v := "p" + index(depth)
		g.printf("if %s != nil {\n%s := *%s\n", x, v, x)
		g.mapValue(t.elem, v, rein, depth+1)
		g.printf("%s = &%s\n}\n", x, v)
	case kindSlice:
		i := index(depth)
		g.printf("%s = slices.Clone(%s)\nfor %s := range %s {\n", x, x, i, x)
		g.mapValue(t.elem, x+"["+i+"]", rein, depth+1)
		g.printf("}\n")
	}
}
