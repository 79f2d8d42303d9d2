package local

import "sync"

// mailbox is where an actor learns what has happened. Many put into it, the
// actor alone takes out.
type mailbox struct {
	mu       sync.Mutex
	outcomes []outcome
	news     news
	// wake has a value when the box may have something.
	wake chan struct{}
}

// news is a set of things that have happened, apart from outcomes.
type news uint8

const (
	// posted: somebody may have appended to the journal.
	posted news = 1 << iota
	// heard: a model has said something.
	heard
	// dueNow: the time for which the timer was set has come.
	dueNow
	// halted: the caller's context has ended.
	halted
	// late: the run has used up its time to come to an end.
	late
	// wished: the run that called this one is to pause, and so is this one.
	wished
)

func (b *mailbox) tell(n news) {
	b.mu.Lock()
	b.news |= n
	b.mu.Unlock()
	b.signal()
}

func (b *mailbox) put(o outcome) {
	b.mu.Lock()
	b.outcomes = append(b.outcomes, o)
	b.mu.Unlock()
	b.signal()
}

func (b *mailbox) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take waits until there is something, appends the outcomes to into and returns
// the news.
func (b *mailbox) take(into []outcome) ([]outcome, news) {
	for {
		<-b.wake
		b.mu.Lock()
		n := b.news
		b.news = 0
		got := len(b.outcomes) > 0
		into = append(into, b.outcomes...)
		clear(b.outcomes)
		b.outcomes = b.outcomes[:0]
		b.mu.Unlock()
		if got || n != 0 {
			return into, n
		}
	}
}
