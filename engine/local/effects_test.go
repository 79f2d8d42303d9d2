package local_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/engine/local"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

// What the model is told of a call, and in parentheses how often the call was
// executed and how often its effect took place; a repeatable tool recognises its
// idempotency key, a once tool would do everything again. The journal is a file,
// and a crash leaves in it what a dead process leaves.
//
// Long before the effect means that a server goes on with the request, and comes to
// it when the caller has given up or died, and has asked the confirm tool already.
//
// Whatever happens, the effect of a once call takes place once at most. The time is
// a test's own: nothing is waited for.
const effects = `
                                  | read                       | repeatable                 | once                                                       | once, with a confirm tool
success                           | success (1/0)              | success (1/1)              | success (1/1)                                              | success (1/1)
error                             | error refused (1/0)        | error refused (1/0)        | error refused (1/0)                                        | error refused (1/0)
busy, nothing was done            | success (2/0)              | success (2/1)              | success (2/1)                                              | success (2/1)
busy, who knows what was done     | success (2/0)              | success (2/1)              | error busy (1/1)                                           | error busy (1/1)
busy all the time                 | error busy (3/0)           | error busy (3/0)           | error busy (3/0)                                           | error busy (3/0)
connection lost before the effect | success (2/0)              | success (2/1)              | unknown connection_lost (1/0)                              | success (2/1)
connection lost after the effect  | success (2/0)              | success (2/1)              | unknown connection_lost (1/1)                              | success (1/1)
timeout before the effect         | success (2/0)              | success (2/1)              | unknown timeout (1/0)                                      | success (2/1)
timeout after the effect          | success (2/0)              | success (2/1)              | unknown timeout (1/1)                                      | success (1/1)
lost long before the effect       | success (2/0)              | success (2/1)              | unknown connection_lost (1/1)                              | success (1/1)
timeout long before the effect    | success (2/0)              | success (2/1)              | unknown timeout (1/1)                                      | success (1/1)
crash long before the effect      | success (2/0)              | success (2/1)              | unknown outcome_unknown (1/1)                              | success (1/1)
panic before the effect           | error panic (1/0)          | unknown panic (1/0)        | unknown panic (1/0)                                        | success (2/1)
panic after the effect            | error panic (1/0)          | unknown panic (1/1)        | unknown panic (1/1)                                        | success (1/1)
crash before the start is durable | success (2/0)              | success (1/1)              | success (1/1)                                              | success (1/1)
crash before the effect           | success (2/0)              | success (2/1)              | unknown outcome_unknown (1/0)                              | success (2/1)
crash after the effect            | success (2/0)              | success (2/1)              | unknown outcome_unknown (1/1)                              | success (1/1)
the same id again                 | success, intercepted (1/0) | success, intercepted (1/1) | success, intercepted (1/1)                                 | success, intercepted (1/1)
the same call again               | success, intercepted (1/0) | success, intercepted (1/1) | success, intercepted (1/1)                                 | success, intercepted (1/1)
the same call in one reply        | success, intercepted (1/0) | success, intercepted (1/1) | success, intercepted (1/1)                                 | success, intercepted (1/1)
the same call after another write | success, success (2/0)     | success, success (2/2)     | success, intercepted (1/1)                                 | success, intercepted (1/1)
the same call after a crash       | success, intercepted (2/0) | success, intercepted (2/1) | unknown outcome_unknown, intercepted outcome_unknown (1/1) | success, intercepted (1/1)
`

func TestEffects(t *testing.T) {
	if journal.ThisProcess("").Host == "" {
		t.Skip("this system does not tell which process is dead, so that a crash's lease must expire first")
	}
	rows := strings.Split(strings.TrimSpace(effects), "\n")
	classes := strings.Split(rows[0], "|")[1:]
	var mu sync.Mutex
	for _, row := range rows[1:] {
		cells := strings.Split(row, "|")
		name := strings.TrimSpace(cells[0])
		for i, want := range cells[1:] {
			class, want := strings.TrimSpace(classes[i]), strings.TrimSpace(want)
			t.Run(name+"/"+class, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, name, class)
					got := w.play()
					mu.Lock()
					defer mu.Unlock()
					if got != want {
						t.Errorf("%s, of a call that is %s: %s, want %s\n%s", name, class, got, want, w.journal())
					}
					if strings.HasPrefix(class, "once") && w.done > 1 {
						t.Errorf("the effect took place %d times", w.done)
					}
				})
			})
		}
	}
}

