package dialect

// pythonRows are the dialects that write a call as code does.
var pythonRows = []Dialect{
	{
		ID: "pythonic_list", Models: "Llama 4, Llama 3.2, ToolACE",
		Grammar: Python, Open: []string{"<|python_start|>"}, Close: []string{"<|python_end|>"},
		Special: true, Bare: true, Think: think,
		Arguments: "Python literals by name; JSON's true, false and null occur",
		Example:   `[read_file(path="a.txt")]`,
	},
	{
		ID: "lfm2_pythonic", Models: "LFM2 and LFM2.5",
		Grammar: Python, Open: []string{"<|tool_call_start|>"}, Close: []string{"<|tool_call_end|>"},
		Special: true, Bare: true, Think: think,
		Arguments: "Python or JSON literals by name",
		Example:   `<|tool_call_start|>[read_file(path="a.txt")]<|tool_call_end|>`,
	},
	{
		ID: "olmo3_pythonic", Models: "Olmo 3",
		Grammar: Python, Open: []string{"<function_calls>"}, Close: []string{"</function_calls>"},
		Think:     think,
		Arguments: "Python or JSON literals by name; a call on each line",
		Example:   "<function_calls>\nread_file(path=\"a.txt\")\n</function_calls>",
	},
	{
		ID: "functiongemma", Models: "FunctionGemma",
		Grammar: Braces, Open: []string{"<start_function_call>"}, Close: []string{"<end_function_call>"},
		Special:   true,
		Arguments: "bare keys, texts between <escape> and <escape>, other values as JSON",
		Example:   "<start_function_call>call:read_file{path:<escape>a.txt<escape>}<end_function_call>",
	},
	{
		ID: "gemma4", Models: "Gemma 4",
		Grammar: Braces, Open: []string{"<|tool_call>"}, Close: []string{"<tool_call|>"},
		Special: true, Bare: true, Think: []Span{{"<|channel>thought", "<channel|>", false}},
		Arguments: `bare keys, texts between <|"|> and <|"|>, other values as JSON`,
		Example:   `<|tool_call>call:read_file{path:<|"|>a.txt<|"|>}<tool_call|>`,
	},
}
