package journaltest

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/message"
)

// Bodies come back as they were, whoever asks.
func (s *suite) bodies(t *testing.T) {
	st, _ := s.start(t)
	out := s.outside(t, st)
	for name, body := range map[string][]byte{
		"empty":  {},
		"text":   []byte("hello\n"),
		"binary": {0, 255, 1, 254},
		"long":   bytes.Repeat([]byte("0123456789abcdef"), 200_000),
	} {
		given := bytes.Clone(body)
		ref, err := st.PutBody(t.Context(), given, "text/plain")
		must(t, err)
		if ref.Bytes != int64(len(body)) || ref.MediaType != "text/plain" || len(ref.SHA256) != 64 {
			t.Errorf("%s: the reference is %+v", name, ref)
		}
		clear(given) // the store has its own
		again, err := out.PutBody(t.Context(), body, "text/plain")
		must(t, err)
		if again != ref {
			t.Errorf("%s: the same body is %+v, then %+v", name, ref, again)
		}
		for range 2 {
			got, err := out.Body(t.Context(), ref)
			must(t, err)
			if !bytes.Equal(got, body) {
				t.Errorf("%s: got %d bytes, want %d", name, len(got), len(body))
			}
			clear(got)
		}
	}
}

// A reference gives what it names or an error, never something else.
func (s *suite) bodyErrors(t *testing.T) {
	st, _ := s.start(t)
	ref, err := st.PutBody(t.Context(), []byte("hello"), "")
	must(t, err)
	longer, upper, path := ref, ref, ref
	longer.Bytes++
	upper.SHA256 = strings.ToUpper(ref.SHA256)
	path.SHA256 = "../" + ref.SHA256[3:]
	for name, c := range map[string]struct {
		ref     message.Ref
		missing bool
	}{
		"another hash": {message.Ref{SHA256: strings.Repeat("0", 64), Bytes: 5}, true},
		"other size":   {longer, false},
		"upper case":   {upper, true},
		"path":         {path, true},
		"none":         {message.Ref{}, true},
	} {
		_, err := st.Body(t.Context(), c.ref)
		var bad *journal.BodyError
		if !errors.As(err, &bad) || bad.Missing != c.missing {
			t.Errorf("%s: %v, want a BodyError with missing %v", name, err, c.missing)
		}
	}
	if s.opts.DamageBody == nil {
		return
	}
	for _, remove := range []bool{false, true} {
		s.opts.DamageBody(t, st, ref, remove)
		_, err = st.Body(t.Context(), ref)
		var bad *journal.BodyError
		if !errors.As(err, &bad) || bad.Missing != remove {
			t.Errorf("removed %v: %v, want a BodyError", remove, err)
		}
		// Storing it again repairs it.
		again, err := st.PutBody(t.Context(), []byte("hello"), "")
		must(t, err)
		if _, err := st.Body(t.Context(), again); err != nil || again != ref {
			t.Errorf("stored again: %v", err)
		}
	}
}

// An event may be of any length up to 64 MB; how it is kept does not show.
func (s *suite) longEvents(t *testing.T) {
	st, l := s.start(t)
	var want []journal.Entry
	for _, n := range []int{0, 900, 1 << 10, 60 << 10, 65400, 64 << 10, 200 << 10, 3 << 20} {
		text := strings.Repeat("The quick brown fox ", n/20+1)[:n]
		for _, e := range []journal.Entry{note(text), note(noise(n))} {
			appendTo(t, st, l, "r1", int64(len(want)), e)
			want = append(want, e)
		}
	}
	says(t, st, "r1", want...)
	says(t, s.outside(t, st), "r1", want...)
	for e, err := range st.Read(t.Context(), "r1", int64(len(want))) {
		must(t, err)
		if got := e.Data.(*event.NoticeAdded).Text; len(got) != 3<<20 {
			t.Errorf("the last text has %d bytes", len(got))
		}
	}
}

// noise returns text that does not compress well, always the same.
func noise(n int) string {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = ' ' + byte(x>>24)%95
	}
	return string(b)
}
