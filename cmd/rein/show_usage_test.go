package main

import (
	"reflect"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/openai"
	"rein.example/rein/trace"
)

// A request has the same usage on record whether its reply was streamed or not, over
// real HTTP: with a stream it comes in the last piece. What a server does not say is
// unknown, either way.
func TestUsageStreamedOrNot(t *testing.T) {
	for say, want := range map[string]message.Usage{
		"{input: 1200, cached: 1000, output: 80, reasoning: 30}": {Input: message.Known(1_200), Cached: message.Known(1_000), Output: message.Known(80), Reasoning: message.Known(30)},
		"{input: 1200, output: 80}":                              {Input: message.Known(1_200), Output: message.Known(80)},
		"none":                                                   {},
	} {
		var rows []trace.Row
		for _, stream := range []bool{false, true} {
			_, url := server(t, "turns: [{say: Twelve orders are late., usage: "+say+"}]")
			client, err := openai.New(openai.Options{Model: "m", BaseURL: url})
			if err != nil {
				t.Fatal(err)
			}
			asked := message.NewText(message.User, "How many are late?")
			p, enc := &model.Params{Model: "m", Stream: stream}, client.Encoder()
			body := enc.Close(enc.Message(enc.Head(nil, p, nil), nil, &asked), p, &asked)
			reply, err := client.Call(t.Context(), &model.Request{Body: [][]byte{body}, Stream: stream}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if reply.Usage != want {
				t.Errorf("usage %s, streamed %t: %+v", say, stream, reply.Usage)
			}
			var f trace.Fold
			for i, d := range []event.Data{
				&event.RunStarted{Spec: event.Spec{Prices: []event.ModelPrice{{Model: "openai/m", Price: message.Price{Input: 1_000_000, Cached: 100_000, Output: 4_000_000}}}}},
				&event.ModelCalled{ID: "1", Step: 1, Model: "openai/m"},
				&event.ModelAnswered{ID: "1", Finish: reply.Finish, Usage: reply.Usage},
			} {
				f.Add(&event.Event{Run: "r", Seq: int64(i) + 1, Data: d})
			}
			rows = append(rows, f.Rows()...)
		}
		if !reflect.DeepEqual(rows[0], rows[1]) || (rows[0].Cost == nil) != (want == message.Usage{}) || (rows[0].PromptTokens == nil) != (want == message.Usage{}) {
			t.Errorf("usage %s: the rows are %+v and %+v", say, rows[0], rows[1])
		}
	}
}
