package dialect

const (
	jsonObject = "JSON object under arguments"
	jsonParams = "JSON object under parameters"
)

// jsonRows are the dialects whose block is JSON that names the tool.
var jsonRows = []Dialect{
	{
		ID: "hermes_tool_call", Also: []string{"ernie45"},
		Models:  "Hermes 2 and 3, Qwen 2.5 and 3, QwQ, Granite 4, MiMo-VL, Reka Edge, Trinity, Ernie 4.5, LongCat, many fine-tunes",
		Grammar: JSON, Open: []string{"<tool_call>", "<longcat_tool_call>"}, Close: []string{"</tool_call>", "</longcat_tool_call>"},
		Special: true, Bare: true, Think: think, Arguments: jsonObject,
		Example: "<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.txt\"}}\n</tool_call>",
	},
	{
		ID: "jamba", Also: []string{"apriel", "hunyuan_a13b"},
		Models:  "Jamba, Apriel 1.5 and 1.6, Hunyuan-A13B, MiniMax M1",
		Grammar: JSON, Open: []string{"<tool_calls>"}, Close: []string{"</tool_calls>"},
		Bare:      true,
		Think:     append([]Span{{"Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]", true}}, think...),
		Arguments: jsonObject + "; a list of calls, or one on each line",
		Example:   "<tool_calls>[{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.txt\"}}]</tool_calls>",
	},
	{
		ID: "nemotron_nano_v2", Models: "Nemotron Nano v2",
		Grammar: JSON, Open: []string{"<TOOLCALL>"}, Close: []string{"</TOOLCALL>"},
		Special: true, Think: think, Arguments: jsonObject + "; a list of calls",
		Example: `<TOOLCALL>[{"name": "read_file", "arguments": {"path": "a.txt"}}]</TOOLCALL>`,
	},
	{
		ID: "granite20b_fc", Models: "Granite 20B function calling",
		Grammar: JSON, Open: []string{"<function_call>"}, Shape: OneObject,
		Arguments: jsonObject + "; one call after each marker",
		Example:   `<function_call> {"name": "read_file", "arguments": {"path": "a.txt"}}`,
	},
	{
		ID: "granite_json", Models: "Granite 3.x",
		Grammar: JSON, Open: []string{"<|tool_call|>", "<tool_call>"}, Shape: ListOfThem,
		Special: true, Think: think, Arguments: jsonObject + "; a list of calls",
		Example: `<|tool_call|>[{"name": "read_file", "arguments": {"path": "a.txt"}}]`,
	},
	{
		ID: "gigachat3", Models: "GigaChat 3 and 3.1",
		Grammar: JSON, Open: []string{"<|function_call|>", "function call<|role_sep|>"}, Wrap: []string{"<|message_sep|>"},
		Special: true, Arguments: jsonObject + "; one call a turn",
		Example: `<|function_call|>{"name": "read_file", "arguments": {"path": "a.txt"}}`,
	},
	{
		ID: "internlm2", Models: "InternLM2 and 2.5, Intern-S1",
		Grammar: JSON, Open: []string{"<|plugin|>", "<|action_start|>"}, Close: []string{"<|action_end|>"}, EndsTurn: true,
		Wrap: []string{"<|action_start|>"}, Special: true, Think: think, Arguments: jsonParams,
		Example: `<|action_start|><|plugin|>{"name": "read_file", "parameters": {"path": "a.txt"}}<|action_end|>`,
	},
	{
		ID: "phi4_functools", Also: []string{"firefunction_v2"}, Models: "Phi-4-mini, Firefunction v2",
		Grammar: JSON, Open: []string{"functools["}, Arguments: jsonObject + "; a list of calls",
		Example: `functools[{"name": "read_file", "arguments": {"path": "a.txt"}}]`,
	},
	{
		ID: "apertus", Models: "Apertus",
		Grammar: JSON, Open: []string{"<|tools_prefix|>"}, Close: []string{"<|tools_suffix|>"}, EndsTurn: true, NameIsKey: true,
		Special: true, Think: []Span{{"<|inner_prefix|>", "<|inner_suffix|>", true}},
		Arguments: "JSON object under the tool's name; a list of calls",
		Example:   `<|tools_prefix|>[{"read_file": {"path": "a.txt"}}]<|tools_suffix|>`,
	},
	{
		ID: "cohere_action", Models: "Command R7B, Command A, Cohere2 MoE; Command R+ in fences",
		Grammar: JSON, Open: []string{"<|START_ACTION|>"}, Close: []string{"<|END_ACTION|>"}, EndsTurn: true,
		Special: true, Bare: true, Answering: []string{"directly-answer", "directly_answer"},
		Think:     []Span{{"<|START_THINKING|>", "<|END_THINKING|>", true}},
		Arguments: jsonParams + ", the name under tool_name; a list of calls",
		Example:   `<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "read_file", "parameters": {"path": "a.txt"}}]<|END_ACTION|>`,
	},
	{
		ID: "inkling", Models: "Inkling",
		Grammar: JSON, Open: []string{"<|content_invoke_tool_json|>"}, Close: []string{"<|end_message|>"}, EndsTurn: true,
		Head: "<|message_model|>", Special: true, Think: []Span{{"<|content_thinking|>", "<|end_message|>", false}}, Arguments: "JSON object under args, the name in the header too",
		Example: `<|message_model|>read_file<|content_invoke_tool_json|>{"name": "read_file", "args": {"path": "a.txt"}}<|end_message|>`,
	},
	{
		ID: "llama3_json", Models: "Llama 3.1, 3.2 and 3.3",
		Grammar: JSON, BuiltIns: true, Open: []string{"<|python_tag|>"}, Close: []string{"<|eom_id|>", "<|eot_id|>"}, EndsTurn: true,
		Special: true, Bare: true, Arguments: jsonParams + "; calls with semicolons between",
		Example: `<|python_tag|>{"name": "read_file", "parameters": {"path": "a.txt"}}`,
	},
	{
		ID: "json_array", Also: []string{"xlam_json"}, Models: "any model whose server forces a call; xLAM",
		Grammar: JSON, Bare: true, Think: think, Arguments: jsonParams + " or arguments; a list of calls, bare, in a fence or after another model's marker",
		Example: `[{"name": "read_file", "parameters": {"path": "a.txt"}}]`,
	},
	{
		ID: "openai_envelope", Models: "models that write out what a chat completion has",
		Grammar: JSON, Bare: true, Think: think, Arguments: "JSON object, mostly inside a string",
		Example: `{"tool_calls": [{"id": "k1", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\": \"a.txt\"}"}}]}`,
	},
}
