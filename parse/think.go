package parse

import (
	"strings"
	"unicode"

	"rein.example/rein/dialect"
)

// The marks of reasoning are of three kinds: tags, such as <think>, which models
// write in any case and perhaps with blanks before the '>'; tokens, which are
// what they are; and sentences, with which a reply begins.

// thinkToken is how the tokens begin that do so with no '<' and no '['.
const thinkToken = "◁"

// thinkTags are those that are tags, and thinkTokens and thinkSentences the
// others. Each tag is the name in it.
var thinkTags, thinkTokens, thinkSentences = func() (tags, tokens, sentences []thinkPair) {
	for _, m := range dialect.Thinking() {
		p := thinkPair{Span: m}
		name, isTag := strings.CutPrefix(m.Open, "<")
		name, ends := strings.CutSuffix(name, ">")
		switch {
		case isTag && ends && m.Close == "</"+name+">":
			p.tag = name
			tags = append(tags, p)
		case strings.HasPrefix(m.Open, "<"), strings.HasPrefix(m.Open, "["), strings.HasPrefix(m.Open, thinkToken):
			tokens = append(tokens, p)
		case m.Half:
			tokens = append(tokens, p) // its end is one
		default:
			sentences = append(sentences, p)
		}
	}
	return
}()

// thinkFirst are the first letters of the names of tags of reasoning, in lower
// case, and thinkSecond the second bytes of tokens of it.
var thinkFirst, thinkSecond = func() (first, second [256]bool) {
	for _, p := range thinkTags {
		first[p.tag[0]|0x20] = true
	}
	for _, p := range thinkTokens {
		second[p.Open[1]] = true
		if p.Half {
			second[p.Close[1]] = true
		}
	}
	return
}()

// thinkPair is a pair of marks, and the name in it if they are tags.
type thinkPair struct {
	dialect.Span
	tag string
}

// maxTagBlanks is how many blanks may stand before the end of a tag.
const maxTagBlanks = 8

// thinkTag returns the pair that the tag at s[i] is of, whether it closes, and
// where it ends. more: s ends before that is sure.
func thinkTag(s string, i int) (p *thinkPair, shut bool, end int, more bool) {
	if s[i] != '<' {
		return nil, false, i, false
	}
	j := i + 1
	if j < len(s) && s[j] == '/' {
		shut, j = true, j+1
	}
	end = j
	if j < len(s) && !thinkFirst[s[j]|0x20] {
		return nil, shut, i, false
	}
	for end < len(s) && end-j <= maxToolName && (letter(s[end]) || s[end] == ':') {
		end++
	}
	name := s[j:end]
	for k := range thinkTags {
		t := &thinkTags[k]
		if end == len(s) && len(name) < len(t.tag) && strings.EqualFold(name, t.tag[:len(name)]) {
			more = true
		}
		if len(name) == len(t.tag) && strings.EqualFold(name, t.tag) {
			p = t
		}
	}
	if p == nil {
		return nil, shut, i, more
	}
	for from := end; end < len(s) && end-from < maxTagBlanks && (s[end] == ' ' || s[end] == '\t'); {
		end++
	}
	switch {
	case end == len(s):
		return nil, shut, i, true
	case s[end] != '>':
		return nil, shut, i, more
	}
	return p, shut, end + 1, false
}

// thinkMarkAt returns the pair that the mark of reasoning at s[i] is of, if there
// is one, whether it closes, and where it ends.
func (in *Input) thinkMarkAt(s string, i int) (p *thinkPair, shut bool, end int) {
	if p, shut, end, _ = thinkTag(s, i); p != nil {
		if in.elsewise(p) {
			return nil, false, i
		}
		return p, shut, end
	}
	if i+1 == len(s) || !thinkSecond[s[i+1]] {
		return nil, false, i
	}
	for k := range thinkTokens {
		t := &thinkTokens[k]
		if standsAt(s, i, t.Open) {
			return t, false, i + len(t.Open)
		}
		if t.Half && standsAt(s, i, t.Close) {
			return t, true, i + len(t.Close)
		}
	}
	return nil, false, i
}

// elsewise reports whether a tag is one of a call: a tool has its name, and it is
// none that every model thinks in.
func (in *Input) elsewise(p *thinkPair) bool {
	return !strings.HasPrefix(p.tag, "think") && in.declared(p.tag)
}

