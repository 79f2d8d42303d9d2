package event

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	stdjson "encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/internal/golden"
	"rein.example/rein/message"
)

var update = flag.Bool("update", false, "rewrite testdata from what the code does now")

const goldenFile = "testdata/events.jsonl"

// The format on disk is testdata/events.jsonl: one example of each event. A
// change of it that this version could not read again needs a new Version.
func TestGolden(t *testing.T) {
	var got []byte
	events := examples()
	for i := range events {
		got = append(AppendEvent(got, &events[i]), '\n')
	}
	golden.Check(t, goldenFile, got, *update, "run go test ./event -update")

	// What was written is read back as it was, and hashes to what it says.
	var c Chain
	for i, line := range bytes.Split(bytes.TrimSuffix(got, []byte("\n")), []byte("\n")) {
		e, err := DecodeEvent(line)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(e, events[i]) {
			t.Errorf("%s\nreads as %+v\nwant     %+v", line, e, events[i])
		}
		r, err := DecodeRecord(line)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Add(&r); err != nil {
			t.Error(err)
		}
		if e, err := r.Event(); err != nil || !reflect.DeepEqual(e, events[i]) {
			t.Errorf("the record reads as %+v, %v", e, err)
		}
		if again := AppendRecord(nil, &r); !bytes.Equal(again, line) {
			t.Errorf("%s\nis written again as\n%s", line, again)
		}
	}
}

// The examples show every type, and every member of every struct.
func TestExamplesAreComplete(t *testing.T) {
	types, set := map[Type]bool{}, map[string]bool{}
	for _, e := range examples() {
		types[e.Data.Type()] = true
		visitFields(reflect.ValueOf(e.Data).Elem(), func(name string, v reflect.Value) { set[name] = set[name] || !v.IsZero() })
	}
	for _, typ := range Types() {
		if !types[typ] {
			t.Errorf("no example of %s", typ)
		}
	}
	for name, ok := range set {
		if !ok && !strings.HasPrefix(name, "Message.") {
			t.Errorf("no example sets %s", name)
		}
	}
}

// Another program can check a journal from the lines alone: what the comment of
// ComputeHash says, done with other means.
func TestAnotherProgramCanVerify(t *testing.T) {
	golden, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	prev := make([]byte, 32)
	for line := range strings.Lines(string(golden)) {
		var m struct {
			Seq, TS               int64
			Type, Cmd, Prev, Hash string
		}
		if err := stdjson.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		_, data, _ := strings.Cut(strings.TrimSuffix(line, "}\n"), `"data":`)
		sum := sha256.Sum256([]byte(data))
		var b bytes.Buffer
		for _, field := range []any{uint32(1), uint32(len(m.Type)), m.Seq, m.TS, prev, sum, []byte(m.Type), []byte(m.Cmd)} {
			if err := binary.Write(&b, binary.BigEndian, field); err != nil {
				t.Fatal(err)
			}
		}
		hash := sha256.Sum256(b.Bytes())
		if got := fmt.Sprintf("%x", hash); got != m.Hash || fmt.Sprintf("%x", prev) != m.Prev {
			t.Errorf("event %d hashes to %s", m.Seq, got)
		}
		prev = hash[:]
	}
}

