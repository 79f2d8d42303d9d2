// Package config answers: which agent does an agent.yaml describe?
//
// [Load] reads a file into an [Agent], strictly: what is not known, of the wrong
// kind or out of range is refused, with the line, the column and what is allowed
// there, and all that is wrong with a file is reported at once. A setting that
// this version does not carry out is refused too, since an agent that ignores a
// limit is worse than one that does not start. [Schema] is the same description
// as JSON Schema, made from the same structs, for editors.
//
// [Agent.Options] turns the description into what [rein.New] takes.
package config

import (
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/internal/yamltree"
)

// Agent is the content of an agent.yaml. Empty fields were not set.
//
// The struct tags are the one description that the decoder, the schema and the
// encoder share: yaml is the key, is the kind of text (see textRules), min and
// max bound numbers, and doc is what an editor shows.
type Agent struct {
	Name        string       `yaml:"name" is:"name" doc:"The agent's name in journals and traces."`
	Model       string       `yaml:"model" is:"model" doc:"The model to use, as provider/model."`
	Fallback    []string     `yaml:"fallback" is:"model" max:"8" doc:"Models to go on with, in this order, when the one before has failed for good. base_url, key_env, key_file, price, calls and window.size are for model only; the others have what is usual for their provider."`
	BaseURL     string       `yaml:"base_url" is:"url" doc:"Where the provider's API is, for any server that speaks its wire, such as http://127.0.0.1:11434/v1. Left out: the provider's own."`
	KeyEnv      string       `yaml:"key_env" is:"env" doc:"The environment variable that holds the provider's key. Left out: the provider's usual one."`
	KeyFile     string       `yaml:"key_file" is:"path" doc:"A file that holds the provider's key and nothing else."`
	Rules       Rules        `yaml:"rules" doc:"What the agent is told, strictest first. The text is shown to the model; it is not enforced."`
	Accept      Accept       `yaml:"accept" doc:"What a finished task looks like."`
	Tools       []Tool       `yaml:"tools" max:"32" doc:"What the agent can do. submit_result is always there."`
	Limits      Limits       `yaml:"limits" doc:"When a run ends at the latest: a preset (qa, lookup, multi-step, research, long) or single limits. Left out: multi-step."`
	Permissions *Permissions `yaml:"permissions" doc:"Which tools may run. The strictest match wins (deny, ask, allow); a call that nothing matches is denied. Left out: reads are allowed, writes are asked for."`
	Price       *Price       `yaml:"price" doc:"What the model's tokens cost, in US dollars per million. Left out: what is known of the model at its provider."`
	Calls       Calls        `yaml:"calls" doc:"How the model calls tools. Left out: on its wire, as its server has it; and calls in its text are read too, but not from models at OpenAI, Anthropic and Google (Gemini), whose own calls can be relied on."`
	Window      Window       `yaml:"window" doc:"The model's context window."`
	Retry       string       `yaml:"retry" is:"retry" doc:"How failed model calls are tried again: patient waits for minutes; fast gives a server up that refuses within seconds, and one that falls silent within about three minutes. Left out: fast for the presets qa and lookup, else patient."`
	Submit      string       `yaml:"submit" is:"path" doc:"A file with the JSON Schema of the result that a run must submit. A result that is no object is asked for as the one member answer of one, and stands alone in the run's result."`
	Sampling    Sampling     `yaml:"sampling" doc:"Settings that are passed to the model. Left out: the provider's own."`

	// BaseDir is the folder that relative paths start from.
	BaseDir string `yaml:"-"`
	// SubmitSchema is the content of the file that Submit names.
	SubmitSchema jsontext.Value `yaml:"-"`

	source source
}

// source is where an agent came from, for what is found wrong later.
type source struct {
	name string
	text string
	at   map[string]yamltree.Pos
}

// Rules are told to the model.
type Rules struct {
	Never []string `yaml:"never" is:"rule" max:"100" doc:"What the agent must not do."`
	Must  []string `yaml:"must" is:"rule" max:"100" doc:"What the agent has to do."`
	Can   []string `yaml:"can" is:"rule" max:"100" doc:"What the agent may do."`
}

// Accept says what a finished task looks like.
type Accept struct {
	Text string `yaml:"text" is:"prose" doc:"What a finished task looks like, in words; it stands with the task."`
}

// Tool is one entry of the list of tools: exactly one field is set.
type Tool struct {
	Files      *Files      `yaml:"files" doc:"Read, list and search the files of a folder, and write them."`
	Calculator *Calculator `yaml:"calculator" doc:"Calculate with exact decimals."`
	Clock      *Clock      `yaml:"clock" doc:"Tell the time."`
}

// Files are the tools for the files below a folder.
type Files struct {
	Root  string `yaml:"root" is:"path" need:"true" doc:"The folder. Nothing outside it can be read or written."`
	Write string `yaml:"write" is:"write" doc:"direct offers tools that write into the folder; none does not. Left out: none."`
}

// Calculator has no settings.
type Calculator struct{}

// Clock tells the time.
type Clock struct {
	Timezone string `yaml:"timezone" is:"zone" doc:"The time zone that times are given in where the model names none, such as Europe/Oslo. Left out: UTC."`
}

