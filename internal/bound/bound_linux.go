package bound

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// order is one program to start.
type order struct {
	cmd  *exec.Cmd
	done chan<- error
}

// starter is where programs are started. The system kills them when the thread
// ends that has started them, not when the process does (prctl(2),
// PR_SET_PDEATHSIG), and Go ends threads: whenever a goroutine returns that has
// locked its own. This one is locked to a goroutine that never returns.
var starter = sync.OnceValue(func() chan<- order {
	orders := make(chan order)
	go func() {
		runtime.LockOSThread()
		for o := range orders {
			o.done <- o.cmd.Start()
		}
	}()
	return orders
})

func start(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	done := make(chan error, 1)
	starter() <- order{cmd, done}
	return <-done
}
