package message

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// parse reads conversations for tests: one word a message.
//
//	u s       user, system            a:1,2   assistant calling 1 and 2
//	1 2       their results           a       assistant without calls
//	!1        the stand-in for 1      1b      another result for 1
func parse(script string) []Message {
	var msgs []Message
	for n, w := range strings.Fields(script) {
		switch {
		case w == "u":
			msgs = append(msgs, NewText(User, fmt.Sprint("user ", n)))
		case w == "s":
			msgs = append(msgs, NewText(System, fmt.Sprint("system ", n)))
		case w[0] == 'a':
			m := NewText(Assistant, "text")
			_, ids, calls := strings.Cut(w, ":")
			for id := range strings.SplitSeq(ids, ",") {
				if calls {
					m.Parts = append(m.Parts, Part{Kind: ToolCall, ID: id, Name: "tool" + id, Args: "{}"})
				}
			}
			msgs = append(msgs, m)
		case w[0] == '!':
			msgs = append(msgs, Result(w[1:], "tool"+w[1:], Interrupted, true))
		default:
			id := w[:1]
			msgs = append(msgs, Result(id, "tool"+id, "result "+w, false))
		}
	}
	return msgs
}

// render is the inverse of parse.
func render(msgs []Message) string {
	var out []string
	for _, m := range msgs {
		w := ""
		switch {
		case m.Role == User:
			w = "u"
		case m.Role == System:
			w = "s"
		case m.Role == Assistant:
			var ids []string
			for _, p := range m.Parts {
				if p.Kind == ToolCall {
					ids = append(ids, p.ID)
				}
			}
			if w = "a"; ids != nil {
				w += ":" + strings.Join(ids, ",")
			}
		case m.PlainText() == Interrupted:
			w = "!" + m.ToolCallID
		default:
			w = strings.TrimPrefix(m.PlainText(), "result ")
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

func TestPair(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"no calls", "s u a u a", "s u a u a"},
		{"one call", "u a:1 1 a", "u a:1 1 a"},
		{"two calls", "u a:1,2 1 2 a", "u a:1,2 1 2 a"},
		{"results in another order", "u a:1,2,3 3 1 2 a", "u a:1,2,3 1 2 3 a"},
		{"a missing result", "u a:1,2 2 a", "u a:1,2 !1 2 a"},
		{"no result at the end", "u a:1,2", "u a:1,2 !1 !2"},
		{"a second result", "u a:1 1 1b a", "u a:1 1 a"},
		{"a result in the wrong turn", "u a:1 a:2 1 2 a", "u a:1 !1 a:2 2 a"},
		{"a result without any call", "u 1 a 2", "u a"},
		{"a result before its call", "1 a:1 u", "a:1 !1 u"},
		{"a notice between call and result", "u a:1,2 1 s 2 u a", "u a:1,2 1 2 s u a"},
		{"a user speaks before the result", "a:1 u u 1", "a:1 1 u u"},
		{"an id used again in a later turn", "a:1 1 a:1 1b", "a:1 1 a:1 1b"},
		{"an id used again and not answered", "a:1 1 1b a:1", "a:1 1 a:1 !1"},
		{"one id twice in one message", "a:1,1 1 1b", "a:1,1 1 1b"},
		{"one id twice and one result", "a:1,1 1", "a:1,1 1 !1"},
		{"two turns to repair", "a:1 u a:2 s 2 a", "a:1 !1 u a:2 2 s a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := parse(c.in)
			got := Pair(in)
			if render(got) != c.want {
				t.Errorf("%s\nbecomes %s\nwant    %s", c.in, render(got), c.want)
			}
			if c.in == c.want && len(in) > 0 && &got[0] != &in[0] {
				t.Error("nothing to do, and yet it was copied")
			}
			checkPaired(t, in, got)
		})
	}
}

