package modeltest

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
	"rein.example/rein/model"
)

// RequestBytes compares the exact bytes of a request with the file at path, as other
// programs and old journals know them: a change there needs a new version of the
// encoder. It holds the encoder to [CheckEncoder] as well, with and without system
// messages, and to what again makes of its options, as a journal keeps them.
func RequestBytes(t *testing.T, path string, e model.Encoder, p *model.Params, system, messages []message.Message, again func(jsontext.Value) (model.Encoder, error)) {
	t.Helper()
	// A line for each fragment, so that the file can be read.
	var b strings.Builder
	b.Write(e.Head(nil, p, system))
	var prev *message.Message
	for i := range messages {
		b.WriteByte('\n')
		b.Write(e.Message(nil, prev, &messages[i]))
		prev = &messages[i]
	}
	fmt.Fprintf(&b, "\n%s\n", e.Close(nil, p, prev))
	if _, ok := e.(model.Tailed); ok {
		tail := message.NewText(message.System, "the state")
		fmt.Fprintf(&b, "with a tail:\n%s\n", model.End(nil, e, p, prev, &tail))
	}
	Golden(t, path, b.String())

	CheckEncoder(t, e, p, system, messages)
	CheckEncoder(t, e, p, nil, messages)
	options := e.(model.Configured).Options()
	same, err := again(options)
	if err != nil {
		t.Fatalf("from options %s: %v", options, err)
	}
	if got, want := Body(same, p, system, messages), Body(e, p, system, messages); string(got) != string(want) || same.Version() != e.Version() {
		t.Errorf("from options %s came another encoder: %s\n%s\n%s", options, same.Version(), got, want)
	}
}

// AnyOrder holds encoders to [CheckEncoder] whatever the order of the messages, and
// calls also, if not nil, with each body and what it was made of. encoder makes one
// that differs from time to time.
func AnyOrder(t *testing.T, p *model.Params, system, messages []message.Message, encoder func(*rand.Rand) (model.Encoder, error), also func(body []byte)) {
	t.Helper()
	const seed = 7 // any; the same at every run, so that a failure repeats
	random := rand.New(rand.NewSource(seed))
	for range 200 {
		random.Shuffle(len(messages), func(i, j int) { messages[i], messages[j] = messages[j], messages[i] })
		e, err := encoder(random)
		if err != nil {
			t.Fatal(err)
		}
		CheckEncoder(t, e, p, system[:random.Intn(len(system)+1)], messages)
		if also != nil {
			also(Body(e, p, nil, messages))
		}
	}
}

// BenchmarkMessage measures how a message with calls and a result are written.
func BenchmarkMessage(b *testing.B, e model.Encoder, calls message.Message) {
	before := message.NewText(message.User, "go")
	result := message.Result("c1", "read_file", strings.Repeat("a line of a file, \"quoted\" here and there\n", 70), false)
	for _, c := range []struct {
		name string
		m    *message.Message
	}{{"calls", &calls}, {"result-3KB", &result}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				dst = e.Message(dst[:0], &before, c.m)
			}
			b.SetBytes(int64(len(dst)))
		})
	}
}
