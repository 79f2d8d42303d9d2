package dialect

// promptRows are the dialects that no model has of its own, but many follow when
// a prompt asks for them.
var promptRows = []Dialect{
	{
		ID: "react", Models: "any model that is prompted so",
		Grammar: Lines, Bare: true, Think: think,
		Arguments: "JSON object; a plain text for a tool with one parameter",
		Example:   "Action: read_file\nAction Input: {\"path\": \"a.txt\"}",
	},
}
