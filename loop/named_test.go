package loop_test

import (
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// What a request names is held against what was said and called since. Hints that
// name what is done, or is no name, teach models to take no notice of them.
func TestUnattended(t *testing.T) {
	for _, c := range []struct{ asked, since, open string }{
		{"Fix src/report.py and docs/usage.md.", "src/report.py is fixed", "docs/usage.md"},
		{"Read /home/ann/shop/src/report.py.", "see src/report.py", ""},
		{"Read @notes/plan.md, please.", "see notes/plan.md", ""},
		{"Look at Report.PY!", "see report.py", ""},
		{"Cancel AB12CD and XY98ZW", "AB12CD is cancelled", "XY98ZW"},
		{"Use get_orders, then send_mail.", "get_orders was called", "send_mail"},
		{"It may cost $1,250 (not €1300).", "1250 is due", "1300"},
		{"It may cost 1250.", "1,250 is due", ""},
		{"Between 8am and 9:30 on the 22nd, for 500ms", "for 0.5 seconds, as 500", "9:30"},
		{"It is due on 5/20/2024.", "due on 2024-05-20", ""},
		{"Take orders 4711,4712", "4711", "4712"},
		{"e.g. tea and/or coffee, i.e. no n/a, w.t.f.", "", ""},
		{"See 2.png and 01.27.21.png", "", "2.png, 01.27.21.png"},
		{"One-way, 2-3 bags, 10% off", "", ""},
		{"Thanks.#END#", "", ""},
		{"Both a/b/c and x/y_z", "", "a/b/c, x/y_z"},
		{strings.Repeat("no name ", 4000) + "ZZ99", "", ""}, // beyond what is looked at
	} {
		s := newScript(t)
		s.add("", &event.RunStarted{Format: 1, Root: "r1", Spec: event.Spec{Model: "test/model"}})
		s.add("", &event.InputReceived{Kind: event.InputText, Parts: []message.Part{{Kind: message.Text, Text: c.asked}}})
		s.settle()
		id := s.model().ID
		s.add(id, &event.ModelAnswered{ID: id, Message: message.NewText(message.Assistant, c.since+" ."), Finish: event.FinishStop})
		s.settle()
		if got := strings.Join(s.m.Unattended(), ", "); got != c.open {
			t.Errorf("%.60q and then %q leaves %q open, not %q", c.asked, c.since, got, c.open)
		}
	}
}
