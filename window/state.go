package window

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/tokens"
)

// StateIn is what is known of where the work stands.
type StateIn struct {
	// State is what the model wrote with the plan tool, {goal, completed_steps,
	// current_step, next_step, artifacts, pending_questions, known_pitfalls}, each a
	// string or a list of strings; empty: nothing. What else is in it is left out.
	State jsontext.Value
	// Files are the paths that the run has written, Artifacts what else it has made,
	// each in the order in which it was first done.
	Files, Artifacts []string
	// Resolved are errors of tools that have succeeded since.
	Resolved []ResolvedError
	// Unknown are calls whose outcome is not known.
	Unknown []string
	// Steps is how many steps are done, Limit how many there may be; 0: not said.
	Steps, Limit int64
}

// ResolvedError is an error that a later success of the same tool has made a thing
// of the past.
type ResolvedError struct {
	// Tool and Type are the tool's name and the error's type, Call the call that met
	// it and By the one that succeeded.
	Tool, Type, Call, By string
}

const (
	// stateItems is how many items of a list are looked at, the last ones, and
	// stateItem how many bytes each may have.
	stateItems, stateItem = 16, 200
	// stateBytes is how much of a state is read: the plan tool accepts less.
	stateBytes = 64 << 10
)

// field is a line of the block: a name and its items.
type field struct {
	name  string
	items []string
	// list: it is written as one, whatever the number of items.
	list bool
	// left counts items that are left out, the first ones.
	left int
}

// bareTokens is the most that a block without a state of the model's own may have:
// it is sent anew with every request, and lists only what the journal has too.
const bareTokens = 160

// StateBlock returns the text of the volatile block at the tail, at most 400 tokens
// by [tokens.Estimate], 160 where the model has written no state: a line that says what it is, and an object of JSON. It is
// empty if there is nothing to say. When it is too long, what says least for the next
// step goes first: completed steps, errors resolved, files and artifacts, pitfalls,
// questions; of each the oldest, which are counted. Equal input gives equal text.
func StateBlock(s *StateIn) string {
	fields, most := s.fields(), StateTokens
	if len(s.State) == 0 {
		most = bareTokens
	}
	for {
		text := render(fields)
		excess := (tokens.Estimate{}).Count(text) - most
		if text == "" || excess <= 0 {
			return text
		}
		if !shrink(fields, excess) {
			return ""
		}
	}
}

// Names of fields, in the order in which they stand.
var fieldNames = [...]string{"goal", "completed_steps", "current_step", "next_step", "files_written", "artifacts", "pending_questions", "known_pitfalls", "resolved_errors", "unknown_outcomes", "steps"}

// shrinkOrder says what goes first: a field, and how many items it keeps in that
// round.
var shrinkOrder = [...]struct {
	name string
	keep int
}{
	{"completed_steps", 6}, {"resolved_errors", 4}, {"files_written", 8}, {"artifacts", 6}, {"known_pitfalls", 5}, {"pending_questions", 5}, {"unknown_outcomes", 6},
	{"completed_steps", 2}, {"resolved_errors", 1}, {"files_written", 4}, {"artifacts", 2}, {"known_pitfalls", 3}, {"pending_questions", 3}, {"unknown_outcomes", 3},
	{"completed_steps", 0}, {"resolved_errors", 0}, {"artifacts", 0}, {"files_written", 1}, {"known_pitfalls", 1}, {"pending_questions", 1}, {"unknown_outcomes", 1},
	{"known_pitfalls", 0}, {"files_written", 0}, {"pending_questions", 0}, {"unknown_outcomes", 0},
}

// shrink leaves items out that have excess tokens or a little less, at least one;
// false: there is none.
func shrink(fields []field, excess int) bool {
	shrunk := false
	for _, o := range shrinkOrder {
		for i := range fields {
			f := &fields[i]
			for f.name == o.name && len(f.items) > o.keep && excess > 0 {
				excess -= (tokens.Estimate{}).Count(f.items[0])
				f.items, f.left = f.items[1:], f.left+1
				shrunk = true
			}
		}
	}
	if shrunk {
		return true
	}
	// Only single texts are left: cut the longest in half.
	longest := -1
	for i := range fields {
		if f := &fields[i]; !f.list && len(f.items) > 0 && len(f.items[0]) > 16 && (longest < 0 || len(f.items[0]) > len(fields[longest].items[0])) {
			longest = i
		}
	}
	if longest < 0 {
		return false
	}
	text := fields[longest].items[0]
	fields[longest].items[0] = oneLine(text, len(text)/2)
	return true
}

