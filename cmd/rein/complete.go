package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rein.example/rein/journal"
	"rein.example/rein/journal/sqlite"
	"rein.example/rein/model/catalog"
)

// offeredRuns is how many runs a completion offers, the newest first.
const offeredRuns = 50

// complete teaches the commands below root to complete what they take: runs by
// their ids, calls that wait for an answer, agent files, providers. It gives
// those an example of their use that have none.
func (a *app) complete(root *cobra.Command) {
	more := examples()
	commands := []*cobra.Command{root}
	for len(commands) > 0 {
		cmd := commands[0]
		commands = append(commands[1:], cmd.Commands()...)
		if cmd.Name() == "completion" {
			needShell(cmd)
		}
		if cmd.Example == "" {
			cmd.Example = more[cmd.Name()]
		}
		switch words := strings.Fields(cmd.Use); {
		case cmd.ValidArgsFunction != nil:
		case contains(words, "RUN") && contains(words, "CALL"):
			cmd.ValidArgsFunction = a.completeCall
		case contains(words, "RUN") || contains(words, "[RUN]"):
			cmd.ValidArgsFunction = a.completeRun
		default:
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		if f := cmd.Flags().Lookup("file"); f != nil {
			_ = cmd.MarkFlagFilename("file", "yaml", "yml") // the flag is there
		}
		for _, name := range []string{"dir"} {
			if cmd.Flags().Lookup(name) != nil {
				_ = cmd.MarkFlagDirname(name)
			}
		}
		a.completeFlag(cmd, "model", completeModel)
		a.completeFlag(cmd, "by", cobra.FixedCompletions(statsBy, cobra.ShellCompDirectiveNoFileComp))
		a.completeFlag(cmd, "approve", cobra.FixedCompletions([]string{"ask", "deny", "allow"}, cobra.ShellCompDirectiveNoFileComp))
	}
}

// needShell makes a command that has one for each shell refuse to go without.
func needShell(cmd *cobra.Command) {
	cmd.Args = cobra.ArbitraryArgs // so that the words come here
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		why := "the shell is missing"
		if len(args) > 0 {
			why = fmt.Sprintf("there is no script for %q", clip(args[0], nameWidth))
		}
		return errors.New(why + "\n" + strings.TrimSpace(cmd.UsageString()))
	}
}

func contains(words []string, word string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}

// completeFlag completes a flag's value, if the command has the flag.
func (a *app) completeFlag(cmd *cobra.Command, name string, f cobra.CompletionFunc) {
	if cmd.Flags().Lookup(name) != nil {
		_ = cmd.RegisterFlagCompletionFunc(name, f) // fails only if somebody has done so
	}
}

// completeModel completes the provider, and the models that the snapshot has of it.
func completeModel(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	name, _, both := strings.Cut(typed, "/")
	var out []string
	if !both {
		for _, p := range catalog.Providers() {
			if strings.HasPrefix(p.Name, typed) {
				out = append(out, cobra.CompletionWithDesc(p.Name+"/", p.Title))
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	if p := catalog.Find(name); p != nil {
		for _, m := range p.List() {
			if full := name + "/" + m; strings.HasPrefix(full, typed) {
				out = append(out, full)
			}
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// reading opens the store for a completion: it makes nothing, and says nothing if
// there is none.
func (a *app) reading(cmd *cobra.Command) journal.Store {
	path, err := a.storePath()
	if err != nil {
		return nil
	}
	store, err := sqlite.Open(cmd.Context(), path, &sqlite.Options{ReadOnly: true})
	if err != nil {
		return nil
	}
	return store
}

// completeRun completes the id of a run.
func (a *app) completeRun(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	store := a.reading(cmd)
	if store == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer store.Close()
	var out []string
	for sum, err := range store.Runs(cmd.Context()) {
		if err != nil || len(out) == offeredRuns {
			break
		}
		if strings.HasPrefix(sum.Run, typed) {
			out = append(out, cobra.CompletionWithDesc(sum.Run, clip(strings.TrimSpace(sum.Agent+" "+sum.Status+" "+sum.Reason), 60)))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeCall completes a run, then a call of it that waits for an answer.
func (a *app) completeCall(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return a.completeRun(cmd, args, typed)
	}
	store := a.reading(cmd)
	if store == nil || len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer store.Close()
	run, err := a.find(cmd.Context(), store, args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	m, err := fold(cmd.Context(), store, run)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, q := range m.Status().Pending {
		if strings.HasPrefix(q.Call, typed) {
			out = append(out, cobra.CompletionWithDesc(q.Call, clip(q.Tool+" "+string(q.Args), 60)))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// examples are for the commands that say none themselves.
func examples() map[string]string {
	return map[string]string{
		"rein": `  rein demo
  rein run "Which of these files are out of date?"
  rein show RUN`,
		"demo": `  rein demo
  rein demo --dir desk --json`,
		"chat":    `  rein chat -f agent.yaml`,
		"resume":  `  rein resume 260301-k4rm2xqe`,
		"stop":    `  rein stop 260301-k4rm2xqe`,
		"runs":    `  rein runs -n 10`,
		"show":    `  rein show 260301-k4rm2xqe --step 3`,
		"request": `  rein request 260301-k4rm2xqe --step 3 --diff`,
		"replay":  `  rein replay 260301-k4rm2xqe`,
		"verify":  `  rein verify 260301-k4rm2xqe`,
		"approve": `  rein approve 260301-k4rm2xqe call_1`,
		"reject":  `  rein reject 260301-k4rm2xqe call_1 --why "ask the customer first"`,
		"settle":  `  rein settle 260301-k4rm2xqe call_1 --done`,
		"schema":  `  rein schema >agent.schema.json`,
		"version": `  rein version --json`,
		"completion": `  rein completion bash >rein.bash
  rein completion zsh >_rein`,
		"bash":       `  rein completion bash >rein.bash`,
		"fish":       `  rein completion fish >~/.config/fish/completions/rein.fish`,
		"powershell": `  rein completion powershell >rein.ps1`,
		"zsh":        `  rein completion zsh >_rein`,
	}
}
