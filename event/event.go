// Package event answers: what can happen in a run, and how is it written down?
//
// A run is an append-only log of events. The set of event types is closed: each
// is a Go struct that implements [Data], written as JSON by generated encoders
// that do not reflect. An [Event] is such a struct with its place in the log:
// run, sequence, time, and the hash of its predecessor, which chains the log so
// that an edit anywhere shows.
//
// The package also holds the vocabulary that events share: [Effect] (what
// running a tool may change), [Outcome] and [Status] (what became of a call),
// [Reason] and [Cause] (why a run stopped or paused), and the secret registry
// that takes registered values out of everything before it is written.
//
// Events are values: once appended they are never changed. The package does no
// I/O and reads no clock.
package event

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/internal/gencodec/codec"
)

//go:generate go run ../internal/gencodec -out codec_gen.go .

// Version is the journal format that this package writes. A reader opens all
// versions up to its own and skips members that it does not know.
const Version = 1

// Type names an event type, as in the journal.
type Type string

// The closed set of event types.
const (
	TypeRunStarted        Type = "run.started"
	TypeInputReceived     Type = "input.received"
	TypeContextAssembled  Type = "context.assembled"
	TypeContextCompacted  Type = "context.compacted"
	TypeModelCalled       Type = "model.called"
	TypeModelAnswered     Type = "model.answered"
	TypeModelFailed       Type = "model.failed"
	TypeReplyParsed       Type = "reply.parsed"
	TypeCallJudged        Type = "call.judged"
	TypeApprovalAsked     Type = "approval.asked"
	TypeApprovalGiven     Type = "approval.given"
	TypeToolStarted       Type = "tool.started"
	TypeToolFinished      Type = "tool.finished"
	TypeStateUpdated      Type = "state.updated"
	TypeNoticeAdded       Type = "notice.added"
	TypeMaterialRetrieved Type = "material.retrieved"
	TypeTimerFired        Type = "timer.fired"
	TypeHookAnswered      Type = "hook.answered"
	TypeRunPaused         Type = "run.paused"
	TypeRunResumed        Type = "run.resumed"
	TypeRunFinished       Type = "run.finished"
)

// Hash is a SHA-256 value. In JSON it is 64 lower-case hexadecimal digits; the
// zero hash is the predecessor of a run's first event.
type Hash [sha256.Size]byte

// String returns the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// AppendJSON appends the digits as a JSON string to dst.
func (h Hash) AppendJSON(dst []byte) []byte { return codec.AppendHex(dst, h[:]) }

// DecodeJSON reads 64 lower-case hexadecimal digits, or null for the zero hash.
func (h *Hash) DecodeJSON(dec *jsontext.Decoder) error {
	*h = Hash{}
	return codec.Hex(dec, h[:])
}

// MarshalText returns the hash in hexadecimal, for packages that reflect.
func (h Hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText reads 64 lower-case hexadecimal digits.
func (h *Hash) UnmarshalText(b []byte) error {
	p, err := ParseHash(string(b))
	if err == nil {
		*h = p
	}
	return err
}

// ParseHash reads 64 lower-case hexadecimal digits.
func ParseHash(s string) (Hash, error) {
	var h Hash
	if len(s) == hex.EncodedLen(len(h)) {
		if _, err := hex.Decode(h[:], []byte(s)); err == nil && h.String() == s {
			return h, nil
		}
	}
	return Hash{}, fmt.Errorf("%.80q is no hash: want %d lower-case hexadecimal digits", s, hex.EncodedLen(len(h)))
}

// An Event is one entry of a run's journal.
type Event struct {
	// Run is the run's id.
	Run string
	// Seq is the place in the run's journal, from 1, without gaps.
	Seq int64
	// Time is when the event was appended, in Unix milliseconds.
	Time int64
	// Command is the id of the command whose outcome this is, or empty. A
	// journal holds at most one outcome for each command id.
	Command string
	// Prev is the hash of the event before; Hash covers Prev and everything else
	// here but Run, see [ComputeHash]. Both are assigned by the store.
	Prev, Hash Hash
	// Data is what happened. It must not be changed.
	Data Data
}

// Data is what an event says: one of the structs of this package, as a pointer.
// No other package can implement it.
type Data interface {
	// Type returns the event's type.
	Type() Type
	// AppendJSON appends the event's JSON object to dst. It never fails: text
	// that is not UTF-8 is written with U+FFFD in place of the bad bytes.
	AppendJSON(dst []byte) []byte
	// mapText replaces every text that a person, model, tool or server wrote by
	// f of it, except opaque provider data.
	mapText(f func(string) string)
}

// Unknown is an event of a type that this version does not know, read from a
// newer journal. It is kept so that copying a journal loses nothing.
type Unknown struct {
	Name Type
	Raw  []byte
}

// Type returns the type as the journal names it.
func (u *Unknown) Type() Type { return u.Name }

// AppendJSON appends the object as it was read.
func (u *Unknown) AppendJSON(dst []byte) []byte { return codec.AppendRaw(dst, u.Raw) }

// An unknown event was redacted by whoever wrote it first.
func (u *Unknown) mapText(func(string) string) {}
