package rein

import (
	"slices"
	"strings"

	"rein.example/rein/event"
)

// preset is a row of the table of limits by kind of task.
type preset struct {
	name   string
	limits event.Limits
}

const (
	minute = 60_000
	hour   = 60 * minute
)

// presets are start values: 2 to 3 times the steps that such a task usually
// takes; tool calls 4 times the steps; half an hour, or half a day for long.
func presets() []preset {
	row := func(name string, steps, tokens, wall int64) preset {
		return preset{name, event.Limits{Steps: steps, ToolCalls: 4 * steps, Tokens: tokens, Wall: wall}}
	}
	return []preset{
		row("qa", 3, 10_000, 30*minute),
		row("lookup", 5, 20_000, 30*minute),
		row("multi-step", 15, 80_000, 30*minute),
		row("research", 30, 200_000, 30*minute),
		row("long", 300, 5_000_000, 12*hour),
	}
}

// ReadBackSteps is after how many steps the goal of a long run is read back as a
// rule; see [Options.ReadBack].
const ReadBackSteps = 8

// Preset returns the limits of a kind of task. If there is none of that name, ok
// is false and names lists them.
//
//	            steps  tool calls     tokens  wall
//	qa              3          12     10,000   30m
//	lookup          5          20     20,000   30m
//	multi-step     15          60     80,000   30m
//	research       30         120    200,000   30m
//	long          300       1,200  5,000,000   12h
//
// Presets do not say how failed model calls are tried again, nor how the conversation
// is kept within the window: see [Options.Retry] and [Options.Window]. An agent.yaml
// that says neither takes [RetryFast] and the strategy full for qa and lookup, else
// [RetryPatient] and layered.
func Preset(name string) (l event.Limits, names string, ok bool) {
	all := presets()
	i := slices.IndexFunc(all, func(p preset) bool { return p.name == name })
	if i >= 0 {
		return all[i].limits, "", true
	}
	for _, p := range all {
		names += ", " + p.name
	}
	return event.Limits{}, strings.TrimPrefix(names, ", "), false
}

// RetryPatient waits out rate limits and outages for minutes. It is the default
// of [Options.Retry], whatever the limits.
func RetryPatient() event.RetrySpec {
	return event.RetrySpec{Tries: 6, Base: 1_000, Cap: 60_000, Idle: 5 * minute}
}

// RetryFast is for somebody who is waiting: a server that refuses is given up
// within seconds, one that keeps silent while it streams within three minutes.
func RetryFast() event.RetrySpec {
	return event.RetrySpec{Tries: 3, Base: 500, Cap: 4_000, Idle: minute}
}
