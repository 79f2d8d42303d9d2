package anthropic

import (
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/internal/wire"
)

// serverError makes the error of what a server reported; see [wire.Fault.Error].
func serverError(status int, body []byte, wait message.Count) *model.Error {
	f := fault{wire.ReadFault(body)}
	return f.Error(status, wait, f.class, f.Kind, f.Code)
}

// replyName names what a server should have sent, for messages.
const replyName = "a message of this API"

// badReply makes the error of a payload that is not of this wire.
func badReply(data []byte, err error) *model.Error { return wire.BadReply(replyName, data, err) }
