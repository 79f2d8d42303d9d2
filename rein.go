// Package rein answers: how do I build an agent and run it?
//
// An [Agent] is a model, tools and rules; a [Run] is one task carried out by
// it. Every run is a journal: what happened is written down before it is acted
// on, so that a run can be watched, stopped, resumed after a crash, and looked
// at afterwards.
//
//	agent, err := rein.New(client, &rein.Options{Tools: tools})
//	result, err := agent.Run(ctx, "Which orders are late?")
//	if err == nil && !result.OK { … } // it ended badly: result.Reason, result.Detail
//
// The package imports no provider: a model is any [model.Client], such as those
// of the packages below model/. The nil *Options is an agent without tools that
// keeps its journals in memory.
package rein

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/engine"
	"rein.example/rein/engine/local"
	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/journal"
	"rein.example/rein/journal/memory"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/tokens"
	"rein.example/rein/tool"
	"rein.example/rein/window"
)

// Options are an agent's settings. The zero value of each field is its default.
type Options struct {
	// Name is the agent's name in journals and traces.
	Name string
	// Tools that the model may call; [AgentTool] makes one of another agent. submit_result is always added, with any tool
	// that is not of the harness read_artifact, which reads what a result did not
	// show, and where the conversation may be shortened (see Window) search_history,
	// which reads what has left. Where tools have a group, or there are more than 15, open_tools and
	// call_tool are added: then the model is offered those without a group, and
	// opens the others when it needs them, until the run ends.
	Tools []tool.Tool
	// Phases divide the run: each has tools of its own, and lasts until a call of
	// its Until has succeeded. In other phases a tool is not offered, and a call of
	// it is refused. Nil: every tool is there all the time.
	Phases []event.PhaseSpec
	// Rules are rendered before the conversation.
	Rules Rules
	// Accept says what a finished task looks like; it stands with the task.
	Accept string
	// Done is what code sees to before a run may end as done: what it lacks is told to
	// the model, twice at most; after that the run ends with OK false. Files are read
	// back too, as are all others that the run has written.
	Done event.AcceptSpec
	// Check has an end held against the task before a run that has called tools ends
	// with it: one call of the model, whose answer may send the run back, twice at
	// most. What it costs is in [Result.Usage].
	Check bool
	// ReadBack is after how many steps the model is asked whether the work still
	// serves the task, each time, such as [ReadBackSteps]; 0: never.
	ReadBack int64
	// Contract replaces the built-in opening of the system text,
	// [window.Contract].
	Contract string
	// Permissions say which tools may run; the strictest match wins, and what
	// nothing matches is denied. Nil: reads are allowed, writes are asked for.
	Permissions []event.Permission
	// Limits end a run. Nil: the preset "multi-step".
	Limits *event.Limits
	// Retry is how failed model calls are tried again. Nil: as [RetryPatient]
	// says, whatever the limits (agent.yaml takes [RetryFast] for qa and lookup).
	// Its ToolTries is for tool calls whose failure may pass.
	Retry *event.RetrySpec
	// Submit is the JSON Schema of the result that a run must submit. A result
	// that is no object is asked for as {"answer": …}; [Result.Value] is it alone.
	Submit jsontext.Value
	// Window says how the conversation is kept within the model's context window, and
	// overrides what the model says of its size. Zero fields have their defaults; of
	// Strategy that is [window.Layered]: for a run of a few steps [window.Full] keeps
	// everything.
	Window event.WindowSpec
	// Retrieve finds material for the task, and for each later input that begins a
	// turn; query is that text. It stands in the context as data, after what was
	// summarised and before the turns, as much as its share of the window takes: the
	// best first. It is called on a goroutine of its own, has a minute, and may fail:
	// then the run goes on without. Nil: none is asked for.
	Retrieve func(ctx context.Context, query string) ([]message.Part, error)
	// Sampling is passed to the model.
	Sampling event.Sampling
	// Fallback are the models to go on with, in this order, when the one before
	// has failed for good. The context is kept within the smallest of the windows.
	Fallback []model.Client
	// Calling says how the agent's models call tools, where that is not what is known
	// of them: at most one entry for each.
	Calling []Calling
	// Store keeps the journals. Nil: in memory, until the agent is closed.
	Store journal.Store
	// Approve answers questions while a run goes on. Nil, or ok == false,
	// leaves them open and pauses the run; see [Run.Approve].
	Approve Approver
	// Counter counts tokens; if its Method is exact, it is the first model's own
	// tokenizer, and Window.Tokenizer its name (a [tokens.Measurer] without one is
	// taken for an estimate, as some of its figures may be). Nil: the vocabulary that
	// Window.Tokenizer names (o200k_base or cl100k_base; "estimate" is none), or else
	// that of the first model where Rein has it, or else an estimate. Whatever is not
	// exact for all of the agent's models has the larger margin until a server's own
	// figures have corrected it.
	Counter tokens.Counter
	// Secrets are kept out of journals, traces and the model's sight.
	Secrets *event.Secrets
	// Logger gets diagnostics. Nil: none.
	Logger *slog.Logger
	// Observers are shown all that happens in the agent's runs, such as what package
	// trace/otel makes traces and metrics of.
	Observers []Observer
	// Sandbox says what confines the commands among the tools, in the agent's words,
	// such as "none". It is recorded with each run, for those who look at it later;
	// the confining is the tools' own.
	Sandbox string
	// Config and BaseDir are recorded with each run, so that a command can
	// build the same agent again.
	Config, BaseDir string
}

