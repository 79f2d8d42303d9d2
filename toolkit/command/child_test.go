package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The test binary is also the programs that the tests run.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "-child" {
		child_(os.Args[2], os.Args[3:])
		return
	}
	os.Exit(m.Run())
}

// child_ behaves as programs do. What it starts it notes in the file pids.
func child_(mode string, args []string) {
	switch mode {
	case "args":
		for _, a := range args {
			fmt.Printf("<%s>\n", a)
		}
	case "exit":
		code, _ := strconv.Atoi(args[0])
		fmt.Println("on stdout")
		fmt.Fprintln(os.Stderr, "on stderr")
		os.Exit(code)
	case "json":
		fmt.Println(`{"done": true}`)
	case "env":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	case "dir":
		dir, _ := os.Getwd()
		fmt.Println(dir)
	case "stdin":
		text, err := io.ReadAll(os.Stdin)
		fmt.Println(len(text), err)
	case "flood":
		line := []byte(strings.Repeat("x", 99) + "\n")
		n, _ := strconv.Atoi(args[0])
		os.Stdout.WriteString("first\n")
		for range n {
			os.Stdout.Write(line)
		}
		os.Stdout.WriteString("last\n")
	case "deaf": // takes no notice of being told to end
		signal.Ignore(terminations...)
		note()
		fmt.Println("deaf")
		time.Sleep(time.Hour)
	case "deaf-tree": // nor does what it has started
		signal.Ignore(terminations...)
		start("deaf", nil)
		note()
		time.Sleep(time.Hour)
	case "polite": // ends when told to
		told := make(chan os.Signal, 1)
		signal.Notify(told, terminations...)
		note()
		fmt.Println("working")
		<-told
		fmt.Println("cleaned up")
	case "leave": // a helper that holds the output open
		start("sleep", nil)
	case "leave-session": // one that has left session, group and parent
		start("fork-session", nil)
	case "fork-session":
		start("sleep", apart())
	case "host": // runs another as a tool does, for a call of a run
		self, _ := os.Executable()
		_, err := (Exec{}).Run(context.Background(), &Process{Path: self, Args: append([]string{"-child"}, args[1:]...), Dir: ".",
			Env: []string{"REIN_RUN=" + args[0], "REIN_CALL=c", "REIN_IDEMPOTENCY_KEY=k"}, Timeout: time.Hour})
		fmt.Println(err)
	case "sleep":
		note()
		time.Sleep(time.Hour)
	}
}

// start starts another such program and waits until it has begun.
func start(mode string, attr func(*exec.Cmd)) {
	before := len(pids("."))
	self, _ := os.Executable()
	cmd := exec.Command(self, "-child", mode)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if attr != nil {
		attr(cmd)
	}
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		os.Exit(99)
	}
	if mode == "fork-session" {
		_ = cmd.Wait()
		return
	}
	for len(pids(".")) == before {
		time.Sleep(time.Millisecond)
	}
}

// note writes the process's number down.
func note() {
	f, err := os.OpenFile("pids", os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		fmt.Fprintln(f, os.Getpid())
		f.Close()
	}
}

// pids returns the numbers that were noted.
func pids(dir string) []int {
	text, _ := os.ReadFile(dir + "/pids")
	var out []int
	for f := range strings.FieldsSeq(string(text)) {
		if n, err := strconv.Atoi(f); err == nil {
			out = append(out, n)
		}
	}
	return out
}
