package script

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
	"rein.example/rein/model"
)

// encoder writes requests in a plain form of its own: the messages as Rein
// keeps them, after everything else.
type encoder struct{}

// Version names the form that in-process requests have.
func (encoder) Version() string { return "script/1" }

// request is the form. Head and Message must write what it reads.
type request struct {
	// Error says why the request could not be written.
	Error      string            `json:"error,omitempty"`
	Model      string            `json:"model"`
	Stream     bool              `json:"stream,omitempty"`
	MaxOutput  int64             `json:"max_output,omitempty"`
	Tools      []offered         `json:"tools,omitempty"`
	NoTools    bool              `json:"no_tools,omitempty"`
	Schema     jsontext.Value    `json:"schema,omitempty"`
	SchemaName string            `json:"schema_name,omitempty"`
	System     []message.Message `json:"system,omitempty"`
	Messages   []message.Message `json:"messages"`
}

type offered struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Schema      jsontext.Value `json:"schema,omitempty"`
}

// lenient lets text that is not UTF-8 pass as U+FFFD: an encoder has no error
// to return.
var lenient = jsontext.AllowInvalidUTF8(true)

func (encoder) Head(dst []byte, p *model.Params, system []message.Message) []byte {
	head := request{
		Model: p.Model, Stream: p.Stream, MaxOutput: p.MaxOutput, NoTools: p.NoTools,
		Schema: p.Schema, SchemaName: p.SchemaName, System: system,
	}
	for _, t := range p.Tools {
		head.Tools = append(head.Tools, offered{t.Name, t.Description, t.Schema})
	}
	b, err := json.Marshal(head, lenient)
	if err != nil {
		// Only a schema that is not JSON gets here. An encoder cannot fail, so
		// the request says it, and is refused.
		if b, err = json.Marshal(request{Error: err.Error()}, lenient); err != nil {
			return append(dst, `{"messages":[`...)
		}
	}
	const tail = `[]}` // of the messages, which come next
	return append(append(dst, b[:len(b)-len(tail)]...), '[')
}

func (encoder) Message(dst []byte, prev, m *message.Message) []byte {
	if prev != nil {
		dst = append(dst, ',')
	}
	b, err := json.Marshal(m, lenient)
	if err != nil {
		return append(dst, "null"...) // opaque data that is not JSON: Call refuses the request
	}
	return append(dst, b...)
}

func (encoder) Close(dst []byte, _ *model.Params, _ *message.Message) []byte {
	return append(dst, `]}`...)
}

// decode reads a request back.
func decode(body []byte) (*conversation, bool, error) {
	var r request
	if err := json.Unmarshal(body, &r, json.RejectUnknownMembers(true)); err != nil {
		return nil, false, fmt.Errorf("the request is not of the form script/1: %w", err)
	}
	if r.Error != "" {
		return nil, false, fmt.Errorf("the request could not be written: %s", r.Error)
	}
	c := &conversation{mayCall: len(r.Tools) > 0 && !r.NoTools, schema: r.SchemaName, bytes: len(body)}
	for _, t := range r.Tools {
		c.tools = append(c.tools, t.Name)
	}
	for _, list := range [][]message.Message{r.System, r.Messages} {
		for i := range list {
			m := &list[i]
			s := said{role: m.Role, text: m.PlainText(), answers: m.ToolCallID}
			for j := range m.Parts {
				if p := &m.Parts[j]; p.Kind == message.ToolCall {
					s.calls = append(s.calls, calledTool{p.ID, p.Name})
				}
			}
			c.messages = append(c.messages, s)
		}
	}
	return c, r.Stream, c.check()
}

// A wrongMessage is a message that a server would refuse.
type wrongMessage struct {
	at  int // index in the conversation
	why string
}

func (e *wrongMessage) Error() string { return fmt.Sprintf("message %d: %s", e.at, e.why) }

// check refuses what real servers refuse: unknown roles, and tool calls without
// exactly one result each, directly behind them.
func (c *conversation) check() error {
	if len(c.messages) == 0 {
		return &wrongMessage{0, "there is no message"}
	}
	open := map[string]bool{}
	caller := -1
	for i := range c.messages {
		m := &c.messages[i]
		if m.role == message.Tool {
			if !open[m.answers] {
				return &wrongMessage{i, fmt.Sprintf("a tool message must answer a tool call of the assistant message before it, once; %q is not open there", m.answers)}
			}
			delete(open, m.answers)
			continue
		}
		if len(open) > 0 {
			return &wrongMessage{caller, "its tool calls must be answered by tool messages directly after it; not answered: " + ids(c.messages[caller].calls, open)}
		}
		switch m.role {
		case message.System, message.User:
			if len(m.calls) > 0 {
				return &wrongMessage{i, "only an assistant message may call tools"}
			}
		case message.Assistant:
			caller = i
			for _, call := range m.calls {
				if call.id == "" {
					return &wrongMessage{i, "a tool call has no id"}
				}
				if open[call.id] {
					return &wrongMessage{i, fmt.Sprintf("two tool calls have the id %q", call.id)}
				}
				open[call.id] = true
			}
		default:
			return &wrongMessage{i, fmt.Sprintf("%q is not a role; roles are system, user, assistant and tool", m.role)}
		}
	}
	if len(open) > 0 {
		return &wrongMessage{caller, "its tool calls must be answered by tool messages directly after it; not answered: " + ids(c.messages[caller].calls, open)}
	}
	return nil
}

// ids lists the calls that are open, in order.
func ids(calls []calledTool, open map[string]bool) string {
	var s string
	for _, c := range calls {
		if open[c.id] {
			if s != "" {
				s += ", "
			}
			s += c.id
		}
	}
	return s
}
