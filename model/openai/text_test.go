package openai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/internal/wire"
)

// A character that a server cuts in two, or bytes that are none, spoil a
// character and not the reply. The pieces that are shown make the text.
func TestBrokenText(t *testing.T) {
	for _, c := range []struct {
		name   string
		deltas []string
		want   string // kind and text of each part
	}{
		{"a pair over two deltas", []string{`{"content":"a\ud83d"}`, `{"content":"\ude00b"}`}, `text "a😀b"`},
		{"a pair over two refusals", []string{`{"refusal":"\ud83d"}`, `{"refusal":"\ude00"}`}, `text "😀"`},
		{"a pair in reasoning", []string{`{"reasoning":"\ud83d"}`, `{"reasoning":"\ude00"}`}, `reasoning "😀"`},
		{"a pair in both", []string{`{"reasoning_content":"\ud83d","content":"\ud83d"}`, `{"reasoning_content":"\ude00","content":"\ude00"}`}, `reasoning "😀" text "😀"`},
		{"a pair in parts", []string{`{"content":[{"type":"text","text":"\ud83d"},{"type":"text","text":"\ude00"}]}`}, `text "😀"`},
		{"bytes over two deltas", []string{"{\"content\":\"\xe6\x9d\"}", "{\"content\":\"\xb1\"}"}, `text "東"`},
		{"half a pair at the end", []string{`{"content":"a\ud83d"}`}, `text "a\ufffd"`},
		{"a bad byte", []string{"{\"content\":\"a\xffb\"}"}, `text "a\ufffdb"`},
		{"an overlong byte", []string{"{\"content\":\"\xc0\xaf\"}"}, `text "\ufffd\ufffd"`},
		{"a bad byte where nobody looks", []string{"{\"content\":\"a\",\"\xff\":\"\xff\"}"}, `text "a"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			shown := map[message.Kind]string{}
			d := newDecoder(true, "openai:acme", func(d model.Delta) {
				shown[message.Text] += d.Text
				shown[message.Reasoning] += d.Reasoning
			})
			for _, piece := range c.deltas {
				if err := d.Push("", []byte(delta(piece))); err != nil {
					t.Fatal(err)
				}
			}
			if err := d.Push("", []byte(stop)); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range d.Reply().Message.Parts {
				got = append(got, fmt.Sprintf("%s %q", p.Kind, p.Text))
				if shown[p.Kind] != p.Text {
					t.Errorf("shown was %s %q", p.Kind, shown[p.Kind])
				}
			}
			if s := strings.Join(got, " "); strings.ReplaceAll(s, "\ufffd", `\ufffd`) != c.want {
				t.Errorf("got  %s\nwant %s", s, c.want)
			}
		})
	}
}

// In arguments nothing is made up for what is not text: they stay invalid, and
// are the same when they are read back from a journal.
func TestBrokenArguments(t *testing.T) {
	piece := func(args string) string {
		return delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":` + args + `}}]}`)
	}
	for _, c := range []struct {
		name   string
		pieces []string
		want   string
		valid  bool
	}{
		{"a pair over two deltas", []string{`"{\"x\":\"\ud83d"`, `"\ude00\"}"`}, `{"x":"😀"}`, true},
		{"the model's own escapes", []string{`"{\"x\":\"\\ud83d"`, `"\\ude00\"}"`}, `{"x":"\ud83d\ude00"}`, true},
		{"half a pair", []string{`"{\"x\":\"\ud83d"`, `"\"}"`}, `{"x":"` + wire.Substitute + `"}`, false},
		{"a bad byte", []string{"\"{\\\"x\\\":\\\"\xff\\\"}\""}, `{"x":"` + wire.Substitute + `"}`, false},
		{"a bad byte in an object", []string{"{\"x\":\"\xff\"}"}, `{"x":"` + wire.Substitute + `"}`, false},
		{"half a pair in an object", []string{`{"x":"\ud83d"}`}, `{"x":"\ud83d"}`, false},
		{"cut off in a character", []string{"\"{\\\"x\\\":\\\"\xf0\x9f\""}, `{"x":"` + wire.Substitute + wire.Substitute, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var chunks []string
			for _, p := range c.pieces {
				chunks = append(chunks, piece(p))
			}
			r, err := decode(append(chunks, stop)...)
			if err != nil {
				t.Fatal(err)
			}
			args := r.Message.Parts[0].Args
			if args != c.want || jsontext.Value(args).IsValid() != c.valid {
				t.Errorf("got  %q\nwant %q", args, c.want)
			}
			in := &event.ModelAnswered{Message: r.Message}
			out, err := event.DecodeData(in.Type(), in.AppendJSON(nil))
			if err != nil {
				t.Fatal(err)
			}
			if back := out.(*event.ModelAnswered).Message.Parts[0].Args; back != args {
				t.Errorf("%q comes back from the journal as %q", args, back)
			}
		})
	}
}
