package modeltest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// step is one request of a conversation: what is new in it, and the tail that the
// next one has not.
type step struct {
	added []message.Message
	tail  string
}

// conversation is one of all kinds of messages, step by step: long texts, calls
// side by side, results that failed or are pictures, notices wherever they may
// stand, words of the user in between, a reply in pieces.
func conversation() []step {
	text := func(s string) message.Part { return message.Part{Kind: message.Text, Text: s} }
	calls := func(says string, ids ...string) message.Message {
		m := message.Message{Role: message.Assistant}
		if says != "" {
			m.Parts = append(m.Parts, text(says))
		}
		for _, id := range ids {
			m.Parts = append(m.Parts, message.Part{Kind: message.ToolCall, ID: id, Name: "read_file", Args: `{"path":"` + id + `.md"}`})
		}
		return m
	}
	result := func(id, s string) message.Message { return message.Result(id, "read_file", s, false) }
	notice := func(s string) message.Message { return message.NewText(message.System, s) }
	picture := message.Part{Kind: message.Image, MediaType: "image/png", URL: model.DataURL("image/png", bytes.Repeat([]byte{0x89, 0, 255}, 3000))}
	long := strings.Repeat("a line with \"quotes\", a \\, a tab\t, 東京 and \u2028\n", 2000)

	many := []message.Message{calls("Many at once.", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10", "m11", "m12")}
	for i := range 12 {
		many = append(many, result(fmt.Sprint("m", i+1), fmt.Sprint("file ", i+1)))
	}
	thought := calls("", "c4")
	thought.Parts = append([]message.Part{{Kind: message.Reasoning, Text: "Thought by somebody else.", Provider: "other", Opaque: jsontext.Value(`{"signature":"x"}`)}}, thought.Parts...)
	return []step{
		{[]message.Message{message.NewText(message.User, "Read the files.")}, "at the start"},
		{[]message.Message{calls("I will look.", "c1", "c2"), result("c1", "one"), result("c2", "two")}, "two files read"},
		{[]message.Message{notice("Half of the steps are used."), notice("And one more thing.")}, ""},
		{[]message.Message{calls("", "c3"), message.Result("c3", "read_file", `{"ok":false}`, true)}, long[:2000]},
		{[]message.Message{notice("It failed."), message.NewText(message.User, "Go on all the same."), thought, result("c4", long)}, "a long file"},
		{[]message.Message{calls("Now the picture.", "c5"), {Role: message.Tool, ToolCallID: "c5", ToolName: "read_file", Parts: []message.Part{text("a picture"), picture}}}, "a picture seen"},
		{[]message.Message{message.NewText(message.Assistant, "That is all."), {Role: message.User, Parts: []message.Part{text("And this?"), picture, text("Is it the same?")}}}, "two pictures"},
		{[]message.Message{message.NewText(message.Assistant, ""), notice("Say something.")}, "nothing said"},
		{many, "many files"},
		{[]message.Message{message.NewText(message.Assistant, long)}, "a long answer"},
		{[]message.Message{message.NewText(message.User, " ")}, ""},
		{[]message.Message{message.NewText(message.Assistant, "Done.")}, "done"},
	}
}

// CheckPrefixes holds an encoder to what a server's cache needs: as a conversation
// goes on, with a tail that changes at each step, the messages of every request are,
// up to the tail, the beginning of those of the next one, byte for byte, and each
// request has all that was said so far before its tail. Neither the tail, nor what
// asks for the last answer without tools, changes what stands before it. aside
// removes from a body what does not count, and may be nil.
func CheckPrefixes(t *testing.T, e model.Encoder, aside func([]byte) []byte) {
	t.Helper()
	if err := checkPrefixes(e, aside); err != nil {
		t.Error(err)
	}
}

func checkPrefixes(e model.Encoder, aside func([]byte) []byte) error {
	if aside == nil {
		aside = func(b []byte) []byte { return b }
	}
	p := &model.Params{Model: "m", Stream: true, MaxOutput: 1000, Tools: []event.ToolSpec{{
		Name: "read_file", Description: "Reads a file.", Schema: jsontext.Value(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`),
	}}}
	last := *p // asks for the answer, without tools
	last.NoTools, last.Schema, last.SchemaName = true, p.Tools[0].Schema, "result"
	system := []message.Message{message.NewText(message.System, "Use the tools."), message.NewText(message.System, "Never guess.")}
	head, lastHead := e.Head(nil, p, system), e.Head(nil, &last, system)

	open := bytes.Clone(head)
	var before []byte // the messages of the request before, up to its tail
	var prev *message.Message
	for i, s := range conversation() {
		from := len(open)
		for j := range s.added {
			open = e.Message(open, prev, &s.added[j])
			prev = &s.added[j]
		}
		var tail *message.Message
		if s.tail != "" {
			m := message.NewText(message.System, s.tail)
			tail = &m
		}
		body := model.End(bytes.Clone(open), e, p, prev, tail)
		final := model.End(append(bytes.Clone(lastHead), open[len(head):]...), e, &last, prev, tail)
		stable := aside(open[len(head):])
		if err := errors.Join(
			holds("its request", body, head, stable, before, s.tail, aside),
			holds("its last request", final, lastHead, stable, before, s.tail, aside),
			says(open[from:], s.added),
		); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		before = stable
	}
	return nil
}

// holds checks one body: it is JSON, its messages begin with those of the request
// before and go on with stable, and after them comes the tail and little else.
func holds(what string, body, head, stable, before []byte, tail string, aside func([]byte) []byte) error {
	got := aside(body[len(head):])
	rest, found := bytes.CutPrefix(got, stable)
	const closing = 300 // what closes a body, and says that the tail is a notice
	switch {
	case !jsontext.Value(body).IsValid():
		return fmt.Errorf("%s is not JSON: %s", what, body)
	case !bytes.HasPrefix(body, head):
		return fmt.Errorf("%s does not begin with its head", what)
	case !bytes.HasPrefix(got, before):
		return fmt.Errorf("the messages of the request before are not the beginning of those of %s:\n%s", what, difference(before, got))
	case !found:
		return fmt.Errorf("what stays is not the beginning of the messages of %s:\n%s", what, difference(stable, got))
	case len(rest) > 2*len(tail)+closing:
		return fmt.Errorf("%s goes on with more than the tail after what stays: %.500s", what, rest)
	case tail != "" && !bytes.Contains(rest, inner(tail)):
		return fmt.Errorf("the tail of %s is not at its end: %.500s", what, rest)
	}
	return nil
}

// says checks that what was said stands in the bytes that were written for it.
func says(written []byte, added []message.Message) error {
	for i := range added {
		for _, p := range added[i].Parts {
			want := inner(p.Text)
			switch p.Kind {
			case message.Reasoning: // another model's
				continue
			case message.ToolCall:
				want = []byte(p.Name)
			case message.Image: // which not every wire takes in a result
				if _, data, _ := strings.Cut(p.URL, ","); added[i].Role == message.User && !bytes.Contains(written, []byte(data)) {
					return fmt.Errorf("a picture is not there: %.500s", written)
				}
				continue
			}
			if strings.TrimSpace(p.Text) != "" && !bytes.Contains(written, want) {
				return fmt.Errorf("%.80q is not there: %.500s", p.Text, written)
			}
		}
	}
	return nil
}

// inner returns a text as it stands in a JSON string.
func inner(s string) []byte {
	b := appendQuoted(nil, s)
	return b[1 : len(b)-1]
}

// difference shows where two bodies part.
func difference(a, b []byte) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	around := func(x []byte) []byte { return x[max(0, min(n, len(x))-40):min(len(x), n+80)] }
	return fmt.Sprintf("after %d bytes\n  before … %s …\n  now    … %s …", n, around(a), around(b))
}
