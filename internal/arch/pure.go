package arch

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// Purity returns what keeps the pure packages from being functions of their
// arguments: clocks, I/O, randomness, goroutines, the order of maps, and in
// those that fold, floating point.
func (t *Tree) Purity(l *Law) []string {
	var out []string
	for _, p := range t.Packages {
		if matches(l.Pure, p.Path) {
			v := &visitor{tree: t, law: l, p: p, integer: matches(l.Integer, p.Path)}
			out = append(out, v.all()...)
		}
	}
	return out
}

// State returns functions named init and assignments to variables of a package:
// state that nobody owns.
func (t *Tree) State() []string {
	var out []string
	for _, p := range t.Packages {
		for _, f := range p.Files {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					if n.Name.Name == "init" && n.Recv == nil {
						out = append(out, fmt.Sprintf("%s has a function init: %s", p.Path, t.at(n)))
					}
				case *ast.AssignStmt:
					for _, x := range n.Lhs {
						out = append(out, t.writes(p, x)...)
					}
				case *ast.IncDecStmt:
					out = append(out, t.writes(p, n.X)...)
				}
				return true
			})
		}
	}
	return out
}

// writes reports an assignment to x if x is, or lies in, a package's variable.
func (t *Tree) writes(p *Package, x ast.Expr) []string {
	for {
		switch e := x.(type) {
		case *ast.Ident:
			if v, ok := p.Info.Uses[e].(*types.Var); ok && v.Parent() == p.Types.Scope() {
				return []string{fmt.Sprintf("%s changes its variable %s: %s", p.Path, e.Name, t.at(x))}
			}
			return nil
		case *ast.IndexExpr:
			x = e.X
		case *ast.SelectorExpr:
			if id, ok := e.X.(*ast.Ident); ok {
				if _, pkg := p.Info.Uses[id].(*types.PkgName); pkg {
					return []string{fmt.Sprintf("%s changes the variable %s.%s: %s", p.Path, id.Name, e.Sel.Name, t.at(x))}
				}
			}
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.ParenExpr:
			x = e.X
		default:
			return nil
		}
	}
}

// visitor looks through one pure package.
type visitor struct {
	tree    *Tree
	law     *Law
	p       *Package
	integer bool
	// order has the lines on which a comment "order: …" says why a map's order
	// does not show; sorted has the calls whose result is sorted at once.
	order  map[int]bool
	sorted map[ast.Expr]bool
	out    []string
}

func (v *visitor) all() []string {
	for _, f := range v.p.Files {
		v.order, v.sorted = v.tree.orderComments(f), map[ast.Expr]bool{}
		for _, spec := range f.Imports {
			v.importSpec(spec)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if n != nil {
				v.node(n)
			}
			return true
		})
	}
	return v.out
}

// report adds a violation; one of a kind and line is enough.
func (v *visitor) report(n ast.Node, format string, args ...any) {
	s := v.p.Path + " " + fmt.Sprintf(format, args...) + ": " + v.tree.at(n)
	if !slices.Contains(v.out, s) {
		v.out = append(v.out, s)
	}
}

func (v *visitor) importSpec(spec *ast.ImportSpec) {
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return // it would not have compiled
	}
	if rel, ours := v.tree.relative(path); ours {
		if !matches(v.law.Pure, rel) && !matches(v.law.PureMayImport, rel) {
			v.report(spec, "imports %s, which is not pure", rel)
		}
		return
	}
	for _, ban := range v.law.Impure {
		if matches([]string{ban.Name}, path) {
			v.report(spec, "imports %s (%s)", path, ban.Why)
			return
		}
	}
}

func (v *visitor) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.GoStmt:
		v.report(n, "starts a goroutine")
	case *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
		v.report(n, "uses a channel")
	case *ast.CallExpr:
		v.call(n)
	case *ast.SelectorExpr:
		v.selector(n)
	case *ast.RangeStmt:
		v.rangeStmt(n)
	}
	if x, ok := n.(ast.Expr); ok && v.integer {
		v.float(x)
	}
}

// call remembers slices.Sorted(maps.Keys(m)): what a map gives is sorted at once.
func (v *visitor) call(n *ast.CallExpr) {
	if strings.HasPrefix(v.qualified(n.Fun), "slices.Sorted") && len(n.Args) > 0 {
		if inner, ok := n.Args[0].(*ast.CallExpr); ok {
			v.sorted[inner.Fun] = true
		}
	}
}

func (v *visitor) selector(n *ast.SelectorExpr) {
	name := v.qualified(n)
	for _, ban := range v.law.Calls {
		if ban.Name == name {
			v.report(n, "uses %s (%s)", name, ban.Why)
		}
	}
	switch name {
	case "maps.Keys", "maps.Values", "maps.All":
		if !v.sorted[n] && !v.excused(n) {
			v.report(n, "uses %s without sorting or a comment \"order: why\"", name)
		}
	}
}

// qualified returns "pkg.Name" with the package's whole import path if x names
// something of another package, else "".
func (v *visitor) qualified(x ast.Expr) string {
	if ix, ok := x.(*ast.IndexExpr); ok {
		x = ix.X
	}
	sel, ok := x.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	pkg, ok := v.p.Info.Uses[id].(*types.PkgName)
	if !ok {
		return ""
	}
	return pkg.Imported().Path() + "." + sel.Sel.Name
}

func (v *visitor) rangeStmt(n *ast.RangeStmt) {
	typ := v.p.Info.TypeOf(n.X)
	if typ == nil {
		return
	}
	switch typ.Underlying().(type) {
	case *types.Map:
		if !v.excused(n) {
			v.report(n, "ranges over a map without a comment \"order: why\"")
		}
	case *types.Chan:
		v.report(n, "uses a channel")
	}
}

// excused reports whether a comment on the node's line or the one above says
// why the order does not matter.
func (v *visitor) excused(n ast.Node) bool {
	line := v.tree.fset.Position(n.Pos()).Line
	return v.order[line] || v.order[line-1]
}

func (v *visitor) float(x ast.Expr) {
	tv, ok := v.p.Info.Types[x]
	if !ok || tv.Type == nil {
		return
	}
	if b, ok := tv.Type.Underlying().(*types.Basic); ok && b.Info()&(types.IsFloat|types.IsComplex) != 0 {
		v.report(x, "uses floating point")
	}
}

// orderComments returns the lines with a comment that begins with "order: ".
func (t *Tree) orderComments(f *ast.File) map[int]bool {
	lines := map[int]bool{}
	for _, group := range f.Comments {
		for _, c := range group.List {
			if text, ok := strings.CutPrefix(c.Text, "// order: "); ok && strings.TrimSpace(text) != "" {
				lines[t.fset.Position(c.Pos()).Line] = true
			}
		}
	}
	return lines
}

// at returns file:line of a node, the file without its folders.
func (t *Tree) at(n ast.Node) string {
	pos := t.fset.Position(n.Pos())
	name := pos.Filename[strings.LastIndexAny(pos.Filename, `/\`)+1:]
	return name + ":" + strconv.Itoa(pos.Line)
}
