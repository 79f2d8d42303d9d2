package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode"

	"github.com/go-json-experiment/json"
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
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		store, err := a.open(cmd.Context())
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

// find returns the id of the run that the user names by its beginning.
func (a *app) find(ctx context.Context, s journal.Store, prefix string) (string, error) {
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

// print writes v as JSON on a line.
func (a *app) print(v any) error {
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return failed(fmt.Errorf("write the result as JSON: %w", err))
	}
	return a.write(append(text, '\n'))
}

// write writes to stdout. A reader that has gone away, such as head, is no
// failure.
func (a *app) write(text []byte) error {
	if _, err := a.out.Write(text); err != nil && !errors.Is(err, errPipe) {
		return failed(fmt.Errorf("write the output: %w", err))
	}
	return nil
}

// say writes a line to stderr.
func (a *app) say(format string, args ...any) {
	fmt.Fprintf(a.err, format+"\n", args...)
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

// lines writes events as JSON lines.
func (a *app) lines(events []event.Event) error {
	var out bytes.Buffer
	for i := range events {
		out.Write(event.AppendEvent(nil, &events[i]))
		out.WriteByte('\n')
	}
	return a.write(out.Bytes())
}

// color is an ANSI colour.
type color string

const (
	red    color = "31"
	green  color = "32"
	yellow color = "33"
	dim    color = "2"
)

// paint returns text for stderr in a colour, if that is a terminal that wants it.
func (a *app) paint(c color, text string) string {
	if !a.shows || a.env("NO_COLOR") != "" || a.env("TERM") == "dumb" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}
