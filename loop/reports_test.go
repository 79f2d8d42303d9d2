package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/window"
)

// What users of other harnesses have met, as tests; internal/reports says which
// test is for which report.

// crowded is a reader in a window of which the rules take a share, in percent of
// the budget of 7,000 tokens.
func crowded(t *testing.T, strategy string, share int64) *reader {
	r := newReader(t, event.WindowSpec{})
	spec := *r.m.Spec()
	spec.Window = event.WindowSpec{Strategy: strategy, Size: 8000, Reserve: 1000, Margin: 1_000_000}
	spec.System = []event.Block{{Name: "contract", Text: "Work.", Tokens: message.Known(70 * share)}}
	return r.begin(&spec)
}

// begin starts anew with another spec.
func (r *reader) begin(spec *event.Spec) *reader {
	r.script = newScript(r.t)
	r.add("", &event.RunStarted{Format: 1, Root: "r1", Spec: *spec})
	r.add("", &event.InputReceived{Kind: event.InputText, Parts: []message.Part{{Kind: message.Text, Text: "Go."}}, Tokens: message.Known(10)})
	r.settle()
	return r
}

// rewrites returns the rewrites of the context so far.
func (r *reader) rewrites() (list []*event.ContextCompacted) {
	for i := range r.events {
		if c, ok := r.events[i].Data.(*event.ContextCompacted); ok {
			list = append(list, c)
		}
	}
	return list
}

// summaries counts the requests for summaries so far.
func (r *reader) summaries() (n int) {
	for i := range r.events {
		if a, ok := r.events[i].Data.(*event.ContextAssembled); ok && a.Purpose == event.PurposeSummary {
			n++
		}
	}
	return n
}

// The rules take most of the window, so that each step fills it again. After two
// summaries that have made room for a step or two the model is asked for no more;
// what takes the room is named; and the run goes on with what fits.
func TestSummariesInVain(t *testing.T) {
	for _, strategy := range []string{window.Layered, window.Summary} {
		r := crowded(t, strategy, 90)
		for range 40 {
			r.step(800)
		}
		if n := r.summaries(); n != 2 {
			t.Errorf("%s: %d summaries in 40 steps", strategy, n)
		}
		list := r.rewrites()
		if last := list[len(list)-1]; !strings.Contains(strings.Join(last.Failed, "; "), `"contract" takes 6300 tokens of 7000`) {
			t.Errorf("%s: the last rewrite says %q", strategy, last.Failed)
		}
		for i := range r.events {
			if a, ok := r.events[i].Data.(*event.ContextAssembled); ok && a.Purpose == event.PurposeStep && a.Tokens > 7000 {
				t.Errorf("%s: a request of %d tokens", strategy, a.Tokens)
			}
		}
	}
}

// Steps that are small enough are worth their summaries, however little room there
// is.
func TestSummariesOfUse(t *testing.T) {
	r := crowded(t, window.Summary, 80)
	for range 40 {
		r.step(100)
	}
	if n := r.summaries(); n < 3 || n != len(r.rewrites()) {
		t.Errorf("%d summaries, %d rewrites", n, len(r.rewrites()))
	}
}

// What stands before the conversation reaches the mark by itself. Where there is
// nothing to leave out nothing is tried; what does not fit at all ends the run at
// once, by its name.
func TestFixedOverhead(t *testing.T) {
	for _, strategy := range window.Strategies() {
		r := crowded(t, strategy, 88)
		if n := len(r.rewrites()) + r.summaries(); n != 0 {
			t.Errorf("%s: an empty conversation is rewritten %d times", strategy, n)
		}
		r = crowded(t, strategy, 100)
		st := r.m.Status()
		end, ok := r.events[len(r.events)-1].Data.(*event.RunFinished)
		if !ok || st.Reason != event.ReasonContextOverflow || !strings.Contains(end.Detail, `the largest block is "contract" with 7000`) {
			t.Errorf("%s: %+v", strategy, r.events[len(r.events)-1].Data)
		}
	}
}

// read plays a step that reads a file, without a summary.
func (r *reader) read(name, text string) {
	c := r.m.Next()[0].(*loop.CallModel)
	r.n++
	msg := message.Message{Role: message.Assistant, Parts: []message.Part{{Kind: message.ToolCall, ID: fmt.Sprint("r", r.n), Name: "read_file", Args: fmt.Sprintf(`{"path":%q}`, name)}}}
	if name == "" {
		msg.Parts[0].Name, msg.Parts[0].Args = "put", fmt.Sprintf(`{"x":%d}`, r.n)
	}
	r.add(c.ID, &event.ModelAnswered{ID: c.ID, Finish: event.FinishToolCalls, Message: msg, Tokens: sized(message.Assistant, msg.Parts)})
	r.settle()
	if run, ok := r.m.Next()[0].(*loop.RunTool); ok {
		parts := []message.Part{{Kind: message.Text, Text: text}}
		r.add(run.ID, &event.ToolFinished{ID: run.ID, Call: run.Call, Tool: run.Tool, Status: event.StatusSuccess, Parts: parts, Tokens: sized(message.Tool, parts)})
		r.settle()
	}
}

