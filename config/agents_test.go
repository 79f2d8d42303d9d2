package config

import (
	"strings"
	"testing"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/model"
	"rein.example/rein/model/script"
)

// caller is an agent that calls another one; %s stands for more settings of that.
const caller = `
name: desk
model: script/desk
key_env: DESK_KEY
price: {input: 1, output: 2}
permissions: {allow: ["effect:read"]}
tools:
  - agent:
      file: below/researcher.yaml
      name: research
      doc: {what: Looks orders up., when: To find out about orders., returns: What was found.}
      effect: read
      limits: {steps: 4, wall: 5m}
      max_calls: 3
`

const researched = `
name: researcher
rules: {must: ["Name every order."]}
limits: lookup
tools: [calculator]
`

// makes builds agents whose model plays a script: the caller's and the others'.
func makes(t *testing.T, text string) (Host, *[]string) {
	var made []string
	return Host{Make: func(a *Agent, o *rein.Options) (*rein.Agent, error) {
		made = append(made, a.Name+" with "+a.Model)
		return rein.New(played(t, text), o)
	}}, &made
}

func played(t *testing.T, text string) model.Client {
	s, err := script.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return script.New(s, nil)
}

// An agent in a file can call another one, in a file of its own: with its own rules,
// tools and limits, and with the model of its caller unless it names one.
func TestAgentTool(t *testing.T) {
	a, err := load(t, caller, map[string]string{"below/researcher.yaml": researched})
	if err != nil {
		t.Fatal(err)
	}
	h, made := makes(t, `{turns: [A-1 is late.]}`)
	o, done, err := a.OptionsOn(h)
	if err != nil {
		t.Fatal(err)
	}
	agent, err := rein.New(played(t, `
turns:
  - call: {name: research, arguments: {task: Which order is late?}}
  - say: '{{match "research" "A-1 is late"}}'
`), o)
	if err != nil {
		t.Fatal(err)
	}
	var below *event.RunStarted
	answer := ""
	for e, err := range agent.Start(t.Context(), "which?").Events() {
		if err != nil {
			t.Fatal(err)
		}
		switch d := e.Data.(type) {
		case *event.RunStarted:
			if d.Parent != "" {
				below = d
			}
		case *event.RunFinished:
			answer = d.Answer
		}
	}
	if err := agent.Close(); err != nil {
		t.Error(err)
	}
	if err := done(); err != nil {
		t.Error(err)
	}
	if answer != "A-1 is late" || below == nil || strings.Join(*made, ", ") != "researcher with script/desk" {
		t.Fatalf("%q, %v, %+v", answer, *made, below)
	}
	s := below.Spec
	if s.Agent != "researcher" || s.Limits.Steps != 4 || s.Limits.ToolCalls != 20 || s.Limits.Tokens <= 0 || s.Limits.Tokens > 20_000 || s.Limits.Wall != 300_000 {
		t.Errorf("%+v", s)
	}
	if len(s.Rules) != 1 || !strings.HasSuffix(s.BaseDir, "below") {
		t.Errorf("%+v", s)
	}
	// A run of it can be carried on by itself: it says which model it has.
	again, err := FromSpec("r.1", &s)
	if err != nil || again.Model != "script/desk" || again.KeyEnv != "DESK_KEY" || again.Price == nil {
		t.Errorf("%+v %v", again, err)
	}
	if spec := agent.Tools().Specs(); spec[len(spec)-2].Name != "research" && spec[len(spec)-3].Name != "research" {
		t.Errorf("%+v", spec)
	}
}

// A model of its own keeps nothing of its caller's.
func TestAgentToolOwnModel(t *testing.T) {
	a, err := load(t, caller, map[string]string{"below/researcher.yaml": researched + "model: other/small\n"})
	if err != nil {
		t.Fatal(err)
	}
	h, made := makes(t, `{turns: [hi]}`)
	_, done, err := a.OptionsOn(h)
	if err != nil {
		t.Fatal(err)
	}
	if err := done(); err != nil {
		t.Error(err)
	}
	if strings.Join(*made, ", ") != "researcher with other/small" {
		t.Errorf("%v", *made)
	}
}

// What is only looked at is described, and no run of it starts.
func TestAgentToolDescribed(t *testing.T) {
	o := options(t, caller, map[string]string{"below/researcher.yaml": researched})
	if d := o.Tools[0].Definition(); d.Name != "research" || d.Agent == "" || d.Effect != event.Read || d.MaxCalls != 3 {
		t.Errorf("%+v", d)
	}
	found, err := o.Lint()
	if err != nil || found == nil {
		t.Error(err)
	}
	agent, err := rein.New(played(t, `{turns: [hi]}`), o)
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	if _, err := agent.Run(t.Context(), "go"); err == nil || !strings.Contains(err.Error(), "research") {
		t.Errorf("it runs: %v", err)
	}
}

// What is wrong is said where it is wrong, in the other file too.
func TestAgentToolWrong(t *testing.T) {
	self := strings.Replace(caller, "below/researcher.yaml", "agent.yaml", 1)
	back := strings.Replace(strings.Replace(caller, "below/researcher.yaml", "../agent.yaml", 1), "name: research", "name: back", 1)
	deep := map[string]string{}
	for i := range 7 {
		deep["below/"+strings.Repeat("d", i)+"researcher.yaml"] = strings.Replace(caller, "below/researcher.yaml", strings.Repeat("d", i+1)+"researcher.yaml", 1)
	}
	for name, c := range map[string]struct {
		text  string
		files map[string]string
		want  []string
	}{
		"no file":   {caller, nil, []string{"agent.yaml:9:7: tools[0].agent: ", "researcher.yaml"}},
		"bad file":  {caller, map[string]string{"below/researcher.yaml": "limits: huge\n"}, []string{"below/researcher.yaml:1:9: limits", "huge"}},
		"bad tools": {caller, map[string]string{"below/researcher.yaml": "tools:\n  - files: {root: nowhere}\n"}, []string{"below/researcher.yaml:2:19: tools[0].files.root", "nowhere"}},
		"itself":    {self, nil, []string{"tools[0].agent", "calls this agent in turn"}},
		"a circle":  {caller, map[string]string{"below/researcher.yaml": back}, []string{"below/researcher.yaml", "calls this agent in turn"}},
		"too deep":  {caller, deep, []string{"at most 5 deep"}},
		"a slip":    {strings.Replace(caller, "doc: {what", "description: {what", 1), nil, []string{"stands under doc", "doc is missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := load(t, c.text, c.files)
			if err == nil {
				h, _ := makes(t, `{turns: [hi]}`)
				_, _, err = a.OptionsOn(h)
			}
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in\n%v", want, err)
				}
			}
		})
	}
}
