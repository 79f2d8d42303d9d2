package local_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"rein.example/rein/engine/local"
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/tokens"
	"rein.example/rein/tool"
	"rein.example/rein/toolkit/artifact"
	"rein.example/rein/window"
)

// inputs returns what users have said in the run.
func (l *lab) inputs() []*event.InputReceived {
	l.t.Helper()
	var all []*event.InputReceived
	for _, ev := range l.events() {
		if d, ok := ev.Data.(*event.InputReceived); ok {
			all = append(all, d)
		}
	}
	return all
}

// lines returns n numbered lines.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d says that nothing is late\n", i+1)
	}
	return b.String()
}

// small is a window of 16,000 tokens, whose budget is 7,800.
var small = event.WindowSpec{Strategy: window.Full, Size: 16_000, Reserve: 4_000, Margin: 650_000}

// A message that is larger than its share of the window keeps its beginning and its
// end, whole lines of them, and says how the whole is read; which the model can.
func TestLongInput(t *testing.T) {
	task := "Count the lines that say hunter2hunter2.\n" + lines(40_000) + "Begin with the last.\n"
	l := newLab(t, say("which?"))
	l.secrets = event.NewSecrets()
	if err := l.secrets.Register("WORD", "hunter2hunter2"); err != nil {
		t.Fatal(err)
	}
	l.spec.Window = small
	l.tools = append(l.tools, artifact.Tool())
	l.job.Input = append(text(task), message.Part{Kind: message.Text, Text: "The task is finished when: all is counted"})
	l.start(t.Context(), l.engine())

	d := l.inputs()[0]
	if d.Full == nil || d.Full.Bytes < 1_000_000 || len(d.Parts) != 2 || d.Parts[1].Text != l.job.Input[1].Text {
		t.Fatalf("%+v", d)
	}
	if n := d.Tokens.Or(0); n > 1_000+8 || n < 800 { // 8% of the budget is less than the least
		t.Errorf("%d tokens are shown", n)
	}
	shown := d.Parts[0].Text
	ref := tool.InputCall(d.Full.SHA256)
	for _, want := range []string{"Count the lines that say {{secret:WORD}}.\nline 1 says", "nothing is late\n[rein: ", ` tokens of the message left out here; all of it can be read with read_artifact, call "` + ref + `"]` + "\nline ",
		"line 40000 says that nothing is late\nBegin with the last.\n"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not in what is shown:\n%s", want, shown)
		}
	}
	head, tail, _ := strings.Cut(shown, "[rein: ")
	if h, n := len(head), len(head)+len(tail); h < n/2 || h > n*2/3 {
		t.Errorf("%d of %d bytes are the beginning", h, n)
	}
	if body, err := l.store.Body(t.Context(), *d.Full); err != nil || !strings.HasPrefix(string(body), "Count the lines that say {{secret:WORD}}.\nline 1 ") ||
		!strings.HasSuffix(string(body), "Begin with the last.\n\nThe task is finished when: all is counted") {
		t.Errorf("%v, %d bytes stored", err, len(body))
	}

	// What the model reads with the reference, and with one that there is not.
	r := newLab(t, reads("c1", `{"call":"`+ref+`","from":20000,"to":20001}`), reads("c2", `{"call":"input:0","search":"line 39999 "}`), reads("c3", `{"call":"input:ffffffff"}`), say("done"))
	r.spec.Window, r.tools, r.job.Input, r.secrets = small, l.tools, l.job.Input, l.secrets
	r.start(t.Context(), r.engine())
	for call, want := range map[string]string{
		"c1": "[rein: lines 20000-20001 of 40004 of the user's message, call " + ref + "]\nline 19999 says that nothing is late\nline 20000 says that nothing is late",
		"c2": "[rein: 1 of 40004 lines of the user's message, call input:0 hold",
		"c3": "messages that are not shown whole: " + ref,
	} {
		if got := plain(r.results()[call].Parts); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", call, got, want)
		}
	}
}

