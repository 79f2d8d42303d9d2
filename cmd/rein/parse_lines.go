package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// parseLines shows what is made of each line's text, one line after the other:
// only one is held at a time.
func (a *app) parseLines(p *parsing, in io.Reader) error {
	r := &lineReader{r: bufio.NewReaderSize(in, 64<<10)}
	var last lastTools
	bad := false
	for {
		line, err := r.next()
		if err == io.EOF {
			break
		}
		o, rest := emptyObject(), []byte(nil)
		switch {
		case errors.Is(err, errLongLine):
			o.Problems = append(o.Problems, parsedProblem{Problem: problemLine, Message: fmt.Sprintf("line %d %v", r.n, err)})
		case err != nil:
			return failed(fmt.Errorf("read line %d: %w", r.n, err))
		case len(bytes.TrimSpace(line)) == 0:
			continue
		default:
			o, rest = p.line(line, r.n, &last)
		}
		bad = bad || len(o.Problems) > 0
		text, err := json.Marshal(o, json.Deterministic(true))
		if err != nil {
			return failed(fmt.Errorf("write the result of line %d as JSON: %w", r.n, err))
		}
		// What is passed through comes first.
		if len(rest) > 0 {
			text = append(append(append([]byte{'{'}, rest...), ','), text[1:]...)
		}
		switch err := a.put(append(text, '\n')); {
		case errors.Is(err, errPipe):
			return nil // enough was seen
		case err != nil:
			return err
		}
	}
	if bad {
		return &exit{code: badEnd}
	}
	return nil
}

// line reads one line. rest holds the members that are passed through, with
// commas between.
func (p *parsing) line(line []byte, n int, last *lastTools) (o *parsedObject, rest []byte) {
	in, err := readLine(bytes.ToValidUTF8(line, []byte("\uFFFD")))
	tools := p.tools
	if err == nil && in.tools != nil {
		if tools, err = last.read(in.tools); err != nil {
			err = fmt.Errorf("its tools: %w", err)
		}
	}
	if err == nil && !in.hasText {
		err = errors.New(`it has no "text"`)
	}
	if err != nil {
		o = emptyObject()
		o.Problems = append(o.Problems, parsedProblem{Problem: problemLine, Message: fmt.Sprintf("line %d cannot be read: %v", n, err)})
		return o, in.rest
	}
	return p.read(in.text, tools), in.rest
}

// lastTools keeps the tools of the last line that had some: batches tend to have
// the same in each.
type lastTools struct {
	raw  []byte
	list *toolList
}

func (l *lastTools) read(raw jsontext.Value) (*toolList, error) {
	if l.list != nil && bytes.Equal(raw, l.raw) {
		return l.list, nil
	}
	list, err := readTools(raw)
	if err == nil {
		l.raw, l.list = bytes.Clone(raw), list
	}
	return list, err
}

// inputLine is what a line of a batch holds.
type inputLine struct {
	text    string
	hasText bool
	// tools is nil where the line has none.
	tools jsontext.Value
	// rest are the other members as they stand, with commas between.
	rest []byte
}

// own are the members of a result, which those of a line cannot stand beside.
var own = map[string]bool{"format": true, "calls": true, "content": true, "reasoning": true, "repairs": true,
	"incomplete": true, "problems": true, "notes": true}

// readLine takes a line apart. With an error it returns what came before.
func readLine(line []byte) (in inputLine, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(line), jsontext.AllowInvalidUTF8(true)) // lone surrogates are U+FFFD
	if d.PeekKind() != '{' {
		return in, errors.New("it is not a JSON object")
	}
	_, err = d.ReadToken()
	for err == nil && d.PeekKind() == '"' {
		if err = in.member(d); err != nil {
			return in, err
		}
	}
	if err == nil {
		_, err = d.ReadToken()
	}
	if err == nil && len(bytes.TrimSpace(line[d.InputOffset():])) > 0 {
		err = errors.New("something follows its object")
	}
	return in, err
}

// member takes in the next member.
func (in *inputLine) member(d *jsontext.Decoder) error {
	name, err := d.ReadToken()
	if err != nil {
		return err
	}
	key := name.String()
	if key == "text" {
		t, err := d.ReadToken()
		if err != nil {
			return err
		}
		if t.Kind() != '"' {
			return errors.New(`its "text" is not a string`)
		}
		in.text, in.hasText = t.String(), true
		return nil
	}
	v, err := d.ReadValue()
	switch {
	case err != nil:
		return err
	case key == "tools" && v.Kind() == 'n', own[key]:
	case key == "tools":
		in.tools = v.Clone()
	default:
		quoted, err := jsontext.AppendQuote(nil, key)
		if err != nil {
			return err
		}
		if len(in.rest) > 0 {
			in.rest = append(in.rest, ',')
		}
		in.rest = append(append(append(in.rest, quoted...), ':'), v...)
	}
	return nil
}

// lineReader reads lines of at most maxParsed bytes; the rest of a longer one is
// stepped over.
type lineReader struct {
	r    *bufio.Reader
	line []byte
	// n is the number of the line, from 1.
	n int
}

var errLongLine = fmt.Errorf("has more than %d bytes", maxParsed)

// next returns the next line without its end, valid until it is called again;
// io.EOF after the last.
func (l *lineReader) next() ([]byte, error) {
	l.line = l.line[:0]
	l.n++
	long := false
	for {
		part, err := l.r.ReadSlice('\n')
		if long = long || len(l.line)+len(part) > maxParsed; !long {
			l.line = append(l.line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && (long || len(l.line) > 0), err == nil:
		case err != nil:
			return nil, err
		}
		if long {
			return nil, errLongLine
		}
		line := bytes.TrimRight(l.line, "\r\n")
		if l.n == 1 {
			line = bytes.TrimPrefix(line, []byte("\uFEFF")) // as some editors begin a file
		}
		return line, nil
	}
}
