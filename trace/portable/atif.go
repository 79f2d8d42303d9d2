package portable

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/message"
)

// atifVersion is the schema that is written. ATIF-v1.8 adds nothing but audio, and
// readers of the version before refuse it.
const atifVersion = "ATIF-v1.7"

// maxATIFDepth is how deep runs of agents are embedded.
const maxATIFDepth = 8

// trajectory is what stands in a document beside its steps. All of a member that is
// not known is left out.
type trajectory struct {
	Session    string    `json:"session_id,omitzero"`
	Trajectory string    `json:"trajectory_id"`
	Agent      atifAgent `json:"agent"`
}

type atifAgent struct {
	Name    string         `json:"name"`
	Version string         `json:"version"`
	Model   string         `json:"model_name,omitzero"`
	Tools   []atifTool     `json:"tool_definitions,omitzero"`
	Extra   map[string]any `json:"extra,omitzero"`
}

type atifTool struct {
	Type     string       `json:"type"`
	Function atifFunction `json:"function"`
}

type atifFunction struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Parameters  jsontext.Value `json:"parameters,omitzero"`
}

// atifStep is a step.
type atifStep struct {
	ID          int64            `json:"step_id"`
	Time        string           `json:"timestamp,omitzero"`
	Source      string           `json:"source"`
	Model       string           `json:"model_name,omitzero"`
	Message     any              `json:"message"` // a string or []atifPart
	Reasoning   string           `json:"reasoning_content,omitzero"`
	Calls       []atifCall       `json:"tool_calls,omitzero"`
	Observation *atifObservation `json:"observation,omitzero"`
	Metrics     *atifMetrics     `json:"metrics,omitzero"`
	Copied      bool             `json:"is_copied_context,omitzero"`
	LLMCalls    *int             `json:"llm_call_count,omitzero"`
	Extra       map[string]any   `json:"extra,omitzero"`
}

type atifPart struct {
	Type   string      `json:"type"`
	Text   *string     `json:"text,omitzero"`
	Source *atifSource `json:"source,omitzero"`
}

type atifSource struct {
	MediaType string `json:"media_type"`
	Path      string `json:"path"`
}

type atifCall struct {
	ID        string         `json:"tool_call_id"`
	Name      string         `json:"function_name"`
	Arguments jsontext.Value `json:"arguments"`
	Extra     map[string]any `json:"extra,omitzero"`
}

type atifObservation struct {
	Results []*atifResult `json:"results"`
}

type atifResult struct {
	Call    string         `json:"source_call_id"`
	Content any            `json:"content,omitzero"`
	Below   []atifRef      `json:"subagent_trajectory_ref,omitzero"`
	Extra   map[string]any `json:"extra,omitzero"`
}

type atifRef struct {
	Trajectory string `json:"trajectory_id"`
}

type atifMetrics struct {
	Prompt     *int64           `json:"prompt_tokens,omitzero"`
	Completion *int64           `json:"completion_tokens,omitzero"`
	Cached     *int64           `json:"cached_tokens,omitzero"`
	Cost       jsontext.Value   `json:"cost_usd,omitzero"`
	Extra      map[string]int64 `json:"extra,omitzero"`
}

type atifTotals struct {
	Prompt     *int64         `json:"total_prompt_tokens,omitzero"`
	Completion *int64         `json:"total_completion_tokens,omitzero"`
	Cached     *int64         `json:"total_cached_tokens,omitzero"`
	Cost       jsontext.Value `json:"total_cost_usd,omitzero"`
	Steps      int64          `json:"total_steps"`
}

// ExportATIF writes a run as a document of the Agent Trajectory Interchange Format,
// with the runs that carry out its calls of agents embedded; version is the program's.
// Steps that a fork shares with the run that it comes from are marked as copied, and
// have no metrics: they were paid there. What has no place in the format is counted in
// the document's notes. It holds one step in memory.
func ExportATIF(ctx context.Context, w io.Writer, v *View, run, version string) (*Exported, error) {
	if _, err := v.Head(ctx, run); err != nil {
		return nil, err
	}
	out := bufio.NewWriterSize(w, 64<<10)
	x := &atif{ctx: ctx, v: v, w: out, version: version, seen: map[string]bool{}}
	if err := x.document(run, 0); err != nil {
		return nil, err
	}
	x.put("\n")
	if err := out.Flush(); err != nil {
		return nil, fmt.Errorf("write the export: %w", err)
	}
	e := v.Exported(run)
	e.Left = append(e.Left, x.left...)
	return e, nil
}

