package journal

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
)

func TestProcessesAreKnownToLiveOrNot(t *testing.T) {
	me := ThisProcess("me")
	if me.Host == "" || me.PID != os.Getpid() || me.Start == "" || me.Name != "me" {
		t.Fatalf("this process is %+v", me)
	}
	if me.Dead() {
		t.Error("this process is dead")
	}

	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	child := me
	child.PID = cmd.Process.Pid
	child.Start, _ = processStart(child.PID)
	if child.Dead() {
		t.Error("a living child is dead")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// Waiting for the end without collecting it leaves a zombie.
	for zombie := false; !zombie; {
		_, zombie = processStart(child.PID)
	}
	if !child.Dead() {
		t.Error("a zombie is alive")
	}
	_ = cmd.Wait() // says that it was killed
	if !child.Dead() {
		t.Error("a child that has ended is alive")
	}

	for name, change := range map[string]func(o *Owner){
		"another host":   func(o *Owner) { o.Host = "another boot" },
		"unknown host":   func(o *Owner) { o.Host = "" },
		"unknown start":  func(o *Owner) { o.Start = "" },
		"no such number": func(o *Owner) { o.PID = 0 },
	} {
		o := child
		change(&o)
		if o.Dead() {
			t.Errorf("%s: it is said to be dead for certain", name)
		}
	}
	reused := me
	n, err := strconv.Atoi(me.Start)
	if err != nil {
		t.Fatal(err)
	}
	reused.Start = strconv.Itoa(n - 1)
	if !reused.Dead() {
		t.Error("the process that had this PID before is alive")
	}
}
