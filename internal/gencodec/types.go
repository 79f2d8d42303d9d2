package main

import (
	"fmt"
	"go/ast"
	"reflect"
	"strconv"
	"strings"
)

// kind is how a type is written and read.
type kind int

const (
	kindString kind = iota
	kindBool
	kindInt
	kindUint
	kindRaw
	kindSlice
	kindPointer
	kindStruct
	kindCustom // has methods of its own
)

// typ is a resolved type.
type typ struct {
	kind kind
	// expr is how the type is written in the generated file.
	expr string
	// bits is the size of an integer.
	bits int
	// elem is the type of a slice's elements, or what a pointer points to.
	elem *typ
	// pkg and name are set for named types of this module.
	pkg  *pkg
	name string
	// zero is the zero value of a type with methods of its own.
	zero string
	// fields of a struct.
	fields []*field
}

// field is one member.
type field struct {
	name, json          string
	omitEmpty, omitZero bool
	rein                string
	typ                 *typ
}

// resolver turns declarations into types, as seen from package home.
type resolver struct {
	*loader
	home *pkg
	// done holds structs by "path.Name", so that a recursive type ends.
	done map[string]*typ
}

// named resolves a named type of package p.
func (r *resolver) named(p *pkg, name string) (*typ, error) {
	key := p.path + "." + name
	if t := r.done[key]; t != nil {
		return t, nil
	}
	spec := p.types[name]
	if spec == nil {
		return nil, fmt.Errorf("no type %s in %s", name, p.path)
	}
	t := &typ{pkg: p, name: name, expr: name}
	if p != r.home {
		t.expr = p.name + "." + name
	}
	r.done[key] = t
	if st, ok := spec.Type.(*ast.StructType); ok {
		t.kind = kindStruct
		return t, r.fields(t, st)
	}
	if p.methods[name+".AppendJSON"] && p.methods[name+".DecodeJSON"] {
		t.kind = kindCustom
		var err error
		t.zero, err = zero(t, spec.Type)
		return t, err
	}
	under, err := r.resolve(p, name, spec.Type)
	if err != nil {
		return nil, err
	}
	if under.kind > kindUint {
		return nil, fmt.Errorf("%s: a named %s needs AppendJSON and DecodeJSON methods of its own", key, under.expr)
	}
	t.kind, t.bits = under.kind, under.bits
	return t, nil
}

// zero returns the zero value of a named type as an expression.
func zero(t *typ, e ast.Expr) (string, error) {
	switch e := e.(type) {
	case *ast.ArrayType:
		if e.Len != nil {
			return "(" + t.expr + "{})", nil
		}
	case *ast.Ident:
		if b := basic(e.Name); b != nil && b.kind == kindString {
			return `""`, nil
		} else if b != nil && b.kind != kindBool {
			return "0", nil
		}
	}
	return "", fmt.Errorf("%s has methods of its own: it must be a string, an integer or an array", t.expr)
}

// resolve resolves a type expression inside the declaration of type in.
func (r *resolver) resolve(p *pkg, in string, e ast.Expr) (*typ, error) {
	switch e := e.(type) {
	case *ast.Ident:
		if t := basic(e.Name); t != nil {
			return t, nil
		}
		return r.named(p, e.Name)
	case *ast.SelectorExpr:
		id, ok := e.X.(*ast.Ident)
		if !ok {
			break
		}
		ip := p.imported(in, id.Name)
		switch {
		case strings.HasSuffix(ip, "/jsontext") && e.Sel.Name == "Value":
			return &typ{kind: kindRaw, expr: "jsontext.Value"}, nil
		case ip == r.module || strings.HasPrefix(ip, r.module+"/"):
			q, err := r.load(ip)
			if err != nil {
				return nil, err
			}
			return r.named(q, e.Sel.Name)
		}
		return nil, fmt.Errorf("type %s.%s is of no package of this module", id.Name, e.Sel.Name)
	case *ast.StarExpr:
		elem, err := r.resolve(p, in, e.X)
		if err != nil {
			return nil, err
		}
		return &typ{kind: kindPointer, expr: "*" + elem.expr, elem: elem}, nil
	case *ast.ArrayType:
		if e.Len != nil {
			break
		}
		elem, err := r.resolve(p, in, e.Elt)
		if err != nil {
			return nil, err
		}
		if elem.kind == kindUint && elem.bits == 8 {
			return nil, fmt.Errorf("type []byte has no one form in JSON: use a string or jsontext.Value")
		}
		return &typ{kind: kindSlice, expr: "[]" + elem.expr, elem: elem}, nil
	}
	return nil, fmt.Errorf("type %T is not supported", e)
}

