package script

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
)

// chatRequest is the body of a Chat Completions request. Members that are only
// listed are known and not looked into; any other member is refused, so that a
// misspelt one shows.
type chatRequest struct {
	Model             string         `json:"model"`
	Messages          []chatMessage  `json:"messages"`
	Tools             []chatTool     `json:"tools"`
	ToolChoice        jsontext.Value `json:"tool_choice"`
	ParallelToolCalls *bool          `json:"parallel_tool_calls"`
	Stream            bool           `json:"stream"`
	StreamOptions     *struct {
		IncludeUsage       bool `json:"include_usage"`
		IncludeObfuscation bool `json:"include_obfuscation"`
	} `json:"stream_options"`
	ResponseFormat *struct {
		Type       string `json:"type"`
		JSONSchema *struct {
			Name        string         `json:"name"`
			Description string         `json:"description"`
			Schema      jsontext.Value `json:"schema"`
			Strict      *bool          `json:"strict"`
		} `json:"json_schema"`
	} `json:"response_format"`
	MaxTokens           *int64   `json:"max_tokens"`
	MaxCompletionTokens *int64   `json:"max_completion_tokens"`
	Temperature         *float64 `json:"temperature"`
	TopP                *float64 `json:"top_p"`
	N                   *int64   `json:"n"`

	// Known to OpenAI.
	FrequencyPenalty jsontext.Value `json:"frequency_penalty"`
	LogitBias        jsontext.Value `json:"logit_bias"`
	Logprobs         jsontext.Value `json:"logprobs"`
	Metadata         jsontext.Value `json:"metadata"`
	Modalities       jsontext.Value `json:"modalities"`
	Prediction       jsontext.Value `json:"prediction"`
	PresencePenalty  jsontext.Value `json:"presence_penalty"`
	PromptCacheKey   jsontext.Value `json:"prompt_cache_key"`
	ReasoningEffort  jsontext.Value `json:"reasoning_effort"`
	SafetyIdentifier jsontext.Value `json:"safety_identifier"`
	Seed             jsontext.Value `json:"seed"`
	ServiceTier      jsontext.Value `json:"service_tier"`
	Stop             jsontext.Value `json:"stop"`
	Store            jsontext.Value `json:"store"`
	TopLogprobs      jsontext.Value `json:"top_logprobs"`
	User             jsontext.Value `json:"user"`
	Verbosity        jsontext.Value `json:"verbosity"`

	// Known to compatible servers.
	ChatTemplateKwargs jsontext.Value `json:"chat_template_kwargs"`
	EnableThinking     jsontext.Value `json:"enable_thinking"`
	KeepAlive          jsontext.Value `json:"keep_alive"`
	MinP               jsontext.Value `json:"min_p"`
	Options            jsontext.Value `json:"options"`
	Provider           jsontext.Value `json:"provider"`
	Reasoning          jsontext.Value `json:"reasoning"`
	RepetitionPenalty  jsontext.Value `json:"repetition_penalty"`
	Think              jsontext.Value `json:"think"`
	Thinking           jsontext.Value `json:"thinking"`
	TopK               jsontext.Value `json:"top_k"`

	conversation *conversation
}

type chatMessage struct {
	Role       string         `json:"role"`
	Content    jsontext.Value `json:"content"`
	Name       string         `json:"name"`
	ToolCallID string         `json:"tool_call_id"`
	ToolCalls  []chatCall     `json:"tool_calls"`
	Refusal    jsontext.Value `json:"refusal"`
	Audio      jsontext.Value `json:"audio"`
	// Reasoning that compatible servers take back.
	Reasoning        jsontext.Value `json:"reasoning"`
	ReasoningContent jsontext.Value `json:"reasoning_content"`
	ReasoningDetails jsontext.Value `json:"reasoning_details"`
}

type chatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string  `json:"name"`
		Arguments *string `json:"arguments"`
	} `json:"function"`
}

type chatTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Parameters  jsontext.Value `json:"parameters"`
		Strict      *bool          `json:"strict"`
	} `json:"function"`
}

// maxParts bounds the messages of a request, and the parts of a message.
const maxParts = 100_000

// toolName is what the wire takes as the name of a tool.
var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// A badRequest is an error about one member of the body.
type badRequest struct{ param, why string }

func (e *badRequest) Error() string { return e.why }

func bad(param, format string, args ...any) error {
	return &badRequest{param, fmt.Sprintf(format, args...)}
}

