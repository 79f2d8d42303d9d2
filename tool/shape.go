package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/internal/jsontree"
	"rein.example/rein/message"
)

// View says how the results of one tool are shown. It does not change and is
// safe for concurrent use.
type View struct {
	// Spec is the tool: its name, the schemas of its arguments and its result,
	// its limit, and how its results are shown.
	Spec *event.ToolSpec
	// Count counts tokens. It must not grow when text is taken away. It is called
	// about 25 times for a text that is cut, and up to 200 times for a JSON
	// document, with at most about twice what is shown.
	Count func(string) int
	// Call and Args are the call that the result is of. They make the words that
	// say how to get what is not shown.
	Call string
	Args jsontext.Value
	// Artifact: the model has [ReadArtifact], and can read there what is not
	// shown.
	Artifact bool
}

// Shaping says what [Shape] has made of a result. Sizes are of text, in bytes.
type Shaping struct {
	// Size is the whole text's, Shown what is shown of it, remarks included.
	Size, Shown int64
	// Cut: not everything is shown, or not as it was. Full is the whole text
	// then.
	Cut  bool
	Full string
	// Done says what was done, in the words of the first line.
	Done []string
}

// Shape returns what the model is shown of a result, at most as many tokens as
// the tool's limit; images and files are left as they are. Whatever is done to a
// text is said in a first line, with the totals and how to get the rest:
//
//   - A text that is one JSON object or list stays one: the members that the tool
//     declares are selected or left out, long lists are shown in part, long
//     strings shortened, each with a mark inside. A result without text is its
//     value.
//   - Any other text is cut to whole lines, the first, the last or both, as
//     r.Keep says. Only a line that alone is over the limit is cut inside,
//     between two runes, with a mark.
//   - What the tool declares to be noise is taken out.
//   - What the tool itself did not keep is said; see [NotKept].
//   - Binary data are described; single bytes that are not UTF-8 are replaced and
//     counted. A result without anything says so.
//   - A value that does not have the form that the tool declares is shown all the
//     same, with what differs.
//   - What looks like a remark of Rein's own is marked as somebody else's, unless
//     r says that its remarks are the tool's; see [Result].
//
// Where r.Lines is set, cutting changes r.Seen to what is really shown: use it
// after Shape only. A limit that is too small for the first line alone is
// exceeded by it.
func Shape(r *Result, v *View) ([]message.Part, Shaping) {
	if r == nil || r.empty() && len(r.Value) == 0 {
		text := "The tool succeeded; it returned nothing."
		return Text(text).Parts, Shaping{Shown: int64(len(text))}
	}
	if v.asItIs(r) {
		n := int64(len(r.Parts[0].Text))
		return r.Parts, Shaping{Size: n, Shown: n}
	}
	texts, others := split(r.Parts)
	if len(texts) == 0 && len(r.Value) > 0 {
		texts = []string{string(r.Value)}
	}
	if len(texts) == 0 {
		return r.Parts, Shaping{}
	}
	s := shaper{View: v, limit: v.limit(), full: strings.Join(texts, "\n"), keep: r.Keep, lines: r.Lines}
	shown := s.shape(r)
	if shown == s.full && len(texts) == 1 && len(r.Parts) > 0 {
		return r.Parts, s.shaping(shown)
	}
	return append([]message.Part{{Kind: message.Text, Text: shown}}, others...), s.shaping(shown)
}

func (v *View) limit() int {
	if v.Spec.ResultTokens <= 0 {
		return DefaultResultTokens
	}
	return int(v.Spec.ResultTokens)
}

// asItIs reports whether a result is what most are: one text to which nothing has
// to be done, as can be seen without further work.
func (v *View) asItIs(r *Result) bool {
	if len(r.Parts) != 1 || r.Parts[0].Kind != message.Text || r.Parts[0].Ref != nil || len(v.Spec.Output) > 0 || declares(&v.Spec.Show) {
		return false
	}
	text := r.Parts[0].Text
	return text != "" && len(text) <= v.limit() && utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 &&
		(r.Lines != nil || r.Remarks && !hasGap(text) || !looksLikeRemark(text)) && (text[0] > ' ' && text[0] != '{' && text[0] != '[' || !strings.Contains(text, `\u`))
}

// split returns the texts that are in line, and the other parts.
func split(parts []message.Part) (texts []string, others []message.Part) {
	for _, p := range parts {
		if p.Kind == message.Text && p.Ref == nil {
			texts = append(texts, p.Text)
		} else {
			others = append(others, p)
		}
	}
	return texts, others
}

