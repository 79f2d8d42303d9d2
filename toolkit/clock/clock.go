// Package clock answers: what time is it, where?
//
// It holds the tool get_now. Time zones come with the binary where the host has
// none.
package clock

import (
	"context"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // zones on hosts without them

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// Options say what the clock is; nil means the host's clock in UTC.
type Options struct {
	// Now is asked for the time; nil is [time.Now]. It must be safe for
	// concurrent use.
	Now func() time.Time
	// Zone is the time zone of calls that name none; nil is UTC.
	Zone *time.Location
}

type args struct {
	Timezone string `json:"timezone,omitempty" jsonschema:"an IANA time zone such as Europe/Oslo, America/New_York or UTC; left out, the time is given in the zone that was set for this agent" schema:"maxLength=64"`
}

type now struct {
	Time     string `json:"time"`
	Weekday  string `json:"weekday"`
	Timezone string `json:"timezone"`
}

// Tool returns get_now.
func Tool(opts *Options) tool.Tool {
	if opts == nil {
		opts = &Options{}
	}
	clock, zone := opts.Now, opts.Zone
	if clock == nil {
		clock = time.Now
	}
	if zone == nil {
		zone = time.UTC
	}
	doc := tool.Doc{
		What:    "Gives the current date, time and weekday in a time zone.",
		When:    "Whenever the answer depends on the present time: you do not know it otherwise. Not for times in the past or for arithmetic with dates.",
		Returns: `An object: "time" is the time in RFC 3339 with its offset, "weekday" the day's English name, "timezone" the zone. An unknown zone is an error.`,
	}
	return tool.New("get_now", doc, func(_ context.Context, in args) (now, error) {
		at, err := location(in.Timezone, zone)
		if err != nil {
			return now{}, err
		}
		t := clock().In(at)
		return now{Time: t.Format(time.RFC3339), Weekday: t.Weekday().String(), Timezone: at.String()}, nil
	}, &tool.Options{Effect: event.Read, Polling: true})
}

// location finds a zone by name. "Local" would tell where the host stands.
func location(name string, otherwise *time.Location) (*time.Location, error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return otherwise, nil
	}
	if name != "Local" && len(name) <= 64 {
		if at, err := time.LoadLocation(name); err == nil {
			return at, nil
		}
	}
	return nil, &tool.Error{
		Type: "unknown_timezone", Message: fmt.Sprintf("there is no time zone %q", name),
		Hint: "use an IANA name such as Europe/Oslo, America/New_York, Asia/Tokyo or UTC",
	}
}
