package loop

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/schema"
)

// happened makes calls of a line such as "read a.txt -> text | look b -> !not_found: gone":
// a tool, its argument, and what came of it; an outcome that begins with ! is an error
// with its type. "poll" is a polling tool, "write" one that writes.
func happened(t *testing.T, line string) []call {
	t.Helper()
	var calls []call
	for one := range strings.SplitSeq(line, " | ") {
		what, out, ok := strings.Cut(one, " -> ")
		name, arg, _ := strings.Cut(what, " ")
		if !ok {
			t.Fatalf("no outcome in %q", one)
		}
		args, err := schema.Canonical([]byte(fmt.Sprintf(`{"x":%q}`, arg)))
		if err != nil {
			t.Fatal(err)
		}
		spec := &event.ToolSpec{Name: name, Effect: event.Read, Polling: name == "poll"}
		spec.Harness = name == "submit"
		if name == "write" {
			spec.Effect = event.Repeatable
		}
		d := &event.ToolFinished{Tool: name, Status: event.StatusSuccess}
		if kind, text, failed := strings.Cut(out, ": "); failed && strings.HasPrefix(kind, "!") {
			d.Status, d.ErrorType, d.ErrorMessage = event.StatusError, kind[1:], text
		} else if out != "" {
			d.Parts = []message.Part{{Kind: message.Text, Text: out}}
		}
		calls = append(calls, call{ParsedCall: event.ParsedCall{Name: name}, tool: &toolInfo{ToolSpec: spec}, args: jsontext.Value(args), hash: sha256.Sum256(args), done: d})
	}
	return calls
}

// What a run of steps leads to: at which step the model is told, at which the run
// is ended.
func TestProgress(t *testing.T) {
	again := func(n int, lines ...string) (all []string) {
		for i := range n {
			all = append(all, lines[i%len(lines)])
		}
		return all
	}
	for _, tc := range []struct {
		name  string
		steps []string
		want  string
	}{
		{"work", []string{"read a -> 1", "read b -> 2", "write a -> done", "read a -> 3", "write a -> done", "read a -> 4"}, ""},
		{"two in turn", again(9, "read a -> 1", "look b -> 2"), "told 6, over 8 repetition"},
		{"three in turn", again(9, "read a -> 1", "look b -> 2", "list c -> 3"), "told 6, over 9 repetition"},
		{"one all the time", again(9, "submit x -> !invalid: no"), "told 6, over 7 repetition"},
		{"the time that it took is no news", again(9, "run a -> [rein: took 1 ms]\nb", "look x -> 1", "run a -> [rein: took 2 ms]\nb", "look x -> 1"), "told 6, over 8 repetition"},
		{"two in turn, with news", []string{"read a -> 1", "look b -> 2", "read a -> 3", "look b -> 4", "read a -> 5", "look b -> 6", "read a -> 7", "look b -> 8"}, ""},
		{"writes back and forth", again(8, "write 1 -> done", "write 2 -> done"), "told 6, over 8 repetition"},
		{"a cycle that is left", append(again(6, "read a -> 1", "look b -> 2"), "read c -> 3", "read d -> 4"), "told 6"},
		{"a poll and a look", again(12, "poll job -> running", "read log -> line 1"), ""},
		{"only polls", again(12, "poll job -> running"), ""},
		{"the same error", again(4, `read a -> !failed: line 3 of "a" is bad`, `read b -> !failed: line 4 of "b" is bad`), "told 3, over 4 no_progress"},
		{"different errors", []string{"read a -> !failed: one", "read b -> !failed: two", "read c -> !failed: three", "read d -> !failed: four"}, ""},
		{"an error with successes between", again(8, "read a -> !failed: bad", "read b -> text"), "told 6, over 8 repetition"},
		{"side by side it is one try", []string{strings.Join(again(6, "read a -> !failed: bad"), " | ")}, ""},
		{"a search that never ends", []string{"find a -> []", "find b -> ", `find c -> {"items":[],"total":0}`, "find d -> Nothing found: no."}, "told 2, told 3, over 4 no_progress"},
		{"a search that ends", []string{"find a -> []", "find b -> []", "find c -> [1]", "find d -> []"}, "told 2"},
		{"not there", []string{"read a -> !not_found: no a", "read b -> !not_found: no b", "read c -> !not_found: no c", "read d -> !not_found: no d"}, "told 2, told 3, over 4 no_progress"},
		{"short truths are no nothing", []string{`is a -> {"open":false}`, `is b -> {"open":false}`, `is c -> {"n":0}`, `is d -> {"n":0}`, `is e -> 0`}, ""},
		{"writes that say nothing", []string{"write a -> ", "write b -> ", "write c -> ", "write d -> "}, ""},
		{"written otherwise", []string{"list ./a -> x", "list a/ -> x", "list  A -> x", "list 'a' -> x", "list a -> x"}, "told 3, told 4, over 5 repetition"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var p progress
			var got []string
			over := false
			for i, line := range tc.steps {
				if over {
					break
				}
				for _, f := range p.turn(int64(i+1), happened(t, line)) {
					if f.stop != "" {
						over = true
						got = append(got, fmt.Sprintf("over %d %s", i+1, f.reason))
					} else {
						got = append(got, fmt.Sprintf("told %d", i+1))
					}
				}
			}
			if s := strings.Join(got, ", "); s != tc.want {
				t.Errorf("%s, want %s", s, tc.want)
			}
		})
	}
}

func FuzzNothing(f *testing.F) {
	for _, s := range []string{"", "[]", `{"a":[],"b":0}`, `["`, `{"a":"\`, "[rein: none]\nNothing found: no.", "{\"a\\\":1}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		nothingIn(s)
		bare(s)
		if a := alike(s); alike(a) != a && len(alike(a)) > len(a) {
			t.Errorf("alike makes %q longer", s)
		}
	})
}

// An id stands in a text if it is there whole.
func TestStands(t *testing.T) {
	for _, tc := range []struct {
		id, text string
		want     bool
	}{
		{"Q-88", "see Q-88.", true}, {"Q-88", "Q-88", true}, {"Q-88", "Q-881 and XQ-88", false}, {"Q-88", "Q-881, Q-88", true},
		{"#7", "a#7b", false}, {"#7", "a#7", true}, {"", "", false}, {"é1", "né1 é1", true},
	} {
		if got := stands(tc.id, tc.text); got != tc.want {
			t.Errorf("%q in %q: %v", tc.id, tc.text, got)
		}
	}
}
