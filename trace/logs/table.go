package logs

import (
	"log/slog"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// Row says how events of one type are logged.
type Row struct {
	Event   event.Type
	Message string
	// Level is the usual one. Raised says when it is another; empty: never.
	Level  slog.Level
	Raised string
}

// Table returns how each type of event is logged, in the order of package event.
func Table() []Row {
	out := make([]Row, len(table))
	for i := range table {
		out[i] = table[i].Row
	}
	return out
}

// row is a row with what it does.
type row struct {
	Row
	raise func(event.Data) slog.Level
	attrs func(event.Data) []slog.Attr
}

// table has a row for each type of event. The usual level is info for what a person wants
// to follow, steps and calls; debug for the rest; what goes wrong is raised.
var table = rows()

// newer is the row of events of a newer version.
var newer = row{Row: Row{Message: "event", Level: slog.LevelDebug}}

func rowOf(d event.Data) *row {
	t := d.Type()
	for i := range table {
		if table[i].Event == t {
			return &table[i]
		}
	}
	return &newer
}

func (r *row) levelOf(d event.Data) slog.Level {
	if r.raise != nil {
		if l := r.raise(d); l != usual {
			return l
		}
	}
	return r.Level
}

// usual is no level: that of the row is meant.
const usual slog.Level = -1000

// on returns a row for the events of type T.
func on[T event.Data](level slog.Level, message, raised string, raise func(T) slog.Level, attrs func(T) []slog.Attr) row {
	var zero T
	r := row{Row: Row{Event: zero.Type(), Message: message, Level: level, Raised: raised}}
	if raise != nil {
		r.raise = func(d event.Data) slog.Level {
			if d, ok := d.(T); ok {
				return raise(d)
			}
			return usual
		}
	}
	if attrs != nil {
		r.attrs = func(d event.Data) []slog.Attr {
			if d, ok := d.(T); ok {
				return attrs(d)
			}
			return nil
		}
	}
	return r
}

func rows() []row {
	const debug, info, warn, failure = slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError
	type list = []slog.Attr
	return []row{
		on(info, "run started", "", nil, func(d *event.RunStarted) list {
			return some(text("agent", d.Spec.Agent), text("model", d.Spec.Model), text("parent", d.Parent))
		}),
		on(info, "input received", "", nil, func(d *event.InputReceived) list { return list{text("kind", string(d.Kind))} }),
		on(debug, "context assembled", "", nil, func(d *event.ContextAssembled) list {
			return list{text("purpose", string(d.Purpose)), number("tokens", d.Tokens), number("budget", d.Budget), number("messages", d.Messages)}
		}),
		on(info, "context compacted", "warn: summaries were refused on the way", func(d *event.ContextCompacted) slog.Level { return when(len(d.Failed) > 0, warn) },
			func(d *event.ContextCompacted) list {
				return list{text("strategy", d.Strategy), number("before_tokens", d.Before), number("after_tokens", d.After), number("edits", int64(len(d.Edits)))}
			}),
		on(info, "model called", "warn: another attempt", func(d *event.ModelCalled) slog.Level { return when(d.Attempt > 1, warn) },
			func(d *event.ModelCalled) list {
				return list{text("purpose", string(d.Purpose)), text("model", d.Model), number("attempt", d.Attempt), number("bytes", d.Bytes)}
			}),
		on(info, "model answered", "warn: cut off by its length, or by a filter", func(d *event.ModelAnswered) slog.Level {
			return when(d.Finish == event.FinishLength || d.Finish == event.FinishContentFilter, warn)
		}, func(d *event.ModelAnswered) list {
			return append(some(text("model", d.Model), text("finish", string(d.Finish)), number("latency_ms", d.Latency)), usage(&d.Usage)...)
		}),
		on(warn, "model failed", "error: nothing that another attempt could mend; info: Rein gave the call up", failed, func(d *event.ModelFailed) list {
			l := append(some(text("class", string(d.Class)), text("code", d.Code), number("latency_ms", d.Latency)), usage(&d.Usage)...)
			if d.Status > 0 {
				l = append(l, number("status", d.Status))
			}
			return append(l, known("retry_after_ms", d.RetryAfter)...)
		}),
		on(debug, "reply parsed", "warn: some of it could not be understood, or a repair has lost something", parsed, func(d *event.ReplyParsed) list {
			return list{text("format", d.Format), number("calls", int64(len(d.Calls))), number("problems", int64(len(d.Problems)))}
		}),
		on(debug, "call judged", "info: a person is asked; warn: intercepted or denied; error: the run is halted", judged, func(d *event.CallJudged) list {
			return some(text("call", d.Call), text("tool", d.Tool), text("verdict", string(d.Verdict)), text("rule", d.Rule))
		}),
		on(info, "approval asked", "", nil, func(d *event.ApprovalAsked) list { return list{text("call", d.Call), text("tool", d.Tool)} }),
		on(info, "approval given", "", nil, func(d *event.ApprovalGiven) list {
			return some(text("call", d.Call), text("decision", string(d.Decision)), text("by", d.By))
		}),
		on(debug, "tool started", "warn: another attempt", func(d *event.ToolStarted) slog.Level { return when(d.Attempt > 1, warn) },
			func(d *event.ToolStarted) list {
				return some(text("call", d.Call), text("tool", d.Tool), text("effect", string(d.Effect)), number("attempt", d.Attempt), text("child_run", d.Run))
			}),
		on(info, "tool finished", "warn: error, timeout, denied, intercepted; error: what it did is unknown", finished, func(d *event.ToolFinished) list {
			l := some(text("call", d.Call), text("tool", d.Tool), text("status", string(d.Status)), text("error_type", d.ErrorType), number("size", d.Size), number("shown", d.Shown))
			if d.ID != "" {
				l = append(l, number("latency_ms", d.Latency))
			}
			return l
		}),
		on[*event.StateUpdated](debug, "state updated", "", nil, nil),
		on(warn, "notice added", "", nil, func(d *event.NoticeAdded) list { return some(text("kind", d.Kind), text("call", d.Call)) }),
		on(debug, "material retrieved", "warn: there is none, for an error", func(d *event.MaterialRetrieved) slog.Level { return when(d.Error != "", warn) },
			func(d *event.MaterialRetrieved) list { return list{number("parts", int64(len(d.Parts)))} }),
		on[*event.TimerFired](debug, "timer fired", "", nil, nil),
		on(debug, "hook answered", "", nil, func(d *event.HookAnswered) list {
			return some(text("call", d.Call), text("verdict", string(d.Verdict)), text("rule", d.Rule))
		}),
		on(info, "run paused", "", nil, func(d *event.RunPaused) list { return list{text("cause", string(d.Cause))} }),
		on(info, "run resumed", "", nil, func(d *event.RunResumed) list {
			return some(number("generation", d.Generation), text("by", d.By), text("fork", d.Fork))
		}),
		on(info, "run finished", "warn: cancelled, or best effort; error: it ended badly otherwise", ended, func(d *event.RunFinished) list {
			return list{text("reason", string(d.Reason)), slog.Bool("ok", d.OK), slog.Bool("best_effort", d.BestEffort)}
		}),
	}
}

// when returns a level under a condition.
func when(is bool, level slog.Level) slog.Level {
	if is {
		return level
	}
	return usual
}

func failed(d *event.ModelFailed) slog.Level {
	switch d.Class {
	case event.ClassCancelled:
		return slog.LevelInfo
	case event.ClassQuota, event.ClassAuth, event.ClassNotFound, event.ClassBadRequest, event.ClassInternal:
		return slog.LevelError
	}
	return usual
}

func parsed(d *event.ReplyParsed) slog.Level {
	bad := len(d.Problems) > 0 || d.Repeats > 0
	for i := range d.Calls {
		bad = bad || d.Calls[i].Problem != ""
		for _, r := range d.Calls[i].Repairs {
			bad = bad || r.Lossy
		}
	}
	return when(bad, slog.LevelWarn)
}

func judged(d *event.CallJudged) slog.Level {
	switch d.Verdict {
	case event.Ask:
		return slog.LevelInfo
	case event.Intercept, event.Deny:
		return slog.LevelWarn
	case event.Halt:
		return slog.LevelError
	}
	return usual
}

func finished(d *event.ToolFinished) slog.Level {
	switch d.Status {
	case event.StatusSuccess:
		return usual
	case event.StatusUnknown:
		return slog.LevelError
	}
	return slog.LevelWarn
}

func ended(d *event.RunFinished) slog.Level {
	switch {
	case d.OK:
		return usual
	case d.BestEffort || d.Reason == event.ReasonCancelled:
		return slog.LevelWarn
	}
	return slog.LevelError
}

func text(key, value string) slog.Attr         { return slog.String(key, value) }
func number(key string, value int64) slog.Attr { return slog.Int64(key, value) }

// some returns the attributes without texts that are empty.
func some(list ...slog.Attr) []slog.Attr {
	out := list[:0]
	for _, a := range list {
		if a.Value.Kind() != slog.KindString || a.Value.String() != "" {
			out = append(out, a)
		}
	}
	return out
}

// known returns a number as an attribute, nothing if nobody knows it.
func known(key string, c message.Count) []slog.Attr {
	if n, ok := c.Get(); ok {
		return []slog.Attr{slog.Int64(key, n)}
	}
	return nil
}

// usage returns what was reported of a call's tokens.
func usage(u *message.Usage) []slog.Attr {
	out := known("input_tokens", u.Input)
	out = append(out, known("cached_tokens", u.Cached)...)
	out = append(out, known("output_tokens", u.Output)...)
	return append(out, known("reasoning_tokens", u.Reasoning)...)
}
