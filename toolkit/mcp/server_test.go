package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"rein.example/rein/tool"
)

// The servers below are written with the SDK's server side, and served in two
// ways: by this test binary as a process of its own (stdio), and over HTTP.

const (
	serveEnv  = "REIN_TEST_MCP_SERVE"  // which server the test binary is
	folderEnv = "REIN_TEST_MCP_FOLDER" // where it leaves its traces
)

func TestMain(m *testing.M) {
	if kind := os.Getenv(serveEnv); kind != "" {
		serveStdio(kind, os.Getenv(folderEnv))
		return
	}
	os.Exit(m.Run())
}

// forever never returns. Waiting for nothing at all would end a process in which
// nothing else goes on: the runtime takes it for a deadlock.
func forever() {
	for {
		time.Sleep(time.Hour)
	}
}

// serveStdio is the main function of a server process.
func serveStdio(kind, folder string) {
	switch kind {
	case "banner": // a launcher that chatters
		fmt.Print("Starting …\n\n{not json}\n[warn] deprecated\n")
		fmt.Fprintln(os.Stderr, "listening")
	case "broken":
		fmt.Fprintln(os.Stderr, "cannot open the key ring: token-"+"12345678")
		os.Exit(3)
	case "silent":
		forever()
	case "deaf": // does not end when its input ends, nor when it is told to
		go func() {
			for {
				time.Sleep(time.Hour)
			}
		}()
		deaf()
		defer forever()
	}
	if err := deskServer(kind, folder).Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// effects are the acts that a server has carried out, one a line.
func effects(folder string) []string {
	text, err := os.ReadFile(filepath.Join(folder, "effects"))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

func act(folder, what string) {
	f, err := os.OpenFile(filepath.Join(folder, "effects"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		fmt.Fprintln(f, what)
		err = f.Close()
	}
	if err != nil {
		panic(err)
	}
}

// raw is a schema as text.
func raw(text string) json.RawMessage { return json.RawMessage(text) }

func text(s string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: s}}}
}

// deskServer is the server of most tests: a desk that takes orders. kind changes
// it, see below.
func deskServer(kind, folder string) *sdk.Server {
	o := &sdk.ServerOptions{}
	if kind == "paged" {
		o.PageSize = 2
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "desk", Version: "1"}, o)
	no, object := false, raw(`{"type":"object"}`)
	s.AddTool(&sdk.Tool{
		Name: "read_order", Description: "Reads one order.", InputSchema: raw(`{"type":"object","properties":{"id":{"type":"integer","description":"the order's number"}},"required":["id"],"additionalProperties":false}`),
		OutputSchema: raw(`{"type":"object","properties":{"id":{"type":"integer"},"items":{"type":"array","description":"what was ordered"}}}`),
		Annotations:  &sdk.ToolAnnotations{ReadOnlyHint: true},
	}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		const order = `{"id":12345678901234567890,"items":["tea"]}`
		res := text(order)
		res.StructuredContent = raw(order)
		return res, nil
	})
	s.AddTool(&sdk.Tool{Name: "place_order", Description: "Places an order.", InputSchema: object},
		func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			key, _ := r.Params.Meta[MetaKey].(string)
			act(folder, "placed "+key)
			return text("placed"), nil
		})
	if kind == "traced" {
		s.AddTool(&sdk.Tool{Name: "tell_trace", Description: "Tells which trace a call belongs to.", InputSchema: object},
			func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return text(fmt.Sprint(r.Params.Meta["traceparent"], " ", r.Params.Meta["tracestate"])), nil
			})
	}
	s.AddTool(&sdk.Tool{Name: "set_note", Description: "Replaces the note.", InputSchema: object,
		Annotations: &sdk.ToolAnnotations{IdempotentHint: true}},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return text("set"), nil })
	s.AddTool(&sdk.Tool{Name: "wipe", Title: "Wipe the desk", InputSchema: object, Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: yes()}},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return text("wiped"), nil })
	s.AddTool(&sdk.Tool{Name: "wait", Description: "Waits for ever.", InputSchema: object, Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &no}},
		func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			act(folder, "waiting")
			if token := r.Params.GetProgressToken(); token != nil {
				_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: 2, Total: 5, Message: "counting"})
			}
			<-ctx.Done()
			act(folder, "cancelled")
			return nil, ctx.Err()
		})
	s.AddTool(&sdk.Tool{Name: "hold", Description: "Waits until it is released.", InputSchema: object, Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
		func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			act(folder, "holding")
			for ctx.Err() == nil {
				if _, err := os.Stat(filepath.Join(folder, "release")); err == nil {
					return text("released"), nil
				}
				time.Sleep(time.Millisecond)
			}
			return nil, ctx.Err()
		})
	s.AddTool(&sdk.Tool{Name: "die", Description: "Places an order, and dies before it says so.", InputSchema: object},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			act(folder, "placed")
			die(folder)
			forever()
			return nil, nil
		})
	s.AddTool(&sdk.Tool{Name: "look", Description: "Looks once in vain, since the server dies.", InputSchema: object, Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			act(folder, "looked")
			if len(effects(folder)) == 1 {
				die(folder)
				forever()
			}
			return text("a desk"), nil
		})
	s.AddTool(&sdk.Tool{Name: "fail", Description: "Fails.", InputSchema: object},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			r := text("no such customer: 7")
			r.IsError = true
			return r, nil
		})
	s.AddTool(&sdk.Tool{Name: "refuse", Description: "Fails by the protocol.", InputSchema: object},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return nil, errors.New("out of paper")
		})
	s.AddTool(&sdk.Tool{Name: "media", Description: "Shows all kinds of content.", InputSchema: object, Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			size := int64(12)
			return &sdk.CallToolResult{Content: []sdk.Content{
				&sdk.TextContent{Text: "see:"},
				&sdk.ImageContent{MIMEType: "image/png", Data: []byte("PNG")},
				&sdk.ImageContent{MIMEType: "image/tiff", Data: []byte("TIFF")},
				&sdk.AudioContent{MIMEType: "audio/wav", Data: []byte("RIFF")},
				&sdk.ResourceLink{URI: "desk://orders/1", Name: "order 1", MIMEType: "text/plain", Size: &size},
				&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "desk://note", MIMEType: "text/plain", Text: "call Ann"}},
				&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "desk://zip", MIMEType: "application/zip", Blob: []byte("PK")}},
			}}, nil
		})
	s.AddTool(&sdk.Tool{Name: "promote", Description: "Makes the server define place_order otherwise.", InputSchema: object},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			s.AddTool(&sdk.Tool{Name: "place_order", Description: "Places an order, and pays it.", InputSchema: object},
				func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
					act(folder, "paid")
					return text("paid"), nil
				})
			s.RemoveTools("set_note")
			return text("promoted"), nil
		})
	if kind == "moody" { // lists its tools only once
		var listed atomic.Bool
		s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
			return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
				if method == "tools/list" && listed.Swap(true) {
					return nil, errors.New("not now")
				}
				return next(ctx, method, r)
			}
		})
	}
	if kind == "updated" {
		s.AddTool(&sdk.Tool{Name: "read_order", Description: "Reads one order, and marks it as read.", InputSchema: object},
			func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return text("marked"), nil })
	}
	return s
}

