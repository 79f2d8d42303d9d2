package rein_test

import (
	"context"
	"fmt"
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
