package modeltest

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"rein.example/rein/internal/sse"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// Decoder puts one reply together, as package wire's does.
type Decoder interface {
	Push(name string, data []byte) error
	Complete() bool
	Reply() *model.Reply
}

// Decode pushes payloads and returns what they make.
func Decode(d Decoder, payloads ...string) (*model.Reply, error) {
	for _, p := range payloads {
		if err := d.Push("", []byte(p)); err != nil {
			return nil, err
		}
	}
	if !d.Complete() {
		return nil, errors.New("not complete")
	}
	return d.Reply(), nil
}

// UsageCase is what payloads say of tokens. It is an alias, so that the rows of a
// table need no names, as are the others of this package.
type UsageCase = struct {
	Name     string
	Payloads []string
	Want     message.Usage
}

// Usage checks what a decoder makes of usage in every form. decode adds the end of a
// reply to the payloads.
func Usage(t *testing.T, decode func(payloads ...string) (*model.Reply, error), cases []UsageCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			r, err := decode(c.Payloads...)
			if err != nil || r.Usage != c.Want {
				t.Errorf("got %s\nwant %+v", Format(r, err), c.Want)
			}
		})
	}
}

// FuzzDecoder feeds a decoder what a server might send, with the recordings of dir as
// a start. It must not panic, must give the same twice, and must not find a reply
// that the bytes don't finish: one of the words stands in them, if they are not
// escaped. What it finds can be sent back.
func FuzzDecoder(f *testing.F, dir string, decoder func(stream bool) Decoder, e model.Encoder, words ...string) {
	for _, r := range Load(f, dir) {
		f.Add(r.Body)
	}
	run := func(b []byte) (out string, complete bool) {
		d := decoder(true)
		var p sse.Parser
		take := func(e sse.Event) error { return d.Push(e.Name, e.Data) }
		err := p.Feed(b, take)
		if err == nil {
			err = p.Close(take)
		}
		if err != nil || !d.Complete() {
			return fmt.Sprint(err), false
		}
		return Format(d.Reply(), nil), true
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		out, ok := run(b)
		if again, _ := run(b); again != out {
			t.Errorf("one run gave\n%s\nthe other\n%s", out, again)
		}
		finished := bytes.Contains(b, []byte(`\u`))
		for _, w := range words {
			finished = finished || bytes.Contains(b, []byte(w))
		}
		if ok && !finished {
			t.Errorf("complete without one of %q:\n%s", words, out)
		}
		d := decoder(false)
		if d.Push("", b) != nil || !d.Complete() {
			return
		}
		r := d.Reply()
		for _, p := range r.Message.Parts {
			if p.Opaque != nil && !p.Opaque.IsValid() {
				t.Errorf("opaque data that is not JSON: %s", p.Opaque)
			}
		}
		if !bytes.Contains(b, []byte(`\u`)) { // opaque data goes back as it came, escapes and all
			CheckEncoder(t, e, &model.Params{}, nil, []message.Message{r.Message})
		}
	})
}

// BenchmarkDecode measures how the recordings of dir with these names are decoded:
// streams of 1,000 of their events, of which each that is picked comes again and
// again.
func BenchmarkDecode(b *testing.B, dir string, decoder func(stream bool) Decoder, picked func(event []byte) bool, names ...string) {
	for _, name := range names {
		b.Run(name, func(b *testing.B) {
			r, err := read(filepath.Join(dir, name+".http"))
			if err != nil {
				b.Fatal(err)
			}
			var events [][]byte
			for _, e := range bytes.SplitAfter(bytes.ReplaceAll(r.Body, []byte("\r"), nil), []byte("\n\n")) {
				if picked(e) {
					events = append(events, e)
				}
			}
			if len(events) == 0 {
				b.Fatal("no event is picked")
			}
			var stream []byte
			for n := range 1000 {
				stream = append(stream, events[n%len(events)]...)
			}
			b.SetBytes(int64(len(stream)))
			b.ReportAllocs()
			for b.Loop() {
				d := decoder(true)
				var p sse.Parser
				if err := p.Feed(stream, func(e sse.Event) error { return d.Push(e.Name, e.Data) }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
