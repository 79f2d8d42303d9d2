package portable

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"unicode/utf8"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/message"
)

// View is a store as it may leave the machine: what is read from it has gone through
// a redactor, events and bodies, with a hash chain that holds. A run in which nothing
// is found reads as it is, byte for byte. A reference to a body whose text has changed
// names the changed one, which [View.Body] has.
//
// It is for reading only and not safe for concurrent use.
type View struct {
	journal.Store
	archive  journal.Archiver
	redactor *Redactor

	// changed are the bodies that have become others, by their hash; original has the
	// references to what they were, by the hash that they have now. Looked up only.
	changed  map[string]ref
	original map[string]message.Ref
	seen     map[string]bool
	// counted is how far each run was read, so that nothing is counted twice.
	counted map[string]int64
	opaque  int64
	// learned are the runs whose secrets are known; looked up only.
	learned map[string]bool
	// lost are the bodies that were asked for and that the store does not give, in words.
	lost []string
}

// NewView returns the view of a store, which must be a [journal.Archiver]. With a nil
// redactor everything is as it is.
func NewView(s journal.Store, r *Redactor) (*View, error) {
	a, ok := s.(journal.Archiver)
	if !ok {
		return nil, fmt.Errorf("a store of this kind (%T) cannot give its journals as they are", s)
	}
	return &View{Store: s, archive: a, redactor: r, changed: map[string]ref{}, original: map[string]message.Ref{}, seen: map[string]bool{}, counted: map[string]int64{}, learned: map[string]bool{}}, nil
}

// Opaque returns how many bodies that runs refer to were not looked into, since they
// are no text.
func (v *View) Opaque() int64 { return v.opaque }

// Records yields a run's records as they may leave.
func (v *View) Records(ctx context.Context, run string, from int64) iter.Seq2[event.Record, error] {
	return func(yield func(event.Record, error) bool) {
		var last event.Hash
		if err := v.learn(ctx, run); err != nil {
			yield(event.Record{}, err)
			return
		}
		for r, err := range v.archive.Records(ctx, run, 1) {
			if err == nil && v.redactor != nil {
				err = v.redact(ctx, &r, &last)
			}
			v.counted[run] = max(v.counted[run], r.Seq)
			if err == nil && r.Seq < from {
				continue
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// Read yields a run's events as they may leave.
func (v *View) Read(ctx context.Context, run string, from int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for r, err := range v.Records(ctx, run, from) {
			var e event.Event
			if err == nil {
				e, err = r.Event()
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// redact changes a record into what may leave; last is the hash of the one before.
func (v *View) redact(ctx context.Context, r *event.Record, last *event.Hash) error {
	defer v.redactor.mute(r.Seq <= v.counted[r.Run])()
	d, err := event.DecodeData(r.Type, r.Data)
	if err != nil {
		return fmt.Errorf("event %d: %w", r.Seq, err)
	}
	for _, ref := range Refs(d) {
		if err := v.look(ctx, *ref); err != nil {
			return err
		}
	}
	r.Data = v.data(r)
	r.Prev = *last
	r.Hash = r.ComputeHash()
	*last = r.Hash
	return nil
}

// data returns a record's data without secrets. Where a value that was found elsewhere is
// one of the journal's own words, that would be no event any more: then it stays.
func (v *View) data(r *event.Record) []byte {
	out := v.redactor.json(r.Data, v.changed)
	if _, err := event.DecodeData(r.Type, out); err == nil {
		return out
	}
	v.redactor.apart = true
	defer func() { v.redactor.apart = false }()
	defer v.redactor.mute(true)()
	return v.redactor.json(r.Data, v.changed)
}

// look redacts a body that an event refers to, once. One that cannot be read is left
// to whoever reads it.
func (v *View) look(ctx context.Context, at message.Ref) error {
	if v.seen[at.SHA256] {
		return nil
	}
	v.seen[at.SHA256] = true
	body, err := v.Store.Body(ctx, at)
	var broken *journal.BodyError
	switch {
	case errors.As(err, &broken):
		return nil
	case err != nil:
		return err
	case !utf8.Valid(body):
		v.opaque++
		return nil
	}
	out := v.text(body)
	if out == nil {
		return nil
	}
	now := refOf(out, at.MediaType)
	v.changed[at.SHA256] = ref{now.SHA256, now.Bytes}
	v.original[now.SHA256] = at
	return nil
}

// text returns a body without secrets, nil if there are none.
func (v *View) text(body []byte) []byte {
	if s := string(body); v.redactor != nil {
		if out := v.redactor.Text(s); out != s {
			return []byte(out)
		}
	}
	return nil
}

// Body returns a body that an event of the view refers to.
func (v *View) Body(ctx context.Context, at message.Ref) ([]byte, error) {
	was, changed := v.original[at.SHA256]
	if !changed {
		was = at
	}
	body, err := v.Store.Body(ctx, was)
	var broken *journal.BodyError
	if errors.As(err, &broken) && !slices.Contains(v.lost, broken.Error()) && len(v.lost) < mostLost {
		v.lost = append(v.lost, broken.Error())
	}
	if err != nil || !changed {
		return body, err
	}
	defer v.redactor.mute(true)()
	return v.text(body), nil
}

// mostLost is how many bodies [View.Lost] names.
const mostLost = 100

// Lost returns, in words, the bodies that were asked for and that the store does not
// give, the first 100 of them.
func (v *View) Lost() []string { return slices.Clone(v.lost) }

// Refs returns the references to bodies in an event.
func Refs(d event.Data) (out []*message.Ref) {
	add := func(parts []message.Part, full *message.Ref) {
		for i := range parts {
			if parts[i].Ref != nil {
				out = append(out, parts[i].Ref)
			}
		}
		if full != nil {
			out = append(out, full)
		}
	}
	switch d := d.(type) {
	case *event.InputReceived:
		add(d.Parts, d.Full)
	case *event.ModelAnswered:
		add(d.Message.Parts, nil)
	case *event.MaterialRetrieved:
		add(d.Parts, nil)
	case *event.ToolFinished:
		add(d.Parts, d.Full)
	}
	return out
}

// Exported says what has been read through the view so far, for an export of a run.
func (v *View) Exported(run string) *Exported {
	x := &Exported{Run: run, Redacted: []Finding{}, Unchecked: v.opaque, Left: []string{}}
	for _, n := range v.counted { // order: a sum
		x.Runs++
		x.Events += n
	}
	if v.redactor != nil {
		x.Redacted = v.redactor.Found()
	}
	return x
}
