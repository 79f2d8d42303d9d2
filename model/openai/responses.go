package openai

import (
	"context"

	"rein.example/rein/model"
	"rein.example/rein/model/internal/wire"
)

// ResponsesClient calls one model over OpenAI's Responses API. The server keeps
// nothing: every request holds the whole conversation, with the model's encrypted
// reasoning where it stood. It implements [model.Client] and is safe for
// concurrent use.
type ResponsesClient struct {
	server  *wire.Server
	encoder *ResponsesEncoder
	url     string
}

var (
	_ model.Client = (*ResponsesClient)(nil)
	_ model.Keyed  = (*ResponsesClient)(nil)
)

// NewResponses returns a client of the Responses API; the options mean what they
// mean to [New]. It does no I/O. The error says which option is wrong and what
// to do; it never shows the key.
func NewResponses(o Options) (*ResponsesClient, error) {
	server, q, err := open(&o, "/responses", ResponsesQuirksOf)
	if err != nil {
		return nil, err
	}
	encoder, err := NewResponsesEncoder(o.Provider, q)
	if err != nil {
		return nil, err
	}
	return &ResponsesClient{server: server, encoder: encoder, url: server.Base.JoinPath("responses").String()}, nil
}

// Info describes the model.
func (c *ResponsesClient) Info() model.Info { return c.server.Info }

// Encoder returns the client's encoder, a [*ResponsesEncoder].
func (c *ResponsesClient) Encoder() model.Encoder { return c.encoder }

// Check reports, without I/O, what keeps every call from succeeding: a missing
// key where one is needed. The error is an [*model.Error] of class auth.
func (c *ResponsesClient) Check() error { return c.server.Check() }

// LimitKey names what the server's limits count by; see [model.Keyed].
func (c *ResponsesClient) LimitKey() string { return c.server.LimitKey() }

// Call sends one request and returns the complete reply; see [model.Client].
func (c *ResponsesClient) Call(ctx context.Context, req *model.Request, sink func(model.Delta)) (*model.Reply, error) {
	return c.server.Do(ctx, &wire.Protocol{
		Decoder: func(stream bool, emit func(model.Delta)) wire.Decoder {
			return newResponsesDecoder(stream, c.encoder.opaque, emit)
		},
		Fault: responsesError, Reply: responsesReply, Terminal: "terminal event",
	}, c.url, req, sink)
}

// responsesReply is what a reply is called in messages.
const responsesReply = "a reply of the Responses API"
