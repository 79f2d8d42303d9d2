package recording

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// rawConversation is a conversation as it is written down.
type rawConversation struct {
	ID       jsontext.Value   `json:"id"`
	TaskID   jsontext.Value   `json:"task_id"`
	Trial    jsontext.Value   `json:"trial"`
	Messages []jsontext.Value `json:"messages"`
	// Traj is what tau-bench calls the messages.
	Traj  []jsontext.Value `json:"traj"`
	Tools []rawTool        `json:"tools"`
	Model jsontext.Value   `json:"model"`
}

// rawTool is a tool: in the wrapping of Chat Completions, without, as the Messages
// wire has it, or as MCP has it.
type rawTool struct {
	Function    *rawTool       `json:"function"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  jsontext.Value `json:"parameters"`
	InputSchema jsontext.Value `json:"inputSchema"`
	Messages    jsontext.Value `json:"input_schema"`
}

// rawMessage is a message as it is written down.
type rawMessage struct {
	Role      string         `json:"role"`
	Content   jsontext.Value `json:"content"`
	Reasoning jsontext.Value `json:"reasoning_content"`
	ToolCalls []rawCall      `json:"tool_calls"`
	// FunctionCall and the role "function" are how calls were written before there
	// were several.
	FunctionCall *rawFunction `json:"function_call"`
	ToolCallID   string       `json:"tool_call_id"`
	Name         string       `json:"name"`
	IsError      bool         `json:"is_error"`
}

type rawCall struct {
	ID       string      `json:"id"`
	Function rawFunction `json:"function"`
}

type rawFunction struct {
	Name string `json:"name"`
	// Arguments are a string that holds JSON, or what it should hold.
	Arguments jsontext.Value `json:"arguments"`
}

// rawPart is a piece of a message's content.
type rawPart struct {
	Type     string         `json:"type"`
	Text     string         `json:"text"`
	Refusal  string         `json:"refusal"`
	ImageURL jsontext.Value `json:"image_url"`
	// Source is where a trajectory has the image.
	Source struct {
		MediaType string `json:"media_type"`
		Path      string `json:"path"`
	} `json:"source"`
}

// nameless is what a call without a name is said to have called.
const nameless = "unnamed"

// conversation reads one conversation.
func conversation(raw jsontext.Value, limits Limits) (*Conversation, error) {
	fixed := repairs{}
	if !raw.IsValid() { // refuses what is not UTF-8, which lenient reads
		fixed[BadText] = 1
	}
	var in rawConversation
	switch raw.Kind() {
	case '[':
		if err := json.Unmarshal(raw, &in.Messages, lenient); err != nil {
			return nil, plain(err)
		}
	case '{':
		if err := json.Unmarshal(raw, &in, lenient); err != nil {
			return nil, fmt.Errorf("it is no conversation: %w", plain(err))
		}
		if in.Messages == nil {
			in.Messages = in.Traj
		}
	default:
		return nil, errors.New("it is neither an object nor a list of messages")
	}
	switch n := len(in.Messages); {
	case n == 0:
		return nil, errors.New("it has no messages: want a list of them, or an object that has one as messages")
	case n > limits.Messages:
		return nil, fmt.Errorf("it has %d messages, and %d is the most that is read", n, limits.Messages)
	}
	r := reader{fixed: fixed}
	for i, m := range in.Messages {
		if err := r.message(m); err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
	}
	c := &Conversation{Format: ChatCompletions, ID: in.name(), Model: text(in.Model), Tools: toolsOf(in.Tools), System: r.system, Messages: r.pair()}
	c.label(raw, "messages", "traj", "tools", "id", "model")
	c.Repairs = fixed.list()
	if len(c.Messages)+len(c.System) == 0 {
		return nil, errors.New("it holds nothing but results without calls")
	}
	return c, nil
}

// label keeps the members of a conversation that are no part of what was said: all but
// those that are named.
func (c *Conversation) label(raw jsontext.Value, but ...string) {
	if raw.Kind() != '{' {
		return
	}
	d := jsontext.NewDecoder(bytes.NewReader(raw), lenient, jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		return
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return
		}
		l := event.Label{Name: name.String()} // before it is overwritten
		v, err := d.ReadValue()
		if err != nil {
			return
		}
		if slices.Contains(but, l.Name) {
			continue
		}
		if len(v) > MaxLabel || len(c.Labels) >= MaxLabels || len(l.Name) > MaxLabel || !v.IsValid() {
			if len(c.LeftOut) < MaxLabels {
				c.LeftOut = append(c.LeftOut, clip(l.Name))
			}
			continue
		}
		l.Value = v.Clone()
		if l.Value.Compact() == nil {
			c.Labels = append(c.Labels, l)
		}
	}
}

// name returns what the recording calls the conversation.
func (in *rawConversation) name() string {
	if id := word(in.ID); id != "" {
		return id
	}
	if id := word(in.TaskID); id != "" {
		if trial := word(in.Trial); trial != "" {
			id += "-" + trial
		}
		return "task " + id
	}
	return ""
}

// word returns a string or a number as text.
func word(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		return text(v)
	case '0':
		return string(v)
	}
	return ""
}

// text returns the string that v is, or empty.
func text(v jsontext.Value) string {
	var s string
	if v.Kind() != '"' || json.Unmarshal(v, &s, lenient) != nil {
		return ""
	}
	return s
}

func toolsOf(in []rawTool) []Tool {
	var out []Tool
	for _, t := range in {
		if t.Function != nil {
			t = *t.Function
		}
		if t.Name != "" {
			schema := t.Parameters
			for _, other := range []jsontext.Value{t.InputSchema, t.Messages} {
				if schema == nil {
					schema = other
				}
			}
			out = append(out, Tool{Name: t.Name, Description: t.Description, Schema: schema})
		}
	}
	return out
}

// reader gathers the messages of one conversation.
type reader struct {
	fixed  repairs
	system []string
	msgs   []message.Message
	// open are the calls of the last assistant message that have no result yet.
	open []message.Part
}

// message reads the next one.
func (r *reader) message(raw jsontext.Value) error {
	var in rawMessage
	if raw.Kind() != '{' {
		return errors.New("it is not an object")
	}
	if err := json.Unmarshal(raw, &in, lenient); err != nil {
		return plain(err)
	}
	m := message.Message{}
	if s := text(in.Reasoning); s != "" {
		m.Parts = append(m.Parts, message.Part{Kind: message.Reasoning, Text: s})
	}
	parts, err := r.content(in.Content)
	if err != nil {
		return err
	}
	m.Parts = append(m.Parts, parts...)
	switch in.Role {
	case "system", "developer":
		m.Role = message.System
		if len(r.msgs) == 0 {
			r.system = append(r.system, m.PlainText())
			return nil
		}
	case "user":
		m.Role = message.User
	case "assistant":
		m.Role = message.Assistant
		if err := r.calls(&m, &in); err != nil {
			return err
		}
	case "tool", "function":
		m.Role = message.Tool
		r.answer(&m, &in)
	default:
		return fmt.Errorf("there is no role %q: want system, user, assistant or tool", clip(in.Role))
	}
	r.msgs = append(r.msgs, m)
	return nil
}

// clip returns the beginning of a text that somebody wrote.
func clip(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// content reads the texts and images of a message.
func (r *reader) content(v jsontext.Value) ([]message.Part, error) {
	switch v.Kind() {
	case '"':
		if s := text(v); s != "" {
			return []message.Part{{Kind: message.Text, Text: s}}, nil
		}
		return nil, nil
	case '[':
	case 'n', 0:
		return nil, nil
	default:
		return nil, errors.New("its content is neither a text nor a list of parts")
	}
	var raws []jsontext.Value
	if err := json.Unmarshal(v, &raws, lenient); err != nil {
		return nil, plain(err)
	}
	var out []message.Part
	for _, raw := range raws {
		out = append(out, r.part(raw))
	}
	return out, nil
}

// part reads one piece of a message's content.
func (r *reader) part(raw jsontext.Value) message.Part {
	var in rawPart
	if raw.Kind() == '"' {
		return message.Part{Kind: message.Text, Text: text(raw)}
	}
	if raw.Kind() == '{' && json.Unmarshal(raw, &in, lenient) == nil {
		switch in.Type {
		case "text", "input_text", "output_text":
			return message.Part{Kind: message.Text, Text: in.Text}
		case "refusal":
			return message.Part{Kind: message.Text, Text: in.Refusal}
		case "reasoning", "thinking":
			return message.Part{Kind: message.Reasoning, Text: in.Text}
		case "image":
			if in.Source.Path != "" {
				return message.Part{Kind: message.Image, MediaType: in.Source.MediaType, URL: in.Source.Path}
			}
		case "image_url", "input_image":
			if url := address(in.ImageURL); url != "" {
				return message.Part{Kind: message.Image, URL: url}
			}
		}
	}
	r.fixed[UnknownPart]++
	return message.Part{Kind: message.Text, Text: strings.ToValidUTF8(string(raw), "\uFFFD")}
}

// address returns a URL that stands alone or as the member url.
func address(v jsontext.Value) string {
	var in struct {
		URL string `json:"url"`
	}
	if v.Kind() == '{' && json.Unmarshal(v, &in, lenient) == nil {
		return in.URL
	}
	return text(v)
}

// calls adds the calls of an assistant message, each with an id and a name.
func (r *reader) calls(m *message.Message, in *rawMessage) error {
	calls := in.ToolCalls
	if in.FunctionCall != nil && len(calls) == 0 {
		calls = []rawCall{{Function: *in.FunctionCall}}
	}
	r.open = nil
	if len(calls) > maxCalls {
		return fmt.Errorf("it has %d calls, and %d is the most that is read", len(calls), maxCalls)
	}
	for _, c := range calls {
		p := message.Part{Kind: message.ToolCall, ID: c.ID, Name: c.Function.Name, Args: arguments(c.Function.Arguments)}
		if p.ID == "" {
			p.ID = "call-" + strconv.Itoa(len(r.msgs)) + "-" + strconv.Itoa(len(r.open))
			r.fixed[MissingID]++
		}
		if p.Name == "" {
			p.Name = nameless
			r.fixed[NamelessCall]++
		}
		m.Parts = append(m.Parts, p)
		r.open = append(r.open, p)
	}
	return nil
}

// maxCalls is the most calls of one message. Each of its results is looked for among
// them, and they are all open at once where the run is played.
const maxCalls = 256

// arguments returns the text that a call's arguments are or would be.
func arguments(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		return text(v)
	case 'n', 0:
		return ""
	}
	return strings.ToValidUTF8(string(v), "\uFFFD")
}

// answer makes m the result of a call: the one that it names or, if it names
// none, the first one without a result, of the function's name if there is one.
func (r *reader) answer(m *message.Message, in *rawMessage) {
	m.ToolCallID, m.ToolName, m.Failed = in.ToolCallID, in.Name, in.IsError
	at := -1
	for i, c := range r.open {
		if c.ID == m.ToolCallID || m.ToolCallID == "" && (in.Name == "" || in.Name == c.Name) {
			at = i
			break
		}
	}
	if m.ToolCallID == "" {
		r.fixed[MissingID]++
	}
	if at < 0 {
		return
	}
	c := r.open[at]
	m.ToolCallID, m.ToolName = c.ID, c.Name
	r.open = append(r.open[:at:at], r.open[at+1:]...)
}

// pair returns the messages paired, and counts what that changed.
func (r *reader) pair() []message.Message {
	out := message.Pair(r.msgs)
	before, madeBefore := results(r.msgs)
	after, madeAfter := results(out)
	made := max(madeAfter-madeBefore, 0) // one that was recorded so may be among the dropped
	dropped := before - (after - made)
	r.fixed[MissingResult] += made
	r.fixed[OrphanResult] += dropped
	if made == 0 && dropped == 0 && len(out) > 0 && &out[0] != &r.msgs[0] {
		r.fixed[MovedResult] = 1
	}
	return out
}

// results counts the results in msgs, and those that say that there is none.
func results(msgs []message.Message) (n, made int) {
	for i := range msgs {
		if msgs[i].Role != message.Tool {
			continue
		}
		n++
		if msgs[i].PlainText() == message.Interrupted {
			made++
		}
	}
	return n, made
}
