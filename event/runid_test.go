package event

import "testing"

// What a run's id says of the runs above it.
func TestRunIDs(t *testing.T) {
	for _, c := range []struct{ run, above, top string }{
		{"260730-abc", "", "260730-abc"}, {"260730-abc.1", "260730-abc", "260730-abc"}, {"r.12.3", "r.12", "r"},
		{"r.", "", "r."}, {".1", "", ".1"}, {"r.x", "", "r.x"}, {"r.1x", "", "r.1x"}, {"", "", ""}, {"r..1", "r.", "r."},
	} {
		above, ok := Above(c.run)
		if above != c.above || ok != (c.above != "") || Top(c.run) != c.top {
			t.Errorf("above %q is %q (%v), at the top %q", c.run, above, ok, Top(c.run))
		}
	}
	if id := BelowID(BelowID("r", 12), 3); id != "r.12.3" {
		t.Error(id)
	}
}
