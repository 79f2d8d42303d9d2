package guard

import (
	"crypto/sha256"
	"encoding/binary"

	"rein.example/rein/event"
)

// approvalTag begins what is hashed. Another choice or order of fields needs
// another tag, so that no approval of one form is one of the other.
const approvalTag = "rein approval 1"

// pinnedTag begins it for a tool whose definition has a hash of its own.
const pinnedTag = "rein approval 2"

// ApprovalHash returns the hash that binds an approval to exactly what will run:
// the tool with the definition that the person could see (name, description,
// schema, effect, and the source's own hash of it where there is one) and the
// canonical arguments (RFC 8785), with secrets still as names. An answer that names another hash is not an answer to this call.
//
// The run, the call and the policy are not part of it: an approval event stands
// in its run's journal, names its call, and the run's policy does not change.
//
// Each field is preceded by its length in 8 bytes, so that no two different
// calls hash the same bytes.
func ApprovalHash(tool event.ToolSpec, args []byte) event.Hash {
	h := sha256.New()
	field := func(b []byte) {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	if tool.Pin == "" {
		field([]byte(approvalTag))
	} else {
		field([]byte(pinnedTag))
		field([]byte(tool.Pin))
	}
	field([]byte(tool.Name))
	field([]byte(tool.Description))
	field(tool.Schema)
	field([]byte(class(tool.Effect)))
	field(args)
	var sum event.Hash
	h.Sum(sum[:0])
	return sum
}
