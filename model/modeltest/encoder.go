package modeltest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
	"rein.example/rein/model"
)

// Body builds a whole request body.
func Body(e model.Encoder, p *model.Params, system, messages []message.Message) []byte {
	return build(e, p, system, messages, func(m *message.Message) *message.Message { return m })
}

// build builds a body in which each message is shown as the one before another
// as seen gives it.
func build(e model.Encoder, p *model.Params, system, messages []message.Message, seen func(*message.Message) *message.Message) []byte {
	b := e.Head(nil, p, system)
	var prev *message.Message
	for i := range messages {
		b = e.Message(b, prev, &messages[i])
		prev = seen(&messages[i])
	}
	return e.Close(b, p, prev)
}

// unresolved undoes [model.Resolve].
func unresolved(m *message.Message) *message.Message {
	c := *m
	c.Parts = append([]message.Part(nil), m.Parts...)
	for i := range c.Parts {
		if c.Parts[i].Ref != nil {
			c.Parts[i].Text, c.Parts[i].URL = "", ""
		}
	}
	return &c
}

// CheckEncoder holds an encoder to its contract on one conversation: the body of
// every prefix is valid JSON in UTF-8, without \u escapes where none are
// needed; the pieces don't depend on what they are appended to, nor on whether
// the messages before are resolved; equal input gives equal bytes; each body,
// but for what Close appends, is the beginning of the next; and all of this but
// the last also with a tail.
func CheckEncoder(t *testing.T, e model.Encoder, p *model.Params, system, messages []message.Message) {
	t.Helper()
	var before []byte
	for n := range len(messages) + 1 {
		body, err := checkBody(e, p, system, messages[:n], before)
		if err != nil {
			t.Fatalf("%d messages: %v", n, err)
		}
		before = body
	}
}

// checkBody checks the body of messages and returns it without its end. before
// is what it returned for all but the last message.
func checkBody(e model.Encoder, p *model.Params, system, messages []message.Message, before []byte) ([]byte, error) {
	var prev, last *message.Message
	if n := len(messages); n > 0 {
		last = &messages[n-1]
		if n > 1 {
			prev = &messages[n-2]
		}
	}
	whole := Body(e, p, system, messages)
	end := e.Close(nil, p, last)
	open := whole[:max(len(whole)-len(end), 0)]
	at := needless(whole)
	switch {
	case !bytes.Equal(whole, Body(e, p, system, messages)):
		return nil, errors.New("the bytes differ from one time to the next")
	case !bytes.Equal(whole, build(e, p, system, messages, unresolved)):
		return nil, errors.New("the bytes depend on whether the messages before are resolved")
	case !jsontext.Value(whole).IsValid() || !utf8.Valid(whole):
		return nil, fmt.Errorf("not JSON: %s", whole)
	case at >= 0:
		return nil, fmt.Errorf("needlessly escaped: %s", whole[at:min(len(whole), at+40)])
	case !bytes.HasSuffix(whole, end):
		return nil, errors.New("the bytes of Close depend on what they are appended to")
	case !bytes.HasPrefix(open, before):
		return nil, fmt.Errorf("the request before is not the beginning of this one\nbefore %s\nnow    %s", before, open)
	case last != nil && !bytes.HasSuffix(open, e.Message(nil, prev, last)):
		return nil, errors.New("the bytes of Message depend on what they are appended to")
	}
	return open, checkTail(e, p, open, last)
}

// checkTail checks the body that begins with open and ends with a tail after
// last.
func checkTail(e model.Encoder, p *model.Params, open []byte, last *message.Message) error {
	tail := message.NewText(message.System, "the state: \u20ac")
	end := model.End(nil, e, p, last, &tail)
	whole := model.End(bytes.Clone(open), e, p, last, &tail)
	switch {
	case !bytes.Equal(whole, append(bytes.Clone(open), end...)):
		return errors.New("the bytes of a tail depend on what they are appended to")
	case !jsontext.Value(whole).IsValid() || !utf8.Valid(whole):
		return fmt.Errorf("with a tail not JSON: %s", whole)
	case !bytes.Contains(end, []byte("the state: \u20ac")):
		return fmt.Errorf("the tail's text is not there: %s", end)
	case last != nil && !bytes.Equal(end, model.End(nil, e, p, unresolved(last), &tail)):
		return errors.New("the bytes of a tail depend on whether the message before is resolved")
	}
	return nil
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
