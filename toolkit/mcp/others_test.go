package mcp

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/internal/nodetest"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

// Tests with servers that others have written, in another language and with
// another SDK.

// everything is the server of the protocol's own project that offers one of each.
func everything(t *testing.T) []string {
	return nodetest.Program(t, "../..", "@modelcontextprotocol/server-everything", "dist/index.js")
}

// filesystem serves the files of a folder.
func filesystem(t *testing.T) []string {
	return nodetest.Program(t, "../..", "@modelcontextprotocol/server-filesystem", "dist/index.js")
}

// httpProcess is that server over HTTP, to be killed and started again.
type httpProcess struct {
	t    *testing.T
	argv []string
	port string
	cmd  *exec.Cmd
}

func (p *httpProcess) start() {
	p.t.Helper()
	p.cmd = exec.Command(p.argv[0], append(p.argv[1:], "streamableHttp")...)
	p.cmd.Env = append(os.Environ(), "PORT="+p.port)
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(p.kill)
	for range 3000 {
		if c, err := net.Dial("tcp", "127.0.0.1:"+p.port); err == nil {
			c.Close()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.t.Fatal("the server does not listen")
}

func (p *httpProcess) kill() {
	_ = p.cmd.Process.Kill() // gone already: as wanted
	_ = p.cmd.Wait()
}

func everythingOverHTTP(t *testing.T) *httpProcess {
	t.Helper()
	p := &httpProcess{t: t, argv: everything(t)}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, p.port, _ = net.SplitHostPort(ln.Addr().String())
	ln.Close()
	p.start()
	return p
}

func TestServerEverything(t *testing.T) {
	t.Run("stdio", func(t *testing.T) {
		o := Options{Command: everything(t), Env: []string{"GREETING=hello"}, Logger: logger(t)}
		s := open(t, o)
		oneOfEach(t, s)
		shown, e, _ := call(t, s, "get-env", `{}`)
		if e != nil || !strings.Contains(shown, `"GREETING": "hello"`) {
			t.Errorf("the environment is %s %v", shown, e)
		}
		if n := strings.Count(shown, `": "`); n > 1+len(inherited) {
			t.Errorf("the server sees %d variables: %s", n, shown)
		}
	})
	t.Run("http", func(t *testing.T) {
		p := everythingOverHTTP(t)
		oneOfEach(t, open(t, Options{URL: "http://127.0.0.1:" + p.port + "/mcp", Logger: logger(t)}))
	})
}

func oneOfEach(t *testing.T, s *Server) {
	if d := find(t, s, "trigger-long-running-operation").Definition(); d.Effect != event.Read {
		t.Errorf("a tool that says it only reads is %s", d.Effect)
	}
	if shown, e, _ := call(t, s, "echo", `{"message":"grüß dich"}`); e != nil || shown != "<text>Echo: grüß dich" {
		t.Errorf("echo: %q %v", shown, e)
	}
	if shown, e, _ := call(t, s, "get-sum", `{"a":2,"b":3}`); e != nil || !strings.Contains(shown, "5") {
		t.Errorf("get-sum: %q %v", shown, e)
	}
	_, e, res := call(t, s, "get-structured-content", `{"location":"Chicago"}`)
	if e != nil || string(res.Value) != `{"temperature":36,"conditions":"Light rain / drizzle","humidity":82}` || len(res.Parts) != 1 {
		t.Errorf("get-structured-content: %+v %v", res, e)
	}
	_, e, res = call(t, s, "get-tiny-image", `{}`)
	if e != nil || !slices.ContainsFunc(res.Parts, func(p message.Part) bool {
		return p.Kind == message.Image && strings.HasPrefix(p.URL, "data:image/png;base64,iVBOR")
	}) {
		t.Errorf("get-tiny-image: %v", e)
	}
	if shown, e, _ := call(t, s, "get-resource-links", `{"count":2}`); e != nil || strings.Count(shown, "<text>resource ") != 2 {
		t.Errorf("get-resource-links: %q %v", shown, e)
	}
	if _, e, _ := call(t, s, "get-sum", `{"a":"x"}`); e == nil || e.Unknown || e.Retryable || !strings.Contains(e.Message, "expected number") {
		t.Errorf("wrong arguments: %+v", e)
	}
	// Each of many calls at once has its own answer, and one that fails is alone.
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			if i == 7 {
				if _, e, _ := call(t, s, "get-sum", `{"a":"x"}`); e == nil {
					t.Error("the wrong one succeeded")
				}
				return
			}
			if shown, e, _ := call(t, s, "echo", fmt.Sprintf(`{"message":"%d"}`, i)); e != nil || shown != fmt.Sprintf("<text>Echo: %d", i) {
				t.Errorf("%d: %q %v", i, shown, e)
			}
		})
	}
	all.Wait()
	// A call whose time is over is given up, and others go on.
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := find(t, s, "trigger-long-running-operation").Run(ctx, &tool.Call{Run: "r", ID: "c", Args: []byte(`{"duration":60,"steps":600}`), Attempt: 1})
	if err != context.DeadlineExceeded {
		t.Errorf("a long call: %v", err)
	}
	if _, e, _ := call(t, s, "echo", `{"message":"x"}`); e != nil {
		t.Errorf("after that: %v", e)
	}
}