// Agent carries out tasks. It is safe for concurrent use; Close it when done.
type Agent struct {
	models   []model.Client       // the first, then those to fall back to
	calls    []event.ModelCalling // of each of them
	counting counting
	opts     Options
	registry *tool.Registry
	specs    []event.ToolSpec
	engine   *local.Engine
	store    journal.Store
	ownStore bool
}

// New returns an agent that uses the model m. The options are copied; opts may
// be nil. It fails if tools clash, a permission or schema cannot be used, or
// the store cannot be joined, if a model is there twice, or if how one calls tools
// cannot be carried out.
func New(m model.Client, opts *Options) (*Agent, error) {
	a := &Agent{}
	if opts != nil {
		a.opts = *opts
	}
	a.models = append([]model.Client{m}, a.opts.Fallback...)
	names := map[string]bool{}
	for _, m := range a.models {
		name := m.Info().Name()
		if names[name] {
			return nil, fmt.Errorf("the model %s is named twice: fall back to another", name)
		}
		names[name] = true
	}
	var err error
	if a.calls, err = a.calling(); err != nil {
		return nil, err
	}
	if a.opts.Permissions == nil {
		a.opts.Permissions = guard.DefaultPermissions()
	}
	if _, err := guard.New(a.opts.Permissions); err != nil {
		return nil, fmt.Errorf("permissions: %w", err)
	}
	if a.opts.Limits == nil {
		l, _, _ := Preset("multi-step")
		a.opts.Limits = &l
	}
	if a.opts.Retry == nil {
		r := RetryPatient()
		a.opts.Retry = &r
	}
	if err := a.opts.Rules.check(); err != nil {
		return nil, err
	}
	if err := checkWindow(&a.opts.Window); err != nil {
		return nil, err
	}
	if err := a.opts.checkAgents(); err != nil {
		return nil, err
	}
	if a.counting, err = a.opts.counting(a.models); err != nil {
		return nil, err
	}
	if a.registry, a.specs, err = a.opts.offer(a.opts.windowSpec(a.models, a.counting)); err != nil {
		return nil, err
	}
	a.store = a.opts.Store
	if a.store == nil {
		a.store, a.ownStore = memory.New(), true
	}
	a.engine, err = local.New(local.Options{Store: a.store, Counter: a.counting.counter, Secrets: a.opts.Secrets, Logger: a.opts.Logger})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// cuttable reports whether results of a tool may have to be cut.
func cuttable(t tool.Tool) bool { return t != nil && !t.Definition().Harness }

// Close ends the agent's lease on its store, and the store if it is the
// agent's own. Runs that are going on fail.
func (a *Agent) Close() error {
	err := a.engine.Close()
	if a.ownStore {
		if e := a.store.Close(); err == nil {
			err = e
		}
	}
	return err
}

// Store returns the store that holds the agent's journals.
func (a *Agent) Store() journal.Store { return a.store }

// Tools returns the tools of the agent and those that Rein adds; which of them a
// request offers depends on groups and phases.
func (a *Agent) Tools() *tool.Registry { return a.registry }

// spec returns the settings that are written into a new run's journal.
func (a *Agent) spec(chat bool) (*event.Spec, error) {
	contract := a.opts.Contract
	if contract == "" {
		contract = window.Contract
	}
	s := (&event.Spec{
		Agent: a.opts.Name, Tools: a.tools(chat), Submit: a.opts.Submit,
		System: []event.Block{{Name: window.BlockContract, Text: contract}},
		Limits: *a.opts.Limits, Permissions: a.opts.Permissions, Retry: *a.opts.Retry,
		Phases: a.opts.Phases, Retrieve: a.opts.Retrieve != nil, Chat: chat, Sandbox: a.opts.Sandbox,
		Accept: a.opts.Done, Check: a.opts.Check, ReadBack: a.opts.ReadBack,
	}).With(a.asks())
	policy, err := guard.New(s.Permissions)
	if err != nil {
		return nil, fmt.Errorf("permissions: %w", err)
	}
	var rules string
	if s.Rules, rules = a.opts.Rules.specs(len(s.Accept.Files) > 0 || readsBack(policy, s.Tools)); rules != "" {
		s.System = append(s.System, event.Block{Name: window.BlockRules, Text: rules})
	}
	var seed [8]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return nil, fmt.Errorf("draw the run's seed: %w", err)
	}
	s.Seed = int64(binary.LittleEndian.Uint64(seed[:]) >> 1)
	return s, nil
}

