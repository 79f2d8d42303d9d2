package catalog

// Names that the code itself needs.
const (
	openAI          = "openai"
	openAIChat      = "openai-chat"
	openAIResponses = "openai-responses"
	azure           = "azure"
)

// openAIQuirks are what OpenAI's servers take beyond what compatible ones do.
var openAIQuirks = Quirks{MaxTokens: "max_completion_tokens", SystemAnywhere: true, RawArguments: true}

// Providers returns the table: those that need a key first, then those that
// people run themselves, in the order in which they are looked for when nothing
// is named. The table may be changed by the caller; its slices may not.
func Providers() []Provider {
	return []Provider{
		{
			// Which of its two wires is spoken follows from the model: see Speaks.
			Name: openAI, Title: "OpenAI", Wire: Chat, BaseURL: "https://api.openai.com/v1",
			Keys: []string{"OPENAI_API_KEY"}, NeedsKey: true, Default: "gpt-5.6-terra",
			Models: "openai", Vendor: "openai",
			OwnCalls: true, Quirks: openAIQuirks, Sends: []Deviation{Refusal},
		},
		{
			Name: openAIChat, Title: "OpenAI, Chat Completions", Wire: Chat, BaseURL: "https://api.openai.com/v1",
			Keys: []string{"OPENAI_API_KEY"}, NeedsKey: true,
			Models: "openai", Vendor: "openai",
			OwnCalls: true, Quirks: openAIQuirks, Sends: []Deviation{Refusal},
		},
		{
			Name: openAIResponses, Title: "OpenAI, Responses", Wire: Responses, BaseURL: "https://api.openai.com/v1",
			Keys: []string{"OPENAI_API_KEY"}, NeedsKey: true, Hosts: []string{".openai.azure.com"},
			Models: "openai", Vendor: "openai",
			OwnCalls: true, Quirks: Quirks{SystemAnywhere: true, RawArguments: true, ToolImages: true},
		},
		{
			Name: "anthropic", Title: "Anthropic", Wire: Messages, BaseURL: "https://api.anthropic.com",
			Keys: []string{"ANTHROPIC_API_KEY"}, NeedsKey: true, Default: "claude-sonnet-5",
			Models: "anthropic", OwnCalls: true,
		},
		{
			Name: "gemini", Aliases: []string{"google"}, Title: "Google Gemini", Wire: Gemini,
			BaseURL: "https://generativelanguage.googleapis.com/v1beta",
			Keys:    []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, NeedsKey: true, Default: "gemini-3.7-flash",
			Models: "gemini", Vendor: "google", OwnCalls: true,
		},
		{
			Name: "openrouter", Title: "OpenRouter", Wire: Chat, BaseURL: "https://openrouter.ai/api/v1",
			Keys: []string{"OPENROUTER_API_KEY"}, NeedsKey: true, Default: "anthropic/claude-sonnet-5",
			Models: "openrouter",
			Sends:  []Deviation{ReasoningMember, ReasoningDetails, Comments, ErrorChunk},
		},
		{
			Name: "deepseek", Title: "DeepSeek", Wire: Chat, BaseURL: "https://api.deepseek.com/v1",
			Keys: []string{"DEEPSEEK_API_KEY"}, NeedsKey: true, Default: "deepseek-v4-flash",
			Models: "deepseek", Vendor: "deepseek",
			// Strict tools are for its beta address only.
			Quirks: Quirks{Reasoning: "reasoning_content", Schema: "json_object", NoStrict: true},
			Sends:  []Deviation{ReasoningContent, UsageCacheHits, Comments},
		},
		{
			Name: "kimi", Aliases: []string{"moonshot"}, Title: "Moonshot (Kimi)", Wire: Chat, BaseURL: "https://api.moonshot.ai/v1",
			Hosts: []string{"api.moonshot.cn"},
			Keys:  []string{"MOONSHOT_API_KEY", "KIMI_API_KEY"}, NeedsKey: true, Default: "kimi-k3",
			Models: "kimi", Vendor: "moonshotai",
			Quirks: Quirks{Reasoning: "reasoning_content"},
			Sends:  []Deviation{ReasoningContent, UsageInChoice},
		},
		{
			Name: "qwen", Aliases: []string{"dashscope"}, Title: "Alibaba Model Studio (Qwen)", Wire: Chat,
			BaseURL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
			Hosts:   []string{"dashscope.aliyuncs.com", "dashscope-us.aliyuncs.com"},
			Keys:    []string{"DASHSCOPE_API_KEY"}, NeedsKey: true, Default: "qwen3.7-plus",
			Models: "qwen", Vendor: "qwen",
			Quirks: Quirks{Schema: "json_object"},
			Sends:  []Deviation{ReasoningContent},
		},
		{
			Name: "glm", Aliases: []string{"zhipu"}, Title: "Zhipu (GLM)", Wire: Chat, BaseURL: "https://open.bigmodel.cn/api/paas/v4",
			Hosts: []string{"api.z.ai"},
			Keys:  []string{"ZHIPU_API_KEY", "ZAI_API_KEY"}, NeedsKey: true, Default: "glm-5.3",
			Models: "glm", Vendor: "z-ai",
			Quirks: Quirks{Schema: "json_object"},
			Sends:  []Deviation{ReasoningContent, WholeCalls},
		},
		{
			Name: "mistral", Title: "Mistral", Wire: Chat, BaseURL: "https://api.mistral.ai/v1",
			Keys: []string{"MISTRAL_API_KEY"}, NeedsKey: true, Default: "mistral-medium-latest",
			Vendor: "mistralai",
			// It gives usage without being asked, and refuses members that it does not know.
			Quirks: Quirks{NoStreamOptions: true},
			Sends:  []Deviation{ReasoningParts, WholeCalls},
		},
		{
			Name: "groq", Title: "Groq", Wire: Chat, BaseURL: "https://api.groq.com/openai/v1",
			Keys: []string{"GROQ_API_KEY"}, NeedsKey: true, Default: "qwen/qwen3-32b",
			Models: "groq",
			Sends:  []Deviation{UsageInOwnMember, ReasoningMember, WholeCalls},
		},
		{
			Name: "xai", Title: "xAI", Wire: Chat, BaseURL: "https://api.x.ai/v1",
			Keys: []string{"XAI_API_KEY"}, NeedsKey: true, Default: "grok-4.6",
			Models: "xai", Vendor: "x-ai",
			Sends: []Deviation{ReasoningContent, ReasoningApart, WholeCalls},
		},
		{
			Name: azure, Title: "Azure OpenAI", Wire: Chat, BaseURLEnv: "AZURE_OPENAI_ENDPOINT", BasePath: "/openai/v1",
			Hosts: []string{".openai.azure.com"},
			Keys:  []string{"AZURE_OPENAI_API_KEY"}, KeyHeader: "Api-Key", NeedsKey: true,
			Models: "azure", Vendor: "openai",
			OwnCalls: true, Quirks: openAIQuirks, Sends: []Deviation{FilterChunk},
		},
		{
			Name: "ollama", Title: "Ollama", Wire: Chat, BaseURL: "http://127.0.0.1:11434/v1", Port: 11434,
			Quirks: Quirks{NoToolChoice: true},
			Sends:  []Deviation{ReasoningMember, WholeCalls, CallsAndStop, SameCallIndex, UsageAbsent},
		},
		{
			Name: "llamacpp", Aliases: []string{"llama-cpp"}, Title: "llama.cpp", Wire: Chat, BaseURL: "http://127.0.0.1:8080/v1", Port: 8080,
			Sends: []Deviation{ReasoningContent, ErrorField},
		},
		{
			Name: "vllm", Title: "vLLM", Wire: Chat, BaseURL: "http://127.0.0.1:8000/v1", Port: 8000,
			Keys:  []string{"VLLM_API_KEY"},
			Sends: []Deviation{ReasoningContent, UsageRunning, UsageNull, BrokenArguments, NoCallIndex},
		},
		{
			Name: "lmstudio", Title: "LM Studio", Wire: Chat, BaseURL: "http://127.0.0.1:1234/v1", Port: 1234,
			Sends: []Deviation{ReasoningContent},
		},
		{
			Name: "sglang", Title: "SGLang", Wire: Chat, BaseURL: "http://127.0.0.1:30000/v1", Port: 30000,
			Sends: []Deviation{ReasoningContent},
		},
	}
}

// Speaks returns the wire on which a model of the provider is asked at its own
// host. OpenAI's models that reason keep their reasoning from one call to the
// next only on Responses, and the newer ones take tools nowhere else.
func (p *Provider) Speaks(model string) Wire {
	if p.Name == openAI && OpenAIReasons(model) {
		return Responses
	}
	return p.Wire
}