// Permissions are patterns of calls: effect:read, effect:repeatable,
// effect:once, or the name of a tool, in which * stands for anything.
type Permissions struct {
	Allow []string `yaml:"allow" is:"match" max:"200" doc:"Calls that may run."`
	Ask   []string `yaml:"ask" is:"match" max:"200" doc:"Calls that a person has to approve."`
	Deny  []string `yaml:"deny" is:"match" max:"200" doc:"Calls that may not run."`
}

// Window describes the model's context window, in tokens.
type Window struct {
	Strategy string `yaml:"strategy" is:"strategy" doc:"How the context is kept within its budget: full keeps everything, and a run that would go over ends with context_overflow."`
	Size     int64  `yaml:"size" min:"1024" max:"100000000" doc:"The size of the model's context window in tokens. Left out: what is known of the model."`
	Reserve  int64  `yaml:"reserve" min:"1" max:"10000000" doc:"Tokens kept free for the reply. Left out: 8,192, or 4,096 for windows under 32,768."`
}

// Calls say how the model calls tools.
type Calls struct {
	Dialect string `yaml:"dialect" is:"dialect" doc:"The form in which the model is asked, in the system text, to write its calls, for a model or server that has no tool calls of its own: the one that the model was trained on. hermes for most (Hermes, Qwen), xml for Qwen3-Coder and later, pythonic for Llama 4 and 3.2, react for any other. Left out: the wire's own tool calls."`
	Text    string `yaml:"text" is:"in_text" doc:"Whether calls that the model writes as text count, if they are of tools that it was offered. With a dialect they do."`
	Strict  string `yaml:"strict" is:"strict" doc:"When the server is asked to hold calls to the tools' schemas while the model writes them, if it can: auto, for one request after a call that could not be used, or always. Left out: auto. The request after such a call finds nothing in the server's cache."`
}

// Price is what tokens cost, in US dollars per million.
type Price struct {
	Input      Decimal `yaml:"input" min:"0" max:"1000000" need:"true" doc:"Tokens that go in."`
	Cached     Decimal `yaml:"cached" min:"0" max:"1000000" doc:"Tokens that go in and that the server had kept. Left out: as input."`
	CacheWrite Decimal `yaml:"cache_write" min:"0" max:"1000000" doc:"Tokens that go in and that the server is asked to keep. Left out: as input."`
	Output     Decimal `yaml:"output" min:"0" max:"1000000" need:"true" doc:"Tokens that come out, reasoning included."`
}

// Sampling is passed to the model.
type Sampling struct {
	Temperature Decimal `yaml:"temperature" min:"0" max:"2" doc:"0 for the likeliest words, more for variety."`
	TopP        Decimal `yaml:"top_p" min:"0" max:"1" doc:"The share of the probability that is drawn from."`
	Seed        *int64  `yaml:"seed" min:"0" max:"9007199254740991" doc:"Asks for the same words each time, where the server can."`
	Reasoning   string  `yaml:"reasoning" is:"reasoning" doc:"How much the model should think before it answers."`
}

// Decimal is a number as JSON text, such as "0.7", so that it is passed on as
// it was written; empty for none.
type Decimal string

// Limits end a run. Single limits replace those of the preset.
type Limits struct {
	Preset       string `yaml:"preset" is:"preset" doc:"The preset that other limits are taken from. Left out: multi-step."`
	Steps        int64  `yaml:"steps" min:"1" max:"1000000" doc:"Replies of the model that are acted on."`
	ToolCalls    int64  `yaml:"tool_calls" min:"1" max:"1000000" doc:"Tool calls that are executed. Left out: 4 for each step."`
	Tokens       int64  `yaml:"tokens" min:"1" max:"1000000000000" doc:"Output, and input that was not already sent in this run."`
	Wall         string `yaml:"wall" is:"duration" doc:"Time from the start, such as 30m or 12h, waiting for people excluded."`
	OutputTokens int64  `yaml:"output_tokens" min:"1" max:"10000000" doc:"What one reply of the model may have."`
}

// later has the keys that a struct does not take, though somebody might expect
// them there, and what to do instead.
type later interface{ later() map[string]string }

const notCarriedOut = "is not carried out by this version, and so is refused rather than ignored"

func (Agent) later() map[string]string {
	const key = "a key does not belong in this file; put it into an environment variable and name that here (key_env: OPENAI_API_KEY), or name a file that holds it (key_file)"
	return map[string]string{
		"key": key, "api_key": key, "token": key, "secret": key, "password": key,
		"sandbox": "a sandbox " + notCarriedOut,
	}
}

func (Accept) later() map[string]string {
	const check = "a check of the result " + notCarriedOut + "; say it in words: accept.text"
	return map[string]string{"files": check, "ids": check, "fields": check}
}

func (Tool) later() map[string]string {
	return map[string]string{
		"command":  "running commands " + notCarriedOut,
		"mcp":      "an MCP server " + notCarriedOut,
		"http":     "requests to web servers " + notCarriedOut,
		"artifact": "paging through stored results " + notCarriedOut,
		"plan":     "a plan " + notCarriedOut,
		"get_now":  "the tool's entry here is called clock",
	}
}

func (Limits) later() map[string]string {
	return map[string]string{"cost_usd": "a limit in money " + notCarriedOut + "; limit tokens"}
}

func (Window) later() map[string]string {
	return map[string]string{"shares": "shares of the window " + notCarriedOut}
}
