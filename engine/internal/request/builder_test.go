package request_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"rein.example/rein/engine/internal/request"
	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// plain is an encoder whose output can be read.
type plain struct{ encoded *int }

func (plain) Version() string { return "plain/1" }

func (plain) Head(dst []byte, p *model.Params, system []message.Message) []byte {
	dst = fmt.Appendf(dst, "%s tools:%v strict:%v ", p.Model, !p.NoTools, p.Strict)
	for i := range system {
		dst = append(dst, system[i].PlainText()...)
	}
	return dst
}

func (e plain) Message(dst []byte, prev, m *message.Message) []byte {
	*e.encoded++
	if prev != nil {
		dst = append(dst, " | "...)
	}
	dst = append(dst, m.Role[0], ':')
	for _, p := range m.Parts {
		dst = fmt.Appendf(dst, "%s%s%s", p.Text, p.ID, p.URL)
	}
	return append(dst, m.ToolCallID...)
}

func (plain) Close(dst []byte, p *model.Params, last *message.Message) []byte {
	return fmt.Appendf(dst, " end after %v, max %d", last != nil, p.MaxOutput)
}

func build(t *testing.T, b *request.Builder, c *loop.CallModel) (string, request.Body) {
	t.Helper()
	p := request.Params(&event.Spec{}, c, request.Options{})
	body, err := b.Build(&p, c)
	if err != nil {
		t.Fatal(err)
	}
	whole := bytes.Join(body.Pieces, nil)
	if body.SHA256 != sha256.Sum256(whole) || body.Bytes != int64(len(whole)) {
		t.Errorf("hash or size is not that of %s", whole)
	}
	return string(whole), body
}

func none(message.Ref) ([]byte, error) { return nil, errors.New("there are no bodies") }

// A builder that is asked again and again gives what a fresh one would, encodes
// each message once, and says what was in the request before.
func TestIncremental(t *testing.T) {
	encoded := 0
	b := request.New(plain{&encoded}, none)
	c := &loop.CallModel{Model: "p/m", System: []message.Message{message.NewText(message.System, "Work.")}}
	kept := int64(0)
	for i := range 300 {
		c.Messages = append(c.Messages, message.NewText(message.User, fmt.Sprint("message ", i, strings.Repeat("x", 999))))
		if c.Tail = nil; i%2 == 0 {
			tail := message.NewText(message.System, "tail")
			c.Tail = &tail
		}
		before := encoded
		got, body := build(t, b, c)
		if n := encoded - before; n > 2 {
			t.Fatalf("request %d encoded %d messages", i, n)
		}
		if body.Kept != kept || body.Added != 1 {
			t.Fatalf("request %d kept %d and added %d", i, body.Kept, body.Added)
		}
		kept++
		if want, _ := build(t, request.New(plain{new(int)}, none), c); got != want {
			t.Fatalf("request %d is %q, not %q", i, got, want)
		}
	}
}

// Bodies stay as they are while later ones are built.
func TestBodiesStay(t *testing.T) {
	b := request.New(plain{new(int)}, none)
	c := &loop.CallModel{Model: "p/m"}
	var bodies []request.Body
	for i := range 50 {
		c.Messages = append(c.Messages, message.NewText(message.User, fmt.Sprint(i, strings.Repeat("y", 5000))))
		_, body := build(t, b, c)
		bodies = append(bodies, body)
	}
	for i, body := range bodies {
		if body.SHA256 != sha256.Sum256(bytes.Join(body.Pieces, nil)) {
			t.Errorf("body %d has changed", i)
		}
	}
}

// What makes the kept bytes useless, and what does not.
func TestStartsAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(c *loop.CallModel)
		kept   int64
	}{
		"nothing":                {func(*loop.CallModel) {}, 2},
		"another epoch":          {func(c *loop.CallModel) { c.Epoch++ }, 0},
		"another head":           {func(c *loop.CallModel) { c.NoTools = true }, 0},
		"stricter tools":         {func(c *loop.CallModel) { c.Strict = true }, 0},
		"another end":            {func(c *loop.CallModel) { c.MaxOutput = 7 }, 2},
		"a call without results": {func(c *loop.CallModel) { c.Messages = append(c.Messages, calling("a", "b")) }, 2},
	} {
		b := request.New(plain{new(int)}, none)
		c := &loop.CallModel{Model: "p/m", Messages: []message.Message{message.NewText(message.User, "one"), message.NewText(message.User, "two")}}
		build(t, b, c)
		tc.change(c)
		for range 2 {
			got, body := build(t, b, c)
			if want, _ := build(t, request.New(plain{new(int)}, none), c); got != want {
				t.Errorf("%s: %q, not %q", name, got, want)
			}
			if body.Kept != tc.kept {
				t.Errorf("%s: kept %d, not %d", name, body.Kept, tc.kept)
			}
			tc.kept = body.Kept + body.Added
		}
	}
}

func calling(ids ...string) message.Message {
	m := message.Message{Role: message.Assistant}
	for _, id := range ids {
		m.Parts = append(m.Parts, message.Part{Kind: message.ToolCall, ID: id, Name: "tool"})
	}
	return m
}

