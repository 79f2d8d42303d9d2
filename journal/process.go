package journal

import "os"

// ThisProcess returns the calling process as the owner of a lease. The name is
// for people, such as "rein run".
//
// Where the system does not tell who lives (anything but Linux, or no /proc),
// Host and Start are empty, and a lease is void only when it expires.
func ThisProcess(name string) Owner {
	pid := os.Getpid()
	start, _ := processStart(pid)
	return Owner{Host: thisHost(), PID: pid, Start: start, Name: name}
}

// Dead reports whether it is certain that the process does not live any more:
// it was on this host (same boot, same PID namespace), and there is no process
// with its PID and start time. A zombie is dead: it executes nothing.
func (o Owner) Dead() bool {
	if o.Host == "" || o.Start == "" || o.Host != thisHost() {
		return false
	}
	if gone(o.PID) {
		return true
	}
	start, zombie := processStart(o.PID)
	// Without a start the process exists and cannot be looked at, as with
	// hidepid: it may be the owner.
	return zombie || start != "" && start != o.Start
}