// world is a lab on disk with a tool that acts, another that writes, and one that
// says whether the first has acted.
type world struct {
	*lab
	what  string
	class event.Effect
	disk  *mortal
	path  string

	mu   sync.Mutex
	runs int
	done int
	keys map[string]bool
}

func newWorld(t *testing.T, what, class string) *world {
	w := &world{lab: newLab(t), what: what, keys: map[string]bool{}}
	effect, confirmed := strings.CutSuffix(class, ", with a confirm tool")
	w.class = event.Effect(effect)
	switch what {
	case "the same id again":
		w.model.replies = []reply{call("c1 act a"), call("c1 act a"), say("done")}
	case "the same call again":
		w.model.replies = []reply{call("c1 act a"), call("c2 act a"), say("done")}
	case "the same call in one reply":
		w.model.replies = []reply{call("c1 act a", "c2 act a"), say("done")}
	case "the same call after another write":
		w.model.replies = []reply{call("c1 act a"), call("c2 other a"), call("c3 act a"), say("done")}
	case "the same call after a crash":
		w.model.replies = []reply{call("c1 act a"), call("c2 act a"), say("done")}
	default:
		w.model.replies = []reply{call("c1 act a"), say("done")}
	}
	w.tool("act", w.class, w.act).tool("other", event.Repeatable, returns("written"))
	act := &w.tools[0].(*fakeTool).def
	act.Timeout = 300 * time.Millisecond
	if !strings.HasPrefix(what, "timeout") {
		act.Timeout = time.Minute
	}
	if confirmed {
		act.Confirm = "check"
		w.tool("check", event.Read, w.check)
	}
	w.path = filepath.Join(t.TempDir(), "rein.db")
	w.disk = &mortal{Store: onDisk(t, w.path), before: what == "crash before the start is durable"}
	w.store = w.disk
	return w
}

// play carries the run out, after a crash in a new process, and returns what
// came of it.
func (w *world) play() string {
	w.t.Helper()
	dying := journal.ThisProcess("dying")
	dying.Start = "1" // no process that began then lives
	e, err := local.New(local.Options{Store: w.disk, Owner: dying, Logger: slog.New(slog.NewTextHandler(w.log, nil))})
	if err != nil {
		w.t.Fatal(err)
	}
	defer e.Close() // of a dead process nothing comes any more
	switch r, err := e.Start(w.t.Context(), w.ready()); {
	case err == nil:
		if !r.OK {
			w.t.Errorf("result %+v", r)
		}
	case w.disk.dead.Load():
		w.store = onDisk(w.t, w.path)
		if r := w.resume(w.t.Context(), w.engine()); !r.OK {
			w.t.Errorf("result %+v", r)
		}
	default:
		w.t.Fatal(err)
	}
	w.checkOnce()
	time.Sleep(2 * late)
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprintf("%s (%d/%d)", w.told(), w.runs, w.done)
}

// told says what the model was told of the calls of act, and sees to it that it
// was: the last request holds these results, and nothing of what came between.
func (w *world) told() string {
	w.t.Helper()
	var calls []string
	last := map[string]*event.ToolFinished{}
	for _, ev := range w.events() {
		if d, ok := ev.Data.(*event.ToolFinished); ok && d.Tool == "act" {
			if last[d.Call] == nil {
				calls = append(calls, d.Call)
			}
			last[d.Call] = d
		}
	}
	sent := w.model.sent()
	body := string(sent[len(sent)-1])
	if strings.Contains(body, "confirm") && strings.Contains(body, `"tool_name":"check"`) {
		w.t.Errorf("the model is shown a call that it has not made: %s", body)
	}
	var out []string
	for _, c := range calls {
		d := last[c]
		m := message.Message{Role: message.Tool, ToolCallID: c, ToolName: "act", Parts: d.Parts,
			Failed: d.Status != event.StatusSuccess && d.Status != event.StatusIntercepted}
		if !strings.Contains(body, string(m.AppendJSON(nil))) {
			w.t.Errorf("the model is not told of %s: %s\nbut %s", c, m.AppendJSON(nil), body)
		}
		out = append(out, strings.TrimSpace(string(d.Status)+" "+d.ErrorType))
	}
	return strings.Join(out, ", ")
}

