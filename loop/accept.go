package loop

import (
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/schema"
)

// noticeAccept tells the model what its end lacks.
const noticeAccept = "not_accepted"

// maxUnaccepted is how often in a row a model is told that the same end is not
// accepted.
const maxUnaccepted = 2

// beginAccept compiles what must have been called.
func (m *Machine) beginAccept() error {
	for _, p := range m.spec.Accept.Calls {
		n, err := guard.NewNames(p)
		if err != nil {
			return err
		}
		m.mustCall = append(m.mustCall, n)
	}
	return nil
}

// unaccepted returns what an end lacks of what the spec says must hold, in words
// for the model; nothing if it lacks nothing.
func (m *Machine) unaccepted(end *event.RunFinished) (missing []string) {
	a := &m.spec.Accept
	for _, f := range a.Files {
		if why := m.seen.undone(f); why != "" {
			missing = append(missing, "the file "+f+" "+why)
		}
	}
	for _, id := range a.IDs {
		if !stands(id, end.Answer) && !stands(id, string(end.Result)) {
			missing = append(missing, strconv.Quote(id)+" does not stand in the answer")
		}
	}
	for _, f := range a.Fields {
		if !holds(end.Result, f) {
			missing = append(missing, "the result has no value for "+strconv.Quote(f))
		}
	}
	for i := range m.mustCall {
		if !m.succeeded(&m.mustCall[i]) {
			missing = append(missing, "no call of "+a.Calls[i]+" has succeeded")
		}
	}
	return missing
}

// stands reports whether a text holds an id, and not only as a part of a longer one.
func stands(id, text string) bool {
	inner := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
	for from := 0; id != ""; {
		at := strings.Index(text[from:], id)
		if at < 0 {
			break
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(id):])
		first, _ := utf8.DecodeRuneInString(id)
		last, _ := utf8.DecodeLastRuneInString(id)
		if !(inner(first) && inner(before)) && !(inner(last) && inner(after)) {
			return true
		}
		_, n := utf8.DecodeRuneInString(id)
		from = at + n
	}
	return false
}

// succeeded reports whether a call of such a tool has.
func (m *Machine) succeeded(names *guard.Names) bool {
	for _, d := range m.results {
		if d.Status == event.StatusSuccess && d.ID != "" && names.Has(d.Tool) {
			return true
		}
	}
	return false
}

// undone says what is wrong with a file that the run had to write; empty for
// nothing.
func (v *coverage) undone(file string) string {
	at, ok := v.index[path.Clean(file)]
	if !ok {
		return "was not written"
	}
	switch c := &v.list[at]; {
	case c.version == "":
		return "does not exist any more"
	case c.version == c.first:
		return "is as it was when the run first read it"
	case c.wrote && !c.read():
		return "was not read again after its last change"
	}
	return ""
}

// read reports whether all lines of the present version were seen.
func (c *covered) read() bool {
	return c.total == 0 || len(c.ranges) == 1 && c.ranges[0][0] <= 1 && c.ranges[0][1] >= c.total
}

// holds reports whether a JSON value has one at a pointer, or at a member of that
// name, that is not null or empty.
func holds(v jsontext.Value, where string) bool {
	if len(v) == 0 {
		return false
	}
	steps := []string{where}
	if strings.HasPrefix(where, "/") {
		steps = strings.Split(where[1:], "/")
	}
	for _, s := range steps {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~")
		if v.Kind() == '[' {
			var list []jsontext.Value
			n, err := strconv.Atoi(s)
			if err != nil || json.Unmarshal(v, &list) != nil || n < 0 || n >= len(list) {
				return false
			}
			v = list[n]
			continue
		}
		next, ok := schema.Field(v, s)
		if !ok {
			return false
		}
		v = next
	}
	switch s := strings.TrimSpace(string(v)); s {
	case "", "null", `""`, "[]", "{}":
		return false
	}
	return true
}

// finishWith takes an end that says that the task is done. What it lacks is told, and
// the run goes on; a model that does not see to it has not done well.
func (m *Machine) finishWith(end *event.RunFinished) {
	missing := m.unaccepted(end)
	switch {
	case len(missing) > 0:
		if m.unacceptable++; m.unacceptable > maxUnaccepted {
			end.OK, end.Detail = false, "not accepted: "+strings.Join(missing, "; ")
			m.verdict = end
			return
		}
		m.note = &event.NoticeAdded{Kind: noticeAccept, Text: "That does not finish the task yet: " + strings.Join(missing, "; ") +
			". See to it, then finish again. If that is impossible, say so in your answer."}
	case m.mayCheck():
		m.unacceptable = 0
		m.ending = end
	default:
		if m.spec.Check && m.returns >= maxReturns {
			end.Detail = "not checked again: the completion check has sent the run back " + plural(m.returns, "time") + ", last for: " + m.lacked
		}
		m.verdict = end
	}
}
