package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

// command is the tool of one template.
type command struct {
	*shared
	t       *Template
	def     *tool.Definition
	program string
	args    []argument
	params  map[string]*param
	env     []string
	timeout time.Duration
}

// tool makes a template's tool.
func (s *shared) tool(t *Template) (tool.Tool, error) {
	switch {
	case len(t.Argv) == 0 || t.Argv[0] == "":
		return nil, errors.New("argv names no program")
	case len(t.Argv) > maxArgv:
		return nil, fmt.Errorf("argv has more than %d entries", maxArgv)
	case strings.ContainsAny(t.Argv[0], "{}"):
		return nil, errors.New("argv[0] is the program, which the model does not choose: write it out")
	case strings.TrimSpace(t.Doc.What) == "":
		return nil, errors.New("its document does not say what it does")
	case t.Timeout < 0 || t.Timeout > maxTimeout:
		return nil, fmt.Errorf("the timeout is not from 0 to %v", maxTimeout)
	}
	c := &command{shared: s, t: t, timeout: t.Timeout}
	if c.timeout == 0 {
		c.timeout = DefaultTimeout
	}
	var err error
	if c.args, c.params, err = parse(t); err != nil {
		return nil, err
	}
	if c.program, err = s.program(t.Argv[0]); err != nil {
		return nil, err
	}
	if c.env, err = s.environment(t); err != nil {
		return nil, err
	}
	if _, err = s.dir(t.Dir); err != nil {
		return nil, err
	}
	c.def = &tool.Definition{
		Name: t.Name, Doc: doc(t), Schema: schemaOf(c.params), Effect: t.Effect, ResultTokens: t.ResultTokens,
		Confirm: t.Confirm, KeyFields: t.KeyFields, Resources: t.Resources,
		// The command ends its program itself, which takes a moment.
		Timeout: c.timeout + termGrace + killGrace + time.Second,
	}
	if _, err := tool.NewRegistry(alone{c}); err != nil {
		return nil, err
	}
	return c, nil
}

// alone is a tool whose definition is looked at without the tool that confirms it.
type alone struct{ *command }

func (a alone) Definition() *tool.Definition {
	d := *a.def
	d.Confirm = ""
	return &d
}

// Definition implements [tool.Tool].
func (c *command) Definition() *tool.Definition { return c.def }

// Run implements [tool.Tool].
func (c *command) Run(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	given, err := c.read(call.Args)
	if err != nil {
		return nil, err
	}
	dir, err := c.dir(c.t.Dir)
	if err != nil {
		return nil, refuse("no_directory", err.Error(), "the command was not run; make the directory first, if you can")
	}
	p := &Process{Path: c.program, Args: fill(c.args, given), Dir: dir, Env: c.variables(call), Timeout: c.timeout, KeepRunning: c.t.KeepRunning, Former: c.former(call)}
	log := c.log.With(slog.String("tool", c.def.Name), slog.String("run", call.Run), slog.String("call", call.ID))
	p.Silent = func(since time.Duration) {
		if call.Progress != nil {
			call.Progress("has written nothing for " + rounded(since.Round(time.Second)) + "; it goes on, until " + rounded(c.timeout) + " are over at the latest")
		}
		log.Info("a command has written nothing for a while; it goes on", slog.Duration("for", since.Round(time.Second)))
	}
	o, err := c.runner.Run(ctx, p)
	if err != nil {
		return nil, c.notStarted(err)
	}
	if len(o.Left) > 0 || len(o.Stuck) > 0 {
		log.Warn("a command has left processes behind", slog.Any("left", o.Left), slog.Bool("ended", o.Ended), slog.Any("stuck", o.Stuck))
	}
	return c.result(o)
}

// variables is the environment of one call: the program can pass the key on to
// where the effect takes place.
func (c *command) variables(call *tool.Call) []string {
	env := append(c.env[:len(c.env):len(c.env)], "REIN_RUN="+call.Run, "REIN_CALL="+call.ID)
	if call.Key != "" {
		env = append(env, "REIN_IDEMPOTENCY_KEY="+call.Key)
	}
	return slices.DeleteFunc(env, func(v string) bool { return strings.ContainsRune(v, 0) })
}

