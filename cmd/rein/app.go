package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/sqlite"
	"rein.example/rein/loop"
	"rein.example/rein/model/script"
)

// app is what the commands share.
type app struct {
	in       io.Reader
	out, err io.Writer
	env      func(string) string
	// asks: somebody can be asked; shows: stderr is a terminal.
	asks, shows bool
	// screen: stdout is a terminal.
	screen bool

	// wide is how many columns stdout has, 0 where nobody knows.
	wide int
	// lives: stdout and stderr are a terminal, so that a live view can be shown.
	lives bool

	// self is how the command was called.
	self string
	// outside is what is looked for beyond this process.
	outside outside
	// played, if not nil, is told of the server that plays the demo's model.
	played func(*script.Server)

	// Flags of all commands.
	db      string
	json    bool
	verbose int
	format  logFormat
}

// writer lets several goroutines write, one after the other.
type writer struct {
	mu sync.Mutex
	w  io.Writer
}

// Write writes p in one piece.
func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.w.Write(p)
}

// withStore makes a command of a function that uses the open store.
func (a *app) withStore(cmd *cobra.Command, run func(ctx context.Context, s journal.Store, args []string) error) *cobra.Command {
	return a.with(cmd, a.open, run)
}

func (a *app) with(cmd *cobra.Command, open func(context.Context) (journal.Store, error), run func(ctx context.Context, s journal.Store, args []string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		store, err := open(cmd.Context())
		if err != nil {
			return err
		}
		err = run(cmd.Context(), store, args)
		if cerr := store.Close(); cerr != nil && err == nil {
			err = failed(fmt.Errorf("close the store: %w", cerr))
		}
		return err
	}
	return cmd
}

// open opens the store that the flags and the environment name.
func (a *app) open(ctx context.Context) (journal.Store, error) {
	path, err := a.storePath()
	if err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, path, nil)
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	return store, nil
}

// storePath returns the file that holds the runs.
func (a *app) storePath() (string, error) {
	path := a.db
	if path == "" {
		path = a.env("REIN_DB")
	}
	if scheme, _, ok := strings.Cut(path, "://"); ok {
		return "", fmt.Errorf("this version keeps runs in a file only, not at %s://…: name a file with --db or REIN_DB", scheme)
	}
	if path != "" {
		return path, nil
	}
	folder, err := a.dataFolder()
	return filepath.Join(folder, "rein.db"), err
}

// dataFolder returns $XDG_DATA_HOME/rein, with the usual default.
func (a *app) dataFolder() (string, error) {
	data := a.env("XDG_DATA_HOME")
	if !filepath.IsAbs(data) { // relative ones are to be ignored, says the specification
		home := a.env("HOME")
		if home == "" {
			var err error
			if home, err = os.UserHomeDir(); err != nil {
				return "", errors.New("there is no home folder to keep runs in: name a file with --db or REIN_DB")
			}
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "rein"), nil
}

// lastRun names the newest run in place of an id.
const lastRun = "last"

// find returns the id of the run that the user names by its beginning, or as the
// last one.
func (a *app) find(ctx context.Context, s journal.Store, prefix string) (string, error) {
	if prefix == lastRun {
		for sum, err := range s.Runs(ctx) {
			if err != nil {
				return "", failed(fmt.Errorf("list the runs: %w", err))
			}
			if above, ok := event.Above(sum.Run); ok && above == sum.Parent {
				continue // it carries out a call of the one that is meant
			}
			return sum.Run, nil
		}
		return "", fmt.Errorf("there are no runs yet; begin with: %s", a.next("demo"))
	}
	run, err := journal.Resolve(ctx, s, prefix)
	var missing *journal.NotFoundError
	if errors.As(err, &missing) && len(missing.Near) == 0 {
		return "", fmt.Errorf("%w; %s lists them", err, a.next("runs"))
	}
	return run, err
}

// fold returns the machine of a run after all of its events.
func fold(ctx context.Context, s journal.Store, run string) (*loop.Machine, error) {
	m := loop.New(run)
	for e, err := range s.Read(ctx, run, 1) {
		if err == nil {
			err = m.Apply(&e)
		}
		if err != nil {
			return nil, failed(fmt.Errorf("read run %s: %w", run, err))
		}
	}
	return m, nil
}

// print writes v as JSON on a line: to a file or a pipe while it is encoded, since it
// may be long.
func (a *app) print(v any) error {
	if !a.screen {
		err := json.MarshalEncode(jsontext.NewEncoder(a.out), v, json.Deterministic(true))
		if err == nil || errors.Is(err, errPipe) {
			return nil
		}
		return failed(fmt.Errorf("write the output: %w", err))
	}
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return failed(fmt.Errorf("write the result as JSON: %w", err))
	}
	return a.write(append(text, '\n'))
}

// write writes to stdout: to a terminal what is printable, else every byte. A
// reader that has gone away, such as head, is no failure.
func (a *app) write(text []byte) error {
	if err := a.put(text); !errors.Is(err, errPipe) {
		return err
	}
	return nil
}

// put is write for those who care whether there is a reader.
func (a *app) put(text []byte) error {
	if a.screen {
		text = []byte(printable(string(text)))
	}
	if _, err := a.out.Write(text); err != nil {
		return failed(fmt.Errorf("write the output: %w", err))
	}
	return nil
}

// say writes a line to stderr, for people: what it is about is made printable.
func (a *app) say(layout string, args ...any) {
	if a.format != "" {
		a.record(slog.LevelInfo, string(format(layout, args...)))
		return
	}
	// Whoever read this may have gone away; that stops nothing.
	_, _ = io.WriteString(a.err, string(format(layout, args...))+"\n")
}

// next returns a command line to type next.
func (a *app) next(format string, args ...any) string {
	self := a.self
	if a.db != "" {
		self += " --db " + quoted(a.db)
	}
	return self + " " + fmt.Sprintf(format, args...)
}

// quoted returns a text as a shell takes it for one word.
func quoted(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("/._-+@:,%=", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// color is an ANSI colour.
type color string

const (
	red    color = "31"
	green  color = "32"
	yellow color = "33"
	dim    color = "2"
)

// paint returns text for stderr in a colour, if that is a terminal that wants
// it, with all else in it made printable.
func (a *app) paint(c color, text string) painted {
	text = printable(text)
	if a.shows && a.env("NO_COLOR") == "" && a.env("TERM") != "dumb" {
		text = "\x1b[" + string(c) + "m" + text + "\x1b[0m"
	}
	return painted(text)
}