// atif writes documents.
type atif struct {
	ctx     context.Context
	v       *View
	w       *bufio.Writer // keeps its first error until it is flushed
	version string
	seen    map[string]bool // the runs that were written or are being; looked up only
	left    []string
}

func (x *atif) put(s string) { _, _ = x.w.WriteString(s) }

// member writes a member of an object that is not its first.
func (x *atif) member(name string, v any) error {
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	x.put(`,"` + name + `":`)
	_, _ = x.w.Write(text)
	return nil
}

// document writes the document of one run.
func (x *atif) document(run string, depth int) error {
	x.seen[run] = true
	d := &atifRun{x: x, run: run}
	x.put(`{"schema_version":"` + atifVersion + `"`)
	if err := d.events(); err != nil {
		return err
	}
	if d.n == 0 {
		return fmt.Errorf("run %s has nothing that can be a step: a trajectory has at least one", run)
	}
	x.put("]")
	if err := d.ends(); err != nil {
		return err
	}
	first := true
	for _, below := range d.below {
		var missing *journal.NotFoundError
		if _, err := x.v.Head(x.ctx, below); x.seen[below] || errors.As(err, &missing) {
			continue
		}
		if depth == maxATIFDepth {
			x.left = append(x.left, fmt.Sprintf("run %s is not in the export: it lies deeper than %d runs", below, maxATIFDepth))
			continue
		}
		if first {
			x.put(`,"subagent_trajectories":[`)
		} else {
			x.put(",")
		}
		first = false
		if err := x.document(below, depth+1); err != nil {
			return err
		}
	}
	if !first {
		x.put("]")
	}
	x.put("}")
	return nil
}

// atifRun is the document of a run that is being written.
type atifRun struct {
	x     *atif
	run   string
	spec  *event.Spec
	timed bool
	// shared is the last event that belongs to the run that this one was forked from.
	shared int64
	begun  bool
	n      int64 // steps written or held
	// open is the last step of the agent, with what has come since it; they are held
	// until the results of its calls are final.
	open    *atifStep
	answer  *event.ModelAnswered
	held    []*atifStep
	asked   map[string]*event.ModelCalled // looked up only
	asides  int64
	failed  int64
	other   int64 // calls of the harness itself
	totals  message.Usage
	cost    message.Count
	counted bool
	paid    bool
	below   []string
	runs    map[string]string // of calls of agents, by the call; looked up only
	end     *event.RunFinished
	pause   event.Cause
	damage  string
}

// events folds the run's events.
func (d *atifRun) events() error {
	family, err := d.x.v.Family(d.x.ctx, d.run)
	if err != nil {
		return err
	}
	for _, f := range family {
		if f.Base {
			d.shared = f.Shared
		}
	}
	d.asked, d.runs = map[string]*event.ModelCalled{}, map[string]string{}
	for e, err := range d.x.v.Read(d.x.ctx, d.run, 1) {
		var damage *journal.DamageError
		if errors.As(err, &damage) {
			d.damage = damage.Error()
			d.x.left = append(d.x.left, d.damage+"; the export has what comes before")
			break
		}
		if err == nil {
			err = d.event(&e)
		}
		if err != nil {
			return fmt.Errorf("run %s: %w", d.run, err)
		}
	}
	return d.flush()
}

