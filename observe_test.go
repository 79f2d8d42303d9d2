package rein_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/journal/memory"
	"rein.example/rein/tool"
)

type askerKey struct{}

// diary is an observer that writes down what it is shown.
type diary struct {
	mu     sync.Mutex
	lines  []string
	parent string
}

func (d *diary) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *diary) Begin(ctx context.Context, run string) string {
	d.note("begin %v", ctx.Value(askerKey{}))
	return d.parent
}

func (d *diary) Event(e event.Event) { d.note("%d %s", e.Seq, e.Data.Type()) }
func (d *diary) End(string)          { d.note("end") }

func (d *diary) Context(ctx context.Context, run string, seq int64, intent event.Type) context.Context {
	if intent == event.TypeToolStarted {
		ctx = context.WithValue(ctx, askerKey{}, fmt.Sprint(ctx.Value(askerKey{}), " through ", seq))
	}
	return ctx
}

// Observers see a run from before its beginning to after its end, whether or not
// somebody else watches it, and give its tools something to know.
func TestObservers(t *testing.T) {
	const asked = "00-0102030405060708090a0b0c0d0e0f10-0102030405060708-01"
	for _, watched := range []bool{false, true} {
		store, told := memory.New(), ""
		look := tool.New("look", tool.Doc{What: "Looks.", When: "Once.", Returns: "What is there."},
			func(ctx context.Context, _ struct{}) (string, error) {
				told = fmt.Sprint(ctx.Value(askerKey{}))
				return "a heron", nil
			}, &tool.Options{Effect: event.Read})
		first, second := &diary{}, &diary{parent: asked}
		a := newAgent(t, `{turns: [{call: {name: look}}, {say: A heron.}]}`, &rein.Options{Tools: []tool.Tool{look}, Store: store, Observers: []rein.Observer{first, second}})
		run := a.Start(context.WithValue(t.Context(), askerKey{}, "ada"), "What is there?")
		n := 0
		if watched {
			for e, err := range run.Events() {
				if err != nil {
					t.Fatal(err)
				}
				if e.Data != nil {
					n++
				}
			}
		}
		if r, err := run.Result(); err != nil || !r.OK {
			t.Fatalf("%+v %v", r, err)
		}
		want := []string{"begin ada"}
		started := int64(0)
		for e, err := range store.Read(t.Context(), run.ID(), 1) {
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, fmt.Sprintf("%d %s", e.Seq, e.Data.Type()))
			switch d := e.Data.(type) {
			case *event.RunStarted:
				if d.Traceparent != asked {
					t.Errorf("the journal has the caller %q", d.Traceparent)
				}
			case *event.ToolStarted:
				started = e.Seq
			}
		}
		want = append(want, "end")
		for _, d := range []*diary{first, second} {
			if got := strings.Join(d.lines, "\n"); got != strings.Join(want, "\n") {
				t.Errorf("watched %v: an observer saw\n%s\nwant\n%s", watched, got, strings.Join(want, "\n"))
			}
		}
		if watched && n != len(want)-2 {
			t.Errorf("the loop saw %d events", n)
		}
		if want := fmt.Sprintf("ada through %d through %d", started, started); told != want {
			t.Errorf("the tool was told %q, want %q", told, want)
		}
	}
}

// clumsy is an observer that panics at everything, or has nothing to give.
type clumsy struct{}

func (clumsy) Begin(context.Context, string) string { panic("begin") }
func (clumsy) Event(event.Event)                    { panic("event") }
func (clumsy) End(string)                           { panic("end") }

func (clumsy) Context(context.Context, string, int64, event.Type) context.Context { return nil }

// An observer that panics is told of once, and neither the run nor those that watch it
// beside that one notice.
func TestObserverPanics(t *testing.T) {
	var log bytes.Buffer
	seen := &diary{}
	a := newAgent(t, `{turns: [{call: {name: look}}, {say: A heron.}]}`, &rein.Options{Tools: []tool.Tool{
		tool.New("look", tool.Doc{What: "Looks.", When: "Once.", Returns: "What is there."},
			func(context.Context, struct{}) (string, error) { return "a heron", nil }, &tool.Options{Effect: event.Read})},
		Logger: slog.New(slog.NewTextHandler(&log, nil)), Observers: []rein.Observer{clumsy{}, seen}})
	run := a.Start(t.Context(), "What is there?")
	n := 0
	for e, err := range run.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if e.Data != nil {
			n++
		}
	}
	if r, err := run.Result(); err != nil || !r.OK || r.Answer != "A heron." {
		t.Errorf("%+v %v", r, err)
	}
	if n == 0 || len(seen.lines) != n+2 || seen.lines[n+1] != "end" {
		t.Errorf("the loop saw %d events, the other observer %q", n, seen.lines)
	}
	if strings.Count(log.String(), "observer panicked") != 1 || strings.Contains(log.String(), "watcher") {
		t.Errorf("logged\n%s", &log)
	}
}
