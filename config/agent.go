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
	Name        string             `yaml:"name" is:"name" doc:"The agent's name in journals and traces."`
	Model       string             `yaml:"model" is:"model" doc:"The model to use, as provider/model."`
	Fallback    []string           `yaml:"fallback" is:"model" max:"8" doc:"Models to go on with, in this order, when the one before has failed for good. base_url, key_env, key_file, price, calls and window.size are for model only; the others have what is usual for their provider."`
	BaseURL     string             `yaml:"base_url" is:"url" doc:"Where the provider's API is, for any server that speaks its wire, such as http://127.0.0.1:11434/v1. Left out: the provider's own."`
	KeyEnv      string             `yaml:"key_env" is:"env" doc:"The environment variable that holds the provider's key. Left out: the provider's usual one."`
	KeyFile     string             `yaml:"key_file" is:"path" doc:"A file that holds the provider's key and nothing else."`
	Contract    string             `yaml:"contract" is:"prose" doc:"What stands before the rules, in place of Rein's own few lines on how to work with tools. Left out: those."`
	Rules       Rules              `yaml:"rules" doc:"What the agent is told, strictest first. What is in words is shown to the model, and not enforced; a rule that names tools is enforced too: a call that would break it is refused."`
	Phases      []Phase            `yaml:"phases" max:"20" doc:"Parts of the run, in order, each with tools of its own; Rein's own are always there. Left out: all tools are there all the time."`
	Accept      Accept             `yaml:"accept" doc:"What a finished task looks like."`
	Check       *bool              `yaml:"check" doc:"true: before an answer or a result ends a run that has called tools, the model is asked to hold it against the task; what is missing is told, and the run goes on, at most twice. Left out: true, but for the presets qa and lookup."`
	ReadBack    *int64             `yaml:"read_back" min:"0" max:"10000" doc:"After how many steps the model is asked whether the work still serves the task, each time; 0: never. Left out: 8, and 0 for the presets qa and lookup."`
	Sandbox     string             `yaml:"sandbox" is:"sandbox" doc:"What confines the commands that the agent runs. none: nothing does, and they may do all that you may; this version has nothing else, so that an agent with commands has to say it. It is recorded with each run."`
	Tools       []Tool             `yaml:"tools" max:"32" doc:"What the agent can do. submit_result is always there, with any tool read_artifact, which reads what a result did not show, and search_history unless window.strategy is full."`
	Results     map[string]Results `yaml:"results" keys:"tools" max:"200" doc:"How the results of tools are shown, by the tools' names; * stands for anything, and an entry for one tool goes before one with a pattern. Left out: as the tools say; what is too long is cut, and says so."`
	Limits      Limits             `yaml:"limits" doc:"When a run ends at the latest: a preset (qa, lookup, multi-step, research, long) or single limits. Left out: multi-step."`
	Permissions *Permissions       `yaml:"permissions" doc:"Which tools may run. The strictest match wins (deny, ask, allow); a call that nothing matches is denied. Left out: reads are allowed, writes are asked for."`
	Price       *Price             `yaml:"price" doc:"What the model's tokens cost, in US dollars per million. Left out: what is known of the model at its provider."`
	Calls       Calls              `yaml:"calls" doc:"How the model calls tools. Left out: on its wire, as its server has it; and calls in its text are read too, but not from models at OpenAI, Anthropic and Google (Gemini), whose own calls can be relied on."`
	Window      Window             `yaml:"window" doc:"How the conversation is kept within the model's context window."`
	Retry       string             `yaml:"retry" is:"retry" doc:"How failed model calls are tried again: patient waits for minutes; fast gives a server up that refuses within seconds, and one that falls silent within about three minutes. Left out: fast for the presets qa and lookup, else patient."`
	Submit      string             `yaml:"submit" is:"path" doc:"A file with the JSON Schema of the result that a run must submit. A result that is no object is asked for as the one member answer of one, and stands alone in the run's result."`
	Sampling    Sampling           `yaml:"sampling" doc:"Settings that are passed to the model. Left out: the provider's own."`

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
	// above are the files of the agents that lead to this one, its own included; the
	// first stands for the run's where that is not known.
	above []string
}

// Accept says what a finished task looks like.
type Accept struct {
	Text   string   `yaml:"text" is:"prose" doc:"What a finished task looks like, in words; it stands with the task."`
	Files  []string `yaml:"files" is:"path" max:"100" doc:"Files that must have been written, and read again after their last change, before the run may end as done; paths as the tools have them, below the folder of files."`
	IDs    []string `yaml:"ids" is:"member" max:"100" doc:"Texts that must stand in the answer or the submitted result."`
	Fields []string `yaml:"fields" is:"member" max:"100" doc:"Members of the submitted result that must have a value: names, or JSON pointers such as /items/0/id."`
	Calls  []string `yaml:"calls" is:"tools" max:"100" doc:"Tools of which a call must have succeeded; * stands for any run of characters."`
}