func (d *atifRun) event(e *event.Event) error {
	switch ev := e.Data.(type) {
	case *event.RunStarted:
		return d.started(e, ev)
	case *event.RunResumed:
		if d.pause = ""; ev.Models != nil && d.spec != nil {
			d.spec = d.spec.With(ev.Models)
		}
	case *event.InputReceived:
		if ev.Kind == event.InputText {
			return d.said(e, "user", ev.Parts, nil)
		}
	case *event.NoticeAdded:
		return d.said(e, "system", []message.Part{{Kind: message.Text, Text: ev.Text}}, map[string]any{"kind": "notice:" + ev.Kind})
	case *event.MaterialRetrieved:
		if len(ev.Parts) > 0 {
			return d.said(e, "system", ev.Parts, map[string]any{"kind": "material"})
		}
	case *event.ContextCompacted:
		text := strings.TrimSpace(ev.Summary + "\n\n" + ev.Snapshot)
		return d.said(e, "system", []message.Part{{Kind: message.Text, Text: text}},
			map[string]any{"kind": "compaction", "strategy": ev.Strategy, "before_tokens": ev.Before, "after_tokens": ev.After})
	case *event.ContextAssembled:
		return d.flush()
	case *event.ModelCalled:
		d.asked[ev.ID] = ev
	case *event.ModelAnswered:
		return d.answered(e, ev)
	case *event.ReplyParsed:
		return d.parsed(ev)
	case *event.ModelFailed:
		if d.live(e) {
			d.failed++
			if ev.Usage != (message.Usage{}) || ev.Partial != "" {
				d.pay(d.price(ev.ID, &ev.Usage))
			}
		}
	case *event.ToolStarted:
		if ev.Run != "" && d.runs[ev.Call] == "" {
			d.runs[ev.Call] = ev.Run
			d.below = append(d.below, ev.Run)
		}
	case *event.ToolFinished:
		return d.finished(e, ev)
	case *event.RunPaused:
		d.pause = ev.Cause
	case *event.RunFinished:
		d.end = ev
	}
	return nil
}

// live reports whether an event is the run's own.
func (d *atifRun) live(e *event.Event) bool { return e.Seq > d.shared }

// started writes what stands before the steps, and the text before the conversation.
func (d *atifRun) started(e *event.Event, ev *event.RunStarted) error {
	d.spec, d.timed = &ev.Spec, ev.Origin == nil || !ev.Origin.Untimed
	t := trajectory{Session: ev.Root, Trajectory: d.run, Agent: atifAgent{Name: ev.Spec.Agent, Version: d.x.version, Model: ev.Spec.Model}}
	if t.Agent.Name == "" {
		t.Agent.Name = "rein"
	}
	if ev.Origin != nil {
		t.Agent.Extra = map[string]any{"recorded_by": "another program", "recording": ev.Origin.Format, "source": ev.Origin.Source}
	}
	for i := range ev.Spec.Tools {
		s := &ev.Spec.Tools[i]
		t.Agent.Tools = append(t.Agent.Tools, atifTool{"function", atifFunction{s.Name, s.Description, s.Schema}})
	}
	for _, m := range []struct {
		name string
		v    any
	}{{"session_id", t.Session}, {"trajectory_id", t.Trajectory}, {"agent", t.Agent}} {
		if err := d.x.member(m.name, m.v); err != nil {
			return err
		}
	}
	d.x.put(`,"steps":[`)
	var texts []string
	for _, b := range ev.Spec.System {
		texts = append(texts, b.Text)
	}
	if len(texts) == 0 {
		return nil
	}
	return d.said(e, "system", []message.Part{{Kind: message.Text, Text: strings.Join(texts, "\n\n")}}, nil)
}

// said adds a step of somebody else than the agent.
func (d *atifRun) said(e *event.Event, source string, parts []message.Part, extra map[string]any) error {
	content, err := d.content(parts)
	if err != nil {
		return err
	}
	s := d.step(e, source)
	s.Message, s.Extra = content, extra
	return d.add(s)
}

