package local

import (
	"fmt"

	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/tool"
	"rein.example/rein/window"
)

// preflight refuses a run that has no room for its work: what stands in every request
// and one group with a result as long as one may be have to fit into the budget. The
// spec has its token counts. A window of unknown size is not checked.
func preflight(spec *event.Spec) error {
	budget := window.Budget(&spec.Window)
	if budget == 0 {
		return nil
	}
	var system int64
	for i := range spec.System {
		system += spec.System[i].Tokens.Or(0)
	}
	tools := toolTokens(spec)
	name, result := longestResult(spec)
	if system+tools+result <= budget {
		return nil
	}
	block, size, advice := "contract and rules", system, "shorten them"
	if tools > size {
		block, size, advice = "tools", tools, "offer fewer, declare groups, or shorten their descriptions and schemas"
	}
	if result > size {
		block, size, advice = "result of "+name, result, "lower that tool's result limit"
	}
	return fmt.Errorf("it would not fit into the model's window: of the %d tokens that a request may have, contract and rules take %d, the tools %d, and one result up to %d; the largest block is %q with %d: %s, or use a model with a larger window",
		budget, system, tools, result, block, size, advice)
}

// toolTokens returns what the tools of a request take at most.
func toolTokens(spec *event.Spec) (most int64) {
	catalogue := harnessTool(spec, tool.OpenTools) && harnessTool(spec, tool.CallTool)
	offered := func(in func(*event.ToolSpec) bool) (n int64) {
		for i := range spec.Tools {
			if t := &spec.Tools[i]; t.Harness || in(t) {
				n += t.Tokens.Or(0)
			}
		}
		return n
	}
	if len(spec.Phases) == 0 {
		most = offered(func(t *event.ToolSpec) bool { return !catalogue || t.Group == "" })
	}
	for i := range spec.Phases {
		// The machine says what is wrong with a phase.
		names, _ := guard.NewNames(spec.Phases[i].Tools...)
		most = max(most, offered(func(t *event.ToolSpec) bool { return names.Has(t.Name) }))
	}
	for i := range spec.Calling {
		most = max(most, spec.Calling[i].Tokens.Or(0)) // told of in the system text
	}
	return most
}

// longestResult returns the tool whose results may be longest, and how long; "" and 0
// where the run has no tools but the harness's.
func longestResult(spec *event.Spec) (name string, most int64) {
	for i := range spec.Tools {
		if t := &spec.Tools[i]; !t.Harness && t.ResultTokens > most {
			name, most = t.Name, t.ResultTokens
		}
	}
	return name, most
}

// harnessTool reports whether the run's model has that tool of the harness.
func harnessTool(spec *event.Spec, name string) bool {
	t := toolSpec(spec, name)
	return t != nil && t.Harness
}
