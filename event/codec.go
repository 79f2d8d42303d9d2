package event

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/internal/gencodec/codec"
)

// MaxLine is the longest event that is read, in bytes. Longer bodies belong out
// of line, see [message.Ref].
const MaxLine = codec.MaxSize

// ErrTooLarge is the cause of an error about an event longer than [MaxLine].
var ErrTooLarge = codec.ErrTooLarge

// decodable is a Data that can be read.
type decodable interface {
	Data
	codec.Decodable
}

// DecodeData reads the JSON object that AppendJSON of an event of type t wrote.
// Members that this version does not know are skipped; a type that it does not
// know gives an [*Unknown] with a copy of raw. It fails if raw is not exactly
// one JSON object, has a duplicate name or bytes that are not UTF-8, is longer
// than [MaxLine], or has a member of another JSON type than it should. It is
// safe for concurrent use and keeps no reference to raw.
func DecodeData(t Type, raw []byte) (Data, error) {
	d := emptyData(t)
	if err := codec.Unmarshal(raw, d); err != nil {
		return nil, fmt.Errorf("event data of type %s: %w", t, err)
	}
	return d, nil
}

func emptyData(t Type) decodable {
	if d := newData(t); d != nil {
		return d
	}
	return &Unknown{Name: t}
}

// DecodeJSON keeps one JSON object as it is.
func (u *Unknown) DecodeJSON(dec *jsontext.Decoder) error {
	if k := dec.PeekKind(); k != '{' && k != jsontext.KindInvalid {
		return fmt.Errorf("%s: want an object, not %s", codec.Place(dec), k)
	}
	raw, err := codec.Raw(dec)
	u.Raw = raw
	return err
}

// A Record is an event as it is stored: its data not yet decoded, so that the
// hash can be checked over the very bytes.
type Record struct {
	Run        string
	Seq, Time  int64
	Type       Type
	Command    string
	Prev, Hash Hash
	// Data is one JSON object.
	Data []byte
}

// Event decodes the record's data, see [DecodeData].
func (r *Record) Event() (Event, error) {
	d, err := DecodeData(r.Type, r.Data)
	if err != nil {
		return Event{}, err
	}
	return Event{Run: r.Run, Seq: r.Seq, Time: r.Time, Command: r.Command, Prev: r.Prev, Hash: r.Hash, Data: d}, nil
}

// AppendEvent appends the event as one line of JSON, without a line break, to
// dst: the portable form of an event. e.Data must be set. It allocates nothing
// if dst has room.
//
//	{"v":1,"run":"r1","seq":7,"ts":1700000000000,"type":"timer.fired","cmd":"5.0","prev":"…","hash":"…","data":{"id":"5.0"}}
//
// cmd is left out when empty. The data is the last member, so its bytes, which
// the hash covers, are what stands between `"data":` and the last brace.
func AppendEvent(dst []byte, e *Event) []byte {
	dst = appendHead(dst, e.Run, e.Seq, e.Time, e.Data.Type(), e.Command, &e.Prev, &e.Hash)
	dst = e.Data.AppendJSON(dst)
	return append(dst, '}')
}

// AppendRecord appends what AppendEvent would, with the data as it is stored.
func AppendRecord(dst []byte, r *Record) []byte {
	dst = appendHead(dst, r.Run, r.Seq, r.Time, r.Type, r.Command, &r.Prev, &r.Hash)
	dst = codec.AppendRaw(dst, r.Data)
	return append(dst, '}')
}

func appendHead(dst []byte, run string, seq, time int64, t Type, command string, prev, hash *Hash) []byte {
	dst = append(dst, `{"v":`...)
	dst = strconv.AppendInt(dst, Version, 10)
	dst = append(dst, `,"run":`...)
	dst = codec.AppendString(dst, run)
	dst = append(dst, `,"seq":`...)
	dst = strconv.AppendInt(dst, seq, 10)
	dst = append(dst, `,"ts":`...)
	dst = strconv.AppendInt(dst, time, 10)
	dst = append(dst, `,"type":`...)
	dst = codec.AppendString(dst, t)
	if command != "" {
		dst = append(dst, `,"cmd":`...)
		dst = codec.AppendString(dst, command)
	}
	dst = append(dst, `,"prev":`...)
	dst = prev.AppendJSON(dst)
	dst = append(dst, `,"hash":`...)
	dst = hash.AppendJSON(dst)
	return append(dst, `,"data":`...)
}