// A history that has to be repaired is repaired the same way in every request.
func TestRepairedHistory(t *testing.T) {
	b := request.New(plain{new(int)}, none)
	c := &loop.CallModel{Model: "p/m", Messages: []message.Message{
		message.NewText(message.User, "one"), calling("a", "b"), message.Result("b", "tool", "result", false)}}
	var kept int64
	for i := range 5 {
		got, body := build(t, b, c)
		if want, _ := build(t, request.New(plain{new(int)}, none), c); got != want {
			t.Errorf("%q, not %q", got, want)
		}
		if !strings.Contains(got, "t:"+message.Interrupted+"a | t:resultb") {
			t.Errorf("the pairs are not right in %q", got)
		}
		if body.Kept != kept {
			t.Errorf("request %d kept %d messages, not %d", i, body.Kept, kept)
		}
		kept = body.Kept + body.Added
		c.Messages = append(c.Messages, message.NewText(message.User, "more"))
	}
}

// What is out of line stands in the request itself.
func TestResolve(t *testing.T) {
	bodies := func(ref message.Ref) ([]byte, error) { return []byte("<" + ref.SHA256 + ">"), nil }
	c := &loop.CallModel{Model: "p/m", Messages: []message.Message{{Role: message.User, Parts: []message.Part{
		{Kind: message.Text, Text: "look: "},
		{Kind: message.Text, Ref: &message.Ref{SHA256: "text"}},
		{Kind: message.Image, MediaType: "image/png", Ref: &message.Ref{SHA256: "image"}},
		{Kind: message.File, Ref: &message.Ref{SHA256: "file", MediaType: "application/pdf"}},
		{Kind: message.File, Ref: &message.Ref{SHA256: "file"}},
	}}}}
	got, _ := build(t, request.New(plain{new(int)}, bodies), c)
	want := "u:look: <text>data:image/png;base64,PGltYWdlPg==data:application/pdf;base64,PGZpbGU+data:application/octet-stream;base64,PGZpbGU+"
	if !strings.Contains(got, want) {
		t.Errorf("got %q", got)
	}
	if c.Messages[0].Parts[1].Ref == nil {
		t.Error("the machine's message was changed")
	}
	b := request.New(plain{new(int)}, none)
	p := request.Params(&event.Spec{}, c, request.Options{})
	if _, err := b.Build(&p, c); err == nil || !strings.Contains(err.Error(), "there are no bodies") {
		t.Errorf("a missing body: %v", err)
	}
}

// A builder that is told of the last request counts as if it had made it.
func TestRecall(t *testing.T) {
	c := &loop.CallModel{Model: "p/m", Messages: []message.Message{message.NewText(message.User, "one"), message.NewText(message.User, "two")}}
	p := request.Params(&event.Spec{}, c, request.Options{})
	for epoch, kept := range []int64{1, 0} {
		b := request.New(plain{new(int)}, none)
		b.Recall(&p, c, 1)
		next := *c
		next.Epoch = int64(epoch)
		if _, body := build(t, b, &next); body.Kept != kept || body.Added != 2-kept {
			t.Errorf("epoch %d: kept %d, added %d", epoch, body.Kept, body.Added)
		}
	}
}

// A command is written by the encoder of its dialect, whose name says so.
func TestEncoder(t *testing.T) {
	c := &loop.CallModel{Model: "p/m", Messages: []message.Message{calling("a"), message.Result("a", "tool", "12", false)}}
	for dialect, want := range map[string]string{"": "plain/1", "hermes_tool_call": "plain/1 hermes_tool_call/1"} {
		c.Dialect = dialect
		enc, err := request.Encoder(plain{new(int)}, c)
		if err != nil || enc.Version() != want {
			t.Fatalf("%v, %v, want %s", enc, err, want)
		}
		got, _ := build(t, request.New(enc, none), c)
		if spoken := strings.Contains(got, "u:<tool_response>"); spoken != (dialect != "") {
			t.Errorf("in %q: %s", dialect, got)
		}
	}
	c.Dialect = "from_the_future"
	if _, err := request.Encoder(plain{new(int)}, c); err == nil {
		t.Error("a dialect that this version does not write was taken")
	}
}

// A journal from before a machine asked for strict calls is built again as it was.
func TestAsRecorded(t *testing.T) {
	c := &loop.CallModel{Model: "p/m", Strict: true}
	if as := request.AsRecorded(c, &event.ModelCalled{}); as.Strict || as.Model != "p/m" || !c.Strict {
		t.Errorf("as recorded it is %+v, the command %+v", as, c)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []request.Options{{}, {Stream: true}, {Encoder: []byte(`{"provider":"x"}`)}} {
		if got, err := request.ParseOptions(o.JSON()); err != nil || !reflect.DeepEqual(got, o) {
			t.Errorf("%+v came back as %+v, %v", o, got, err)
		}
	}
	if got, err := request.ParseOptions([]byte(`{"stream":true,"from_the_future":1}`)); err != nil || !got.Stream {
		t.Errorf("%+v, %v", got, err)
	}
}
