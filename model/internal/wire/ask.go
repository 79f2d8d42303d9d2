package wire

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// Ask sends a request that is no call of a model, such as one for a count, and hands
// the reply's body to read, in one piece and at most limit bytes of it. should names,
// for messages, what the reply is to be. The error is an [*model.Error], which shows no
// key, as those of [Server.Do] are.
func (s *Server) Ask(ctx context.Context, url string, body []byte, timeout time.Duration, limit int64, should string, read func(io.Reader) error) error {
	err := s.ask(ctx, &model.Post{Client: s.HTTP, URL: url, Body: [][]byte{body}, Timeout: timeout, Limit: limit}, should, read)
	if err == nil {
		return nil
	}
	e := asError(err)
	s.advise(e)
	e.Redact(s.secrets...)
	return e
}

func (s *Server) ask(ctx context.Context, post *model.Post, should string, read func(io.Reader) error) error {
	if err := s.Check(); err != nil {
		return err
	}
	post.Header = s.header.Clone()
	post.Header.Set("Accept", "application/json")
	resp, err := post.Send(ctx)
	if err != nil {
		return err
	}
	defer resp.Close()
	if resp.Status < 200 || resp.Status > 299 {
		return refusal(resp, &Protocol{Fault: statusFault})
	}
	var e *model.Error
	if err := read(resp); errors.As(err, &e) {
		return e
	} else if err != nil {
		return &model.Error{Class: event.ClassBadReply, Status: resp.Status, Message: "the server sent something that is not " + should, Err: err}
	}
	return nil
}

// statusFault makes an error of what a status alone says, in the server's words.
func statusFault(status int, body []byte, wait message.Count) *model.Error {
	return &model.Error{Class: model.StatusClass(status), Status: status, Message: strings.TrimSpace(model.Excerpt(body)), RetryAfter: wait}
}