// readChat reads and checks a body as strictly as the strictest real server.
func readChat(body []byte) (*chatRequest, *apiError) {
	var r chatRequest
	err := json.Unmarshal(body, &r, json.RejectUnknownMembers(true))
	if err != nil {
		err = bad("", "the body is not a chat request: %v", err)
	} else {
		err = r.check(len(body))
	}
	if err == nil {
		return &r, nil
	}
	problem := &apiError{Type: "invalid_request_error", Message: err.Error()}
	if at := (*badRequest)(nil); errors.As(err, &at) {
		problem.Param = at.param
	}
	if at := (*wrongMessage)(nil); errors.As(err, &at) {
		problem.Param = fmt.Sprintf("messages.[%d]", at.at)
	}
	return nil, problem
}

func (r *chatRequest) check(size int) error {
	if r.Model == "" {
		return bad("model", "you must name a model")
	}
	if len(r.Messages) > maxParts {
		return bad("messages", "there are more than %d messages", maxParts)
	}
	c := &conversation{bytes: size, mayCall: len(r.Tools) > 0}
	for i := range r.Messages {
		m, err := r.Messages[i].read(fmt.Sprintf("messages.[%d]", i))
		if err != nil {
			return err
		}
		c.messages = append(c.messages, m)
	}
	if err := c.check(); err != nil {
		return err
	}
	for i := range r.Tools {
		t, at := &r.Tools[i], fmt.Sprintf("tools.[%d]", i)
		switch {
		case t.Type != "function":
			return bad(at+".type", "the type of a tool is function, not %q", t.Type)
		case !toolName.MatchString(t.Function.Name):
			return bad(at+".function.name", "%s is not a name for a tool; it must match %s", excerpt(t.Function.Name), toolName)
		case t.Function.Parameters != nil && t.Function.Parameters.Kind() != '{':
			return bad(at+".function.parameters", "the parameters of a tool are a JSON Schema object")
		}
		c.tools = append(c.tools, t.Function.Name)
	}
	if r.Tools != nil && len(r.Tools) == 0 {
		return bad("tools", "the list of tools is empty; leave it out")
	}
	if err := r.checkChoice(c); err != nil {
		return err
	}
	r.conversation = c
	return r.checkRest(c)
}

// checkChoice reads tool_choice: none, auto, required, or one function.
func (r *chatRequest) checkChoice(c *conversation) error {
	if r.ParallelToolCalls != nil && r.Tools == nil {
		return bad("parallel_tool_calls", "parallel_tool_calls is only allowed with tools")
	}
	if r.ToolChoice == nil {
		return nil
	}
	if r.Tools == nil {
		return bad("tool_choice", "tool_choice is only allowed with tools")
	}
	var word string
	if json.Unmarshal(r.ToolChoice, &word) == nil {
		switch word {
		case "none":
			c.mayCall = false
			return nil
		case "auto", "required":
			return nil
		}
		return bad("tool_choice", "tool_choice is none, auto, required or a function, not %q", word)
	}
	var one chatTool
	if err := json.Unmarshal(r.ToolChoice, &one, json.RejectUnknownMembers(true)); err != nil || one.Type != "function" {
		return bad("tool_choice", "tool_choice is none, auto, required or a function")
	}
	for _, name := range c.tools {
		if name == one.Function.Name {
			return nil
		}
	}
	return bad("tool_choice", "tool_choice names %s, which is not among the tools", excerpt(one.Function.Name))
}

func (r *chatRequest) checkRest(c *conversation) error {
	if r.StreamOptions != nil && !r.Stream {
		return bad("stream_options", "stream_options is only allowed when stream is true")
	}
	if r.N != nil && *r.N != 1 {
		return bad("n", "n is 1 here")
	}
	for _, most := range []*int64{r.MaxTokens, r.MaxCompletionTokens} {
		if most != nil && *most < 1 {
			return bad("max_completion_tokens", "the longest reply is at least 1 token")
		}
	}
	if r.MaxTokens != nil && r.MaxCompletionTokens != nil {
		return bad("max_tokens", "max_tokens and max_completion_tokens exclude each other")
	}
	if r.Temperature != nil && (*r.Temperature < 0 || *r.Temperature > 2) {
		return bad("temperature", "temperature is from 0 to 2")
	}
	if r.TopP != nil && (*r.TopP < 0 || *r.TopP > 1) {
		return bad("top_p", "top_p is from 0 to 1")
	}
	f := r.ResponseFormat
	if f == nil {
		return nil
	}
	switch f.Type {
	case "text", "json_object":
		return nil
	case "json_schema":
		if f.JSONSchema == nil || !toolName.MatchString(f.JSONSchema.Name) {
			return bad("response_format.json_schema.name", "a JSON schema needs a name that matches %s", toolName)
		}
		if f.JSONSchema.Schema != nil && f.JSONSchema.Schema.Kind() != '{' {
			return bad("response_format.json_schema.schema", "the schema is an object")
		}
		c.schema = f.JSONSchema.Name
		return nil
	}
	return bad("response_format.type", "the type is text, json_object or json_schema, not %q", f.Type)
}

