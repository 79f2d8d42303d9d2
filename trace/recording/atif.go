package recording

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// rawTrajectory is a document of the Agent Trajectory Interchange Format, of which all
// versions up to ATIF-v1.8 are read: the later ones have more members.
type rawTrajectory struct {
	Schema     string `json:"schema_version"`
	Session    string `json:"session_id"`
	Trajectory string `json:"trajectory_id"`
	Agent      struct {
		Name  string    `json:"name"`
		Model string    `json:"model_name"`
		Tools []rawTool `json:"tool_definitions"`
	} `json:"agent"`
	Steps []jsontext.Value `json:"steps"`
	Below []jsontext.Value `json:"subagent_trajectories"`
	Extra jsontext.Value   `json:"extra"`
}

// rawStep is one step of it: what one side has said, with what came of it.
type rawStep struct {
	Time        string         `json:"timestamp"`
	Source      string         `json:"source"`
	Model       string         `json:"model_name"`
	Message     jsontext.Value `json:"message"`
	Reasoning   jsontext.Value `json:"reasoning_content"`
	Calls       []rawStepCall  `json:"tool_calls"`
	Observation struct {
		Results []rawStepResult `json:"results"`
	} `json:"observation"`
	Metrics struct {
		Prompt     jsontext.Value `json:"prompt_tokens"`
		Completion jsontext.Value `json:"completion_tokens"`
		Cached     jsontext.Value `json:"cached_tokens"`
		Cost       jsontext.Value `json:"cost_usd"`
	} `json:"metrics"`
	// Copied: the step belongs to another trajectory, where it was paid.
	Copied bool `json:"is_copied_context"`
}

type rawStepCall struct {
	ID        string         `json:"tool_call_id"`
	Name      string         `json:"function_name"`
	Arguments jsontext.Value `json:"arguments"`
}

type rawStepResult struct {
	Call    string         `json:"source_call_id"`
	Content jsontext.Value `json:"content"`
	Extra   jsontext.Value `json:"extra"`
}

const trajectoryPrefix = "ATIF-v1."

// isTrajectory reports whether a value is an object that says so.
func isTrajectory(raw jsontext.Value) bool {
	var in struct {
		Schema jsontext.Value `json:"schema_version"`
	}
	return raw.Kind() == '{' && json.Unmarshal(raw, &in, lenient) == nil && strings.HasPrefix(text(in.Schema), "ATIF-")
}

