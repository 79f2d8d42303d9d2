package http

import (
	"html"
	"strings"
)

// hidden are elements whose content is not for readers.
var hidden = map[string]bool{"script": true, "style": true, "noscript": true, "template": true, "svg": true, "math": true, "iframe": true, "object": true, "canvas": true, "select": true}

// raw are those in which < has no meaning until their end tag.
var raw = map[string]bool{"script": true, "style": true, "textarea": true, "title": true, "iframe": true, "noembed": true, "noframes": true, "xmp": true}

// blocks begin a new line; those with 2 a new paragraph.
var blocks = map[string]int{
	"address": 1, "article": 2, "aside": 2, "blockquote": 2, "body": 1, "br": 1, "caption": 1, "dd": 1, "details": 1, "div": 1, "dl": 2, "dt": 1, "fieldset": 1,
	"figcaption": 1, "figure": 2, "footer": 2, "form": 1, "h1": 2, "h2": 2, "h3": 2, "h4": 2, "h5": 2, "h6": 2, "header": 2, "hr": 2, "legend": 1, "li": 1, "main": 2,
	"nav": 2, "ol": 2, "option": 1, "p": 2, "pre": 2, "section": 2, "summary": 1, "table": 2, "tbody": 1, "thead": 1, "tfoot": 1, "tr": 1, "ul": 2,
}

// readable returns the text of an HTML page: headings with #, items with -, cells
// with |, links as [text](address), images as their alternative text. It takes
// linear time, and builds no tree, so depth costs nothing.
func readable(src string) (title, text string) {
	r := reader{}
	for i := 0; i < len(src); {
		j := strings.IndexByte(src[i:], '<')
		if j < 0 {
			r.text(src[i:])
			break
		}
		r.text(src[i : i+j])
		i += j
		t, n := readTag(src[i:])
		if n == 0 { // a < that begins nothing
			r.text("<")
			i++
			continue
		}
		i += n
		if t.name == "" { // a comment or a declaration
			continue
		}
		if raw[t.name] && !t.end {
			end := endOf(src[i:], t.name)
			if t.name == "title" && r.title == "" && r.hiding == "" {
				r.title = strings.Join(strings.Fields(html.UnescapeString(src[i:i+end])), " ")
			} else if !hidden[t.name] && t.name != "title" {
				r.text(src[i : i+end])
			}
			i += end
			continue
		}
		r.tag(&t)
	}
	return r.title, strings.TrimSpace(r.out.String())
}

// reader puts the text together.
type reader struct {
	out    strings.Builder
	title  string
	hiding string // the element that hides what is in it
	depth  int    // how often it is open within itself
	breaks int    // line ends to write before the next text
	space  bool   // a space to write before it
	pre    int
	cell   bool
	begun  bool
	links  []link
}

// link is an open <a>.
type link struct{ href string }

// maxLinks bounds how many are open at once: more are a page's mistake.
const maxLinks = 16

func (r *reader) tag(t *tag) {
	if r.hiding != "" {
		switch {
		case t.name != r.hiding || t.empty:
		case t.end:
			if r.depth--; r.depth == 0 {
				r.hiding = ""
			}
		default:
			r.depth++
		}
		return
	}
	if hidden[t.name] && !t.end && !t.empty {
		r.hiding, r.depth = t.name, 1
		return
	}
	if n := blocks[t.name]; n > r.breaks {
		r.breaks, r.cell = n, false
	}
	switch t.name {
	case "h1", "h2", "h3", "h4", "h5", "h6":
		if !t.end {
			r.put(strings.Repeat("#", int(t.name[1]-'0')) + " ")
		}
	case "li":
		if !t.end {
			r.put("- ")
		}
	case "hr":
		r.put("---")
		r.breaks = 2
	case "td", "th":
		if !t.end {
			if r.cell {
				r.put(" | ")
			}
			r.cell, r.space = true, false
		}
	case "pre":
		if !t.end {
			r.pre++
		} else if r.pre > 0 {
			r.pre--
		}
	case "img":
		if alt := strings.TrimSpace(t.attrs["alt"]); alt != "" {
			r.words("[image: " + alt + "]")
		}
	case "a":
		r.link(t)
	}
}