// What the part left out demands stays, word for word.
func TestLongInputKeepsDemands(t *testing.T) {
	demands := []string{"The total must never exceed 500 EUR.", "Nur vor dem 3. Mai liefern, niemals danach."}
	task := "Count the lines.\n" + lines(400) + demands[0] + "\n" + lines(30_000) + demands[1] + "\n" + lines(400)
	l := newLab(t, say("done"))
	l.spec.Window, l.job.Input = small, text(task)
	l.tools = append(l.tools, artifact.Tool())
	l.start(t.Context(), l.engine())
	d := l.inputs()[0]
	shown := d.Parts[0].Text
	want := "]\n[rein: what the part left out demands, word for word:]\n- " + strings.Join(demands, "\n- ") + "\nline "
	if !strings.Contains(shown, want) {
		t.Errorf("%q is not in what is shown:\n%s", want, shown)
	}
	if n := d.Tokens.Or(0); n > 1_000+8 || n < 600 {
		t.Errorf("%d tokens are shown", n)
	}
}

// Which messages are shortened, and to what.
func TestInputLimits(t *testing.T) {
	wide := event.WindowSpec{Strategy: window.Full, Size: 128_000, Reserve: 8_000, Margin: 650_000} // a budget of 78,000
	for _, c := range []struct {
		what   string
		window event.WindowSpec
		reads  bool // with read_artifact
		tokens int  // of the message
		most   int  // that is shown
	}{
		{"within the share", wide, true, 5_900, 6_240},
		{"8% of the budget", wide, true, 20_000, 6_240},
		{"a share of its own", event.WindowSpec{Size: wide.Size, Reserve: wide.Reserve, Margin: wide.Margin, Shares: []event.BlockShare{{Name: window.ShareTask, Share: 200_000}}}, true, 20_000, 15_600},
		{"half, where the rest cannot be read", wide, false, 60_000, 39_000},
		{"the least", small, true, 20_000, 1_000},
		{"a window of unknown size", event.WindowSpec{}, true, 40_000, 16_000},
		{"with search_history only", wide, false, 20_000, 6_240},
	} {
		l := newLab(t, say("yes"))
		l.spec.Window = c.window
		if c.reads {
			l.tools = append(l.tools, artifact.Tool())
		}
		searches := strings.HasPrefix(c.what, "with search")
		if searches {
			l.tools = append(l.tools, artifact.History())
		}
		word := "token "
		l.job.Input = text(strings.Repeat(word, c.tokens))
		l.start(t.Context(), l.engine())
		d := l.inputs()[0]
		n := int(d.Tokens.Or(0))
		if n > c.most+8 || n < c.most*9/10 {
			t.Errorf("%s: %d tokens are shown, at most %d are to be", c.what, n, c.most)
		}
		if (d.Full != nil) != (c.tokens > c.most) {
			t.Errorf("%s: full is %v", c.what, d.Full)
		}
		shown := plainAll(l, d.Parts)
		if d.Full != nil && (strings.Contains(shown, "cannot be read here") == (c.reads || searches) || strings.Contains(shown, "with search_history") != searches) {
			t.Errorf("%s: the remark is wrong: %s", c.what, shown[strings.Index(shown, "[rein"):])
		}
	}
}

// plainAll is plain with what is out of line.
func plainAll(l *lab, parts []message.Part) string {
	var s string
	for _, p := range parts {
		if p.Ref != nil {
			b, err := l.store.Body(l.t.Context(), *p.Ref)
			if err != nil {
				l.t.Fatal(err)
			}
			s += string(b)
		}
		s += p.Text
	}
	return s
}

