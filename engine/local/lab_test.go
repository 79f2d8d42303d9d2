package local_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/engine"
	"rein.example/rein/engine/local"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/memory"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/tool"
)

// lab is a run with everything around it faked, except the machine.
type lab struct {
	t       testing.TB
	store   journal.Store
	model   *fakeModel
	tools   []tool.Tool
	secrets *event.Secrets
	log     *logs
	spec    event.Spec
	job     engine.Job
	below   map[string]*lab // those of its tools that are agents; looked up only
}

// newLab returns a lab whose model gives the replies, one after the other: the
// n-th to a request with n-1 assistant messages.
func newLab(t testing.TB, replies ...reply) *lab {
	l := &lab{t: t, store: memory.New(), model: &fakeModel{replies: replies}, log: &logs{}}
	l.spec = event.Spec{Model: "fake/m", System: []event.Block{{Name: "contract", Text: "Work."}},
		Permissions: []event.Permission{{Verdict: event.Allow, Match: "*"}}}
	l.job = engine.Job{Run: "r1", Input: text("go"), Model: func(string) (model.Client, error) { return l.model, nil }}
	return l
}

func text(s string) []message.Part { return []message.Part{{Kind: message.Text, Text: s}} }

// tool adds a tool that does run.
func (l *lab) tool(name string, effect event.Effect, run func(ctx context.Context, c *tool.Call) (*tool.Result, error)) *lab {
	l.tools = append(l.tools, &fakeTool{tool.Definition{Name: name, Effect: effect, Timeout: 10 * time.Second,
		Schema: jsontext.Value(`{"type":"object","properties":{"x":{"type":"string"}}}`)}, run})
	return l
}

// engine returns a new engine on the lab's store, closed with the test.
func (l *lab) engine() *local.Engine {
	l.t.Helper()
	e, err := local.New(local.Options{Store: l.store, Secrets: l.secrets, Logger: slog.New(slog.NewTextHandler(l.log, nil))})
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = e.Close() })
	return e
}

// ready completes the job. The lab stays as it is: several runs may be made ready at
// once.
func (l *lab) ready() *engine.Job {
	l.t.Helper()
	r, err := tool.NewRegistry(l.tools...)
	if err != nil {
		l.t.Fatal(err)
	}
	job, spec := l.job, l.spec
	spec.Tools = r.Specs()
	job.Tools, job.Spec = r, &spec
	return &job
}

// start carries the run out and fails the test on an error.
func (l *lab) start(ctx context.Context, e *local.Engine) *engine.Result {
	l.t.Helper()
	r, err := e.Start(ctx, l.ready())
	if err != nil {
		l.t.Fatalf("Start: %v\n%s", err, l.journal())
	}
	return r
}

// resume carries the run on, without new input.
func (l *lab) resume(ctx context.Context, e *local.Engine) *engine.Result {
	l.t.Helper()
	job := l.ready()
	job.Input = nil
	r, err := e.Resume(ctx, job)
	if err != nil {
		l.t.Fatalf("Resume: %v\n%s", err, l.journal())
	}
	return r
}

func (l *lab) events() []event.Event {
	l.t.Helper()
	var all []event.Event
	for ev, err := range l.store.Read(context.Background(), l.job.Run, 1) {
		if err != nil {
			l.t.Fatal(err)
		}
		all = append(all, ev)
	}
	return all
}

// journal returns the run's journal, a line for each event.
func (l *lab) journal() string {
	var b strings.Builder
	for _, ev := range l.events() {
		fmt.Fprintf(&b, "%d %s\n", ev.Seq, brief(&ev))
	}
	return b.String()
}

// post appends an input or an answer as another process would.
func (l *lab) post(d event.Data) {
	l.t.Helper()
	if _, err := l.store.Post(context.Background(), l.job.Run, journal.Entry{Time: time.Now().UnixMilli(), Data: d}); err != nil {
		l.t.Error(err)
	}
}

// brief says the gist of an event.
func brief(ev *event.Event) string {
	s := string(ev.Data.Type())
	if ev.Command != "" {
		s += " [" + ev.Command + "]"
	}
	switch d := ev.Data.(type) {
	case *event.InputReceived:
		s += " " + string(d.Kind) + " " + plain(d.Parts)
	case *event.ModelCalled:
		s += fmt.Sprintf(" %s attempt %d, kept %d, added %d", d.ID, d.Attempt, d.Kept, d.Added)
	case *event.ModelAnswered:
		s += fmt.Sprintf(" %q %d calls", d.Message.PlainText(), d.Message.Calls())
	case *event.ModelFailed:
		s += " " + string(d.Class) + " " + d.Code + " " + d.Message
	case *event.CallJudged:
		s += " " + d.Call + " " + string(d.Verdict)
	case *event.ToolStarted:
		s += fmt.Sprintf(" %s %s(%s) attempt %d", d.ID, d.Tool, d.Call, d.Attempt)
	case *event.ToolFinished:
		s += fmt.Sprintf(" %s(%s) %s %s %s", d.Tool, d.Call, d.Status, d.ErrorType, plain(d.Parts))
	case *event.ApprovalAsked:
		s += " " + d.Call
	case *event.ApprovalGiven:
		s += " " + d.Call + " " + string(d.Decision)
	case *event.RunPaused:
		s += " " + string(d.Cause)
	case *event.RunFinished:
		s += fmt.Sprintf(" %s %v %s", d.Reason, d.OK, d.Answer)
	}
	return strings.TrimSpace(s)
}

func plain(parts []message.Part) string {
	m := message.Message{Parts: parts}
	return m.PlainText()
}

