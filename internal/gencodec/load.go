package main

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// pkg is what the generator knows of one package: declarations only.
type pkg struct {
	path, name, dir string
	fset            *token.FileSet
	types           map[string]*ast.TypeSpec
	// file is the file that declares a type, for its imports.
	file map[string]*ast.File
	// order lists the types in the order of files and declarations.
	order []string
	// methods holds "Type.Method".
	methods map[string]bool
	// consts lists the names of the string constants of a named type.
	consts map[string][]constant
}

type constant struct{ name, value string }

// loader reads packages of one module, each once.
type loader struct {
	module, root string
	pkgs         map[string]*pkg
	// skip is the name of the generated file, which is not read.
	skip string
}

// newLoader finds the module that dir belongs to.
func newLoader(dir, skip string) (*loader, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for {
		f, err := os.Open(filepath.Join(root, "go.mod"))
		if err == nil {
			defer f.Close()
			for s := bufio.NewScanner(f); s.Scan(); {
				if m, ok := strings.CutPrefix(s.Text(), "module "); ok {
					return &loader{module: strings.TrimSpace(m), root: root, pkgs: map[string]*pkg{}, skip: skip}, nil
				}
			}
			return nil, fmt.Errorf("no module line in %s", f.Name())
		}
		up := filepath.Dir(root)
		if up == root {
			return nil, fmt.Errorf("%s is in no Go module", dir)
		}
		root = up
	}
}

// dir loads the package in a folder.
func (l *loader) dir(dir string) (*pkg, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(l.root, abs)
	if err != nil {
		return nil, err
	}
	return l.load(path.Join(l.module, filepath.ToSlash(rel)))
}

// load reads the package with the given import path, which is of this module.
func (l *loader) load(importPath string) (*pkg, error) {
	if p := l.pkgs[importPath]; p != nil {
		return p, nil
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(importPath, l.module), "/")
	p := &pkg{
		path: importPath, dir: filepath.Join(l.root, filepath.FromSlash(rel)), fset: token.NewFileSet(),
		types: map[string]*ast.TypeSpec{}, file: map[string]*ast.File{},
		methods: map[string]bool{}, consts: map[string][]constant{},
	}
	l.pkgs[importPath] = p
	names, err := filepath.Glob(filepath.Join(p.dir, "*.go"))
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || filepath.Base(name) == l.skip {
			continue
		}
		f, err := parser.ParseFile(p.fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.name = f.Name.Name
		for _, d := range f.Decls {
			p.declare(f, d)
		}
	}
	if p.name == "" {
		return nil, fmt.Errorf("no Go files in %s", p.dir)
	}
	return p, nil
}

func (p *pkg) declare(f *ast.File, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil {
			t := d.Recv.List[0].Type
			if s, ok := t.(*ast.StarExpr); ok {
				t = s.X
			}
			if id, ok := t.(*ast.Ident); ok {
				p.methods[id.Name+"."+d.Name.Name] = true
			}
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				p.types[s.Name.Name] = s
				p.file[s.Name.Name] = f
				p.order = append(p.order, s.Name.Name)
			case *ast.ValueSpec:
				p.declareConsts(d.Tok, s)
			}
		}
	}
}

// declareConsts notes constants that are written out with a type and a string.
func (p *pkg) declareConsts(tok token.Token, s *ast.ValueSpec) {
	id, ok := s.Type.(*ast.Ident)
	if tok != token.CONST || !ok {
		return
	}
	for i, v := range s.Values {
		lit, ok := v.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			continue
		}
		if val, err := strconv.Unquote(lit.Value); err == nil {
			p.consts[id.Name] = append(p.consts[id.Name], constant{s.Names[i].Name, val})
		}
	}
}

// imported returns the import path that a package name stands for in the file
// that declares a type.
func (p *pkg) imported(typeName, name string) string {
	for _, im := range p.file[typeName].Imports {
		ip, err := strconv.Unquote(im.Path.Value)
		if err != nil {
			continue
		}
		if im.Name != nil && im.Name.Name == name || im.Name == nil && path.Base(ip) == name {
			return ip
		}
	}
	return ""
}

// uniqueConsts returns a type's constants without those of an equal value.
func (p *pkg) uniqueConsts(typeName string) []constant {
	seen := map[string]constant{}
	var out []constant
	for _, c := range p.consts[typeName] {
		if _, dup := seen[c.value]; !dup {
			seen[c.value] = c
			out = append(out, c)
		}
	}
	return out
}
