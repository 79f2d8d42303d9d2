package diff

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/internal/cut"
	"rein.example/rein/tool"
)

// number writes an integer with a comma between thousands.
func number[T int | int64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural writes a number of things.
func plural[T int | int64](n T, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}

// quoteWidth is how much of a text a sentence quotes, in bytes.
const quoteWidth = 100

// quote returns the beginning of a text on one line, in quotation marks.
func quote(s string) string { return "“" + clip(s, quoteWidth) + "”" }

// clip returns the beginning of a text on one line, at most that many bytes and a
// sign that there is more.
func clip(s string, most int) string {
	more := ""
	if len(s) > 8*most { // the rest cannot show
		s, more = s[:8*most], "…"
	}
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		s, more = s[:cut.Down(s, most)], "…"
	}
	return strings.ToValidUTF8(s, "") + more
}

// argument is one member of a call's arguments, as text.
type argument struct{ name, value string }

// arguments returns the members of an object whose values are short and plain; ok is
// false for anything else, and for arguments of which only a part is known.
func arguments(s string) (list []argument, ok bool) {
	dec := jsontext.NewDecoder(strings.NewReader(s), jsontext.AllowDuplicateNames(true))
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, false
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, false
		}
		a := argument{name: name.String()}
		switch dec.PeekKind() {
		case '"', '0', 't', 'f':
		default:
			return nil, false
		}
		v, err := dec.ReadToken()
		if err != nil {
			return nil, false
		}
		a.value = v.String()
		if strings.ContainsAny(a.value, "\n\r") {
			return nil, false
		}
		list = append(list, a)
	}
	return list, true
}

// What arguments mean by which names: those of Rein's own tools and those that are
// common elsewhere.
var (
	subjects = []string{"path", "file", "file_path", "filename", "url", "uri", "document", "name", "id"}
	searches = []string{"query", "q", "pattern", "search", "glob"}
	pages    = []string{"page", "page_number"}
	firsts   = []string{"from_line", "start_line", "from", "offset", "start"}
	lasts    = []string{"lines", "end_line", "to", "limit", "end"}
)

// invalidArguments is how a call is answered whose arguments are none that its tool
// takes (package loop).
const invalidArguments = "invalid_arguments"

// label says what a call asked for, such as "page 2 of config.yaml (get_page)": in
// words where the names of its arguments are known, else as it stands in the journal.
func (r *Run) label(c *Call) string {
	plain := strings.TrimSpace(c.Tool + " " + argsText(c.Args))
	list, ok := arguments(c.Args)
	if !ok || len(list) == 0 || c.ErrorType == invalidArguments {
		return plain
	}
	take := func(names []string) *argument {
		for _, n := range names {
			for i := range list {
				if list[i].name == n {
					a := list[i]
					list = append(list[:i:i], list[i+1:]...)
					return &a
				}
			}
		}
		return nil
	}
	subject := r.subject(c, take)
	search := take(searches)
	part, ok := partOf(take)
	if !ok || len(list) > 0 || subject == "" && part == "" && search == nil {
		return plain
	}
	var out string
	switch {
	case search != nil:
		out = "“" + clip(search.value, quoteWidth) + "”"
		if subject != "" {
			out += " in " + subject
		}
		if part != "" {
			out += ", " + part
		}
	case subject == "":
		out = part
	case strings.HasPrefix(part, "from "), strings.HasPrefix(part, "up to "):
		out = subject + " " + part
	case part != "":
		out = part + " of " + subject
	default:
		out = subject
	}
	return out + " (" + c.Tool + ")"
}

// partOf says which part of something a call asked for; empty for all of it. ok is
// false where the values are none from which a sentence can be made.
func partOf(take func([]string) *argument) (part string, ok bool) {
	if page := take(pages); page != nil {
		return "page " + clip(page.value, quoteWidth), true
	}
	first, last := take(firsts), take(lasts)
	switch {
	case !first.sound() || !last.sound():
		return "", false
	case first == nil && last == nil:
		return "", true
	case last == nil:
		return "from " + first.counts("line ") + clip(first.value, quoteWidth) + " on", true
	case first == nil:
		if last.name != "lines" && last.name != "limit" {
			return "up to " + last.counts("line ") + clip(last.value, quoteWidth), true
		}
		s := "the first " + clip(last.value, quoteWidth)
		if last.name == "lines" {
			s += " lines"
		}
		return s, true
	}
	from, err := strconv.ParseInt(first.value, 10, 32)
	count, errCount := strconv.ParseInt(last.value, 10, 32)
	if last.name == "lines" && err == nil && errCount == nil {
		if count == 1 {
			return fmt.Sprintf("line %d", from), true
		}
		return fmt.Sprintf("lines %d to %d", from, from+count-1), true
	}
	if last.name == "limit" {
		return clip(last.value, quoteWidth) + " from " + clip(first.value, quoteWidth) + " on", true
	}
	return cmp.Or(first.counts("lines "), last.counts("lines ")) + clip(first.value, quoteWidth) + " to " + clip(last.value, quoteWidth), true
}

// counts returns what the number counts, where its name says so.
func (a *argument) counts(what string) string {
	if strings.HasSuffix(a.name, "_line") {
		return what
	}
	return ""
}

// sound reports whether a value is a number from 0 on where its name counts something:
// from 1 where it says how many. nil is.
func (a *argument) sound() bool {
	if a == nil || a.name != "lines" && a.name != "limit" && a.name != "offset" && !strings.HasSuffix(a.name, "_line") {
		return true
	}
	n, err := strconv.ParseInt(a.value, 10, 32)
	return err == nil && n >= 0 && (n > 0 || a.name != "lines" && a.name != "limit")
}

// result says what a call gave, in words.
func (r *Run) result(c *Call) string {
	s := r.label(c)
	if strings.HasSuffix(s, " ("+c.Tool+")") {
		return s
	}
	return "the result of " + s
}

// subject says what a call is about; empty if that is not known.
func (r *Run) subject(c *Call, take func([]string) *argument) string {
	if c.Tool == tool.ReadArtifact {
		id := take([]string{"call"})
		switch {
		case id == nil:
			return ""
		case c.of == nil:
			return clip(id.value, quoteWidth)
		}
		return strings.TrimSpace("the result of " + c.of.Tool + " " + argsText(c.of.Args))
	}
	if a := take(subjects); a != nil {
		return clip(a.value, quoteWidth)
	}
	return ""
}

// argsText returns arguments as a sentence shows them; none of an empty object.
func argsText(args string) string {
	if strings.TrimSpace(args) == "{}" {
		return ""
	}
	return clip(args, quoteWidth)
}

// did says in the past tense what the model did in a step.
func (r *Run) did(s *Step) string {
	switch {
	case s.Failed != "":
		return "got no reply (" + string(s.Failed) + ")"
	case !s.Answered:
		return "has no reply yet"
	case len(s.Calls) == 0 && s.Text == "":
		return "said nothing"
	case len(s.Calls) == 0:
		return "answered " + quote(s.Text)
	}
	var list []string
	for i, c := range s.Calls {
		if i == 3 && len(s.Calls) > 4 {
			list = append(list, plural(len(s.Calls)-i, "more call", "more calls"))
			break
		}
		list = append(list, strings.TrimSpace(c.Tool+" "+argsText(c.Args)))
	}
	return "called " + joined(list)
}

// joined writes a list with "and" before the last.
func joined(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}
