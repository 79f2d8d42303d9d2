package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rein.example/rein/config"
	"rein.example/rein/event"
	"rein.example/rein/lint"
	"rein.example/rein/model/catalog"
)

// linted is what --json prints for an agent file.
type linted struct {
	File string `json:"file"`
	// OK: there is nothing worse than hints.
	OK       bool           `json:"ok"`
	Findings []lint.Finding `json:"findings"`
	// Rules are all rules of the agent, as they are kept.
	Rules []lintedRule `json:"rules"`
}

// lintedRule is one rule.
type lintedRule struct {
	List string `json:"list"`
	Text string `json:"text"`
	// Enforced by code; else the model is told it, and no more.
	Enforced bool `json:"enforced"`
}

func (a *app) lintCommand() *cobra.Command {
	return &cobra.Command{
		Use: "lint FILE", Short: "Check an agent's rules and the documents of its tools",
		Long: `Looks for what makes a model go wrong: tools whose document leaves out what they
do, when to use them and when not, what a parameter means or what they return;
names that mislead; rules that nobody could check, that repeat or contradict each
other; permissions that do nothing; lists of tools that are too long; too little
room in the model's window. Each finding names the part and what to do. Then it
says which rules code enforces, and which the model is only told.

The tools of the file are opened for it, and its servers started; the model is not
called. Exits 1 if there are warnings or errors; hints alone are no failure.`,
		Example: `  rein lint agent.yaml
  rein lint agent.yaml --json`,
		Args: exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.lint(cmd.Context(), args[0]) },
	}
}

func (a *app) lint(ctx context.Context, file string) error {
	cfg, err := config.Load(file)
	if err != nil {
		return err
	}
	v, err := a.lintAgent(ctx, file, cfg)
	if err != nil {
		return err
	}
	if a.json {
		err = a.print(v)
	} else {
		err = a.write([]byte(v.text()))
	}
	if err == nil && !v.OK {
		err = &exit{code: badEnd} // the findings say it
	}
	return err
}

// lintAgent opens the tools of the agent and looks at it.
func (a *app) lintAgent(ctx context.Context, file string, cfg *config.Agent) (_ *linted, err error) {
	o, closeTools, err := cfg.OptionsOn(config.Host{Context: ctx, Env: a.env, Secrets: event.NewSecrets(), Logger: a.logger()})
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := closeTools(); cerr != nil && err == nil {
			err = failed(cerr)
		}
	}()
	if name, model, _ := strings.Cut(cfg.Model, "/"); o.Window.Size == 0 && cfg.BaseURL == "" {
		if p := catalog.Find(name); p != nil {
			m, _ := p.Lookup(model)
			o.Window.Size = m.Window
		}
	}
	countsAs(o, cfg)
	found, err := o.Lint()
	if err != nil {
		return nil, err
	}
	v := &linted{File: file, Findings: append([]lint.Finding{}, found.Findings...), Rules: []lintedRule{}}
	for _, r := range found.Rules {
		v.Rules = append(v.Rules, lintedRule{r.List, r.Text, r.Kind != ""})
	}
	worst := lint.Worst(found.Findings)
	v.OK = worst != lint.Warning && worst != lint.Error
	return v, nil
}

// text is the findings for people: one after the other with its fix, then which
// rules are kept how.
func (v *linted) text() string {
	var b strings.Builder
	count := map[lint.Level]int64{}
	for _, f := range v.Findings {
		count[f.Level]++
		part := ""
		if f.Part != "" {
			part = ", " + f.Part
		}
		fmt.Fprintf(&b, "%-7s  %s%s: %s\n         %s\n", f.Level, f.About, part, f.Problem, f.Fix)
	}
	if len(v.Findings) > 0 {
		b.WriteByte('\n')
	}
	for _, r := range v.Rules {
		kept := "told only"
		if r.Enforced {
			kept = "enforced"
		}
		fmt.Fprintf(&b, "%-9s  %s: %s\n", kept, r.List, strings.ReplaceAll(r.Text, "\n", " "))
	}
	if len(v.Rules) > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%s: %s, %s, %s\n", v.File, plural(count[lint.Error], "error"), plural(count[lint.Warning], "warning"), plural(count[lint.Hint], "hint"))
	return b.String()
}
