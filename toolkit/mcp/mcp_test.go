package mcp

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

func TestTools(t *testing.T) {
	onBoth(t, "desk", func(t *testing.T, o Options, _ string) {
		o.Name, o.Timeout, o.Group = "desk", 5*time.Second, "orders"
		s := open(t, o)
		got := map[string]event.Effect{}
		for _, tl := range s.Tools() {
			d := tl.Definition()
			got[d.Name] = d.Effect
			if d.Timeout != 5*time.Second || d.Group != "orders" || len(d.Pin) != 64 {
				t.Errorf("%s: timeout %v, group %q, pin %q", d.Name, d.Timeout, d.Group, d.Pin)
			}
		}
		for name, want := range map[string]event.Effect{
			"desk_read_order":  event.Read,
			"desk_set_note":    event.Repeatable,
			"desk_place_order": event.Once, // says nothing
			"desk_wipe":        event.Once, // contradicts itself
		} {
			if got[name] != want {
				t.Errorf("%s is %q, want %q", name, got[name], want)
			}
		}
		d := find(t, s, "desk_read_order").Definition()
		if want := "Reads one order.\nReturns: JSON with the members id (integer); items (array): what was ordered."; d.Description() != want {
			t.Errorf("description:\n%s\nwant\n%s", d.Description(), want)
		}
		if d := find(t, s, "desk_wipe").Definition(); !strings.HasPrefix(d.Description(), "Wipe the desk\n") {
			t.Errorf("without a description the title stands for it, not %q", d.Description())
		}
		if len(d.Output) == 0 {
			t.Error("the output schema is lost")
		}
	})
}

func TestEveryPageIsRead(t *testing.T) {
	onBoth(t, "paged", func(t *testing.T, o Options, folder string) {
		if n, want := len(open(t, o).Tools()), 12; n != want {
			t.Errorf("%d tools, want %d", n, want)
		}
	})
}

