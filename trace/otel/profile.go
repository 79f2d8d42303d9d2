package otel

// Profile is a version of the conventions for generative AI: which names things have.
type Profile int

// The profiles. Every name in them is still called "development" by its authors.
const (
	// Semconv is v1.41.1 of the semantic conventions, the last release there that has
	// those for generative AI. It is the default.
	Semconv Profile = iota
	// GenAI is v0.1.0 of the conventions for generative AI alone, the newest release;
	// it has other names for the metrics of model calls.
	GenAI
	profiles
)

// Release names the release that the profile is of.
func (p Profile) Release() string { return releases[p].name }

// SchemaURL says the same to machines: it stands on each scope.
func (p Profile) SchemaURL() string { return releases[p].schema }

var releases = [profiles]struct{ name, schema string }{
	Semconv: {"semantic-conventions v1.41.1", "https://opentelemetry.io/schemas/1.41.1"},
	GenAI:   {"semantic-conventions-genai v0.1.0", "https://opentelemetry.io/schemas/gen-ai/0.1.0"},
}

// names of one thing in each profile; empty: the profile has none, and the thing is left
// out.
type names [profiles]string

func both(name string) names { return names{name, name} }

// signal says where an attribute stands.
type signal uint16

const (
	onRun signal = 1 << iota
	onStep
	onChat
	onTool
	onDetails
	onException
	onMetric
	signals
)

var signalNames = map[signal]string{onRun: "run", onStep: "step", onChat: "chat", onTool: "tool", onDetails: "details", onException: "exception", onMetric: "metrics"}

const onSpans = onRun | onStep | onChat | onTool

// level is how much the conventions want an attribute; own are those of Rein.
type level string

const (
	required    level = "required"
	conditional level = "conditional"
	recommended level = "recommended"
	optIn       level = "opt-in"
	own         level = "Rein"
)

// key is an attribute, whatever its name.
type key int

const (
	operationName key = iota
	providerName
	requestModel
	conversationID
	agentName
	outputType
	requestSeed
	requestStream
	requestTemperature
	requestTopP
	requestReasoning
	finishReasons
	responseID
	responseModel
	firstChunk
	usageInput
	usageOutput
	usageCacheRead
	usageCacheWrite
	usageReasoning
	compacted
	errorType
	toolName
	toolCallID
	toolType
	toolDescription
	toolArguments
	toolResult
	mcpMethod
	inputMessages
	outputMessages
	systemInstructions
	toolDefinitions
	exceptionType
	exceptionMessage
	tokenType
	tokenModality

	reinRun
	reinEvent
	reinStep
	reinPurpose
	reinAttempt
	reinStatus
	reinReason
	reinCause
	reinRollup
	reinRawFinish
	reinWaited
	reinCostStep
	reinCostTotal
	reinContextTokens
	reinContextBudget
	reinContextMessages
	reinContextBlock
	reinToolStatus
	reinToolEffect
	reinToolArgsHash
	reinToolSize
	reinToolShown
	reinToolTruncated
	reinToolFor
	reinToolUndoes
	reinToolRun
	reinForkRun
	reinForkEvent
	reinIncomplete
	keys
)

// attr is a row of the table of attributes. At the start are those that are given when a
// span begins, as a sampler may look at them.
type attr struct {
	names names
	on    signal
	level level
	start bool
	about string
}