func yes() *bool { b := true; return &b }

// die ends the server in the midst of a call. Over HTTP, where the server is part
// of the test's process, its connections are cut, see web.
func die(folder string) {
	if os.Getenv(serveEnv) != "" {
		os.Exit(9)
	}
	webOf(folder).die()
}

// webs are the HTTP servers, *web by folder.
var webs sync.Map

func webOf(folder string) *web {
	w, _ := webs.Load(folder)
	found, _ := w.(*web)
	return found
}

// running waits until the server is there again that has just died.
func running(folder string) {
	if w := webOf(folder); w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
	}
}

// web is an HTTP server that can be killed and started again at its place.
type web struct {
	t       *testing.T
	addr    string
	server  *http.Server
	handler http.Handler
	again   func() http.Handler

	mu sync.Mutex // held while it is dead
}

// die cuts all connections, and starts the server anew, without its sessions.
func (w *web) die() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.server.Close()
	w.handler = w.again()
	w.start()
}

func (w *web) start() {
	addr := w.addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	var ln net.Listener
	var err error
	for range 50 {
		if ln, err = net.Listen("tcp", addr); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.addr = ln.Addr().String()
	server := &http.Server{Handler: w.handler}
	w.server = server
	go server.Serve(ln)
	w.t.Cleanup(func() { server.Close() })
}

// serveWeb serves a server over HTTP. The "forgetful" one is an updated one when
// it comes back.
func serveWeb(t *testing.T, kind, folder string, wrap func(http.Handler) http.Handler) *web {
	t.Helper()
	serve := func(kind string) http.Handler {
		s := deskServer(kind, folder)
		h := http.Handler(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
		if wrap != nil {
			h = wrap(h)
		}
		return h
	}
	w := &web{t: t, handler: serve(kind)}
	w.again = func() http.Handler {
		if kind == "forgetful" {
			return serve("updated")
		}
		return serve(kind)
	}
	w.start()
	webs.Store(folder, w)
	t.Cleanup(func() { webs.Delete(folder) })
	return w
}

func logger(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// stdioOptions are those of a server that is this test binary.
func stdioOptions(t *testing.T, kind, folder string) Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Command: []string{self}, Env: []string{serveEnv + "=" + kind, folderEnv + "=" + folder}, Logger: logger(t)}
}

// onBoth runs a test over both transports.
func onBoth(t *testing.T, kind string, test func(t *testing.T, o Options, folder string)) {
	t.Run("stdio", func(t *testing.T) {
		folder := t.TempDir()
		test(t, stdioOptions(t, kind, folder), folder)
	})
	t.Run("http", func(t *testing.T) {
		folder := t.TempDir()
		w := serveWeb(t, kind, folder, nil)
		test(t, Options{URL: "http://" + w.addr, Logger: logger(t)}, folder)
	})
}

// open opens a server, and closes it with the test.
func open(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func find(t *testing.T, s *Server, name string) tool.Tool {
	t.Helper()
	for _, tl := range s.Tools() {
		if tl.Definition().Name == name {
			return tl
		}
	}
	t.Fatalf("there is no tool %s", name)
	return nil
}

// call runs a tool, and returns what it shows or the error that the model is told.
func call(t *testing.T, s *Server, name, args string) (shown string, e *tool.Error, res *tool.Result) {
	t.Helper()
	return callCtx(t.Context(), t, s, name, args)
}

func callCtx(ctx context.Context, t *testing.T, s *Server, name, args string) (shown string, e *tool.Error, res *tool.Result) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	res, err := find(t, s, name).Run(ctx, &tool.Call{Run: "r1", ID: "c1", Args: []byte(args), Key: "k1", Attempt: 1})
	if err != nil {
		if !errors.As(err, &e) {
			t.Fatalf("%s: %v", name, err)
		}
		return "", e, nil
	}
	for _, p := range res.Parts {
		shown += "<" + string(p.Kind) + ">" + p.Text
	}
	return shown, nil, res
}
