package modeltest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rein.example/rein/dialect"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// Wire is what the checks have to know of one wire.
type Wire struct {
	// New makes its client.
	New Factory
	// Dir holds its recordings: in replies those in the shape of real servers, each
	// with the reply or error that it makes, and in script those of [Script].
	Dir string
	// Text names a recording of a stream that says a text, Whole one of a reply in one
	// piece.
	Text, Whole string
	// Say returns the events of a stream that is a whole reply, which says the
	// pieces of one text, reasoning, or tool call, and nothing where there are none.
	// A piece is the JSON of a string; that of a tool call is one of its arguments,
	// or an object of all. Nil means that the wire has no such piece. An event is as
	// it comes, without the empty line that ends it.
	Say func(kind message.Kind, pieces ...string) []string
	// Empty are payloads that say nothing, and may stand anywhere in a stream.
	Empty []string
	// Faults names the recording in which each of the reported faults can be seen;
	// a text with a space in it says why it cannot happen on this wire.
	Faults map[string]string
	// Encoders write its requests, with and without what makes a difference.
	Encoders []model.Encoder
	// Aside removes from a body what may differ between two requests of which the
	// one is the beginning of the other; nil removes nothing.
	Aside func(body []byte) []byte
}

// Test runs every check that there is for a wire.
func (w *Wire) Test(t *testing.T) {
	replies := filepath.Join(w.Dir, "replies")
	t.Run("replies", func(t *testing.T) { Replies(t, w.New, Load(t, replies)) })
	for _, c := range []struct {
		name  string
		check func(*testing.T, Factory, *Recording)
	}{{"cut everywhere", CutEverywhere}, {"split everywhere", SplitEverywhere}, {"over HTTP", OverHTTP}} {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range Load(t, replies) {
				t.Run(r.Name, func(t *testing.T) { c.check(t, w.New, &r) })
			}
		})
	}
	t.Run("given up", func(t *testing.T) { Cancel(t, w.New, w.recording(t, w.Text)) })
	t.Run("script", func(t *testing.T) { Script(t, w.New, filepath.Join(w.Dir, "script")) })
	t.Run("faults", w.faults)
	t.Run("broken text", w.brokenText)
	t.Run("broken arguments", w.brokenArguments)
	t.Run("prefixes", func(t *testing.T) {
		for _, e := range w.Encoders {
			t.Run(e.Version()+" "+options(e), func(t *testing.T) { CheckPrefixes(t, e, w.Aside) })
			for _, id := range dialect.Promptable() {
				in, err := model.InDialect(e, id)
				if err != nil {
					t.Fatal(err)
				}
				t.Run(in.Version()+" "+options(e), func(t *testing.T) { CheckPrefixes(t, in, w.Aside) })
			}
		}
	})
}

// options names an encoder's settings.
func options(e model.Encoder) string {
	if c, ok := e.(model.Configured); ok {
		return string(c.Options())
	}
	return ""
}

// recording returns the recording of that name.
func (w *Wire) recording(t testing.TB, name string) *Recording {
	t.Helper()
	path := filepath.Join(w.Dir, "replies", name+".http")
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	r, err := read(path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return &r
}

// stream returns a recording of events.
func stream(events []string) *Recording {
	r := streamOf(strings.Join(events, "\n\n") + "\n\n")
	return &r
}

func streamOf(body string) Recording {
	return Recording{Status: 200, Header: map[string][]string{"Content-Type": {"text/event-stream"}}, Body: []byte(body), Stream: true}
}

// quoted returns the JSON of a string.
func quoted(s string) string { return string(appendQuoted(nil, s)) }