// former tells by which variables earlier executions of a call are known: after a
// crash they may still run. Another call with the same key is the same act.
func (c *command) former(call *tool.Call) [][]string {
	var sets [][]string
	if call.Attempt > 1 {
		sets = append(sets, []string{"REIN_RUN=" + call.Run, "REIN_CALL=" + call.ID})
	}
	if c.def.Effect.Writes() && call.Key != "" && !c.t.KeepRunning {
		sets = append(sets, []string{"REIN_RUN=" + call.Run, "REIN_IDEMPOTENCY_KEY=" + call.Key})
	}
	return sets
}

func refuse(kind, message, hint string) *tool.Error {
	return &tool.Error{Type: kind, Message: message, Hint: hint, NoEffect: true}
}

// notStarted says why a program was not started.
func (c *command) notStarted(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &tool.Error{Type: tool.TypeCancelled, Message: "the call was given up before the program was started", NoEffect: true, Retryable: true}
	}
	if errors.Is(err, errFormer) {
		e := &tool.Error{Type: "still_running", Message: fmt.Sprintf("%s was not started: %v", c.def.Name, err), Hint: "do not call it again; say that it has to be ended by a person", NoEffect: true}
		if c.def.Effect.Writes() { // the earlier one may take effect
			e.NoEffect, e.Unknown = false, true
		}
		return e
	}
	return refuse("not_started", fmt.Sprintf("%s could not be started: %v", filepath.Base(c.program), err), "nothing was run; go on without it, or say that it does not work here")
}

// read takes the values out of the arguments, and holds each to its parameter
// again: the schema says the same, but what runs is decided here.
func (c *command) read(args jsontext.Value) (values, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(args, &members); err != nil {
		return nil, refuse("invalid_arguments", "the arguments are not one JSON object", "call again with arguments that fit the tool's schema")
	}
	out := values{}
	for _, name := range sortedKeys(members) {
		p := c.params[name]
		if p == nil {
			return nil, refuse("invalid_arguments", fmt.Sprintf("there is no parameter %q", name), "leave it out")
		}
		list, err := p.values(members[name])
		if err != nil {
			return nil, refuse("invalid_arguments", fmt.Sprintf("%s: %v", name, err), "call again with a value that fits")
		}
		for _, v := range list {
			why := ""
			if p.Flag == "" {
				why = p.refuse(v)
			}
			if why == "" && p.Path {
				why = c.outside(v)
			}
			if why != "" {
				return nil, refuse("invalid_arguments", fmt.Sprintf("%s: the value %.200q is not taken: %s", name, v, why), "nothing was run; call again with a value that fits")
			}
		}
		out[name] = list
	}
	for _, name := range sortedKeys(c.params) {
		p := c.params[name]
		if _, ok := members[name]; ok {
			continue
		}
		switch {
		case p.Default != "":
			out[name] = []string{p.Default}
		case p.Flag == "" && !p.Optional:
			return nil, refuse("invalid_arguments", name+" is missing", "call again with it")
		}
	}
	if why := c.stray(out); why != "" {
		return nil, refuse("invalid_arguments", fmt.Sprintf("the argument %.200s", why), "nothing was run; call again with a path that stays in the working folder")
	}
	return out, nil
}

// values reads what a call gives for a parameter. A flag that is set is one empty
// value.
func (p *param) values(v jsontext.Value) (list []string, err error) {
	switch {
	case p.Flag != "":
		var on bool
		if err = json.Unmarshal(v, &on); on {
			list = []string{""}
		}
	case p.List:
		if err = json.Unmarshal(v, &list); err == nil && len(list) > maxList {
			err = fmt.Errorf("there are more than %d values", maxList)
		}
	default:
		list = make([]string, 1)
		err = json.Unmarshal(v, &list[0])
	}
	return list, err
}

// outside says that a path leads out of the root, or "". Below a path that does
// not exist yet nothing can lead anywhere.
func (c *command) outside(name string) string {
	dir, err := filepath.Rel(c.path, filepath.Join(c.path, filepath.FromSlash(c.t.Dir), filepath.FromSlash(name)))
	if err != nil || !filepath.IsLocal(dir) {
		return "it leads out of the working folder"
	}
	return c.linked(name)
}

