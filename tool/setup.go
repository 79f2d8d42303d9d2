package tool

// Setup is how a configured tool does its work: what somebody wrote who put an
// agent together, secrets that were named rather than written left out. It is for
// looking the description over, not for running it.
type Setup struct {
	// Argv is a command's template, program first: {name} stands for a parameter, {{
	// and }} for braces. Nil: the tool runs no program.
	Argv []string
	// Free are the parameters of Argv that take more than a list of fixed values,
	// each with the regular expression (RE2) that a whole value matches; an empty one
	// takes anything.
	Free map[string]string
	// Env are variables that the program gets, as they were written.
	Env map[string]string
	// Method is a request's, empty for none. Header and Query are sent with each
	// request, as they were written.
	Method        string
	Header, Query map[string]string
}

// A Configured tool can say how it was set up.
type Configured interface {
	Tool
	// Setup returns the same value at every call, which nobody changes.
	Setup() *Setup
}

// SetupOf returns how a tool was set up, also of one that [With] has made of
// another; nil for one that does not say.
func SetupOf(t Tool) *Setup {
	switch w := t.(type) {
	case *redefined:
		return SetupOf(w.Tool)
	case *redefinedUndoer:
		return SetupOf(w.Tool)
	case Configured:
		return w.Setup()
	}
	return nil
}
