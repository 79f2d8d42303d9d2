package anomaly

import (
	"math/bits"

	"rein.example/rein/event"
	"rein.example/rein/trace"
)

// waits measures what the run has waited for.
type waits struct {
	places map[string]place // of model calls under way; looked up only
	model  slow
	queue  slow
	person slow
	tools  map[string]*slow // looked up only
	names  []string
	since  int64 // when the run began to wait for somebody, in Unix milliseconds
}

// slow is what is known of waits of one kind: how long they are usually, and the
// longest.
type slow struct {
	n       int64
	buckets [maxBuckets]int32
	worst   int64
	at      place
	call    string
}

// maxBuckets is enough for 2^40 ms, four buckets for each power of two.
const maxBuckets = 164

func (s *slow) add(ms int64, at place, call string) {
	if ms < 0 {
		return
	}
	s.n++
	s.buckets[bucket(ms)]++
	if ms > s.worst {
		s.worst, s.at, s.call = ms, at, call
	}
}

// bucket returns the place of a duration: exact up to 7 ms, within a quarter above.
func bucket(ms int64) int {
	if ms < 8 {
		return int(ms)
	}
	n := bits.Len64(uint64(ms))
	return min(8+(n-4)*4+int(ms>>(n-3)&3), maxBuckets-1)
}

// longest returns the longest duration of a bucket.
func longest(b int) int64 {
	if b < 8 {
		return int64(b)
	}
	n := (b-8)/4 + 4
	return int64(5+(b-8)%4)<<(n-3) - 1
}

// median returns about the middle one, from above.
func (s *slow) median() int64 {
	left := (s.n + 1) / 2
	for i := range s.buckets {
		if left -= int64(s.buckets[i]); left <= 0 {
			return longest(i)
		}
	}
	return 0
}

// maxUnderWay is how many model calls are under way at most.
const maxUnderWay = 64

func (w *waits) began(id string, at place) {
	if w.places == nil {
		w.places = map[string]place{}
	}
	if len(w.places) >= maxUnderWay {
		clear(w.places)
	}
	w.places[id] = at
}

// answered measures a reply, and returns where its request stands.
func (w *waits) answered(d *event.ModelAnswered) (place, bool) {
	at, ok := w.places[d.ID]
	if ok {
		w.model.add(d.Latency, at, "")
		delete(w.places, d.ID)
	}
	return at, ok
}

// waited measures how long a model call has waited for its turn.
func (f *Fold) waited(id string, ms int64) {
	if at, ok := f.waits.places[id]; ok {
		f.waits.queue.add(ms, at, "")
	}
}

// tool measures an execution. A tool that is an agent takes as long as its run.
func (w *waits) tool(c *call, d *event.ToolFinished) {
	if c.tool.spec != nil && c.tool.spec.Agent != "" {
		return
	}
	s := w.tools[c.tool.name]
	if s == nil {
		if w.tools == nil {
			w.tools = map[string]*slow{}
		}
		s = &slow{}
		w.tools[c.tool.name] = s
		w.names = append(w.names, c.tool.name)
	}
	s.add(d.Latency, c.place, c.id)
}

// paused notes that the run waits for a person's words.
func (w *waits) paused(now int64, cause event.Cause) {
	if cause == event.CauseWaitingInput {
		w.since = now
	}
}

// resumed ends such a wait, which began at a step.
func (w *waits) resumed(now int64, at place) {
	if w.since > 0 && now > w.since {
		w.person.add(now-w.since, at, "")
	}
	w.since = 0
}

const (
	// outlier is how many times the median a wait is, of at least outlierOf waits.
	outlier, outlierOf = 10, 5
	// How long it is at least, in milliseconds.
	longModel, longQueue, longTool, longPerson = 30_000, 10_000, 10_000, 600_000
)

// delays adds the longest waits.
func (f *Fold) delays(out *[]trace.Anomaly) {
	add := func(s *slow, least int64, what string) {
		middle := s.median()
		if s.n < outlierOf || s.worst < least || s.worst < outlier*max(middle, 1) {
			return
		}
		*out = append(*out, trace.Anomaly{Kind: LongWait, Level: trace.Notice, Step: s.at.step, Event: s.at.event, Call: s.call,
			Text: what + " " + duration(s.worst) + "; half of " + number(s.n) + " took " + duration(middle) + " or less"})
	}
	w := &f.waits
	add(&w.model, longModel, "the reply took")
	add(&w.queue, longQueue, "the request waited for its turn at the server for")
	for _, name := range w.names {
		add(w.tools[name], longTool, name+" took")
	}
	if p := &w.person; p.worst >= longPerson {
		*out = append(*out, trace.Anomaly{Kind: LongWait, Level: trace.Notice, Step: p.at.step, Event: p.at.event, Call: p.call,
			Text: "the run waited for a person for " + duration(p.worst)})
	}
}
