package main

import (
	"rein.example/rein/engine"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// encoderOfClient makes an encoder again from what a journal keeps of it.
func encoderOfClient(e model.Encoder) (model.Encoder, error) {
	id := engine.EncoderID{Version: e.Version()}
	if c, ok := e.(model.Configured); ok {
		id.Options = c.Options()
	}
	return encoderOf(id)
}

func known64(n int64) message.Count { return message.Known(n) }