// A task needs more than fits: each time the context is made smaller the model reads
// all of it again. It is told so, and how to work then. Whoever reads other things,
// finds them changed, or writes meanwhile, is not.
func TestReadingInCircles(t *testing.T) {
	words := strings.Repeat("word ", 300)
	for _, c := range []struct {
		name string
		file func(n int) (name, text string)
		told bool
	}{
		{"the same again and again", func(n int) (string, string) { return fmt.Sprint("f", n%8), fmt.Sprint("file ", n%8, words) }, true},
		{"something else each time", func(n int) (string, string) { return fmt.Sprint("f", n), fmt.Sprint("file ", n, words) }, false},
		{"changed each time", func(n int) (string, string) { return fmt.Sprint("f", n%8), fmt.Sprint("version ", n, words) }, false},
		{"with writes between", func(n int) (string, string) {
			if n%4 == 3 {
				return "", "done"
			}
			return fmt.Sprint("f", n%8), fmt.Sprint("file ", n%8, words)
		}, false},
	} {
		r := newReader(t, event.WindowSpec{})
		spec := *r.m.Spec()
		spec.Window = event.WindowSpec{Strategy: window.Sliding, Size: 3000, Reserve: 500, Margin: 1_000_000}
		spec.Tools = append(spec.Tools, toolSpec([]string{"", "put", "repeatable"}))
		r.begin(&spec)
		first := 0
		for n := range 48 {
			r.read(c.file(n))
			if first == 0 && strings.Contains(told(r.events), "All of it does not fit at once") {
				first = len(r.rewrites())
			}
		}
		if (first > 0) != c.told || len(r.rewrites()) < 5 {
			t.Errorf("%s: told after %d of %d rewrites", c.name, first, len(r.rewrites()))
		}
	}
}

// told returns the notices of a journal.
func told(events []event.Event) string {
	var b strings.Builder
	for i := range events {
		if n, ok := events[i].Data.(*event.NoticeAdded); ok {
			b.WriteString(n.Text + "\n")
		}
	}
	return b.String()
}

// Servers and gateways report usage that is not that of one request: a sum over the
// calls of a turn, the double or more of it for once. What is sent stays what counts:
// nothing is rewritten before there is need for it, and the next request is expected
// to be as large as it is.
func TestOddUsage(t *testing.T) {
	const steps = 30
	for _, c := range []struct {
		name string
		says func(step int, n int64) int64
	}{
		{"as it is", func(_ int, n int64) int64 { return n }},
		{"a sum over twelve calls, from the first", func(_ int, n int64) int64 { return 12 * n }},
		{"a sum over the calls of the turn", func(step int, n int64) int64 { return n * int64(step+1) }},
		{"the double, once", func(step int, n int64) int64 { return n * (1 + one(step == 9)) }},
		{"four times as much, twice", func(step int, n int64) int64 { return n * (1 + 3*one(step == 5 || step == 6)) }},
		{"more than the window holds, now and then", func(step int, n int64) int64 { return n + 300_000*one(step%4 == 3) }},
		{"nothing at all", func(int, int64) int64 { return 0 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newReader(t, event.WindowSpec{Strategy: window.Layered, Size: 60_000, Reserve: 4096, Margin: 650_000})
			step := 0
			r.usage = func(n int64) message.Usage {
				step++
				return message.Usage{Input: message.Known(c.says(step-1, n)), Output: message.Known(10)}
			}
			for range steps {
				r.step(400)
				a := r.events[len(r.events)-2].Data.(*event.ContextAssembled)
				if n := counted(r.events); a.Tokens > n*11/10 || a.Tokens < n*9/10 {
					t.Fatalf("after step %d a request counted as %d is expected to have %d tokens", step, n, a.Tokens)
				}
			}
			if n := len(r.rewrites()); n != 0 {
				t.Errorf("%d rewrites at %d tokens", n, counted(r.events))
			}
		})
	}
}

func one(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// A server that says nothing of usage does not make a run endless: its limit counts
// what was sent and said by the run's own count.
func TestLimitWithoutUsage(t *testing.T) {
	r := newReader(t, event.WindowSpec{})
	spec := *r.m.Spec()
	spec.Limits.Tokens = 3000
	r.begin(&spec)
	r.usage = func(int64) message.Usage { return message.Usage{} }
	n := 0
	for ; n < 20 && r.model().Purpose == event.PurposeStep; n++ {
		r.step(300)
	}
	if end := told(r.events); n < 3 || n > 10 || !strings.Contains(end, "of 3000 tokens are used") {
		t.Errorf("after %d steps: %s", n, end)
	}
}
