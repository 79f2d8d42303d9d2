package portable

import (
	"context"
	"errors"
	"unicode/utf8"

	"rein.example/rein/event"
	"rein.example/rein/journal"
)

// learn reads a run and those below it, once, for the values that names show to be
// secrets: they are then taken out wherever they stand, also before the name. What
// cannot be read is left to whoever reads it then.
func (v *View) learn(ctx context.Context, run string) error {
	if v.redactor == nil || v.learned[run] {
		return nil
	}
	defer v.redactor.mute(true)()
	v.redactor.fixed = false
	defer func() { v.redactor.fixed = true }()
	seen := map[string]bool{} // looked up only
	v.learned[run] = true
	for todo := []string{run}; len(todo) > 0; todo = todo[1:] {
		below, err := v.learnOne(ctx, todo[0], seen)
		if err != nil {
			return err
		}
		todo = append(todo, below...)
	}
	return nil
}

// learnOne reads one run, and returns those that it names.
func (v *View) learnOne(ctx context.Context, run string, seen map[string]bool) (below []string, err error) {
	for r, err := range v.archive.Records(ctx, run, 1) {
		var damage *journal.DamageError
		var missing *journal.NotFoundError
		if errors.As(err, &damage) || errors.As(err, &missing) {
			break
		}
		if err != nil {
			return nil, err
		}
		d, err := event.DecodeData(r.Type, r.Data)
		if err != nil {
			break
		}
		for _, ref := range Refs(d) {
			if seen[ref.SHA256] || ref.Bytes > MaxBody {
				continue
			}
			seen[ref.SHA256] = true
			body, err := v.Store.Body(ctx, *ref)
			if err == nil && utf8.Valid(body) {
				v.redactor.Text(string(body))
			}
		}
		v.redactor.json(r.Data, nil)
		if s, ok := d.(*event.ToolStarted); ok && s.Run != "" && !v.learned[s.Run] && len(v.learned) < MaxRuns {
			v.learned[s.Run] = true
			below = append(below, s.Run)
		}
	}
	return below, nil
}
