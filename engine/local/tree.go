package local

import (
	"context"
	"fmt"
	"sync"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

// tree is what the runs of a tree share while they are carried out here: that one
// question at a time is put, and that what must not be done twice is not, whichever
// of the runs asks for it. What one run has begun stands in its own journal; the
// tree knows only which run that is, and reads there what became of it.
//
// It is safe for concurrent use. Runs of the tree that another process carries out
// at the same time are not known to it.
type tree struct {
	e *Engine
	// asking has room for the question that is before somebody.
	asking chan struct{}

	mu     sync.Mutex
	claims map[string]*claim // by key; looked up only
}

// claim says which run has begun an act last.
type claim struct {
	run string
	// n counts how often it was begun.
	n int64
	// pending: that does not stand in the run's journal yet.
	pending bool
}

// lookAgain is how often a call looks whether the same call of another run has come
// to its end.
const lookAgain = 50 * time.Millisecond

// maxFamily bounds the runs of a tree whose journals are read when one is resumed.
const maxFamily = 10_000

// plant makes the tree of a run that nobody has started here, of the journals of the
// runs that belong to it, if it calls agents or is not at the top of its tree.
func (a *actor) plant() error {
	if a.tree != nil || !needsTree(a.m) {
		return nil
	}
	t := &tree{e: a.e, asking: make(chan struct{}, 1), claims: map[string]*claim{}}
	runs := a.m.Children()
	if root := a.m.Root(); root != a.job.Run {
		var err error
		if a.depth, err = a.e.depth(a.ctx, a.job.Run); err != nil {
			return err
		}
		runs = append([]string{root}, runs...)
	}
	known := map[string]bool{a.job.Run: true}
	for n := 0; len(runs) > 0 && n < maxFamily; n++ {
		run := runs[0]
		if runs = runs[1:]; known[run] {
			continue
		}
		known[run] = true
		m := loop.New(run)
		if _, err := a.e.refold(a.ctx, m, run); err != nil {
			if missing(err) {
				continue // it was not begun any more
			}
			return fmt.Errorf("read what the runs of the tree have done: %w", err)
		}
		t.add(run, m)
		runs = append(runs[:len(runs):len(runs)], m.Children()...)
	}
	t.add(a.job.Run, a.m)
	a.tree = t
	return nil
}

// needsTree reports whether a run may do what another run of its tree has done, or
// has runs below it.
func needsTree(m *loop.Machine) bool {
	spec := m.Spec()
	for i := range spec.Tools {
		if t := &spec.Tools[i]; t.Agent != "" || !t.Harness && t.Effect == event.Once && m.Root() != m.Run() {
			return true
		}
	}
	return false
}

// depth returns how many runs are above one.
func (e *Engine) depth(ctx context.Context, run string) (n int, err error) {
	for ; n < maxParents; n++ {
		d, err := e.started(ctx, run)
		if err != nil || d.Call == "" {
			return n, err
		}
		run = d.Parent
	}
	return n, nil
}

// add takes note of what a run has begun.
func (t *tree) add(run string, m *loop.Machine) {
	for _, o := range m.Ledger() {
		t.claims[o.Key] = &claim{run: run}
	}
}

// claim notes that a run is about to begin an act, and reports whether another has
// begun it before.
func (t *tree) claim(key, run string) (other bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.claims[key]
	if c == nil {
		c = &claim{run: run}
		t.claims[key] = c
	}
	if c.run != run {
		return true
	}
	c.n++
	c.pending = true
	return false
}

// begun notes that the act that a run was about to begin stands in its journal.
func (t *tree) begun(key, run string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.claims[key]; c != nil && c.run == run {
		c.pending = false
	}
}

// whose returns the claim to an act, as it is now.
func (t *tree) whose(key string) claim {
	t.mu.Lock()
	defer t.mu.Unlock()
	return *t.claims[key]
}

// pass makes an act another run's, unless something has become of the claim since
// it was looked at. It reports whether it did.
func (t *tree) pass(key string, was claim, run string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.claims[key]; *c != was {
		return false
	}
	t.claims[key] = &claim{run: run}
	return true
}

// ask waits until a question may be put; false: ctx has ended before.
func (t *tree) ask(ctx context.Context) bool {
	if t == nil {
		return true
	}
	select {
	case t.asking <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// asked: the question is answered, or left open.
func (t *tree) asked() {
	if t != nil {
		<-t.asking
	}
}

// elsewhere returns the outcome of a call of which another run of the tree has begun
// the same act; nil if it may be carried out, since it is known that nothing was done
// there. It waits for the end of the other call, except if that is carried out by an
// agent: then it may be what waits for this one.
func (a *actor) elsewhere(f *flight, c *loop.RunTool, agent bool) event.Data {
	for {
		claim := a.tree.whose(c.Key)
		other := claim.run
		goes := a.e.carries(other) // before its journal is read, which is all there is if it is not
		o, err := a.tree.of(&f.ctx, other, c.Key)
		if o == nil && claim.pending && goes {
			o = &loop.Once{} // about to begin
		}
		switch {
		case other == a.job.Run:
			return nil
		case err != nil:
			return a.e.admit(a.ctx, a.failed(f, c, &tool.Error{Type: tool.TypeUnknown, Unknown: true,
				Message: "whether run " + other + " has done the same cannot be read: " + err.Error()}, alive))
		case o == nil:
			if a.tree.pass(c.Key, claim, a.job.Run) {
				return nil
			}
		case o.Settled, o.Done != nil && !o.Unknown:
			return a.e.admit(a.ctx, doneElsewhere(c, other, o))
		case o.Unknown || !goes:
			e := &tool.Error{Type: tool.TypeUnknown, Unknown: true,
				Message: theOther(o, other) + " asked for the same; whether it took effect is unknown"}
			return a.e.admit(a.ctx, a.failed(f, c, explained(e, false, event.StatusUnknown, c, f.spec), alive))
		case agent:
			return a.e.admit(a.ctx, a.failed(f, c, &tool.Error{Type: "in_progress", NoEffect: true,
				Message: "the call was not begun: " + theOther(o, other) + " asks for the same and is still carried out",
				Hint:    "do not repeat it; go on with something else"}, alive))
		case !pauseFor(&f.ctx, lookAgain):
			return a.e.admit(a.ctx, a.failed(f, c, &tool.Error{Type: tool.TypeUnknown, Unknown: true,
				Message: theOther(o, other) + " asks for the same and has not come to its end; whether it takes effect is unknown",
				Hint:    "do not repeat it; find out later by reading whether it took effect"}, alive))
		}
	}
}

// of returns what a run has begun under a key, nil if nothing or without effect.
func (t *tree) of(ctx context.Context, run, key string) (*loop.Once, error) {
	m := loop.New(run)
	if _, err := t.e.refold(ctx, m, run); err != nil {
		if missing(err) {
			return nil, nil
		}
		return nil, err
	}
	for _, o := range m.Ledger() {
		if o.Key == key {
			return &o, nil
		}
	}
	return nil, nil
}

// theOther names the call of another run.
func theOther(o *loop.Once, run string) string {
	name := "run " + run
	if o.Call != "" {
		name = "call " + o.Call + " of " + name
	}
	return name + ", which belongs to the same task,"
}

// doneElsewhere returns the outcome of a call that another run has carried out.
func doneElsewhere(c *loop.RunTool, run string, o *loop.Once) *event.ToolFinished {
	d := &event.ToolFinished{ID: c.ID, Call: c.Call, Tool: c.Tool, Status: event.StatusIntercepted}
	text := "This call was not run: " + theOther(o, run) + " asked for the same, and it must not be done twice."
	var parts []message.Part
	if o.Settled || o.Done == nil {
		text += " It is confirmed that it was carried out. Do not repeat it."
	} else {
		text += " This is what came of it:"
		parts = o.Done.Parts
		d.ErrorType, d.ErrorMessage, d.Full = o.Done.ErrorType, o.Done.ErrorMessage, o.Done.Full
	}
	d.Parts = append([]message.Part{{Kind: message.Text, Text: text}}, parts...)
	for _, p := range d.Parts {
		d.Shown += int64(len(p.Text))
	}
	d.Size = d.Shown
	return d
}

// carries reports whether a run is carried out by this engine.
func (e *Engine) carries(run string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.runs[run] != nil
}

// pauseFor waits, and reports false if ctx has ended before.
func pauseFor(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