// thinkSentence returns the pair of sentences of which the first begins a text, or
// nil, and where it stands.
func thinkSentence(s string) (p *thinkPair, at int) {
	at = skip(s, 0)
	for k := range thinkSentences {
		if t := &thinkSentences[k]; strings.HasPrefix(s[at:], t.Open) {
			return t, at
		}
	}
	return nil, at
}

// sure reports whether what is marked so is reasoning even if it never ends.
func (p *thinkPair) sure() bool {
	return p.tag != "" || strings.IndexByte("<[", p.Open[0]) >= 0 || strings.HasPrefix(p.Open, thinkToken)
}

// shutMemo is memo for the tag that closes reasoning.
type shutMemo struct {
	from, at, end int
}

// shut returns where the mark that closes reasoning stands at or after s[i], and
// where it ends; len(s) if there is none.
func (r *reading) shut(p *thinkPair, i int) (at, end int) {
	if p.tag == "" {
		at = r.spot(p.Close, i)
		return at, min(at+len(p.Close), len(r.s))
	}
	m := r.shuts[p]
	switch {
	case m == nil:
		if r.shuts == nil {
			r.shuts = map[*thinkPair]*shutMemo{}
		}
		m = &shutMemo{}
		r.shuts[p] = m
	case m.from <= i && i <= m.at:
		return m.at, m.end
	case i < m.from:
		if at, end, _ := p.shutIn(r.s[:m.from], i); at < end {
			m.at, m.end = at, end
		}
		m.from = i
		return m.at, m.end
	}
	m.from = i
	m.at, m.end, _ = p.shutIn(r.s, i)
	return m.at, m.end
}

// shutIn returns where the mark that closes reasoning stands at or after s[i], and
// where it ends, or len(s) twice; then it can stand from s[may] on only.
func (p *thinkPair) shutIn(s string, i int) (at, end, may int) {
	if p.tag == "" {
		if k := strings.Index(s[i:], p.Close); k >= 0 {
			return i + k, i + k + len(p.Close), i + k
		}
		return len(s), len(s), len(s) - halfOf(s[i:], p.Close)
	}
	for i < len(s) {
		k := strings.Index(s[i:], "</")
		if k < 0 {
			break
		}
		i += k
		t, _, end, more := thinkTag(s, i)
		switch {
		case t == p:
			return i, end, i
		case more:
			return len(s), len(s), i
		}
		i += 2
	}
	return len(s), len(s), len(s) - halfOf(s[min(i, len(s)):], "</")
}

// halfOf returns the length of the longest beginning of mark, not all of it, that
// s ends with.
func halfOf(s, mark string) int {
	for n := min(len(s), len(mark)-1); n > 0; n-- {
		if strings.HasSuffix(s, mark[:n]) {
			return n
		}
	}
	return 0
}

// thinkBody returns reasoning without its marks.
func thinkBody(s string, t span) span {
	t.from += len(s[t.from:t.to]) - len(strings.TrimLeftFunc(s[t.from:t.to], unicode.IsSpace))
	t.to = t.from + len(strings.TrimRightFunc(s[t.from:t.to], unicode.IsSpace))
	p, body := opensWith(s[:t.to], t.from)
	if p != nil {
		t.from = body
		t.to = p.shutEnd(s[:t.to], body)
		return t
	}
	for _, list := range [...][]thinkPair{thinkTags, thinkTokens} {
		for k := range list {
			if end := list[k].shutEnd(s[:t.to], t.from); list[k].Half && end < t.to {
				t.to = end
				return t
			}
		}
	}
	return t
}

// opensWith returns the pair of marks of which the first stands at s[i].
func opensWith(s string, i int) (p *thinkPair, end int) {
	if i == len(s) {
		return nil, i
	}
	if p, shut, end, _ := thinkTag(s, i); p != nil && !shut {
		return p, end
	}
	for _, list := range [...][]thinkPair{thinkTokens, thinkSentences} {
		for k := range list {
			if strings.HasPrefix(s[i:], list[k].Open) {
				return &list[k], i + len(list[k].Open)
			}
		}
	}
	return nil, i
}

// shutEnd returns where the mark begins that s[from:] ends with, if it closes p;
// else len(s).
func (p *thinkPair) shutEnd(s string, from int) int {
	if p.tag == "" {
		return len(s) - len(s[from:]) + len(strings.TrimSuffix(s[from:], p.Close))
	}
	k := strings.LastIndexByte(s[from:], '<')
	if k < 0 {
		return len(s)
	}
	if t, shut, end, _ := thinkTag(s, from+k); t == p && shut && end == len(s) {
		return from + k
	}
	return len(s)
}
