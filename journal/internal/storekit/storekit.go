// Package storekit holds what every store of journals does alike: the times of
// leases, what may be posted, the summary of a run as its events arrive, and
// telling the owner of a run that somebody posted.
package storekit

import (
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"

	"rein.example/rein/event"
	"rein.example/rein/journal"
)

// The times of leases.
const (
	// LeaseTime is how long a lease lives without being renewed.
	LeaseTime = 45 * time.Second
	// RenewEvery is how often a store renews its leases: two renewals may fail.
	RenewEvery = 15 * time.Second
	// PollEvery is how often an owner looks for posts of other processes.
	PollEvery = 50 * time.Millisecond
)

// MaxRun is the greatest length of a run's id, in bytes.
const MaxRun = 200

// MaxKnown is how many ids a store looks at for those that look like one that
// it does not have.
const MaxKnown = 5000

// CheckRun returns an error if id cannot name a run: it is empty, longer than
// [MaxRun], or holds something that does not print.
func CheckRun(id string) error {
	switch {
	case id == "":
		return fmt.Errorf("a run needs an id: it is empty")
	case len(id) > MaxRun:
		return fmt.Errorf("the run id %.20q… is too long: %d bytes, at most %d", id, len(id), MaxRun)
	case !utf8.ValidString(id):
		return fmt.Errorf("the run id %q is not UTF-8", id)
	}
	for _, r := range id {
		if !unicode.IsPrint(r) || r == ' ' {
			return fmt.Errorf("the run id %q holds %q: use letters, digits and punctuation", id, r)
		}
	}
	return nil
}

// CheckEntries returns an error if an entry says nothing.
func CheckEntries(entries []journal.Entry) error {
	for i := range entries {
		if entries[i].Data == nil {
			return fmt.Errorf("entry %d of the batch has no data", i)
		}
	}
	return nil
}

// CheckPost returns an error if a process that does not own a run may not
// append the entry to it.
func CheckPost(e *journal.Entry) error {
	switch e.Data.(type) {
	case nil:
		return fmt.Errorf("the entry to post has no data")
	case *event.InputReceived, *event.ApprovalGiven:
		return nil
	}
	return fmt.Errorf("only %s and %s can be posted, not %s: claim the run and append it",
		event.TypeInputReceived, event.TypeApprovalGiven, e.Data.Type())
}

// State is where a run's own events leave it.
type State string

// The states.
const (
	Working  State = ""
	Paused   State = "paused"
	Finished State = "finished"
)

// Progress is the part of a [journal.Summary] that follows from the events.
type Progress struct {
	Agent, Parent string
	Started, Last int64
	State         State
	Reason        string
}

// Note adds an event. What people send leaves a paused run paused: it works
// again when its owner appends something else.
func (p *Progress) Note(time int64, data event.Data) {
	if p.Started == 0 {
		p.Started = time
	}
	p.Last = time
	if d, ok := data.(*event.RunResumed); ok && d.Fork != "" {
		p.Started = time // what is before that another run has done
	}
	if p.State == Finished {
		return
	}
	switch d := data.(type) {
	case *event.RunStarted:
		p.Agent, p.Parent = d.Spec.Agent, d.Parent
	case *event.RunPaused:
		p.State, p.Reason = Paused, string(d.Cause)
	case *event.RunFinished:
		p.State, p.Reason = Finished, string(d.Reason)
	case *event.InputReceived, *event.ApprovalGiven:
	default:
		p.State = Working
	}
}

// Fork returns the progress of a run that has just been forked after the event
// e from run parent, whose progress p is.
func (p *Progress) Fork(parent string, e *event.Event) Progress {
	f := Progress{Agent: p.Agent, Started: p.Started}
	f.Note(e.Time, e.Data)
	f.Parent = parent
	return f
}

// Status returns the status of a summary.
func (p *Progress) Status(owned bool) string {
	switch {
	case p.State != Working:
		return string(p.State)
	case owned:
		return "running"
	}
	return "interrupted"
}

// Summary returns a line of a list of runs.
func (p *Progress) Summary(run string, events int64, owned bool) journal.Summary {
	return journal.Summary{
		Run: run, Agent: p.Agent, Parent: p.Parent,
		Events: events, Started: p.Started, Last: p.Last,
		Status: p.Status(owned), Reason: p.Reason,
	}
}
