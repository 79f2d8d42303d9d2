package html

import (
	"errors"
	"fmt"
	"math/bits"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/message"
	"rein.example/rein/trace"
)

// facts are what a first reading of a run gives: all that stands before its steps, and
// what is needed to write them one by one.
type facts struct {
	run *Run
	// place is its place on the page, 0 for the run that the page is of; above that of
	// the run that it is below, and call the call that it carries out.
	place, above, depth int
	call                string

	fold trace.Fold
	spec *event.Spec // with the models that the run asks in the end
	// first and last are times; end is the last event that is shown.
	first, last, end int64
	fork             string
	forkedAfter      int64
	// reported is the model's name as the server gives it.
	reported string
	paused   *event.RunPaused
	finished *event.RunFinished
	damage   *journal.DamageError

	totals trace.Totals
	steps  int64 // the number of the last one
	// has are the steps that there are; looked up only.
	has map[int64]bool
	// below are the calls whose runs are below, in order.
	below []childCall
	// args are the beginnings of calls' arguments, by call; looked up only.
	args map[string]string
	// rewritten says for which step a rewrite of the context was, by its event; looked
	// up only.
	rewritten map[int64]int64
	sizes     sizes
	// anomalies are the places of the run's anomalies in its list, by step; looked up only.
	anomalies map[int64][]int
}

type childCall struct{ run, call string }

// mostArgs is the most characters of arguments in the table of steps.
const mostArgs = 100

// read reads the run.
func (f *facts) read() error {
	f.args, f.rewritten, f.has = map[string]string{}, map[int64]int64{}, map[int64]bool{}
	for e, err := range f.run.Events {
		if errors.As(err, &f.damage) {
			break
		}
		if err != nil {
			return fmt.Errorf("read run %s: %w", f.run.ID, err)
		}
		f.add(&e)
	}
	f.anomalies = map[int64][]int{}
	for i := range f.run.Anomalies {
		step := f.run.Anomalies[i].Step
		f.anomalies[step] = append(f.anomalies[step], i)
	}
	f.totals = f.fold.Totals()
	for _, c := range f.fold.Compactions() {
		f.rewritten[c.Event] = c.Step
	}
	return nil
}

func (f *facts) add(e *event.Event) {
	f.fold.Add(e)
	f.sizes.event(e)
	if f.first == 0 {
		f.first = e.Time
	}
	f.last, f.end = e.Time, e.Seq
	switch d := e.Data.(type) {
	case *event.RunStarted:
		f.spec = &d.Spec
	case *event.RunResumed:
		f.paused = nil
		if d.Models != nil && f.spec != nil {
			f.spec = f.spec.With(d.Models)
		}
		if d.Fork != "" {
			f.fork, f.forkedAfter = d.Fork, e.Seq-1
		}
	case *event.RunPaused:
		f.paused = d
	case *event.RunFinished:
		f.finished, f.paused = d, nil
	case *event.ModelCalled:
		f.steps, f.has[d.Step] = max(f.steps, d.Step), true
	case *event.ModelAnswered:
		if d.Model != "" {
			f.reported = d.Model
		}
	case *event.ReplyParsed:
		for i := range d.Calls {
			f.args[d.Calls[i].ID] = clipped(d.Calls[i].Args, mostArgs)
		}
	case *event.ToolStarted:
		if d.Run != "" && (len(f.below) == 0 || f.below[len(f.below)-1].run != d.Run) {
			f.below = append(f.below, childCall{d.Run, d.Call})
		}
	}
}

// sizes says how long the texts of a run are: by the power of two that they are less
// than, how many and how much they are together.
type sizes [64]struct{ n, bytes int64 }

func (s *sizes) add(n int64) {
	if n > 0 {
		s[bits.Len64(uint64(n))].n++
		s[bits.Len64(uint64(n))].bytes += n
	}
}

func (s *sizes) parts(list []message.Part) {
	for i := range list {
		p := &list[i]
		s.add(int64(len(p.Text)) + int64(len(p.Args)))
		if p.Ref != nil && p.Kind == message.Text {
			s.add(p.Ref.Bytes)
		}
	}
}

// event adds the texts of an event, about as often as they stand on the page.
func (s *sizes) event(e *event.Event) {
	switch d := e.Data.(type) {
	case *event.InputReceived:
		s.parts(d.Parts)
	case *event.ModelAnswered:
		s.parts(d.Message.Parts)
	case *event.ModelFailed:
		s.add(int64(len(d.Partial)))
	case *event.ModelCalled:
		s.add(d.Bytes / max(1, d.Kept+d.Added) * max(1, d.Added)) // what is new in the request
	case *event.ToolFinished:
		s.parts(d.Parts)
		if d.Full != nil {
			s.add(d.Full.Bytes)
		}
	case *event.NoticeAdded:
		s.add(int64(len(d.Text)))
	case *event.MaterialRetrieved:
		s.parts(d.Parts)
	case *event.ContextCompacted:
		s.add(int64(len(d.Summary)))
		s.add(int64(len(d.Snapshot)))
	}
}

// merge adds those of another run.
func (s *sizes) merge(other *sizes) {
	for i := range s {
		s[i].n += other[i].n
		s[i].bytes += other[i].bytes
	}
}

// fit returns the largest limit, a power of two, under which all texts together have
// about that many bytes at most; within the bounds of l.
func (s *sizes) fit(l Limits) int {
	limit := l.Text
	for ; limit > LeastText; limit /= 2 {
		var all int64
		for i := range s {
			if whole := s[i].bytes; i <= bits.Len64(uint64(limit-1)) {
				all += whole
			} else {
				all += min(whole, s[i].n*int64(limit))
			}
		}
		if all <= int64(l.All) {
			break
		}
	}
	return max(limit, LeastText)
}
