package storekit

import (
	"slices"
	"sync"
)

// Hub tells watchers the ids of runs. A watcher that does not listen loses
// nothing: an id stays pending, once, until it is taken. All methods are safe
// for concurrent use. The zero Hub is ready.
type Hub struct {
	mu       sync.Mutex
	watchers map[int64]*watcher
	closed   bool
	wg       sync.WaitGroup
}

type watcher struct {
	out  chan string
	wake chan struct{} // has room for one
	stop chan struct{}

	pending []string // guarded by Hub.mu
}

// Watch returns the channel of the watcher with the given id.
func (h *Hub) Watch(id int64) <-chan string {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.watchers[id]
	if w == nil {
		w = &watcher{out: make(chan string), wake: make(chan struct{}, 1), stop: make(chan struct{})}
		if h.closed {
			return w.out
		}
		if h.watchers == nil {
			h.watchers = map[int64]*watcher{}
		}
		h.watchers[id] = w
		h.wg.Go(func() { h.deliver(w) })
	}
	return w.out
}

// Active reports whether anybody watches.
func (h *Hub) Active() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.watchers) > 0
}

// Tell makes run pending for the watcher with the given id, if there is one.
func (h *Hub) Tell(id int64, run string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.watchers[id]
	if w == nil || slices.Contains(w.pending, run) {
		return
	}
	w.pending = append(w.pending, run)
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Forget ends the watcher with the given id.
func (h *Hub) Forget(id int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w := h.watchers[id]; w != nil {
		delete(h.watchers, id)
		close(w.stop)
	}
}

// Close ends all watchers and waits for their goroutines.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	for id, w := range h.watchers {
		delete(h.watchers, id)
		close(w.stop)
	}
	h.mu.Unlock()
	h.wg.Wait()
}

func (h *Hub) deliver(w *watcher) {
	for {
		h.mu.Lock()
		var run string
		some := len(w.pending) > 0
		if some {
			run = w.pending[0]
			w.pending = w.pending[1:]
		}
		h.mu.Unlock()
		if some {
			select {
			case w.out <- run:
			case <-w.stop:
				return
			}
			continue
		}
		select {
		case <-w.wake:
		case <-w.stop:
			return
		}
	}
}
