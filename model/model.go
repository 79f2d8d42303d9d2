// Package model answers: what is asked of a language model, and what comes back?
//
// A [Client] speaks one wire to one server. Its [Encoder] turns messages into
// the exact bytes of a request body, one fragment a message, so that what was
// already encoded is kept, hashed once and sent again unchanged; Call sends a
// body and returns the complete reply or a classified [Error]. Providers live
// in packages below this one and import it; nothing above names a provider.
package model

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// A Client calls one model on one server. It is safe for concurrent use.
type Client interface {
	// Info describes the model. It does not do I/O.
	Info() Info
	// Encoder returns the client's encoder. It is pure and safe for concurrent use.
	Encoder() Encoder
	// Call sends one request and returns the complete reply. While the reply
	// arrives it calls sink, if not nil, from the calling goroutine, with what
	// has come; a sink must not block. The error is always an *[Error]: a
	// stream that ends without its terminal event is one, whatever had arrived.
	// Call never retries; it returns within 100 ms of ctx's end.
	Call(ctx context.Context, req *Request, sink func(Delta)) (*Reply, error)
}

// Info describes a model. Zero numbers are unknown.
type Info struct {
	// Provider and Model name it: "openai", "gpt-5.1-mini".
	Provider, Model string
	// Window is the context size and MaxOutput the longest reply, in tokens.
	Window, MaxOutput int64
	// Price is what tokens cost; nil is unknown.
	Price *Price
	// NoParallelCalls: the server refuses more than one call in a reply.
	NoParallelCalls bool
	// NoStream: the server refuses to answer in pieces, or does it wrongly. Elsewhere
	// streams are asked for even if nobody watches, since silence shows in them.
	NoStream bool
	// OwnCalls: the model's calls on its wire can be relied on, so that no text of
	// it needs to be taken for a call.
	OwnCalls bool
}

// Name returns "provider/model".
func (i Info) Name() string { return i.Provider + "/" + i.Model }

// Price is what tokens cost.
type Price = message.Price

// Params are what an encoder needs besides the messages. The zero value of a
// field leaves it out of the request.
type Params struct {
	Model string
	// Tools in the order to be sent.
	Tools []event.ToolSpec
	// NoTools offers no tools, or forbids their use where the history has calls
	// and the wire wants the definitions to stay.
	NoTools bool
	// Strict holds calls to the tools' schemas, where the wire and the server can and
	// the schema is one that they take, or is without words that only narrow a value's
	// range; other tools are sent as ever. It stands with the tools, at the head of the
	// body, so that a request which asks for it has no prefix in common with one that
	// does not: what a server had cached is lost.
	Strict bool
	// Schema asks for an answer of this JSON Schema, named SchemaName.
	Schema     jsontext.Value
	SchemaName string
	// MaxOutput is the longest reply, in tokens.
	MaxOutput int64
	Sampling  event.Sampling
	// Stop are texts that end a reply, without being part of it. Left out where the
	// wire has none.
	Stop []string
	// Stream asks for the reply in pieces.
	Stream bool
}

// An Encoder writes request bodies. A body is Head, then every message in
// order, then Close; the messages come last on every wire, so that the body of
// one request is a prefix of the next one's up to Close. The methods append to
// dst and return it. All are pure: equal input gives equal bytes. Bodies that
// are stored out of line must have been put into the messages: see [Resolve].
type Encoder interface {
	// Version names the encoder and the version of its output, such as
	// "openai-chat/2". A journal names it with every request, so any change of
	// the bytes needs a new version.
	Version() string
	// Head appends everything before the first message. system are the leading
	// system messages, for wires that put them apart; an encoder that does not
	// writes them as its first messages.
	Head(dst []byte, p *Params, system []message.Message) []byte
	// Message appends m, with whatever joins it to prev, the message before
	// (nil for the first after system). prev, like last below, may not be
	// resolved even if it was when it was appended itself: an encoder looks at
	// what kind of message it is, not at bodies.
	Message(dst []byte, prev, m *message.Message) []byte
	// Close appends everything after last, the last message (nil if none).
	Close(dst []byte, p *Params, last *message.Message) []byte
}

// Configured is what an [Encoder] also implements if its bytes depend on more
// than its version and its arguments.
type Configured interface {
	// Options returns those settings as a JSON object, the same bytes at every
	// call, for model.called to name; the provider's package makes an encoder
	// from them again.
	Options() jsontext.Value
}

// Request is a body ready to be sent.
type Request struct {
	// Body is the concatenation of these pieces. They must not be changed.
	Body [][]byte
	// Stream says whether the body asks for a stream.
	Stream bool
	// Timeout bounds the whole call; Idle bounds the time without any byte.
	// Zero means the client's default.
	Timeout, Idle time.Duration
}

// Bytes returns the size of the body.
func (r *Request) Bytes() int64 {
	var n int64
	for _, b := range r.Body {
		n += int64(len(b))
	}
	return n
}

// Reply is a complete answer.
type Reply struct {
	Message   message.Message
	Finish    event.Finish
	RawFinish string
	Usage     message.Usage
	// Model and ID are as the server reports them.
	Model, ID string
	// First is the time to the first piece of output; 0 is unknown.
	First time.Duration
	// Mended counts the places of the reply that were no text, such as bytes that
	// are not UTF-8. In text each became U+FFFD; arguments of calls with one are
	// left invalid, so that they are not run.
	Mended int64
}

// Delta is a piece of a reply on its way. It is for showing only: what counts
// is the reply at the end.
type Delta struct {
	// Text and Reasoning are what was added.
	Text, Reasoning string
	// Call is the name of a tool call that has begun.
	Call string
}

// Error is a call that gave no complete reply.
type Error struct {
	Class event.ErrorClass
	// Status is the HTTP status, 0 if there was none; a fault inside a stream
	// keeps the class of its own type, not the status's.
	Status int
	// Code is the provider's error code or type.
	Code string
	// Message is the provider's, or says what happened and what to do.
	Message string
	// RetryAfter is the wait that the server asked for; unknown if it did not.
	RetryAfter message.Count // milliseconds
	// Asked and Limit are, of class context_overflow, what the request came to and
	// what the server says it takes, in tokens; 0 is unknown. Most servers count the
	// room for the reply in both, some count what was sent alone.
	Asked, Limit int64
	// Partial is the text that had arrived.
	Partial string
	Usage   message.Usage
	// Err is the cause, where there is one.
	Err error
}

// Error says what happened.
func (e *Error) Error() string {
	s := string(e.Class)
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Message != "" {
		s += ": " + e.Message
	} else if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
