package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/tool"
	"rein.example/rein/toolkit/ask"
	"rein.example/rein/toolkit/calc"
	"rein.example/rein/toolkit/clock"
	"rein.example/rein/toolkit/files"
	"rein.example/rein/toolkit/plan"
)

// Options is [Agent.OptionsOn] this process.
func (a *Agent) Options(extra ...tool.Tool) (o *rein.Options, close func() error, err error) {
	return a.OptionsOn(Host{}, extra...)
}

// OptionsOn returns what [rein.New] takes, with the tools of the file and extra,
// which come from elsewhere; the store, the approver and the like are left to
// the caller. It starts the servers that the file names. Call close when the agent
// is closed. What cannot be carried out here (a folder that is not there, a server
// that does not start, a permission for a tool that is not) is an [*Error].
func (a *Agent) OptionsOn(h Host, extra ...tool.Tool) (o *rein.Options, close func() error, err error) {
	h.complete()
	r := report{file: a.source.name}
	tools, close := a.tools(&h, &r)
	tools = a.results(&r, append(tools, extra...))
	o = &rein.Options{
		Name: a.Name, Tools: tools, Rules: a.rules(&r, tools), Phases: a.phases(&r, tools), Accept: a.Accept.Text,
		Done:  event.AcceptSpec{Files: a.Accept.Files, IDs: a.Accept.IDs, Fields: a.Accept.Fields, Calls: a.Accept.Calls},
		Check: a.check(), ReadBack: a.readBack(),
		Permissions: a.permissions(&r, tools), Limits: a.limits(), Retry: a.retry(), Submit: a.SubmitSchema,
		Contract: strings.TrimSpace(a.Contract), Window: a.window(),
		Sampling: event.Sampling{
			Temperature: string(a.Sampling.Temperature), TopP: string(a.Sampling.TopP), Reasoning: a.Sampling.Reasoning,
		},
		Sandbox: a.Sandbox, Config: a.Text(), BaseDir: a.BaseDir, Secrets: h.Secrets,
	}
	if a.Calls != (Calls{}) {
		o.Calling = []rein.Calling{{Dialect: a.Calls.Dialect, Text: a.Calls.Text, Strict: a.Calls.Strict}}
	}
	a.tokenizer(&r, o)
	if a.Sampling.Seed != nil {
		o.Sampling.Seed = fmt.Sprint(*a.Sampling.Seed)
	}
	if err := r.err(); err != nil {
		return nil, nil, errors.Join(err, close())
	}
	return o, close, nil
}

// tools opens the tools of the file.
func (a *Agent) tools(h *Host, r *report) (tools []tool.Tool, close func() error) {
	var closers []io.Closer
	close = func() error {
		var errs []error
		for _, c := range closers {
			errs = append(errs, c.Close())
		}
		return errors.Join(errs...)
	}
	servers := a.startServers(h, r)
	for i := range a.Tools {
		t, path := &a.Tools[i], fmt.Sprintf("tools[%d]", i)
		switch {
		case t.MCP != nil:
			if s := servers[i]; s != nil {
				tools, closers = append(tools, s.Tools()...), append(closers, s)
			}
		case t.Files != nil:
			list, closer, err := files.Tools(a.path(t.Files.Root), &files.Options{ReadOnly: t.Files.Write != "direct"})
			if err != nil {
				path += ".files.root"
				r.add(a.source.at[path], path, "the folder cannot be used: %v; make it, or name another", err)
				continue
			}
			tools, closers = append(tools, list...), append(closers, closer)
		case t.Command != nil:
			list, closer, err := t.Command.tools(a, h)
			if err != nil {
				path += ".command"
				for _, e := range each(err) {
					r.add(a.source.at[path], path, "%v", e)
				}
				continue
			}
			tools, closers = append(tools, list...), append(closers, closer)
		case t.HTTPGet != nil, t.HTTP != nil, t.OpenAPI != nil:
			list, err := a.web(t, h)
			if err != nil {
				path += "." + t.kind()
				for _, e := range each(err) {
					r.add(a.source.at[path], path, "%v", e)
				}
			}
			tools = append(tools, list...)
		case t.Agent != nil:
			made, closer := a.agentTool(t.Agent, path+".agent", h, r)
			if made != nil {
				tools = append(tools, made)
			}
			if closer != nil {
				closers = append(closers, closer)
			}
		case t.Plan != nil:
			tools = append(tools, plan.Tool())
		case t.AskUser != nil:
			tools = append(tools, ask.Tool())
		case t.Calculator != nil:
			tools = append(tools, calc.Tool())
		case t.Clock != nil:
			zone, err := time.LoadLocation(t.Clock.Timezone) // "" is UTC
			if err != nil {
				r.add(a.source.at[path], path, "%v", err)
				continue
			}
			tools = append(tools, clock.Tool(&clock.Options{Zone: zone}))
		}
	}
	return tools, close
}

