package recording

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Limits bound what is read. Zero fields have the defaults.
type Limits struct {
	// Bytes is the longest line, or the longest JSON value that takes several.
	// Default 256 MiB.
	Bytes int
	// Messages is the most messages of a conversation. Default 100,000. It also bounds
	// how many JSON values a conversation consists of, to 32 for each message and 10,000
	// more: what is read takes some hundred bytes for each, however short it is written.
	Messages int
}

// values is the most JSON values of a conversation.
func (l Limits) values() int {
	const ofMessage, more = 32, 10_000
	return ofMessage*l.Messages + more
}

const (
	defaultBytes    = 256 << 20
	defaultMessages = 100_000
)

func (l Limits) withDefaults() Limits {
	if l.Bytes <= 0 {
		l.Bytes = defaultBytes
	}
	if l.Messages <= 0 {
		l.Messages = defaultMessages
	}
	return l
}

// Read returns the conversations of r, one after the other. Each line, or else
// the whole of r, is a JSON value:
//
//   - an object whose member messages (or traj) is a list of messages; id, or
//     task_id and trial, name it, and tools may list the tools,
//   - a list of messages,
//   - a trajectory of the Agent Trajectory Interchange Format, after which those come
//     that it embeds,
//   - or a list of any of these.
//
// An error is an *[Error] for one conversation, after which the next one comes,
// or what r failed with, after which there is nothing more.
func Read(r io.Reader, limits Limits) iter.Seq2[*Conversation, error] {
	limits = limits.withDefaults()
	return func(yield func(*Conversation, error) bool) {
		n := 0
		emit := func(raw jsontext.Value, line int) bool {
			for todo := []embedded{{raw, 0}}; len(todo) > 0; todo = todo[1:] {
				n++
				c, below, err := read(todo[0], limits)
				for _, raw := range below[:min(len(below), maxBelow)] {
					todo = append(todo, embedded{raw, todo[0].depth + 1})
				}
				if err != nil {
					if !yield(nil, &Error{Line: line, Number: n, Err: err}) {
						return false
					}
					continue
				}
				if c.ID == "" {
					c.ID = fmt.Sprintf("conversation %d", n)
				}
				if !yield(c, nil) {
					return false
				}
			}
			return true
		}
		for v, err := range values(r, limits.Bytes) {
			if err != nil {
				n++
				if v.line == 0 {
					yield(nil, err)
				} else if yield(nil, &Error{Line: v.line, Number: n, Err: err}) {
					continue
				}
				return
			}
			if !expand(v.raw, func(raw jsontext.Value) bool { return emit(raw, v.line) }) {
				return
			}
		}
	}
}

// embedded is a conversation that another one embeds, so and so deep.
type embedded struct {
	raw   jsontext.Value
	depth int
}

// Each level is read once more than the one above it, so there are few.
const (
	maxBelow = 10_000
	maxDepth = 16
)

// read reads one conversation, and returns those that it embeds.
func read(e embedded, limits Limits) (*Conversation, []jsontext.Value, error) {
	switch most := limits.values(); {
	case e.depth > maxDepth:
		return nil, nil, fmt.Errorf("it is embedded deeper than %d levels", maxDepth)
	case countValues(e.raw, most) > most:
		return nil, nil, fmt.Errorf("it consists of more than %d JSON values, which is the most that is read", most)
	case isTrajectory(e.raw):
		return trajectory(e.raw, limits)
	}
	c, err := conversation(e.raw, limits)
	return c, nil, err
}

// countValues counts the values that valid JSON consists of, at least as many as there
// are, until there are more than most.
func countValues(raw []byte, most int) int {
	n := 1
	for i := 0; i < len(raw) && n <= most; i++ {
		switch raw[i] {
		case ',', '[', '{': // each has at most one value after it that has not been counted
			n++
		case '"':
			for i++; i < len(raw) && raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		}
	}
	return n
}

// value is one JSON value of the input, whole but not yet looked into.
type value struct {
	raw  jsontext.Value
	line int // 0 beside an error that is the reader's own
}

