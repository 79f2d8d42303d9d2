package command

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"rein.example/rein/internal/bound"
)

// How a program is ended: it is told to, and killed after termGrace; a run that is
// stopped waits for cancelGrace only, since its engine does not wait long for a
// tool (engine/local: 80 ms in all). Of a program that has ended, what it has still
// written is read for drainGrace, even if somebody holds its output open.
const (
	termGrace   = 2 * time.Second
	cancelGrace = 25 * time.Millisecond
	drainGrace  = 300 * time.Millisecond
	// settleGrace is how long a process that the program has started may take to
	// end after it without being counted as left.
	settleGrace = 100 * time.Millisecond
	// killGrace is how long the system may take to kill.
	killGrace       = time.Second
	cancelKillGrace = 25 * time.Millisecond
)

// markName is the variable by which the processes that a program has started are
// found again, wherever in the system's tree they hang.
const markName = "REIN_COMMAND"

// Exec runs programs plainly, as children of this process: without a terminal or
// input, in a session of their own, with nothing of this process but what
// [Process] says. It is no sandbox: a program may do all that the user may.
//
// On Linux all that a program has started is found, as far as it keeps its
// ancestors, its session or its environment. A process that gives up all three, a
// daemon that forks twice, begins a session and clears its environment, is not
// found: it is neither ended nor told of. Only a control group or a namespace of
// its own would hold it, which takes rights that a program does not have as a rule.
//
// On Linux a program is killed when this process ends, however that happens. What
// the program has started goes on then, until the same call is executed again:
// see [Process.Former].
//
// On other Unix systems only the program's process group is ended, elsewhere only
// the program itself, and neither when this process is killed.
type Exec struct{}

// errFormer: an earlier execution goes on.
var errFormer = errors.New("what an earlier execution of the call has started still runs and cannot be ended")

// Run implements [Runner].
func (Exec) Run(ctx context.Context, p *Process) (*Outcome, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(p.Former) > 0 {
		if left := endFormer(p.Former); len(left) > 0 {
			return nil, fmt.Errorf("%w: %s", errFormer, names(left))
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	c := &child{p: p, mark: markName + "=" + rand.Text(), pipe: r, kept: newCapture(), drained: make(chan struct{}), exited: make(chan struct{})}
	c.cmd = &exec.Cmd{Path: p.Path, Args: append([]string{filepath.Base(p.Path)}, p.Args...), Dir: p.Dir,
		Env: append(p.Env[:len(p.Env):len(p.Env)], c.mark), Stdout: w, Stderr: w, SysProcAttr: ownSession()}
	c.began = time.Now()
	err = bound.Start(c.cmd)
	w.Close()
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("start %s: %w", filepath.Base(p.Path), bare(err))
	}
	go c.read()
	go c.await()
	return c.follow(ctx), nil
}

// child is a program that was started.
type child struct {
	p     *Process
	cmd   *exec.Cmd
	mark  string
	began time.Time
	pipe  *os.File
	kept  *capture

	drained chan struct{} // everything was read
	exited  chan struct{} // the program has ended
	state   *os.ProcessState
}

// read reads what the program writes until nobody can write any more, or until
// the pipe's deadline.
func (c *child) read() {
	defer close(c.drained)
	_, _ = io.Copy(c.kept, c.pipe) // an error ends the output too
}

// await waits for the program's end. Where the system allows, its number is not
// given to another process until reap.
func (c *child) await() {
	defer close(c.exited)
	c.state = waitFor(c.cmd)
}

// follow waits for the program to end, or ends it.
func (c *child) follow(ctx context.Context) *Outcome {
	o := &Outcome{}
	over := time.NewTimer(c.p.Timeout)
	defer over.Stop()
	listen := time.NewTicker(SilentAfter / 10)
	defer listen.Stop()
	for running := true; running; {
		select {
		case <-c.exited:
			running = false
		case <-over.C:
			o.End, running = TimedOut, false
			c.end(termGrace, killGrace)
		case <-ctx.Done():
			o.End, running = Cancelled, false
			c.end(cancelGrace, cancelKillGrace)
		case now := <-listen.C:
			if since, tell := c.kept.quiet(now); tell && c.p.Silent != nil {
				c.p.Silent(since)
			}
		}
	}
	ended := time.Now()
	switch o.End {
	case Exited:
		c.survivors(o)
	default:
		o.Stuck = c.tree()
	}
	c.drain(o)
	o.Took = ended.Sub(c.began)
	o.Output, o.Silence = c.kept.output(ended)
	c.reap(o)
	return o
}

// survivors finds what the program has started and left, and ends it unless it is
// to be kept.
func (c *child) survivors(o *Outcome) {
	for begun := time.Now(); ; time.Sleep(settleGrace / 10) {
		if o.Left = c.tree(); len(o.Left) == 0 || time.Since(begun) > settleGrace {
			break
		}
	}
	if len(o.Left) > 0 && !c.p.KeepRunning {
		c.end(termGrace, killGrace)
		o.Ended, o.Stuck = true, c.tree()
	}
}

// drain reads what is still in the pipe, for a bounded time. What keeps running
// may go on writing; it is read and forgotten, so that it does not stand still.
func (c *child) drain(o *Outcome) {
	wait := drainGrace
	if o.End == Cancelled {
		wait = cancelKillGrace / 5
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-c.drained:
	case <-timer.C:
		if c.p.KeepRunning && o.End == Exited {
			pipe := c.pipe
			go func() {
				<-c.drained
				pipe.Close()
			}()
			return
		}
		_ = c.pipe.SetReadDeadline(time.Now())
		<-c.drained
	}
	c.pipe.Close()
}

// reap notes how the program has ended, and whether all of it has.
func (c *child) reap(o *Outcome) {
	select {
	case <-c.exited:
		o.Gone = seesTree && len(o.Stuck) == 0 && (len(o.Left) == 0 || o.Ended)
	default: // it was killed, and the system has not got round to it
		o.Code, o.Signal = -1, "killed"
		go func() {
			<-c.exited
			_ = reap(c.cmd, c.state)
		}()
		return
	}
	state := reap(c.cmd, c.state)
	if o.Code = -1; state != nil {
		o.Code, o.Signal = state.ExitCode(), signalOf(state)
	}
}

// end ends the program and all that it has started: tells it to, waits for grace,
// and kills what is left, for at most kill.
func (c *child) end(grace, kill time.Duration) {
	c.terminate()
	step := min(grace/5, 20*time.Millisecond)
	for begun := time.Now(); time.Since(begun) < grace; time.Sleep(step) {
		if c.gone() {
			return
		}
	}
	// What is killed may have started another meanwhile.
	for begun := time.Now(); time.Since(begun) < kill; time.Sleep(step) {
		c.kill()
		if c.gone() {
			return
		}
	}
}

// gone reports whether neither the program nor anything that it has started runs.
func (c *child) gone() bool {
	select {
	case <-c.exited:
		return len(c.tree()) == 0
	default:
		return false
	}
}
