package config

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/tool"
	"rein.example/rein/toolkit/command"
)

// Command is a list of programs that the model may run.
type Command struct {
	Root      string     `yaml:"root" is:"path" doc:"The folder that the programs run in. Left out: the agent file's."`
	Templates []Template `yaml:"templates" max:"64" need:"true" doc:"The programs, each a tool of its own."`
}

// Template is one program with holes for what the model chooses.
type Template struct {
	Name         string            `yaml:"name" is:"toolname" need:"true" doc:"What the tool is called."`
	Effect       string            `yaml:"effect" is:"effect" doc:"What running the program may change, see permissions. Left out: once."`
	Argv         []string          `yaml:"argv" is:"argument" max:"200" need:"true" doc:"The program and its arguments. {name} stands for the parameter of that name; {{ and }} are braces. No shell reads them. The program is looked for when the agent is loaded; a name with a slash is below root."`
	Params       map[string]Param  `yaml:"params" keys:"placeholder" max:"50" doc:"The parameters by name. Each is used in argv."`
	Doc          CommandDoc        `yaml:"doc" need:"true" doc:"What the model is told of the tool."`
	Dir          string            `yaml:"dir" is:"path" doc:"The folder below root that the program runs in. Left out: root."`
	Env          map[string]string `yaml:"env" keys:"env" is:"argument" max:"100" doc:"Variables for the program, besides PATH, HOME and the like. Not for secrets: this file is kept with each run."`
	Pass         []string          `yaml:"pass" is:"env" max:"100" doc:"Variables of rein's own environment that the program gets."`
	SecretEnv    []string          `yaml:"secret_env" is:"env" max:"100" doc:"Variables of rein's own environment with secrets that the program gets too. Their values are kept out of the journal and of the model's sight, also in what the program writes."`
	Timeout      string            `yaml:"timeout" is:"duration" doc:"How long the program may take; then it ends with all that it has started. Left out: 120s."`
	OK           []int64           `yaml:"ok" min:"0" max:"255" doc:"The exit codes that mean success. Left out: 0."`
	KeepRunning  bool              `yaml:"keep_running" doc:"true: what the program has started, and what still runs when it has ended, is left alone. Otherwise it is ended. It is told either way."`
	ResultTokens int64             `yaml:"result_tokens" min:"100" max:"100000" doc:"The most tokens of the output that are shown, the last lines first. Left out: 2,000."`
	Confirm      string            `yaml:"confirm" is:"toolname" doc:"The tool that finds out what became of a call whose outcome is unknown: it reads, and gives {\"done\": true} or {\"done\": false}."`
	KeyFields    []string          `yaml:"key_fields" is:"placeholder" max:"50" doc:"The parameters that make two calls the same business act. Left out: all. The program gets the key in REIN_IDEMPOTENCY_KEY."`
	Resources    []string          `yaml:"resources" is:"placeholder" max:"50" doc:"The parameters that say what a call works on, so that calls about other things may run beside it. Left out: it may work on anything."`
}

// CommandDoc is what the model is told.
type CommandDoc struct {
	What    string `yaml:"what" is:"prose" need:"true" doc:"What it does, in one or two sentences."`
	When    string `yaml:"when" is:"prose" doc:"When to use it, and when not."`
	Returns string `yaml:"returns" is:"prose" doc:"What comes back: also what it looks like when there is nothing, and which result means that no further call is needed. Left out: what is true of every program."`
}

// Param is what a hole takes.
type Param struct {
	Description string   `yaml:"description" is:"prose" doc:"What the model is told of it."`
	Pattern     string   `yaml:"pattern" is:"regexp" doc:"A regular expression (RE2) that the whole of a value matches. One of pattern, enum and flag is needed."`
	Enum        []string `yaml:"enum" is:"argument" max:"100" doc:"The values that there are."`
	Flag        string   `yaml:"flag" is:"argument" doc:"An argument that true puts in and false leaves out."`
	List        bool     `yaml:"list" doc:"true: it takes several values, and each becomes an argument."`
	Optional    bool     `yaml:"optional" doc:"true: it may be left out, and then the arguments that use it are too."`
	Default     string   `yaml:"default" is:"argument" doc:"The value if it is left out."`
	Dash        bool     `yaml:"dash" doc:"true: a value may begin with a dash where it begins an argument. Behind an argument that is just -- it may anyway."`
	Path        bool     `yaml:"path" doc:"true: a value is a path below the folder, without .. and not through a link that leads out."`
	Max         int64    `yaml:"max" min:"1" max:"65536" doc:"The longest value, in bytes. Left out: 1,000."`
	Match       []string `yaml:"match" is:"argument" max:"50" doc:"Examples of values that it takes, tried when the agent is loaded."`
	NoMatch     []string `yaml:"no_match" is:"argument" max:"50" doc:"Examples of values that it does not take, tried too."`
}

// tools makes the tools of a file's commands.
func (c *Command) tools(a *Agent, h *Host) ([]tool.Tool, io.Closer, error) {
	templates := make([]command.Template, len(c.Templates))
	var errs []error
	for i := range c.Templates {
		t := &c.Templates[i]
		templates[i] = t.template()
		for _, name := range t.SecretEnv {
			if _, err := h.secret(name); err != nil {
				errs = append(errs, fmt.Errorf("command %s: %w", t.Name, err))
			}
		}
	}
	if errs != nil {
		return nil, nil, errors.Join(errs...)
	}
	return command.Tools(a.path(c.Root), templates, &command.Options{Logger: h.Logger, Environ: func(name string) (string, bool) {
		value := h.Env(name)
		return value, value != ""
	}})
}

func (Template) later() map[string]string {
	const shell = "no shell reads a command: write the program and its arguments as a list under argv, with {name} for what the model chooses"
	return map[string]string{"command": shell, "run": shell, "shell": shell, "cmd": shell, "args": shell}
}

func (t *Template) template() command.Template {
	out := command.Template{
		Name: t.Name, Doc: tool.Doc(t.Doc), Effect: event.Effect(t.Effect), Argv: t.Argv, Dir: t.Dir, Env: t.Env, Pass: append(slices.Clone(t.Pass), t.SecretEnv...),
		KeepRunning: t.KeepRunning, ResultTokens: int(t.ResultTokens), Confirm: t.Confirm, KeyFields: t.KeyFields, Resources: t.Resources,
		Params: make(map[string]command.Param, len(t.Params)),
	}
	out.Timeout, _ = time.ParseDuration(t.Timeout) // of the form, or empty
	for _, code := range t.OK {
		out.OK = append(out.OK, int(code))
	}
	for name, p := range t.Params { // order: each is its own
		out.Params[name] = command.Param{
			Description: p.Description, Pattern: p.Pattern, Enum: p.Enum, Flag: p.Flag, List: p.List, Optional: p.Optional, Default: p.Default,
			Dash: p.Dash, Path: p.Path, Max: int(p.Max), Match: p.Match, NoMatch: p.NoMatch,
		}
	}
	return out
}

// each returns the errors that were joined to one.
func each(err error) []error {
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		return j.Unwrap()
	}
	return []error{err}
}
