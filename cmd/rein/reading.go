package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/memory"
	"rein.example/rein/journal/sqlite"
)

// withReading makes a command of a function that only reads the store: it works
// on one that cannot be written, and makes none where there is none.
func (a *app) withReading(cmd *cobra.Command, run func(ctx context.Context, s journal.Store, args []string) error) *cobra.Command {
	return a.with(cmd, a.openToRead, run)
}

// openToRead opens the store for reading. One that is not there holds no runs.
func (a *app) openToRead(ctx context.Context) (journal.Store, error) {
	path, err := a.storePath()
	if err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, path, &sqlite.Options{ReadOnly: true})
	if errors.Is(err, fs.ErrNotExist) {
		return memory.New(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	return store, nil
}

// damage is where a journal stops being sound.
type damage struct {
	// Sound is the last event that is in order. Torn: only the end is missing or
	// spoilt, as a crash leaves it.
	Sound   int64  `json:"sound"`
	Torn    bool   `json:"torn"`
	Problem string `json:"problem"`
}

// sound calls each with the events of a run in order, up to the end or to where
// the journal is damaged, which is returned.
func sound(ctx context.Context, s journal.Store, run string, each func(*event.Event) error) (*damage, error) {
	return soundFrom(ctx, s, run, 1, each)
}

// soundFrom is sound for the events from a sequence on.
func soundFrom(ctx context.Context, s journal.Store, run string, from int64, each func(*event.Event) error) (*damage, error) {
	for e, err := range s.Read(ctx, run, from) {
		var d *journal.DamageError
		if errors.As(err, &d) {
			return &damage{d.Sound, d.Torn, d.Error()}, nil
		}
		if err == nil {
			err = each(&e)
		}
		if errors.Is(err, errEnough) {
			return nil, nil
		}
		if err != nil {
			return nil, failed(fmt.Errorf("read run %s: %w", run, err))
		}
	}
	return nil, nil
}

// errEnough ends sound.
var errEnough = errors.New("enough")

// report says on stderr where a journal is damaged, after what is sound of it
// was shown, and returns the error to end with.
func (a *app) report(run string, d *damage) error {
	if d == nil {
		return nil
	}
	hint := "what follows cannot be trusted; restore the store from a copy to see it"
	if d.Torn {
		hint = "only the end is lost, as a crash leaves it: " + a.next("resume %s", run) + " cuts it off and goes on"
	}
	a.say("%s %s", a.paint(red, "rein:"), d.Problem)
	a.say("  shown is what comes before; %s", hint)
	return &exit{code: badEnd}
}
