package openai

import (
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/internal/wire"
)

// serverError makes the error of what a server reported; see [wire.Fault.Error].
func serverError(status int, body []byte, wait message.Count) *model.Error {
	f := wire.ReadFault(body)
	return f.Error(status, wait, f.Class, f.Code, f.Kind)
}
