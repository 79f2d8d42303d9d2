package simtest

import (
	"context"
	"slices"

	"rein.example/rein/journal"
)

// Family returns the runs that share events with one.
func (v *view) Family(ctx context.Context, run string) ([]journal.Relative, error) {
	if err := v.enter(ctx); err != nil {
		return nil, err
	}
	defer v.mu.Unlock()
	r, err := v.find(run)
	if err != nil {
		return nil, err
	}
	mine, base := v.line(r), v.base(r)
	var out []journal.Relative
	for _, other := range v.order {
		if shared := common(mine, v.line(other)); other != r && shared > 0 {
			out = append(out, journal.Relative{Run: other.id, Shared: shared, Live: v.leases[other.owner].live(), Base: other == base})
		}
	}
	return out, nil
}

// base returns the run that holds the events that a fork does not have of its own,
// nil for no fork.
func (d *disk) base(l *log) *log {
	if l.parent == "" {
		return nil
	}
	base := d.runs[l.parent]
	for base.parent != "" && l.shared <= base.shared {
		base = d.runs[base.parent]
	}
	return base
}

// ancestor is a run that another comes from, itself included, with the last event
// that it has of it.
type ancestor struct {
	log    *log
	shared int64
}

// line returns what a run comes from, itself first.
func (d *disk) line(l *log) []ancestor {
	line := []ancestor{{l, l.end()}}
	for shared := l.end(); l.parent != ""; {
		shared = min(shared, l.shared)
		l = d.runs[l.parent]
		line = append(line, ancestor{l, shared})
	}
	return line
}

// common returns the last event that two runs share, 0 for none: they have what both
// have of the first run that they both come from.
func common(a, b []ancestor) int64 {
	for _, x := range a {
		if i := slices.IndexFunc(b, func(y ancestor) bool { return y.log == x.log }); i >= 0 {
			return min(x.shared, b[i].shared)
		}
	}
	return 0
}