// fields returns what there is to say, in order.
func (s *StateIn) fields() []field {
	said := readState(s.State)
	said["files_written"] = append(said["files_written"], s.Files...)
	said["artifacts"] = append(said["artifacts"], s.Artifacts...)
	for _, r := range s.Resolved {
		said["resolved_errors"] = append(said["resolved_errors"], r.line())
	}
	said["unknown_outcomes"] = append(said["unknown_outcomes"], s.Unknown...)
	if len(said) > 0 && s.Steps > 0 {
		steps := strconv.FormatInt(s.Steps, 10) + " done"
		if s.Limit > 0 {
			steps += " of at most " + strconv.FormatInt(s.Limit, 10)
		}
		said["steps"] = []string{steps}
	}
	var out []field
	for _, name := range fieldNames {
		f := field{name: name, list: listed(name)}
		items := said[name]
		if n := len(items) - stateItems; n > 0 {
			items, f.left = items[n:], n
		}
		for _, x := range items {
			if x = oneLine(x, stateItem); x != "" {
				f.items = append(f.items, x)
			}
		}
		if len(f.items) > 0 {
			out = append(out, f)
		}
	}
	if len(out) == 1 && out[0].name == "steps" {
		return nil
	}
	return out
}

func listed(name string) bool {
	switch name {
	case "goal", "current_step", "next_step", "steps":
		return false
	}
	return true
}

// line writes a resolved error.
func (r *ResolvedError) line() string {
	s := r.Tool
	if r.Type != "" {
		s += " " + r.Type
	}
	if r.Call != "" {
		s += " (" + r.Call + ")"
	}
	if r.By != "" {
		s += ": succeeded in " + r.By
	}
	return s
}

// readState reads the strings and lists of strings of an object. Anything else in
// it is left out; what is no JSON gives nothing.
func readState(v jsontext.Value) map[string][]string {
	out := map[string][]string{}
	if len(v) > stateBytes {
		return out
	}
	dec := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return out
	}
	for dec.PeekKind() == '"' {
		t, err := dec.ReadToken()
		if err != nil {
			break
		}
		name := t.String()
		if items, ok := readItems(dec); ok {
			out[name] = items
		} else {
			break
		}
	}
	return out
}

// readItems reads a string, or the strings of a list; ok is false at broken JSON.
func readItems(dec *jsontext.Decoder) (items []string, ok bool) {
	switch dec.PeekKind() {
	case '"':
		t, err := dec.ReadToken()
		if err != nil {
			return nil, false
		}
		return []string{t.String()}, true
	case '[':
		if _, err := dec.ReadToken(); err != nil {
			return nil, false
		}
		for dec.PeekKind() != ']' {
			if dec.PeekKind() != '"' {
				if err := dec.SkipValue(); err != nil {
					return nil, false
				}
				continue
			}
			t, err := dec.ReadToken()
			if err != nil {
				return nil, false
			}
			items = append(items, t.String())
		}
		_, err := dec.ReadToken()
		return items, err == nil
	}
	return nil, dec.SkipValue() == nil
}

// render writes the block.
func render(fields []field) string {
	if len(fields) == 0 {
		return ""
	}
	b := []byte("[rein: where the work stands, written anew before each step]\n{")
	for i := range fields {
		f := &fields[i]
		if len(f.items) == 0 && f.left == 0 {
			continue
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',', ' ')
		}
		b = appendString(b, f.name)
		b = append(b, ':', ' ')
		if !f.list {
			b = appendString(b, f.items[0])
			continue
		}
		b = append(b, '[')
		if f.left > 0 {
			b = appendString(b, strconv.Itoa(f.left)+" earlier")
		}
		for k, x := range f.items {
			if k > 0 || f.left > 0 {
				b = append(b, ',', ' ')
			}
			b = appendString(b, x)
		}
		b = append(b, ']')
	}
	return string(append(b, '}'))
}

// appendString appends a JSON string.
func appendString(b []byte, s string) []byte {
	out, err := jsontext.AppendQuote(b, strings.ToValidUTF8(s, "\uFFFD"))
	if err != nil {
		return append(b, '"', '"')
	}
	return out
}
