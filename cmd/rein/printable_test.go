package main

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

func TestPrintable(t *testing.T) {
	for _, c := range []struct{ text, block, line string }{
		{"plain words", "plain words", "plain words"},
		{"two\n\tlines\r\n", "two\n\tlines\n", "two lines"},
		{"\x1b[31mred\x1b]0;title\x07", `\u001b[31mred\u001b]0;title\u0007`, `\u001b[31mred\u001b]0;title\u0007`},
		{"back\rspace\b\x7f\x00", `back\rspace\u0008\u007f\u0000`, `back space\u0008\u007f\u0000`},
		{"C1 \u009b31m", `C1 \u009b31m`, `C1 \u009b31m`},
		{"bidi \u202egpj.exe \u2066", `bidi \u202egpj.exe \u2066`, `bidi \u202egpj.exe \u2066`},
		{"unseen a\u200bb\u00ad\ufeff\u3164", `unseen a\u200bb\u00ad\ufeff\u3164`, `unseen a\u200bb\u00ad\ufeff\u3164`},
		{"tags \U000e0041", `tags \udb40\udc41`, `tags \udb40\udc41`},
		{"a\u200db", `a\u200db`, `a\u200db`},
		{"no UTF-8 \xff\x9b", `no UTF-8 \xff\x9b`, `no UTF-8 \xff\x9b`},
		{"line\u2028ends\u0085here", `line\u2028ends\u0085here`, "line ends here"},
		// Text of all sorts stays what it is.
		{"Grüße, 注文, سلام, नमस्ते, 👩‍💻 ❤️", "Grüße, 注文, سلام, नमस्ते, 👩‍💻 ❤️", "Grüße, 注文, سلام, नमस्ते, 👩‍💻 ❤️"},
		{"می\u200cخواهم", "می\u200cخواهم", "می\u200cخواهم"},
	} {
		if got := printable(c.text); got != c.block {
			t.Errorf("printable(%q) = %q, want %q", c.text, got, c.block)
		}
		if got := clip(c.text, 200); got != c.line {
			t.Errorf("clip(%q) = %q, want %q", c.text, got, c.line)
		}
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{
		{"exactly", 7, "exactly"},
		{"one more", 7, "one mo…"},
		{"  spaces \n  about  ", 20, "spaces about"},
		{"注文書", 6, "注文書"},
		{"注文書", 5, "注文…"},
		{"注文書", 4, "注…"},
		{"ab\x1b[2J", 6, "ab…"},
		{strings.Repeat("x", 1<<20), 3, "xx…"},
		{"", 5, ""},
	} {
		if got := clip(c.text, c.columns); got != c.want {
			t.Errorf("clip(%.20q, %d) = %q, want %q", c.text, c.columns, got, c.want)
		}
	}
	// Marks that take no column do not make a line endless.
	if got := clip("a"+strings.Repeat("\u0301", 1<<20), 10); utf8.RuneCountInString(got) > 41 {
		t.Errorf("%d marks on one line", utf8.RuneCountInString(got))
	}
}

// What a format puts together is printable, whatever its arguments are made of;
// only what was painted keeps its colours.
func TestFormat(t *testing.T) {
	type word string
	a := &app{shows: true, env: func(string) string { return "" }}
	evil := "x\x1b[2J"
	got := format("%s %s %v %d %s %s", evil, word(evil), &exit{err: failed(nil)}, 3, []byte(evil), a.paint(red, evil))
	const want = `x\u001b[2J x\u001b[2J exit code 1 3 x\u001b[2J ` + "\x1b[31m" + `x\u001b[2J` + "\x1b[0m"
	if string(got) != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// harmless fails if a text has anything that a terminal would obey.
func harmless(t *testing.T, what, text string) {
	t.Helper()
	for i, r := range text {
		if r != '\n' && r != '\t' && r != 0x200c && r != 0x200d &&
			unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			t.Errorf("%s has %U at %d: %q", what, r, i, text[max(0, i-40):min(len(text), i+40)])
			return
		}
	}
	if !utf8.ValidString(text) {
		t.Errorf("%s is not UTF-8", what)
	}
}

func FuzzPrintable(f *testing.F) {
	for _, s := range []string{"", "a\x1b[31mb", "\u202e\u200d", "注\u009b文", "\xff\r\n", "👩‍💻", `{"a":"\u009b"}`} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, text string, columns int) {
		columns = 1 + int(uint(columns)%300)
		block, line := printable(text), clip(text, columns)
		harmless(t, "block", block)
		harmless(t, "line", line)
		if strings.ContainsAny(line, "\n\t") {
			t.Errorf("clip(%q) has several lines: %q", text, line)
		}
		width := 0
		for _, r := range line {
			width += runeWidth(r)
		}
		if width > columns {
			t.Errorf("clip(%q, %d) is %d wide: %q", text, columns, width, line)
		}
		// JSON stays the same JSON.
		var before, after any
		if json.Unmarshal([]byte(text), &before) == nil && !strings.Contains(text, "\r") {
			if err := json.Unmarshal([]byte(block), &after); err != nil {
				t.Errorf("printable(%q) is no JSON any more: %v", text, err)
			}
		}
	})
}