// result returns what the model is told of an outcome.
func (c *command) result(o *Outcome) (*tool.Result, error) {
	text := o.Output.Text()
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	r := tool.Text(text + tool.Notice(c.summary(o)))
	r.Keep, r.Remarks = tool.Tail, true
	switch {
	case o.End == TimedOut:
		e := &tool.Error{Type: tool.TypeTimeout, Message: fmt.Sprintf("%s did not end within %v, and was ended with all that it had started", c.def.Name, c.timeout), Result: r,
			Hint: "what it wrote until then follows; the same call would take as long again: ask for less, or go on without it"}
		return nil, c.perhaps(e, o)
	case o.End == Cancelled:
		e := &tool.Error{Type: tool.TypeCancelled, Message: c.def.Name + " was ended because the run was stopped or its time is used up", Result: r, Retryable: c.def.Effect != event.Once}
		return nil, c.perhaps(e, o)
	case o.Signal != "":
		return nil, c.perhaps(&tool.Error{Type: "killed", Message: fmt.Sprintf("%s was ended by a signal: %s", c.def.Name, o.Signal), Result: r, Hint: "what it wrote until then follows"}, o)
	case !c.succeeded(o.Code):
		return nil, &tool.Error{Type: "exit_code", Message: fmt.Sprintf("%s failed with exit code %d", c.def.Name, o.Code), Result: r,
			Hint: "what it wrote follows and says why; the same call will fail again unless something is changed"}
	}
	if whole := jsontext.Value(strings.TrimSpace(o.Output.Head)); o.Output.Whole() && o.Output.Tail == "" && len(whole) > 0 && whole.IsValid() {
		r.Value = whole
		r.Parts = []message.Part{{Kind: message.Text, Text: string(whole)}}
		r.Remarks = false
	}
	return r, nil
}

// perhaps says of a command that must not be repeated that it may have taken
// effect: it ran until it was ended, with all that it had started and that could be
// ended. What it had sent to others by then nobody here can take back.
func (c *command) perhaps(e *tool.Error, o *Outcome) *tool.Error {
	if c.def.Effect != event.Read && c.def.Effect != event.Repeatable {
		e.Unknown, e.Ended = true, o.Gone
		e.Message += "; it may or may not have taken effect"
		e.Hint = "do not repeat it; find out by reading whether it took effect"
		if c.def.Confirm != "" {
			e.Hint = "do not repeat it; call " + c.def.Confirm + " to find out whether it took effect"
		}
	}
	return e
}

func (c *command) succeeded(code int) bool {
	if len(c.t.OK) == 0 {
		return code == 0
	}
	return slices.Contains(c.t.OK, code)
}

// summary is the last line of a result. It comes last because that end of a long
// result is shown.
func (c *command) summary(o *Outcome) string {
	var parts []string
	switch {
	case o.Signal != "":
		parts = append(parts, "ended by a signal: "+o.Signal)
	default:
		parts = append(parts, fmt.Sprintf("exit code %d", o.Code))
	}
	if o.Output.Bytes == 0 {
		parts = append(parts, "it wrote nothing")
	} else {
		parts = append(parts, fmt.Sprintf("%s, %d bytes written", count(o.Output.Lines, "line"), o.Output.Bytes))
	}
	parts = append(parts, "took "+rounded(o.Took))
	if o.Silence >= SilentAfter {
		parts = append(parts, "it wrote nothing for "+rounded(o.Silence)+" at a stretch")
	}
	if n := len(o.Left); n > 0 {
		what := fmt.Sprintf("%s that it had started still running: %s", count(int64(n), "process"), names(o.Left))
		if o.Ended {
			what = fmt.Sprintf("%s that it had started still ran and had to be ended: %s", count(int64(n), "process"), names(o.Left))
		}
		parts = append(parts, what)
	}
	if len(o.Stuck) > 0 {
		parts = append(parts, "could not be ended: "+names(o.Stuck))
	}
	return strings.Join(parts, "; ")
}

// maxNamed is how many processes are named.
const maxNamed = 5

func names(list []Survivor) string {
	var out []string
	for i, p := range list {
		if i == maxNamed {
			out = append(out, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		name, _ := tool.Disown(strings.ToValidUTF8(p.Name, "\uFFFD"))
		out = append(out, fmt.Sprintf("%d (%s)", p.PID, strings.ReplaceAll(name, "]", ")")))
	}
	return strings.Join(out, ", ")
}

func rounded(d time.Duration) string {
	if d >= 10*time.Second {
		return d.Round(time.Second).String()
	}
	return d.Round(10 * time.Millisecond).String()
}

func count(n int64, word string) string {
	switch {
	case n == 1:
		return "1 " + word
	case strings.HasSuffix(word, "s"):
		return fmt.Sprintf("%d %ses", n, word)
	}
	return fmt.Sprintf("%d %ss", n, word)
}
