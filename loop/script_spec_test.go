package loop_test

import (
	"strconv"
	"strings"

	"github.com/cockroachdb/datadriven"

	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

// run appends run.started and the task: arguments are limits, the input lines
// are tools (tool NAME EFFECT, and the options of toolSpec), permissions, how a
// model calls tools (calling MODEL [dialect=ID] [text] [strict]) and the task.
func (s *script) run(d *datadriven.TestData) {
	number := func(name string) int64 { return number(d, name, 0) }
	spec := event.Spec{Model: "test/model", Fallback: fallback(d), Seed: 7, Limits: event.Limits{Steps: number("steps"), ToolCalls: number("tool_calls"),
		Tokens: number("tokens"), Wall: number("wall"), Output: number("output"), Work: number("work"), Cost: number("cost")}, Chat: d.HasArg("chat"),
		Check: d.HasArg("check"), ReadBack: number("read_back"),
		Window: event.WindowSpec{Size: number("window"), Strategy: arg(d, "strategy", ""), Reserve: number("reserve"), Margin: number("margin"),
			Trigger: number("trigger"), Target: number("target"), Keep: number("keep")}, Retrieve: d.HasArg("retrieve"), Retry: event.RetrySpec{Tries: number("tries"), ToolTries: number("tool_tries")}}
	if d.HasArg("submit") {
		spec.Submit = []byte(`{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"]}`)
	}
	task := "do it"
	for line := range strings.Lines(d.Input) {
		f := strings.Fields(line)
		switch f[0] {
		case "tool":
			spec.Tools = append(spec.Tools, toolSpec(f))
		case "allow", "ask", "deny":
			spec.Permissions = append(spec.Permissions, event.Permission{Verdict: event.Verdict(f[0]), Match: f[1]})
		case "calling":
			spec.Calling = append(spec.Calling, calling(f))
		case "rule":
			spec.Rules = append(spec.Rules, ruleSpec(f[1:]))
		case "phase": // NAME TOOL,TOOL [until TOOL]
			p := event.PhaseSpec{Name: f[1], Tools: strings.Split(f[2], ",")}
			if len(f) > 4 {
				p.Until = f[4]
			}
			spec.Phases = append(spec.Phases, p)
		case "accept": // file|id|field|call NAME
			a := map[string]*[]string{"file": &spec.Accept.Files, "id": &spec.Accept.IDs, "field": &spec.Accept.Fields, "call": &spec.Accept.Calls}[f[1]]
			*a = append(*a, f[2])
		case "price": // millionths of a dollar for a million tokens, in and out
			in, _ := strconv.ParseInt(f[1], 10, 64)
			out, _ := strconv.ParseInt(f[2], 10, 64)
			spec.Prices = append(spec.Prices, event.ModelPrice{Model: "test/model", Price: message.Price{Input: in, Output: out}})
		case "task":
			task = strings.TrimSpace(line[5:])
		}
	}
	s.add("", &event.RunStarted{Format: 1, Root: "r1", Spec: spec})
	in := &event.InputReceived{Kind: event.InputText, Tokens: message.Known(10), Parts: filled(d, task)}
	s.fill(d, &in.Tokens, message.User, in.Parts)
	s.add("", in)
}

// toolSpec returns the tool NAME EFFECT with options such as confirm=NAME. Its
// arguments are x, path and answer; takes=NAME is one more, needs=NAME must be
// there.
func toolSpec(f []string) event.ToolSpec {
	t := event.ToolSpec{Name: f[1], Effect: event.Effect(f[2]), Timeout: 60_000,
		Schema: []byte(`{"type":"object","properties":{"x":{"type":"integer"},"path":{"type":"string"},"answer":{"type":"string"}},"additionalProperties":false}`)}
	if t.Name == tool.CallTool {
		t.Schema = []byte(`{"type":"object","properties":{"name":{"type":"string"},"arguments":{"type":"object"}},"required":["name"],"additionalProperties":false}`)
	}
	for _, o := range f[3:] {
		name, value, _ := strings.Cut(o, "=")
		switch name {
		case "needs":
			t.Schema = []byte(strings.TrimSuffix(string(t.Schema), "}") + `,"required":["` + value + `"]}`)
		case "takes":
			t.Schema = []byte(strings.Replace(string(t.Schema), `"x":`, `"`+value+`":{"type":"string"},"x":`, 1))
		case "confirm":
			t.Confirm = value
		case "key":
			t.KeyFields = strings.Split(value, ",")
		case "agent":
			t.Agent, t.Timeout = value, 0
		case "group":
			t.Group = value
		case "harness":
			t.Harness = true
		case "polling":
			t.Polling = true
		case "sensitive":
			t.Sensitive = true
		case "pin":
			t.Pin = value
		case "timeout":
			t.Timeout, _ = strconv.ParseInt(value, 10, 64)
		case "max":
			t.MaxCalls, _ = strconv.ParseInt(value, 10, 64)
		case "resource":
			t.Resources = []string{value}
		}
	}
	return t
}

// ruleSpec returns the rule "CALL before TOOL", "never CALL", "never CALL after
// TOOL" or "read_back".
func ruleSpec(f []string) event.RuleSpec {
	r := event.RuleSpec{List: "must"}
	switch {
	case f[0] == "read_back":
		r.Kind = event.RuleReadBack
	case f[0] == "never":
		r.List, r.Kind, r.Call = "never", event.RuleNever, f[1]
		if len(f) > 3 {
			r.After = f[3]
		}
	default:
		r.Kind, r.Call, r.Before = event.RuleBefore, f[0], f[2]
	}
	r.Text = guard.RuleText(&r)
	return r
}

func calling(f []string) event.ModelCalling {
	c := event.ModelCalling{Model: f[1], Tokens: message.Known(300)}
	for _, o := range f[2:] {
		name, value, _ := strings.Cut(o, "=")
		switch name {
		case "dialect":
			c.Dialect = value
		case "text":
			c.Text = true
		case "strict":
			c.Strict = true
		}
	}
	return c
}

// fallback returns the models of the argument fallback=(a,b).
func fallback(d *datadriven.TestData) []string {
	for _, a := range d.CmdArgs {
		if a.Key == "fallback" {
			return a.Vals
		}
	}
	return nil
}
