package http

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// A template is a URL with holes, such as
// https://desk.example.com/orders/{id}?view=full&q={words}: in segments of its path,
// and as whole values of its query.
type template struct {
	base  *url.URL // scheme and host
	path  [][]piece
	query []pair
}

// piece is a text or a hole.
type piece struct {
	text string // decoded
	hole string
}

// pair is one name and value of a query.
type pair struct {
	name  string
	value piece
}

// maxHoles bounds the holes of a template.
const maxHoles = 64

// parseTemplate reads a template. Scheme and host stand in it as they are.
func parseTemplate(text string) (*template, error) {
	if len(text) > maxURL {
		return nil, fmt.Errorf("the URL has more than %d bytes", maxURL)
	}
	if strings.ContainsAny(text, "#") {
		return nil, errors.New("the URL has a fragment (#…), which no server gets: take it out")
	}
	path, query, _ := strings.Cut(text, "?")
	scheme, rest, ok := strings.Cut(path, "://")
	if !ok {
		return nil, errors.New("the URL has to have the form https://host/path")
	}
	host, path, _ := strings.Cut(rest, "/")
	if strings.ContainsAny(host, "{}") {
		return nil, errors.New("a parameter cannot stand in the host of a URL: who calls must not choose where a request goes")
	}
	base, err := url.Parse(scheme + "://" + host)
	if err != nil {
		return nil, errors.New("the URL has to have the form https://host/path")
	}
	if _, err := placeOf(base); err != nil {
		return nil, err
	}
	t := &template{base: base}
	if err := t.parsePath(path); err != nil {
		return nil, err
	}
	for part := range strings.SplitSeq(query, "&") {
		if part == "" {
			continue
		}
		if err := t.parsePair(part); err != nil {
			return nil, err
		}
	}
	switch names := t.holes(); {
	case len(names) > maxHoles:
		return nil, fmt.Errorf("the URL has more than %d parameters", maxHoles)
	case len(names) < strings.Count(text, "{"):
		return nil, errors.New("the URL has the same parameter twice: give the places different names")
	}
	return t, nil
}

func (t *template) parsePath(path string) error {
	for segment := range strings.SplitSeq(path, "/") {
		pieces, err := parsePieces(segment, url.PathUnescape)
		if err != nil {
			return err
		}
		if len(pieces) == 1 && dots(pieces[0].text) {
			return errors.New("the path of the URL has . or .. in it")
		}
		t.path = append(t.path, pieces)
	}
	return nil
}

func (t *template) parsePair(part string) error {
	name, value, _ := strings.Cut(part, "=")
	name, err := url.QueryUnescape(name)
	if err != nil || strings.ContainsAny(name, "{}") {
		return fmt.Errorf("the query of the URL has a name that cannot be read: %q", short(part, 80))
	}
	pieces, err := parsePieces(value, url.QueryUnescape)
	if err != nil {
		return err
	}
	if len(pieces) > 1 {
		return fmt.Errorf("in the query of the URL a parameter is a whole value: %q", short(part, 80))
	}
	p := pair{name: name}
	if len(pieces) == 1 {
		p.value = pieces[0]
	}
	t.query = append(t.query, p)
	return nil
}

// parsePieces takes a text with holes apart.
func parsePieces(text string, unescape func(string) (string, error)) ([]piece, error) {
	var out []piece
	for text != "" {
		open := strings.IndexAny(text, "{}")
		if open < 0 {
			open = len(text)
		}
		if open > 0 {
			plain, err := unescape(text[:open])
			if err != nil {
				return nil, fmt.Errorf("%q in the URL is not escaped as it has to be (%%41)", short(text[:open], 80))
			}
			out = append(out, piece{text: plain})
			text = text[open:]
			continue
		}
		end := strings.IndexByte(text, '}')
		if text[0] == '}' || end < 0 || !isHole(text[1:end]) {
			return nil, fmt.Errorf("a parameter in a URL has the form {name}, of letters, digits, dots, dashes and underscores: %q", short(text, 80))
		}
		out = append(out, piece{hole: text[1:end]})
		text = text[end+1:]
	}
	return out, nil
}

func isHole(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.") == ""
}

// holes returns the names of the holes in the path, then in the query, each once.
func (t *template) holes() []string {
	var out []string
	seen := map[string]bool{"": true}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	for _, segment := range t.path {
		for _, p := range segment {
			add(p.hole)
		}
	}
	for _, p := range t.query {
		add(p.value.hole)
	}
	return out
}

// inPath reports whether a hole is in the path.
func (t *template) inPath(name string) bool {
	for _, segment := range t.path {
		for _, p := range segment {
			if p.hole == name {
				return true
			}
		}
	}
	return false
}

// fill returns the URL without its query, given what stands in the holes of the
// path. A value cannot lead to another path: what servers take for a step up or for
// nothing is refused.
func (t *template) fill(value func(hole string) string) (*url.URL, error) {
	u := *t.base
	var decoded, escaped strings.Builder
	for _, segment := range t.path {
		var text strings.Builder
		holes := false
		for _, p := range segment {
			if p.hole == "" {
				text.WriteString(p.text)
				continue
			}
			holes = true
			v := value(p.hole)
			if v == "" {
				return nil, fmt.Errorf("%s is empty, which no part of a path can be", p.hole)
			}
			if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				return nil, fmt.Errorf("%s has control characters in it", p.hole)
			}
			text.WriteString(v)
		}
		s := text.String()
		if holes {
			for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '/' || r == '\\' }) {
				if dots(part) {
					return nil, errors.New(". and .. cannot stand in a path")
				}
			}
		}
		decoded.WriteString("/" + s)
		escaped.WriteString("/" + url.PathEscape(s))
	}
	u.Path, u.RawPath = decoded.String(), escaped.String()
	return &u, nil
}

// dots reports whether a segment of a path is a step to here or up, in a form that
// some server undoes once more.
func dots(s string) bool {
	switch strings.ReplaceAll(strings.ToLower(s), "%2e", ".") {
	case ".", "..":
		return true
	}
	return false
}