// effect takes place.
func (w *world) effect(c *tool.Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.class == event.Read || w.class == event.Repeatable && w.keys[c.Key] {
		return
	}
	w.done++
	w.keys[c.Key] = true
}

// act is the tool. Its first execution meets what the world is about.
func (w *world) act(ctx context.Context, c *tool.Call) (*tool.Result, error) {
	w.mu.Lock()
	w.runs++
	first := w.runs == 1
	w.mu.Unlock()
	busy := &tool.Error{Type: "busy", Message: "come back later", Retryable: true, NoEffect: true}
	what, when, _ := strings.Cut(w.what, " ")
	switch {
	case w.what == "error":
		return nil, &tool.Error{Type: "refused", Message: "not today"}
	case w.what == "busy all the time":
		return nil, busy
	case w.what == "busy, nothing was done" && first:
		return nil, busy
	case w.what == "busy, who knows what was done" && first:
		w.effect(c)
		return nil, &tool.Error{Type: "busy", Message: "come back later", Retryable: true}
	}
	if first && strings.HasSuffix(when, "before the effect") {
		if strings.HasPrefix(when, "long") {
			go func() {
				time.Sleep(late)
				w.effect(c)
			}()
		}
		return nil, w.meet(ctx, what)
	}
	w.effect(c)
	if first && (strings.HasSuffix(when, "after the effect") || w.what == "the same call after a crash") {
		if w.what == "the same call after a crash" {
			what = "crash"
		}
		return nil, w.meet(ctx, what)
	}
	return tool.Text("done"), nil
}

// late is after how long a server carries out what nobody waits for any more.
const late = 3 * time.Second

// meet lets something happen.
func (w *world) meet(ctx context.Context, what string) error {
	switch what {
	case "timeout":
		<-ctx.Done()
		return ctx.Err()
	case "panic":
		panic("a bug")
	case "crash":
		w.disk.dead.Store(true)
		return errors.New("nobody hears this")
	case "connection", "lost":
		return &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	}
	panic("no such event: " + what)
}

// check is the confirm tool.
func (w *world) check(context.Context, *tool.Call) (*tool.Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return &tool.Result{Parts: text("looked"), Value: jsontext.Value(fmt.Sprintf(`{"done":%v}`, w.done > 0))}, nil
}

// mortal is a store as a process sees it that dies: nothing is written any more.
type mortal struct {
	journal.Store
	// dead: the process has died.
	dead atomic.Bool
	// before: it dies when it is about to write that the tool act was started.
	before bool
}

var errDead = errors.New("the process is dead")

func (s *mortal) Append(ctx context.Context, l *journal.Lease, b journal.Batch) (journal.Head, error) {
	for _, e := range b.Entries {
		if d, ok := e.Data.(*event.ToolStarted); ok && d.Tool == "act" && s.before {
			s.dead.Store(true)
		}
	}
	if s.dead.Load() {
		return journal.Head{}, errDead
	}
	return s.Store.Append(ctx, l, b)
}

func (s *mortal) Sync(ctx context.Context, run string) error {
	if s.dead.Load() {
		return errDead
	}
	return s.Store.Sync(ctx, run)
}

func (s *mortal) Park(ctx context.Context, l *journal.Lease, run string) error {
	if s.dead.Load() {
		return errDead
	}
	return s.Store.Park(ctx, l, run)
}

func (s *mortal) Leave(ctx context.Context, l *journal.Lease) error {
	if s.dead.Load() {
		return errDead
	}
	return s.Store.Leave(ctx, l)
}
