package storekit

import (
	"errors"
	"fmt"

	"rein.example/rein/event"
	"rein.example/rein/journal"
)

// CheckPiece checks a piece that is to be imported after head, and returns its
// records as entries, each with the data that its record holds.
func CheckPiece(p *journal.Piece, head journal.Head) ([]journal.Entry, error) {
	if head.Seq != p.After {
		return nil, &journal.ConflictError{Run: p.Run, Want: p.After, Head: head}
	}
	if len(p.Records) == 0 {
		return nil, errors.New("there is nothing to import")
	}
	chain := event.Chain{Seq: head.Seq, Hash: head.Hash}
	outcomes := map[string]bool{}
	entries := make([]journal.Entry, len(p.Records))
	for i := range p.Records {
		r := &p.Records[i]
		if err := CheckSize(r.Type, len(r.Data)); err != nil {
			return nil, err
		}
		if r.Command != "" && outcomes[r.Command] {
			return nil, Second(r)
		}
		outcomes[r.Command] = true
		e, _, err := Decode(&chain, r)
		if err != nil {
			return nil, err
		}
		entries[i] = journal.Entry{Time: e.Time, Command: e.Command, Data: e.Data}
	}
	return entries, nil
}

// Second is the error for the second outcome of a command.
func Second(r *event.Record) error {
	return fmt.Errorf("event %d is the second outcome of command %s", r.Seq, r.Command)
}
