package openai

import (
	"context"

	"rein.example/rein/model"
	"rein.example/rein/model/internal/wire"
)

// Call sends one request and returns the complete reply; see [model.Client].
func (c *Client) Call(ctx context.Context, req *model.Request, sink func(model.Delta)) (*model.Reply, error) {
	return c.server.Do(ctx, &wire.Protocol{
		Decoder: func(stream bool, emit func(model.Delta)) wire.Decoder {
			return newDecoder(stream, c.encoder.opaque, emit)
		},
		Fault: serverError, Reply: chatReply, Terminal: "finish_reason",
	}, c.url, req, sink)
}

// chatReply is what a reply is called in messages.
const chatReply = "a chat completion"
