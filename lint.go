package rein

import (
	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/lint"
	"rein.example/rein/tool"
	"rein.example/rein/window"
)

// Lint reports what is found wrong or unclear in an agent's tools, rules and
// permissions, with what to do about it; see package lint. Whether they leave room
// in the model's window is looked at if Window gives its size. It fails where
// [New] would.
func (o *Options) Lint() (*lint.Report, error) {
	if err := o.Rules.check(); err != nil {
		return nil, err
	}
	if err := checkWindow(&o.Window); err != nil {
		return nil, err
	}
	k, err := o.counting(o.Fallback)
	if err != nil {
		return nil, err
	}
	w := o.windowSpec(o.Fallback, k)
	registry, specs, err := o.offer(w)
	if err != nil {
		return nil, err
	}
	permissions := o.Permissions
	if permissions == nil {
		permissions = guard.DefaultPermissions()
	}
	policy, err := guard.New(permissions)
	if err != nil {
		return nil, err
	}
	in := &lint.Input{Setups: map[string]*tool.Setup{}, Permissions: o.Permissions, Phases: o.Phases,
		Window: w, Counter: k.counter}
	catalogue := registry.Get(tool.CallTool) != nil
	for _, t := range specs {
		in.Tools = append(in.Tools, registry.Get(t.Name).Definition())
		in.Setups[t.Name] = tool.SetupOf(registry.Get(t.Name))
		if !catalogue || t.Harness || t.Group == "" {
			in.Offered = append(in.Offered, t.Name)
		}
	}
	contract := o.Contract
	if contract == "" {
		contract = window.Contract
	}
	var text string
	in.Rules, text = o.Rules.specs(readsBack(policy, specs))
	in.System = []event.Block{{Name: window.BlockContract, Text: contract}, {Name: window.BlockRules, Text: text}}
	return &lint.Report{Findings: lint.Check(in), Rules: in.Rules}, nil
}
