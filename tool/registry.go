package tool

// Registry holds the tools of a run under unique names. It does not change
// after [NewRegistry] and is safe for concurrent use.
type Registry struct{}
