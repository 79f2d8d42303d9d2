package local_test

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/tool"
)

// All requests of a run in one pass are what each is by itself, and only what is new
// in them is yielded.
func TestRequests(t *testing.T) {
	l := newLab(t, call("c1 look a"), call("c2 look b"), call("c3 look c"), say("done"))
	n := 0
	l.tool("look", event.Read, func(context.Context, *tool.Call) (*tool.Result, error) {
		n++
		return tool.Text(fmt.Sprintf("über %d", n)), nil
	})
	l.start(t.Context(), l.engine())
	same := func(engine.EncoderID) (model.Encoder, error) { return fakeEncoder{}, nil }
	bodies := map[int64][]byte{}
	var all []message.Message
	var count int
	for r, err := range engine.Requests(t.Context(), l.store, same, "r1") {
		if err != nil {
			t.Fatal(err)
		}
		count++
		want, exact, err := engine.Rebuild(t.Context(), l.store, same, "r1", r.Seq)
		if err != nil {
			t.Fatal(err)
		}
		body := append(bytes.Clone(bodies[r.Since][:r.Same]), r.Rest...)
		if !bytes.Equal(body, want) || r.Exact != exact || !exact || r.Problem != nil {
			t.Errorf("request %d: exact %v, %v\n%s\nby itself\n%s", count, r.Exact, r.Problem, body, want)
		}
		bodies[r.Seq] = body
		seen, err := engine.See(t.Context(), l.store, "r1", r.Seq)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all[:r.Kept:r.Kept], r.Messages...)
		if !reflect.DeepEqual(all, seen.Messages) || !reflect.DeepEqual(r.System, seen.System) || !reflect.DeepEqual(r.Tail, seen.Tail) {
			t.Errorf("request %d has other messages than by itself: %v, %v", count, all, seen.Messages)
		}
		if count > 1 && (r.Kept == 0 || len(r.Messages) != 2 || r.Same == 0) {
			t.Errorf("request %d: %d messages kept and %d new, %d of %d bytes the same", count, r.Kept, len(r.Messages), r.Same, len(want))
		}
	}
	if count != 4 {
		t.Errorf("%d requests", count)
	}
}

// Without its encoder a request is still what the model saw.
func TestRequestsWithoutEncoder(t *testing.T) {
	l := newLab(t, say("done"))
	l.start(t.Context(), l.engine())
	none := func(engine.EncoderID) (model.Encoder, error) { return nil, fmt.Errorf("unknown provider") }
	for r, err := range engine.Requests(t.Context(), l.store, none, "r1") {
		if err != nil || len(r.Messages) == 0 || r.Exact || r.Problem == nil || !strings.Contains(r.Problem.Error(), "unknown provider") {
			t.Errorf("%+v, %v", r, err)
		}
	}
	for _, err := range engine.Requests(t.Context(), l.store, none, "r2") {
		if err == nil {
			t.Error("a run that there is not")
		}
	}
}
