package recording

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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
	c.label(raw, "schema_version", "steps", "subagent_trajectories", "agent")
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
		if f.Model = in.Model; !in.Copied {
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
		} else {
			r.fixed[LooseResult]++
		}
		r.add(m, f)
	}
	return nil
}

// factsOf returns the facts of the messages after they were paired, which may have
// moved, dropped and added results: nothing more is known of results than their time.
func (r *stepReader) factsOf(paired []message.Message) []Fact {
	out := make([]Fact, len(paired))
	at := 0
	for i := range paired {
		if paired[i].Role == message.Tool {
			if i > 0 {
				out[i].Time = out[i-1].Time
			}
			continue
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
