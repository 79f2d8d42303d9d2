package window_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/tokens"
	"rein.example/rein/window"
)

// seeds are texts as models, tools and people write them, and as they should not.
var seeds = []string{
	"", " ", "\n", "plain words", "The deposit of 1,250.00 EUR is due on 14 March 2025.", "id=ORD-77120, see docs/plan.md",
	"must never exceed 40%", "不得超过三百元。必须先确认", "ne jamais appeler avant 9:30", "#12 (call c1) x", "- item", "[rein: digest of",
	"From tools, word for word (#n: message n):\n#3 a fact K-12\n- another 9:15\nLessons from errors:\n- x: y",
	`{"ok":false,"error_type":"not_found","message":"no such file"}`, `{"goal":["a",{"b":[[[]]]}],"next_step":"c"}`, `{"goal":"`, `[1,2,`,
	"\xff\xfe\x80", "\u2028\u2029\v\f", strings.Repeat("[", 300), strings.Repeat("a1-", 300), strings.Repeat("，", 200), strings.Repeat("x ", 400),
	"I'm sorry, but I can't", "No prior history.", "e.g. Dr. No. 5 said so. And left.", "https://a.example/?q=1&r=2#s", "€5 £6 $7 -8 +9 .env @me 50% 1,2,3,4",
}

// talked is a short conversation of which everything but the last group leaves.
func talked(said, result, summary, snapshot string) (*window.View, *window.Plan) {
	v := &window.View{Spec: &event.WindowSpec{}, Budget: 4000, Trigger: 3400, Target: 1600, Digest: window.DigestText{Summary: summary, Snapshot: snapshot}}
	add := func(k window.Kind, m message.Message) *window.Entry {
		v.Entries = append(v.Entries, window.Entry{Number: int64(len(v.Entries)), Kind: k, Msg: &m, Tokens: size(&m)})
		return &v.Entries[len(v.Entries)-1]
	}
	add(window.Input, message.NewText(message.User, said))
	for _, id := range []string{"c1", "c2", "c3"} {
		m := message.NewText(message.Assistant, said)
		m.Parts = append(m.Parts, message.Part{Kind: message.ToolCall, ID: id, Name: "look", Args: result})
		add(window.Reply, m)
		e := add(window.Result, message.Result(id, "look", result, id == "c1"))
		e.Call, e.Tool, e.Args, e.Handled = id, "look", result, id == "c1"
	}
	return v, &window.Plan{Upto: 5}
}

// Whatever was said, a snapshot has its share, is the same each time, and is read
// back as it was written.
func FuzzTakeSnapshot(f *testing.F) {
	for i, s := range seeds {
		f.Add(s, seeds[(i+1)%len(seeds)], seeds[(i+5)%len(seeds)], seeds[(i+9)%len(seeds)])
	}
	f.Fuzz(func(t *testing.T, said, result, summary, snapshot string) {
		v, p := talked(said, result, summary, snapshot)
		got := window.TakeSnapshot(v, p, summary)
		if got != window.TakeSnapshot(v, p, summary) {
			t.Error("it is another each time")
		}
		if n := int64((tokens.Estimate{}).Count(got)); n > window.Share(v.Spec, window.BlockDigest, v.Budget) {
			t.Errorf("%d tokens", n)
		}
		d := window.DigestText{Summary: summary, Snapshot: got, Upto: 5}
		lost := window.Missing(v, p, d)
		if n := int64((tokens.Estimate{}).Count(strings.Join(lost, "; "))); n > window.Share(v.Spec, window.BlockDigest, v.Budget)/8+8 {
			t.Errorf("%d tokens are named as missing", n)
		}
		after := carryOut(v, p)
		again := window.TakeSnapshot(after, &window.Plan{Edits: []event.ContextEdit{{Message: 6, Action: window.ActionStub, Text: "x"}}}, after.Digest.Summary)
		for line := range strings.SplitSeq(after.Digest.Snapshot, "\n") {
			if fact := strings.TrimPrefix(line, "- "); fact != line && !strings.Contains(again, fact) {
				t.Errorf("%q is lost when nothing leaves", fact)
			}
		}
	})
}

// Whatever was said, the request for a summary is one that can be sent.
func FuzzSummaryPrompt(f *testing.F) {
	for i, s := range seeds {
		f.Add(s, seeds[(i+1)%len(seeds)], seeds[(i+5)%len(seeds)])
	}
	f.Fuzz(func(t *testing.T, said, result, summary string) {
		v, p := talked(said, result, summary, "")
		got := window.SummaryPrompt(v, p)
		if len(got) > 4000 || utf8.ValidString(said) && utf8.ValidString(result) && !utf8.ValidString(got) {
			t.Errorf("%q", got)
		}
		if n := window.SummaryTokens(v, p); n < 1 || n > v.Budget {
			t.Errorf("%d tokens are asked for", n)
		}
	})
}

