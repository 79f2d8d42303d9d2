package event

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// ComputeHash returns the hash of an event: the SHA-256 of
//
//	4 bytes   1, the version of this layout
//	4 bytes   the length of the type
//	8 bytes   seq
//	8 bytes   time, in Unix milliseconds
//	32 bytes  prev, the hash of the event before; zero for the first
//	32 bytes  the SHA-256 of data, byte for byte as stored
//	          the type, then the command id, as UTF-8
//
// with numbers in big-endian two's complement. In Python, with the members of a
// line from [AppendEvent]:
//
//	sha256(pack(">IIqq", 1, len(type), seq, ts) + prev + sha256(data).digest() + type + cmd)
//
// The run's id is not covered, because a fork shares its parent's events: its
// own first event follows the hash of the last shared one, and the chain holds
// under either run's name. A journal that is moved to another name as a whole
// still says in run.started which tree of runs it belongs to.
//
// It allocates nothing unless type and command are longer than 100 bytes.
func ComputeHash(prev Hash, seq, time int64, t Type, command string, data []byte) Hash {
	return ComputeHashOfSum(prev, seq, time, t, command, sha256.Sum256(data))
}

// ComputeHashOfSum is ComputeHash for data whose SHA-256 is sum: a store can
// hash the data of many runs at once, and must only chain them one by one.
func ComputeHashOfSum(prev Hash, seq, time int64, t Type, command string, sum Hash) Hash {
	var buf [192]byte
	b := buf[:0]
	b = binary.BigEndian.AppendUint32(b, 1)
	b = binary.BigEndian.AppendUint32(b, uint32(len(t)))
	b = binary.BigEndian.AppendUint64(b, uint64(seq))
	b = binary.BigEndian.AppendUint64(b, uint64(time))
	b = append(b, prev[:]...)
	b = append(b, sum[:]...)
	b = append(b, t...)
	b = append(b, command...)
	return sha256.Sum256(b)
}

// ComputeHash returns the hash that the record should have.
func (r *Record) ComputeHash() Hash {
	return ComputeHash(r.Prev, r.Seq, r.Time, r.Type, r.Command, r.Data)
}

// A Chain checks that records follow each other: it is the end of a journal
// that is sound so far. The zero Chain is the start of a journal.
type Chain struct {
	// Seq and Hash are the last sound event's; 0 and zero before the first.
	Seq  int64
	Hash Hash
}

// Add checks that r is the event after the chain's end and has not been
// changed since its hash was made; then r is the new end. A chain does not
// change by a record that it refuses.
func (c *Chain) Add(r *Record) error {
	switch {
	case r.Seq != c.Seq+1:
		return fmt.Errorf("event %d comes after event %d: events are missing or out of order", r.Seq, c.Seq)
	case r.Prev != c.Hash:
		return fmt.Errorf("event %d names %s as the hash of the event before, which is %s", r.Seq, r.Prev, c.Hash)
	case r.ComputeHash() != r.Hash:
		return fmt.Errorf("event %d does not hash to %s: its data, type, time or command was changed", r.Seq, r.Hash)
	}
	c.Seq, c.Hash = r.Seq, r.Hash
	return nil
}
