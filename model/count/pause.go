package count

import (
	"errors"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/model"
)

// How long a server is left alone that does not count: a little after what passes, twice
// as long each time; long after what does not, such as a path that it doesn't have.
const (
	firstPause = 5 * time.Second
	mostPause  = 10 * time.Minute
)

// pause says when a server may be asked again.
type pause struct {
	until time.Time
	last  time.Duration
}

func (p *pause) over(now time.Time) bool { return !now.Before(p.until) }

// note notes how a request went.
func (p *pause) note(err error, now time.Time) {
	var e *model.Error
	if !errors.As(err, &e) {
		*p = pause{}
		return
	}
	switch e.Class {
	case event.ClassOverflow, event.ClassBadRequest, event.ClassCancelled:
		return // this text's own fault
	case event.ClassAuth, event.ClassQuota, event.ClassNotFound:
		p.last = mostPause
	default:
		p.last = min(max(2*p.last, firstPause), mostPause)
	}
	wait := p.last
	if asked, ok := e.RetryAfter.Get(); ok {
		wait = min(max(wait, time.Duration(asked)*time.Millisecond), mostPause)
	}
	p.until = now.Add(wait)
}
