package diff

import (
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// What a search puts before a line is no part of it.
func TestBare(t *testing.T) {
	for line, want := range map[string]string{
		"docs/a.md:12: total: 3": "total: 3",
		"a.md:12:total":          "total",
		"12- total":              "total",
		"   12\ttotal":           "total",
		"total":                  "",
		"v2: total":              "",
		"port 80":                "",
		"":                       "",
	} {
		if got := bare(strings.TrimSpace(line)); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// Where nobody can say what was seen, no more is said than that a call was not made.
func TestUnknownSights(t *testing.T) {
	for name, p := range map[string]message.Part{
		"it is stored elsewhere": {Kind: message.Text, Ref: &message.Ref{Bytes: 9}},
		"blanks and brackets":    {Kind: message.Text, Text: "{\n\n}\n"},
	} {
		f := &Fold{}
		for i, d := range []event.Data{
			&event.RunStarted{Spec: event.Spec{Tools: []event.ToolSpec{{Name: "look", Effect: event.Read}}}},
			&event.ModelCalled{ID: "m", Purpose: event.PurposeStep, Step: 1, Attempt: 1},
			&event.ModelAnswered{ID: "m"},
			&event.ReplyParsed{ID: "m", Calls: []event.ParsedCall{{ID: "c", Name: "look", Args: "{}"}}},
			&event.ToolFinished{Call: "c", Tool: "look", Status: event.StatusSuccess, Parts: []message.Part{p}},
		} {
			f.Add(&event.Event{Run: "a", Seq: int64(i + 1), Data: d})
		}
		r := New(f.Run(), journal("b", "say no")).Report(nil, nil)
		if got := r.Findings[len(r.Findings)-1].Text; got != "run B made no such call as look, which A made at step 1" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Rein's remark on a command loses what varies by itself, and nothing else does.
func TestSteady(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"ok\n[rein: exit code 0; 1 line, 3 bytes written; took 480ms]", "ok\n[rein: exit code 0; 1 line, 3 bytes written; took …]"},
		{"[rein: exit code 0; it wrote nothing; took 1m3s; it wrote nothing for 1m0s at a stretch; 2 processes that it had started still ran and had to be ended: 812 (sleep), 97 (tail 2)]",
			"[rein: exit code 0; it wrote nothing; took …; 2 processes that it had started still ran and had to be ended: … (sleep), … (tail 2)]"},
		{"[rein: the last 2 of 900 lines shown, of 9071 bytes in all; for the rest call read_artifact]\nx\n[rein: exit code 0; 899 lines, 9000 bytes written; took 2s]",
			"[rein: the last 2 of 900 lines shown, of … bytes in all; for the rest call read_artifact]\nx\n[rein: exit code 0; 899 lines, 9000 bytes written; took …]"},
		{"the build; took 3s", "the build; took 3s"},
		{"[not rein: exit code 0; took 3s]", "[not rein: exit code 0; took 3s]"},
		{"[rein: lines 1-2 of 9 of a.txt, of 71 bytes in all]\nshe; took 3s", "[rein: lines 1-2 of 9 of a.txt, of 71 bytes in all]\nshe; took 3s"},
	} {
		if got := steady(tc.text); got != tc.want {
			t.Errorf("%q:\n%q, want\n%q", tc.text, got, tc.want)
		}
	}
}

// Whatever a result says, it is kept, and compared with itself it was seen.
func FuzzShown(f *testing.F) {
	for _, s := range []string{"", "\n", "[rein: lines 3-4 of 9 of the result of x, call y]\na\nb", "a:1: b\n12- c\n[rein: exit code 0; took 3s; could not be ended: 1 (x)]"} {
		f.Add(s, int64(1), int64(2), true)
	}
	f.Fuzz(func(t *testing.T, text string, from, to int64, artifact bool) {
		if again := steady(steady(text)); again != steady(text) {
			t.Errorf("not steady: %q, then %q", steady(text), again)
		}
		r := &Run{}
		d := &event.ToolFinished{Tool: "read_artifact", Parts: message.NewText(message.Tool, text).Parts}
		if !artifact {
			d.Tool, d.Seen = "read_file", []event.Seen{{Resource: "a", Version: "v", From: from, To: to, Total: to}}
		}
		c := &Call{Tool: d.Tool, Status: event.StatusSuccess, shown: r.showing(d)}
		r.Steps = []Step{{Calls: []*Call{c}}}
		if how, missing := r.saw(c); missing != nil || how == sightNone || how == sightPart {
			t.Errorf("%q: it has not seen %v of its own", text, missing)
		}
		other := &Run{}
		if how, missing := other.saw(c); missing != nil && other.lines(c, how, missing) == "" {
			t.Errorf("%q: no words for %v", text, missing)
		}
	})
}
