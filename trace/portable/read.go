package portable

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
)

// FormatError is an export that is damaged, cut off, or none.
type FormatError struct {
	// Line is where, from 1.
	Line int
	Err  error
}

// Error says where and why.
func (e *FormatError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }

// IsExport reports whether a file that begins so was written by [Export].
func IsExport(begin []byte) bool {
	first, _, _ := bytes.Cut(bytes.TrimPrefix(begin, []byte("\uFEFF")), []byte("\n"))
	return bytes.Contains(first, []byte(`"`+formatName+`"`))
}

// reader reads an export and checks all of it: that nothing is missing, changed or out
// of order. What it has read is given to the functions that are set.
type reader struct {
	in *bufio.Reader
	no int

	// begin gets each run's first line, event its events, end its last line, body its
	// bodies, a piece at a time, of which last is the one that completes it.
	begin func(l *line) error
	event func(r *event.Record, e *event.Event) error
	end   func(l *line) error
	body  func(l *line, piece []byte, last bool) error

	main    string
	program string
	version int64
	open    bool // in a run
	run     string
	chain   event.Chain
	shared  int64            // events that the run is said to share with the one it was forked from
	done    map[string]bool  // outcomes of the run; looked up only
	runs    map[string]bool  // looked up only
	sizes   map[string]int64 // of bodies, -1 for those that are missing; looked up only
	part    *part
	events  int64
	bodies  int64
	missing int64 // bodies that the one who exported it did not have
	last    *line
}

// part is a body of which some pieces have come.
type part struct {
	line
	sum hash.Hash
	at  int64
}

// read reads everything.
func (r *reader) read(in io.Reader) error {
	r.in = bufio.NewReaderSize(in, 256<<10)
	r.runs, r.sizes = map[string]bool{}, map[string]int64{}
	for {
		text, err := r.next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = r.line(text)
		}
		if err != nil {
			var at *FormatError
			if errors.As(err, &at) {
				return err
			}
			return &FormatError{max(r.no, 1), err}
		}
	}
	if r.last == nil {
		return &FormatError{r.no + 1, errors.New("the file ends here, and the line that ends an export is missing: it was cut off, or is still being written")}
	}
	return nil
}

// next returns the next line that is not empty, valid until it is called again.
func (r *reader) next() ([]byte, error) {
	for {
		r.no++
		text, err := readLine(r.in, MaxLine)
		if err != nil {
			r.no--
			return nil, err
		}
		if r.no == 1 {
			text = bytes.TrimPrefix(text, []byte("\uFEFF"))
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			return text, nil
		}
	}
}

// readLine reads a line of at most most bytes.
func readLine(in *bufio.Reader, most int) ([]byte, error) {
	text, err := in.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		if err == io.EOF && len(text) > 0 {
			err = nil
		}
		return text, err
	}
	long := bytes.Clone(text)
	for err == bufio.ErrBufferFull {
		text, err = in.ReadSlice('\n')
		if long = append(long, text...); len(long) > most {
			return nil, fmt.Errorf("the line has more than %d bytes", most)
		}
	}
	if err == io.EOF {
		err = nil
	}
	return long, err
}

// line reads one line.
func (r *reader) line(text []byte) error {
	switch {
	case r.last != nil:
		return errors.New("something follows the line that ends the export")
	case isEvent(text):
		return r.record(text)
	}
	var l line
	if err := json.Unmarshal(text, &l, json.RejectUnknownMembers(false)); err != nil {
		return fmt.Errorf("it is not a line of an export: %w", plain(err))
	}
	if r.version == 0 && l.Line != "header" {
		return errors.New("an export begins with its header")
	}
	switch l.Line {
	case "header":
		return r.header(&l)
	case "run":
		return r.begins(&l)
	case "body":
		return r.piece(&l)
	case "run.end":
		return r.ends(&l)
	case "end":
		return r.finish(&l)
	case "":
		return errors.New("it is neither an event nor any other line of an export")
	}
	return nil // of a newer version
}

// isEvent reports whether a line has a member v before one that is line.
func isEvent(text []byte) bool {
	if bytes.HasPrefix(text, []byte(`{"v":`)) {
		return true
	}
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return false
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return false
		}
		switch name.String() {
		case "v":
			return true
		case "line":
			return false
		}
		if d.SkipValue() != nil {
			return false
		}
	}
	return false
}

// plain says what is wrong with JSON without the names of Go's packages.
func plain(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return fmt.Errorf("it is not JSON: %w at byte %d", syntax.Err, syntax.ByteOffset+1)
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		return fmt.Errorf("its member %s is of another kind than it should be", semantic.JSONPointer)
	}
	return err
}

func (r *reader) header(l *line) error {
	switch {
	case r.version != 0:
		return errors.New("there is a second header")
	case l.Format != formatName:
		return fmt.Errorf("its format is %.40q, not %s", l.Format, formatName)
	case l.Version > Version:
		return fmt.Errorf("it is of version %d, and this program reads up to %d: update rein", l.Version, Version)
	case l.Version < 1:
		return fmt.Errorf("there is no version %d", l.Version)
	}
	r.version, r.main, r.program = l.Version, l.Run, l.Program
	return nil
}

