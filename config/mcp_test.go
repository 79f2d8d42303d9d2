package config

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// proxyEnv makes the test binary a proxy in front of an MCP server, see faulty.
const proxyEnv = "REIN_TEST_FAULTY_PROXY"

func TestMain(m *testing.M) {
	if plan := os.Getenv(proxyEnv); plan != "" {
		faulty(plan, os.Args[1:])
	}
	os.Exit(m.Run())
}

// faulty stands between a client and a server that is started with argv, and dies
// with it when the tool is called for the first time: before the server gets the
// call, or after the server has answered it. plan is "when tool file"; each call is
// noted in the file.
func faulty(plan string, argv []string) {
	var when, tool, file string
	if _, err := fmt.Sscanf(plan, "%s %s %s", &when, &tool, &file); err != nil {
		panic(err)
	}
	server := exec.Command(argv[0], argv[1:]...)
	in, _ := server.StdinPipe()
	out, _ := server.StdoutPipe()
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		panic(err)
	}
	die := func() {
		_ = server.Process.Kill()
		os.Exit(9)
	}
	var mu sync.Mutex
	fatal := "" // the id of the call that kills
	go func() {
		lines := bufio.NewReader(os.Stdin)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				in.Close()
				return
			}
			if id, ok := callOf(line, tool); ok {
				first := noted(file) == 0
				note(file)
				if first && when == "before" {
					die()
				}
				if first {
					mu.Lock()
					fatal = id
					mu.Unlock()
				}
			}
			_, _ = in.Write(line)
		}
	}()
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			os.Exit(0)
		}
		var answer struct{ ID json.RawMessage }
		_ = json.Unmarshal(line, &answer)
		mu.Lock()
		if fatal != "" && string(answer.ID) == fatal {
			die()
		}
		mu.Unlock()
		_, _ = os.Stdout.Write(line)
	}
}

// callOf returns the id of a message that calls the tool.
func callOf(line []byte, tool string) (id string, ok bool) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct{ Name string }
	}
	ok = json.Unmarshal(line, &m) == nil && m.Method == "tools/call" && m.Params.Name == tool
	return string(m.ID), ok
}

// note adds a mark to a file, noted counts them.
func note(file string) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString("x")
	}
	if err != nil {
		panic(err)
	}
	f.Close()
}

func noted(file string) int {
	text, _ := os.ReadFile(file)
	return len(text)
}

// deskServer is a small server over HTTP; it wants the header.
func deskServer(t *testing.T, header, value string) string {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "desk", Version: "1"}, nil)
	for _, name := range []string{"read_order", "place_order"} {
		s.AddTool(&mcp.Tool{Name: name, Description: "It is " + name + ".", InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "key " + value}}}, nil
			})
	}
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(header) != value {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	return web.URL
}

func TestMCPServer(t *testing.T) {
	t.Setenv("DESK_TOKEN", "token-12345678")
	url := deskServer(t, "Authorization", "Bearer token-12345678")
	o := options(t, `
tools:
  - mcp:
      name: desk
      url: `+url+`
      bearer_env: DESK_TOKEN
      headers: {X-Tenant: acme}
      effects: {"read_*": read, place_order: once}
      confirm: {place_order: read_order}
      alias: {place_order: order}
      group: orders
      timeout: 7s
permissions: {allow: [desk_read_order], ask: [order]}
`, nil)
	got := map[string]string{}
	for _, tl := range o.Tools {
		d := tl.Definition()
		got[d.Name] = fmt.Sprintf("%s %s %s %v", d.Effect, d.Confirm, d.Group, d.Timeout)
	}
	if len(got) != 2 || got["desk_read_order"] != "read  orders 7s" || got["order"] != "once desk_read_order orders 7s" {
		t.Errorf("tools %q", got)
	}
	if text := o.Secrets.Redact("key token-12345678"); text != "key {{secret:DESK_TOKEN}}" {
		t.Errorf("the token is shown: %s", text)
	}
}

