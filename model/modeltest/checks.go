package modeltest

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/model"
)

// call makes a client and one call with a small body.
func call(ctx context.Context, f Factory, hc *http.Client, base string, stream bool, sink func(model.Delta)) (*model.Reply, error) {
	c, err := f(hc, base)
	if err != nil {
		return nil, err
	}
	return c.Call(ctx, &model.Request{Body: [][]byte{[]byte(`{}`)}, Stream: stream}, sink)
}

const base = "http://model.test/v1"

// plays makes one client of a wire, and returns a function that plays r to it.
func plays(ctx context.Context, f Factory, r *Recording) (func(Plan) (*model.Reply, error), error) {
	p := &player{r: r}
	client, err := f(&http.Client{Transport: p}, base)
	if err != nil {
		return nil, err
	}
	return func(plan Plan) (*model.Reply, error) {
		p.p = plan
		return client.Call(ctx, &model.Request{Body: [][]byte{[]byte(`{}`)}, Stream: r.Stream}, nil)
	}, nil
}

// Replies plays every recording whole and compares what the call gives with the
// golden file beside it, NAME.golden.
func Replies(t *testing.T, f Factory, all []Recording) {
	for i := range all {
		r := &all[i]
		t.Run(r.Name, func(t *testing.T) {
			var text, reasoning strings.Builder
			reply, err := call(t.Context(), f, Play(r, Plan{}), base, r.Stream, func(d model.Delta) {
				text.WriteString(d.Text)
				reasoning.WriteString(d.Reasoning)
			})
			Golden(t, strings.TrimSuffix(r.Path, ".http")+".golden", Format(reply, err))
			if (err == nil) != (r.Terminal != "") {
				t.Errorf("X-Terminal is %q, and the call gave %v", r.Terminal, err)
			}
			if err != nil {
				return
			}
			if reply.First <= 0 && text.Len()+reasoning.Len() > 0 {
				t.Error("the time to the first piece is not known")
			}
			var thought strings.Builder
			for _, p := range reply.Message.Parts {
				if p.Kind == "reasoning" {
					thought.WriteString(p.Text)
				}
			}
			if text.String() != reply.Message.PlainText() || reasoning.String() != thought.String() {
				t.Errorf("the pieces don't make the reply: text %q, reasoning %q", text.String(), reasoning.String())
			}
		})
	}
}

// CutEverywhere cuts the recording's body after every byte, once with a broken
// and once with an orderly end. No cut before the terminal event may give a
// reply; each gives an error worth another try, which holds no more text than
// had come. Every cut after it gives the whole reply, but perhaps no usage.
func CutEverywhere(t *testing.T, f Factory, r *Recording) {
	t.Helper()
	if err := cutEverywhere(t.Context(), f, r); err != nil {
		t.Fatal(err)
	}
}

func cutEverywhere(ctx context.Context, f Factory, r *Recording) error {
	play, err := plays(ctx, f, r)
	if err != nil {
		return err
	}
	whole, err := play(Plan{})
	if err != nil && r.Terminal != "" {
		return fmt.Errorf("the whole recording: %w", err)
	}
	for n := range len(r.Body) {
		for _, clean := range []bool{false, true} {
			got, err := play(Plan{Cut: n + 1, Clean: clean})
			if err := judgeCut(r, n, whole, got, err); err != nil {
				return fmt.Errorf("cut after %d bytes of %d (clean %v): %w", n, len(r.Body), clean, err)
			}
		}
	}
	return nil
}

// judgeCut says what is wrong with what a call gave for the first n bytes.
func judgeCut(r *Recording, n int, whole, got *model.Reply, err error) error {
	complete := r.complete()
	if err == nil && r.Status >= 300 && r.Terminal != "" {
		return nil // a refusal that the server has told as an error
	}
	if err == nil {
		if complete < 0 || n < complete {
			return fmt.Errorf("a success, but the reply is complete only after %d:\n%s", complete, r.Body[:n])
		}
		same := *got
		same.Usage = whole.Usage // which may come later
		if Format(&same, nil) != Format(whole, nil) {
			return fmt.Errorf("got\n%swant\n%s", Format(&same, nil), Format(whole, nil))
		}
		return nil
	}
	var e *model.Error
	switch {
	case !errors.As(err, &e):
		return fmt.Errorf("not a model error: %w", err)
	case complete < 0:
		return nil
	case n >= complete && r.Stream:
		return fmt.Errorf("an error, though the reply was complete after %d: %w", complete, err)
	case e.Class != event.ClassIncomplete:
		return fmt.Errorf("class %s: %w", e.Class, e)
	case !strings.HasPrefix(whole.Message.PlainText(), e.Partial):
		return fmt.Errorf("partial %q is not the beginning of %q", e.Partial, whole.Message.PlainText())
	}
	return nil
}

