package journal

import (
	"errors"
	"fmt"
	"strings"
)

// What can be wrong with a store as a whole. Stores wrap these in errors that
// name the file or server and say what to do.
var (
	// ErrClosed: the store has been closed.
	ErrClosed = errors.New("the store is closed")
	// ErrNewer: the store was written by a newer version of this program.
	ErrNewer = errors.New("the store was made by a newer version")
	// ErrNotStore: there is something else where the store should be.
	ErrNotStore = errors.New("this is not a store")
	// ErrReadOnly: the store cannot be written.
	ErrReadOnly = errors.New("the store cannot be written")
	// ErrDamaged: the store as a whole cannot be read. What is wrong with one
	// journal is a [*DamageError].
	ErrDamaged = errors.New("the store is damaged")
	// ErrLocked: somebody else held the store for longer than the store waits.
	// Nothing was appended; the same call may work later.
	ErrLocked = errors.New("the store is locked by another process")
	// ErrFull: there is no space left. Nothing of the batch was appended; the
	// same call works once there is space.
	ErrFull = errors.New("there is no space left for the store")
)

// AmbiguousError: several runs begin with the given id.
type AmbiguousError struct {
	Prefix string
	// Runs are some of them, newest first; More says that there are others.
	Runs []string
	More bool
}

func (e *AmbiguousError) Error() string {
	s := fmt.Sprintf("several runs begin with %q: %s", e.Prefix, strings.Join(e.Runs, ", "))
	if e.More {
		s += ", …"
	}
	return s + ": give more of the id"
}

// BodyError: a body that is stored out of line cannot be had.
type BodyError struct {
	SHA256 string
	// Missing: there is no such body; else it is not what was stored.
	Missing bool
	Err     error
}

func (e *BodyError) Error() string {
	what := "is damaged"
	if e.Missing {
		what = "is missing"
	}
	s := fmt.Sprintf("the stored body %s %s", e.SHA256, what)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *BodyError) Unwrap() error { return e.Err }