// Two servers may offer tools of the same names, if they have names themselves.
func TestTwoMCPServers(t *testing.T) {
	a, b := deskServer(t, "X", ""), deskServer(t, "X", "")
	o := options(t, "tools: [mcp: {name: a, url: "+a+"}, mcp: {name: b, url: "+b+"}]", nil)
	if got := strings.Join(toolNames(o), " "); got != "a_place_order a_read_order b_place_order b_read_order" {
		t.Errorf("tools %s", got)
	}
}

func TestMCPSettings(t *testing.T) {
	t.Setenv("SHORT", "abc")
	t.Setenv("LINES", "token-1234\ntoken-5678")
	url := deskServer(t, "X", "")
	for _, c := range []struct{ text, want string }{
		{"tools: [mcp]", "tools[0].mcp: an MCP server is either started by a command or reached at a url"},
		{"tools: [mcp: {command: [x], url: 'http://x.example'}]", "set one of the two"},
		{"tools: [mcp: {url: 'http://x.example', env: {A: b}}]", "env and secret_env are for a server that is started here"},
		{"tools: [mcp: {command: [x], bearer_env: A}]", "are for a server at a url"},
		{"tools: [mcp: {url: 'http://x.example', bearer_env: A, headers: {authorization: b}}]", "the header Authorization is set twice"},
		{"tools: [mcp: {url: 'http://x.example', token: abc}]", "a secret does not belong in this file"},
		{"tools: [mcp: {command: [x], effects: {a: twice}}]", `there is no choice "twice"`},
		{"tools: [mcp: {command: [x], alias: {a: 'b c'}}]", "the name of a tool"},
		{"tools: [mcp: {command: [x], name: a b}]", "a short name"},
		{"tools: [mcp: {command: [no-such-program-here]}]", "agent.yaml:1:15: tools[0].mcp: MCP server no-such-program-here: it could not be started"},
		{"tools: [mcp: {command: [x], secret_env: [REIN_TEST_NOT_SET]}]", "the environment variable REIN_TEST_NOT_SET is not set"},
		{"tools: [mcp: {command: [x], secret_env: [SHORT]}]", "SHORT holds no secret that can be kept out of the journal"},
		{"tools: [mcp: {url: " + url + ", headers_env: {X-Key: LINES}}]", "holds more than one line"},
		{"tools: [mcp: {url: " + url + ", allow: [reed_order]}]", `allow: it has no tool "reed_order"; did you mean read_order?`},
		{"tools: [mcp: {url: " + url + "}]\npermissions: {deny: [place_ordr]}", `there is no tool "place_ordr"; did you mean place_order?`},
	} {
		a, err := load(t, c.text, nil)
		if err == nil {
			var closeTools func() error
			if _, closeTools, err = a.Options(); err == nil {
				closeTools()
			}
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\n%v\nwant %s", c.text, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "token-1234") {
			t.Errorf("%s: the error tells a secret: %v", c.text, err)
		}
	}
}

// What the program sees of the environment.
func TestMCPEnvironment(t *testing.T) {
	if dump := os.Getenv("REIN_TEST_DUMP"); dump != "" { // this is the program
		_ = os.WriteFile(dump, []byte(strings.Join(os.Environ(), "\n")), 0o600)
		os.Exit(0)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("API_TOKEN", "token-12345678")
	t.Setenv("REIN_TEST_OTHER", "not for others")
	dir := t.TempDir()
	a, err := load(t, fmt.Sprintf("tools: [mcp: {command: [%q, -test.run=TestMCPEnvironment], env: {REIN_TEST_DUMP: %q, EMPTY: ''}, secret_env: [API_TOKEN]}]",
		self, filepath.Join(dir, "env")), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.Options(); err == nil || strings.Contains(err.Error(), "token-12345678") {
		t.Fatalf("a program that ends: %v", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "env"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"API_TOKEN=token-12345678", "EMPTY="} {
		if !strings.Contains("\n"+string(text)+"\n", "\n"+want+"\n") {
			t.Errorf("the program does not see %s", want)
		}
	}
	if strings.Contains(string(text), "REIN_TEST_OTHER") {
		t.Error("the program sees what nobody gave it")
	}
}
