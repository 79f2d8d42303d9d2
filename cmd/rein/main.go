// Command rein runs agents and shows what they did: every run is a journal that
// can be watched, stopped, resumed after a crash, and looked at step by step.
//
//	rein demo
//	rein run -m openai/gpt-5.1-mini "Which of the files here are out of date?"
//	rein show RUN
//
// Results go to stdout, everything else to stderr. Exit codes: 0 done, 1 the run
// or check ended badly, 2 wrong usage or configuration, 130 interrupted.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
)

// version is set by the linker; see the Makefile.
var version string

func main() {
	self := os.Args[0]
	if !strings.ContainsRune(self, os.PathSeparator) {
		self = "rein"
	}
	a := &app{
		self: self, in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv,
		asks:  isatty.IsTerminal(os.Stdin.Fd()) && isatty.IsTerminal(os.Stderr.Fd()),
		shows: isatty.IsTerminal(os.Stderr.Fd()),
		lives: isatty.IsTerminal(os.Stdout.Fd()) && isatty.IsTerminal(os.Stderr.Fd()),
	}
	a.outside.local = onThisMachine
	os.Exit(a.main(context.Background(), os.Args[1:]))
}

// main runs one command line and returns the exit code.
func (a *app) main(ctx context.Context, args []string) int {
	a.out, a.err = &writer{w: a.out}, &writer{w: a.err}
	root := a.command()
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	var e *exit
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &e):
		e = &exit{code: badUsage, err: err}
	}
	if e.err != nil {
		fmt.Fprintln(a.err, a.paint(red, "rein:"), e.err)
	}
	return e.code
}

// Exit codes other than 0.
const (
	badEnd      = 1
	badUsage    = 2
	interrupted = 130
)

// exit is an error with an exit code. Errors without one are of wrong usage or
// configuration: nothing was begun.
type exit struct {
	code int
	err  error // nil where the output says it already
}

func (e *exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// failed marks an error of something that was begun.
func failed(err error) error { return &exit{code: badEnd, err: err} }

// command returns the tree of commands.
func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "rein",
		Short: "Run agents, and see exactly what they did",
		Long: `Rein runs agents. Each run is a journal: it can be watched, stopped, resumed
after a crash, and looked at step by step.

Begin with "rein demo".`,
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	flags := root.PersistentFlags()
	flags.StringVar(&a.db, "db", "", "the `file` that holds the runs (default $REIN_DB, else rein/rein.db in the user's data folder)")
	flags.BoolVar(&a.json, "json", false, "print one JSON value")
	flags.CountVarP(&a.verbose, "verbose", "v", "log each step and call on stderr; twice: each event")
	root.AddCommand(
		a.demoCommand(), a.runCommand(), a.chatCommand(), a.resumeCommand(), a.stopCommand(),
		a.runsCommand(), a.showCommand(), a.requestCommand(), a.replayCommand(), a.verifyCommand(),
		a.approveCommand(), a.rejectCommand(), a.settleCommand(),
		a.doctorCommand(), a.initCommand(), a.schemaCommand(), a.versionCommand(),
	)
	a.complete(root)
	return root
}