func basic(name string) *typ {
	switch name {
	case "string":
		return &typ{kind: kindString, expr: name}
	case "bool":
		return &typ{kind: kindBool, expr: name}
	case "byte":
		return &typ{kind: kindUint, expr: name, bits: 8}
	}
	k, size := kindInt, ""
	switch {
	case strings.HasPrefix(name, "int"):
		size = name[len("int"):]
	case strings.HasPrefix(name, "uint"):
		k, size = kindUint, name[len("uint"):]
	default:
		return nil
	}
	switch size {
	case "":
		return &typ{kind: k, expr: name, bits: 64}
	case "8", "16", "32", "64":
		bits, _ := strconv.Atoi(size)
		return &typ{kind: k, expr: name, bits: bits}
	}
	return nil
}

// hasTags reports whether a struct has at least one json tag.
func hasTags(st *ast.StructType) bool {
	for _, f := range st.Fields.List {
		if f.Tag != nil && strings.Contains(f.Tag.Value, `json:"`) {
			return true
		}
	}
	return false
}

// fields fills in the members of struct t.
func (r *resolver) fields(t *typ, st *ast.StructType) error {
	if !hasTags(st) {
		return fmt.Errorf("struct %s has no json tags", t.expr)
	}
	seen := map[string]bool{}
	for _, f := range st.Fields.List {
		if len(f.Names) == 0 {
			return fmt.Errorf("struct %s: embedded fields are not supported", t.expr)
		}
		ft, err := r.resolve(t.pkg, t.name, f.Type)
		for _, id := range f.Names {
			where := t.name + "." + id.Name
			if err != nil {
				return fmt.Errorf("field %s: %w", where, err)
			}
			fd, err := newField(id.Name, f.Tag, ft)
			if err != nil {
				return fmt.Errorf("field %s: %w", where, err)
			}
			if seen[fd.json] {
				return fmt.Errorf("field %s: a second member named %q", where, fd.json)
			}
			seen[fd.json] = true
			t.fields = append(t.fields, fd)
		}
	}
	return nil
}

func newField(name string, tag *ast.BasicLit, t *typ) (*field, error) {
	if tag == nil {
		return nil, fmt.Errorf("no json tag, and others of the struct have one")
	}
	s, err := strconv.Unquote(tag.Value)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(reflect.StructTag(s).Get("json"), ",")
	f := &field{name: name, json: parts[0], typ: t, rein: reflect.StructTag(s).Get("rein")}
	if f.json == "" || f.json == "-" || strings.Trim(f.json, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return nil, fmt.Errorf("the member's name %q is not of the form a_b", f.json)
	}
	if !ast.IsExported(name) {
		return nil, fmt.Errorf("an unexported field cannot be a member")
	}
	for _, opt := range parts[1:] {
		switch opt {
		case "omitempty":
			f.omitEmpty = true
		case "omitzero":
			f.omitZero = true
		default:
			return nil, fmt.Errorf("json option %q is not supported", opt)
		}
	}
	if f.omitEmpty && t.kind == kindStruct {
		return nil, fmt.Errorf("omitempty does nothing for a struct: use omitzero")
	}
	return f, f.checkRein()
}

// checkRein refuses tags that would do nothing.
func (f *field) checkRein() error {
	t := f.typ
	for t.elem != nil && t.kind == kindSlice {
		t = t.elem
	}
	named := t.name != ""
	ok := false
	switch f.rein {
	case "":
		ok = true
	case "keep":
		ok = t.kind == kindString && !named || t.kind == kindRaw || t.hasText(nil)
	case "json":
		ok = t.kind == kindString && !named
	case "text":
		ok = t.kind == kindString && named
	}
	if !ok {
		return fmt.Errorf("tag rein:%q does nothing for type %s", f.rein, f.typ.expr)
	}
	return nil
}

// hasText reports whether values of the type hold text. seen ends recursion.
func (t *typ) hasText(seen map[*typ]bool) bool {
	switch t.kind {
	case kindString:
		return t.name == ""
	case kindRaw:
		return true
	case kindSlice, kindPointer:
		return t.elem.hasText(seen)
	case kindStruct:
		if seen[t] {
			return false
		}
		if seen == nil {
			seen = map[*typ]bool{}
		}
		seen[t] = true
		for _, f := range t.fields {
			if f.isText(seen) {
				return true
			}
		}
	}
	return false
}

// isText reports whether the field holds text.
func (f *field) isText(seen map[*typ]bool) bool {
	switch f.rein {
	case "keep":
		return false
	case "json", "text":
		return true
	}
	return f.typ.hasText(seen)
}