// permissions returns the file's permissions; without any nil, for the default.
// A name that no tool has is a slip that would let a denied call through.
func (a *Agent) permissions(r *report, tools []tool.Tool) []event.Permission {
	if a.Permissions == nil {
		return nil
	}
	names := make([]string, len(tools))
	specs := map[string]event.ToolSpec{} // looked up only
	for i, t := range tools {
		d := t.Definition()
		names[i] = d.Name
		specs[d.Name] = event.ToolSpec{Name: d.Name, Effect: d.Effect}
	}
	out := []event.Permission{}
	type entry struct {
		at      string
		verdict event.Verdict
		tool    string
	}
	var named []entry
	sound := len(r.problems) == 0 // else tools may be missing that are in the file
	add := func(verdict event.Verdict, list []string) {
		for i, match := range list {
			out = append(out, event.Permission{Verdict: verdict, Match: match})
			at := fmt.Sprintf("permissions.%s[%d]", verdict, i)
			if !sound || strings.ContainsAny(match, "*:") {
				continue
			}
			if len(names) == 0 {
				r.add(a.source.at[at], at, "there is no tool %q: the agent has no tools; list them under tools", excerpt(match))
			} else if !slices.Contains(names, match) {
				r.add(a.source.at[at], at, "%s", unknown("tool", match, names))
			} else {
				named = append(named, entry{at, verdict, match})
			}
		}
	}
	add(event.Deny, a.Permissions.Deny)
	add(event.Ask, a.Permissions.Ask)
	add(event.Allow, a.Permissions.Allow)
	policy, err := guard.New(out)
	if err != nil {
		r.add(a.source.at["permissions"], "permissions", "%v", err)
		return out
	}
	// An entry for one tool that another always overrides does nothing, and its
	// writer believes that it does.
	for _, e := range named {
		if d := policy.Judge(specs[e.tool]); d.Verdict != e.verdict {
			r.add(a.source.at[e.at], e.at, "%q does nothing here: %q matches %s too, and the strictest match wins (deny, ask, allow); take one of the two out",
				string(e.verdict)+" "+e.tool, d.Rule, e.tool)
		}
	}
	return out
}

// limits returns the preset's limits with those of the file in their place.
func (a *Agent) limits() *event.Limits {
	l, _, _ := rein.Preset(cmp.Or(a.Limits.Preset, defaultPreset))
	return a.Limits.over(l)
}

// check reports whether an end is put to the completion check.
func (a *Agent) check() bool {
	if a.Check != nil {
		return *a.Check
	}
	return !a.quick()
}

// readBack returns after how many steps the goal is read back, 0 for never.
func (a *Agent) readBack() int64 {
	switch {
	case a.ReadBack != nil:
		return *a.ReadBack
	case a.quick():
		return 0
	}
	return rein.ReadBackSteps
}

const (
	defaultPreset = "multi-step"
	// callsPerStep is how many tool calls a step may have on average.
	callsPerStep = 4
)

// retry returns the file's policy, else what suits the preset: nobody waits
// minutes for the answer to a question.
func (a *Agent) retry() *event.RetrySpec {
	r := rein.RetryPatient()
	if a.Retry == "fast" || a.Retry == "" && a.quick() {
		r = rein.RetryFast()
	}
	return &r
}

func presetNames() []string {
	_, names, _ := rein.Preset("")
	return strings.Split(names, ", ")
}
