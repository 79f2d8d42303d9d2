package diff_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"

	"rein.example/rein"
	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/memory"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/script"
	"rein.example/rein/tool"
	"rein.example/rein/toolkit/files"
	"rein.example/rein/trace/diff"
)

// TestScripts plays testdata/*.txt, in which run and fork carry out real runs with a
// scripted model, diff compares a with b, and request a run's request with that of
// the step before. Rewrite with:
//
//	go test ./trace/diff -run TestScripts -rewrite
//
// What a run is made of is YAML: task, must (rules), window, model, sampling,
// permissions, tools, and then the model's turns (package model/script). like=x takes
// over what it does not say itself. A tool gives the text for its arguments' values,
// "~N" behind which stands for N numbered lines, and "error: " for an error; ends is the
// remark with which a command's result ends. Files are those of the file tools; a run
// that has none of its own has those of the run that it is like.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		w := &workbench{t: t, store: memory.New(), made: map[string]*setup{}}
		defer w.store.Close()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			w.t = t
			out, err := w.play(d)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			return out
		})
	})
}

// workbench holds the runs of one file.
type workbench struct {
	t     *testing.T
	store journal.Store
	made  map[string]*setup
}

// setup is what a run is made of, and the run.
type setup struct {
	Task        string               `yaml:"task"`
	Must        []string             `yaml:"must"`
	Model       string               `yaml:"model"`
	Temperature string               `yaml:"temperature"`
	Steps       int64                `yaml:"steps"`
	Window      int64                `yaml:"window"`
	Input       string               `yaml:"input"`
	Secret      string               `yaml:"secret"`
	SecretName  string               `yaml:"secret_name"`
	Dialect     string               `yaml:"dialect"`
	Tools       map[string]*toolDesk `yaml:"tools"`
	Files       map[string]string    `yaml:"files"`

	turns string
	run   string
}

type toolDesk struct {
	Does   string            `yaml:"does"`
	Writes bool              `yaml:"writes"`
	Takes  []string          `yaml:"takes"`
	Shows  int               `yaml:"shows"`
	Gives  map[string]string `yaml:"gives"`
	Ends   string            `yaml:"ends"`
}

func (w *workbench) play(d *datadriven.TestData) (string, error) {
	switch d.Cmd {
	case "run", "fork":
		return w.carryOut(d)
	case "diff":
		return w.diff(d)
	case "request":
		return w.request(d)
	}
	return "", fmt.Errorf("no directive %q", d.Cmd)
}

// carryOut makes a run.
func (w *workbench) carryOut(d *datadriven.TestData) (string, error) {
	name, like, of := arg(d, "name"), arg(d, "like"), arg(d, "of")
	s := &setup{Model: "m"}
	if like == "" {
		like = of
	}
	if like != "" {
		*s = *w.made[like]
		s.Input = ""
	}
	settings, turns, found := strings.Cut("\n"+d.Input, "\nturns:")
	if strings.TrimSpace(settings) != "" {
		if err := yaml.Unmarshal([]byte(settings), s); err != nil {
			return "", err
		}
	}
	if found {
		s.turns = "turns:" + turns
	}
	a, err := w.agent(s)
	if err != nil {
		return "", err
	}
	defer a.Close()
	run := a.Start
	ctx := context.Background()
	var r *rein.Run
	if d.Cmd == "fork" {
		var step int64
		d.ScanArgs(w.t, "step", &step)
		r = a.Fork(ctx, w.made[of].run, rein.AfterStep(step), s.Input)
	} else {
		r = run(ctx, s.Task)
	}
	res, err := r.Result()
	if err != nil {
		return "", err
	}
	s.run = r.ID()
	w.made[name] = s
	return fmt.Sprintf("%s %s after %d steps: %s\n", res.Status, res.Reason, res.Steps, clip(res.Answer+res.Detail)), nil
}

func arg(d *datadriven.TestData, name string) string {
	for _, a := range d.CmdArgs {
		if a.Key == name && len(a.Vals) == 1 {
			return a.Vals[0]
		}
	}
	return ""
}

