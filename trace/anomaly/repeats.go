package anomaly

import (
	"fmt"

	"rein.example/rein/event"
	"rein.example/rein/trace"
)

// maxRepeats is how many different calls are remembered since the last change.
const maxRepeats = 1024

// stuckAt is how often the same call comes before it probably explains a bad end.
const stuckAt = 3

// repeats are the calls since something was last changed or said.
type repeats struct {
	seen map[repeatKey]*repeat // looked up only
}

type repeatKey struct {
	tool string
	hash event.Hash
}

// repeat is one call that may come again.
type repeat struct {
	n     int64
	first place
	at    int  // its anomaly, if n > 1; -1: none
	pass  bool // the last one has failed in a way that may pass: another try is no repeat
}

// forget begins anew: what was seen may be different now.
func (r *repeats) forget() { clear(r.seen) }

// result notes that a call has failed in a way that may pass.
func (r *repeats) result(c *call, d *event.ToolFinished) {
	if k := r.seen[repeatKey{c.tool.name, c.hash}]; k != nil {
		k.pass = d.Status != event.StatusSuccess && d.Retryable
	}
}

// repeated looks for a call that was made before, whether it is carried out or not.
func (f *Fold) repeated(c *call, d *event.CallJudged) {
	if c.tool.polling() || c.tool.harness() || d.ArgsHash == (event.Hash{}) {
		return
	}
	r := &f.repeats
	if r.seen == nil {
		r.seen = map[repeatKey]*repeat{}
	}
	key := repeatKey{d.Tool, d.ArgsHash}
	k := r.seen[key]
	switch {
	case k == nil:
		if len(r.seen) >= maxRepeats {
			r.forget()
		}
		r.seen[key] = &repeat{n: 1, first: c.place, at: -1}
		return
	case k.pass:
		return
	}
	k.n++
	level, text := trace.Notice, fmt.Sprintf("%s is called again with the same arguments as in step %d, and nothing was changed between", d.Tool, k.first.step)
	if k.n >= stuckAt {
		level, text = trace.Warning, fmt.Sprintf("%s is called %s with the same arguments since step %d, and nothing was changed between", d.Tool, plural(k.n, "time"), k.first.step)
	}
	if d.Verdict == event.Intercept {
		text += "; it was not executed again"
	}
	if k.at < 0 {
		k.at = f.report(RepeatedCall, level, c.place, c.id, "%s", text)
		return
	}
	a := &f.found[k.at]
	a.Level, a.Text, a.Step, a.Event, a.Call = level, text, c.step, c.event, c.id
}
