package dialect

// xmlRows are the dialects whose calls are elements, or pairs of keys and values
// between tags. Values are raw text, which the tool's schema gives its types.
var xmlRows = []Dialect{
	{
		ID: "qwen3_coder_xml", Models: "Qwen3-Coder, Qwen 3.5, 3.6 and 3.8, Nemotron 3 Nano, Step 3.5, MiMo, Zaya",
		Grammar: XML, Open: []string{"<tool_call>", "<zyphra_tool_call>"}, Tags: []string{"function="},
		Close:   []string{"</tool_call>", "</zyphra_tool_call>", "</function>"},
		Special: true, OwnLines: true, Think: think,
		Arguments: "raw text on lines of its own, an element for each",
		Example:   "<tool_call>\n<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>",
	},
	{
		ID: "seed_oss_xml", Models: "Seed-OSS",
		Grammar: XML, Open: []string{"<seed:tool_call>"}, Close: []string{"</seed:tool_call>", "</function>"},
		Special: true, OwnLines: true, Inline: true,
		Think:     []Span{{"<seed:think>", "</seed:think>", true}, {"<seed:cot_budget_reflect>", "</seed:cot_budget_reflect>", false}},
		Arguments: "raw text, an element for each",
		Example:   "<seed:tool_call>\n<function=read_file>\n<parameter=path>a.txt</parameter>\n</function>\n</seed:tool_call>",
	},
	{
		ID: "glm4_arg_kv", Models: "GLM 4.5, 4.6, 4.7 and 5, Ling 3",
		Grammar: Pairs, Open: []string{"<tool_call>"}, Close: []string{"</tool_call>"},
		Special: true, ByLook: true, Think: think,
		Arguments: "raw text, a key and a value element for each",
		Example:   "<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>a.txt</arg_value>\n</tool_call>",
	},
	{
		ID: "hy_v3_xml", Models: "Hunyuan 3 and 4",
		Grammar: Pairs, Open: []string{"<tool_call>", "<tool_call:"}, Close: []string{"</tool_call>"},
		Wrap:    []string{"<tool_calls>", "</tool_calls>", "<tool_calls:opensource>", "</tool_calls:opensource>"},
		Special: true, ByLook: true, Think: think,
		Arguments: "raw text, a key and a value element for each",
		Example:   "<tool_calls><tool_call>read_file<tool_sep><arg_key>path</arg_key><arg_value>a.txt</arg_value></tool_call></tool_calls>",
	},
	{
		ID: "poolside_v1", Models: "Laguna and others of Poolside",
		Grammar: Pairs, Open: []string{"<tool_call>"}, Close: []string{"</tool_call>"},
		Special: true, Bare: true, ByLook: true, Think: think,
		Arguments: "JSON object on the lines after the name; or as GLM",
		Example:   "<tool_call>read_file\n{\"path\": \"a.txt\"}\n</tool_call>",
	},
	{
		ID: "minimax_m2_xml", Models: "MiniMax M2, M2.1 and M2.5",
		Grammar: XML, Open: []string{"<minimax:tool_call>"}, Tags: []string{"minimax:tool_call", "minimax:invoke"},
		Close: []string{"</minimax:tool_call>", "</invoke>"}, Special: true, Think: think,
		Arguments: "raw text, an element for each",
		Example:   "<minimax:tool_call>\n<invoke name=\"read_file\">\n<parameter name=\"path\">a.txt</parameter>\n</invoke>\n</minimax:tool_call>",
	},
	{
		ID: "minimax_m3", Models: "MiniMax M3",
		Grammar: Tree, Open: []string{m3 + "<tool_call>", m3}, Close: []string{m3 + "</tool_call>", m3 + "</invoke>"},
		Wrap: []string{m3}, Special: true, ByLook: true, Think: []Span{{"<mm:think>", "</mm:think>", true}},
		Arguments: "raw text, an element of the parameter's name for each; elements inside for objects and lists",
		Example: m3 + "<tool_call>\n" + m3 + "<invoke name=\"read_file\">\n" + m3 + "<path>a.txt" + m3 + "</path>\n" +
			m3 + "</invoke>\n" + m3 + "</tool_call>",
	},
	{
		ID: "deepseek_dsml", Models: "DeepSeek V3.2 and V4",
		Grammar: XML, Open: dsml("<", "function_calls>", "tool_calls>"),
		Tags:    []string{"DSML:function_calls", "DSML:tool_calls", "DSML:tool_call", "DSML:invoke", "DSML:parameter"},
		Close:   dsml("</", "function_calls>", "tool_calls>", "invoke>", "parameter>"),
		Special: true, Think: think,
		Arguments: `raw text, an element for each; string="false" for JSON`,
		Example: "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"read_file\">\n" +
			"<｜DSML｜parameter name=\"path\" string=\"true\">a.txt</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
	},
	{
		ID: "muse_glimmer", Models: "Muse Glimmer",
		Grammar: Messages, Open: []string{"<|start|>assistant", "<|message|>"},
		Tags:    []string{"atem:function_calls", "atem:invoke"},
		Close:   []string{"</atem:function_calls>", "</atem:invoke>", "<|eom|>", "<|eot|>"},
		Wrap:    []string{"<|start|>assistant", "<|message|>"},
		Special: true, ByLook: true, Think: []Span{{"to=self<|message|>", "<|eom|>", false}},
		Arguments: "raw text, an element for each",
		Example: "<|start|>assistant to=read_file<|message|><atem:function_calls>\n<atem:invoke name=\"read_file\">\n" +
			"<atem:parameter name=\"path\">a.txt</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eot|>",
	},
	{
		ID: "dots", Models: "dots",
		Grammar: XML, Open: []string{"<dots_function_call>"}, Close: []string{"</dots_function_call>"},
		Special: true, ByLook: true, Think: think, Arguments: "raw text, an element for each; or JSON",
		Example: "<dots_function_call><invoke name=\"read_file\"><parameter name=\"path\">a.txt</parameter></invoke></dots_function_call>",
	},
	{
		ID: "step3", Models: "Step-3",
		Grammar: XML, Open: []string{"<｜tool_call_begin｜>"}, Tags: []string{"steptml:invoke"},
		Close:   []string{"<｜tool_call_end｜>", "</steptml:invoke>"},
		Wrap:    []string{"<｜tool_calls_begin｜>", "<｜tool_calls_end｜>"},
		Special: true, Think: think, Arguments: "raw text, an element for each",
		Example: "<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"read_file\">" +
			"<steptml:parameter name=\"path\">a.txt</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>",
	},
	{
		ID: "minicpm5_xml", Models: "MiniCPM5",
		Grammar: XML, Tags: []string{"function"}, Close: []string{"</function>"},
		Think: think, DeclaredOnly: true, Entities: true, NeedsEnd: true,
		Arguments: "text as XML has it, an element for each",
		Example:   `<function name="read_file"><param name="path">a.txt</param></function>`,
	},
	{
		ID: "kimi_k3_xtml", Models: "Kimi K3",
		Grammar: Sections, Open: []string{"<|open|>"}, Close: []string{"<|close|>tools<|sep|>"},
		Special: true, Think: []Span{{"<|open|>think<|sep|>", "<|close|>think<|sep|>", true}},
		Arguments: "text as its type attribute says, a section for each",
		Example: `<|open|>tools<|sep|><|open|>call tool="read_file" index="1"<|sep|><|open|>argument key="path" type="string"<|sep|>` +
			`a.txt<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>`,
	},
	{
		ID: "anthropic_invoke", Models: "Claude as text; MiMo and others with a namespace of their own",
		Grammar: XML, Open: []string{"<function_calls>", "<tool_call>"}, Tags: []string{"function_calls", "invoke"},
		Close: []string{"</function_calls>", "</invoke>"}, Special: true, Think: think,
		Arguments: "raw text, an element for each",
		Example:   "<function_calls>\n<invoke name=\"read_file\">\n<parameter name=\"path\">a.txt</parameter>\n</invoke>\n</function_calls>",
	},
	{
		ID: "tool_tags", Also: []string{"cline", "roo_code"}, Models: "any, when prompted as Cline and Roo Code do",
		Grammar: Tree, Open: []string{"<tool_call>", "<tool_use>"}, Close: []string{"</tool_call>", "</tool_use>"},
		Bare: true, OwnLines: true, Inline: true, Think: think,
		Arguments: "raw text, an element of the parameter's name for each, in one of the tool's name",
		Example:   "<read_file>\n<path>a.txt</path>\n</read_file>",
	},
}

// m3 stands before every tag of MiniMax M3.
const m3 = "]<]minimax[>["

// dsml returns tags with DeepSeek's name for its markup, in the bars that occur.
func dsml(begin string, ends ...string) []string {
	var out []string
	for _, bar := range []string{"｜", "|", "｜｜", "||"} {
		for _, end := range ends {
			out = append(out, begin+bar+"DSML"+bar+end)
		}
	}
	return out
}
