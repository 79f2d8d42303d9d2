package local

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/model"
	"rein.example/rein/parse"
)

// watcher calls a job's observer. A panic of the observer is its own affair: it
// is reported once, and the run goes on.
type watcher struct {
	w    *engine.Watch
	log  *slog.Logger
	once *sync.Once
}

func newWatcher(w *engine.Watch, log *slog.Logger) watcher {
	if w == nil {
		w = &engine.Watch{}
	}
	return watcher{w, log, new(sync.Once)}
}

// event shows an event.
func (w watcher) event(ev *event.Event) {
	if w.w.Event != nil {
		defer w.recover()
		w.w.Event(*ev)
	}
}

// context returns the context for a call, whose intent is the event seq.
func (w watcher) context(ctx context.Context, run string, seq int64, intent event.Type) (out context.Context) {
	defer func() {
		if out == nil { // it panicked, or had none to give
			out = ctx
		}
	}()
	defer w.recover()
	return w.w.Context(ctx, run, seq, intent)
}

// hears reports whether somebody wants to see replies while they arrive.
func (w watcher) hears() bool { return w.w.Delta != nil }

// delta shows a piece of a reply.
func (w watcher) delta(run string, d model.Delta) {
	defer w.recover()
	w.w.Delta(run, d)
}

func (w watcher) recover() {
	if p := recover(); p != nil {
		w.once.Do(func() {
			w.log.Error("a watcher panicked; more panics of this run's watcher are not reported",
				slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
		})
	}
}

// ear takes what a model says, on the goroutine of the call, to the actor. It
// never blocks, and puts together what the actor has not taken yet.
type ear struct {
	box *mailbox

	mu     sync.Mutex
	deltas []model.Delta

	// Of the actor alone: a secret may come in pieces, and so may a call that
	// stands in the text, or reasoning.
	text, reasoning *event.Redactor
	said            *parse.Stream
}

func newEar(a *actor) *ear {
	return &ear{box: &a.box, text: a.e.secrets.Stream(), reasoning: a.e.secrets.Stream(), said: parse.NewStream(a.m.Reading())}
}

// hear is a sink of [model.Client] Call.
func (r *ear) hear(d model.Delta) {
	r.mu.Lock()
	if n := len(r.deltas); n > 0 && d.Call == "" && r.deltas[n-1].Call == "" && (d.Text == "") == (r.deltas[n-1].Text == "") {
		r.deltas[n-1].Text += d.Text
		r.deltas[n-1].Reasoning += d.Reasoning
	} else {
		r.deltas = append(r.deltas, d)
	}
	r.mu.Unlock()
	r.box.tell(heard)
}

// take returns what was heard since the last time.
func (r *ear) take() []model.Delta {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.deltas
	r.deltas = nil
	return d
}

// said takes what a tool says of its progress to the actor. It never blocks, and
// keeps the last that the actor has not taken yet.
type said struct {
	box  *mailbox
	text atomic.Pointer[string]
}

func (s *said) say(text string) {
	s.text.Store(&text)
	s.box.tell(heard)
}

func (s *said) take() string {
	if text := s.text.Swap(nil); text != nil {
		return *text
	}
	return ""
}

// progress shows how far a call is.
func (w watcher) progress(run, call, tool, text string) {
	defer w.recover()
	w.w.Progress(run, call, tool, text)
}

// listen shows what models and tools have said.
func (a *actor) listen() {
	for _, f := range a.flights {
		if f.below != nil {
			a.listenBelow(f)
		}
		if c, ok := f.cmd.(*loop.RunTool); ok && f.said != nil && !f.dropped {
			if text := f.said.take(); text != "" {
				a.watch.progress(a.job.Run, c.Call, c.Tool, a.e.redact(text))
			}
		}
		if f.ear == nil || f.dropped {
			continue
		}
		for _, d := range f.ear.take() {
			text := f.ear.said.Feed(f.ear.text.Write(d.Text))
			d.Text, d.Reasoning, d.Call = text.Text, text.Reasoning+f.ear.reasoning.Write(d.Reasoning), a.e.redact(d.Call)
			a.show(d)
		}
	}
}

// hush shows what was held back of a reply that has come to its end.
func (a *actor) hush(f *flight) {
	if f.ear != nil && !f.dropped {
		text := f.ear.said.Feed(f.ear.text.Flush())
		rest := f.ear.said.End()
		a.show(model.Delta{Text: text.Text + rest.Text, Reasoning: text.Reasoning + rest.Reasoning + f.ear.reasoning.Flush()})
	}
}

func (a *actor) show(d model.Delta) {
	if d != (model.Delta{}) {
		a.watch.delta(a.job.Run, d)
	}
}
