package local_test

import (
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// A run for which there is no room in the window is not started, and the refusal
// names the block that is too large.
func TestPreflight(t *testing.T) {
	for _, c := range []struct {
		what    string
		size    int64
		rules   string
		tools   int
		results int
		phases  bool
		want    string // of the error, empty for none
	}{
		{"room enough", 8_000, "", 1, 0, false, ""},
		{"a window of unknown size", 0, strings.Repeat("Be brief. ", 10_000), 1, 0, false, ""},
		{"a long result", 4_000, "", 1, 0, false, `the largest block is "result of t00" with 2000: lower that tool's result limit`},
		{"a lower limit", 4_000, "", 1, 500, false, ""},
		{"long rules", 8_000, strings.Repeat("Be brief. ", 3_000), 1, 0, false, `the largest block is "contract and rules" with `},
		{"many tools", 4_000, "", 60, 500, false, `the largest block is "tools" with `},
		{"many tools, few at a time", 4_000, "", 60, 500, true, ""},
		{"no tools", 2_500, "", 0, 0, false, ""},
	} {
		l := newLab(t, say("done"))
		l.spec.Window = event.WindowSpec{Size: c.size, Reserve: 1_000, Margin: 650_000}
		l.spec.System[0].Text += c.rules
		for i := range c.tools {
			l.tools = append(l.tools, &fakeTool{tool.Definition{Name: "t" + string(rune('0'+i/10)) + string(rune('0'+i%10)), Effect: event.Read, ResultTokens: c.results,
				Doc: tool.Doc{What: strings.Repeat("Looks something up. ", 8)}, Schema: []byte(`{"type":"object"}`)}, returns("x")})
		}
		if c.phases {
			for _, p := range []string{"t0*", "t1*", "t2*", "t3*", "t4*", "t5*"} {
				l.spec.Phases = append(l.spec.Phases, event.PhaseSpec{Name: p, Tools: []string{p}, Until: p})
			}
			l.spec.Phases[5].Until = ""
		}
		_, err := l.engine().Start(t.Context(), l.ready())
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.what, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.what, err, c.want)
		}
		if _, err := l.store.Head(t.Context(), l.job.Run); err == nil {
			t.Errorf("%s: there is a journal", c.what)
		}
	}
}
