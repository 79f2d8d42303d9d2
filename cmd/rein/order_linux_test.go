package main

import (
	"strings"
	"testing"
)

// two has two calls that need approval in one reply.
const two = `
turns:
  - calls:
      - {name: write_file, arguments: {path: first.txt, content: "1"}}
      - {name: write_file, arguments: {path: second.txt, content: "2"}}
  - say: Both are written.
`

// The first question is the first call, on lines and in the live view; Ctrl-C
// there is an interruption, whatever the run then waits for.
func TestQuestionsComeInOrder(t *testing.T) {
	times := 20
	if testing.Short() {
		times = 2
	}
	for range times {
		for _, flags := range [][]string{{"--plain"}, nil} {
			b := newBox(t)
			p := b.console(80, 24, append([]string{"run", "-f", b.agent(two, ""), "Write both."}, flags...)...)
			p.sees("(1 of 2)")
			p.sees("may it run?")
			if s := p.text(); !strings.Contains(s, `"path": "first.txt"`) || strings.Contains(s, `"path": "second.txt"`) {
				t.Fatalf("%v: the first question is not the first call:\n%s", flags, s)
			}
			p.types("\x03")
			if code := p.ends(); code != interrupted {
				t.Fatalf("%v: exit %d:\n%s", flags, code, p.text())
			}
		}
	}
}
