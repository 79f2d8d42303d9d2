package journal

import (
	"context"
	"fmt"
	"iter"

	"rein.example/rein/event"
)

// Archiver is a [Store] that gives and takes journals as they are stored, byte for
// byte, members that this version does not know included: what export and import need.
type Archiver interface {
	// Records yields what Read does, with the data as it was hashed, not decoded. The
	// records are the caller's.
	Records(ctx context.Context, run string, from int64) iter.Seq2[event.Record, error]
	// Import adds a piece to the journal of a run that is carried out elsewhere, all of
	// it or nothing, and makes the journal if there is none. It is durable when it
	// returns. It fails with [ErrExists] for a run that was begun here, with a
	// [*ConflictError] if the journal does not end at p.After, and if a record does not
	// follow the one before, is not what its hash says, cannot be decoded, or is the
	// second outcome of a command.
	//
	// A run that was imported can be read and forked; nobody may claim it or post to
	// it, which fails with an [*ImportedError].
	Import(ctx context.Context, p Piece) (Head, error)
	// Imported reports whether a run is carried out elsewhere. It fails with a
	// [*NotFoundError] if there is no such run.
	Imported(ctx context.Context, run string) (bool, error)
}

// Piece is a part of a journal that is imported.
type Piece struct {
	Run string
	// After is the sequence of the event that the records follow, 0 for the first piece.
	After int64
	// Base, if not empty, makes the journal share its first After events with that run,
	// as Fork does, instead of having them already; they are the same.
	Base    string
	Records []event.Record
}

// ImportedError: the run is carried out elsewhere.
type ImportedError struct{ Run string }

func (e *ImportedError) Error() string {
	return fmt.Sprintf("run %s was imported: it may be going on where it comes from, and nobody here knows what it does there; go on with it in a fork: rein fork %s", e.Run, e.Run)
}
