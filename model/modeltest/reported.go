package modeltest

import (
	"strings"
	"testing"

	"rein.example/rein/model"
)

// Fault is something that users of other clients met, with the recording that
// has its shape and what must come of it.
type Fault struct {
	// What happened to them.
	What string
	// Recording is a file's name without .http.
	Recording string
	// Want is how the formatted reply begins, Also what it holds further on.
	Want, Also string
}

// Reported checks that reported faults cannot happen here.
func Reported(t *testing.T, f Factory, dir string, faults []Fault) {
	t.Helper()
	all := map[string]*Recording{}
	for _, r := range Load(t, dir) {
		all[r.Name] = &r
	}
	for _, c := range faults {
		r := all[c.Recording]
		if r == nil {
			t.Errorf("%s: there is no recording %q", c.What, c.Recording)
			continue
		}
		client, err := f(Play(r, Plan{}), base)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := client.Call(t.Context(), &model.Request{Stream: r.Stream}, nil)
		if got := Format(reply, err); !strings.HasPrefix(got, c.Want) || !strings.Contains(got, c.Also) {
			t.Errorf("%s: got\n%s", c.What, got)
		}
	}
}
