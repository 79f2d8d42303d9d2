package local

import (
	"errors"
	"fmt"
	"sync"

	"rein.example/rein/loop"
	"rein.example/rein/tool"
)

// maxLeft is how many executions of one tool may be left behind and go on before
// no more of it is begun: each holds a goroutine and whatever else the tool
// holds, and a tool that has ignored its end so often does not obey the next time.
const maxLeft = 16

// errLeft: the execution ignores the end of its context.
var errLeft = errors.New("it was left behind")

// leftovers counts what takes no notice of the end of its context and goes on
// although nobody waits for it.
type leftovers struct {
	mu    sync.Mutex
	total int64
	tools map[string]int64 // executions by tool
	keys  map[string]int64 // and by idempotency key
}

// add counts n more (or, with -1, one less) of a flight's kind and returns how
// many there are of all kinds.
func (l *leftovers) add(f *flight, n int64) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total += n
	if c, ok := f.cmd.(*loop.RunTool); ok {
		if l.tools == nil {
			l.tools, l.keys = map[string]int64{}, map[string]int64{}
		}
		change(l.tools, c.Tool, n)
		if c.Key != "" {
			change(l.keys, c.Key, n)
		}
	}
	return l.total
}

func change(counts map[string]int64, name string, n int64) {
	// One that ends at once may be taken off before it is added.
	if counts[name] += n; counts[name] == 0 {
		delete(counts, name)
	}
}

func (l *leftovers) all() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

// refuse returns why a call must not begin, nil if it may: an execution of the
// same act, or too many of its tool, are still going on.
func (l *leftovers) refuse(c *loop.RunTool) *tool.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case c.Key != "" && l.keys[c.Key] > 0:
		return &tool.Error{Type: tool.TypeAbandoned, Unknown: true,
			Message: "an earlier execution of the same call takes no notice of its end and is still at work; whether it takes effect is unknown",
			Hint:    "do not repeat it; find out later whether it took effect"}
	case l.tools[c.Tool] >= maxLeft:
		return &tool.Error{Type: tool.TypeOverloaded, NoEffect: true, Retryable: true,
			Message: fmt.Sprintf("the call was not begun: %d earlier calls of %s did not end in time and are still at work", maxLeft, c.Tool),
			Hint:    "go on without it, or use another tool"}
	}
	return nil
}