// checkPaired checks everything that Pair promises of out = Pair(in).
func checkPaired(t *testing.T, in, out []Message) {
	t.Helper()
	// Exactly one result for each call, in order, right behind; and no other.
	for i := 0; i < len(out); i++ {
		if out[i].Role == Tool {
			t.Fatalf("message %d of %q is a result without a call", i, render(out))
		}
		if out[i].Role != Assistant {
			continue
		}
		for p, a := 0, i; p < len(out[a].Parts); p++ {
			if out[a].Parts[p].Kind != ToolCall {
				continue
			}
			i++
			if i == len(out) || out[i].Role != Tool || out[i].ToolCallID != out[a].Parts[p].ID {
				t.Fatalf("call %d of message %d of %q has no result at %d", p, a, render(out), i)
			}
		}
	}
	// Other messages are all there, in order.
	others := func(msgs []Message) (s []Message) {
		for _, m := range msgs {
			if m.Role != Tool {
				s = append(s, m)
			}
		}
		return s
	}
	if !reflect.DeepEqual(others(in), others(out)) {
		t.Fatalf("messages lost or moved: %q became %q", render(in), render(out))
	}
	// A result that was recorded is used, in its own turn, rather than made up.
	before, after := turns(in), turns(out)
	for i := range before {
		for _, id := range []string{"1", "2", "3"} {
			want := min(before[i].calls[id], before[i].results[id])
			if got := after[i].results[id]; got != want {
				t.Fatalf("turn %d of %q keeps %d results of call %s, not %d: %q", i, render(in), got, id, want, render(out))
			}
		}
	}
	if again := Pair(out); len(out) > 0 && &again[0] != &out[0] {
		t.Fatalf("not idempotent: %q became %q", render(out), render(again))
	}
}

// turn counts the calls and the recorded results of a turn by their ids.
type turn struct{ calls, results map[string]int }

func turns(msgs []Message) []turn {
	all := []turn{{map[string]int{}, map[string]int{}}}
	for _, m := range msgs {
		if m.Role == Assistant {
			all = append(all, turn{map[string]int{}, map[string]int{}})
		}
		last := all[len(all)-1]
		for _, p := range m.Parts {
			if p.Kind == ToolCall {
				last.calls[p.ID]++
			}
		}
		if m.Role == Tool && m.PlainText() != Interrupted {
			last.results[m.ToolCallID]++
		}
	}
	return all
}

// randomConversation strings words together without any sense.
func randomConversation(r *rand.Rand, words int) []Message {
	var w []string
	for range r.IntN(words) {
		w = append(w, []string{"u", "s", "a", "a:1", "a:1,2", "a:3,2,1", "a:1,1", "1", "2", "3", "1b", "2b"}[r.IntN(12)])
	}
	return parse(strings.Join(w, " "))
}

func TestPairAnything(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 5000 {
		in := randomConversation(r, 24)
		before := render(in)
		out := Pair(in)
		if render(in) != before {
			t.Fatalf("Pair changed its argument from %q to %q", before, render(in))
		}
		checkPaired(t, in, out)
		if !reflect.DeepEqual(out, Pair(in)) {
			t.Fatalf("%q does not always become the same", before)
		}

		// A history that only grew needs no second look.
		grown := append(out[:len(out):len(out)], randomConversation(r, 8)...)
		if got, want := PairFrom(grown, len(out)), Pair(grown); !reflect.DeepEqual(got, want) {
			t.Fatalf("PairFrom(%q, %d) = %q, want %q", render(grown), len(out), render(got), render(want))
		}
	}
}

func FuzzPair(f *testing.F) {
	f.Add([]byte("\x08\x01\x02\x09"), 2)
	f.Add([]byte{4, 7, 1, 8, 2}, 0)
	f.Fuzz(func(t *testing.T, script []byte, from int) {
		words := []string{"u", "s", "a", "a:1", "a:1,2", "a:3,2,1", "a:1,1", "1", "2", "3", "1b", "2b"}
		var w []string
		for _, b := range script {
			w = append(w, words[int(b)%len(words)])
		}
		in := parse(strings.Join(w, " "))
		out := Pair(in)
		checkPaired(t, in, out)
		if got := PairFrom(out, from); len(out) > 0 && &got[0] != &out[0] {
			t.Fatalf("PairFrom(%q, %d) copies", render(out), from)
		}
	})
}

// A history in order costs no allocation, and one that grew no look at the old.
func TestPairAllocatesNothing(t *testing.T) {
	msgs := parse("s u " + strings.Repeat("a:1,2 1 2 s ", 200) + "a")
	for _, from := range []int{0, 700, len(msgs)} {
		if n := testing.AllocsPerRun(20, func() { PairFrom(msgs, from) }); n != 0 {
			t.Errorf("PairFrom(…, %d) allocates %v times", from, n)
		}
	}
}

func BenchmarkPairFrom(b *testing.B) {
	msgs := parse("s u " + strings.Repeat("a:1,2 1 2 ", 1000))
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			Pair(msgs)
		}
	})
	b.Run("last step", func(b *testing.B) {
		for b.Loop() {
			PairFrom(msgs, len(msgs)-3)
		}
	})
}