// Whatever a model writes, a summary that is taken says something and is smaller
// than what it stands for.
func FuzzCheckSummary(f *testing.F) {
	for i, s := range seeds {
		f.Add(s, seeds[(i+1)%len(seeds)], seeds[(i+5)%len(seeds)])
	}
	f.Fuzz(func(t *testing.T, text, said, result string) {
		v, p := talked(said, result, "", "")
		n := int64((tokens.Estimate{}).Count(text))
		err := window.CheckSummary(text, event.FinishStop, 0, v, p, n)
		if err != nil {
			if len(err.Error()) > 400 || err.Error() == "" {
				t.Errorf("%q", err)
			}
			return
		}
		if strings.TrimSpace(text) == "" {
			t.Error("nothing is taken for a summary")
		}
		after := carryOut(v, p)
		if leaves := v.Total() - after.Total() + sizeOf(after, window.Digest); n >= leaves {
			t.Errorf("%d tokens for %d", n, leaves)
		}
	})
}

func sizeOf(v *window.View, k window.Kind) int64 {
	n := int64(0)
	for i := range v.Entries {
		if v.Entries[i].Kind == k {
			n += v.Entries[i].Tokens
		}
	}
	return n
}

// Whatever the plan tool was given, the block has at most 400 tokens.
func FuzzStateBlock(f *testing.F) {
	for i, s := range seeds {
		f.Add(s, seeds[(i+1)%len(seeds)], uint8(i))
	}
	f.Fuzz(func(t *testing.T, state, text string, many uint8) {
		in := &window.StateIn{State: jsontext.Value(state), Steps: int64(many), Unknown: []string{text}}
		for range many {
			in.Files = append(in.Files, text)
			in.Artifacts = append(in.Artifacts, text)
			in.Resolved = append(in.Resolved, window.ResolvedError{Tool: text, Type: text, Call: text, By: text})
		}
		got := window.StateBlock(in)
		if n := (tokens.Estimate{}).Count(got); n > window.StateTokens {
			t.Errorf("%d tokens: %s", n, got)
		}
		if got != window.StateBlock(in) || !utf8.ValidString(got) {
			t.Errorf("%q", got)
		}
		if _, object, ok := strings.Cut(got, "\n"); ok && !jsontext.Value(object).IsValid() {
			t.Errorf("no JSON: %s", object)
		}
	})
}

// hostile are texts of a megabyte that would take long if anything looked at them
// more often than once.
func hostile() map[string]string {
	const size = 1 << 20
	out := map[string]string{}
	for name, s := range map[string]string{
		"letters": "a", "digits": "7", "dots": ".", "commas": "1,", "slashes": "/a", "brackets": "[{\"a\":", "spaces": " ", "lines": "\n", "quotes": "\\\"",
		"wide": "不", "broken": "\xff\xe3\x80", "equals": "://a=b&", "sentences": "It is so. ", "facts": "Order K-1 of 5 May costs 3.20 EUR and must never be late. ",
		"rein": "[rein: x]\n", "numbers": "12 345\n", "names": "Anna Berg ",
	} {
		out[name] = strings.Repeat(s, size/len(s)+1)[:size]
	}
	return out
}

// BenchmarkHostile takes snapshots of, and checks summaries against, a megabyte of
// each hostile text.
func BenchmarkHostile(b *testing.B) {
	for name, text := range hostile() {
		b.Run(name, func(b *testing.B) {
			v, p := talked("hello", text, "earlier K-1", "")
			b.SetBytes(4 << 20) // two results and two calls leave
			for b.Loop() {
				window.TakeSnapshot(v, p, "earlier K-1")
				_ = window.CheckSummary("K-2 of Anna Berg", event.FinishStop, 0, v, p, 20)
				_ = window.Trim(v)
				_ = window.StateBlock(&window.StateIn{State: jsontext.Value(text), Files: []string{text}})
				_ = window.Constraints(text, 200)
			}
		})
	}
}

// Whatever a model wrote as arguments, what stands for them later is no longer, is
// still an object if it was one, and is not shortened any further.
func FuzzShortArgs(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
		f.Add(`{"a":"` + strings.Repeat(s, 9) + `","b":` + s + `}`)
	}
	f.Fuzz(func(t *testing.T, args string) {
		got := window.ShortArgs(args)
		if len(got) > len(args) || jsontext.Value(args).IsValid() && !jsontext.Value(got).IsValid() {
			t.Errorf("got %q", got)
		}
		if again := window.ShortArgs(got); again != got {
			t.Errorf("%q becomes %q", got, again)
		}
	})
}