func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "…"
	}
	return s
}

func (w *workbench) agent(s *setup) (*rein.Agent, error) {
	text, err := script.Parse([]byte(s.turns))
	if err != nil {
		return nil, err
	}
	o := &rein.Options{Name: "desk", Contract: "Work.", Rules: rein.Rules{Must: s.Must}, Store: w.store, Window: event.WindowSpec{Size: s.Window},
		Permissions: []event.Permission{{Verdict: event.Allow, Match: "*"}}, Sampling: event.Sampling{Temperature: s.Temperature},
		Limits: &event.Limits{Steps: max(s.Steps, 100)}, Retry: &event.RetrySpec{Tries: 1, ToolTries: 1}}
	if s.Dialect != "" {
		o.Calling = []rein.Calling{{Dialect: s.Dialect}}
	}
	if s.Secret != "" {
		o.Secrets = event.NewSecrets()
		if err := o.Secrets.Register(cmp.Or(s.SecretName, "DESK_KEY"), s.Secret); err != nil {
			return nil, err
		}
	}
	if len(s.Files) > 0 {
		list, err := w.files(s)
		if err != nil {
			return nil, err
		}
		o.Tools = append(o.Tools, list...)
	}
	for name, desk := range s.Tools { // order: the registry sorts them
		o.Tools = append(o.Tools, desk.tool(name, s.Secret))
	}
	return rein.New(script.New(text, &script.Options{Info: model.Info{Provider: "script", Model: s.Model}}), o)
}

// files makes the tools for a run's files.
func (w *workbench) files(s *setup) ([]tool.Tool, error) {
	dir := w.t.TempDir()
	for name, text := range s.Files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(grown(text)), 0o600); err != nil {
			return nil, err
		}
	}
	list, closer, err := files.Tools(dir, nil)
	if err != nil {
		return nil, err
	}
	w.t.Cleanup(func() { closer.Close() })
	return list, nil
}

// tool makes a tool of what it gives for which arguments.
func (k *toolDesk) tool(name, secret string) tool.Tool {
	effect := event.Read
	if k.Writes {
		effect = event.Repeatable
	}
	schema := `{"type":"object","properties":{`
	for i, p := range k.Takes {
		if i > 0 {
			schema += ","
		}
		schema += fmt.Sprintf("%q:{\"type\":[\"string\",\"integer\"]}", p)
	}
	return tool.New(name, tool.Doc{What: k.Does}, func(_ context.Context, in map[string]any) (*tool.Result, error) {
		var key []string
		for _, p := range k.Takes {
			if v, ok := in[p]; ok {
				key = append(key, fmt.Sprint(v))
			}
		}
		text, ok := k.Gives[strings.Join(key, " ")]
		if !ok {
			text = k.Gives["else"]
		}
		text = strings.ReplaceAll(text, "SECRET", secret)
		if why, ok := strings.CutPrefix(text, "error: "); ok {
			return nil, &tool.Error{Type: "failed", Message: why}
		}
		if k.Ends != "" {
			r := tool.Text(grown(text) + tool.Notice(k.Ends))
			r.Remarks, r.Keep = true, tool.Tail
			return r, nil
		}
		return tool.Text(grown(text)), nil
	}, &tool.Options{Effect: effect, ResultTokens: k.Shows, Schema: jsontext.Value(schema + "}}")})
}

// grown returns a text with as many lines as it asks for.
func grown(text string) string {
	head, count, ok := strings.Cut(text, " ~")
	var n int
	if _, err := fmt.Sscan(count, &n); !ok || err != nil {
		return text
	}
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "%s, line %d of many\n", head, i+1)
	}
	return out.String()
}

func (w *workbench) fold(name string) *diff.Fold {
	w.t.Helper()
	f := &diff.Fold{}
	for e, err := range w.store.Read(context.Background(), w.made[name].run, 1) {
		if err != nil {
			w.t.Fatal(err)
		}
		f.Add(&e)
	}
	return f
}

