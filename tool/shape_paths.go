package tool

import (
	"strings"

	"rein.example/rein/internal/jsontree"
)

// folders finds the folder that absolute paths have in common.
type folders struct {
	paths  []string       // at most maxPaths
	count  map[string]int // by the first two parts; looked up only
	prefix string         // what is taken out, with the slash at its end
	n      int            // how often it was
}

// maxPaths bounds the paths that are compared.
const maxPaths = 10_000

// shortenPaths takes the folder that paths in the text have in common out of it.
func (s *shaper) shortenPaths() {
	var f folders
	f.look(s.text)
	if f.choose() {
		s.text = f.shorten(s.text)
		s.shortened(&f)
	}
}

// shortenPaths does the same with the strings of a document.
func (d *document) shortenPaths() {
	var f folders
	eachString(d.root, func(n *jsontree.Node) { f.look(n.Text) })
	if f.choose() {
		eachString(d.root, func(n *jsontree.Node) { n.Text = f.shorten(n.Text) })
		d.shortened(&f)
	}
}

func eachString(n *jsontree.Node, visit func(*jsontree.Node)) {
	if n.Kind == jsontree.String {
		visit(n)
	}
	for i := range n.Kids {
		eachString(&n.Kids[i], visit)
	}
}

func (s *shaper) shortened(f *folders) {
	parts := strings.Split(strings.Trim(f.prefix, "/"), "/")
	s.note("%d paths are shown from below the folder …/%s, which they have in common", f.n, plainName(parts[len(parts)-1]))
	s.lossy = true
}

// look notes the absolute paths in a text.
func (f *folders) look(text string) {
	eachPath(text, func(_ int, path string) {
		top := topFolder(path)
		if top == "" || len(f.paths) == maxPaths {
			return
		}
		if f.count == nil {
			f.count = map[string]int{}
		}
		f.count[top]++
		f.paths = append(f.paths, path)
	})
}

// choose finds what is taken out: the folder that all paths have in common which
// begin with the same two parts, of the largest such set. It reports whether two
// paths have one.
func (f *folders) choose() bool {
	top := ""
	for _, p := range f.paths {
		if t := topFolder(p); f.count[t] > f.count[top] {
			top = t
		}
	}
	if f.count[top] < 2 {
		return false
	}
	for _, p := range f.paths {
		if topFolder(p) != top {
			continue
		}
		dir := p[:strings.LastIndexByte(p, '/')+1]
		if f.prefix == "" {
			f.prefix = dir
		}
		k := 0
		for k < len(dir) && k < len(f.prefix) && dir[k] == f.prefix[k] {
			k++
		}
		f.prefix = f.prefix[:strings.LastIndexByte(f.prefix[:k], '/')+1]
	}
	return true
}

// shorten returns a text whose paths begin below the folder.
func (f *folders) shorten(text string) string {
	var out strings.Builder
	copied := 0
	eachPath(text, func(at int, path string) {
		if strings.HasPrefix(path, f.prefix) && len(path) > len(f.prefix) {
			out.WriteString(text[copied:at])
			copied = at + len(f.prefix)
			f.n++
		}
	})
	if copied == 0 {
		return text
	}
	out.WriteString(text[copied:])
	return out.String()
}

// topFolder returns the first two parts of a path that has more, else "".
func topFolder(path string) string {
	at := 0
	for range 2 {
		i := strings.IndexByte(path[at+1:], '/')
		if i < 1 {
			return ""
		}
		at += 1 + i
	}
	return path[:at]
}

// Around a path there is one of these, or an end of the text.
const pathEnds = " \t\r\n\"'`()[]{}<>=,;|*?"

// eachPath calls visit with each absolute path in a text and where it begins.
// The path of a URL is none.
func eachPath(text string, visit func(at int, path string)) {
	for at := 0; at < len(text); {
		i := strings.IndexByte(text[at:], '/')
		if i < 0 {
			return
		}
		at += i
		end := strings.IndexAny(text[at:], pathEnds+":")
		if end < 0 {
			end = len(text) - at
		}
		begins := at == 0 || strings.IndexByte(pathEnds+":", text[at-1]) >= 0
		if path := text[at : at+end]; begins && len(path) > 1 && path[1] != '/' {
			visit(at, path)
		}
		at += end
	}
}
