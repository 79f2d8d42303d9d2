package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rein.example/rein/config"
	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/journal"
)

// checked is what --json prints for a run.
type checked struct {
	Run string `json:"run"`
	// OK: no rule is broken.
	OK    bool          `json:"ok"`
	Rules []checkedRule `json:"rules"`
}

// checkedRule is what became of one rule.
type checkedRule struct {
	List string `json:"list"`
	Text string `json:"text"`
	// Result is kept, broken or not_decidable; Why says more.
	Result string `json:"result"`
	Why    string `json:"why"`
	// Events break it, by sequence.
	Events []int64 `json:"events"`
	// Refused counts the calls that were not run because of it, Applied those that
	// it let through.
	Refused int64 `json:"refused"`
	Applied int64 `json:"applied"`
}

func (a *app) checkCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "check RUN [-f agent.yaml]", Short: "Say of each rule of the agent whether a run kept it", Args: exactly("RUN"),
		Long: `Holds a run's journal against the rules of its agent, or of the agent in a file:
each is kept, broken, or not decidable, as a rule in words is, which no code can
hold against a journal. Nothing is called. Exits 1 if a rule is broken.`,
		Example: `  rein check last
  rein check last -f stricter.yaml --json`,
	}
	cmd.Flags().StringVarP(&file, "file", "f", "", "take the rules of this agent's `file` instead of the run's own")
	return a.withReading(cmd, func(ctx context.Context, s journal.Store, args []string) error {
		run, err := a.find(ctx, s, args[0])
		if err != nil {
			return err
		}
		c := &guard.Check{}
		if file != "" {
			if c.Rules, err = a.rulesOf(ctx, file); err != nil {
				return err
			}
		}
		v, damaged, err := check(ctx, s, run, c)
		if err != nil {
			return err
		}
		if a.json {
			err = a.print(v)
		} else {
			err = a.write([]byte(v.text()))
		}
		switch {
		case err != nil:
		case damaged != nil:
			err = a.report(run, damaged)
		case !v.OK:
			err = &exit{code: badEnd}
		}
		return err
	})
}

// rulesOf returns the rules of the agent in a file; never nil.
func (a *app) rulesOf(ctx context.Context, file string) (_ []event.RuleSpec, err error) {
	cfg, err := config.Load(file)
	if err != nil {
		return nil, err
	}
	o, closeTools, err := cfg.OptionsOn(config.Host{Context: ctx, Env: a.env, Secrets: event.NewSecrets(), Logger: a.logger()})
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := closeTools(); cerr != nil && err == nil {
			err = failed(cerr)
		}
	}()
	report, err := o.Lint()
	if err != nil {
		return nil, err
	}
	return append([]event.RuleSpec{}, report.Rules...), nil
}

// check folds a journal up to its end, or to where it is damaged.
func check(ctx context.Context, s journal.Store, run string, c *guard.Check) (*checked, *damage, error) {
	damaged, err := sound(ctx, s, run, c.Add)
	if err != nil {
		return nil, nil, err
	}
	v := &checked{Run: run, OK: true, Rules: []checkedRule{}}
	for _, r := range c.Results() {
		v.OK = v.OK && r.Result != guard.RuleBroken
		v.Rules = append(v.Rules, checkedRule{r.Rule.List, r.Rule.Text, strings.ReplaceAll(string(r.Result), " ", "_"), r.Why,
			append([]int64{}, r.Events...), r.Refused, r.Applied})
	}
	return v, damaged, nil
}

// text is a line for each rule, with what is known of it below.
func (v *checked) text() string {
	var b strings.Builder
	count := map[string]int64{}
	for _, r := range v.Rules {
		count[r.Result]++
		fmt.Fprintf(&b, "%-13s  %s: %s\n", strings.ReplaceAll(r.Result, "_", " "), r.List, strings.ReplaceAll(r.Text, "\n", " "))
		fmt.Fprintf(&b, "               %s\n", r.Why)
	}
	if len(v.Rules) == 0 {
		fmt.Fprintf(&b, "run %s: its agent has no rules\n", v.Run)
	} else {
		fmt.Fprintf(&b, "\nrun %s: %d kept, %d broken, %d not decidable\n", v.Run, count["kept"], count["broken"], count["not_decidable"])
	}
	return b.String()
}
