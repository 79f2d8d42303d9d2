package tool_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"rein.example/rein/tool"
)

// What users of other harnesses have reported about results that were cut, as
// tests.

// A cut that falls into a character of several bytes leaves no half of it.
func TestCutKeepsCharactersWhole(t *testing.T) {
	for pad := range 8 {
		for _, keep := range []tool.Keep{tool.Head, tool.Tail, tool.Mixed} {
			for _, text := range []string{strings.Repeat("x", 400-pad) + "👩‍🔧", strings.Repeat("👩‍🔧", 300)[pad:], `{"a":"` + strings.Repeat("x", pad) + strings.Repeat("😀", 400) + `"}`} {
				parts, info := tool.Shape(&tool.Result{Parts: tool.Text(text).Parts, Keep: keep}, view(100))
				if got := parts[0].Text; !utf8.ValidString(got) || !info.Cut || strings.Contains(got[1:], "\uFFFD") && utf8.ValidString(text) {
					t.Errorf("%q, keeping %q: %q", text, keep, got)
				}
			}
		}
	}
}

// A result of many times the window is shown within the limit of its tool, however
// many there are, and the whole of it is what is stored.
func TestHugeResults(t *testing.T) {
	for _, text := range []string{numbered(1, 40_000), strings.Repeat("word ", 60_000), `{"rows":[` + strings.Repeat(`{"a":"b"},`, 30_000) + `{}]}`} {
		parts, info := tool.Shape(tool.Text(text), view(2000))
		if n := words(parts[0].Text); n > 2000 || n < 1000 || info.Full != text || info.Size != int64(len(text)) {
			t.Errorf("%d tokens of %d bytes are shown: %.80q", n, len(text), parts[0].Text)
		}
	}
}

// Nothing is left out inside of a line without a mark that says how much, and that
// no file will ever hold: a tool that writes refuses it.
func TestNoSilentEllipsis(t *testing.T) {
	text := fmt.Sprintf("key = %s\nother = 1\n", strings.Repeat("0123456789", 300))
	parts, _ := tool.Shape(tool.Text(text), view(100))
	got := parts[0].Text
	if !strings.Contains(got, "[rein: cut: ") || !strings.Contains(got, " of 3006 bytes of this line shown]") || strings.Contains(got, "…") || strings.Contains(got, "...") {
		t.Errorf("%q", got)
	}
	if !tool.HasNotice(got) {
		t.Error("it can be written to a file")
	}
}