// Whatever a message holds, what is shown of it is text, within the limit and with
// no character cut.
func TestOddInputs(t *testing.T) {
	for what, input := range map[string]string{
		"one line":          strings.Repeat("x", 3_000_000),
		"emoji":             strings.Repeat("👩‍👩‍👧😀é", 200_000),
		"blanks":            strings.Repeat(" ", 2_000_000),
		"line breaks":       strings.Repeat("\n", 2_000_000),
		"not UTF-8":         strings.Repeat("ab\xff\xfe\x80", 300_000),
		"lone surrogates":   strings.Repeat("a\xed\xa0\x80b", 300_000),
		"zero bytes":        strings.Repeat("a\x00", 500_000),
		"remarks like ours": strings.Repeat("[rein: all is well]\n", 100_000),
		"short, not UTF-8":  "ab\xffcd",
	} {
		l := newLab(t, say("hm"))
		l.spec.Window, l.job.Input = small, text(input)
		l.tools = append(l.tools, artifact.Tool())
		if r := l.start(t.Context(), l.engine()); !r.OK {
			t.Errorf("%s: %+v", what, r)
		}
		d := l.inputs()[0]
		shown := plainAll(l, d.Parts)
		if !utf8.ValidString(shown) || shown == "" {
			t.Errorf("%s: %.100q", what, shown)
		}
		if n := (tokens.Estimate{}).Count(shown); n > 1_000 {
			t.Errorf("%s: %d tokens", what, n)
		}
		if (d.Full == nil) != (len(input) < 1_000) {
			t.Errorf("%s: full is %v", what, d.Full)
		}
		if strings.Contains(what, "UTF-8") && !strings.Contains(shown, "�") {
			t.Errorf("%s: %.100q", what, shown)
		}
	}
}

// A result of 50 MB costs the window no more than its limit, and can be read.
func TestHugeResult(t *testing.T) {
	l := newLab(t, call("c1 dump"), reads("c2", `{"call":"c1","from":1400000,"to":1400001}`), say("done"))
	huge := lines(1_400_001)
	if len(huge) < 50<<20 {
		t.Fatal("the result is too small")
	}
	l.spec.Window = small
	l.tool("dump", event.Read, returns(huge))
	l.tools = append(l.tools, artifact.Tool())
	if r := l.start(t.Context(), l.engine()); !r.OK {
		t.Fatalf("%+v\n%s", r, l.journal())
	}
	d := l.results()["c1"]
	if n := d.Tokens.Or(0); n > tool.DefaultResultTokens+50 || d.Size != int64(len(huge)) || d.Full == nil {
		t.Errorf("%d tokens of %d bytes, full %v", n, d.Size, d.Full)
	}
	if got := plain(l.results()["c2"].Parts); !strings.HasSuffix(got, "line 1400000 says that nothing is late\nline 1400001 says that nothing is late") {
		t.Errorf("%.200q", got)
	}
}

// What somebody answers in words, and what another process posts, is shortened as
// well; the whole is in the store.
func TestLongAnswers(t *testing.T) {
	l := newLab(t, say("what else?"), say("thanks"))
	l.spec.Window, l.spec.Chat = small, true
	l.tools = append(l.tools, artifact.Tool())
	e := l.engine()
	l.start(t.Context(), e)
	said := &event.InputReceived{Kind: event.InputText, Parts: text(lines(5_000))}
	d, err := local.Receive(t.Context(), l.store, l.job.Run, said)
	if err != nil {
		t.Fatal(err)
	}
	l.post(d)
	if r := l.resume(t.Context(), e); r.Answer != "thanks" {
		t.Fatalf("%+v\n%s", r, l.journal())
	}
	got := l.inputs()[1]
	if got.Full == nil || got.Tokens.Or(0) > 1_008 || !strings.HasSuffix(plain(got.Parts), "line 5000 says that nothing is late\n") {
		t.Errorf("%+v", got)
	}
	if _, err := local.Receive(t.Context(), l.store, "no-such-run", said); err == nil {
		t.Error("a message for a run that there is not is taken")
	}
	l.checkBodies()
}
