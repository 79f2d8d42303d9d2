package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/trace/stats"
)

// statsBy are what runs can be grouped by, as --by takes them.
var statsBy = []string{string(stats.ByDay), string(stats.ByAgent), string(stats.ByVersion), string(stats.ByModel)}

// statsFlags are the flags of rein stats.
type statsFlags struct {
	since, until, agent, model, by string
	utc, imported                  bool
}

// statsObject is what rein stats prints with --json.
type statsObject struct {
	// Since and Until bound when runs began, in Unix milliseconds, Until excluded; null:
	// no bound.
	Since *int64 `json:"since"`
	Until *int64 `json:"until"`
	// Agent and Model are those that were asked for, empty for all.
	Agent string `json:"agent"`
	Model string `json:"model"`
	// Imported: only runs that were imported are counted; else none is.
	Imported bool `json:"imported"`
	// LeftOut counts the runs that were not counted for that.
	LeftOut int64 `json:"left_out"`
	*stats.Report
}

func (a *app) statsCommand() *cobra.Command {
	var f statsFlags
	cmd := &cobra.Command{Use: "stats [flags]", Short: "Add up many runs: success, steps, tokens, cost, errors, slow tools", Args: exactly(),
		Long: `Adds up the runs of the store: how many ended well, and why the others did not;
steps, tokens and cost; errors by tool and by model; the slowest tools.

Every run counts: one whose model or journal failed, or that is still open, is no
success. The other figures stand beside it. What nobody reported is unknown and said
so, never 0. Of a fork what it did itself is counted, since the run that it comes from
has paid for the rest; runs that carry out calls of agents are counted apart.

A version (--by version) is the agent's name and a hash of what makes it: rules, tools
and their documents, limits, permissions, checks; not its models.

--since and --until say when runs began: a day (2026-11-30), a time
(2026-11-30T12:00), or how long ago (36h, 7d, 2w). Days are those of this machine's
clock, or of UTC with --utc.`,
		Example: `  rein stats --since 7d --by day
  rein stats --agent order-desk --by version
  rein stats --by model --json`,
	}
	cmd.Flags().StringVar(&f.since, "since", "", "only runs that began at this `TIME` or later")
	cmd.Flags().StringVar(&f.until, "until", "", "only runs that began before this `TIME`; of a day: on it or before")
	cmd.Flags().StringVar(&f.agent, "agent", "", "only runs of the agent of that `NAME`")
	cmd.Flags().StringVar(&f.model, "model", "", "only runs of that model, as `provider/model` or without the provider")
	cmd.Flags().StringVar(&f.by, "by", "", "put runs together by day, agent, version or model (`WHAT`)")
	cmd.Flags().BoolVar(&f.imported, "imported", false, "only runs that were imported, which are left out otherwise")
	cmd.Flags().BoolVar(&f.utc, "utc", false, "days are those of UTC")
	return a.withReading(cmd, func(ctx context.Context, s journal.Store, _ []string) error {
		g, err := f.gather(time.Now())
		if err != nil {
			return err
		}
		if err := g.all(ctx, s); err != nil {
			return err
		}
		o := g.object()
		if a.json {
			return a.print(o)
		}
		if o.LeftOut > 0 {
			a.say("%s", leftOut(o))
		}
		if o.Total.Runs.All+o.Total.Below.All == 0 {
			a.say("there are no such runs; %s lists all", a.next("runs"))
			return nil
		}
		for _, d := range o.Damaged {
			a.say("%s %s", a.paint(red, "rein:"), d.Problem)
			a.say("  what comes before that is counted; see %s", a.next("verify %s", d.Run))
		}
		return a.write([]byte(a.statsText(o)))
	})
}

// gather returns what the flags ask for.
func (f *statsFlags) gather(now time.Time) (*gathering, error) {
	if f.by != "" && !slices.Contains(statsBy, f.by) {
		return nil, fmt.Errorf("--by takes %s, not %q", strings.Join(statsBy, ", "), f.by)
	}
	zone := now.Location()
	if f.utc {
		zone = time.UTC
	}
	g := &gathering{imported: f.imported, agent: f.agent, model: f.model, table: stats.NewTable(stats.By(f.by), zone)}
	var err error
	if f.since != "" {
		if g.since, _, err = moment(f.since, now, zone); err != nil {
			return nil, fmt.Errorf("--since: %w", err)
		}
	}
	if f.until != "" {
		if _, g.until, err = moment(f.until, now, zone); err != nil {
			return nil, fmt.Errorf("--until: %w", err)
		}
	}
	if g.until != nil && g.since != nil && *g.until <= *g.since {
		return nil, fmt.Errorf("--until %s is not after --since %s", f.until, f.since)
	}
	return g, nil
}

// moment returns when a time that a person names begins and ends, in Unix
// milliseconds: a day, a time of day, or how long ago.
func moment(text string, now time.Time, zone *time.Location) (begin, end *int64, err error) {
	ms := func(t time.Time) *int64 { n := t.UnixMilli(); return &n }
	if day, err := time.ParseInLocation(time.DateOnly, text, zone); err == nil {
		return ms(day), ms(day.AddDate(0, 0, 1)), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateTime, "2006-01-02 15:04"} {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return ms(at), ms(at), nil
		}
	}
	ago, err := long(text)
	if err != nil {
		return nil, nil, err
	}
	return ms(now.Add(-ago)), ms(now.Add(-ago)), nil
}

// long returns a duration, which may be in days or weeks.
func long(text string) (time.Duration, error) {
	for unit, hours := range map[string]int64{"d": 24, "w": 7 * 24} { // a text ends with one of them
		if n, ok := strings.CutSuffix(text, unit); ok {
			if n, err := strconv.ParseUint(n, 10, 16); err == nil && n < 10_000 {
				return time.Duration(int64(n)*hours) * time.Hour, nil
			}
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return d, nil
	}
	return 0, fmt.Errorf("%.40q is no time: name a day (2026-11-30), a time (2026-11-30T12:00) or how long ago (36h, 7d, 2w)", text)
}

// isFork reports whether a run is a fork, by its summary: a run that carries out a
// call of another has a parent as well, and its id says so.
func isFork(sum *journal.Summary) bool {
	above, below := event.Above(sum.Run)
	return sum.Parent != "" && !(below && above == sum.Parent)
}

// leftOut says which runs are not counted.
func leftOut(o *statsObject) string {
	if o.Imported {
		return plural(o.LeftOut, "run") + " of Rein's own: left out with --imported"
	}
	return plural(o.LeftOut, "imported run") + " left out: carried out elsewhere; --imported adds them up"
}
