package tool_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

// words counts a token for each four bytes, as a tokenizer might.
func words(s string) int { return (len(s) + 3) / 4 }

// view is for results of a tool that declares nothing but its limit.
func view(limit int) *tool.View {
	return &tool.View{Spec: &event.ToolSpec{Name: "look", Effect: event.Read, ResultTokens: int64(limit)}, Count: words}
}

func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestShape(t *testing.T) {
	image := message.Part{Kind: message.Image, URL: "https://example.org/a.png"}
	for _, test := range []struct {
		name   string
		result *tool.Result
		limit  int
		want   string // "…" stands for whatever is between
		cut    bool
	}{
		{"short", tool.Text("hello\nworld"), 100, "hello\nworld", false},
		{"nothing", &tool.Result{}, 100, "The tool succeeded; it returned nothing.", false},
		{"nil", nil, 100, "The tool succeeded; it returned nothing.", false},
		{"two texts", &tool.Result{Parts: []message.Part{{Kind: message.Text, Text: "a"}, {Kind: message.Text, Text: "b"}}}, 100, "a\nb", false},
		{"head", tool.Text(numbered(1, 100)), 40, "[rein: lines 1-10 of 100 shown, of 792 bytes in all; for the rest narrow the call]\nline 1\n…line 10", true},
		{"tail", &tool.Result{Parts: tool.Text(numbered(1, 100)).Parts, Keep: tool.Tail}, 40, "[rein: the last 8 of 100 lines shown, of 792 bytes in all; for the rest narrow the call]\nline 93\n…line 100", true},
		{"one long line", tool.Text(strings.Repeat("é", 1000)), 50, "[rein: the beginning of line 1, of 1 line shown, …]\né…é[rein: cut: 50 of 2000 bytes of this line shown]", true},
		{"its end", &tool.Result{Parts: tool.Text(strings.Repeat("é", 1000)).Parts, Keep: tool.Tail}, 50, "[rein: the end of the last line, of 1 line shown, …]\n[rein: cut: the last 40 of 2000 bytes of this line follow]é…é", true},
		{"binary", tool.Text("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00"), 100, "[rein: the result is not text but 13 bytes of binary data (an ELF program), which are not shown]", true},
		{"a few bad bytes", tool.Text("caf\xe9 and a long text after it\n"), 100, "[rein: all 1 line shown; 1 byte that is not text is shown as \uFFFD]\ncaf\uFFFD and a long text after it\n", true},
		{"bad and long", tool.Text("\xe9" + numbered(1, 100)), 40, "[rein: lines 1-5 of 100 shown, …; 1 byte that is not text is shown as \uFFFD; for the rest narrow the call]\n\uFFFDline 1\n…line 5", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			parts, info := tool.Shape(test.result, view(test.limit))
			got := parts[0].Text
			rest := got
			for i, piece := range strings.Split(test.want, "…") {
				at := strings.Index(rest, piece)
				if at < 0 || i == 0 && at > 0 {
					t.Fatalf("got %q\nwant %q", got, test.want)
				}
				rest = rest[at+len(piece):]
			}
			if rest != "" && !strings.HasSuffix(test.want, "…") && !strings.HasSuffix(got, test.want[strings.LastIndex(test.want, "…")+len("…"):]) {
				t.Errorf("got %q\nwant %q", got, test.want)
			}
			if info.Cut != test.cut || info.Cut == (info.Full == "") || info.Shown != int64(len(got)) {
				t.Errorf("info %+v", info)
			}
			if words(got) > test.limit {
				t.Errorf("%d tokens of at most %d", words(got), test.limit)
			}
		})
	}
	parts, info := tool.Shape(&tool.Result{Parts: []message.Part{image, {Kind: message.Text, Text: numbered(1, 100)}}}, view(40))
	if len(parts) != 2 || parts[1].URL != image.URL || !info.Cut {
		t.Errorf("with an image: %+v", parts)
	}
	if parts, _ := tool.Shape(&tool.Result{Parts: []message.Part{image}}, view(40)); len(parts) != 1 || parts[0].URL != image.URL {
		t.Errorf("only an image: %+v", parts)
	}
}

// TestShapeKeepsSeenTrue: what was cut away was not seen.
func TestShapeKeepsSeenTrue(t *testing.T) {
	read := func(body string, n int64) *tool.Result {
		heading := func(first, last int64) string {
			return tool.Notice(fmt.Sprintf("lines %d-%d of 500 of a.txt", first, last))
		}
		return &tool.Result{
			Parts: tool.Text(heading(101, 100+n) + "\n" + body).Parts,
			Seen:  []event.Seen{{Resource: "a.txt", Version: "v", From: 101, To: 100 + n, Total: 500}, {Resource: "b", Wrote: true, From: 101}},
			Lines: &tool.Lines{First: 101, Heading: heading},
		}
	}
	r := read(numbered(101, 200), 100)
	parts, info := tool.Shape(r, view(40))
	got := parts[0].Text
	if want := "[rein: lines 101-113 of 500 of a.txt]\nline 101\n"; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "line 113") || !info.Cut {
		t.Errorf("got %q", got)
	}
	if r.Seen[0].To != 113 || r.Seen[1].From != 101 {
		t.Errorf("seen %+v", r.Seen)
	}
	r = read(numbered(101, 103), 3)
	if parts, info = tool.Shape(r, view(40)); info.Cut || r.Seen[0].To != 103 || !strings.HasSuffix(parts[0].Text, "line 103\n") {
		t.Errorf("short: %q, %+v", parts[0].Text, r.Seen)
	}
	r = read(strings.Repeat("x", 1000)+"\n", 1)
	parts, _ = tool.Shape(r, view(40))
	if got := parts[0].Text; !strings.HasPrefix(got, "[rein: lines 101-100 of 500 of a.txt]\nxxx") || r.Seen[0].From != 0 || r.Seen[0].To != 0 {
		t.Errorf("long line: %q, %+v", got, r.Seen)
	}
}

// FuzzShape: whatever comes out is valid, within the limit, and cut only with a
// word about it.
func FuzzShape(f *testing.F) {
	f.Add("a\nb\nc\n", 50, false)
	f.Add(strings.Repeat("😀", 100)+"\n\n\n", 60, true)
	f.Add("\xff\x00a", 60, true)
	f.Add(strings.Repeat("x\n", 1000), 100, false)
	f.Fuzz(func(t *testing.T, text string, limit int, tail bool) {
		if limit < 60 || limit > 5000 {
			return
		}
		keep := tool.Head
		if tail {
			keep = tool.Tail
		}
		parts, info := tool.Shape(&tool.Result{Parts: tool.Text(text).Parts, Keep: keep}, view(limit))
		got := parts[0].Text
		if !utf8.ValidString(got) || words(got) > limit || got == "" {
			t.Fatalf("%q becomes %q: %d tokens of %d", text, got, words(got), limit)
		}
		if got != text && text != "" && (!info.Cut || info.Full != text || !strings.HasPrefix(got, "[rein: ")) {
			t.Fatalf("%q becomes %q, %+v", text, got, info)
		}
	})
}
