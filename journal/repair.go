package journal

import "context"

// Repairer is a [Store] that can cut off the torn end of a journal. Whoever
// cuts tells the person whose run it is.
type Repairer interface {
	// Cut removes what is left of a run's journal after event after, which must
	// be where a [*DamageError] with Torn found the sound part to end, and
	// returns the head. It fails with that error if the journal is damaged
	// elsewhere or not torn at all, with a [*HeldError] while a live process
	// that did not join through this store owns the run, and removes no event
	// that is sound.
	Cut(ctx context.Context, run string, after int64) (Head, error)
}
