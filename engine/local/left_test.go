package local_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rein.example/rein/engine/local"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/tool"
)

// A tool that ignores the end of its time again and again is not begun any more
// while sixteen of its executions are still going on; other tools are.
func TestLeftBehindIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		// Side by side, as one that fails again and again would end the run.
		var script []reply
		for n := 0; n < 17; n += 8 {
			var calls []string
			for i := n; i < min(n+8, 17); i++ {
				calls = append(calls, fmt.Sprintf("c%d stuck %d", i, i))
			}
			script = append(script, call(calls...))
		}
		script = append(script, call("d1 fine"), call("d2 stuck last"), say("done"))
		l := newLab(t, script...)
		var free atomic.Bool
		l.tool("fine", event.Read, func(context.Context, *tool.Call) (*tool.Result, error) {
			free.Store(true)
			close(release)
			time.Sleep(time.Second) // in which they end
			return tool.Text("fine"), nil
		})
		l.tool("stuck", event.Read, func(ctx context.Context, c *tool.Call) (*tool.Result, error) {
			if !free.Load() {
				<-release
			}
			return tool.Text("at last"), nil
		})
		e := l.engine()
		l.start(t.Context(), e)
		if n := strings.Count(l.journal(), " timeout abandoned "); n != 16 {
			t.Errorf("%d executions were left behind, not 16", n)
		}
		for _, want := range []string{"stuck(c16) error overloaded", "fine(d1) success", "stuck(d2) success"} {
			if !strings.Contains(l.journal(), want) {
				t.Errorf("want %s in\n%s", want, l.journal())
			}
		}
		if strings.Contains(l.journal(), "stuck(c16) attempt") {
			t.Error("an execution that never began is said to have begun")
		}
		synctest.Wait()
		if e.Left() != 0 {
			t.Errorf("%d are left", e.Left())
		}
	})
}

// An engine that can write no more gives a run up while a once call is at work
// and takes no notice. The run goes on in the same process: as long as that call
// is at work it is not begun again, even if the confirm tool says that it was not
// carried out so far.
func TestStillAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, call("c1 pay a"), call("c2 check a"), call("c3 pay a"), say("done"))
		disk := &mortal{Store: l.store}
		l.store = disk
		release := make(chan struct{})
		var begun atomic.Int64
		l.tool("pay", event.Once, func(context.Context, *tool.Call) (*tool.Result, error) {
			begun.Add(1)
			disk.dead.Store(true)
			<-release
			return tool.Text("paid"), nil
		})
		l.tools[0].(*fakeTool).def.Confirm = "check"
		l.tool("check", event.Read, func(context.Context, *tool.Call) (*tool.Result, error) {
			return &tool.Result{Parts: text("nothing yet"), Value: []byte(`{"done":false}`)}, nil
		})
		owner := journal.ThisProcess("one engine")
		e, err := local.New(local.Options{Store: disk, Owner: owner})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			synctest.Wait() // the call is at work
			cancel()
		}()
		if r, err := e.Start(ctx, l.ready()); err == nil {
			t.Fatalf("the store is dead, and the run says %+v", r)
		}
		disk.dead.Store(false)
		l.resume(t.Context(), e)
		if begun.Load() != 1 {
			t.Errorf("begun %d times\n%s", begun.Load(), l.journal())
		}
		for _, want := range []string{"check(c1~confirm) success", "pay(c1) unknown abandoned", "pay(c3) intercepted outcome_unknown"} {
			if !strings.Contains(l.journal(), want) {
				t.Errorf("want %s in\n%s", want, l.journal())
			}
		}
		close(release)
		synctest.Wait()
		_ = e.Close()
	})
}
