package command

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// waitFor waits until the program has ended, and leaves it to be reaped: until
// then its number, which is its session's too, means nobody else.
func waitFor(cmd *exec.Cmd) *os.ProcessState {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, unix.EINTR): // somebody else reaps this process's children
			_ = cmd.Wait()
			return cmd.ProcessState
		}
	}
}

// reap returns how a program that has ended did so.
func reap(cmd *exec.Cmd, _ *os.ProcessState) *os.ProcessState {
	_ = cmd.Wait() // its error is in the state
	return cmd.ProcessState
}

// process is a line of the system's table.
type process struct {
	pid, parent, group, session int
	start                       uint64 // in the system's ticks
	name                        string
	dead                        bool
	mine                        bool
}

// members returns the living processes that belong to the program: those of its
// session and group, all that descend from it, and those that have its mark. The
// program itself is among them until it has ended.
func (c *child) members() []process {
	leader := c.cmd.Process.Pid
	table := processes()
	at := make(map[int]int, len(table)) // by number, looked up only
	var since uint64
	for i, p := range table {
		if at[p.pid] = i; p.pid == leader {
			since = p.start
		}
	}
	for i := range table {
		p := &table[i]
		p.mine = p.pid == leader || p.session == leader || p.group == leader || p.start >= since && marked(p.pid, c.mark)
	}
	for more := true; more; { // the table is in no order that helps
		more = false
		for i := range table {
			if k, ok := at[table[i].parent]; ok && table[k].mine && !table[i].mine {
				table[i].mine, more = true, true
			}
		}
	}
	var out []process
	for _, p := range table {
		if p.mine && !p.dead {
			out = append(out, p)
		}
	}
	return out
}

// tree returns what the program has started and what still runs.
func (c *child) tree() []Survivor {
	var out []Survivor
	for _, p := range c.members() {
		if p.pid != c.cmd.Process.Pid {
			out = append(out, Survivor{p.pid, p.name})
		}
	}
	return out
}

func (c *child) terminate() { c.signal(syscall.SIGTERM) }
func (c *child) kill()      { c.signal(syscall.SIGKILL) }

// signal sends a signal to all that belongs to the program.
func (c *child) signal(s syscall.Signal) {
	for _, p := range c.members() {
		// The handle stays with the process that has the number now; whether that is
		// the one which was found shows in when it was started.
		handle, err := os.FindProcess(p.pid)
		if err != nil {
			continue
		}
		if now, ok := stat(p.pid); ok && now.start == p.start {
			_ = handle.Signal(s) // gone already: as wanted
		}
		_ = handle.Release()
	}
}

// processes reads the system's table.
func processes() []process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var out []process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := stat(pid); ok {
			out = append(out, p)
		}
	}
	return out
}

// stat reads one line of the table: see proc_pid_stat(5). The name is in
// parentheses and may hold some itself.
func stat(pid int) (process, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return process{}, false
	}
	f := strings.Fields(string(text[end+1:]))
	if len(f) < 20 {
		return process{}, false
	}
	p := process{pid: pid, name: string(text[open+1 : end]), dead: f[0] == "Z" || f[0] == "X"}
	if p.start, err = strconv.ParseUint(f[19], 10, 64); err != nil {
		return process{}, false
	}
	for i, to := range []*int{&p.parent, &p.group, &p.session} {
		if *to, err = strconv.Atoi(f[1+i]); err != nil {
			return process{}, false
		}
	}
	return p, true
}

// marked reports whether a process was started with the mark in its environment.
// That of another user's processes cannot be read; they are not ours to end.
func marked(pid int, mark string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	return bytes.HasPrefix(env, []byte(mark+"\x00")) || bytes.Contains(env, []byte("\x00"+mark+"\x00"))
}