// killed runs a call that takes long, kills the server in its midst, and returns
// what the model is told.
func killed(t *testing.T, s *Server, kill func()) *tool.Error {
	t.Helper()
	told := make(chan *tool.Error, 1)
	go func() {
		_, e, _ := call(t, s, "trigger-long-running-operation", `{"duration":60,"steps":6000}`)
		told <- e
	}()
	for !underWay(s) {
		time.Sleep(time.Millisecond)
	}
	kill()
	return <-told
}

// underWay reports whether a call has reported progress.
func underWay(s *Server) bool {
	s.mu.Lock()
	l := s.cur
	s.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.progress { // order: any will do
		if p.text != "" {
			return true
		}
	}
	return false
}

func TestServerEverythingIsKilled(t *testing.T) {
	once := map[string]event.Effect{"trigger-long-running-operation": event.Once}
	check := func(t *testing.T, s *Server, kill, start func()) {
		e := killed(t, s, kill)
		if e == nil || e.Type != tool.TypeConnection || !e.Unknown || e.Retryable || e.NoEffect {
			t.Errorf("a once call is told %+v", e)
		}
		start()
		s.mu.Lock()
		s.retry = time.Time{} // do not wait for it
		s.mu.Unlock()
		shown, e, _ := call(t, s, "echo", `{"message":"back"}`)
		for range 5 { // it may be sent over what is not known to be cut yet
			if e != nil && e.Retryable {
				shown, e, _ = call(t, s, "echo", `{"message":"back"}`)
			}
		}
		if e != nil || shown != "<text>Echo: back" {
			t.Errorf("after that: %q %v", shown, e)
		}
	}
	t.Run("stdio", func(t *testing.T) {
		s := open(t, Options{Command: everything(t), Effects: once, Logger: logger(t)})
		check(t, s, func() { _ = s.cur.proc.cmd.Process.Kill() }, func() {})
	})
	t.Run("http", func(t *testing.T) {
		p := everythingOverHTTP(t)
		s := open(t, Options{URL: fmt.Sprintf("http://127.0.0.1:%s/mcp", p.port), Effects: once, Logger: logger(t)})
		check(t, s, p.kill, p.start)
	})
}

func TestServerFilesystem(t *testing.T) {
	folder := t.TempDir()
	s := open(t, Options{Name: "fs", Command: append(filesystem(t), folder), Logger: logger(t)})
	for name, want := range map[string]event.Effect{
		"fs_read_text_file": event.Read, "fs_write_file": event.Repeatable, "fs_edit_file": event.Once, "fs_move_file": event.Once,
	} {
		if got := find(t, s, name).Definition().Effect; got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	path := filepath.Join(folder, "a.txt")
	if _, e, _ := call(t, s, "fs_write_file", fmt.Sprintf(`{"path":%q,"content":"one\ntwo\n"}`, path)); e != nil {
		t.Fatal(e)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "one\ntwo\n" {
		t.Errorf("%q %v", text, err)
	}
	if shown, e, _ := call(t, s, "fs_read_text_file", fmt.Sprintf(`{"path":%q}`, path)); e != nil || !strings.Contains(shown, "one\ntwo") {
		t.Errorf("%q %v", shown, e)
	}
	if _, e, _ := call(t, s, "fs_read_text_file", `{"path":"/etc/hostname"}`); e == nil || e.Type != tool.TypeError || !strings.Contains(e.Message, "Access denied") {
		t.Errorf("a path outside: %+v", e)
	}
}