// trajectory reads one trajectory, and returns those that it embeds.
func trajectory(raw jsontext.Value, limits Limits) (*Conversation, []jsontext.Value, error) {
	var in rawTrajectory
	if err := json.Unmarshal(raw, &in, lenient); err != nil {
		return nil, nil, fmt.Errorf("it is no trajectory: %w", plain(err))
	}
	if !strings.HasPrefix(in.Schema, trajectoryPrefix) {
		return nil, in.Below, fmt.Errorf("its schema is %s, and %sN can be read", clip(in.Schema), trajectoryPrefix)
	}
	switch n := len(in.Steps); {
	case n == 0:
		return nil, in.Below, errors.New("it has no steps")
	case n > limits.Messages:
		return nil, in.Below, fmt.Errorf("it has %d steps, and %d is the most that is read", n, limits.Messages)
	}
	r := stepReader{reader: reader{fixed: repairs{}}}
	if !raw.IsValid() {
		r.fixed[BadText] = 1
	}
	for i, s := range in.Steps {
		if err := r.step(s); err != nil {
			return nil, in.Below, fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	c := &Conversation{Format: in.Schema, ID: in.name(), Agent: in.Agent.Name, Model: in.Agent.Model, Tools: toolsOf(in.Agent.Tools), System: r.system}
	c.Messages = r.pair()
	c.Facts = r.factsOf(c.Messages)
	c.End = endOf(in.Extra)
	c.label(raw, "schema_version", "steps", "subagent_trajectories", "agent")
	if r.cost > 0 && len(c.Labels) < MaxLabels {
		c.Labels = append(c.Labels, event.Label{Name: LabelCost, Value: jsontext.Value(fmt.Sprintf("%d.%06d", r.cost/micros, r.cost%micros))})
	}
	c.Repairs = r.fixed.list()
	if len(c.Messages)+len(c.System) == 0 {
		return nil, in.Below, errors.New("it holds nothing but results without calls")
	}
	return c, in.Below, nil
}

// name returns what the trajectory is called, in which one of several may share the
// session.
func (in *rawTrajectory) name() string {
	if in.Trajectory != "" {
		return in.Trajectory
	}
	return in.Session
}

// stepReader gathers the messages of a trajectory, and what is known of each.
type stepReader struct {
	reader
	facts []Fact // of reader.msgs
	// outcomes are what the results say, by the number of the reply that they follow and
	// the call's id; looked up only.
	replies  int
	outcomes map[outcomeOf]Fact
	cost     int64 // of the steps, in millionths of a dollar
}

type outcomeOf struct {
	reply int
	call  string
}

// step reads one step.
func (r *stepReader) step(raw jsontext.Value) error {
	var in rawStep
	if raw.Kind() != '{' {
		return errors.New("it is not an object")
	}
	if err := json.Unmarshal(raw, &in, lenient); err != nil {
		return plain(err)
	}
	f := Fact{Time: moment(in.Time)}
	m := message.Message{}
	if s := text(in.Reasoning); s != "" {
		m.Parts = append(m.Parts, message.Part{Kind: message.Reasoning, Text: s})
	}
	parts, err := r.content(in.Message)
	if err != nil {
		return err
	}
	m.Parts = append(m.Parts, parts...)
	switch in.Source {
	case "system":
		m.Role = message.System
	case "user":
		m.Role = message.User
	case "agent":
		m.Role = message.Assistant
		if err := r.stepCalls(&m, in.Calls); err != nil {
			return err
		}
		r.replies++
		if f.Model = in.Model; !in.Copied {
			r.cost += dollars(in.Metrics.Cost)
			f.Usage = message.Usage{Input: number(in.Metrics.Prompt), Cached: number(in.Metrics.Cached), Output: number(in.Metrics.Completion)}
		}
	default:
		return fmt.Errorf("there is no source %q: want system, user or agent", clip(in.Source))
	}
	if m.Role == message.System && len(r.msgs) == 0 {
		r.system = append(r.system, m.PlainText())
	} else {
		r.add(m, f)
	}
	return r.results(in.Observation.Results, m.Role, Fact{Time: f.Time})
}

func (r *stepReader) add(m message.Message, f Fact) {
	r.msgs, r.facts = append(r.msgs, m), append(r.facts, f)
}

// stepCalls adds the calls of a step.
func (r *stepReader) stepCalls(m *message.Message, calls []rawStepCall) error {
	in := rawMessage{}
	for _, c := range calls {
		in.ToolCalls = append(in.ToolCalls, rawCall{ID: c.ID, Function: rawFunction{Name: c.Name, Arguments: c.Arguments}})
	}
	return r.calls(m, &in)
}

// results adds what came back. What belongs to no call is a message.
func (r *stepReader) results(list []rawStepResult, role message.Role, f Fact) error {
	if role != message.System {
		role = message.User
	}
	for _, x := range list {
		parts, err := r.content(x.Content)
		if err != nil {
			return err
		}
		m := message.Message{Role: role, Parts: parts}
		if x.Call != "" {
			m.Role, m.ToolCallID = message.Tool, x.Call
			r.answer(&m, &rawMessage{ToolCallID: x.Call})
			r.outcome(m.ToolCallID, x.Extra)
		} else {
			r.fixed[LooseResult]++
		}
		r.add(m, f)
	}
	return nil
}

// outcome keeps what a result says became of its call, as Rein's own trajectories do.
func (r *stepReader) outcome(call string, extra jsontext.Value) {
	var in struct {
		Status    jsontext.Value `json:"status"`
		ErrorType jsontext.Value `json:"error_type"`
		IsError   bool           `json:"is_error"`
	}
	if extra.Kind() != '{' || json.Unmarshal(extra, &in, lenient) != nil {
		return
	}
	f := Fact{Status: event.Status(text(in.Status)), ErrorType: clip(text(in.ErrorType))}
	switch f.Status {
	case event.StatusSuccess, event.StatusError, event.StatusTimeout, event.StatusUnknown, event.StatusDenied, event.StatusIntercepted:
	default:
		if f.Status = ""; in.IsError || f.ErrorType != "" {
			f.Status = event.StatusError
		}
	}
	if r.outcomes == nil {
		r.outcomes = map[outcomeOf]Fact{}
	}
	r.outcomes[outcomeOf{r.replies, call}] = f // a later one is of another attempt
}

// endOf reads how a run ended, as Rein's own trajectories say it.
func endOf(extra jsontext.Value) *End {
	var in struct {
		Rein struct {
			Status string         `json:"status"`
			Reason string         `json:"reason"`
			Cause  string         `json:"cause"`
			OK     bool           `json:"ok"`
			Detail string         `json:"detail"`
			Result jsontext.Value `json:"result"`
		} `json:"rein"`
	}
	if extra.Kind() != '{' || json.Unmarshal(extra, &in, lenient) != nil {
		return nil
	}
	end := &End{OK: in.Rein.OK, Detail: in.Rein.Detail}
	if in.Rein.Result.IsValid() { // refuses what is not UTF-8
		end.Result = in.Rein.Result
	}
	switch in.Rein.Status {
	case "finished":
		end.Reason = event.Reason(in.Rein.Reason)
	case "paused":
		end.Cause = event.Cause(in.Rein.Cause)
	}
	if !slices.Contains(reasons, end.Reason) && !slices.Contains(causes, end.Cause) {
		return nil
	}
	return end
}

// The words of the journal that are believed of a recording.
var (
	reasons = []event.Reason{event.ReasonSubmitted, event.ReasonAnswered, event.ReasonStepLimit, event.ReasonToolLimit, event.ReasonTokenLimit,
		event.ReasonCostLimit, event.ReasonTimeLimit, event.ReasonRepetition, event.ReasonNoProgress, event.ReasonMalformed, event.ReasonRefused,
		event.ReasonDenied, event.ReasonCancelled, event.ReasonContextOverflow, event.ReasonModelError, event.ReasonInternalError}
	causes = []event.Cause{event.CauseInterrupted, event.CauseWaitingApproval, event.CauseWaitingInput, event.CauseTurnDone}
)

// micros is how many millionths a dollar has, mostDollars the most that a step is
// believed to have cost.
const (
	micros      = 1_000_000
	mostDollars = 1_000_000
)

// dollars returns a JSON number of dollars in millionths, 0 if it is none that can be.
func dollars(v jsontext.Value) int64 {
	if v.Kind() != '0' {
		return 0
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || !(f >= 0 && f <= mostDollars) {
		return 0
	}
	return int64(math.Round(f * micros))
}

// factsOf returns the facts of the messages after they were paired, which may have
// moved, dropped and added results: of results it knows their time and what they say.
func (r *stepReader) factsOf(paired []message.Message) []Fact {
	out := make([]Fact, len(paired))
	at, replies := 0, 0
	for i := range paired {
		if paired[i].Role == message.Tool {
			out[i] = r.outcomes[outcomeOf{replies, paired[i].ToolCallID}]
			if i > 0 {
				out[i].Time = out[i-1].Time
			}
			continue
		}
		if paired[i].Role == message.Assistant {
			replies++
		}
		for at < len(r.msgs) && r.msgs[at].Role == message.Tool {
			at++
		}
		if at < len(r.facts) {
			out[i] = r.facts[at]
			at++
		}
	}
	return out
}

// moment returns a time of ISO 8601 in Unix milliseconds, 0 if it is none or from
// before 1970. One without a zone is taken for UTC.
func moment(s string) int64 {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999"} {
		if t, err := time.Parse(layout, s); err == nil {
			return max(t.UnixMilli(), 0)
		}
	}
	return 0
}

// number returns a whole number, unknown if it is none.
func number(v jsontext.Value) message.Count {
	if v.Kind() != '0' {
		return 0
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return message.Known(n)
}
