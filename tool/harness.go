package tool

// The names of tools of Rein's own whose results mean something to the run itself.
// Only a tool that is declared as the harness's has that meaning under its name.
const (
	// SubmitResult hands in the result, which ends the run.
	SubmitResult = "submit_result"
	// Plan replaces the run's task state with its value.
	Plan = "plan"
	// AskUser puts a question to a person. It is not executed: the next input is
	// its result.
	AskUser = "ask_user"
	// OpenTools shows the tools of groups. In a run that has it and CallTool, tools
	// with a group stand in no request.
	OpenTools = "open_tools"
	// CallTool calls a tool of a group: {"name": …, "arguments": {…}}. It is not
	// executed: the call is judged, carried out and journalled as one of that tool.
	CallTool = "call_tool"
	// SearchHistory searches and pages everything that was said in the run, what is
	// not in the context any more included.
	SearchHistory = "search_history"
)