// values returns the JSON values of r: those of its lines if the first line that
// is not empty is one, else the only one that r is.
func values(r io.Reader, most int) iter.Seq2[value, error] {
	return func(yield func(value, error) bool) {
		in := lines{r: bufio.NewReaderSize(r, 64<<10), most: most}
		for first := true; ; {
			text, err := in.next()
			switch {
			case err == io.EOF:
				return
			case errors.Is(err, errLong):
				if !yield(value{line: in.n}, tooLong(most)) {
					return
				}
				continue
			case err != nil:
				yield(value{}, fmt.Errorf("read the recording: %w", err))
				return
			case len(text) == 0:
				continue
			}
			if err = valid(text); err != nil && first {
				in.whole(text, yield)
				return
			}
			first = false
			if !yield(value{raw: text, line: in.n}, err) {
				return
			}
		}
	}
}

func tooLong(most int) error {
	return fmt.Errorf("it has more than %d bytes: split it", most)
}

// valid says what keeps a text from being one JSON value. Bytes that are no text
// are forgiven: they are replaced when the value is read.
func valid(text []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowInvalidUTF8(true))
	if _, err := d.ReadValue(); err != nil {
		return plain(err)
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return errors.New("something follows its JSON value")
	}
	return nil
}

// whole takes the text of the first line and all that follows for one value.
func (l *lines) whole(text []byte, yield func(value, error) bool) {
	line := l.n
	rest, err := io.ReadAll(io.LimitReader(l.r, int64(l.most-len(text))+1))
	if err != nil {
		yield(value{}, fmt.Errorf("read the recording: %w", err))
		return
	}
	all := append(append(bytes.Clone(text), '\n'), rest...)
	if len(all) > l.most+1 {
		yield(value{line: line}, tooLong(l.most))
		return
	}
	yield(value{raw: all, line: line}, valid(all))
}

// lines reads lines of at most most bytes; the rest of a longer one is stepped
// over.
type lines struct {
	r    *bufio.Reader
	most int
	line []byte
	n    int // number of the line, from 1
}

var errLong = errors.New("a long line")

// next returns the next line without the white space around it, valid until it
// is called again.
func (l *lines) next() ([]byte, error) {
	l.line = l.line[:0]
	l.n++
	long := false
	for {
		part, err := l.r.ReadSlice('\n')
		if long = long || len(l.line)+len(part) > l.most; !long {
			l.line = append(l.line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && (long || len(l.line) > 0), err == nil:
		default:
			return nil, err
		}
		if long {
			return nil, errLong
		}
		line := l.line
		if l.n == 1 {
			line = bytes.TrimPrefix(line, []byte("\uFEFF")) // as some editors begin a file
		}
		return bytes.TrimSpace(line), nil
	}
}

// expand calls f for each conversation of a value, until it returns false.
func expand(raw jsontext.Value, f func(jsontext.Value) bool) bool {
	if raw.Kind() != '[' {
		return f(raw)
	}
	d := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowInvalidUTF8(true))
	if _, err := d.ReadToken(); err != nil {
		return f(raw)
	}
	for first := true; d.PeekKind() != ']'; first = false {
		item, err := d.ReadValue()
		if err != nil || first && isMessage(item) {
			return f(raw) // a list of messages is one conversation
		}
		if !f(item.Clone()) {
			return false
		}
	}
	return true
}

// isMessage reports whether a value is an object with a role.
func isMessage(raw jsontext.Value) bool {
	var m struct {
		Role jsontext.Value `json:"role"`
	}
	return raw.Kind() == '{' && json.Unmarshal(raw, &m, lenient) == nil && m.Role != nil
}

// lenient reads texts that are not UTF-8; they are reported.
var lenient = jsontext.AllowInvalidUTF8(true)

// plain says what is wrong with JSON without the names of Go's packages.
func plain(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return fmt.Errorf("it is not JSON: %w at byte %d", syntax.Err, syntax.ByteOffset+1)
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		return fmt.Errorf("%s is a %s, which it cannot be", cmp.Or(string(semantic.JSONPointer), "it"), kindName(semantic.JSONKind))
	}
	return err
}

// kindName names a kind of JSON value.
func kindName(k jsontext.Kind) string {
	switch k {
	case '{':
		return "object"
	case '[':
		return "list"
	case '0':
		return "number"
	case 't', 'f':
		return "truth value"
	case 'n':
		return "null"
	}
	return "string"
}
