package portable

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"rein.example/rein/event"
	"rein.example/rein/internal/cut"
	"rein.example/rein/journal"
	"rein.example/rein/message"
)

// Exported says what was written, and what was not.
type Exported struct {
	Run string `json:"run"`
	// Runs counts the run and those below it.
	Runs   int64 `json:"runs"`
	Events int64 `json:"events"`
	Bodies int64 `json:"bodies"`
	// Redacted is what was taken out. Unchecked counts the bodies that were not looked
	// into, since they are no text.
	Redacted  []Finding `json:"redacted"`
	Unchecked int64     `json:"unchecked_bodies"`
	// Left says what is not in the export, or not whole, in words for people.
	Left []string `json:"left_out"`
}

// Export writes a run with all that belongs to it to w, from the view; program names
// who writes it. It fails if the run is not there or cannot be read at all, and if w
// does; what of it is damaged is left out and named in Exported.Left.
func Export(ctx context.Context, w io.Writer, v *View, run, program string) (*Exported, error) {
	x := &exporter{v: v, w: bufio.NewWriterSize(w, 256<<10), out: &Exported{Run: run, Redacted: []Finding{}, Left: []string{}}, bodies: map[string]bool{}, known: map[string]bool{run: true}}
	if _, err := v.Head(ctx, run); err != nil {
		return nil, err
	}
	x.line(&line{Line: "header", Format: formatName, Version: Version, Run: run, Program: program})
	x.todo = []string{run}
	for len(x.todo) > 0 && x.err == nil {
		next := x.todo[0]
		x.todo = x.todo[1:]
		if err := x.run(ctx, next); err != nil {
			return nil, err
		}
	}
	all := v.Exported(run)
	x.out.Redacted, x.out.Unchecked = all.Redacted, all.Unchecked
	x.line(&line{Line: "end", Runs: x.out.Runs, Events: x.out.Events, Bodies: x.out.Bodies, Redacted: x.redacted(), Findings: x.out.Redacted})
	if x.err == nil {
		x.err = x.w.Flush()
	}
	if x.err != nil {
		return nil, fmt.Errorf("write the export: %w", x.err)
	}
	return x.out, nil
}

type exporter struct {
	v   *View
	w   *bufio.Writer
	err error // of writing
	out *Exported
	buf []byte
	// bodies are those that were written or are missing, by hash; known are the runs
	// that were or will be written, todo those that will. Looked up only.
	bodies map[string]bool
	known  map[string]bool
	todo   []string
}

// redacted returns how many values were taken out so far.
func (x *exporter) redacted() int64 {
	if x.v.redactor == nil {
		return 0
	}
	return x.v.redactor.Total()
}

func (x *exporter) line(l *line) {
	text, err := json.Marshal(l)
	if err != nil {
		x.fail(err)
		return
	}
	x.write(text)
}

func (x *exporter) write(text []byte) {
	if x.err == nil {
		_, x.err = x.w.Write(append(text, '\n'))
	}
}

func (x *exporter) fail(err error) {
	if x.err == nil {
		x.err = err
	}
}

func (x *exporter) left(layout string, args ...any) {
	x.out.Left = append(x.out.Left, fmt.Sprintf(layout, args...))
}

// run writes one run. Only what keeps all of it from being read is an error.
func (x *exporter) run(ctx context.Context, run string) error {
	before := x.redacted()
	head, err := x.v.Head(ctx, run)
	var missing *journal.NotFoundError
	if errors.As(err, &missing) {
		x.left("run %s, which a call names, is not in the store", run)
		return nil
	}
	if err != nil {
		return err
	}
	x.out.Runs++
	first := &line{Line: "run", Run: run}
	if first.Forked, err = x.base(ctx, run); err != nil {
		return err
	}
	x.line(first)
	end := &line{Line: "run.end", Run: run}
	for r, err := range x.v.Records(ctx, run, 1) {
		var damage *journal.DamageError
		if errors.As(err, &damage) {
			end.Damage = damage.Error()
			x.left("%s; the export has what comes before", end.Damage)
			break
		}
		if err != nil {
			return err
		}
		if x.err != nil {
			return nil
		}
		if err := x.event(ctx, &r); err != nil {
			return err
		}
		end.Events, end.Hash = r.Seq, r.Hash.String()
	}
	if end.Redacted = x.redacted() - before; end.Redacted > 0 {
		end.Original = head.Hash.String()
	}
	x.line(end)
	return nil
}

// base returns the run that this one was forked from, nil if it was not.
func (x *exporter) base(ctx context.Context, run string) (*forked, error) {
	family, err := x.v.Family(ctx, run)
	if err != nil {
		return nil, err
	}
	for _, f := range family {
		if f.Base {
			return &forked{f.Run, f.Shared}, nil
		}
	}
	return nil, nil
}

// event writes an event, before it the bodies that it refers to, and notes the runs
// that it names.
func (x *exporter) event(ctx context.Context, r *event.Record) error {
	d, err := event.DecodeData(r.Type, r.Data)
	if err != nil {
		return fmt.Errorf("event %d of run %s: %w", r.Seq, r.Run, err)
	}
	if _, unknown := d.(*event.Unknown); unknown {
		x.left("event %d of run %s is of a type that this version does not know (%.40q): if it refers to bodies, they are not in the export", r.Seq, r.Run, r.Type)
	}
	for _, ref := range Refs(d) {
		if err := x.body(ctx, *ref); err != nil {
			return err
		}
	}
	if s, ok := d.(*event.ToolStarted); ok && s.Run != "" && !x.known[s.Run] && len(x.known) < MaxRuns {
		x.known[s.Run] = true
		x.todo = append(x.todo, s.Run)
	}
	x.buf = event.AppendRecord(x.buf[:0], r)
	x.write(x.buf)
	x.out.Events++
	return nil
}

// body writes a body, if that was not done before.
func (x *exporter) body(ctx context.Context, ref message.Ref) error {
	if x.bodies[ref.SHA256] {
		return nil
	}
	x.bodies[ref.SHA256] = true
	l := &line{Line: "body", SHA256: ref.SHA256, Bytes: ref.Bytes, MediaType: ref.MediaType}
	if ref.Bytes > MaxBody || ref.Bytes < 0 {
		l.Missing = fmt.Sprintf("it has %d bytes, and %d is the most that is exported", ref.Bytes, MaxBody)
	}
	var body []byte
	if l.Missing == "" {
		var err error
		var broken *journal.BodyError
		if body, err = x.v.Body(ctx, ref); errors.As(err, &broken) {
			l.Missing = broken.Error()
		} else if err != nil {
			return err
		}
	}
	if l.Missing != "" {
		x.left("the body %s: %s", ref.SHA256, l.Missing)
		x.line(l)
		return nil
	}
	x.out.Bodies++
	x.pieces(l, body)
	return nil
}

// pieces writes a body in lines.
func (x *exporter) pieces(l *line, body []byte) {
	isText := utf8.Valid(body)
	for first := true; first || len(body) > 0; first = false {
		n := min(len(body), chunk)
		if isText {
			n = cut.Down(body, n)
			text := string(body[:n])
			l.Text = &text
		} else {
			l.Base64 = bytes.Clone(body[:n])
		}
		x.line(l)
		l.At += int64(n)
		body = body[n:]
	}
}
