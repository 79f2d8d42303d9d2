package tokens_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"rein.example/rein/tokens"
)

// TestCalibration plays the scripts in testdata/calibration: each is a run's prompts, as
// one counts them oneself and as a server reports them. Rewrite them with -rewrite.
//
//	observe [window=TOKENS]     a line a report: ESTIMATED REPORTED
//	predict                     a line a question: LAST-REPORTED LAST-ESTIMATED NOW
func TestCalibration(t *testing.T) {
	datadriven.Walk(t, "testdata/calibration", func(t *testing.T, path string) {
		var c tokens.Calibration
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var window int64
			d.MaybeScanArgs(t, "window", &window)
			var out strings.Builder
			for line := range strings.Lines(d.Input) {
				var a, b, now int64
				switch d.Cmd {
				case "observe":
					scan(t, line, &a, &b)
					verdict := "taken"
					if r := c.Observe(a, b, window); r != "" {
						verdict = string(r)
					}
					fmt.Fprintf(&out, "%s; %s, factor %d.%03d\n", verdict, c.Method(), c.Factor()/1_000_000, c.Factor()/1000%1000)
				case "predict":
					scan(t, line, &a, &b, &now)
					fmt.Fprintln(&out, c.Predict(a, b, now))
				default:
					d.Fatalf(t, "no command %s", d.Cmd)
				}
			}
			return out.String()
		})
	})
}

func scan(t *testing.T, line string, to ...any) {
	t.Helper()
	if n, err := fmt.Sscan(line, to...); n != len(to) {
		t.Fatalf("%q: %v", line, err)
	}
}

// FuzzCalibration holds, for whatever is reported: predictions are never less for more,
// never below 0 and never absurd; and the factor stays in its bounds.
func FuzzCalibration(f *testing.F) {
	f.Add(int64(1000), int64(1300), int64(2000), int64(2600), int64(200_000), int64(5000))
	f.Add(int64(0), int64(-1), int64(1)<<62, int64(1<<63-1), int64(0), int64(1)<<62)
	f.Add(int64(64), int64(128), int64(64), int64(32), int64(-1<<63), int64(63))
	f.Fuzz(func(t *testing.T, e1, r1, e2, r2, window, now int64) {
		var c tokens.Calibration
		for range 4 {
			c.Observe(e1, r1, window)
			c.Observe(e2, r2, window)
			if k := c.Factor(); k < 500_000 || k > 2_000_000 {
				t.Fatalf("the factor is %d", k)
			}
			for _, last := range [][2]int64{{0, 0}, {r1, e1}, {r2, e2}, {r1, e2}} {
				before := int64(-1)
				for _, n := range []int64{0, 1, now / 2, now, now/2 + now/2 + 1} {
					p := c.Predict(last[0], last[1], n)
					if p < 0 || p > 8<<40 {
						t.Fatalf("%d tokens are predicted as %d", n, p)
					}
					if n >= now/2 && now > 1 && p < before {
						t.Fatalf("%d tokens are predicted as %d, and fewer as %d", n, p, before)
					}
					before = p
				}
			}
		}
	})
}
