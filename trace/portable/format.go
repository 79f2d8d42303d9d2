package portable

import (
	"crypto/sha256"
	"encoding/hex"

	"rein.example/rein/message"
)

// The form of an exported run: lines of JSON, each an object. A line with a member v is
// an event as [event.AppendEvent] writes it; each other one has a member line that says
// what it is, in this order:
//
//	{"line":"header","format":"rein-export","version":1,"run":"r1","program":"rein 1.0"}
//	{"line":"run","run":"r1"}
//	{"line":"body","sha256":"…","bytes":11,"text":"hello world"}
//	{"v":1,"run":"r1","seq":1,…}
//	{"line":"run.end","run":"r1","events":1,"hash":"…"}
//	{"line":"end","runs":1,"events":1,"bodies":1}
//
// First comes the run that was asked for, then the runs that carry out its calls of
// agents, those above before those below. A run that was forked from another has all its events,
// and says with "forked":{"run":"r0","events":7} how many of them are the other's as
// well. A body stands before the first event that refers to it, once; a long one is
// several lines, each with its place as "at"; one that is no text is "base64" in the
// place of "text"; one that the store did not have is "missing" and says why. Readers
// skip members and lines that they do not know.
const (
	formatName = "rein-export"
	// Version is the form that is written. A reader opens all up to its own.
	Version = 1
)

// Limits of what is read. They are more than what stores take or engines write.
const (
	// MaxLine is the longest line: an event's.
	MaxLine = 64<<20 + 64<<10
	// MaxBody is the longest body that is exported or imported.
	MaxBody = 1 << 30
	// MaxRuns is the most runs of one file.
	MaxRuns = 10_000
	// MaxBodies is the most bodies of one file.
	MaxBodies = 1_000_000
	// chunk is how much of a body is one line.
	chunk = 1 << 20
)

// line is a line that is no event.
type line struct {
	Line string `json:"line"`
	// Of the header.
	Format  string `json:"format,omitzero"`
	Version int64  `json:"version,omitzero"`
	Program string `json:"program,omitzero"`
	// Of runs and their ends.
	Run    string  `json:"run,omitzero"`
	Forked *forked `json:"forked,omitzero"`
	Events int64   `json:"events,omitzero"`
	Hash   string  `json:"hash,omitzero"`
	// Redacted is how many values were taken out of all that stands before; the chain
	// is then not the original's, whose end is Original.
	Redacted int64  `json:"redacted,omitzero"`
	Original string `json:"original_hash,omitzero"`
	// Damage says where the original journal stopped being sound, after these events.
	Damage string `json:"damage,omitzero"`
	// Of bodies.
	SHA256    string  `json:"sha256,omitzero"`
	Bytes     int64   `json:"bytes,omitzero"`
	MediaType string  `json:"media_type,omitzero"`
	At        int64   `json:"at,omitzero"`
	Text      *string `json:"text,omitzero"`
	Base64    []byte  `json:"base64,omitzero"`
	Missing   string  `json:"missing,omitzero"`
	// Of the end.
	Runs   int64 `json:"runs,omitzero"`
	Bodies int64 `json:"bodies,omitzero"`
	// Findings are what was taken out, by kind.
	Findings []Finding `json:"findings,omitzero"`
}

// forked says with which run the first events are shared.
type forked struct {
	Run    string `json:"run"`
	Events int64  `json:"events"`
}

// refOf returns the reference to a body.
func refOf(body []byte, mediaType string) message.Ref {
	sum := sha256.Sum256(body)
	return message.Ref{SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(body)), MediaType: mediaType}
}
