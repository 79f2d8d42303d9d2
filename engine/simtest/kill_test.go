package simtest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/engine"
	"rein.example/rein/engine/local"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/sqlite"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/tool"
)

// This file is the same proof with real processes: they carry a run out with the
// store on disk, are killed at any moment, and others carry it on.

// workshop names the folder of a run in the environment of the processes that work
// on it; they are this very test binary.
const workshop = "REIN_SIMTEST_WORKSHOP"

func TestMain(m *testing.M) {
	if dir := os.Getenv(workshop); dir != "" {
		os.Exit(work(dir))
	}
	os.Exit(m.Run())
}

// kills is how many processes are killed in the middle of their work.
func kills() int {
	if os.Getenv("REIN_LONG") != "" {
		return 220
	}
	return 12
}

// Wherever a process is killed, another one brings the run to its end; nothing that
// was durable is lost, and nothing that must be done once is done twice.
func TestKilledProcesses(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	d := roll(seed, "kills")
	begun := time.Now()
	w := newBench(t, 0)
	w.finish()
	whole := time.Since(begun)
	hit, runs := 0, 0
	for ; hit < kills() && runs < 20*kills(); runs++ {
		w := newBench(t, runs)
		for range 1 + d.IntN(4) {
			// How long a run takes changes with what else the machine does.
			began, ended := w.kill(time.Duration(d.Int64N(int64(whole))))
			switch {
			case ended:
				whole = max(whole-whole/8, time.Millisecond)
			case !began:
				whole += whole / 8
			default:
				hit++
			}
			if ended {
				break
			}
		}
		w.finish()
		if t.Failed() {
			return
		}
	}
	t.Logf("%d of the kills hit one of %d runs in the middle of its work", hit, runs)
	if hit < kills() {
		t.Errorf("only %d kills hit a run", hit)
	}
}

// bench is the folder of a run, as its test sees it.
type bench struct {
	t   *testing.T
	dir string
	// before are the events that were there when its last process died.
	before []event.Event
}

func newBench(t *testing.T, n int) *bench {
	w := &bench{t: t, dir: t.TempDir()}
	kind := "plain"
	if n%5 == 4 {
		kind = "confirmed" // takes longer: a "not done" has to be heard twice
	}
	if err := os.WriteFile(filepath.Join(w.dir, "kind"), []byte(kind), 0o644); err != nil {
		t.Fatal(err)
	}
	return w
}

// start starts a process that works on the run.
func (w *bench) start() (*exec.Cmd, io.Reader) {
	w.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), workshop+"="+w.dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return cmd, out
}

// kill starts a process and kills it after a while. It reports whether the run had
// begun by then, and whether it was over.
func (w *bench) kill(after time.Duration) (began, over bool) {
	w.t.Helper()
	cmd, out := w.start()
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	durable, ended := w.listen(out)
	timer.Stop()
	err := cmd.Wait()
	if err == nil && !ended { // one that has said so may still be killed before it is gone
		w.t.Fatalf("killed after %v: the process ends with %v", after, err)
	}
	if ended {
		return true, true
	}
	events := w.events()
	if int64(len(events)) < durable {
		w.t.Errorf("killed after %v: event %d was durable, and the journal has %d", after, durable, len(events))
	}
	w.keeps(events)
	w.before = events
	return len(events) > 0, false
}

// listen reads what a process says: which events are durable, and that it has ended.
func (w *bench) listen(out io.Reader) (durable int64, ended bool) {
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil { // what it was about to say when it died is not a line
			return durable, ended
		}
		var n int64
		if line == "finished\n" {
			ended = true
		} else if _, err := fmt.Sscanf(line, "durable %d\n", &n); err != nil {
			w.t.Errorf("the process says %q", line)
		}
		durable = max(durable, n)
	}
}

// keeps checks that the journal still begins with what it held before.
func (w *bench) keeps(events []event.Event) {
	w.t.Helper()
	for i := range w.before {
		if i >= len(events) || events[i].Hash != w.before[i].Hash {
			w.t.Fatalf("event %d is not what it was", i+1)
		}
	}
}

