package parse

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRepeats(t *testing.T) {
	paragraph := strings.Repeat("An order is late if its day has passed. ", 8) + "So I look again.\n"
	for _, c := range []struct {
		name, once, passage string
		times               int
		tail                string
		want                int64
	}{
		{"a line", "The orders:\n", "I will check the next order.\n", 40, "", 40},
		{"a line that is cut off", "", "I will check the next order.\n", 40, "I will ch", 40},
		{"a sentence, in a line", "Well. ", "Let me look at that again. ", 12, "", 12},
		{"more of it than is searched", "Well. ", "Let me look at that again. ", 10_000, "Let me", 10_000},
		{"a word", "", "no ", 2_000, "", 2_000},
		{"a character", "Done: ", "!", 3_000, "", 3_000},
		{"characters of more bytes", "好的。", "我再检查一次。", 30, "我再", 30},
		{"a paragraph", "First.\n", paragraph, 3, "", 3},
		{"a paragraph that is cut off", "First.\n", paragraph, 3, paragraph[:100], 3},

		{"a line a few times", "", "I will check the next order.\n", 5, "", 0},
		{"a paragraph twice", "", paragraph, 2, paragraph[:200], 0},
		{"a rule of dashes", "Title\n", "-", 120, "", 0},
		{"the lines of a table", "", "| ok | ok |\n", 12, "", 0},
		{"it comes to an end", "", "I will check the next order.\n", 40, "Order 7 is late.", 0},
		{"nothing", "", "", 0, "", 0},
	} {
		text := c.once + strings.Repeat(c.passage, c.times) + c.tail
		again, times := Repeats(text)
		if times != c.want {
			t.Errorf("%s: it comes %d times, want %d", c.name, times, c.want)
		} else if c.want > 0 && (!strings.HasPrefix(text, c.once) || strings.TrimRight(text[:again], " \n") != strings.TrimRight(c.once+c.passage, " \n") && !within(text[:again], c.once, c.passage)) {
			t.Errorf("%s: what is left is %q", c.name, text[:again])
		}
	}
}

// within reports whether a text is the beginning and the passage once, but for where
// in the passage it is taken to begin.
func within(text, once, passage string) bool {
	return len(text) <= len(once)+len(passage) && strings.HasPrefix(once+passage, text) && len(text) >= len(passage)
}

// Counted lines, code and lists of like items are no passage that comes again.
func TestRepeatsLeavesTextsAlone(t *testing.T) {
	var lines, code, list strings.Builder
	for i := range 200 {
		lines.WriteString("Order A-" + string(rune('0'+i/100)) + string(rune('0'+i/10%10)) + string(rune('0'+i%10)) + " is not late.\n")
		code.WriteString("\tcase " + string(rune('a'+i%26)) + string(rune('a'+i/26)) + ":\n\t\treturn nil\n")
		list.WriteString("- item " + strings.Repeat("x", i) + "\n")
	}
	for _, text := range []string{lines.String(), code.String(), list.String()} {
		if _, times := Repeats(text); times != 0 {
			t.Errorf("%d times in\n%.200s", times, text)
		}
	}
}

func FuzzRepeats(f *testing.F) {
	f.Add("x", "ab ", 600)
	f.Add("Well. ", "I look again.\n", 30)
	f.Add("", "好", 400)
	f.Fuzz(func(t *testing.T, once, passage string, n int) {
		if n < 0 || n*len(passage) > 64<<10 {
			return
		}
		text := once + strings.Repeat(passage, n)
		again, times := Repeats(text)
		if times == 0 {
			if again != 0 || len(passage) >= longPassage && n*len(passage) <= repeatWindow && n >= longTimes {
				t.Errorf("%q %d times: again %d, and not found", passage, n, again)
			}
			return
		}
		if again <= 0 || again >= len(text) || utf8.ValidString(text) && !utf8.ValidString(text[:again]) || times < longTimes {
			t.Errorf("again %d of %d, %d times", again, len(text), times)
		}
	})
}

func BenchmarkRepeats(b *testing.B) {
	b.ReportAllocs()
	text := strings.Repeat("An order is late if its day has passed; nothing else counts. ", 70) + "So none is late."
	for b.Loop() {
		Repeats(text)
	}
}
