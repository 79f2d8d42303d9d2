package parse_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"rein.example/rein/dialect"
	"rein.example/rein/message"
	"rein.example/rein/parse"
)

// all joins what a stream shows of pieces.
func streamed(in parse.Input, pieces ...string) parse.Shown {
	st := parse.NewStream(in)
	var all parse.Shown
	add := func(s parse.Shown) {
		all.Text += s.Text
		all.Reasoning += s.Reasoning
	}
	for _, p := range pieces {
		add(st.Feed(p))
	}
	add(st.End())
	return all
}

// byBytes returns what is shown after each byte, from none on.
func byBytes(in parse.Input, text string) []parse.Shown {
	st := parse.NewStream(in)
	out := make([]parse.Shown, 1, len(text)+1)
	for i := range len(text) {
		s := st.Feed(text[i : i+1])
		last := out[i]
		out = append(out, parse.Shown{Text: last.Text + s.Text, Reasoning: last.Reasoning + s.Reasoning})
	}
	return out
}

// halfClosed reports whether a text has a mark that may close reasoning which the
// prompt had opened.
func halfClosed(text string) bool {
	text = strings.NewReplacer(" ", "", "\t", "").Replace(strings.ToLower(text))
	for _, m := range dialect.Thinking() {
		if m.Half && strings.Contains(text, strings.ToLower(strings.ReplaceAll(m.Close, " ", ""))) {
			return true
		}
	}
	return false
}

// promisesOfStream checks all that a stream promises of a text.
func promisesOfStream(t *testing.T, in parse.Input, text string, splits []int) {
	t.Helper()
	m := message.NewText(message.Assistant, text)
	in.Message = &m
	r := parse.Parse(in)
	whole := streamed(in, text)
	want := parse.Shown{Text: strings.TrimSpace(r.Text), Reasoning: strings.TrimSpace(r.Reasoning)}
	if whole != want && !(halfClosed(text) && strings.HasSuffix(whole.Text, want.Text)) {
		t.Fatalf("of\n%q\nis shown\n%q\n%q\nwant\n%q\n%q", text, whole.Text, whole.Reasoning, want.Text, want.Reasoning)
	}
	bytes := byBytes(in, text)
	for _, k := range splits {
		if k < 0 || k > len(text) {
			continue
		}
		st := parse.NewStream(in)
		if got := st.Feed(text[:k]); got != bytes[k] {
			t.Fatalf("of the %d bytes %q is shown %q, byte by byte %q", k, text[:k], got, bytes[k])
		}
	}
	var each []string
	for i := range len(text) {
		each = append(each, text[i:i+1])
	}
	if got := streamed(in, each...); got != whole {
		t.Fatalf("of %q is shown byte by byte\n%q, at once\n%q", text, got, whole)
	}
}

// Every text of the test cases is shown as it is read, however it is cut up.
func TestStreamOfEveryCase(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txt")
	n := 0
	for _, file := range files {
		for _, k := range load(t, file) {
			in := k.reply(t)
			if in.Message.Calls() > 0 {
				continue
			}
			n++
			t.Run(filepath.Base(file)+"/"+k.name, func(t *testing.T) {
				text := in.Message.PlainText()
				var splits []int
				for i := range len(text) + 1 {
					splits = append(splits, i)
				}
				promisesOfStream(t, in, text, splits)
			})
		}
	}
	if n < 50 {
		t.Errorf("only %d texts", n)
	}
}

// So are the recorded replies of real models.
func TestStreamOfRecordedReplies(t *testing.T) {
	for _, r := range recordings(t) {
		t.Run(r.Case, func(t *testing.T) {
			promisesOfStream(t, r.input(t), r.Text, []int{0, 1, len(r.Text) / 3, len(r.Text) / 2, len(r.Text) - 1, len(r.Text)})
		})
	}
}

// FuzzStream cuts texts in two and into bytes.
func FuzzStream(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		for _, k := range load(f, file) {
			if text := k.reply(f).Message.PlainText(); text != "" {
				f.Add(text, uint16(len(text)/2), "")
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string, split uint16, dialect string) {
		in := inputOf("")
		in.Dialect = dialect
		if split%7 == 3 {
			in.Tools, in.AnyName = nil, true
		}
		promisesOfStream(t, in, text, []int{int(split) % (len(text) + 1), len(text)})
	})
}

