package window_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/window"
)

// conversations is how many random ones each property is tried on.
const conversations = 60

// maker makes random conversations.
type maker struct {
	*rand.Rand
	calls int
}

// view returns a view of a random conversation. Some are of calls and results only,
// some have results without a call and calls without a result, as imported ones may.
func (r *maker) view() *window.View {
	budget := int64(1500 + r.IntN(8_000))
	v := &window.View{
		Spec: &event.WindowSpec{}, Budget: budget, Fixed: r.Int64N(budget / 5), Tail: r.Int64N(100),
		NoSummary: r.IntN(2) == 0, Reach: window.Reach{Search: r.IntN(3) > 0, Page: r.IntN(2) == 0},
	}
	if r.IntN(4) == 0 {
		v.Spec.Keep = int64(1 + r.IntN(12))
	}
	v.Trigger, v.Target = window.Marks(v.Spec, window.MarksIn{Budget: budget, Fixed: v.Fixed, Growth: r.Int64N(800)})
	orphans, bare := r.IntN(4) == 0, r.IntN(3) == 0
	r.add(v, window.Input, message.NewText(message.User, r.text(30)))
	for range r.IntN(40) {
		r.turn(v, orphans, bare)
	}
	return v
}

// turn adds a group, and what may stand between groups.
func (r *maker) turn(v *window.View, orphans, bare bool) {
	said := r.text(r.IntN(80))
	if bare {
		said = ""
	}
	m := message.NewText(message.Assistant, said)
	var results []message.Message
	for range 1 + r.IntN(3)*r.IntN(2) {
		r.calls++
		id := fmt.Sprint("c", r.calls)
		m.Parts = append(m.Parts, message.Part{Kind: message.ToolCall, ID: id, Name: "look", Args: r.args()})
		if !orphans || r.IntN(5) > 0 {
			results = append(results, message.Result(id, "look", r.text(r.IntN(120)*r.IntN(3)), false))
		}
	}
	if !orphans || r.IntN(5) > 0 {
		r.add(v, window.Reply, m)
	}
	for _, m := range results {
		e := r.add(v, window.Result, m)
		e.Call, e.Tool, e.Args, e.Paged = m.ToolCallID, m.ToolName, `{"at":"x"}`, r.IntN(4) > 0
		switch r.IntN(12) {
		case 0:
			e.Failed, e.Handled = true, true
		case 1:
			e.Same = fmt.Sprint("c", r.calls+1)
		case 2:
			e.Newer = fmt.Sprint("c", r.calls+1)
		}
	}
	if bare {
		return
	}
	switch r.IntN(10) {
	case 0:
		r.add(v, window.Input, message.NewText(message.User, r.text(r.IntN(60))))
	case 1:
		r.add(v, window.Notice, message.NewText(message.System, r.text(20)))
	case 2:
		r.add(v, window.Material, message.NewText(message.System, r.text(60)))
	case 3:
		r.add(v, window.Input, message.NewText(message.User, r.text(r.IntN(900)*r.IntN(2))))
	}
}

// args returns arguments, of which some are large and some no JSON.
func (r *maker) args() string {
	switch r.IntN(12) {
	case 0:
		return `{"text":"` + strings.Repeat("all of it ", r.IntN(400)) + `"}`
	case 1:
		return `{"at":` + r.text(8)
	}
	return fmt.Sprintf(`{"at":"%d"}`, r.IntN(900))
}

func (r *maker) add(v *window.View, k window.Kind, m message.Message) *window.Entry {
	n := int64(0)
	for i := range v.Entries {
		n = max(n, v.Entries[i].Number+1)
	}
	v.Entries = append(v.Entries, window.Entry{Number: n, Kind: k, Msg: &m, Tokens: size(&m)})
	return &v.Entries[len(v.Entries)-1]
}

