package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"rein.example/rein"
)

// interrupts turns signals into ends of a run that leave it resumable: the first
// Ctrl-C lets it finish what it is doing, the second stops it at once; being
// killed, or losing the terminal, stops it at once.
type interrupts struct {
	a       *app
	signals chan os.Signal
	done    chan struct{}
	stop    context.CancelCauseFunc
	ctx     context.Context
	pause   atomic.Pointer[rein.Run]
	// left: the run was paused since nobody reads its events.
	left atomic.Bool
	// pressed: somebody or something wanted the run to end here.
	pressed atomic.Bool
	// view, if there is one, is taken off the terminal before the process ends.
	view atomic.Pointer[live]
}

// interruptible returns a context that ends with [rein.ErrStop] when the process
// is told to stop.
func (a *app) interruptible(ctx context.Context) (context.Context, *interrupts) {
	in := &interrupts{a: a, signals: make(chan os.Signal, 4), done: make(chan struct{})}
	in.ctx, in.stop = context.WithCancelCause(ctx)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as nohup and shells want it
			signal.Notify(in.signals, s)
		}
	}
	go in.listen()
	return in.ctx, in
}

// run tells which run is to be paused.
func (in *interrupts) run(r *rein.Run) { in.pause.Store(r) }

func (in *interrupts) listen() {
	defer close(in.done)
	n := 0
	for s := range in.signals {
		n++
		in.pressed.Store(true)
		r := in.pause.Load()
		if n == 1 && s == os.Interrupt && r != nil {
			in.a.say("pausing after what it is doing now; Ctrl-C again stops at once")
			if err := r.Pause(in.ctx); err == nil {
				continue
			}
		}
		if n > 2 {
			in.view.Load().kill()
			in.a.say("not waiting any longer; the run can be resumed")
			os.Exit(interrupted)
		}
		in.stop(rein.ErrStop)
	}
}

// unread pauses the run: it was to be watched, and nobody watches.
func (in *interrupts) unread() {
	r := in.pause.Load()
	if r == nil {
		return
	}
	in.a.say("nobody reads the events any more; pausing after what it is doing now")
	in.left.Store(true)
	if err := r.Pause(in.ctx); err != nil {
		in.stop(rein.ErrStop)
	}
}

// close ends the listening.
func (in *interrupts) close() {
	signal.Stop(in.signals)
	close(in.signals)
	<-in.done
	in.stop(nil)
}
