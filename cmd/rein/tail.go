package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/journal"
)

// tail prints a run's events as they become durable, read back from the store,
// so that what is printed is what is kept.
type tail struct {
	a     *app
	store journal.Store
	run   string
	next  int64
	quit  chan struct{}
	done  chan error
	// gone is called when nobody reads the events any more.
	gone func()
}

// tailPause is how often the store is looked at; other processes' posts are
// noticed by runs within the same time.
const tailPause = 50 * time.Millisecond

func (a *app) tail(store journal.Store, run string, gone func()) *tail {
	t := &tail{a: a, store: store, run: run, next: 1, quit: make(chan struct{}), done: make(chan error, 1), gone: gone}
	go func() {
		err := t.follow()
		if errors.Is(err, errPipe) {
			t.gone()
			err = nil
		}
		t.done <- err
	}()
	return t
}

// stop prints what is left and ends the tail. It fails if the events could not
// be printed; that nobody reads them is no failure.
func (t *tail) stop() error {
	close(t.quit)
	return <-t.done
}

func (t *tail) follow() error {
	tick := time.NewTicker(tailPause)
	defer tick.Stop()
	for {
		select {
		case <-t.quit:
			return t.print()
		case <-tick.C:
			if err := t.print(); err != nil {
				return err
			}
		}
	}
}

func (t *tail) print() error {
	for e, err := range t.store.Read(context.Background(), t.run, t.next) {
		var missing *journal.NotFoundError
		if errors.As(err, &missing) {
			return nil // not begun yet
		}
		if err != nil {
			return failed(fmt.Errorf("read the events of run %s: %w", t.run, err))
		}
		if err := t.a.put(append(event.AppendEvent(nil, &e), '\n')); err != nil {
			return err
		}
		t.next = e.Seq + 1
	}
	return nil
}