// fragments are what random texts are put together of.
func fragments() []string {
	out := []string{"word", " ", "\n", "read_file", "get_now", "list_dir", ".", ",", "`", "```", "```json", "```xml\n", "\n```\n", "{", "}", "[", "]", "<", ">", ">>>", "all\n", "&lt;",
		`{"name":"get_now","arguments":{}}`, `{"name": "no_tool", "arguments": {}}`, `{"id": 1}`, `[1, 2]`, `"`, `{"name": "read_file"`, `, "arguments": {"path": "a.txt"}}`, `[get_now()]`, "[get_now(",
		"Thought: ", "Action: get_now", "\nAction Input: {}", "Final Answer: ", "Observation: 1", "**", "# ", "> ", "<get_now>", "</get_now>", "<read_file><path>a</path></read_file>",
		"<div>", "call:get_now{}", "é", "\u00a0", "\xc3", "to=functions.get_now", "analysis", "final", "assistant", "\n\n", "x = [0, 1)", "'", "\\", "0", "-", "functools", "function call", "\t",
	}
	for _, m := range dialect.Thinking() {
		out = append(out, m.Open, m.Close)
	}
	for _, e := range dialect.Echoes() {
		out = append(out, e.Open)
	}
	out = append(out, "<think>", "</think>", "<think>", "</think>", "<Think >", "</THINK>", "</think ", "</refl",
		"<!--", "-->", "<code>", "</code>", "<pre>", "</pre>", "\n\n    ", "\n\t", "\n> ", "`<", ">`", "“")
	for _, d := range dialect.All() {
		out = append(out, d.Example)
		for _, list := range [][]string{d.Open, d.Close, d.Wrap} {
			out = append(out, list...)
			for _, s := range list {
				out = append(out, s[:len(s)/2])
			}
		}
	}
	return append(out, dialect.Control()...)
}

// Texts put together at random are shown as they are read.
func TestStreamOfRandomTexts(t *testing.T) {
	const seed = 1
	texts := 300
	if os.Getenv("REIN_LONG") != "" {
		texts = 20_000
	}
	list := fragments()
	random := rand.New(rand.NewPCG(seed, 0))
	for n := range texts {
		var b strings.Builder
		for range random.IntN(12) + 1 {
			b.WriteString(list[random.IntN(len(list))])
		}
		in, text := inputOf(""), b.String()
		switch n % 8 {
		case 0:
			in.Tools, in.AnyName = nil, true
		case 1:
			in.Tools = nil
		case 2:
			in.Dialect = dialect.All()[random.IntN(len(dialect.All()))].ID
		}
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			promisesOfStream(t, in, text, []int{random.IntN(len(text) + 1), random.IntN(len(text) + 1)})
		})
	}
}

// TestStream feeds the pieces of each case of the file, a "|" apart, and prints
// what is shown after each:
//
//	"what was fed" -> "text" (reasoning "…")
func TestStream(t *testing.T) {
	const file = "testdata/stream/show.txt"
	var out strings.Builder
	for _, k := range load(t, file) {
		in, pieces := pieces(t, k)
		got := shownOf(in, pieces)
		fmt.Fprintf(&out, "== %s\n%s\n=>\n%s\n\n", k.name, k.input, got)
		if *update {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			if got != k.want {
				t.Errorf("got\n%s\nwant\n%s", got, k.want)
			}
			text := strings.Join(pieces, "")
			promisesOfStream(t, in, text, []int{len(text) / 3, len(text) / 2})
		})
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.TrimRight(out.String(), "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// pieces returns the input of a case and the pieces of its text.
func pieces(t *testing.T, k kase) (parse.Input, []string) {
	var pieces []string
	var rest []string
	for line := range strings.SplitSeq(k.input, "\n") {
		text, ok := strings.CutPrefix(line, "| ")
		if !ok {
			rest = append(rest, line)
			continue
		}
		for piece := range strings.SplitSeq(text+"\n", "|") {
			pieces = append(pieces, piece)
		}
	}
	// The marks of some dialects have bars.
	for i := 0; i+1 < len(pieces); {
		a, b := pieces[i], pieces[i+1]
		if strings.HasSuffix(a, "<") || strings.HasPrefix(b, ">") || strings.Contains(a, "<|") && !strings.Contains(a, "|>") {
			pieces[i] = a + "|" + b
			pieces = append(pieces[:i+1], pieces[i+2:]...)
			continue
		}
		i++
	}
	return kase{name: k.name, input: strings.Join(rest, "\n")}.reply(t), pieces
}

func shownOf(in parse.Input, pieces []string) string {
	var out []string
	add := func(fed string, s parse.Shown) {
		line := fed + " ->"
		if s.Reasoning != "" {
			line += fmt.Sprintf(" reasoning %q", s.Reasoning)
		}
		if s.Text != "" {
			line += fmt.Sprintf(" %q", s.Text)
		}
		out = append(out, line)
	}
	st := parse.NewStream(in)
	for _, p := range pieces {
		add(fmt.Sprintf("%q", p), st.Feed(p))
	}
	add("end", st.End())
	return strings.Join(out, "\n")
}

// A text that is longer than what is searched is shown as it is.
func TestStreamOfALongText(t *testing.T) {
	head := "<think>hm</think>Well. <tool_call>\n"
	long := strings.Repeat("word ", parse.MaxText/5)
	st := parse.NewStream(inputOf(""))
	first := st.Feed(head)
	if first.Text != "Well." && first.Text != "" || first.Reasoning != "hm" {
		t.Errorf("first %q", first)
	}
	all := first.Text + st.Feed(long).Text + st.Feed("<tool_call>{").Text + st.End().Text
	if want := "Well. <tool_call>\n" + long + "<tool_call>{"; all != want {
		t.Errorf("%d bytes, want %d: %.60q … %q", len(all), len(want), all, all[max(0, len(all)-20):])
	}
}
