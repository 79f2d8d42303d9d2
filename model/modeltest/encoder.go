package modeltest

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
	"rein.example/rein/model"
)

// Body builds a whole request body.
func Body(e model.Encoder, p *model.Params, system, messages []message.Message) []byte {
	b := e.Head(nil, p, system)
	var prev *message.Message
	for i := range messages {
		b = e.Message(b, prev, &messages[i])
		prev = &messages[i]
	}
	return e.Close(b, p, prev)
}

// CheckEncoder holds an encoder to its contract on one conversation: the body of
// every prefix is valid JSON in UTF-8, without \u escapes where none are
// needed; the pieces don't depend on what they are appended to; equal input
// gives equal bytes; and each body, but for what Close appends, is the beginning
// of the next.
func CheckEncoder(t *testing.T, e model.Encoder, p *model.Params, system, messages []message.Message) {
	t.Helper()
	var before []byte
	for n := range len(messages) + 1 {
		var last *message.Message
		if n > 0 {
			last = &messages[n-1]
		}
		whole := Body(e, p, system, messages[:n])
		if !bytes.Equal(whole, Body(e, p, system, messages[:n])) {
			t.Fatalf("%d messages: the bytes differ from one time to the next", n)
		}
		if !jsontext.Value(whole).IsValid() || !utf8.Valid(whole) {
			t.Fatalf("%d messages: not JSON: %s", n, whole)
		}
		if i := needless(whole); i >= 0 {
			t.Fatalf("%d messages: needlessly escaped: %s", n, whole[i:min(len(whole), i+40)])
		}
		if !bytes.HasPrefix(whole, before) {
			t.Fatalf("%d messages: the request before is not the beginning of this one\nbefore %s\nnow    %s", n, before, whole)
		}
		end := e.Close(nil, p, last)
		before = whole[:len(whole)-len(end)]
		if !bytes.HasSuffix(whole, end) {
			t.Fatalf("%d messages: Close appends other bytes to nothing than to a body", n)
		}
		if n > 0 {
			var prev *message.Message
			if n > 1 {
				prev = &messages[n-2]
			}
			if piece := e.Message(nil, prev, last); !bytes.HasSuffix(before, piece) {
				t.Fatalf("%d messages: Message appends other bytes to nothing than to a body", n)
			}
		}
	}
}

// needless returns the offset of a \u escape of anything but a control
// character, or -1. A backslash that is itself escaped begins none.
func needless(b []byte) int {
	for i := 0; i+1 < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		if b[i+1] == 'u' && !strings.HasPrefix(string(b[i+2:]), "00") {
			return i
		}
		i++
	}
	return -1
}