func TestResults(t *testing.T) {
	onBoth(t, "desk", func(t *testing.T, o Options, _ string) {
		s := open(t, o)
		shown, e, res := call(t, s, "read_order", `{"id":1}`)
		if want := `{"id":12345678901234567890,"items":["tea"]}`; e != nil || shown != "<text>"+want || string(res.Value) != want {
			t.Errorf("a JSON value that is also the text stands there once, as it was written: %q %s %v", shown, res.Value, e)
		}
		_, _, res = call(t, s, "media", `{}`)
		var got []string
		for _, p := range res.Parts {
			if p.Kind == message.Image {
				got = append(got, p.MediaType+" "+p.URL)
			} else {
				got = append(got, p.Text)
			}
		}
		want := []string{
			"see:",
			"image/png data:image/png;base64,UE5H",
			"[rein: an image (image/tiff, 4 bytes) is not shown: only image/png, image/jpeg, image/gif, image/webp up to 5242880 bytes can be]",
			"[rein: audio (audio/wav, 4 bytes) is not shown]",
			"resource desk://orders/1; name: order 1; type: text/plain; 12 bytes",
			"resource desk://note:\ncall Ann",
			"resource desk://zip:",
			"[rein: 2 bytes of binary data (application/zip) are not shown]",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		_, e, _ = call(t, s, "fail", `{}`)
		if e == nil || e.Type != tool.TypeError || e.Message != "no such customer: 7" || e.Retryable || e.NoEffect || e.Unknown {
			t.Errorf("a failed call: %+v", e)
		}
		_, e, _ = call(t, s, "refuse", `{}`)
		if e == nil || e.Type != tool.TypeError || e.Message != "out of paper" || !e.Unknown || e.NoEffect {
			t.Errorf("an error of the protocol may come from the midst of the work: %+v", e)
		}
	})
}

func TestKeyTravels(t *testing.T) {
	onBoth(t, "desk", func(t *testing.T, o Options, folder string) {
		s := open(t, o)
		if shown, e, _ := call(t, s, "place_order", `{}`); e != nil || shown != "<text>placed" {
			t.Fatal(shown, e)
		}
		if got := effects(folder); !slices.Equal(got, []string{"placed k1"}) {
			t.Errorf("the server saw %q", got)
		}
	})
}

// The server dies in the midst of a call: of a write nobody knows what became, a
// read may be done again, and the next call finds the server anew.
func TestServerDiesInMidCall(t *testing.T) {
	onBoth(t, "desk", func(t *testing.T, o Options, folder string) {
		o.Confirm = map[string]string{"die": "read_order"}
		s := open(t, o)
		_, e, _ := call(t, s, "die", `{}`)
		if e == nil || e.Type != tool.TypeConnection || !e.Unknown || e.Retryable || !strings.Contains(e.Hint, "call read_order") {
			t.Fatalf("a write: %+v", e)
		}
		if e.Ended != (o.URL == "") {
			t.Errorf("that a process which was started here is gone is known, and only that: %+v", e)
		}
		if got := effects(folder); !slices.Equal(got, []string{"placed"}) {
			t.Errorf("it was sent once, and the server has done %q", got)
		}
		if err := os.Remove(filepath.Join(folder, "effects")); err != nil {
			t.Fatal(err)
		}
		running(folder)
		_, e, _ = call(t, s, "look", `{}`)
		if e == nil || e.Type != tool.TypeConnection || e.Unknown || !e.Retryable {
			t.Fatalf("a read: %+v", e)
		}
		running(folder)
		if shown, e, _ := call(t, s, "look", `{}`); e != nil || shown != "<text>a desk" {
			t.Errorf("the read again: %q %v", shown, e)
		}
	})
}

func TestProgressAndCancellation(t *testing.T) {
	onBoth(t, "desk", func(t *testing.T, o Options, folder string) {
		s := open(t, o)
		ctx, cancel := context.WithCancel(t.Context())
		waiting := func(n int) {
			for len(effects(folder)) < n {
				time.Sleep(time.Millisecond)
			}
		}
		said := make(chan string, 1)
		go func() {
			if got := <-said; got != "2 of 5: counting" {
				t.Errorf("the call said that it is at %q", got)
			}
			cancel()
		}()
		_, err := find(t, s, "wait").Run(ctx, &tool.Call{ID: "c1", Args: []byte("{}"), Attempt: 1, Progress: func(text string) { said <- text }})
		if err != context.Canceled {
			t.Errorf("got %v, want the context's error", err)
		}
		waiting(2)
		if got := effects(folder); !slices.Equal(got, []string{"waiting", "cancelled"}) {
			t.Errorf("the server did %q: it was not told", got)
		}
		// Others go on.
		if _, e, _ := call(t, s, "read_order", `{"id":1}`); e != nil {
			t.Error(e)
		}
	})
}

func TestChangedDefinition(t *testing.T) {
	onBoth(t, "desk", func(t *testing.T, o Options, folder string) {
		s := open(t, o)
		call(t, s, "promote", `{}`)
		for !s.cur.doubt.Load() { // the server tells of it when it likes
			time.Sleep(time.Millisecond)
		}
		_, e, _ := call(t, s, "place_order", `{}`)
		if e == nil || e.Type != typeChanged || !e.NoEffect || e.Retryable || !strings.Contains(e.Message, "another definition") {
			t.Fatalf("a changed tool: %+v", e)
		}
		if slices.Contains(effects(folder), "paid") {
			t.Error("the new tool was called under the old definition")
		}
		if _, e, _ = call(t, s, "set_note", `{}`); e == nil || e.Type != typeChanged || !strings.Contains(e.Message, "no longer offers") {
			t.Errorf("a tool that is gone: %+v", e)
		}
		if _, e, _ := call(t, s, "read_order", `{"id":1}`); e != nil {
			t.Errorf("a tool that is as it was: %v", e)
		}
	})
}

// A server that comes back as another one is seen before anything is called.
func TestServerComesBackChanged(t *testing.T) {
	folder := t.TempDir()
	w := serveWeb(t, "forgetful", folder, nil)
	s := open(t, Options{URL: "http://" + w.addr, Logger: logger(t)})
	webOf(folder).die()
	_, e, _ := call(t, s, "read_order", `{"id":1}`)
	for e != nil && e.Type == tool.TypeConnection { // sent over a connection that was just cut
		_, e, _ = call(t, s, "read_order", `{"id":1}`)
	}
	if e == nil || e.Type != typeChanged {
		t.Errorf("%+v", e)
	}
}

func TestBannersAreNoMessages(t *testing.T) {
	s := open(t, stdioOptions(t, "banner", t.TempDir()))
	if _, e, _ := call(t, s, "read_order", `{"id":1}`); e != nil {
		t.Error(e)
	}
}

func TestServersThatDoNotStart(t *testing.T) {
	secrets := event.NewSecrets()
	if err := secrets.Hide("TOKEN", "token-12345678"); err != nil {
		t.Fatal(err)
	}
	broken := stdioOptions(t, "broken", "")
	broken.Secrets = secrets
	desk := stdioOptions(t, "desk", "")
	with := func(change func(*Options)) Options {
		o := desk
		change(&o)
		return o
	}
	gone := serveWeb(t, "desk", t.TempDir(), nil)
	gone.server.Close()
	closed := serveWeb(t, "desk", t.TempDir(), func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "who are you?", http.StatusUnauthorized) })
	})
	moved := serveWeb(t, "desk", t.TempDir(), func(http.Handler) http.Handler {
		return http.RedirectHandler("http://elsewhere.example/mcp?token=x", http.StatusTemporaryRedirect)
	})
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"neither command nor URL", Options{}, "set one of the two"},
		{"both", Options{Command: []string{"x"}, URL: "http://x.example"}, "set one of the two"},
		{"a URL with a user", Options{URL: "http://ann:pw@x.example/"}, "without a user"},
		{"no such program", Options{Command: []string{"no-such-program-here"}}, "could not be started: exec: \"no-such-program-here\""},
		{"it ends at once", broken, "it wrote to stderr: cannot open the key ring: {{secret:TOKEN}}"},
		{"nobody listens", Options{URL: "http://" + gone.addr}, "connection refused"},
		{"no credentials", Options{URL: "http://" + closed.addr}, "Unauthorized"},
		{"it has moved", Options{URL: "http://" + moved.addr}, "redirects to http://elsewhere.example/mcp: "},
		{"allow: a slip", with(func(o *Options) { o.Allow = []string{"read_oder"} }), `allow: it has no tool "read_oder"; did you mean read_order?`},
		{"allow: nothing matches", with(func(o *Options) { o.Allow = []string{"x_*"} }), `allow: it has no tool "x_*"`},
		{"effects: a slip", with(func(o *Options) { o.Effects = map[string]event.Effect{"reed": event.Read} }), `effects: it has no tool "reed"`},
		{"alias: a clash", with(func(o *Options) { o.Alias = map[string]string{"wipe": "Read-Order"} }), `"read_order" and "wipe" would both be called`},
		{"alias: no name", with(func(o *Options) { o.Alias = map[string]string{"wipe": "a b"}; o.Allow = []string{"wipe"} }), `its tool wipe cannot be used: tool name "a b"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Open(t.Context(), c.o)
			if err == nil {
				s.Close()
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error does not say %q:\n%v", c.want, err)
			}
			if strings.Contains(err.Error(), "token-12345678") {
				t.Errorf("the error tells a secret: %v", err)
			}
		})
	}
}

// What is waited for has an end even if the server never answers.
func TestOpenEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := Open(ctx, stdioOptions(t, "silent", ""))
	if err == nil || !strings.Contains(err.Error(), "deadline exceeded") {
		t.Error(err)
	}
}

func TestSelectionAndNames(t *testing.T) {
	o := stdioOptions(t, "desk", t.TempDir())
	o.Name = "d"
	o.Allow = []string{"read_*", "place_order", "w*"}
	o.Effects = map[string]event.Effect{"*": event.Repeatable, "w*": event.Once, "wait": event.Read}
	o.Alias = map[string]string{"place_order": "order"}
	o.Confirm = map[string]string{"place_order": "read_order", "wipe": "look_around"}
	s := open(t, o)
	var got []string
	for _, tl := range s.Tools() {
		d := tl.Definition()
		got = append(got, fmt.Sprintf("%s %s %s", d.Name, d.Effect, d.Confirm))
	}
	want := []string{
		"d_read_order repeatable ",
		"d_wait read ",
		"d_wipe once look_around", // a tool of another source
		"order repeatable d_read_order",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestNothingIsSentWithoutConnection(t *testing.T) {
	folder := t.TempDir()
	w := serveWeb(t, "desk", folder, nil)
	s := open(t, Options{URL: "http://" + w.addr, Logger: logger(t)})
	w.server.Close()
	call(t, s, "read_order", `{"id":1}`) // may find that the connection it is sent over is no more
	for i := range 3 {
		_, e, _ := call(t, s, "place_order", `{}`)
		if e == nil || e.Type != tool.TypeConnection || !e.NoEffect || e.Unknown || !e.Retryable {
			t.Fatalf("%d: %+v", i, e)
		}
		if i == 2 && e.RetryAfter <= 0 {
			t.Error("it does not say when to try again")
		}
	}
	w.start()
	s.mu.Lock()
	s.retry = time.Time{} // do not wait for it
	s.mu.Unlock()
	if shown, e, _ := call(t, s, "place_order", `{}`); e != nil || shown != "<text>placed" {
		t.Errorf("%q %v", shown, e)
	}
	if got := effects(folder); len(got) != 1 {
		t.Errorf("placed %d times", len(got))
	}
}

// A connection that is given up is closed when the calls that are under way over it
// have been answered.
func TestCallsOutliveTheirConnection(t *testing.T) {
	folder := t.TempDir()
	s := open(t, stdioOptions(t, "moody", folder))
	held := make(chan string, 1)
	go func() {
		shown, e, _ := call(t, s, "hold", `{}`)
		held <- fmt.Sprint(shown, e)
	}()
	for len(effects(folder)) == 0 {
		time.Sleep(time.Millisecond)
	}
	first := s.cur
	first.doubt.Store(true) // its tools are listed again, which it refuses
	if _, e, _ := call(t, s, "read_order", `{"id":1}`); e != nil {
		t.Errorf("the next call: %v", e)
	}
	if s.cur == first {
		t.Error("it went over the old connection")
	}
	if err := os.WriteFile(filepath.Join(folder, "release"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := <-held; got != "<text>released<nil>" {
		t.Errorf("the call that was under way: %s", got)
	}
	<-first.proc.gone
}

func TestPauseGrows(t *testing.T) {
	for n, want := range map[int]time.Duration{0: 500 * time.Millisecond, 1: time.Second, 5: 16 * time.Second, 6: 30 * time.Second, 100: 30 * time.Second} {
		if got := pause(n); got != want {
			t.Errorf("after %d failures more %v, want %v", n, got, want)
		}
	}
}

func TestCloseEndsCallsAndProcess(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"desk", "deaf"} {
		t.Run(kind, func(t *testing.T) {
			folder := t.TempDir()
			s := open(t, stdioOptions(t, kind, folder))
			done := make(chan error, 1)
			go func() {
				_, err := find(t, s, "wait").Run(context.Background(), &tool.Call{ID: "c1", Args: []byte("{}"), Attempt: 1})
				done <- err
			}()
			for len(effects(folder)) == 0 {
				time.Sleep(time.Millisecond)
			}
			proc := s.cur.proc
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if e, ok := (<-done).(*tool.Error); !ok || e.Type != tool.TypeConnection {
				t.Errorf("the call ended with %v", e)
			}
			<-proc.exited
			if _, e, _ := call(t, s, "read_order", `{"id":1}`); e == nil || !e.NoEffect {
				t.Errorf("a call after Close: %+v", e)
			}
		})
	}
}

// Only what the options name reaches the server's environment.
func TestEnvironment(t *testing.T) {
	t.Setenv("REIN_TEST_SECRET", "hush-hush-hush")
	env := environment()
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		if !slices.Contains(inherited, name) {
			t.Errorf("a server gets %s", name)
		}
	}
	if len(env) == 0 {
		t.Error("a server gets no PATH")
	}
}

func TestHeaders(t *testing.T) {
	seen := make(chan string, 100)
	w := serveWeb(t, "desk", t.TempDir(), func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case seen <- r.Header.Get("Authorization"):
			default:
			}
			next.ServeHTTP(w, r)
		})
	})
	open(t, Options{URL: "http://" + w.addr, Header: http.Header{"Authorization": {"Bearer abc"}}})
	for range len(seen) {
		if got := <-seen; got != "Bearer abc" {
			t.Errorf("a request had %q", got)
		}
	}
}

// Statuses that turn a request away unread prove that nothing happened; others
// prove nothing.
func TestHTTPStatuses(t *testing.T) {
	for _, c := range []struct {
		status    int
		kind      string
		noEffect  bool
		retryable bool
		unknown   bool
	}{
		{http.StatusUnauthorized, typeUnauthorized, true, false, false},
		{http.StatusForbidden, typeUnauthorized, true, false, false},
		{http.StatusRequestEntityTooLarge, tool.TypeError, true, false, false},
		{http.StatusTooManyRequests, "rate_limited", true, true, false},
		{http.StatusInternalServerError, tool.TypeConnection, false, false, true},
		{http.StatusServiceUnavailable, tool.TypeConnection, false, false, true},
		{http.StatusGatewayTimeout, tool.TypeConnection, false, false, true},
	} {
		t.Run(fmt.Sprint(c.status), func(t *testing.T) {
			var calls atomic.Bool
			w := serveWeb(t, "desk", t.TempDir(), func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if calls.Load() && r.Method == http.MethodPost {
						w.Header().Set("Retry-After", "7")
						http.Error(w, "no", c.status)
						return
					}
					next.ServeHTTP(w, r)
				})
			})
			s := open(t, Options{URL: "http://" + w.addr, Logger: logger(t)})
			calls.Store(true)
			_, e, _ := call(t, s, "place_order", `{}`)
			if e == nil || e.Type != c.kind || e.NoEffect != c.noEffect || e.Retryable != c.retryable || e.Unknown != c.unknown {
				t.Errorf("%+v", e)
			}
			if c.retryable && e.RetryAfter != 7*time.Second {
				t.Errorf("to be tried again after %v", e.RetryAfter)
			}
		})
	}
}

// A server that answers the request for its own messages only when it has one is
// taken to have none.
func TestStreamThatDoesNotBegin(t *testing.T) {
	t.Parallel()
	held := make(chan struct{})
	w := serveWeb(t, "desk", t.TempDir(), func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				select {
				case <-held:
				case <-r.Context().Done():
				}
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	defer close(held)
	s := open(t, Options{URL: "http://" + w.addr, Logger: logger(t)})
	if _, e, _ := call(t, s, "read_order", `{"id":1}`); e != nil {
		t.Error(e)
	}
}

// A list of tools without end is not read for ever.
func TestEndlessList(t *testing.T) {
	for name, cursor := range map[string]func(string) string{
		"the same cursor":    func(string) string { return "again" },
		"always another one": func(c string) string { return c + "x" },
	} {
		t.Run(name, func(t *testing.T) {
			s := deskServer("desk", t.TempDir())
			s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
				return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
					if p, ok := r.GetParams().(*sdk.ListToolsParams); ok {
						return &sdk.ListToolsResult{Tools: []*sdk.Tool{}, NextCursor: cursor(p.Cursor)}, nil
					}
					return next(ctx, method, r)
				}
			})
			w := &web{t: t, handler: sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)}
			w.start()
			if _, err := Open(t.Context(), Options{URL: "http://" + w.addr}); err == nil || !strings.Contains(err.Error(), "does not end") {
				t.Error(err)
			}
		})
	}
}
