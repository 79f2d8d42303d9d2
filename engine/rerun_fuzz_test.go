package engine_test

import (
	"testing"
	"unicode/utf8"

	"rein.example/rein/engine"
)

// Whatever two replies hold, comparing them comes to an end: what is equal is the same,
// whatever differs is told in valid text and within bounds, and the reverse comparison
// agrees on whether they are alike.
func FuzzCompare(f *testing.F) {
	for _, s := range []struct{ a, b string }{
		{`{"n":7}`, `{"n":8}`}, {`{"a/b":{"~":[1,2]}}`, `{"a/b":{"~":[1,3]}}`}, {`{"n":1}`, `[1]`}, {`{`, `{"n":1}`}, {"", "{}"},
		{`{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":1}}}}}}}}}}}}}}}}}}`, `{"a":{"a":1}}`},
		{`{"x":1e400}`, `{"x":1}`}, {`{"x":1,"x":2}`, `{"x":1}`}, {"\xff", `"\ud800"`},
	} {
		f.Add(s.a, s.b)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, calls := range []bool{true, false} {
			one := func(s string) *engine.Outcome {
				if calls {
					return &engine.Outcome{Calls: []engine.Act{{Tool: "t", Args: s}}}
				}
				return &engine.Outcome{Text: s}
			}
			like, differs := engine.Compare(one(a), one(b))
			back, _ := engine.Compare(one(b), one(a))
			if same, _ := engine.Compare(one(a), one(a)); same != engine.SameAct {
				t.Errorf("%q is not like itself: %s", a, same)
			}
			if like != back || len(differs) > 20 {
				t.Errorf("%q and %q: %s, and %s the other way, %d differences", a, b, like, back, len(differs))
			}
			for _, d := range differs {
				if utf8.ValidString(a) && utf8.ValidString(b) && !utf8.ValidString(d) {
					t.Errorf("%q and %q: %q", a, b, d)
				}
			}
		}
	})
}
