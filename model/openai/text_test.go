package openai

import (
	"fmt"
	"strings"
	"testing"

	"rein.example/rein/message"
	"rein.example/rein/model"
)

// What all wires have to mend (see TestWire), in the places that only this one has.
func TestBrokenText(t *testing.T) {
	for _, c := range []struct {
		name   string
		deltas []string
		want   string // kind and text of each part
	}{
		{"a pair over two refusals", []string{`{"refusal":"\ud83d"}`, `{"refusal":"\ude00"}`}, `text "😀"`},
		{"a pair in reasoning", []string{`{"reasoning":"\ud83d"}`, `{"reasoning":"\ude00"}`}, `reasoning "😀"`},
		{"a pair in both", []string{`{"reasoning_content":"\ud83d","content":"\ud83d"}`, `{"reasoning_content":"\ude00","content":"\ude00"}`}, `reasoning "😀" text "😀"`},
		{"a pair in parts", []string{`{"content":[{"type":"text","text":"\ud83d"},{"type":"text","text":"\ude00"}]}`}, `text "😀"`},
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
