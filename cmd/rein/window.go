package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"rein.example/rein/config"
	"rein.example/rein/engine/rehearsal"
	"rein.example/rein/model"
	"rein.example/rein/model/openai"
	"rein.example/rein/schema"
	counting "rein.example/rein/tokens"
	"rein.example/rein/tokens/vocab"
	"rein.example/rein/trace/recording"
	"rein.example/rein/window"
)

// comparing is what the flags of rein window ask for.
type comparing struct {
	strategies []string
	budgets    []int64
	facts      int
	seed       uint64
	cfg        rehearsal.Config
	// lines prints a report a line.
	lines bool
}

// windowFlags are the flags of rein window as they are typed.
type windowFlags struct {
	strategy, budget    string
	facts               int
	seed                uint64
	summariser, baseURL string
	tokenizer           string
	lines               bool
}

func (a *app) windowCommand() *cobra.Command {
	var f windowFlags
	cmd := &cobra.Command{
		Use:   "window FILE... --budget N[,N] [--strategy S|all] [--facts N] [--summariser MODEL] [--jsonl]",
		Short: "Show what recorded conversations would have cost under a context strategy",
		Long: `Plays recorded conversations again, with the strategy deciding before each request
what of the conversation it still holds, and reports what would have been sent: the
requests are those that a run would have made, byte for byte. The recorded replies
and results are what happens; no tool runs, and no model is asked, unless
--summariser names one for the summaries. Without it a simple rule writes them.

A FILE ("-" is stdin) holds a conversation a line, or one JSON value: a list of
messages in the form of Chat Completions, or an object that has one as "messages"
(and "tools", "id"), or a list of these. What is not paired in it is repaired, and
that is said.

Strategies are "everything", which sends all and has no budget, and those of
window.strategy in agent.yaml; "all" compares them.

--json prints one object: "runs" has a report for each conversation, strategy and
budget, "totals" their sums, for all conversations, for those that are larger than
the budget (over_budget), and for those of these with 100 model calls and more
(long), and "errors" what could not be read. --jsonl prints the reports, one a line.
A report has, besides others:
  tokens                all requests together, which is the cost without a cache
  cost, cost_percent    with a cache: what a request has in common with the one
                        before costs a tenth; and in percent of sending everything
  rewrites              steps whose request did not begin with the one before
  peak_tokens           the largest request
  overflows             requests that were larger than the budget, or not sent for it
  pair_violations       requests with a call that had no result right behind it, or
                        a result without a call
  user_messages_alive_percent, constraints_alive_percent
                        what users have said, and what they have declared
  facts_alive_percent   of --facts planted, those in the last request to the letter
  facts_reachable_percent
                        those, and those that a tool finds which the request points to
  cost_growth           the cost of a call in the last third of the calls 100 to 350,
                        in parts of that in the first; 1 is linear

Exits 1 if a conversation could not be read.`,
		Example: `  rein window --budget 32000 conversations.jsonl
  rein window --strategy all --budget 16k,32k --facts 40 conversations.jsonl
  rein window --strategy layered --budget 32k --jsonl conversations.jsonl >reports.jsonl`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("FILE is missing: give the recorded conversations, or - for stdin: %s", cmd.UseLine())
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&f.strategy, "strategy", window.Layered, "`S`: the strategies to compare, with commas, or all")
	cmd.Flags().StringVar(&f.budget, "budget", "", "`N`: the most tokens that a request may have, such as 32000 or 32k; several with commas")
	cmd.Flags().IntVar(&f.facts, "facts", 0, "put `N` facts at random places of each conversation, and look for them afterwards")
	cmd.Flags().Uint64Var(&f.seed, "seed", 1, "`N`: which random places and facts")
	cmd.Flags().StringVar(&f.tokenizer, "tokenizer", string(counting.O200k), "`NAME` of what counts tokens: "+tokenizerNames)
	cmd.Flags().StringVar(&f.summariser, "summariser", "", "have this `MODEL` write the summaries, provider/model")
	cmd.Flags().StringVar(&f.baseURL, "base-url", "", "`URL` of the summariser's server, where it is not the provider's own")
	cmd.Flags().BoolVar(&f.lines, "jsonl", false, "print a report for each conversation, strategy and budget on a line")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := a.comparing(&f)
		if err != nil {
			return err
		}
		return a.compare(cmd.Context(), c, args)
	}
	cmd.ValidArgsFunction = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault) // files
	a.completeFlag(cmd, "strategy", cobra.FixedCompletions(append(rehearsal.Strategies(), "all"), cobra.ShellCompDirectiveNoFileComp))
	a.completeFlag(cmd, "summariser", completeModel)
	a.completeFlag(cmd, "tokenizer", cobra.FixedCompletions(strings.Split(tokenizerNames, ", "), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// estimated is the tokenizer that there is none: tokens are estimated.
const estimated = "estimate"

const tokenizerNames = string(counting.O200k) + ", " + string(counting.CL100k) + ", " + estimated

// maxFacts is the most facts that are planted: more would be most of what is said.
const maxFacts = 10_000

// comparing reads the flags.
func (a *app) comparing(f *windowFlags) (*comparing, error) {
	c := &comparing{facts: f.facts, seed: f.seed, lines: f.lines}
	if f.facts < 0 || f.facts > maxFacts {
		return nil, fmt.Errorf("--facts %d: give a number from 0 to %d", f.facts, maxFacts)
	}
	var err error
	if c.strategies, err = strategiesOf(f.strategy); err != nil {
		return nil, err
	}
	if c.budgets, err = budgetsOf(f.budget); err != nil {
		return nil, err
	}
	switch f.tokenizer {
	case string(counting.O200k):
		c.cfg.Counter, c.cfg.Window.Tokenizer = vocab.O200k(), f.tokenizer
	case string(counting.CL100k):
		c.cfg.Counter, c.cfg.Window.Tokenizer = vocab.CL100k(), f.tokenizer
	case estimated:
	default:
		return nil, fmt.Errorf("--tokenizer has no %q; there are %s", clip(f.tokenizer, nameWidth), tokenizerNames)
	}
	if c.cfg.Encoder, err = openai.NewEncoder("openai", openai.Quirks{}); err != nil {
		return nil, failed(err)
	}
	if f.summariser == "" {
		if f.baseURL != "" {
			return nil, errors.New("--base-url is the summariser's: name that with --summariser")
		}
		return c, nil
	}
	client, err := a.summariser(f.summariser, f.baseURL)
	if err != nil {
		return nil, fmt.Errorf("the summariser: %w", err)
	}
	c.cfg.Summarise = rehearsal.Ask(client)
	return c, nil
}

// summariser returns the client of the model that writes summaries.
func (a *app) summariser(name, baseURL string) (model.Client, error) {
	cfg := &config.Agent{Model: name, BaseURL: baseURL}
	if _, _, err := provider(cfg); err != nil {
		return nil, err
	}
	cfg.KeyEnv = a.keyFor(cfg, config.Changes{Model: name, BaseURL: baseURL})
	t, err := a.target(cfg, name, true)
	if err != nil {
		return nil, err
	}
	a.warnPlain(t)
	return t.client(nil)
}

// strategiesOf reads a list of strategies.
func strategiesOf(list string) ([]string, error) {
	known := rehearsal.Strategies()
	if list == "all" {
		return known, nil
	}
	var out []string
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(known, name) {
			why := fmt.Sprintf("--strategy has no %q", clip(name, nameWidth))
			if near := schema.Nearest(name, known); len(near) > 0 {
				return nil, fmt.Errorf("%s; did you mean %s?", why, strings.Join(near, " or "))
			}
			return nil, fmt.Errorf("%s; there are %s, and all", why, strings.Join(known, ", "))
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out, nil
}

// budgetsOf reads a list of budgets in tokens; 32k is 32,000.
func budgetsOf(list string) ([]int64, error) {
	if list == "" {
		return nil, errors.New("--budget is missing: say how many tokens a request may have, such as --budget 32000")
	}
	var out []int64
	for _, word := range strings.Split(list, ",") {
		word = strings.TrimSpace(word)
		digits, thousand := strings.CutSuffix(strings.ToLower(word), "k")
		n, err := strconv.ParseInt(strings.ReplaceAll(digits, "_", ""), 10, 64)
		if err == nil && thousand && n < 1<<40 {
			n *= 1000
		}
		if err != nil || n < rehearsal.LeastBudget {
			return nil, fmt.Errorf("--budget %q: give a number of tokens, at least %d, such as 32000 or 32k", clip(word, nameWidth), rehearsal.LeastBudget)
		}
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out, nil
}

// compared is what --json prints.
type compared struct {
	Runs   []*rehearsal.Report `json:"runs"`
	Totals []*rehearsal.Report `json:"totals"`
	Errors []unread            `json:"errors"`
}

// unread is a conversation that could not be read.
type unread struct {
	File  string `json:"file"`
	Error string `json:"error"`
}

// compare rehearses what the files hold, and prints what came of it.
func (a *app) compare(ctx context.Context, c *comparing, files []string) error {
	out := compared{Runs: []*rehearsal.Report{}, Totals: []*rehearsal.Report{}, Errors: []unread{}}
	var scripts []*rehearsal.Script
	for _, file := range files {
		err := a.conversations(file, func(s *recording.Conversation, err error) {
			if err != nil {
				out.Errors = append(out.Errors, unread{file, err.Error()})
				a.say("%s %s: %s", a.paint(yellow, "not read:"), file, err)
				return
			}
			scripts = append(scripts, rehearsal.Prepare(s).Plant(c.facts, c.seed))
		})
		if err != nil {
			return err
		}
	}
	if len(scripts) == 0 {
		return fmt.Errorf("there is no conversation in %s: want messages in the form of Chat Completions; see rein window --help", strings.Join(files, ", "))
	}
	result, err := rehearsal.Compare(ctx, scripts, c.strategies, c.budgets, c.cfg, func(r *rehearsal.Report) error {
		if a.verbose > 0 {
			a.say("%s", a.paint(dim, fmt.Sprintf("%s, %s, %s", r.Conversation, r.Strategy, budgetText(r.Budget))))
		}
		if c.lines {
			return a.print(r)
		}
		return nil
	})
	if err != nil {
		return failed(err)
	}
	out.Runs, out.Totals = append(out.Runs, result.Runs...), append(out.Totals, result.Totals...)
	switch {
	case c.lines:
	case a.json:
		err = a.print(out)
	default:
		err = a.write([]byte(windowText(&out, c, a.wide)))
	}
	if err == nil && len(out.Errors) > 0 {
		err = &exit{code: badEnd} // stderr says it
	}
	return err
}

// conversations calls f for each conversation in a file, or what keeps it from being
// read.
func (a *app) conversations(file string, f func(*recording.Conversation, error)) error {
	var in io.Reader = a.in
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return fmt.Errorf("read the conversations: %w", err)
		}
		defer func() { _ = opened.Close() }()
		in = opened
	}
	for c, err := range recording.Read(in, recording.Limits{}) {
		var bad *recording.Error
		if err != nil && !errors.As(err, &bad) {
			return fmt.Errorf("read the conversations in %s: %w", file, err)
		}
		f(c, err)
	}
	return nil
}