func (d *atifRun) step(e *event.Event, source string) *atifStep {
	s := &atifStep{Source: source, Copied: !d.live(e)}
	if d.timed {
		s.Time = time.UnixMilli(e.Time).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return s
}

// add writes a step, or holds it while the agent's is open.
func (d *atifRun) add(s *atifStep) error {
	if d.open != nil {
		d.held = append(d.held, s)
		return nil
	}
	return d.write(s)
}

func (d *atifRun) write(s *atifStep) error {
	d.n++
	s.ID = d.n
	text, err := json.Marshal(s, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("write step %d: %w", s.ID, err)
	}
	if d.begun {
		d.x.put(",")
	}
	d.begun = true
	_, _ = d.x.w.Write(text)
	return nil
}

// flush writes the agent's open step, with what came since.
func (d *atifRun) flush() error {
	held := d.held
	if d.open != nil {
		d.open.inOrder()
		held = append([]*atifStep{d.open}, held...)
	}
	d.open, d.answer, d.held = nil, nil, nil
	for _, s := range held {
		if err := d.write(s); err != nil {
			return err
		}
	}
	return nil
}

// model returns the model that wrote a reply.
func (d *atifRun) model(reported string) string {
	if reported == "" && d.spec != nil {
		return d.spec.Model
	}
	return reported
}

// answered opens a step of the agent; replies to what the harness asks for itself are
// none.
func (d *atifRun) answered(e *event.Event, ev *event.ModelAnswered) error {
	cost := d.price(ev.ID, &ev.Usage)
	if d.live(e) {
		d.pay(cost)
	}
	if asked := d.asked[ev.ID]; asked != nil && asked.Purpose.Aside() {
		d.asides++
		return nil
	}
	if err := d.flush(); err != nil {
		return err
	}
	one := 1
	s := d.step(e, "agent")
	s.Model, s.LLMCalls, s.Message = d.model(ev.Model), &one, ""
	s.Extra = map[string]any{"finish_reason": string(ev.Finish)}
	if d.timed && ev.Latency > 0 {
		s.Extra["latency_ms"] = ev.Latency
	}
	if d.live(e) {
		s.Metrics = metrics(&ev.Usage, cost)
		d.count(&ev.Usage)
	}
	d.open, d.answer = s, ev
	return nil
}

// count adds the usage of a step; one unknown figure makes the sum unknown.
func (d *atifRun) count(u *message.Usage) {
	if !d.counted {
		d.totals, d.counted = *u, true
		return
	}
	d.totals.Input = d.totals.Input.Add(u.Input)
	d.totals.Cached = d.totals.Cached.Add(u.Cached)
	d.totals.Output = d.totals.Output.Add(u.Output)
}

// price returns what the call of a model cost, in millionths of a dollar.
func (d *atifRun) price(call string, u *message.Usage) message.Count {
	asked := d.asked[call]
	if asked == nil {
		return 0
	}
	if c, ok := u.Cost(d.spec.Price(asked.Model)); ok {
		return message.Known(c.Total())
	}
	return 0
}

// pay adds to what the run has cost.
func (d *atifRun) pay(c message.Count) {
	if d.paid {
		c = d.cost.Add(c)
	}
	d.cost, d.paid = c, true
}

// metrics are those of a step, nil if nothing is known.
func metrics(u *message.Usage, cost message.Count) *atifMetrics {
	m := &atifMetrics{Prompt: known(u.Input), Completion: known(u.Output), Cached: known(u.Cached), Cost: usd(cost)}
	for name, c := range map[string]message.Count{"cache_write_tokens": u.CacheWrite, "reasoning_tokens": u.Reasoning} {
		if n, ok := c.Get(); ok {
			if m.Extra == nil {
				m.Extra = map[string]int64{}
			}
			m.Extra[name] = n
		}
	}
	if m.Prompt == nil && m.Completion == nil && m.Cached == nil && m.Cost == nil && m.Extra == nil {
		return nil
	}
	return m
}

func known(c message.Count) *int64 {
	if n, ok := c.Get(); ok {
		return &n
	}
	return nil
}

// usd returns an amount as a JSON number of dollars, nil if it is unknown.
func usd(c message.Count) jsontext.Value {
	n, ok := c.Get()
	if !ok {
		return nil
	}
	return jsontext.Value(strconv.FormatInt(n/1_000_000, 10) + fmt.Sprintf(".%06d", n%1_000_000))
}