// reply is what the model says, or fails with, once after and once before it.
type reply struct {
	text  string
	calls []message.Part
	err   error
	do    func(ctx context.Context, req *model.Request, sink func(model.Delta)) (*model.Reply, error)
}

func say(s string) reply { return reply{text: s} }

// call is a reply that calls tools; each is "id tool" or "id tool x".
func call(calls ...string) reply {
	var r reply
	for _, c := range calls {
		f := strings.Fields(c)
		args := "{}"
		if len(f) == 3 {
			args = `{"x":` + strconv.Quote(f[2]) + `}`
		}
		r.calls = append(r.calls, message.Part{Kind: message.ToolCall, ID: f[0], Name: f[1], Args: args})
	}
	return r
}

// fakeModel is a client whose replies follow from the request alone, so that it
// goes on correctly after a resume.
type fakeModel struct {
	replies []reply
	faults  map[int]error // by call, from 1

	mu     sync.Mutex
	calls  int
	bodies [][]byte
}

func (f *fakeModel) Info() model.Info       { return model.Info{Provider: "fake", Model: "m"} }
func (f *fakeModel) Encoder() model.Encoder { return fakeEncoder{} }

func (f *fakeModel) Call(ctx context.Context, req *model.Request, sink func(model.Delta)) (*model.Reply, error) {
	body := bytes.Join(req.Body, nil)
	var seen struct {
		Messages []message.Message `json:"messages"`
	}
	if err := json.Unmarshal(body, &seen); err != nil {
		return nil, fmt.Errorf("the body is no JSON: %w: %s", err, body)
	}
	n := 0
	for i := range seen.Messages {
		if seen.Messages[i].Role == message.Assistant {
			n++
		}
	}
	f.mu.Lock()
	f.calls++
	f.bodies = append(f.bodies, body)
	fault := f.faults[f.calls]
	f.mu.Unlock()
	if fault != nil {
		return nil, fault
	}
	if n >= len(f.replies) {
		return nil, &model.Error{Class: event.ClassBadRequest, Message: "the script is over"}
	}
	r := f.replies[n]
	if r.do != nil {
		return r.do(ctx, req, sink)
	}
	return r.reply(), r.err
}

func (r reply) reply() *model.Reply {
	out := &model.Reply{Finish: event.FinishStop, Usage: message.Usage{Input: message.Known(10), Output: message.Known(5)}}
	out.Message.Role = message.Assistant
	if r.text != "" {
		out.Message.Parts = text(r.text)
	}
	if len(r.calls) > 0 {
		out.Message.Parts = append(out.Message.Parts, r.calls...)
		out.Finish = event.FinishToolCalls
	}
	return out
}

// sent returns the bodies that the model got.
func (f *fakeModel) sent() [][]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.bodies
}

// fakeEncoder writes messages as the journal does.
type fakeEncoder struct{}

func (fakeEncoder) Version() string { return "fake/1" }

func (fakeEncoder) Head(dst []byte, p *model.Params, system []message.Message) []byte {
	dst = append(dst, `{"model":`...)
	dst = strconv.AppendQuote(dst, p.Model)
	if !p.NoTools {
		dst = append(dst, `,"tools":[`...)
		for i := range p.Tools {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = strconv.AppendQuote(dst, p.Tools[i].Name)
		}
		dst = append(dst, ']')
	}
	for i := range system {
		dst = append(dst, `,"system":`...)
		dst = system[i].AppendJSON(dst)
	}
	return append(dst, `,"messages":[`...)
}

func (fakeEncoder) Message(dst []byte, prev, m *message.Message) []byte {
	if prev != nil {
		dst = append(dst, ',')
	}
	return m.AppendJSON(dst)
}

func (fakeEncoder) Close(dst []byte, p *model.Params, last *message.Message) []byte {
	dst = append(dst, `],"stream":`...)
	return append(strconv.AppendBool(dst, p.Stream), '}')
}

// fakeTool is a tool with a function for a body.
type fakeTool struct {
	def tool.Definition
	run func(ctx context.Context, c *tool.Call) (*tool.Result, error)
}

func (f *fakeTool) Definition() *tool.Definition { return &f.def }

func (f *fakeTool) Run(ctx context.Context, c *tool.Call) (*tool.Result, error) { return f.run(ctx, c) }

// returns is a tool body that returns a text.
func returns(s string) func(context.Context, *tool.Call) (*tool.Result, error) {
	return func(context.Context, *tool.Call) (*tool.Result, error) { return tool.Text(s), nil }
}

// logs keeps what was logged.
type logs struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// want compares a journal with the expected one; "…" at a line's end stands for
// anything.
func want(t testing.TB, got, expected string) {
	t.Helper()
	g, w := strings.Split(strings.TrimSpace(got), "\n"), strings.Split(strings.TrimSpace(expected), "\n")
	for i := range max(len(g), len(w)) {
		var a, b string
		if i < len(g) {
			a = strings.TrimSpace(g[i])
		}
		if i < len(w) {
			b = strings.TrimSpace(w[i])
		}
		if head, open := strings.CutSuffix(b, "…"); a != b && !(open && strings.HasPrefix(a, head)) {
			t.Fatalf("line %d is %q, not %q; all of it:\n%s", i+1, a, b, got)
		}
	}
}

// actors returns the stacks of the goroutines that belong to a run.
func actors() string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var own []string
	for _, g := range strings.Split(string(buf), "\n\n") {
		if strings.Contains(g, "local.(*actor)") {
			own = append(own, g)
		}
	}
	return strings.Join(own, "\n\n")
}
