package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/openai"
	"rein.example/rein/model/script"
	"rein.example/rein/tool"
	"rein.example/rein/toolkit/calc"
	"rein.example/rein/toolkit/clock"
	"rein.example/rein/toolkit/files"
)

// A rig carries out the demo with the real machine, the real tools and the real
// wire, and can be killed at any call of a model or a tool. It is the least
// engine that does so: the journal is a slice, and waits are over at once.
type rig struct {
	t      *testing.T
	dir    string
	events []*event.Event
	// clock is as late as the waits that are over.
	clock int64

	// The rest dies with the process.
	m      *loop.Machine
	client model.Client
	tools  *tool.Registry
	closer []func()

	begun int // tools and model calls started so far
	// kill says what happens to the n-th start.
	kill func(n int, what string) moment
}

// moment says when the process dies.
type moment int

const (
	lives  moment = iota
	before        // after the start was recorded, before anything was done
	after         // after it was done, before the outcome was recorded
)

var errKilled = errors.New("killed")

func newRig(t *testing.T, kill func(n int, what string) moment) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir() + "/desk", kill: kill}
	t.Cleanup(r.die)
	if err := Materialise(r.dir); err != nil {
		t.Fatal(err)
	}
	r.boot()
	spec := event.Spec{
		Model: "demo/order-desk-1", Tools: r.tools.Specs(), Seed: 7,
		Permissions: []event.Permission{{Verdict: event.Allow, Match: "effect:read"}, {Verdict: event.Allow, Match: "effect:repeatable"}, {Verdict: event.Allow, Match: "effect:once"}},
	}
	r.append(&event.RunStarted{Format: event.Version, Root: "run", Spec: spec})
	r.append(&event.InputReceived{Kind: event.InputText, Parts: message.NewText(message.User, Task()).Parts})
	return r
}

// boot is a new process: it opens the workspace, starts the server and folds
// the journal.
func (r *rig) boot() {
	r.t.Helper()
	var all []tool.Tool
	open := func(tools []tool.Tool, c io.Closer, err error) {
		if err != nil {
			r.t.Fatal(err)
		}
		all = append(all, tools...)
		r.closer = append(r.closer, func() { c.Close() })
	}
	if err := Materialise(r.dir); err != nil {
		r.t.Fatal(err)
	}
	open(files.Tools(r.dir, nil))
	open(Mail(r.dir))
	tools, err := tool.NewRegistry(append(all, calc.Tool(), clock.Tool(nil))...)
	if err != nil {
		r.t.Fatal(err)
	}
	server := script.Handler(Script(), nil)
	url, err := server.Listen("127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	r.closer = append(r.closer, func() {
		if err := server.Close(context.Background()); err != nil {
			r.t.Error(err)
		}
	})
	http := model.NewHTTPClient()
	r.closer = append(r.closer, http.CloseIdleConnections)
	client, err := openai.New(openai.Options{Provider: "demo", Model: "order-desk-1", BaseURL: url, HTTPClient: http})
	if err != nil {
		r.t.Fatal(err)
	}
	r.client, r.tools, r.m = client, tools, loop.New("run")
	for _, e := range r.events {
		if err := r.m.Apply(e); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *rig) die() {
	for i := len(r.closer) - 1; i >= 0; i-- {
		r.closer[i]()
	}
	r.closer = nil
}

func (r *rig) append(d event.Data) {
	r.t.Helper()
	e := &event.Event{Run: "run", Seq: int64(len(r.events) + 1), Time: max(r.clock, time.Now().UnixMilli()), Data: d}
	r.events = append(r.events, e)
	if err := r.m.Apply(e); err != nil {
		r.t.Fatal(err)
	}
}

// run carries the run to its end, starting again whenever it is killed.
func (r *rig) run() *event.RunFinished {
	r.t.Helper()
	for range 100 {
		end, err := r.carry()
		if err == nil {
			return end
		}
		r.die()
		r.boot()
		r.append(&event.RunResumed{Generation: 2})
	}
	r.t.Fatal("the run never ends")
	return nil
}

