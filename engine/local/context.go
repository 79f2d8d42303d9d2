package local

import (
	"context"
	"sync"
	"time"
)

// callCtx is the context of one call. It is a context of its own kind, because
// the actor that ends it also watches its deadline, among the other times at
// which it must do something: a call so needs no timer and hardly any memory.
//
// Contexts derived from it end with it, through AfterFunc, which the context
// package knows.
type callCtx struct {
	values   context.Context // the caller's; it never ends
	deadline time.Time       // zero for none

	mu    sync.Mutex
	err   error
	done  chan struct{} // made when somebody asks for it
	after []*func()
}

// Deadline returns when the actor will end the call.
func (c *callCtx) Deadline() (time.Time, bool) { return c.deadline, !c.deadline.IsZero() }

// Value returns a value of the caller's context.
func (c *callCtx) Value(key any) any { return c.values.Value(key) }

// Err returns why the context has ended, nil if it has not.
func (c *callCtx) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Done returns a channel that is closed when the context ends.
func (c *callCtx) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.err != nil {
			close(c.done)
		}
	}
	return c.done
}

// AfterFunc calls f on a goroutine of its own when the context has ended, unless
// stop is called before; stop reports whether it was.
func (c *callCtx) AfterFunc(f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		go f()
		return func() bool { return false }
	}
	entry := &f
	c.after = append(c.after, entry)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for i := range c.after {
			if c.after[i] == entry {
				c.after = append(c.after[:i], c.after[i+1:]...)
				return true
			}
		}
		return false
	}
}

// end ends the context, unless it has ended already.
func (c *callCtx) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	if c.done != nil {
		close(c.done)
	}
	for _, f := range c.after {
		go (*f)()
	}
	c.after = nil
}