// DecodeEvent reads a line that [AppendEvent] wrote. It refuses what
// [DecodeData] refuses, a line of a newer format, and one without all of its
// members (cmd may be missing); members that it does not know are skipped, and
// their order does not matter. It does not check the hash: see [Chain].
// It is safe for concurrent use and keeps no reference to line.
func DecodeEvent(line []byte) (Event, error) {
	var l decodedLine
	l.wantData = true
	if err := codec.Unmarshal(line, &l); err != nil {
		return Event{}, l.wrap(err)
	}
	d := l.data
	if d == nil { // the data came before the type
		var err error
		if d, err = DecodeData(l.Type, line[l.start:l.end]); err != nil {
			return Event{}, l.wrap(err)
		}
	}
	return Event{Run: l.Run, Seq: l.Seq, Time: l.Time, Command: l.Command, Prev: l.Prev, Hash: l.Hash, Data: d}, nil
}

// DecodeRecord reads a line as DecodeEvent does, without decoding the data,
// which stays a part of line.
func DecodeRecord(line []byte) (Record, error) {
	var l decodedLine
	if err := codec.Unmarshal(line, &l); err != nil {
		return Record{}, l.wrap(err)
	}
	l.Data = line[l.start:l.end:l.end]
	return l.Record, nil
}

// decodedLine reads a line's members.
type decodedLine struct {
	Record
	// wantData decodes the data on the way if the type is known by then.
	wantData bool
	data     Data
	// start and end are where the data stands in the input.
	start, end int64
	have       members
}

// members is a set of the members of a line.
type members uint8

const (
	haveV members = 1 << iota
	haveRun
	haveSeq
	haveTS
	haveType
	havePrev
	haveHash
	haveData
	haveAll = 1<<iota - 1
)

// missing names the first member that is not there.
func (m members) missing() string {
	names := [...]string{"v", "run", "seq", "ts", "type", "prev", "hash", "data"}
	return names[bits.TrailingZeros8(uint8(^m))]
}

var errNewer = errors.New("written by a newer version of Rein: upgrade to read it")

func (l *decodedLine) wrap(err error) error {
	if l.have&haveSeq != 0 {
		return fmt.Errorf("event %d: %w", l.Seq, err)
	}
	return fmt.Errorf("event: %w", err)
}

// DecodeJSON reads the line.
func (l *decodedLine) DecodeJSON(dec *jsontext.Decoder) error {
	if _, err := codec.Begin(dec, '{'); err != nil {
		return err
	}
	for {
		name, err := codec.Name(dec)
		if err != nil {
			return err
		}
		if name == nil {
			return l.check()
		}
		if err := l.member(dec, name); err != nil {
			return err
		}
	}
}

func (l *decodedLine) member(dec *jsontext.Decoder, name []byte) (err error) {
	switch string(name) {
	case `"v"`:
		l.have |= haveV
		var v int64
		if v, err = codec.Int(dec, 64); err == nil && v > Version {
			err = fmt.Errorf("format %d: %w", v, errNewer)
		} else if err == nil && v < 1 {
			err = fmt.Errorf("there is no format %d", v)
		}
	case `"run"`:
		l.have |= haveRun
		l.Run, err = codec.String(dec)
	case `"seq"`:
		if l.Seq, err = codec.Int(dec, 64); err == nil {
			l.have |= haveSeq
		}
	case `"ts"`:
		l.have |= haveTS
		l.Time, err = codec.Int(dec, 64)
	case `"type"`:
		l.have |= haveType
		l.Type, err = decodeType(dec)
	case `"cmd"`:
		l.Command, err = codec.String(dec)
	case `"prev"`:
		l.have |= havePrev
		err = l.Prev.DecodeJSON(dec)
	case `"hash"`:
		l.have |= haveHash
		err = l.Hash.DecodeJSON(dec)
	case `"data"`:
		l.have |= haveData
		err = l.decodeData(dec)
	default:
		err = dec.SkipValue()
	}
	return err
}

func (l *decodedLine) decodeData(dec *jsontext.Decoder) error {
	if k := dec.PeekKind(); k != '{' && k != jsontext.KindInvalid {
		return fmt.Errorf("data: want an object, not %s", k)
	}
	if l.wantData && l.Type != "" {
		d := emptyData(l.Type)
		l.data = d
		return d.DecodeJSON(dec)
	}
	raw, err := dec.ReadValue()
	l.end = dec.InputOffset()
	l.start = l.end - int64(len(raw))
	return err
}

func (l *decodedLine) check() error {
	switch {
	case l.have != haveAll:
		return fmt.Errorf("member %q is missing", l.have.missing())
	case l.Seq < 1:
		return fmt.Errorf("there is no event %d: they count from 1", l.Seq)
	case l.Type == "":
		return errors.New("the type is empty")
	}
	return nil
}
