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
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"rein.example/rein/schema"
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
		shows: isatty.IsTerminal(os.Stderr.Fd()), wide: columns(os.Stdout),
		screen: isatty.IsTerminal(os.Stdout.Fd()),
		lives:  isatty.IsTerminal(os.Stdout.Fd()) && isatty.IsTerminal(os.Stderr.Fd()),
	}
	a.outside.local = onThisMachine
	// A reader that goes away must not kill a run in the middle of a step: writing
	// then fails, which is looked at. Caught and not ignored, since a process that
	// a tool starts would inherit that.
	signal.Notify(make(chan os.Signal, 1), brokenPipe)
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
	err := root.ExecuteContext(a.asked(ctx))
	var e *exit
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &e):
		e = &exit{code: badUsage, err: err}
	}
	if e.err != nil && a.format != "" {
		a.record(slog.LevelError, e.err.Error())
	} else if e.err != nil {
		// Lines of its own that a text in the error brings along stay below it.
		a.say("%s %s", a.paint(red, "rein:"), strings.ReplaceAll(e.err.Error(), "\n", "\n  "))
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

Begin with "rein demo": it needs no key and no network. Everything after it takes
a run by its id, by the beginning of that, or as "last".

Environment:
  OPENAI_API_KEY  the key for openai/ models: sent to OpenAI's own address, and to
                  the server that --base-url names on the command line
  REIN_DB         the file that holds the runs, where --db names none
  XDG_DATA_HOME   the folder in which rein/rein.db is the default
  NO_COLOR        no colours
  REIN_LOG_FORMAT text or json: what stderr is written as, where --log-format is not given
  OTEL_EXPORTER_OTLP_ENDPOINT
                  where runs are exported to, by OTLP, as they go on; the
                  other OTEL_ variables and TRACEPARENT count too

Exit codes:
  0    done
  1    the run or check ended badly; the output says why
  2    wrong usage or configuration; nothing was begun
  130  interrupted; "rein resume" goes on`,
		SilenceErrors: true, SilenceUsage: true,
		Version: builtVersion(),
		Args:    knownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate(versionText())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; see %s --help", plainly(err), cmd.CommandPath())
	})
	flags := root.PersistentFlags()
	flags.StringVar(&a.db, "db", "", "the `file` that holds the runs (default $REIN_DB, else rein/rein.db in the user's data folder)")
	flags.BoolVar(&a.json, "json", false, "print one JSON value")
	flags.CountVarP(&a.verbose, "verbose", "v", "log each step and call on stderr; twice: each event``") // `` for no placeholder
	flags.Var(&a.format, "log-format", "write stderr as records, one on a line, text or json, instead of lines for people (default $"+logEnv+")")
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return a.formatLog() }
	root.AddCommand(
		a.demoCommand(), a.runCommand(), a.chatCommand(), a.resumeCommand(), a.stopCommand(), a.tellCommand(), a.forkCommand(),
		a.runsCommand(), a.showCommand(), a.requestCommand(), a.diffCommand(), a.replayCommand(), a.rerunCommand(), a.verifyCommand(), a.checkCommand(), a.exportCommand(), a.importCommand(),
		a.approveCommand(), a.rejectCommand(), a.settleCommand(), a.undoCommand(), a.parseCommand(), a.windowCommand(),
		a.statsCommand(), a.doctorCommand(), a.initCommand(), a.lintCommand(), a.schemaCommand(), a.versionCommand(),
	)
	for _, c := range root.Commands() {
		c.DisableFlagsInUseLine = true // each names them itself, after its arguments
	}
	root.SetOut(a.out) // the scripts go to what is set when their commands are made
	root.InitDefaultCompletionCmd()
	a.complete(root)
	return root
}

// plainly says of a flag's value that it is no number in words, where the parser of
// flags names a function of Go's.
func plainly(err error) error {
	var number *strconv.NumError
	if !errors.As(err, &number) {
		return err
	}
	why := "it is not a whole number"
	switch {
	case number.Func == "ParseBool":
		why = "it is neither true nor false"
	case errors.Is(number.Err, strconv.ErrRange):
		why = "the number is too large"
	case number.Func == "ParseFloat":
		why = "it is not a number"
	}
	return errors.New(strings.TrimSuffix(err.Error(), number.Error()) + why)
}

// knownCommand refuses a first word that is no command.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	why := fmt.Sprintf("there is no command %q", clip(args[0], nameWidth))
	if near := schema.Nearest(args[0], names); len(near) > 0 {
		why += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("%s\nrein --help lists them all", why)
}