// events reads the journal.
func (w *bench) events() []event.Event {
	w.t.Helper()
	store, err := sqlite.Open(context.Background(), filepath.Join(w.dir, "rein.db"), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	defer store.Close()
	run, begun, err := present(store)
	if err != nil {
		w.t.Fatal(err)
	}
	if !begun {
		return nil
	}
	var all []event.Event
	for ev, err := range store.Read(context.Background(), run, 1) {
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, ev)
	}
	return all
}

// present returns the run that the folder is about, and whether it has begun: one
// whose process died between making the journal and its first event never does.
func present(store journal.Store) (run string, begun bool, err error) {
	for n := 1; ; n++ {
		run := fmt.Sprint("r", n)
		head, err := store.Head(context.Background(), run)
		var missing *journal.NotFoundError
		switch {
		case errors.As(err, &missing):
			return run, false, nil
		case err != nil || head.Seq > 0:
			return run, true, err
		}
	}
}

// finish has a last process bring the run to its end, and checks all of it.
func (w *bench) finish() {
	w.t.Helper()
	cmd, out := w.start()
	_, ended := w.listen(out)
	if err := cmd.Wait(); err != nil || !ended {
		w.t.Fatalf("the last process does not bring the run to its end: %v", err)
	}
	events := w.events()
	w.keeps(events)
	h := newHistory(1)
	l := &log{id: events[0].Run, doubled: map[int64]bool{}}
	for _, ev := range events {
		l.events = append(l.events, stored{Record: event.Record{Run: ev.Run, Seq: ev.Seq, Time: ev.Time, Type: ev.Data.Type(), Command: ev.Command,
			Prev: ev.Prev, Hash: ev.Hash, Data: ev.Data.AppendJSON(nil)}, from: ev.Data})
	}
	h.audit(l)
	for _, bad := range h.bad {
		w.t.Error(bad)
	}
	if d, ok := events[len(events)-1].Data.(*event.RunFinished); !ok || d.Reason != event.ReasonAnswered {
		w.t.Errorf("the run ends with %s", events[len(events)-1].Data.AppendJSON(nil))
	}
	for key, n := range done(w.dir) {
		if n > 1 {
			w.t.Errorf("%s was done %d times", key, n)
		}
	}
	if w.t.Failed() {
		for _, ev := range events {
			w.t.Logf("%d %s %s", ev.Seq, ev.Data.Type(), ev.Data.AppendJSON(nil))
		}
	}
}

