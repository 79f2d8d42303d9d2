package config

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/internal/nodetest"
	"rein.example/rein/model/script"
	"rein.example/rein/tool"
)

// A server that others have written is killed in the midst of a call, which is not
// repeatable: before it gets the call, or after it has carried it out and before it
// says so. What the agent is told is the truth, and nothing is done twice.

// outcomes of a run, whatever way the server is reached: what the model is told
// first, and how often the call was sent and carried out.
var killed = []struct {
	when    string
	confirm bool
	told    string
	sent    int
	done    int
}{
	{"after", true, "This call was carried out: its own answer was lost", 1, 1},
	{"before", true, "", 2, 1}, // sent once more, once it was known that nothing had happened
	{"after", false, "it may or may not have taken effect", 1, 1},
	{"before", false, "it may or may not have taken effect", 1, 0},
}

// The model repeats the call, whatever it is told.
const stubborn = `
turns:
  - call: {name: NAME, arguments: ARGS}
  - call: {name: NAME, arguments: ARGS}
  - say: 'It said: {{result 1}}'
`

// confirming is a tool that says whether something was done.
func confirming(args map[string]string, done func() bool) tool.Tool {
	properties := []string{}
	for name := range args { // order: of no meaning
		properties = append(properties, fmt.Sprintf(`%q: {"type": "string"}`, name))
	}
	return tool.New("check_done", tool.Doc{What: "Says whether a call took effect."},
		func(context.Context, map[string]any) (map[string]bool, error) {
			return map[string]bool{"done": done()}, nil
		}, &tool.Options{Effect: event.Read, Schema: []byte(`{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`)})
}

// play runs the agent of the text, with a model that makes the call twice, and
// returns its answer.
func play(t *testing.T, text, name, args string, extra ...tool.Tool) *rein.Result {
	t.Helper()
	a, err := load(t, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, closeTools, err := a.Options(extra...)
	if err != nil {
		t.Fatal(err)
	}
	defer closeTools()
	s, err := script.Parse([]byte(strings.NewReplacer("NAME", name, "ARGS", args).Replace(stubborn)))
	if err != nil {
		t.Fatal(err)
	}
	agent, err := rein.New(script.New(s, nil), o)
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	result, err := agent.Run(t.Context(), "Do it.")
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestFilesystemServerIsKilled(t *testing.T) {
	server := nodetest.Program(t, "..", "@modelcontextprotocol/server-filesystem", "dist/index.js")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range killed {
		t.Run(fmt.Sprintf("%s, confirm %v", c.when, c.confirm), func(t *testing.T) {
			folder, calls := t.TempDir(), filepath.Join(t.TempDir(), "calls")
			from, to := filepath.Join(folder, "draft.txt"), filepath.Join(folder, "final.txt")
			if err := os.WriteFile(from, []byte("text"), 0o600); err != nil {
				t.Fatal(err)
			}
			there := func(path string) bool { _, err := os.Stat(path); return err == nil }
			confirm := ""
			if c.confirm {
				confirm = "confirm: {move_file: check_done}, "
			}
			text := fmt.Sprintf("tools: [mcp: {name: fs, command: [%q, %q, %q, %q], %s allow: [move_file], env: {%s: %q}}]\npermissions: {allow: ['*']}",
				self, server[0], server[1], folder, confirm, proxyEnv, fmt.Sprintf("%s move_file %s", c.when, calls))
			result := play(t, text, "fs_move_file", fmt.Sprintf(`{"source": %q, "destination": %q}`, from, to),
				confirming(map[string]string{"source": "", "destination": ""}, func() bool { return there(to) && !there(from) }))
			if !result.OK || !strings.Contains(result.Answer, c.told) {
				t.Errorf("the model was told otherwise than %q: %s", c.told, result.Answer)
			}
			if n := noted(calls); n != c.sent {
				t.Errorf("the call was sent %d times, want %d", n, c.sent)
			}
			if there(to) != (c.done == 1) || there(from) == (c.done == 1) {
				t.Errorf("moved: %v, want %d", there(to), c.done)
			}
		})
	}
}

// front stands before a server over HTTP, which it kills, and starts again, when a
// tool is called for the first time.
type front struct {
	t     *testing.T
	argv  []string
	port  string
	when  string
	tool  string
	proxy *httputil.ReverseProxy

	mu   sync.Mutex
	cmd  *exec.Cmd
	sent int
	done int
}

func (f *front) start() {
	f.cmd = exec.Command(f.argv[0], append(f.argv[1:], "streamableHttp")...)
	f.cmd.Env = append(os.Environ(), "PORT="+f.port)
	if err := f.cmd.Start(); err != nil {
		f.t.Error(err)
		return
	}
	for range 3000 {
		if c, err := net.Dial("tcp", "127.0.0.1:"+f.port); err == nil {
			c.Close()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	f.t.Error("the server does not listen")
}

func (f *front) kill() {
	_ = f.cmd.Process.Kill()
	_ = f.cmd.Wait()
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if _, ok := callOf(body, f.tool); !ok {
		f.proxy.ServeHTTP(w, r)
		return
	}
	f.mu.Lock()
	f.sent++
	first := f.sent == 1
	f.mu.Unlock()
	if first && f.when == "before" {
		f.again()
		panic(http.ErrAbortHandler)
	}
	answer := w
	if first {
		answer = discarded{http.Header{}}
	}
	f.proxy.ServeHTTP(answer, r)
	f.mu.Lock()
	f.done++
	f.mu.Unlock()
	if first {
		f.again()
		panic(http.ErrAbortHandler)
	}
}

// again kills the server and starts it anew, without its sessions.
func (f *front) again() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kill()
	f.start()
}

// discarded throws an answer away.
type discarded struct{ header http.Header }

func (r discarded) Header() http.Header         { return r.header }
func (r discarded) Write(p []byte) (int, error) { return len(p), nil }
func (r discarded) WriteHeader(int)             {}

func TestEverythingServerIsKilledOverHTTP(t *testing.T) {
	argv := nodetest.Program(t, "..", "@modelcontextprotocol/server-everything", "dist/index.js")
	for _, c := range killed {
		t.Run(fmt.Sprintf("%s, confirm %v", c.when, c.confirm), func(t *testing.T) {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			f := &front{t: t, argv: argv, when: c.when, tool: "echo"}
			_, f.port, _ = net.SplitHostPort(ln.Addr().String())
			ln.Close()
			f.proxy = httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "127.0.0.1:" + f.port})
			f.proxy.FlushInterval = -1
			f.start()
			t.Cleanup(func() { f.mu.Lock(); defer f.mu.Unlock(); f.kill() })
			in, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			s := &http.Server{Handler: f}
			go s.Serve(in)
			t.Cleanup(func() { s.Close() })
			confirm := ""
			if c.confirm {
				confirm = "confirm: {echo: check_done}, "
			}
			text := fmt.Sprintf("tools: [mcp: {name: all, url: 'http://%s/mcp', %s allow: [echo], effects: {echo: once}}]\npermissions: {allow: ['*']}", in.Addr(), confirm)
			result := play(t, text, "all_echo", `{"message": "hello"}`, confirming(map[string]string{"message": ""}, func() bool {
				f.mu.Lock()
				defer f.mu.Unlock()
				return f.done > 0
			}))
			if !result.OK || !strings.Contains(result.Answer, c.told) {
				t.Errorf("the model was told otherwise than %q: %s", c.told, result.Answer)
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			if f.sent != c.sent || f.done != c.done {
				t.Errorf("the call was sent %d times and carried out %d times, want %d and %d", f.sent, f.done, c.sent, c.done)
			}
		})
	}
}
