package command

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// seesTree: what a program has started can be found, see [Exec].
const seesTree = true

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
	var since uint64
	for _, p := range table {
		if p.pid == leader {
			since = p.start
		}
	}
	return grown(table, func(p *process) bool {
		return p.pid == leader || p.session == leader || p.group == leader || p.start >= since && marked(p.pid, []string{c.mark})
	})
}

// grown returns the living ones of the processes that mine picks, and of all that
// descend from them.
func grown(table []process, mine func(*process) bool) []process {
	at := make(map[int]int, len(table)) // by number, looked up only
	for i := range table {
		at[table[i].pid] = i
		table[i].mine = mine(&table[i])
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

// endFormer kills what was started with one of the sets of variables, with all that
// descends from it, and returns what still runs after a moment.
func endFormer(sets [][]string) []Survivor {
	for begun := time.Now(); ; time.Sleep(killGrace / 100) {
		table := processes()
		ours := ancestry(table)
		left := grown(table, func(p *process) bool {
			return !ours[p.pid] && slices.ContainsFunc(sets, func(set []string) bool { return marked(p.pid, set) })
		})
		if len(left) == 0 || time.Since(begun) > killGrace {
			return survivors(left)
		}
		signalAll(left, syscall.SIGKILL)
	}
}

// ancestry returns this process and what it hangs on: a command of a run may itself
// have started whoever goes on with the run.
func ancestry(table []process) map[int]bool {
	parent := make(map[int]int, len(table))
	for _, p := range table {
		parent[p.pid] = p.parent
	}
	ours := map[int]bool{}
	for pid := os.Getpid(); pid > 0 && !ours[pid]; pid = parent[pid] {
		ours[pid] = true
	}
	return ours
}

func survivors(list []process) []Survivor {
	var out []Survivor
	for _, p := range list {
		out = append(out, Survivor{p.pid, p.name})
	}
	return out
}

// tree returns what the program has started and what still runs.
func (c *child) tree() []Survivor {
	return survivors(slices.DeleteFunc(c.members(), func(p process) bool { return p.pid == c.cmd.Process.Pid }))
}

func (c *child) terminate() { c.signal(syscall.SIGTERM) }
func (c *child) kill()      { c.signal(syscall.SIGKILL) }

// signal sends a signal to all that belongs to the program.
func (c *child) signal(s syscall.Signal) { signalAll(c.members(), s) }

func signalAll(list []process, s syscall.Signal) {
	for _, p := range list {
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

// marked reports whether a process was started with all of these variables. The
// environment of another user's processes cannot be read; they are not ours to end.
func marked(pid int, set []string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	env = append([]byte{0}, env...)
	for _, v := range set {
		if !bytes.Contains(env, []byte("\x00"+v+"\x00")) {
			return false
		}
	}
	return len(set) > 0
}