func (r *reader) begins(l *line) error {
	switch {
	case r.open:
		return fmt.Errorf("run %s has not ended: its last line is missing", r.run)
	case r.runs[l.Run]:
		return fmt.Errorf("run %s comes twice", l.Run)
	case len(r.runs) >= MaxRuns:
		return fmt.Errorf("there are more than %d runs", MaxRuns)
	case len(r.runs) == 0 && l.Run != r.main:
		return fmt.Errorf("the header is about run %s, and the first run is %s", r.main, l.Run)
	case l.Forked != nil && l.Forked.Events < 1:
		return fmt.Errorf("it shares %d events with run %s", l.Forked.Events, l.Forked.Run)
	case l.Forked != nil && l.Forked.Run == l.Run:
		return fmt.Errorf("run %s is said to be a fork of itself", l.Run)
	}
	r.runs[l.Run] = true
	r.open, r.run, r.chain, r.done, r.shared = true, l.Run, event.Chain{}, map[string]bool{}, 0
	if l.Forked != nil {
		r.shared = l.Forked.Events
	}
	if r.begin == nil {
		return nil
	}
	return r.begin(l)
}

func (r *reader) record(text []byte) error {
	rec, err := event.DecodeRecord(text)
	if err != nil {
		return err
	}
	switch {
	case !r.open:
		return fmt.Errorf("event %d stands in no run", rec.Seq)
	case rec.Run != r.run:
		return fmt.Errorf("event %d is of run %s, in run %s", rec.Seq, rec.Run, r.run)
	case r.part != nil:
		return fmt.Errorf("event %d comes before the body %s is complete", rec.Seq, r.part.SHA256)
	case rec.Command != "" && r.done[rec.Command]:
		return fmt.Errorf("event %d is the second outcome of command %s", rec.Seq, rec.Command)
	}
	if rec.Command != "" {
		r.done[strings.Clone(rec.Command)] = true
	}
	if err := r.chain.Add(&rec); err != nil {
		return err
	}
	e, err := rec.Event()
	if err != nil {
		return fmt.Errorf("event %d: %w", rec.Seq, err)
	}
	for _, ref := range Refs(e.Data) {
		if size, ok := r.sizes[ref.SHA256]; !ok {
			return fmt.Errorf("event %d refers to the body %s, which is not there", rec.Seq, ref.SHA256)
		} else if size >= 0 && size != ref.Bytes {
			return fmt.Errorf("event %d says that the body %s has %d bytes, which has %d", rec.Seq, ref.SHA256, ref.Bytes, size)
		}
	}
	r.events++
	if r.event == nil {
		return nil
	}
	return r.event(&rec, &e)
}

// piece reads a body, or a part of one.
func (r *reader) piece(l *line) error {
	if r.part == nil {
		if err := r.fresh(l); err != nil || l.Missing != "" {
			return err
		}
	}
	p := r.part
	data := l.Base64
	if l.Text != nil {
		data = []byte(*l.Text)
	}
	switch {
	case l.SHA256 != p.SHA256 || l.Bytes != p.Bytes || l.At != p.at:
		return fmt.Errorf("the body %s goes on at byte %d, and another piece comes", p.SHA256, p.at)
	case int64(len(data)) > p.Bytes-p.at:
		return fmt.Errorf("the body %s has more than its %d bytes", p.SHA256, p.Bytes)
	case len(data) == 0 && p.Bytes > 0:
		return fmt.Errorf("a piece of the body %s is empty", p.SHA256)
	}
	p.sum.Write(data)
	p.at += int64(len(data))
	last := p.at == p.Bytes
	if last {
		if got := hex.EncodeToString(p.sum.Sum(nil)); got != p.SHA256 {
			return fmt.Errorf("the body %s was changed: it hashes to %s", p.SHA256, got)
		}
		r.sizes[p.SHA256], r.part = p.Bytes, nil
		r.bodies++
	}
	if r.body == nil {
		return nil
	}
	return r.body(l, data, last)
}

// fresh begins a body.
func (r *reader) fresh(l *line) error {
	if _, err := event.ParseHash(l.SHA256); err != nil {
		return err
	}
	if _, ok := r.sizes[l.SHA256]; ok {
		return fmt.Errorf("the body %s comes twice", l.SHA256)
	}
	switch {
	case len(r.sizes) >= MaxBodies:
		return fmt.Errorf("there are more than %d bodies", MaxBodies)
	case l.Missing != "":
		r.sizes[l.SHA256] = -1
		r.missing++
		return nil
	case l.Bytes < 0 || l.Bytes > MaxBody:
		return fmt.Errorf("the body %s has %d bytes, and %d is the most", l.SHA256, l.Bytes, MaxBody)
	}
	r.part = &part{line: *l, sum: sha256.New()}
	return nil
}

func (r *reader) ends(l *line) error {
	switch {
	case !r.open || l.Run != r.run:
		return fmt.Errorf("run %s ends, which has not begun", l.Run)
	case r.part != nil:
		return fmt.Errorf("the body %s is not complete", r.part.SHA256)
	case l.Events != r.chain.Seq:
		return fmt.Errorf("run %s has %d events here, and had %d: some are missing", l.Run, r.chain.Seq, l.Events)
	case r.shared > r.chain.Seq && l.Damage == "":
		return fmt.Errorf("run %s is said to share %d events with the run that it was forked from, and has %d", l.Run, r.shared, r.chain.Seq)
	case l.Events > 0 && l.Hash != r.chain.Hash.String():
		return fmt.Errorf("run %s ends with the hash %s, and was said to with %s", l.Run, r.chain.Hash, l.Hash)
	}
	r.open = false
	if r.end == nil {
		return nil
	}
	return r.end(l)
}

func (r *reader) finish(l *line) error {
	switch {
	case r.open:
		return fmt.Errorf("run %s has not ended", r.run)
	case l.Runs != int64(len(r.runs)) || l.Events != r.events || l.Bodies != r.bodies:
		return fmt.Errorf("there are %d runs, %d events and %d bodies, and there were %d, %d and %d: some are missing", len(r.runs), r.events, r.bodies, l.Runs, l.Events, l.Bodies)
	case l.Runs == 0:
		return errors.New("it holds no run")
	}
	r.last = l
	return nil
}
