package storekit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/message"
)

// maxData is the longest data of an event, in bytes: with the rest of a line
// around it, it can still be read.
const maxData = event.MaxLine - 64<<10

// CheckSize returns an error if an event's encoded data is too long to be read
// again.
func CheckSize(t event.Type, size int) error {
	if size > maxData {
		return fmt.Errorf("an event of type %s is too long: %d bytes, at most %d: store its bodies out of line", t, size, maxData)
	}
	return nil
}

// Decode checks that a record follows the chain and decodes it. Torn says that
// what is stored is not what was written, which at the very end of a journal is
// how a crash or a bad sector leaves it; a record that is as it was written, but
// that this version cannot decode, is not torn.
func Decode(c *event.Chain, r *event.Record) (e event.Event, torn bool, err error) {
	if err := c.Add(r); err != nil {
		if !jsontext.Value(r.Data).IsValid() {
			err = fmt.Errorf("event %d is not complete JSON: %w", r.Seq, err)
		}
		return event.Event{}, true, err
	}
	e, err = r.Event()
	return e, false, err
}

// CheckRef returns the hash that a reference names, or an error.
func CheckRef(ref message.Ref) (event.Hash, error) {
	h, err := event.ParseHash(ref.SHA256)
	if err != nil {
		return event.Hash{}, &journal.BodyError{SHA256: ref.SHA256, Missing: true, Err: err}
	}
	return h, nil
}

// CheckBody returns an error if body is not what ref names.
func CheckBody(ref message.Ref, body []byte) error {
	sum := sha256.Sum256(body)
	switch {
	case hex.EncodeToString(sum[:]) != ref.SHA256:
		return &journal.BodyError{SHA256: ref.SHA256, Err: errors.New("it has another hash")}
	case int64(len(body)) != ref.Bytes:
		return &journal.BodyError{SHA256: ref.SHA256, Err: fmt.Errorf("it has %d bytes, not %d as the reference says", len(body), ref.Bytes)}
	}
	return nil
}

// Ref returns the reference to a body.
func Ref(body []byte, mediaType string) message.Ref {
	sum := sha256.Sum256(body)
	return message.Ref{SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(body)), MediaType: mediaType}
}

// CheckCut returns an error unless found, which reading the journal from its
// beginning ended with, says that it is torn after the event after, in the part
// that the run does not share.
func CheckCut(run string, after, shared int64, found error) error {
	if found == nil {
		return fmt.Errorf("the journal of run %s is sound: there is nothing to cut after event %d", run, after)
	}
	var damage *journal.DamageError
	if !errors.As(found, &damage) {
		return found
	}
	switch {
	case !damage.Torn:
		return fmt.Errorf("only a torn end can be cut: %w", damage)
	case damage.Sound != after:
		return fmt.Errorf("cut after event %d, not %d: %w", damage.Sound, after, damage)
	case after < shared:
		return fmt.Errorf("these events belong to the run that %s was forked from: cut that one: %w", run, damage)
	}
	return nil
}