// Tool is one entry of the list of tools: exactly one field is set.
type Tool struct {
	Files      *Files      `yaml:"files" doc:"Read, list and search the files of a folder, and write them."`
	Calculator *Calculator `yaml:"calculator" doc:"Calculate with exact decimals."`
	Clock      *Clock      `yaml:"clock" doc:"Tell the time."`
	MCP        *MCP        `yaml:"mcp" bare:"no" doc:"Use the tools of an MCP server, started by a command or reached at a URL. There may be several entries."`
	Command    *Command    `yaml:"command" doc:"Run programs, with arguments that fit their templates. Needs sandbox: none."`
	Plan       *Plan       `yaml:"plan" doc:"Keep track of a long task: what the model notes with it is kept with the run, whatever happens to the context."`
	HTTPGet    *HTTPGet    `yaml:"http_get" doc:"Read web pages and files of a list of hosts."`
	HTTP       *HTTP       `yaml:"http" doc:"Send one request to a web service. There may be several entries."`
	OpenAPI    *OpenAPI    `yaml:"openapi" doc:"Use the operations of a web service that an OpenAPI document describes. There may be several entries."`
	Agent      *AgentTool  `yaml:"agent" doc:"Call another agent, which has a file of its own. There may be several entries."`
	AskUser    *AskUser    `yaml:"ask_user" doc:"Ask the person who gave the task. The run waits for the answer; without somebody to ask it is paused."`
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

// Plan has no settings.
type Plan struct{}

// AskUser has no settings.
type AskUser struct{}

// MCP is a server whose tools are used. Tools are named here as the server names
// them, but in permissions as they are called here.
type MCP struct {
	Name       string            `yaml:"name" is:"prefix" doc:"Stands before the names of the server's tools, as in NAME_tool. Left out: they are called what the server calls them."`
	Command    []string          `yaml:"command" is:"argument" max:"100" doc:"The program that is the server, and its arguments; no shell reads them. It runs in the agent file's folder and gets PATH and HOME of the environment, no more."`
	Env        map[string]string `yaml:"env" keys:"env" is:"value" max:"100" doc:"Further environment variables of the program. Not for secrets: this file is kept with each run."`
	SecretEnv  []string          `yaml:"secret_env" is:"env" max:"100" doc:"Environment variables of this process with secrets that the program gets too. Their values are kept out of the journal."`
	URL        string            `yaml:"url" is:"url" doc:"Where the server is, if it is not started here (streamable HTTP)."`
	Headers    map[string]string `yaml:"headers" keys:"header" is:"value" max:"50" doc:"HTTP headers of each request. Not for secrets."`
	HeadersEnv map[string]string `yaml:"headers_env" keys:"header" is:"env" max:"50" doc:"HTTP headers whose values are secrets, and the environment variables that hold them."`
	BearerEnv  string            `yaml:"bearer_env" is:"env" doc:"The environment variable with the token of the header Authorization: Bearer …."`
	Allow      []string          `yaml:"allow" is:"remote" max:"1000" doc:"The tools to offer, by name or by pattern. Left out: all."`
	Effects    map[string]string `yaml:"effects" keys:"remote" is:"effect" max:"1000" doc:"What tools may change, by name or by pattern: overrides what the server says. What it does not say is once."`
	Confirm    map[string]string `yaml:"confirm" keys:"remote" is:"remote" max:"1000" doc:"For a tool, the one that finds out whether a call of it took effect, of this server or another source: it only reads, and answers {\"done\": true} or {\"done\": false}."`
	Alias      map[string]string `yaml:"alias" keys:"remote" is:"toolname" max:"1000" doc:"Other names for tools, used as they are."`
	Group      string            `yaml:"group" is:"prefix" doc:"The group in which the server's tools are offered where there are many."`
	Timeout    string            `yaml:"timeout" is:"duration" doc:"How long one call may take. Left out: 60s."`
}

// Permissions are patterns of calls: effect:read, effect:repeatable,
// effect:once, or the name of a tool, in which * stands for anything.
type Permissions struct {
	Allow []string `yaml:"allow" is:"match" max:"200" doc:"Calls that may run."`
	Ask   []string `yaml:"ask" is:"match" max:"200" doc:"Calls that a person has to approve."`
	Deny  []string `yaml:"deny" is:"match" max:"200" doc:"Calls that may not run."`
}

// Window says how the conversation is kept within the model's context window.
type Window struct {
	Strategy  string  `yaml:"strategy" is:"strategy" doc:"What is given up when room is needed. layered: old results become lines that name them, and only if that is not enough the oldest steps are summarised. full: nothing until the budget is reached, then as layered but without a summary. sliding: all but the last groups, without a summary. summary: all but the last groups, summarised. state: all but the task's state and the last groups, at every step. What users have said stays, with all of them; what has left can be searched and read by the model. Left out: full for the presets qa and lookup, else layered."`
	Keep      int64   `yaml:"keep" min:"1" max:"100" doc:"How many of the last groups (a reply and the results of its calls) stay whole: fewer where the request would be over its budget with them. Left out: what the strategy has as its own, at least 3."`
	Trigger   Decimal `yaml:"trigger" min:"0.35" max:"0.95" doc:"The part of the budget at which room is made. Left out: 0.85, or less where that is cheaper."`
	Target    Decimal `yaml:"target" min:"0.05" max:"0.65" doc:"The part of the budget that is used at most after that; at least 0.3 below trigger. Left out: 0.33."`
	Shares    Shares  `yaml:"shares" doc:"The parts of the budget that single blocks may have."`
	Tokenizer string  `yaml:"tokenizer" is:"tokenizer" doc:"What counts tokens: o200k_base or cl100k_base (OpenAI's), server (the model's own server, where it counts for others), estimate, or a tokenizer.json file of the model's. Left out: the model's own where Rein has it, else an estimate that is corrected by what the server reports."`
	Size      int64   `yaml:"size" min:"1024" max:"100000000" doc:"The size of the model's context window in tokens. Left out: what is known of the model."`
	Reserve   int64   `yaml:"reserve" min:"1" max:"10000000" doc:"Tokens kept free for the reply. Left out: 8,192, or 4,096 for windows under 32,768."`
}

// Shares are parts of the budget, from 0 to 1.
type Shares struct {
	Rules    Decimal `yaml:"rules" min:"0" max:"1" doc:"Contract and rules; rein lint says when they have more. Left out: 0.15."`
	Tools    Decimal `yaml:"tools" min:"0" max:"1" doc:"The tools' descriptions and schemas; rein lint says when they have more, and tools of a group that were opened join the list only as far as they have room in it. Left out: 0.2."`
	Task     Decimal `yaml:"task" min:"0" max:"1" doc:"The first message of the user. What goes beyond is left out in its middle, and can be read by the model. Left out: 0.08; at least 1,000 tokens."`
	Input    Decimal `yaml:"input" min:"0" max:"1" doc:"Any later message of the user, in the same way. Left out: 0.08; at least 1,000 tokens."`
	Digest   Decimal `yaml:"digest" min:"0" max:"1" doc:"Summary and snapshot of what has left. Left out: 0.2."`
	Material Decimal `yaml:"material" min:"0" max:"1" doc:"What a program that uses the library retrieves for the task. Left out: 0.1."`
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
	Preset       string  `yaml:"preset" is:"preset" doc:"The preset that other limits are taken from. Left out: multi-step."`
	Steps        int64   `yaml:"steps" min:"1" max:"1000000" doc:"Replies of the model that are acted on."`
	ToolCalls    int64   `yaml:"tool_calls" min:"1" max:"1000000" doc:"Tool calls that are executed. Left out: 4 for each step."`
	Tokens       int64   `yaml:"tokens" min:"1" max:"1000000000000" doc:"Output, and input that was not already sent in this run."`
	Wall         string  `yaml:"wall" is:"duration" doc:"Time from the start, such as 30m or 12h, waiting for people excluded."`
	Work         string  `yaml:"work" is:"duration" doc:"Time in which models and tools are at work, such as 10m; waits for people, for rate limits and between two tries excluded. Left out: no limit."`
	CostUSD      Decimal `yaml:"cost_usd" min:"0.000001" max:"1000000" zero:"leave it out for no limit" doc:"What the run may cost, in US dollars, such as 0.50. A run whose cost is not known ends as soon as that shows. Left out: no limit."`
	OutputTokens int64   `yaml:"output_tokens" min:"1" max:"10000000" doc:"What one reply of the model may have."`
}

// later has the keys that a struct does not take, though somebody might expect
// them there, and what to do instead.
type later interface{ later() map[string]string }

const notCarriedOut = "is not carried out by this version, and so is refused rather than ignored"

func (Agent) later() map[string]string {
	const key = "a key does not belong in this file; put it into an environment variable and name that here (key_env: OPENAI_API_KEY), or name a file that holds it (key_file)"
	return map[string]string{
		"key": key, "api_key": key, "token": key, "secret": key, "password": key,
	}
}

func (Tool) later() map[string]string {
	return map[string]string{
		"artifact": "read_artifact, which pages through stored results, is always there and has no entry",
		"get_now":  "the tool's entry here is called clock",
	}
}

func (MCP) later() map[string]string {
	const key = "a secret does not belong in this file; put it into an environment variable and name that here (bearer_env, headers_env or secret_env)"
	return map[string]string{"token": key, "key": key, "api_key": key, "secret": key, "password": key, "bearer": key, "args": "arguments stand behind the program in command"}
}