// done returns how often each act was done: the world is a file, of which nothing
// that was written once is lost when a process dies.
func done(dir string) map[string]int {
	text, err := os.ReadFile(filepath.Join(dir, "world"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		panic(err)
	}
	acts := map[string]int{}
	for line := range strings.Lines(string(text)) {
		acts[strings.TrimSuffix(line, "\n")]++
	}
	return acts
}

// work is a process: it begins the run, or carries it on. It says on its output what
// is durable, and at last that it is finished.
func work(dir string) int {
	kind, err := os.ReadFile(filepath.Join(dir, "kind"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	store, err := sqlite.Open(context.Background(), filepath.Join(dir, "rein.db"), nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	e, err := local.New(local.Options{Store: &speaking{Store: store}, Owner: journal.ThisProcess("worker")})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	r, err := carryOn(e, store, dir, string(kind))
	if err != nil || r.Status != "finished" {
		fmt.Fprintf(os.Stderr, "%+v, %v\n", r, err)
		return 1
	}
	if err := errors.Join(e.Close(), store.Close()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("finished")
	return 0
}

// carryOn starts the run, or resumes it if it has begun.
func carryOn(e *local.Engine, store journal.Store, dir, kind string) (*engine.Result, error) {
	tools, err := tool.NewRegistry(machines(dir, kind)...)
	if err != nil {
		return nil, err
	}
	run, begun, err := present(store)
	if err != nil {
		return nil, err
	}
	job := &engine.Job{Run: run, Tools: tools, Model: func(string) (model.Client, error) { return scripted{}, nil },
		Spec: &event.Spec{Model: "fake/script", Tools: tools.Specs(), Permissions: []event.Permission{{Verdict: event.Allow, Match: "*"}}}}
	if !begun {
		job.Input = text("do it")
		return e.Start(context.Background(), job)
	}
	return e.Resume(context.Background(), job)
}

// speaking is a store that says what is durable.
type speaking struct {
	journal.Store
	last int64
}

func (s *speaking) Append(ctx context.Context, l *journal.Lease, b journal.Batch) (journal.Head, error) {
	h, err := s.Store.Append(ctx, l, b)
	if err != nil {
		return h, err
	}
	if s.last = h.Seq; !b.Async {
		fmt.Println("durable", s.last)
	}
	return h, nil
}

func (s *speaking) Sync(ctx context.Context, run string) error {
	err := s.Store.Sync(ctx, run)
	if err == nil {
		fmt.Println("durable", s.last)
	}
	return err
}

// machines are tools whose effects are lines in a file.
func machines(dir, kind string) []tool.Tool {
	act := func(name string, effect event.Effect, confirm string) tool.Tool {
		return &machine{tool.Definition{Name: name, Effect: effect, Confirm: confirm, Timeout: time.Second, Schema: object(idMember)}, func(c *tool.Call) *tool.Result {
			pass()
			line := name + " " + string(c.Args)
			if effect == event.Repeatable {
				line = name + " " + c.Key
			}
			if effect != event.Repeatable || done(dir)[line] == 0 {
				write(dir, line)
			}
			pass()
			return tool.Text("done")
		}}
	}
	look := &machine{tool.Definition{Name: "look", Effect: event.Read, Schema: object(idMember)}, func(*tool.Call) *tool.Result { pass(); return tool.Text("seen") }}
	check := &machine{tool.Definition{Name: "check", Effect: event.Read, Schema: object(idMember)}, func(c *tool.Call) *tool.Result {
		r := tool.Text("looked")
		r.Value = jsontext.Value(fmt.Sprintf(`{"done":%v}`, done(dir)["pay "+string(c.Args)] > 0))
		return r
	}}
	confirm := ""
	if kind == "confirmed" {
		confirm = "check"
	}
	return []tool.Tool{look, check, act("put", event.Repeatable, ""), act("pay", event.Once, confirm)}
}

// machine is a tool with a function.
type machine struct {
	def tool.Definition
	run func(c *tool.Call) *tool.Result
}

func (m *machine) Definition() *tool.Definition { return &m.def }

func (m *machine) Run(_ context.Context, c *tool.Call) (*tool.Result, error) { return m.run(c), nil }

// pass lets some time pass, in which a process can be killed.
func pass() { time.Sleep(time.Duration(rand.Int64N(int64(6 * time.Millisecond)))) }

// write adds a line to the world, in one piece.
func write(dir, line string) {
	f, err := os.OpenFile(filepath.Join(dir, "world"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if _, err := f.WriteString(line + "\n"); err != nil {
		panic(err)
	}
}

// scripted is a model that says the same whoever asks: what follows from how often
// it has spoken.
type scripted struct{}

func (scripted) Info() model.Info       { return model.Info{Provider: "fake", Model: "script"} }
func (scripted) Encoder() model.Encoder { return encoder{} }

// script is what it calls, step by step.
var script = [][]string{
	{"look 1", "look 2"}, {"pay 1"}, {"put 1", "put 2", "look 3"}, {"pay 2", "pay 3"}, {"pay 1"}, {"look 1", "put 1"}, {"pay 4", "look 4", "put 3"},
}

func (scripted) Call(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	pass()
	var r prompt
	if err := json.Unmarshal(bytes.Join(req.Body, nil), &r); err != nil {
		return nil, err
	}
	n := 0
	for i := range r.Messages {
		if r.Messages[i].Role == message.Assistant {
			n++
		}
	}
	out := &model.Reply{Message: message.Message{Role: message.Assistant}, Finish: event.FinishStop}
	if n >= len(script) {
		out.Message.Parts = text("it is done")
		return out, nil
	}
	out.Finish = event.FinishToolCalls
	for i, c := range script[n] {
		name, id, _ := strings.Cut(c, " ")
		out.Message.Parts = append(out.Message.Parts, message.Part{Kind: message.ToolCall, ID: fmt.Sprintf("call_%d", i), Name: name, Args: fmt.Sprintf(`{"id":%q}`, id)})
	}
	return out, nil
}