func (r *rig) carry() (*event.RunFinished, error) {
	for range 1000 {
		next := r.m.Next()
		if len(next) == 0 {
			r.t.Fatalf("the run stands still: %+v", r.m.Status())
		}
		switch c := next[0].(type) {
		case *loop.Record:
			for _, d := range c.Data {
				r.append(d)
			}
		case *loop.Wait:
			r.clock = max(r.clock, c.Until)
			r.append(&event.TimerFired{ID: c.ID})
		case *loop.Finish:
			r.append(c.Data)
			return c.Data, nil
		case *loop.CallModel:
			r.append(&event.ModelCalled{ID: c.ID, Purpose: c.Purpose, Step: c.Step, Attempt: c.Attempt, Model: c.Model})
			if err := r.attempt("model", func() event.Data { return r.ask(c) }); err != nil {
				return nil, err
			}
		case *loop.RunTool:
			r.append(&event.ToolStarted{ID: c.ID, Call: c.Call, Tool: c.Tool, Effect: c.Effect, ArgsHash: c.ArgsHash, Key: c.Key, Attempt: c.Attempt, For: c.For})
			if err := r.attempt(c.Tool, func() event.Data { return r.execute(c) }); err != nil {
				return nil, err
			}
		default:
			r.t.Fatalf("the demo has no use for %T: %+v", c, c)
		}
	}
	return nil, errors.New("too many commands")
}

// attempt does what was started, unless the process dies.
func (r *rig) attempt(what string, do func() event.Data) error {
	r.begun++
	when := r.kill(r.begun, what)
	if when == before {
		return errKilled
	}
	outcome := do()
	if when == after {
		return errKilled
	}
	r.append(outcome)
	return nil
}

func (r *rig) ask(c *loop.CallModel) event.Data {
	p := &model.Params{Model: "order-desk-1", Tools: r.tools.Specs(), NoTools: c.NoTools, Stream: true}
	enc := r.client.Encoder()
	body := enc.Head(nil, p, c.System)
	var last *message.Message
	for _, m := range message.Pair(c.Messages) {
		body = enc.Message(body, last, &m)
		last = &m
	}
	body = enc.Close(body, p, last)
	reply, err := r.client.Call(context.Background(), &model.Request{Body: [][]byte{body}, Stream: true}, nil)
	if err != nil {
		e := err.(*model.Error)
		return &event.ModelFailed{ID: c.ID, Class: e.Class, Status: int64(e.Status), Code: e.Code, Message: e.Message, RetryAfter: e.RetryAfter, Partial: e.Partial}
	}
	return &event.ModelAnswered{ID: c.ID, Message: reply.Message, Finish: reply.Finish, RawFinish: reply.RawFinish, Usage: reply.Usage, Model: reply.Model}
}

func (r *rig) execute(c *loop.RunTool) event.Data {
	d := &event.ToolFinished{ID: c.ID, Call: c.Call, Tool: c.Tool, For: c.For, Status: event.StatusSuccess}
	res, err := r.tools.Get(c.Tool).Run(context.Background(), &tool.Call{Run: "run", ID: c.Call, Args: c.Args, Key: c.Key, Attempt: int(c.Attempt), Seen: c.Seen})
	if err != nil {
		e := tool.ErrorOf(err)
		d.Status = event.StatusError
		if e.Unknown {
			d.Status = event.StatusUnknown
		}
		d.Parts = message.NewText(message.Tool, tool.ErrorText(e)).Parts
		d.ErrorType, d.ErrorMessage, d.Retryable, d.NoEffect = e.Type, e.Message, e.Retryable, e.NoEffect
		return d
	}
	d.Parts, d.Seen = res.Parts, res.Seen
	if c.Value {
		d.Result = res.Value
	}
	return d
}

// trace is the run as lines, for a test that has failed.
func (r *rig) trace() string {
	var s string
	for _, e := range r.events {
		s += fmt.Sprintf("%3d %s %s\n", e.Seq, e.Data.Type(), e.Data.AppendJSON(nil))
	}
	return s
}