func (w *workbench) see(name string, seq int64) *diff.Context {
	w.t.Helper()
	v, err := engine.See(context.Background(), w.store, w.made[name].run, seq)
	if err != nil {
		w.t.Fatal(err)
	}
	return &diff.Context{System: v.System, Messages: v.Messages, Tail: v.Tail, Tools: v.Tools, Dialect: v.Dialect}
}

// diff prints the report about two runs, a and b if not said otherwise.
func (w *workbench) diff(d *datadriven.TestData) (string, error) {
	a, b := "a", "b"
	if x := arg(d, "a"); x != "" {
		a = x
	}
	if x := arg(d, "b"); x != "" {
		b = x
	}
	c := diff.New(w.fold(a).Run(), w.fold(b).Run())
	var seenA, seenB *diff.Context
	if x, y := c.Requests(); x > 0 {
		seenA, seenB = w.see(a, x), w.see(b, y)
	}
	r := c.Report(seenA, seenB)
	var out bytes.Buffer
	if r.SharedEvents > 0 {
		fmt.Fprintf(&out, "shared: events 1 to %d, steps: %d\n", r.SharedEvents, r.SharedSteps)
	}
	if r.Same {
		out.WriteString("the same\n")
	}
	if len(r.Redacted) > 0 {
		fmt.Fprintf(&out, "not compared: %s\n", strings.Join(r.Redacted, ", "))
	}
	place := func(what string, v *diff.Divergence) {
		if v == nil {
			fmt.Fprintf(&out, "%s: none\n", what)
			return
		}
		fmt.Fprintf(&out, "%s (%s): %s\n", what, v.Kind, v.Text)
	}
	place("first", r.FirstDivergence)
	place("parting", r.Parting)
	for _, f := range r.Findings {
		fmt.Fprintf(&out, "%s/%s: %s\n", f.Where, f.Kind, f.Text)
		for _, l := range f.Follows {
			fmt.Fprintf(&out, "  from this: %s\n", l)
		}
		for _, l := range f.Diff {
			fmt.Fprintf(&out, "    %s\n", l)
		}
	}
	for _, s := range r.Steps {
		fmt.Fprintf(&out, "  %-7s %s | %s\n", s.Kind, step(s.StepA, s.TextA), step(s.StepB, s.TextB))
	}
	return out.String(), nil
}

func step(n *int64, text string) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprintf("%d %s", *n, text)
}

// request prints how a request differs from that of the step before.
func (w *workbench) request(d *datadriven.TestData) (string, error) {
	var n int64
	d.ScanArgs(w.t, "step", &n)
	run := arg(d, "run")
	var list [2]*diff.Request
	for e, err := range w.store.Read(context.Background(), w.made[run].run, 1) {
		if err != nil {
			return "", err
		}
		if c, ok := e.Data.(*event.ModelCalled); ok && !c.Purpose.Aside() {
			for i, step := range []int64{n - 1, n} {
				if c.Step == step {
					list[i] = &diff.Request{Called: c, Seq: e.Seq, Context: *w.see(run, e.Seq)}
				}
			}
		}
	}
	if list[0] == nil || list[1] == nil {
		return "", errors.New("there is no such step with one before it")
	}
	for _, r := range list {
		r.Body = body(r)
	}
	c := diff.Requests(w.fold(run).Run(), list[0], list[1])
	var out strings.Builder
	for _, x := range c.Changes {
		fmt.Fprintf(&out, "%s: %s\n", x.Kind, x.Text)
	}
	fmt.Fprintf(&out, "prefix %s (%s)\n", c.Prefix.Text, c.Prefix.At)
	return out.String(), nil
}

// body is a wire of its own: what the request holds, one after the other.
func body(r *diff.Request) string {
	b := []byte(`{"system":[`)
	list := func(msgs []message.Message) {
		for i := range msgs {
			if i > 0 {
				b = append(b, ',')
			}
			b = msgs[i].AppendJSON(b)
		}
	}
	list(r.System)
	b = append(b, `],"messages":[`...)
	list(r.Messages)
	if r.Tail != nil {
		b = append(b, ',')
		b = r.Tail.AppendJSON(b)
	}
	return string(b) + "]}"
}
