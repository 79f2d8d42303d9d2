package clock

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"rein.example/rein/tool"
)

func TestGetNow(t *testing.T) {
	winter := time.Date(2024, 2, 29, 23, 30, 0, 123, time.UTC)
	summer := time.Date(2024, 7, 1, 12, 0, 0, 0, time.UTC)
	oslo, err := time.LoadLocation("Europe/Oslo")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		now  time.Time
		zone *time.Location
		args string
		want string
	}{
		{"UTC", winter, nil, `{}`, `{"time":"2024-02-29T23:30:00Z","weekday":"Thursday","timezone":"UTC"}`},
		{"another day there", winter, nil, `{"timezone":"Asia/Tokyo"}`, `{"time":"2024-03-01T08:30:00+09:00","weekday":"Friday","timezone":"Asia/Tokyo"}`},
		{"summer time", summer, nil, `{"timezone":"Europe/Oslo"}`, `{"time":"2024-07-01T14:00:00+02:00","weekday":"Monday","timezone":"Europe/Oslo"}`},
		{"the agent's zone", winter, oslo, `{}`, `{"time":"2024-03-01T00:30:00+01:00","weekday":"Friday","timezone":"Europe/Oslo"}`},
		{"a blank zone", winter, nil, `{"timezone":" "}`, `{"time":"2024-02-29T23:30:00Z","weekday":"Thursday","timezone":"UTC"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			tl := Tool(&Options{Now: func() time.Time { return test.now }, Zone: test.zone})
			r, err := tl.Run(t.Context(), &tool.Call{Args: []byte(test.args)})
			if err != nil || r.Parts[0].Text != test.want {
				t.Errorf("got %+v, %v\nwant %s", r, err, test.want)
			}
		})
	}
	for _, zone := range []string{"Oslo", "Local", "../etc/passwd", "/etc/localtime", "Europe", strings.Repeat("a", 65), "UTC\x00"} {
		args, err := json.Marshal(map[string]string{"timezone": zone})
		if err != nil {
			t.Fatal(err)
		}
		_, err = Tool(nil).Run(t.Context(), &tool.Call{Args: args})
		var e *tool.Error
		if !errors.As(err, &e) || e.Type != "unknown_timezone" {
			t.Errorf("%q: %v", zone, err)
		}
	}
	if r, err := Tool(nil).Run(t.Context(), &tool.Call{Args: []byte("{}")}); err != nil || !strings.Contains(r.Parts[0].Text, `"timezone":"UTC"`) {
		t.Errorf("defaults: %v", err)
	}
}
