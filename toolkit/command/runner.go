package command

import (
	"context"
	"time"
)

// A Runner carries out commands. It is safe for concurrent use.
type Runner interface {
	// Run starts a program and returns when it has ended: by itself, at the end of
	// its time, or soon after ctx ends (within 80 ms, which is as long as an engine
	// waits). At the end of its time and when ctx ends, all that the program has
	// started ends with it. An error means that nothing was started.
	Run(ctx context.Context, p *Process) (*Outcome, error)
}

// Process is a program that is to be run.
type Process struct {
	// Path is the program's absolute path. Args are its arguments, without its name.
	Path string
	Args []string
	// Dir is the absolute path of the directory that it runs in.
	Dir string
	// Env is its whole environment.
	Env []string
	// Timeout is how long it may take.
	Timeout time.Duration
	// KeepRunning leaves what it has started alone once it has ended by itself.
	KeepRunning bool
	// Former tells what is left of earlier executions of the same call: processes
	// that were started with all variables of one of the sets. They are ended before
	// the program is started, and it is not started if they cannot be.
	Former [][]string
	// Silent is called, if it is not nil, each time that the program has written
	// nothing for another [SilentAfter]. It must return soon.
	Silent func(since time.Duration)
}

// SilentAfter is how long a command may write nothing before that is worth a
// word, from the table of defaults.
const SilentAfter = 30 * time.Second

// Ending says why a program came to its end.
type Ending int

const (
	// Exited: by itself.
	Exited Ending = iota
	// TimedOut: its time was over.
	TimedOut
	// Cancelled: it was given up.
	Cancelled
)

// Outcome is what came of a program.
type Outcome struct {
	End Ending
	// Code is the exit code, -1 if a signal ended the program, which Signal names.
	Code   int
	Signal string
	Output Output
	// Took is how long it ran, Silence the longest time in which it wrote nothing.
	Took, Silence time.Duration
	// Left are processes that it had started and that were still running when it
	// had ended. Ended: they were ended then, except for those in Stuck.
	Left  []Survivor
	Ended bool
	Stuck []Survivor
	// Gone: the program and all that it has started and that can be found have ended.
	// False where what it has started cannot be told.
	Gone bool
}

// Survivor is a process that outlives the program which started it.
type Survivor struct {
	PID int
	// Name is what the system calls it.
	Name string
}
