package event

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"rein.example/rein/internal/gencodec/codec"
)

// secret is what was registered or hidden.
type secret struct {
	name, value string
	hidden      bool
}

// pattern is one form in which a secret's value may stand in text.
type pattern struct {
	text string
	// name is what replaces it.
	name string
}

// matcher finds the patterns of all registered secrets. It does not change.
type matcher struct {
	// secrets and their patterns in the order in which they were added.
	secrets  []secret
	patterns []pattern
	// byName gives the text for a name without its braces. Hidden secrets are
	// not in it.
	byName map[string]string
	// starts has a bit for each pair of bytes that a pattern begins with, and
	// byStart those patterns, the longest first. All have at least two bytes.
	starts  [1 << 16 / 64]uint64
	byStart map[uint16][]pattern
	// first tells the bytes that a pattern begins with.
	first [256]bool
}

const (
	nameOpen  = "{{secret:"
	nameClose = "}}"
	// maxForm is more than the longest name of a form.
	maxForm = 16
)

// known returns the secrets; m may be nil.
func (m *matcher) known() []secret {
	if m == nil {
		return nil
	}
	return m.secrets
}

// with returns a matcher for one more secret; m may be nil.
func (m *matcher) with(add secret) (*matcher, error) {
	n := &matcher{byName: map[string]string{}, byStart: map[uint16][]pattern{}}
	if m != nil {
		n.secrets = slices.Clone(m.secrets)
		n.patterns = slices.Clone(m.patterns)
		maps.Copy(n.byName, m.byName)
	}
	n.secrets = append(n.secrets, add)
	old := len(n.patterns)
	for _, f := range forms(add.value) {
		full := add.name
		if f.name != "" {
			full += ":" + f.name
		}
		if !add.hidden {
			n.byName[full] = f.text
		}
		n.patterns = append(n.patterns, pattern{f.text, nameOpen + full + nameClose})
	}
	for i, p := range n.patterns {
		for k, q := range n.patterns {
			if (i >= old || k >= old) && strings.Contains(q.name, p.text) {
				return nil, fmt.Errorf("a registered value is a part of %s, a name as it stands in text: use another value or name", q.name)
			}
		}
		key := uint16(p.text[0])<<8 | uint16(p.text[1])
		n.starts[key/64] |= 1 << (key % 64)
		n.first[p.text[0]] = true
		n.byStart[key] = append(n.byStart[key], p)
	}
	for _, ps := range n.byStart { // order: each list is sorted by itself
		slices.SortStableFunc(ps, func(a, b pattern) int { return cmp.Compare(len(b.text), len(a.text)) })
	}
	return n, nil
}

// at returns the longest pattern at s[i:], nil if there is none, and whether a
// longer one may be there once s goes on.
func (m *matcher) at(s string, i int) (found *pattern, open bool) {
	if i+1 == len(s) {
		return nil, m.first[s[i]]
	}
	key := uint16(s[i])<<8 | uint16(s[i+1])
	if m.starts[key/64]&(1<<(key%64)) == 0 {
		return nil, false
	}
	ps := m.byStart[key]
	for k := range ps {
		switch {
		case strings.HasPrefix(s[i:], ps[k].text):
			return &ps[k], open
		case strings.HasPrefix(ps[k].text, s[i:]):
			open = true
		}
	}
	return nil, open
}

// redact returns s[:done] redacted. If final, done is len(s); else it is less
// where s may end within a value.
func (m *matcher) redact(s string, final bool) (out string, done int) {
	var b strings.Builder
	kept := 0 // s[:kept] is in b
	for i := 0; i < len(s); {
		p, open := m.at(s, i)
		if open && !final {
			return take(&b, s[kept:i]), i
		}
		if p == nil {
			i++
			continue
		}
		// Another value may begin within this one and reach beyond it.
		names, end := p.name, i+len(p.text)
		for k := i + 1; k < end; k++ {
			q, open := m.at(s, k)
			if open && !final {
				return take(&b, s[kept:i]), i
			}
			if q != nil && k+len(q.text) > end {
				names += q.name
				end = k + len(q.text)
			}
		}
		b.WriteString(s[kept:i])
		b.WriteString(names)
		i, kept = end, end
	}
	return take(&b, s[kept:]), len(s)
}

// take returns what is in b and then rest, without a copy if b is empty.
func take(b *strings.Builder, rest string) string {
	if b.Len() == 0 {
		return rest
	}
	b.WriteString(rest)
	return b.String()
}

// reveal replaces names by what they stand for.
func (m *matcher) reveal(s string) string {
	var b strings.Builder
	kept := 0
	for i := 0; ; {
		n := strings.Index(s[i:], nameOpen)
		if n < 0 {
			return take(&b, s[kept:])
		}
		start := i + n
		i = start + len(nameOpen)
		rest := s[i:min(len(s), i+MaxSecretName+1+maxForm+len(nameClose))]
		name, _, ok := strings.Cut(rest, nameClose)
		text, known := m.byName[name]
		if !ok || !known {
			continue
		}
		b.WriteString(s[kept:start])
		b.WriteString(text)
		i += len(name) + len(nameClose)
		kept = i
	}
}

// form is a way to write a value.
type form struct{ name, text string }

// forms returns the distinct forms of a value, itself first.
func forms(value string) []form {
	all := []form{{"", value}}
	add := func(name, text string) {
		// A very short form would be found by chance.
		if len(text) >= MinSecret-1 && !slices.ContainsFunc(all, func(f form) bool { return f.text == text }) {
			all = append(all, form{name, text})
		}
	}
	quoted := string(codec.AppendString(nil, value))
	add("json", quoted[1:len(quoted)-1])
	add("json_ascii", asciiJSON(value))
	query, path := url.QueryEscape(value), url.PathEscape(value)
	add("query", query)
	add("query_lower", lowerEscapes(query))
	add("path", path)
	add("path_lower", lowerEscapes(path))
	for shift := range 3 {
		add(fmt.Sprint("base64_", shift), innerBase64(base64.RawStdEncoding, value, shift))
	}
	for shift := range 3 {
		add(fmt.Sprint("base64url_", shift), innerBase64(base64.RawURLEncoding, value, shift))
	}
	return all
}

// asciiJSON is the inside of a JSON string as writers put it that escape
// everything outside ASCII, and <, > and &.
func asciiJSON(s string) string {
	quoted := string(codec.AppendString(nil, s))
	var b strings.Builder
	for _, r := range quoted[1 : len(quoted)-1] {
		switch {
		case r >= 0x10000:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		case r >= 0x7f || r == '<' || r == '>' || r == '&':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// lowerEscapes writes %2F as %2f.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], strings.ToLower(s[i+1:i+3]))
			i += 2
		}
	}
	return string(b)
}

// innerBase64 is what a value looks like inside the base64 of a longer text, so
// many bytes modulo 3 after its start: the characters that depend on nothing
// but the value.
func innerBase64(enc *base64.Encoding, value string, shift int) string {
	all := enc.EncodeToString([]byte("\x00\x00"[:shift] + value))
	first := (shift*8 + 5) / 6
	return all[first : (shift+len(value))*8/6]
}