// tools returns the specs of a run's tools. One answer without any tools of the
// agent's own leaves no history to search.
func (a *Agent) tools(chat bool) []event.ToolSpec {
	specs := slices.Clone(a.specs)
	if !chat && len(a.opts.Tools) == 0 {
		specs = slices.DeleteFunc(specs, func(t event.ToolSpec) bool { return t.Harness && t.Name == tool.SearchHistory })
	}
	return specs
}

// Reserves for the reply and the margins of an uncalibrated count: facts
// measured on real prompts (a foreign tokenizer is up to a third off).
const (
	reserve       = 8_192
	smallReserve  = 4_096
	smallWindow   = 32_768
	foreignMargin = 650_000
	exactMargin   = 900_000
)

// windowSpec fills in what the options' window leaves to the models.
func (o *Options) windowSpec(models []model.Client, k counting) event.WindowSpec {
	w := o.Window
	if w.Strategy == "" {
		w.Strategy = window.Layered
	}
	if w.Size == 0 {
		for _, m := range models { // what one has read, the next must be able to
			if size := m.Info().Window; size > 0 && (w.Size == 0 || size < w.Size) {
				w.Size = size
			}
		}
	}
	if w.Reserve == 0 {
		if w.Reserve = reserve; w.Size < smallWindow {
			w.Reserve = smallReserve
		}
		w.Reserve = min(w.Reserve, w.Size/2)
	}
	if w.Tokenizer = k.own; w.Margin == 0 {
		if w.Margin = foreignMargin; k.exact {
			w.Margin = exactMargin
		}
	}
	return w
}

// checkWindow returns what is wrong with a window's settings.
func checkWindow(w *event.WindowSpec) error {
	if w.Strategy != "" {
		if _, err := window.For(w.Strategy); err != nil {
			return fmt.Errorf("window: %w", err)
		}
	}
	for _, x := range []struct {
		name string
		ppm  int64
	}{{"margin", w.Margin}, {"trigger", w.Trigger}, {"target", w.Target}} {
		if x.ppm < 0 || x.ppm > 1_000_000 {
			return fmt.Errorf("window: %s is %d parts per million: it has to be from 0 to 1,000,000", x.name, x.ppm)
		}
	}
	if w.Size < 0 || w.Reserve < 0 || w.Keep < 0 {
		return fmt.Errorf("window: size (%d), reserve (%d) and keep (%d) cannot be below 0", w.Size, w.Reserve, w.Keep)
	}
	settable := []string{window.BlockRules, window.BlockTools, window.ShareTask, window.ShareInput, window.BlockDigest, window.BlockMaterial}
	for _, s := range w.Shares {
		if !slices.Contains(settable, s.Name) {
			return fmt.Errorf("window: there is no share %q to be set: use %s", s.Name, strings.Join(settable, ", "))
		}
		if s.Share < 0 || s.Share > 1_000_000 {
			return fmt.Errorf("window: the share %q is %d parts per million: it has to be from 0 to 1,000,000", s.Name, s.Share)
		}
	}
	return nil
}

// job returns what the engine needs for a run.
func (a *Agent) job(run string) *engine.Job {
	job := &engine.Job{
		Run: run, Tools: a.registry, Approve: a.opts.Approve, Retrieve: a.opts.Retrieve,
		Model: func(name string) (model.Client, error) {
			if m := a.modelOf(name); m != nil {
				return m, nil
			}
			return nil, fmt.Errorf("the run asks model %s, and this agent has %s", name, a.models[0].Info().Name())
		},
	}
	if slices.ContainsFunc(a.opts.Tools, func(t tool.Tool) bool { return agentOf(t) != nil }) {
		job.Agent = a.agentJob
	}
	return job
}

// modelOf returns the agent's model of that name, nil if it has none.
func (a *Agent) modelOf(name string) model.Client {
	for _, m := range a.models {
		if m.Info().Name() == name {
			return m
		}
	}
	return nil
}

// task returns the message that gives the model its task.
func (a *Agent) task(text string) []message.Part {
	parts := []message.Part{{Kind: message.Text, Text: text}}
	if accept := window.Acceptance(a.opts.Accept); accept != "" {
		parts = append(parts, message.Part{Kind: message.Text, Text: accept})
	}
	return parts
}

// NewRunID returns a fresh run id: the day and 40 random bits, easy to tell
// apart and to type.
func NewRunID(now time.Time) string {
	const letters = "abcdefghjkmnpqrstvwxyz0123456789"
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	var s strings.Builder
	s.WriteString(now.UTC().Format("060102-"))
	for _, x := range b {
		s.WriteByte(letters[int(x)%len(letters)])
	}
	return s.String()
}