// Whatever is changed in a journal, the chain breaks there.
func TestChainFindsEveryChange(t *testing.T) {
	records := func() (rs []Record) {
		events := sampleRun(3)
		for i := range events {
			r, err := DecodeRecord(AppendEvent(nil, &events[i]))
			if err != nil {
				t.Fatal(err)
			}
			rs = append(rs, r)
		}
		return rs
	}
	rehash := func(r *Record) { r.Hash = r.ComputeHash() }
	for _, c := range []struct {
		name   string
		change func(rs []Record) []Record
		sound  int64
		want   string
	}{
		{"nothing", func(rs []Record) []Record { return rs }, 24, ""},
		{"one byte of the data", func(rs []Record) []Record { rs[4].Data[20] ^= 1; return rs }, 4, "was changed"},
		{"the time", func(rs []Record) []Record { rs[4].Time++; return rs }, 4, "was changed"},
		{"the type", func(rs []Record) []Record { rs[4].Type = TypeModelFailed; return rs }, 4, "was changed"},
		{"the command", func(rs []Record) []Record { rs[4].Command = "1.0"; return rs }, 4, "was changed"},
		{"type and command shifted", func(rs []Record) []Record {
			rs[4].Type, rs[4].Command = rs[4].Type+Type(rs[4].Command[:1]), rs[4].Command[1:]
			return rs
		}, 4, "was changed"},
		{"data and hash", func(rs []Record) []Record { rs[4].Data[20] ^= 1; rehash(&rs[4]); return rs }, 5, "as the hash of the event before"},
		{"an event left out", func(rs []Record) []Record { return append(rs[:4], rs[5:]...) }, 4, "missing or out of order"},
		{"an event left out and renumbered", func(rs []Record) []Record {
			rs = append(rs[:4], rs[5:]...)
			for i := range rs {
				rs[i].Seq = int64(i + 1)
			}
			return rs
		}, 4, "as the hash of the event before"},
		{"two swapped", func(rs []Record) []Record { rs[4], rs[5] = rs[5], rs[4]; return rs }, 4, "missing or out of order"},
		{"the first left out", func(rs []Record) []Record { return rs[1:] }, 0, "missing or out of order"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var chain Chain
			var err error
			rs := c.change(records())
			for i := range rs {
				if err = chain.Add(&rs[i]); err != nil {
					break
				}
			}
			if chain.Seq != c.sound {
				t.Errorf("sound up to %d, want %d", chain.Seq, c.sound)
			}
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// A fork goes on from an event of its parent under another name, and its chain
// holds through the events that they share.
func TestChainOfAFork(t *testing.T) {
	parent := sampleRun(2)
	fork := append(parent[:9:9], Event{Run: "fork", Seq: 10, Time: 1_790_000_000_500, Data: &NoticeAdded{Kind: "fork", Text: "another way"}})
	for i := range fork {
		fork[i].Run = "fork"
	}
	last := &fork[9]
	last.Prev = fork[8].Hash
	last.Hash = ComputeHash(last.Prev, last.Seq, last.Time, last.Data.Type(), last.Command, last.Data.AppendJSON(nil))
	var c Chain
	for i := range fork {
		r, err := DecodeRecord(AppendEvent(nil, &fork[i]))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Add(&r); err != nil {
			t.Fatal(err)
		}
	}
	if c.Seq != 10 || c.Hash != last.Hash {
		t.Errorf("the chain ends at %+v", c)
	}
}

func TestDecodeEvent(t *testing.T) {
	const h = "0000000000000000000000000000000000000000000000000000000000000000"
	full := `{"v":1,"run":"r","seq":7,"ts":5,"type":"timer.fired","cmd":"5.0","prev":"` + h + `","hash":"` + h + `","data":{"id":"5.0"}}`
	want := Event{Run: "r", Seq: 7, Time: 5, Command: "5.0", Data: &TimerFired{ID: "5.0"}}
	without := func(member string) string {
		i := strings.Index(full, `"`+member+`":`)
		end := i + strings.Index(full[i:], `,"`) + 1
		if member == "data" {
			return full[:i-1] + "}"
		}
		return full[:i] + full[end:]
	}
	for _, c := range []struct{ name, line, want string }{
		{"as it is written", full, ""},
		{"a line break behind it", full + "\n", ""},
		{"space between", strings.ReplaceAll(full, ",", " , "), ""},
		{"data first", `{"data":{"id":"5.0"},` + strings.Replace(full[1:], `,"data":{"id":"5.0"}`, "", 1), ""},
		{"an unknown member", `{"x":[{}],` + full[1:], ""},
		{"an escaped name", strings.Replace(full, `"seq"`, `"s\u0065q"`, 1), ""},
		{"an escaped type", strings.Replace(full, `"timer`, `"\u0074imer`, 1), ""},
		{"empty", "", "unexpected EOF"},
		{"cut", full[:len(full)-1], "event 7: "},
		{"no object", "7", "want an object"},
		{"no v", without("v"), `member "v" is missing`},
		{"no run", without("run"), `member "run" is missing`},
		{"no seq", without("seq"), `member "seq" is missing`},
		{"no ts", without("ts"), `member "ts" is missing`},
		{"no type", without("type"), `member "type"`},
		{"no prev", without("prev"), `member "prev"`},
		{"no hash", without("hash"), `member "hash"`},
		{"no data", without("data"), `member "data"`},
		{"a newer format", strings.Replace(full, `"v":1`, `"v":2`, 1), "newer version of Rein: upgrade"},
		{"no such format", strings.Replace(full, `"v":1`, `"v":0`, 1), "there is no format 0"},
		{"event 0", strings.Replace(full, `"seq":7`, `"seq":0`, 1), "they count from 1"},
		{"an empty type", strings.Replace(full, `"timer.fired"`, `""`, 1), "the type is empty"},
		{"a short hash", strings.Replace(full, h, h[1:], 1), "64 lower-case hexadecimal digits"},
		{"data that is no object", strings.Replace(full, `{"id":"5.0"}`, `[]`, 1), "data: want an object, not ["},
		{"data with a wrong member", strings.Replace(full, `{"id":"5.0"}`, `{"id":5}`, 1), "at /data/id: want a string"},
		{"data first, with a wrong member", `{"data":{"id":5},` + strings.Replace(full[1:], `,"data":{"id":"5.0"}`, "", 1), "at /id: want a string"},
		{"a duplicate", `{"seq":7,` + full[1:], "duplicate"},
		{"two events", full + full, "more than one JSON value"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := DecodeEvent([]byte(c.line))
			if c.want == "" {
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("got %+v, %v", got, err)
				}
				r, err := DecodeRecord([]byte(c.line))
				if err != nil || r.Seq != 7 || r.Type != TypeTimerFired || !strings.Contains(string(r.Data), "5.0") {
					t.Errorf("record %+v, %v", r, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v does not say %q", err, c.want)
			}
		})
	}
}

// An event of a newer version is kept byte for byte.
func TestUnknownEvent(t *testing.T) {
	e := Event{Run: "r", Seq: 1, Data: &Unknown{Name: "dream.had", Raw: []byte(`{"of": ["electric", "sheep"], "n":1.50}`)}}
	line := AppendEvent(nil, &e)
	got, err := DecodeEvent(line)
	if err != nil || !reflect.DeepEqual(got, e) {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, bad := range []string{`[]`, `{`, `{"a":1,"a":2}`, ``} {
		if d, err := DecodeData("dream.had", []byte(bad)); err == nil {
			t.Errorf("%s is read as %+v", bad, d)
		}
	}
}

// Whatever is in an event, its line is one line and can be read.
func TestOneLineWhatever(t *testing.T) {
	bad := "\x00\n\r\u2028\"\\\xff\xed\xa0\x80 end"
	e := Event{Run: bad, Seq: 1, Command: bad, Data: &ToolFinished{Call: bad, Status: Status(bad), Parts: []message.Part{{Kind: message.Text, Text: bad, Opaque: jsontext.Value(`{"a":` + "\n\t1}\n")}}, Result: jsontext.Value(bad)}}
	line := AppendEvent(nil, &e)
	if bytes.ContainsAny(line, "\n\r") || !jsontext.Value(line).IsValid() {
		t.Fatalf("%s", line)
	}
	got, err := DecodeEvent(line)
	if err != nil {
		t.Fatal(err)
	}
	d := got.Data.(*ToolFinished)
	if want := strings.ToValidUTF8(strings.ReplaceAll(bad, "\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"), "\uFFFD"); d.Call != want || got.Run != want || got.Command != want {
		t.Errorf("%q came back as %q", bad, d.Call)
	}
	if string(d.Parts[0].Opaque) != `{"a":1}` || d.Result.Kind() != '"' {
		t.Errorf("raw values came back as %s and %s", d.Parts[0].Opaque, d.Result)
	}
}

// Encoding and hashing allocate nothing when there is room.
func TestEncodingAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes pools forget what they keep")
	}
	buf := make([]byte, 0, 1<<16)
	for _, e := range append(examples(), sampleRun(1)...) {
		if n := testing.AllocsPerRun(20, func() {
			AppendEvent(buf, &e)
			data := e.Data.AppendJSON(buf)
			ComputeHash(e.Prev, e.Seq, e.Time, e.Data.Type(), e.Command, data)
		}); n != 0 {
			t.Errorf("%s: %v allocations", e.Data.Type(), n)
		}
	}
}

// Whatever can be read can be written and read again, the same.
func FuzzDecodeEvent(f *testing.F) {
	events := examples()
	for i := range events {
		f.Add(AppendEvent(nil, &events[i]))
	}
	f.Add([]byte(`{"data":{"a":"\ud83d\ude42"},"type":"x","v":1,"run":"","seq":1,"ts":-1,"prev":null,"hash":null}`))
	f.Add([]byte(`{"v":1,"seq":9223372036854775807`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := DecodeEvent(line)
		r, rerr := DecodeRecord(line)
		if err != nil {
			return
		}
		if rerr != nil || r.Seq != e.Seq || r.Type != e.Data.Type() {
			t.Fatalf("read as an event, but not as a record: %+v, %v", r, rerr)
		}
		once := AppendEvent(nil, &e)
		again, err := DecodeEvent(once)
		if err != nil {
			t.Fatalf("%s\nwas written as\n%s\n%v", line, once, err)
		}
		if twice := AppendEvent(nil, &again); !bytes.Equal(once, twice) {
			t.Fatalf("%s\nwas written as\n%s\nthen\n%s", line, once, twice)
		}
		if bytes.ContainsAny(once, "\n\r") {
			t.Fatalf("more than one line: %q", once)
		}
	})
}