// SplitEverywhere splits the recording's body at every point, at 500 pairs of
// points and after every byte; each gives the same as the whole.
func SplitEverywhere(t *testing.T, f Factory, r *Recording) {
	t.Helper()
	if err := splitEverywhere(t.Context(), f, r); err != nil {
		t.Fatal(err)
	}
}

func splitEverywhere(ctx context.Context, f Factory, r *Recording) error {
	play, err := plays(ctx, f, r)
	if err != nil {
		return err
	}
	want := Format(play(Plan{}))
	plans := []Plan{{Bytewise: true}}
	for n := 1; n < len(r.Body); n++ {
		plans = append(plans, Plan{Splits: []int{n}})
	}
	if len(r.Body) <= allPairs && os.Getenv("REIN_LONG") != "" {
		for a := 1; a < len(r.Body); a++ {
			for b := a + 1; b < len(r.Body); b++ {
				plans = append(plans, Plan{Splits: []int{a, b}})
			}
		}
	}
	const seed = 1 // any; the same at every run, so that a failure repeats
	random := rand.New(rand.NewSource(seed))
	for range 500 {
		if len(r.Body) > 2 {
			plans = append(plans, Plan{Splits: []int{1 + random.Intn(len(r.Body)-1), 1 + random.Intn(len(r.Body)-1)}})
		}
	}
	for _, p := range plans {
		if have := Format(play(p)); have != want {
			return fmt.Errorf("split %+v:\ngot  %s\nwant %s", p, have, want)
		}
	}
	return nil
}

// allPairs is the size of a body, in bytes, up to which every pair of split
// points is tried, with the longer tests (make long): tens of thousands a body.
const allPairs = 300

// OverHTTP plays a sample of what CutEverywhere and SplitEverywhere do over real
// sockets: whole, byte by byte, and cut at 8 points.
func OverHTTP(t *testing.T, f Factory, r *Recording) {
	t.Helper()
	hc := model.NewHTTPClient()
	t.Cleanup(hc.CloseIdleConnections)
	whole, err := call(t.Context(), f, Play(r, Plan{}), base, r.Stream, nil)
	want := Format(whole, err)
	for _, p := range []Plan{{}, {Bytewise: true}, {Splits: []int{len(r.Body) / 3, len(r.Body) / 2}}} {
		url := Serve(t, r, p).URL + "/v1"
		got, err := call(t.Context(), f, hc, url, r.Stream, nil)
		if have := strings.ReplaceAll(Format(got, err), url, base); have != want {
			t.Errorf("plan %+v:\ngot  %s\nwant %s", p, have, want)
		}
	}
	complete := r.complete()
	for i := range 8 {
		n := len(r.Body) * i / 8
		for _, clean := range []bool{false, true} {
			_, err := call(t.Context(), f, hc, Serve(t, r, Plan{Cut: n + 1, Clean: clean}).URL+"/v1", r.Stream, nil)
			if ok := r.Stream && complete >= 0 && n >= complete; err == nil != ok && complete >= 0 {
				t.Errorf("cut after %d bytes of %d (clean %v): %v", n, len(r.Body), clean, err)
			}
		}
	}
}

// Cancel gives up a call to a server that has gone silent, before any byte, in
// the middle, and at the end of the recording's content but before its
// connection closes. r must be a stream. The clock is synctest's: none of these
// may wait for anything but the caller.
func Cancel(t *testing.T, f Factory, r *Recording) {
	t.Helper()
	for _, n := range []int{0, len(r.Body) / 2} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			start := time.Now()
			_, err := call(ctx, f, Play(r, Plan{Cut: n + 1, Stall: true}), base, r.Stream, nil)
			var e *model.Error
			if !errors.As(err, &e) || e.Class != event.ClassCancelled || !errors.Is(err, context.Canceled) {
				t.Errorf("silent after %d bytes: %v", n, err)
			}
			if took := time.Since(start); took > time.Second+100*time.Millisecond {
				t.Errorf("silent after %d bytes: the call returned %v after it was given up", n, took-time.Second)
			}
		})
		synctest.Test(t, func(t *testing.T) {
			_, err := call(t.Context(), f, Play(r, Plan{Cut: n + 1, Stall: true}), base, r.Stream, nil)
			var e *model.Error
			if !errors.As(err, &e) || e.Class != event.ClassTimeout {
				t.Errorf("silent for ever after %d bytes: %v", n, err)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if _, err := call(t.Context(), f, Play(r, Plan{Stall: true}), base, r.Stream, nil); err != nil {
			t.Errorf("complete, but the connection stays open: %v", err)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("complete, but the call waited %v for the connection to close", took)
		}
	})
}
