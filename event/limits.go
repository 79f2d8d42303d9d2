package event

// Within returns the stricter one of each two limits, of which 0 is none.
func (l Limits) Within(o Limits) Limits {
	for _, p := range [...]struct {
		to *int64
		n  int64
	}{{&l.Steps, o.Steps}, {&l.ToolCalls, o.ToolCalls}, {&l.Tokens, o.Tokens}, {&l.Wall, o.Wall}, {&l.Work, o.Work}, {&l.Cost, o.Cost}, {&l.Output, o.Output}} {
		if *p.to == 0 || p.n > 0 && p.n < *p.to {
			*p.to = p.n
		}
	}
	return l
}
