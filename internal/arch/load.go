package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Tree is a module as the go command sees it, with its packages in order of
// their paths. Test files are not part of it.
type Tree struct {
	Module   string
	Packages []*Package

	fset     *token.FileSet
	byPath   map[string]*Package
	standard map[string]bool
	// export maps import paths to files of export data.
	export map[string]string
}

// Package is one package of the module.
type Package struct {
	// Path is relative to the module; "." is its root.
	Path, Name string
	// Doc is the package comment as text.
	Doc string
	// Imports are direct, Deps all; both are full import paths.
	Imports, Deps []string
	// Files are parsed with comments; Types and Info belong to them.
	Files []*ast.File
	Types *types.Package
	Info  *types.Info
}

// listed is what the go command says of a package.
type listed struct {
	ImportPath, Name, Dir, Export string
	GoFiles, Imports, Deps        []string
	Standard                      bool
	Module                        *struct{ Path string }
	Error                         *struct{ Err string }
}

// Load reads the module in dir. It fails if a package does not compile.
func Load(dir string) (*Tree, error) {
	cmd := exec.Command("go", "list", "-export", "-deps",
		"-json=ImportPath,Name,Dir,Export,GoFiles,Imports,Deps,Standard,Module,Error", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages of %s: %w\n%s", dir, err, stderr.String())
	}
	module, err := modulePath(dir)
	if err != nil {
		return nil, err
	}
	t := &Tree{
		Module: module, fset: token.NewFileSet(), byPath: map[string]*Package{},
		standard: map[string]bool{}, export: map[string]string{},
	}
	var ours []*listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read the list of packages: %w", err)
		}
		if l.Error != nil {
			return nil, fmt.Errorf("package %s: %s", l.ImportPath, l.Error.Err)
		}
		t.standard[l.ImportPath] = l.Standard
		t.export[l.ImportPath] = l.Export
		if l.Module != nil && l.Module.Path == module && len(l.GoFiles) > 0 {
			ours = append(ours, &l)
		}
	}
	return t, t.check(ours)
}

// check parses and type-checks the module's packages.
func (t *Tree) check(ours []*listed) error {
	imports := importer.ForCompiler(t.fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(t.export[path])
	})
	for _, l := range ours {
		path, _ := t.relative(l.ImportPath)
		p := &Package{Path: path, Name: l.Name, Imports: l.Imports, Deps: l.Deps}
		p.Info = &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{},
			Uses:  map[*ast.Ident]types.Object{},
			Defs:  map[*ast.Ident]types.Object{},
		}
		for _, name := range l.GoFiles {
			f, err := parser.ParseFile(t.fset, filepath.Join(l.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return fmt.Errorf("parse %s: %w", name, err)
			}
			p.Files = append(p.Files, f)
			if f.Doc != nil && p.Doc == "" {
				p.Doc = strings.Join(strings.Fields(f.Doc.Text()), " ")
			}
		}
		var err error
		conf := types.Config{Importer: imports}
		if p.Types, err = conf.Check(l.ImportPath, t.fset, p.Files, p.Info); err != nil {
			return fmt.Errorf("check the types of %s: %w", path, err)
		}
		t.Packages = append(t.Packages, p)
		t.byPath[path] = p
	}
	slices.SortFunc(t.Packages, func(a, b *Package) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

// relative returns the import path relative to the module, and whether it is in it.
func (t *Tree) relative(importPath string) (string, bool) {
	if importPath == t.Module {
		return ".", true
	}
	return strings.CutPrefix(importPath, t.Module+"/")
}

// modulePath returns the path of the module in dir.
func modulePath(dir string) (string, error) {
	cmd := exec.Command("go", "list", "-m")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("ask for the module's path in %s: %w", dir, err)
	}
	return strings.TrimSpace(string(out)), nil
}