// text returns some n words of all kinds.
func (r *maker) text(n int) string {
	var b strings.Builder
	for range n {
		switch r.IntN(16) {
		case 0:
			fmt.Fprintf(&b, "K%d-%04x", r.IntN(90), r.IntN(1<<16))
		case 1:
			fmt.Fprintf(&b, "%d.%02d EUR", r.IntN(9000), r.IntN(100))
		case 2:
			fmt.Fprintf(&b, "docs/part%d/readme.md", r.IntN(40))
		case 3:
			b.WriteString("must never")
		case 4:
			b.WriteString("最多三个")
		case 5:
			b.WriteString("\xffé\U0001F600")
		case 6:
			b.WriteString(".\n")
			continue
		case 7:
			b.WriteString(`{"a":[1,2],"b":"c"}`)
		default:
			b.WriteString([]string{"the", "order", "Halden", "waits", "for", "a", "Brink", "reply", "of"}[r.IntN(9)])
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// each tries a property on random conversations.
func each(t *testing.T, try func(t *testing.T, r *maker, v *window.View)) {
	for seed := range uint64(conversations) {
		r := &maker{Rand: rand.New(rand.NewPCG(seed, 6))}
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { try(t, r, r.view()) })
	}
}

// carryOut applies a plan as a run does.
func carryOut(v *window.View, p *window.Plan) *window.View {
	s := script{view: *v, plan: *p}
	s.apply("")
	return &s.view
}

// plans are all ways to plan, by name.
func plans() map[string]func(v *window.View) window.Plan {
	m := map[string]func(v *window.View) window.Plan{"trim": window.Trim}
	for _, name := range window.Strategies() {
		s, err := window.For(name)
		if err != nil {
			panic(err)
		}
		m[name] = s.Plan
	}
	return m
}

// Whatever is planned, no call is parted from its result, and nothing that a user
// said leaves.
func TestPlansKeepPairsAndUsers(t *testing.T) {
	each(t, func(t *testing.T, r *maker, v *window.View) {
		v.Forced = r.IntN(5) == 0
		for name, plan := range plans() {
			before := contents(v.Entries)
			p := plan(v)
			after := carryOut(v, &p)
			if got := contents(v.Entries); !slices.Equal(before, got) {
				t.Fatalf("%s changes the view", name)
			}
			checkEdits(t, name, v, &p)
			checkUsers(t, name, v.Entries, after.Entries)
			checkPairs(t, name, v.Entries, after.Entries)
			checkOrder(t, name, after.Entries)
		}
	})
}

func contents(entries []window.Entry) []string {
	out := make([]string, len(entries))
	for i := range entries {
		out[i] = fmt.Sprintf("%d %d %d %v", entries[i].Number, entries[i].Tokens, entries[i].Kind, *entries[i].Msg)
	}
	return out
}

func checkEdits(t *testing.T, name string, v *window.View, p *window.Plan) {
	t.Helper()
	kinds := map[int64]window.Kind{}
	for i := range v.Entries {
		kinds[v.Entries[i].Number] = v.Entries[i].Kind
	}
	last := int64(-1)
	for _, e := range p.Edits {
		kind, ok := kinds[e.Message]
		switch {
		case !ok || e.Message <= last:
			t.Fatalf("%s: an edit of message %d after one of %d", name, e.Message, last)
		case e.Message < p.Upto && kind != window.Input && kind != window.Material:
			t.Fatalf("%s: an edit of message %d, which leaves", name, e.Message)
		case kind == window.Input && e.Action != window.ActionTrim:
			t.Fatalf("%s: %s of what a user said", name, e.Action)
		case kind != window.Reply && e.Action == window.ActionDrop != (e.Text == ""):
			t.Fatalf("%s: %+v", name, e)
		}
		last = e.Message
	}
}

func checkUsers(t *testing.T, name string, before, after []window.Entry) {
	t.Helper()
	users := func(entries []window.Entry) (out []int64) {
		for i := range entries {
			if entries[i].Kind == window.Input {
				out = append(out, entries[i].Number)
			}
		}
		return out
	}
	if b, a := users(before), users(after); !slices.Equal(b, a) {
		t.Fatalf("%s: users' messages were %v and are %v", name, b, a)
	}
}

// checkPairs holds that of a call and its result, where there were both, there are
// both or none.
func checkPairs(t *testing.T, name string, before, after []window.Entry) {
	t.Helper()
	type pair struct{ call, result bool }
	pairs := func(entries []window.Entry) map[string]pair {
		m := map[string]pair{}
		for i := range entries {
			e := &entries[i]
			for k := range e.Msg.Parts {
				if id := e.Msg.Parts[k].ID; id != "" {
					m[id] = pair{true, m[id].result}
				}
			}
			if id := e.Msg.ToolCallID; id != "" {
				m[id] = pair{m[id].call, true}
			}
		}
		return m
	}
	b, a := pairs(before), pairs(after)
	for id, p := range b {
		if now, ok := a[id]; ok && p.call && p.result && now != p {
			t.Fatalf("%s: of call %s there was %+v and is %+v", name, id, p, now)
		}
	}
}

// checkOrder holds that there is one digest, after users' messages only, and that
// turns are in the order in which they were said.
func checkOrder(t *testing.T, name string, entries []window.Entry) {
	t.Helper()
	turns, last := false, int64(-1)
	for i := range entries {
		e := &entries[i]
		if !utf8.ValidString(e.Msg.PlainText()) && e.Kind == window.Digest {
			t.Logf("%s: the digest quotes bytes that are no UTF-8", name)
		}
		switch {
		case e.Kind == window.Digest && turns:
			t.Fatalf("%s: the digest stands among the turns", name)
		case e.Kind == window.Digest || e.Kind == window.Material:
		case e.Number < last:
			t.Fatalf("%s: message %d stands after %d", name, e.Number, last)
		default:
			last = e.Number
		}
		turns = turns || e.Kind != window.Input
	}
}

// Planning again, with nothing added, gives nothing.
func TestPlansAreIdempotent(t *testing.T) {
	each(t, func(t *testing.T, _ *maker, v *window.View) {
		for name, plan := range plans() {
			p := plan(v)
			after := carryOut(v, &p)
			if again := plan(after); !again.Zero() {
				t.Errorf("%s plans again:\n%sthen\n%s", name, show(&p), show(&again))
			}
		}
	})
}

// least is what a context comes down to if all leaves that may: what stands before
// it, what users said, the newest material, the last groups and the digest.
func least(v *window.View, groups int) int64 {
	n := v.Fixed + v.Tail + window.Share(v.Spec, window.BlockDigest, v.Budget)/2
	last := -1
	for i := range v.Entries {
		switch v.Entries[i].Kind {
		case window.Input:
			n += v.Entries[i].Tokens
		case window.Material:
			last = i
		}
	}
	if last >= 0 {
		n += v.Entries[last].Tokens
	}
	for i := len(v.Entries) - 1; i >= 0 && groups > 0; i-- {
		switch k := v.Entries[i].Kind; k {
		case window.Input, window.Material, window.Digest:
		default:
			n += v.Entries[i].Tokens
			if k == window.Reply {
				groups--
			}
		}
	}
	return n
}

// Plans land at their target wherever that can be done without giving up the last
// groups; Trim at the budget, even if it has to shorten what is new.
func TestPlansLand(t *testing.T) {
	landed, trimmed := 0, 0
	each(t, func(t *testing.T, _ *maker, v *window.View) {
		v.Spec.Keep = 0
		if v.Total() < v.Trigger || len(v.Entries) > 0 && v.Entries[0].Kind != window.Input {
			return
		}
		for _, name := range []string{window.Layered, window.Summary, "trim"} {
			if least(v, 3) > v.Target || name == "trim" && v.Total() <= v.Budget {
				continue
			}
			p := plans()[name](v)
			after := carryOut(v, &p)
			if after.Total() > v.Target {
				t.Errorf("%s lands at %d; %d was to be reached, %d could be\n%s", name, after.Total(), v.Target, least(v, 3), show(&p))
			}
			landed++
		}
		p := window.Trim(v)
		if after := carryOut(v, &p); after.Total() > v.Budget && v.Fixed+v.Tail+int64(len(after.Entries))*150 < v.Budget/2 {
			t.Errorf("trimmed to %d of %d\n%s", after.Total(), v.Budget, show(&p))
		}
		trimmed++
	})
	if landed < conversations/10 || trimmed < conversations/5 {
		t.Errorf("only %d plans could land, and %d conversations were too long", landed, trimmed)
	}
}

// After a plan has landed there is room for 0.3 of the budget before the next.
func TestHysteresis(t *testing.T) {
	each(t, func(t *testing.T, r *maker, v *window.View) {
		v.Spec.Keep = 0
		strategy, _ := window.For(window.Layered)
		landed := int64(-1)
		for range 60 {
			r.turn(v, false, true)
			if v.Total() < v.Trigger {
				continue
			}
			p := strategy.Plan(v)
			if p.Zero() {
				continue
			}
			if grown := v.Total() - landed; landed >= 0 && landed <= v.Target && grown < v.Budget*3/10 {
				t.Fatalf("rewritten after %d tokens; the budget is %d", grown, v.Budget)
			}
			v = carryOut(v, &p)
			landed = v.Total()
		}
	})
}

// A snapshot has its share of the budget, and each line of it is what somebody said,
// word for word and with no word cut in two.
func TestSnapshotsQuote(t *testing.T) {
	lines := 0
	each(t, func(t *testing.T, _ *maker, v *window.View) {
		p := window.Plan{Upto: v.Entries[len(v.Entries)-1].Number/2 + 1}
		said := window.DigestText{Snapshot: window.TakeSnapshot(v, &p, "")}
		if share := window.Share(v.Spec, window.BlockDigest, v.Budget); count(said.Snapshot) > share {
			t.Errorf("%d tokens; the share is %d", count(said.Snapshot), share)
		}
		all := ""
		for i := range v.Entries {
			for _, part := range v.Entries[i].Msg.Parts {
				all += part.Text + "\n" + part.Name + " " + part.Args + "\n"
			}
		}
		for line := range strings.SplitSeq(said.Snapshot, "\n") {
			_, fact, ok := strings.Cut(line, " ")
			if !ok || !strings.HasPrefix(line, "#") {
				continue
			}
			if call, rest, ok := strings.Cut(fact, ") "); ok && strings.HasPrefix(call, "(call c") {
				fact = rest
			}
			lines++
			if !quoted(all, fact) {
				t.Errorf("nobody has said %q", fact)
			}
		}
	})
	if lines < conversations {
		t.Errorf("only %d lines", lines)
	}
}

func count(text string) int64 {
	m := message.NewText(message.User, text)
	return size(&m) - 4
}

// quoted reports whether a text holds a quotation that neither begins nor ends in
// the middle of a word.
func quoted(text, quote string) bool {
	word := func(c byte) bool {
		return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	for at := 0; ; {
		i := strings.Index(text[at:], quote)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(quote)
		if (from == 0 || !word(text[from-1]) || !word(text[from])) && (to == len(text) || !word(text[to-1]) || !word(text[to])) {
			return true
		}
		at = from + 1
	}
}
