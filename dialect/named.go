package dialect

// namedRows are the dialects in which the tool's name stands before its
// arguments.
var namedRows = []Dialect{
	{
		ID: "mistral_tool_calls", Models: "Mistral 7B v0.3, Nemo, Mixtral (lists); Small 3.x, Devstral, Magistral, Ministral (names)",
		Grammar: Named, Open: []string{"[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"}, Special: true,
		Think: []Span{{"[THINK]", "[/THINK]", true}}, Arguments: "JSON object after the name; or " + jsonObject + " in a list",
		Example: `[TOOL_CALLS]read_file[ARGS]{"path": "a.txt"}`,
	},
	{
		ID: "deepseek_v3_fence", Models: "DeepSeek V3, R1 and distills, Cogito",
		Grammar: Named, Open: deepseekOpen, Close: deepseekClose, Wrap: deepseekWrap,
		Special: true, Think: think, Arguments: "JSON object in a fence",
		Example: "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n```json\n{\"path\": \"a.txt\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
	},
	{
		ID: "deepseek_v31", Models: "DeepSeek V3.1",
		Grammar: Named, Open: deepseekOpen, Close: deepseekClose, Wrap: deepseekWrap,
		Special: true, Think: think, Arguments: "JSON object",
		Example: "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read_file<｜tool▁sep｜>{\"path\": \"a.txt\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
	},
	{
		ID: "kimi_k2", Models: "Kimi K2, K2 Thinking, K2.5, K2.7",
		Grammar: Named,
		Open: []string{"<|tool_call_begin|>", "<|tool_call_argument_begin|>",
			"<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"},
		Close: []string{"<|tool_call_end|>"},
		Wrap: []string{"<|tool_calls_section_begin|>", "<|tool_call_section_begin|>",
			"<|tool_calls_section_end|>", "<|tool_call_section_end|>"},
		Special: true, Think: think, Arguments: "JSON object; the name is part of the id",
		Example: `<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>{"path": "a.txt"}<|tool_call_end|><|tool_calls_section_end|>`,
	},
	{
		ID: "harmony", Models: "gpt-oss",
		Grammar: Named, Open: []string{"<|channel|>", "<|start|>assistant", "<|message|>", "<|constrain|>"},
		Close: []string{"<|call|>", "<|end|>", "<|return|>"}, EndsTurn: true, Special: true,
		Wrap:      []string{"<|channel|>", "<|start|>assistant", "<|message|>", "<|constrain|>"},
		Think:     []Span{{"<|channel|>analysis<|message|>", "<|end|>", false}},
		Arguments: "JSON object; the name is the recipient in the header",
		Example:   `<|channel|>commentary to=functions.read_file <|constrain|>json<|message|>{"path": "a.txt"}<|call|>`,
	},
	{
		ID: "functionary_v31", Models: "Functionary v3.1, Llama 3.1 with custom tools",
		Grammar: Named, Open: []string{"<function="}, Close: []string{"</function>"}, Arguments: "JSON object",
		Example: `<function=read_file>{"path": "a.txt"}</function>`,
	},
	{
		ID: "functionary_v32", Models: "Functionary v3.2",
		Grammar: Named, Bare: true, Arguments: "JSON object on the lines after the name",
		Example: ">>>read_file\n{\"path\": \"a.txt\"}",
	},
}

// The markers of DeepSeek, also as distilled models write them, which have no
// tokens for them.
var (
	deepseekOpen = []string{"<｜tool▁call▁begin｜>", "<｜tool_call_begin｜>", "<｜tool call begin｜>",
		"<｜tool▁calls▁begin｜>", "<｜tool_calls_begin｜>", "<｜tool calls begin｜>"}
	deepseekClose = []string{"<｜tool▁call▁end｜>", "<｜tool_call_end｜>", "<｜tool call end｜>"}
	deepseekWrap  = []string{"<｜tool▁calls▁begin｜>", "<｜tool_calls_begin｜>", "<｜tool calls begin｜>",
		"<｜tool▁calls▁end｜>", "<｜tool_calls_end｜>", "<｜tool calls end｜>"}
)