func (r *reader) link(t *tag) {
	if !t.end {
		if len(r.links) == maxLinks {
			return
		}
		href := strings.TrimSpace(t.attrs["href"])
		if href == "" || strings.HasPrefix(href, "#") || strings.HasPrefix(strings.ToLower(href), "javascript:") || strings.HasPrefix(strings.ToLower(href), "data:") {
			href = ""
		}
		if href != "" {
			r.flush()
			r.out.WriteByte('[')
			r.begun = true
		}
		r.links = append(r.links, link{href})
		return
	}
	if len(r.links) == 0 {
		return
	}
	last := r.links[len(r.links)-1]
	r.links = r.links[:len(r.links)-1]
	if last.href != "" {
		r.out.WriteString("](" + strings.Join(strings.Fields(last.href), "%20") + ")")
	}
}

// text takes text between tags.
func (r *reader) text(s string) {
	if r.hiding != "" || s == "" {
		return
	}
	s = html.UnescapeString(s)
	if r.pre > 0 {
		r.put(s)
		return
	}
	r.words(s)
}

// words writes a text with white space made one space.
func (r *reader) words(s string) {
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && !blank(s[j]) {
			j++
		}
		if j > i {
			r.put(s[i:j])
		}
		for i = j; i < len(s) && blank(s[i]); i++ {
			r.space = true
		}
	}
}

func blank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

// put writes a text as it is.
func (r *reader) put(s string) {
	if s == "" {
		return
	}
	r.flush()
	r.out.WriteString(s)
	r.begun = true
}

// flush writes the breaks and the space that are due.
func (r *reader) flush() {
	switch {
	case r.breaks > 0 && r.begun:
		r.out.WriteString("\n\n"[:min(r.breaks, 2)])
	case r.space && r.begun && r.breaks == 0:
		r.out.WriteByte(' ')
	}
	r.breaks, r.space = 0, false
}

// tag is a tag of a page; without a name a comment or a declaration.
type tag struct {
	name       string
	end, empty bool
	attrs      map[string]string // those of interest, unescaped
}

// maxName is the longest name that matters.
const maxTagName = 32

// readTag reads the tag at the beginning of s and returns how long it is; 0 if there
// is none. What has no end goes on to the end of s.
func readTag(s string) (t tag, n int) {
	if len(s) < 2 {
		return t, 0
	}
	switch c := s[1]; {
	case c == '!' || c == '?':
		end := ">"
		if strings.HasPrefix(s, "<!--") {
			end = "-->"
		}
		if i := strings.Index(s, end); i >= 0 {
			return t, i + len(end)
		}
		return t, len(s)
	case c == '/':
		t.end = true
	case c|0x20 < 'a' || c|0x20 > 'z':
		return t, 0
	}
	i := 1
	if t.end {
		i++
	}
	start := i
	for i < len(s) && !blank(s[i]) && s[i] != '>' && s[i] != '/' {
		i++
	}
	t.name = strings.ToLower(s[start:min(i, start+maxTagName)])
	if t.name == "" {
		t.name = "?"
	}
	for i < len(s) {
		switch c := s[i]; {
		case c == '>':
			return t, i + 1
		case blank(c):
			i++
		case c == '/':
			t.empty = i+1 < len(s) && s[i+1] == '>'
			i++
		default:
			i = t.attribute(s, i)
		}
	}
	return t, len(s)
}

// attribute reads the attribute at i and returns where it ends.
func (t *tag) attribute(s string, i int) int {
	start := i
	i++ // an = at the beginning belongs to the name
	for i < len(s) && !blank(s[i]) && s[i] != '=' && s[i] != '>' && s[i] != '/' {
		i++
	}
	name := s[start:i]
	for i < len(s) && blank(s[i]) {
		i++
	}
	if i == len(s) || s[i] != '=' {
		return i
	}
	for i++; i < len(s) && blank(s[i]); i++ {
	}
	if i == len(s) {
		return i
	}
	var value string
	if q := s[i]; q == '"' || q == '\'' {
		end := strings.IndexByte(s[i+1:], q)
		if end < 0 {
			return len(s)
		}
		value, i = s[i+1:i+1+end], i+end+2
	} else {
		from := i
		for i < len(s) && !blank(s[i]) && s[i] != '>' {
			i++
		}
		value = s[from:i]
	}
	if name = strings.ToLower(short(name, 16)); name == "href" || name == "alt" {
		if t.attrs == nil {
			t.attrs = map[string]string{}
		}
		if _, ok := t.attrs[name]; !ok {
			t.attrs[name] = html.UnescapeString(value)
		}
	}
	return i
}

// endOf returns where the end tag of an element of raw text begins.
func endOf(s, name string) int {
	for i := 0; ; {
		j := strings.Index(s[i:], "</")
		if j < 0 {
			return len(s)
		}
		i += j
		if rest := s[i+2:]; len(rest) >= len(name) && strings.EqualFold(rest[:len(name)], name) {
			return i
		}
		i += 2
	}
}