// shaper is the work on one text.
type shaper struct {
	*View
	limit int
	keep  Keep
	lines *Lines
	// full is the text as it came, text as it is so far.
	full, text string
	// notes say what was done to the text so far; lossy that it cannot be made
	// again from what is shown. done is what was done in the end.
	notes []string
	lossy bool
	done  []string
	// gap is " kept" where the tool did not keep everything: all totals are of what
	// it kept.
	gap string
}

func (s *shaper) shape(r *Result) string {
	if r.Remarks {
		s.gaps()
	}
	if about := Binary(s.full); about != "" {
		r.dropSeen(0)
		s.lossy = true
		return s.remark(about + ", which are not shown")
	}
	s.text = s.full
	s.repair()
	s.hold(r.Value)
	if s.lines != nil && len(s.notes) == 0 {
		if s.fits(s.text) {
			return s.text
		}
		s.lossy = true
		return s.numbered(r)
	}
	mine := s.lines != nil || r.Remarks
	if shown, ok := s.document(mine); ok {
		r.dropSeen(0)
		return shown
	}
	if !mine {
		s.disown()
	}
	s.denoise()
	if len(s.notes) == 0 && s.fits(s.text) {
		return s.text
	}
	r.dropSeen(0)
	return s.cut()
}

// shaping sums up.
func (s *shaper) shaping(shown string) Shaping {
	out := Shaping{Size: int64(len(s.full)), Shown: int64(len(shown)), Cut: s.lossy, Done: s.done}
	if out.Cut {
		out.Full = s.full
	}
	return out
}

// remark returns the first line: the parts that are not empty, then what was
// done before, then the way to the rest, if it is named.
func (s *shaper) remark(parts ...string) string { return s.remarkAnd("", parts...) }

func (s *shaper) remarkAnd(rest string, parts ...string) string {
	s.done = s.done[:0]
	for _, p := range append(parts, s.notes...) {
		if p != "" {
			s.done = append(s.done, p)
		}
	}
	text := strings.Join(s.done, "; ")
	if rest != "" {
		text += "; " + rest
	}
	return Notice(text)
}

// note adds something that was done.
func (s *shaper) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// maxTokenBytes bounds what is shown for each token of the limit, in bytes:
// tokenizers put long repetitions (brackets, blanks, line ends: up to 128 of them
// in o200k) into one token, and counts of them are the least certain. Text has 3
// to 6 bytes a token, code with deep indentation up to 10.
const maxTokenBytes = 16

func (s *shaper) fits(text string) bool { return s.within(text, s.limit) }

func (s *shaper) within(text string, limit int) bool {
	return len(text) <= limit || len(text) <= limit*maxTokenBytes && s.Count(text) <= limit
}

// repair replaces what is not text.
func (s *shaper) repair() {
	var bad int
	s.text, bad = validText(s.text)
	if n := strings.Count(s.text, "\x00"); n > 0 {
		s.text, bad = strings.ReplaceAll(s.text, "\x00", "\uFFFD"), bad+n
	}
	s.bad(bad, "byte")
}

// bad notes that pieces of the text were replaced.
func (s *shaper) bad(n int, what string) {
	switch {
	case n == 1:
		s.note("1 %s that is not text is shown as \uFFFD", what)
	case n > 1:
		s.note("%d %ss that are not text are shown as \uFFFD", n, what)
	default:
		return
	}
	s.lossy = true
}

// document shapes a text that is one JSON document, if anything has to be done
// to it. mine: it holds no remarks but the tool's own.
func (s *shaper) document(mine bool) (string, bool) {
	if s.text == "" {
		return "", false
	}
	declared := declares(&s.Spec.Show)
	if !declared && len(s.notes) == 0 && s.fits(s.text) && !strings.Contains(s.text, `\u`) && (mine || !looksLikeRemark(s.text)) {
		return "", false
	}
	root, bad, ok := jsontree.Parse(s.text)
	if !ok {
		return "", false
	}
	before := len(s.notes)
	s.bad(bad, "character")
	d := document{shaper: s, root: root, show: &s.Spec.Show}
	shown, ok := d.shape(mine)
	if !ok {
		s.notes = s.notes[:before]
	}
	return shown, ok
}

// declares reports whether anything is declared about how a result is shown.
func declares(s *event.ShowSpec) bool {
	return len(s.Select) > 0 || len(s.Drop) > 0 || s.Limit > 0 || len(s.Summarise) > 0 || s.Field > 0 || len(s.Noise) > 0
}
