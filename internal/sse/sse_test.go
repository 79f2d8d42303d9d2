package sse

import (
	"errors"
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"
)

// got is an event that outlives its callback.
type got struct {
	Name, Data string
	Cut        bool
}

// parse feeds the pieces and closes.
func parse(p *Parser, pieces ...string) (events []got, err error) {
	emit := func(e Event) error {
		events = append(events, got{e.Name, string(e.Data), e.Unterminated})
		return nil
	}
	for _, s := range pieces {
		if err := p.Feed([]byte(s), emit); err != nil {
			return events, err
		}
	}
	return events, p.Close(emit)
}

func TestFraming(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []got
	}{
		{"line feeds", "data: a\n\ndata: b\n\n", []got{{Data: "a"}, {Data: "b"}}},
		{"carriage returns", "data: a\r\rdata: b\r\r", []got{{Data: "a"}, {Data: "b"}}},
		{"both", "data: a\r\n\r\ndata: b\r\n\r\n", []got{{Data: "a"}, {Data: "b"}}},
		{"mixed", "data: a\r\n\ndata: b\n\r", []got{{Data: "a"}, {Data: "b"}}},
		{"no space", "data:a\n\n", []got{{Data: "a"}}},
		{"one space only is taken", "data:  a \n\n", []got{{Data: " a "}}},
		{"several lines", "data: a\ndata: b\ndata:\n\n", []got{{Data: "a\nb\n"}}},
		{"field without colon", "data\n\n", []got{{Data: ""}}},
		{"comments", ": OPENROUTER PROCESSING\n\n:\n\ndata: a\n: x\n\n", []got{{Data: "a"}}},
		{"name", "event: ping\ndata: a\n\ndata: b\n\n", []got{{Name: "ping", Data: "a"}, {Data: "b"}}},
		{"name without data makes no event", "event: ping\n\ndata: b\n\n", []got{{Data: "b"}}},
		{"id, retry and unknown fields", "id: 1\nretry: 5\nfoo: bar\ndata: a\n\n", []got{{Data: "a"}}},
		{"byte order mark", "\xef\xbb\xbfdata: a\n\n", []got{{Data: "a"}}},
		{"byte order mark later is not one", "data: a\n\n\xef\xbb\xbfdata: b\n\n", []got{{Data: "a"}}},
		{"other line separators are text", "data: a\u2028b\u0085c\u2029\vd\fe\n\n", []got{{Data: "a\u2028b\u0085c\u2029\vd\fe"}}},
		{"bytes that are not UTF-8 pass", "data: \xff\xfe\n\n", []got{{Data: "\xff\xfe"}}},
		{"no empty line at the end", "data: a\n\ndata: [DONE]\n", []got{{Data: "a"}, {Data: "[DONE]", Cut: true}}},
		{"no line end at the end", "data: a\n\ndata: [DO", []got{{Data: "a"}, {Data: "[DO", Cut: true}}},
		{"cut in the field name", "data: a\n\ndat", []got{{Data: "a"}}},
		{"error field", "error: {\"code\":500}\n\n", []got{{Name: "error", Data: `{"code":500}`}}},
		{"error field that is cut off", "error: {\"co", []got{{Name: "error", Data: `{"co`, Cut: true}}},
		{"empty", "", nil},
		{"only empty lines", "\n\r\n\r\r", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			have, err := parse(&Parser{}, c.in)
			if err != nil || !reflect.DeepEqual(have, c.want) {
				t.Errorf("got %v, %v\nwant %v", have, err, c.want)
			}
			bytewise, err := parse(&Parser{}, strings.Split(c.in, "")...)
			if err != nil || !reflect.DeepEqual(bytewise, c.want) {
				t.Errorf("byte by byte: got %v, %v\nwant %v", bytewise, err, c.want)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name, in string
		ok       bool
	}{
		{"line at the limit", "data: 90\n\n", true},
		{"line over the limit", "data: 901\n\n", false},
		{"line over the limit that never ends", "data: 901", false},
		{"comment over the limit", ":12345678\n\n", false},
		{"data at the limit", "data:123\ndata:456\n\n", true},
		{"data over the limit", "data:123\ndata:456\ndata:7\n\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, pieces := range [][]string{{c.in}, strings.Split(c.in, "")} {
				_, err := parse(&Parser{Max: 8}, pieces...)
				var long *TooLongError
				if c.ok && err != nil || !c.ok && !errors.As(err, &long) {
					t.Errorf("in %d pieces: got %v", len(pieces), err)
				}
			}
		})
	}
}

func TestErrorOfReceiverStops(t *testing.T) {
	p, stop, n := &Parser{}, errors.New("enough"), 0
	emit := func(Event) error { n++; return stop }
	for range 2 {
		if err := p.Feed([]byte("data: a\n\ndata: b\n\n"), emit); err != stop {
			t.Errorf("got %v", err)
		}
	}
	if err := p.Close(emit); err != stop || n != 1 {
		t.Errorf("got %v after %d events", err, n)
	}
}

// FuzzSplit checks that the events do not depend on how the bytes arrive.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		"data: a\r\n\r\nevent: x\rdata: b\n\n: c\ndata", "error: x\n\ndata:\n\n", "\xef\xbb\xbfdata: \u2028\n\n",
		"data: 123456789012345678901234567890123456789012345678901234567890\n\n",
	} {
		f.Add([]byte(s), int64(1))
	}
	f.Fuzz(func(t *testing.T, b []byte, seed int64) {
		want, wantErr := parse(&Parser{Max: 48}, string(b))
		r, in := rand.New(rand.NewSource(seed)), string(b)
		var pieces []string
		for len(in) > 0 {
			n := 1 + r.Intn(len(in))
			pieces, in = append(pieces, in[:n]), in[n:]
		}
		have, err := parse(&Parser{Max: 48}, pieces...)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || !reflect.DeepEqual(have, want) {
			t.Errorf("%q:\ngot  %v, %v\nwant %v, %v", pieces, have, err, want, wantErr)
		}
		size := 0
		for _, e := range want {
			size += len(e.Data)
		}
		if size > len(b) {
			t.Errorf("%d bytes of data out of %d", size, len(b))
		}
	})
}

func BenchmarkFeed(b *testing.B) {
	chunk := []byte("data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\"finish_reason\":null}]}\n\n")
	in := []byte(strings.Repeat(string(chunk), 100))
	emit := func(Event) error { return nil }
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		var p Parser
		if err := p.Feed(in, emit); err != nil {
			b.Fatal(err)
		}
	}
}
