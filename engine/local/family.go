package local

import (
	"context"
	"fmt"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/tool"
)

// Runs that were forked from one another have the same root, and so the same keys: an
// act that must not be done twice is not, whichever of them asks for it, and whichever
// process carries them out. Nothing but their journals tells one of another. So before
// such an act begins its intent is durable, and then the journals of all others are
// read: of two that begin it at the same time, at least one sees the other.

// kin is what is known of a run's relations when a call of it begins.
type kin struct {
	root     string
	children []string
}

// kinOf returns what a call has to look for in other journals.
func (a *actor) kinOf() kin { return kin{a.m.Root(), a.m.Children()} }

const (
	// turnAway is how long a call waits for the same call of another run, in a pair of
	// runs of which each may wait for the other, before it gives up without effect.
	turnAway = 2 * time.Second
	// lookAtOthers is how often it looks, which means to read their journals.
	lookAtOthers = 200 * time.Millisecond
	// typeElsewhere is the error of a call that another run carries out at the time.
	typeElsewhere = "in_progress"
)

// relative is another run that may have done the same.
type relative struct {
	run    string
	shared int64 // the events that both have
	live   bool
}

// deed is what another run knows of an act.
type deed struct {
	relative
	once loop.Once
	// began is the sequence of the event by which it was begun last.
	began int64
}

// inFamily returns the outcome of a call of which another run, forked from this one's
// family, has begun the same act; nil if it may be carried out. Calls that are carried
// out there at this moment are waited for, if they may come to an end soon.
func (a *actor) inFamily(f *flight, c *loop.RunTool, soon bool) event.Data {
	if c.Effect != event.Once || c.Key == "" {
		return nil
	}
	give := time.Now().Add(timeout(c))
	for {
		d, err := a.deedOf(&f.ctx, f.kin, c)
		switch {
		case err != nil:
			return a.e.admit(a.ctx, a.failed(f, c, &tool.Error{Type: tool.TypeUnknown, Unknown: true,
				Message: "whether a run that this one shares its beginning with has done the same cannot be read: " + err.Error()}, alive))
		case d == nil:
			return nil
		case d.once.Settled, d.once.Done != nil && !d.once.Unknown:
			return a.e.admit(a.ctx, doneElsewhere(c, d.run, &d.once))
		case d.once.Unknown || !d.live:
			e := &tool.Error{Type: tool.TypeUnknown, Unknown: true, Message: theOther(&d.once, d.run) + " asked for the same; whether it took effect is unknown"}
			return a.e.admit(a.ctx, a.failed(f, c, explained(e, false, event.StatusUnknown, c, f.spec), alive))
		}
		if a.job.Run > d.run { // the other one waits longer
			give = sooner(give, f.begun.Add(turnAway))
		}
		if !soon || !time.Now().Before(give) || !pauseFor(&f.ctx, lookAtOthers) {
			return a.e.admit(a.ctx, a.failed(f, c, &tool.Error{Type: typeElsewhere, NoEffect: true,
				Message: "the call was not begun: " + theOther(&d.once, d.run) + " asks for the same and is still carried out",
				Hint:    "do not repeat it now; go on with something else, and find out later by reading whether it took effect"}, alive))
		}
	}
}

func sooner(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// deedOf returns what another run of the family has done of a call's act, the surest
// first; nil if nothing that this run would do again.
func (a *actor) deedOf(ctx context.Context, k kin, c *loop.RunTool) (*deed, error) {
	others, err := a.e.relatives(ctx, a.job.Run, k)
	if err != nil {
		return nil, err
	}
	var worst *deed
	for _, r := range others {
		d, err := a.e.deed(ctx, r, c.Key)
		if err != nil {
			return nil, fmt.Errorf("read run %s: %w", r.run, err)
		}
		switch {
		case d == nil:
		case d.once.Settled, d.once.Done != nil && !d.once.Unknown:
			return d, nil
		case d.once.Unknown && (d.began <= r.shared || c.Attempt > 1):
			// That it was begun this run knows, too, and has found out what came of it.
		case d.once.Done == nil && !r.live && d.began <= r.shared:
			// It was begun before they parted, by a process that is gone.
		case worst == nil || d.live:
			worst = d
		}
	}
	return worst, nil
}

// relatives returns the runs that have a beginning in common with a run, with one
// above or below it or with one below these; none if nobody was forked.
func (e *Engine) relatives(ctx context.Context, run string, k kin) ([]relative, error) {
	known := map[string]bool{run: true}
	var out []relative
	forks := func(of string) error {
		family, err := e.store.Family(ctx, of)
		if missing(err) {
			return nil
		}
		for _, r := range family {
			if known[r.Run] {
				continue
			}
			known[r.Run] = true
			shared := r.Shared
			if of != run {
				shared = 0
			}
			out = append(out, relative{r.Run, shared, r.Live || e.carries(r.Run)})
		}
		return err
	}
	near := append([]string{run}, k.children...)
	if k.root != run {
		near = append(near, k.root)
	}
	for up, ok := event.Above(run); ok; up, ok = event.Above(up) {
		near = append(near, up) // which may be a fork, and this run one below it
	}
	for _, of := range near {
		if err := forks(of); err != nil {
			return nil, err
		}
	}
	// Below a run that was forked there may be others, and forks of those.
	for i := 0; i < len(out) && len(out) < maxFamily; i++ {
		_, below, err := e.ledger(ctx, out[i].run)
		if err != nil {
			return nil, err
		}
		for _, child := range below {
			if !known[child] {
				known[child] = true
				out = append(out, relative{run: child, live: e.carries(child)})
			}
			if err := forks(child); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// deed returns what a run knows of an act, nil if nothing, or that it had no effect.
func (e *Engine) deed(ctx context.Context, r relative, key string) (*deed, error) {
	acts, _, err := e.ledger(ctx, r.run)
	if err != nil || acts[key] == nil {
		return nil, err
	}
	d := acts[key]
	d.relative = r
	return d, nil
}

// ledger reads what a run has begun that must not be done twice, by key, and which
// runs carry out calls of it. A run that is not there has done nothing.
func (e *Engine) ledger(ctx context.Context, run string) (acts map[string]*deed, below []string, err error) {
	m := loop.New(run)
	began := map[string]int64{} // looked up only
	for ev, err := range e.store.Read(ctx, run, 1) {
		if torn(err) {
			break // whoever carries it on cuts that off
		}
		if missing(err) {
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
		if d, ok := ev.Data.(*event.ToolStarted); ok && d.Effect == event.Once {
			began[d.Key] = ev.Seq
		}
		if err := m.Apply(&ev); err != nil {
			return nil, nil, err
		}
	}
	acts = map[string]*deed{}
	for _, o := range m.Ledger() {
		acts[o.Key] = &deed{once: o, began: began[o.Key]}
	}
	return acts, m.Children(), nil
}
