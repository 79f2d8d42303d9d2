package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/internal/storekit"
)

const (
	// inline is the longest data that stands in its row; longer data is a body.
	inline = 64 << 10
	// compressFrom is the shortest data that is compressed. Tool results of a few
	// KB shrink to less than half, in 15 µs; the many small events would not
	// repay it.
	compressFrom = 1 << 10
	// keepScratch is the largest buffer that is kept for the next events.
	keepScratch = 1 << 20
)

// codec compresses data for the table. It is safe for concurrent use.
type codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

func newCodec() (codec, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithEncoderConcurrency(readers), zstd.WithWindowSize(inline), zstd.WithEncoderCRC(false))
	if err != nil {
		return codec{}, err
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(readers), zstd.WithDecoderMaxMemory(inline))
	return codec{enc, dec}, err
}

func (c *codec) close() error {
	c.dec.Close()
	return c.enc.Close()
}

// encoded is an entry as it is written.
type encoded struct {
	journal.Entry
	typ event.Type
	// sum is the SHA-256 of the event's JSON.
	sum event.Hash
	// data and body are the columns: string, []byte or nil.
	data, body any
}

// encode encodes entries and stores what goes out of line.
func (s *Store) encode(ctx context.Context, entries []journal.Entry) ([]encoded, error) {
	out := make([]encoded, len(entries))
	scratch := s.scratch.Get().(*[]byte)
	defer func() {
		if cap(*scratch) <= keepScratch {
			s.scratch.Put(scratch)
		}
	}()
	for i, e := range entries {
		raw := e.Data.AppendJSON((*scratch)[:0])
		*scratch = raw
		typ := e.Data.Type()
		if err := storekit.CheckSize(typ, len(raw)); err != nil {
			return nil, err
		}
		var err error
		if out[i], err = s.encoded(ctx, e, typ, raw); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// encoded returns an entry whose data is raw.
func (s *Store) encoded(ctx context.Context, e journal.Entry, typ event.Type, raw []byte) (encoded, error) {
	x := encoded{Entry: e, typ: typ, sum: sha256.Sum256(raw)}
	if len(raw) <= inline {
		x.data = s.codec.column(raw)
		return x, nil
	}
	ref, err := s.PutBody(ctx, raw, "application/json")
	if err != nil {
		return x, err
	}
	x.body, err = hex.DecodeString(ref.SHA256)
	return x, err
}

// column returns the value of the data column: text, or compressed bytes where
// that is worth it.
func (c *codec) column(raw []byte) any {
	if len(raw) >= compressFrom {
		if small := c.enc.EncodeAll(raw, make([]byte, 0, len(raw))); len(small) < len(raw)*7/8 {
			return small
		}
	}
	return string(raw)
}

// decode returns the data of a row. An error means that it is not whole.
func (s *Store) decode(data any, body []byte) ([]byte, error) {
	switch d := data.(type) {
	case string:
		return []byte(d), nil
	case []byte:
		raw, err := s.codec.dec.DecodeAll(d, nil)
		if err != nil {
			return nil, fmt.Errorf("its data cannot be decompressed: %w", err)
		}
		return raw, nil
	case nil:
		if len(body) == len(event.Hash{}) {
			return s.bodies.get(hex.EncodeToString(body), -1)
		}
	}
	return nil, fmt.Errorf("its row holds no data")
}
