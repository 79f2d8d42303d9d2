package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"rein.example/rein"
	"rein.example/rein/journal"
	"rein.example/rein/trace/logs"
)

// Formats of the log. Without one it is lines for people.
const (
	logText = "text"
	logJSON = "json"
)

// logFormat is the value of --log-format.
type logFormat string

// Set takes a format.
func (f *logFormat) Set(s string) error {
	switch s {
	case logText, logJSON:
		*f = logFormat(s)
		return nil
	}
	return fmt.Errorf("use %s or %s", logText, logJSON)
}

// String returns the format.
func (f *logFormat) String() string { return string(*f) }

// Type is what help calls the value.
func (*logFormat) Type() string { return "FORMAT" }

// logEnv is where the format comes from that no flag gives.
const logEnv = "REIN_LOG_FORMAT"

// formatLog finds out how to log, before anything is logged.
func (a *app) formatLog() error {
	if s := a.env(logEnv); a.format == "" && s != "" {
		if err := a.format.Set(s); err != nil {
			return fmt.Errorf("%s is %.40q: %w", logEnv, s, err)
		}
	}
	if a.format != "" {
		a.shows, a.lives = false, false // what goes to stderr is for programs
	}
	return nil
}

// logger writes diagnostics to stderr: warnings always, more with -v.
func (a *app) logger() *slog.Logger { return slog.New(a.handler(a.level())) }

// level is the least important that is logged.
func (a *app) level() slog.Level {
	switch {
	case a.verbose > 1:
		return slog.LevelDebug
	case a.verbose > 0:
		return slog.LevelInfo
	}
	return slog.LevelWarn
}

func (a *app) handler(level slog.Level) slog.Handler {
	// The handler quotes what is not printable; what is long it leaves so.
	short := func(_ []string, at slog.Attr) slog.Attr {
		if k := at.Value.Kind(); k == slog.KindString || k == slog.KindAny {
			if text := at.Value.String(); len(text) > maxLogged {
				at.Value = slog.StringValue(clip(text, maxLogged))
			}
		}
		return at
	}
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: short}
	if a.format == logJSON {
		return slog.NewJSONHandler(a.err, o)
	}
	return slog.NewTextHandler(a.err, o)
}

// maxLogged is the most bytes of one value in the log; stacks are a few thousand.
const maxLogged = 16 << 10

// logged returns what logs runs, if records are asked for: steps and calls with -v, with
// -vv every event and what was said.
func (a *app) logged(store journal.Store) []rein.Observer {
	if a.format == "" {
		return nil
	}
	return []rein.Observer{logs.New(a.logger(), &logs.Options{Store: store, Content: a.verbose > 1})}
}

// record says a line to people as a record, whatever the level: they need to know.
func (a *app) record(level slog.Level, text string) {
	r := slog.NewRecord(time.Now(), level, text, 0)
	_ = a.handler(level).Handle(context.Background(), r) // whoever read this may have gone away
}
