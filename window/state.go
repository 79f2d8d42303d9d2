package window

import "github.com/go-json-experiment/json/jsontext"

// StateIn is what is known of where the work stands.
type StateIn struct {
	// State is what the model wrote with the plan tool, {goal, completed_steps,
	// current_step, next_step, artifacts, pending_questions, known_pitfalls}, each a
	// string or a list of strings; empty: nothing.
	State jsontext.Value
	// Files are the paths that the run has written, Artifacts what else it has made,
	// each in the order in which it was first done.
	Files, Artifacts []string
	// Resolved are errors of tools that have succeeded since.
	Resolved []ResolvedError
	// Unknown are calls whose outcome is not known.
	Unknown []string
	// Steps is how many steps are done, Limit how many there may be; 0: not said.
	Steps, Limit int64
}

// ResolvedError is an error that a later success of the same tool has made a thing
// of the past.
type ResolvedError struct {
	// Tool and Type are the tool's name and the error's type, Call the call that met
	// it and By the one that succeeded.
	Tool, Type, Call, By string
}

// StateBlock returns the text of the volatile block at the tail, at most 400 tokens
// by [tokens.Estimate]; empty if there is nothing to say. When it is too long, what
// says least for the next step goes first. Equal input gives equal text.
func StateBlock(s *StateIn) string { return "" }