// read checks one message by itself; conversation.check sees to how they follow
// each other.
func (m *chatMessage) read(at string) (said, error) {
	s := said{role: message.Role(m.Role), answers: m.ToolCallID}
	switch m.Role {
	case "developer":
		s.role = message.System
	case "system", "user", "assistant", "tool":
	default:
		return s, bad(at+".role", "%s is not a role; roles are system, developer, user, assistant and tool", excerpt(m.Role))
	}
	if m.ToolCalls != nil && m.Role != "assistant" {
		return s, bad(at+".tool_calls", "only an assistant message has tool_calls")
	}
	if m.ToolCalls != nil && len(m.ToolCalls) == 0 {
		return s, bad(at+".tool_calls", "the list of tool calls is empty; leave it out")
	}
	if (m.Role == "tool") != (m.ToolCallID != "") {
		return s, bad(at+".tool_call_id", "a tool message, and no other, has a tool_call_id")
	}
	for i := range m.ToolCalls {
		c, at := &m.ToolCalls[i], fmt.Sprintf("%s.tool_calls.[%d]", at, i)
		switch {
		case c.Type != "function":
			return s, bad(at+".type", "the type of a tool call is function, not %q", c.Type)
		case !toolName.MatchString(c.Function.Name):
			return s, bad(at+".function.name", "%s is not the name of a function; it must match %s", excerpt(c.Function.Name), toolName)
		case c.Function.Arguments == nil:
			return s, bad(at+".function.arguments", "the arguments are missing; they are a string")
		}
		s.calls = append(s.calls, calledTool{c.ID, c.Function.Name})
	}
	var err error
	s.text, err = m.content(at + ".content")
	return s, err
}

// partKinds are the kinds of content parts that each role may have.
var partKinds = map[string]map[string]bool{
	"system":    {"text": true},
	"developer": {"text": true},
	"user":      {"text": true, "image_url": true, "input_audio": true, "file": true},
	"assistant": {"text": true, "refusal": true},
	"tool":      {"text": true},
}

func (m *chatMessage) content(at string) (string, error) {
	switch m.Content.Kind() {
	case '"':
		var s string
		err := json.Unmarshal(m.Content, &s)
		return s, err
	case '[':
		var parts []struct {
			Type         string         `json:"type"`
			Text         *string        `json:"text"`
			Refusal      jsontext.Value `json:"refusal"`
			ImageURL     jsontext.Value `json:"image_url"`
			InputAudio   jsontext.Value `json:"input_audio"`
			File         jsontext.Value `json:"file"`
			CacheControl jsontext.Value `json:"cache_control"`
		}
		if err := json.Unmarshal(m.Content, &parts, json.RejectUnknownMembers(true)); err != nil {
			return "", bad(at, "these are not content parts: %v", err)
		}
		if len(parts) == 0 || len(parts) > maxParts {
			return "", bad(at, "a list of content parts has 1 to %d parts", maxParts)
		}
		var text []byte
		for i := range parts {
			if !partKinds[m.Role][parts[i].Type] {
				return "", bad(fmt.Sprintf("%s.[%d].type", at, i), "a %s message has no parts of type %s", m.Role, excerpt(parts[i].Type))
			}
			if parts[i].Text != nil {
				text = append(text, *parts[i].Text...)
			} else if parts[i].Type == "text" {
				return "", bad(fmt.Sprintf("%s.[%d].text", at, i), "the text is missing")
			}
		}
		return string(text), nil
	}
	if m.Role == "assistant" && len(m.ToolCalls) > 0 && (m.Content == nil || m.Content.Kind() == 'n') {
		return "", nil // calls need no words
	}
	return "", bad(at, "the content of a %s message is a string or a list of parts; only beside tool_calls it may be null", m.Role)
}
