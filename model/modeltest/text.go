package modeltest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// substitute stands in arguments for what is not text, so that they are not JSON.
const substitute = "\x1a"

func appendQuoted(dst []byte, s string) []byte {
	dst, err := jsontext.AppendQuote(dst, s)
	if err != nil {
		panic(err) // a test's own text is UTF-8
	}
	return dst
}

// brokenText says texts with characters that the server has cut in two, or bytes
// that are none: they spoil a character and not the reply, and the pieces that are
// shown make the text.
func (w *Wire) brokenText(t *testing.T) {
	for _, c := range []struct {
		name   string
		pieces []string
		want   string
		mended int64
	}{
		{"nothing wrong", []string{`"Grüße, "`, `"東京"`}, "Grüße, 東京", 0},
		{"a pair over two pieces", []string{`"a\ud83d"`, `"\ude00b"`}, "a😀b", 0},
		{"a pair over two pieces with nothing between", []string{`"\ud83d"`, `""`, `"\ude00"`}, "😀", 0},
		{"bytes over two pieces", []string{"\"\xe6\x9d\"", "\"\xb1!\""}, "東!", 0},
		{"half a pair in the middle", []string{`"a\ud83d"`, `"b"`}, "a\ufffdb", 1},
		{"half a pair at the end", []string{`"a\ud83d"`}, "a\ufffd", 1},
		{"half a character at the end", []string{"\"a\xf0\x9f\""}, "a\ufffd\ufffd", 2},
		{"a bad byte", []string{"\"a\xffb\""}, "a\ufffdb", 1},
		{"an overlong slash", []string{"\"\xc0\xaf\""}, "\ufffd\ufffd", 2},
	} {
		for _, kind := range []message.Kind{message.Text, message.Reasoning} {
			t.Run(string(kind)+" with "+c.name, func(t *testing.T) {
				events := w.Say(kind, c.pieces...)
				if events == nil {
					t.Skip("this wire has none")
				}
				shown := map[message.Kind]string{}
				reply, err := call(t.Context(), w.New, Play(stream(events), Plan{}), base, true, func(d model.Delta) {
					shown[message.Text] += d.Text
					shown[message.Reasoning] += d.Reasoning
				})
				if err != nil {
					t.Fatal(err)
				}
				got := ""
				for _, p := range reply.Message.Parts {
					if p.Kind == kind {
						got += p.Text
					}
					if c.mended > 0 && p.Opaque != nil && strings.Contains(string(p.Opaque), "signature") {
						t.Errorf("what was signed goes back though it is not what it was: %s", p.Opaque)
					}
				}
				if got != c.want || shown[kind] != c.want || reply.Mended != c.mended {
					t.Errorf("got %q, shown %q, mended in %d places; want %q, %d", got, shown[kind], reply.Mended, c.want, c.mended)
				}
				w.sendBack(t, reply)
			})
		}
	}
}

// brokenArguments says arguments with the same faults: nothing is made up for what
// is not text, so that they stay invalid, and are the same when they are read back
// from a journal.
func (w *Wire) brokenArguments(t *testing.T) {
	for _, c := range []struct {
		name   string
		pieces []string
		want   string
		valid  bool
		mended int64
	}{
		{"an object", []string{`{"x":"東"}`}, `{"x":"東"}`, true, 0},
		{"a bad byte in an object", []string{"{\"x\":\"\xff\"}"}, `{"x":"` + substitute + `"}`, false, 1},
		{"half a pair in an object", []string{`{"x":"\ud83d"}`}, `{"x":"\ud83d"}`, false, 0},
		{"a text", []string{quoted(`{"x":`), quoted(`"東"}`)}, `{"x":"東"}`, true, 0},
		{"a pair over two pieces", []string{`"{\"x\":\"\ud83d"`, `"\ude00\"}"`}, `{"x":"😀"}`, true, 0},
		{"the model's own escapes", []string{`"{\"x\":\"\\ud83d"`, `"\\ude00\"}"`}, `{"x":"\ud83d\ude00"}`, true, 0},
		{"half a pair", []string{`"{\"x\":\"\ud83d"`, `"\"}"`}, `{"x":"` + substitute + `"}`, false, 1},
		{"a bad byte", []string{"\"{\\\"x\\\":\\\"\xff\\\"}\""}, `{"x":"` + substitute + `"}`, false, 1},
		{"cut off in a character", []string{"\"{\\\"x\\\":\\\"\xf0\x9f\""}, `{"x":"` + substitute + substitute, false, 2},
		{"cut off", []string{quoted(`{"x":"1","y":`)}, `{"x":"1","y":`, false, 0},
		{"without their beginning", []string{quoted(`x": `), quoted(`"1"}`)}, `x": "1"}`, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			events := w.Say(message.ToolCall, c.pieces...)
			if events == nil {
				t.Skip("this wire has none")
			}
			reply, err := call(t.Context(), w.New, Play(stream(events), Plan{}), base, true, nil)
			if err != nil {
				t.Fatal(err)
			}
			if reply.Message.Calls() != 1 || reply.Finish != event.FinishToolCalls {
				t.Fatalf("got %s", Format(reply, nil))
			}
			args := reply.Message.Parts[len(reply.Message.Parts)-1].Args
			if args != c.want || jsontext.Value(args).IsValid() != c.valid || reply.Mended != c.mended {
				t.Errorf("got %q, mended in %d places, want %q, %d", args, reply.Mended, c.want, c.mended)
			}
			in := &event.ModelAnswered{Message: reply.Message}
			out, err := event.DecodeData(in.Type(), in.AppendJSON(nil))
			if err != nil {
				t.Fatal(err)
			}
			back := out.(*event.ModelAnswered).Message.Parts
			if got := back[len(back)-1].Args; got != args {
				t.Errorf("%q comes back from the journal as %q", args, got)
			}
			w.sendBack(t, reply)
		})
	}
}

// sendBack checks that a reply can be a part of the next request.
func (w *Wire) sendBack(t *testing.T, reply *model.Reply) {
	t.Helper()
	messages := []message.Message{message.NewText(message.User, "go"), reply.Message}
	for _, p := range reply.Message.Parts {
		if p.Kind == message.ToolCall {
			messages = append(messages, message.Result(p.ID, p.Name, "no", true))
		}
	}
	for _, e := range w.Encoders {
		body := Body(e, &model.Params{Model: "m"}, nil, messages)
		if v := jsontext.Value(body); !v.IsValid() {
			t.Error(fmt.Errorf("what came cannot be sent back: %s", body))
		}
	}
}