// attributes is the table: a rename is a change of it and of nothing else.
var attributes = [keys]attr{
	operationName:      {both("gen_ai.operation.name"), onRun | onChat | onTool | onDetails | onMetric, required, true, "`invoke_agent`, `chat` or `execute_tool`"},
	providerName:       {both("gen_ai.provider.name"), onRun | onChat | onDetails | onMetric, required, true, "the provider's name in the conventions, else in Rein"},
	requestModel:       {both("gen_ai.request.model"), onRun | onChat | onDetails | onMetric, conditional, true, "the model that is asked"},
	conversationID:     {both("gen_ai.conversation.id"), onRun | onChat | onDetails, conditional, true, "the run; of a run that carries out a call, the one at the top"},
	agentName:          {both("gen_ai.agent.name"), onRun | onMetric, conditional, true, "the agent's name"},
	outputType:         {both("gen_ai.output.type"), onRun, conditional, true, "`json` if a result of a form is asked for"},
	requestSeed:        {both("gen_ai.request.seed"), onRun | onChat | onDetails, conditional, true, "as the agent sets it"},
	requestStream:      {both("gen_ai.request.stream"), onChat | onDetails, conditional, true, "true if the reply comes in pieces"},
	requestTemperature: {both("gen_ai.request.temperature"), onRun | onChat | onDetails, recommended, true, "as the agent sets it"},
	requestTopP:        {both("gen_ai.request.top_p"), onRun | onChat | onDetails, recommended, true, "as the agent sets it"},
	requestReasoning:   {names{"", "gen_ai.request.reasoning.level"}, onRun | onChat | onDetails, recommended, true, "the effort that is asked for"},
	finishReasons:      {both("gen_ai.response.finish_reasons"), onRun | onChat | onDetails, recommended, false, "on every model call; `error` where it failed or was given up"},
	responseID:         {both("gen_ai.response.id"), onChat | onDetails, recommended, false, "the server's id of the reply"},
	responseModel:      {both("gen_ai.response.model"), onChat | onDetails | onMetric, recommended, false, "the model as the server reports it"},
	firstChunk:         {both("gen_ai.response.time_to_first_chunk"), onChat | onDetails, recommended, false, "in seconds"},
	usageInput:         {both("gen_ai.usage.input_tokens"), onRun | onChat | onDetails, recommended, false, "what was read from and written to a cache included"},
	usageOutput:        {both("gen_ai.usage.output_tokens"), onRun | onChat | onDetails, recommended, false, "reasoning included"},
	usageCacheRead:     {both("gen_ai.usage.cache_read.input_tokens"), onRun | onChat | onDetails, recommended, false, "what of the input came from a cache"},
	usageCacheWrite:    {names{"gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_write.input_tokens"}, onRun | onChat | onDetails, recommended, false, "what of the input was put into a cache"},
	usageReasoning:     {both("gen_ai.usage.reasoning.output_tokens"), onChat | onDetails, recommended, false, "what of the output was reasoning"},
	compacted:          {names{"", "gen_ai.conversation.compacted"}, onChat | onDetails, conditional, true, "true once the context is a shortened one"},
	errorType:          {both("error.type"), onSpans | onDetails | onMetric, conditional, false, "of a model call its class of errors, of a tool its type of error, of a run its reason; `interrupted` where the process died"},
	toolName:           {both("gen_ai.tool.name"), onTool | onMetric, required, true, "the tool's name"},
	toolCallID:         {both("gen_ai.tool.call.id"), onTool, recommended, true, "unique in the run"},
	toolType:           {both("gen_ai.tool.type"), onTool | onMetric, recommended, true, "`function`: what is called runs on the client's side"},
	toolDescription:    {both("gen_ai.tool.description"), onTool, recommended, true, "its first paragraph"},
	toolArguments:      {both("gen_ai.tool.call.arguments"), onTool, optIn, false, "content"},
	toolResult:         {both("gen_ai.tool.call.result"), onTool, optIn, false, "content: what the model was shown"},
	mcpMethod:          {both("mcp.method.name"), onTool | onMetric, conditional, true, "`tools/call` for tools of MCP servers"},
	inputMessages:      {both("gen_ai.input.messages"), onChat | onDetails, optIn, false, "content"},
	outputMessages:     {both("gen_ai.output.messages"), onChat | onDetails, optIn, false, "content"},
	systemInstructions: {both("gen_ai.system_instructions"), onChat | onDetails, optIn, false, "content"},
	toolDefinitions:    {both("gen_ai.tool.definitions"), onChat | onDetails, optIn, false, "content"},
	exceptionType:      {both("exception.type"), onException, required, false, "as `error.type`"},
	exceptionMessage:   {both("exception.message"), onException, optIn, false, "content: what the provider or the tool said"},
	tokenType:          {names{"gen_ai.token.type", ""}, onMetric, required, false, "`input` or `output`"},
	tokenModality:      {names{"", "gen_ai.token.modality"}, onMetric, required, false, "`text`: nothing else is counted apart"},

	reinRun:             {both("rein.run.id"), onSpans | onDetails | onException, own, true, "the run, for `rein show`"},
	reinEvent:           {both("rein.event"), onSpans, own, true, "the journal's event that the span begins with"},
	reinStep:            {both("rein.step"), onStep | onChat | onTool, own, true, "counts from 1"},
	reinPurpose:         {both("rein.purpose"), onChat | onMetric, own, true, "why the model is called: step, summary, read-back, completion-check, final"},
	reinAttempt:         {both("rein.attempt"), onChat | onTool, own, true, "counts from 1; every attempt is a span"},
	reinStatus:          {both("rein.run.status"), onRun, own, false, "finished, paused or interrupted"},
	reinReason:          {both("rein.run.reason"), onRun | onMetric, own, false, "why the run finished"},
	reinCause:           {both("rein.run.cause"), onRun, own, false, "why it paused"},
	reinRollup:          {both("rein.usage.rollup"), onRun, own, false, "true: the usage of this span is a sum of that of spans below, not to be added to it"},
	reinRawFinish:       {both("rein.finish_reason.raw"), onChat, own, false, "the finish reason in the provider's word"},
	reinWaited:          {both("rein.waited_ms"), onChat, own, false, "how long of the span the call waited for its turn at the server"},
	reinCostStep:        {both("rein.cost.step_usd"), onStep, own, false, "what the step cost"},
	reinCostTotal:       {both("rein.cost.cumulative_usd"), onSpans, own, false, "what the run had cost by the end of the span; input that is not known to have been cached at the full price"},
	reinContextTokens:   {both("rein.context.tokens"), onChat, own, true, "the size of the request as it was expected"},
	reinContextBudget:   {both("rein.context.budget"), onChat, own, true, "the most that it might have had"},
	reinContextMessages: {both("rein.context.messages"), onChat, own, true, "messages of the conversation in it"},
	reinContextBlock:    {both("rein.context.block."), onChat, own, true, "followed by a block's name: its size in tokens"},
	reinToolStatus:      {both("rein.tool.status"), onTool | onMetric, own, false, "success, error, timeout, unknown, denied or intercepted; the last two were not executed"},
	reinToolEffect:      {both("rein.tool.effect"), onTool, own, true, "read, repeatable or once"},
	reinToolArgsHash:    {both("rein.tool.args_hash"), onTool, own, true, "SHA-256 of the arguments in canonical form"},
	reinToolSize:        {both("rein.tool.result.size"), onTool, own, false, "the whole result, in bytes"},
	reinToolShown:       {both("rein.tool.result.shown_size"), onTool, own, false, "what the model got of it, in bytes"},
	reinToolTruncated:   {both("rein.tool.result.truncated"), onTool, own, false, "whether less was shown than there is"},
	reinToolFor:         {both("rein.tool.for"), onTool, own, true, "the call whose outcome this one finds out"},
	reinToolUndoes:      {both("rein.tool.undoes"), onTool, own, true, "the call that this one takes back"},
	reinToolRun:         {both("rein.tool.run"), onTool, own, true, "the run that carries the call out, of a tool that is an agent"},
	reinForkRun:         {both("rein.fork.run"), onRun, own, true, "the run that this one was forked from"},
	reinForkEvent:       {both("rein.fork.event"), onRun, own, true, "the last event that both have"},
	reinIncomplete:      {both("rein.incomplete"), onSpans, own, false, "true: the journal did not say the end when this was exported"},
}

// note is something that is written to the log: an event, in the conventions' word.
type note struct {
	names names
	about string
}

var (
	details        = note{both("gen_ai.client.inference.operation.details"), "a model call with its content; only if content is asked for in events"}
	modelException = note{names{"gen_ai.client.operation.exception", "gen_ai.client.inference.exception"}, "a model call that failed"}
	toolException  = note{names{"", "gen_ai.execute_tool.exception"}, "an executed tool call that failed"}
)

// spanNames are the operations, which begin the names of spans; steps have a word of
// their own, as the conventions know none.
const (
	opRun  = "invoke_agent"
	opChat = "chat"
	opTool = "execute_tool"
	opStep = "step"
)

// providers are those that the conventions name otherwise than Rein does.
var providers = map[string]string{
	"gemini": "gcp.gemini", "google": "gcp.gemini", "vertex": "gcp.vertex_ai", "azure": "azure.ai.openai", "bedrock": "aws.bedrock",
	"mistral": "mistral_ai", "xai": "x_ai", "watsonx": "ibm.watsonx.ai", "moonshot": "moonshot_ai",
}
