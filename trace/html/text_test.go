package html

import (
	"html"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// FuzzText looks for a text of which something stands on a page that is more than text,
// that is not seen, or that is missing without a word.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "plain", "<b>&amp;\"'", "\x1b[2J\x00\x9b", "a\u202eb\u2066", "\xff\xc3(", "ü東👩\u200d👩", "a\r\nb\rc\u2028", "</pre><script>"} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, most int) {
		most = max(4, most&0xffff)
		b := shorten(s, most)
		if b.Of != int64(len(s)) || b.Shown > b.Of || b.Shown < min(b.Of, int64(most)-8) || b.Shown > max(int64(most), 0) && b.Shown != b.Of {
			t.Errorf("%d of %d bytes shown, where %d may be", b.Shown, b.Of, most)
		}
		for _, part := range []string{string(b.Head), string(b.Tail)} {
			if len(part) > 15*len(s) {
				t.Errorf("%d bytes become %d", len(s), len(part))
			}
			text := strings.NewReplacer("<i>", "", "</i>", "").Replace(part)
			if strings.ContainsAny(text, "<>\"'") {
				t.Errorf("%q is more than text", text)
			}
			for _, r := range text {
				if r != '\n' && r != '\t' && r != 0x200c && r != 0x200d && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
					t.Errorf("%U in %q", r, text)
				}
			}
		}
		seen := html.UnescapeString(string(b.Head + b.Tail))
		if whole := strings.ReplaceAll(s, "\r\n", "\n"); b.Shown == b.Of && utf8.ValidString(s) && !strings.Contains(string(b.Head), "<i>") && seen != whole {
			t.Errorf("%q is shown as %q", s, seen)
		}
		if l := clipped(s, most); utf8.RuneCountInString(l) > most+1 || strings.ContainsAny(l, "\n\t\r") {
			t.Errorf("a line %q", l)
		}
	})
}

// A limit is the largest power of two under which all fit.
func TestFit(t *testing.T) {
	var s sizes
	for range 100 {
		s.add(10_000)
	}
	for _, c := range []struct {
		l    Limits
		want int
	}{
		{Limits{Text: 1 << 16, All: 1_000_000}, 1 << 16},
		{Limits{Text: 1 << 16, All: 999_999}, 1 << 13},
		{Limits{Text: 1 << 16, All: 500_000}, 1 << 12},
		{Limits{Text: 1 << 16, All: 1}, LeastText},
		{Limits{Text: 300, All: 1_000_000}, 300},
	} {
		if got := s.fit(c.l); got != c.want {
			t.Errorf("%+v: %d, not %d", c.l, got, c.want)
		}
	}
}
