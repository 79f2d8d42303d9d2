package vocab_test

import (
	"math/rand/v2"
	"strings"
)

// fragments are what random texts are put together from, by kind.
var fragments = [][]string{
	strings.Fields("the of and invoice Weather parseHTTPRequest getUserByID snake_case_name SCREAMING_CASE iPhone McDonald x7f3 naïve Übergröße ÉCOLE straße ﬁne ǅungla"),
	{"don't", "I'll", "WE'RE", "they've", "She'D", "it'ſ", "o'clock", "'tis", "rock'n'roll", "y'all'd've", "'S", "a'", "''s", "’s"},
	{"0", "7", "42", "365", "1984", "3.14159", "1,000,000", "2026-01-31T23:59:60Z", "٣٤٥", "½", "Ⅷ", "१२३४", "１２３"},
	{" ", "  ", "    ", "\t", "\t\t", "\n", "\n\n", "\r\n", " \n", "\n  ", "   \n\n\t", "\u00a0", "\u2003\u2003", "\u3000", "\u0085", "\v\f", "\u2028"},
	{".", ",", "!?", "...", "—", "/", "//", "\n/", "({[", "]})", "=>", "!==", "&&", "::", "<|endoftext|>", "<|im_start|>", "```", "##", "'", "\"", "$$", "™", "•"},
	{"中文", "你好，世界。", "東京都", "ひらがなとカタカナ", "한국어 문장", "조선글", "繁體字", "龘", "𠮷野家", "、", "「」", "ー", "〇"},
	{"Привет", "мир", "ЁЖИК", "ελληνικά", "ΣΊΣΥΦΟΣ", "שָׁלוֹם", "مرحبا", "السَّلَامُ", "हिन्दी", "ภาษาไทย", "தமிழ்", "ქართული", "አማርኛ", "မြန်မာ"},
	{"😀", "👍🏽", "👩‍👩‍👧‍👦", "🇫🇷", "❤️", "🏳️‍🌈", "1️⃣", "🤖✅🚀", "☺", "\U0001F9FF", "©"},
	{"e\u0301", "\u0301", "a\u0308\u0323", "\u200d", "\u200b", "\ufeff", "\ufffd", "\u00ad", "\u20dd", "\U000e0041", "\ue000", "\U0010ffff"},
	{"{\"a\":1,\"b\":[true,null]}", "func main() {\n\tfmt.Println(\"hi\")\n}\n", "<div class=\"x\">", "SELECT * FROM t;", "https://example.com/a?b=c&d=%20", "C:\\temp\\x.txt", "aGVsbG8gd29ybGQ=", "0xDEADBEEF", "@Override"},
}

// randomText returns a text of up to most fragments, sometimes of one kind only,
// sometimes with characters that nobody chose.
func randomText(r *rand.Rand, most int) string {
	var b strings.Builder
	one := r.IntN(3 * len(fragments))
	for range 1 + r.IntN(most) {
		switch kind := r.IntN(len(fragments) + 4); {
		case kind < len(fragments):
			if one < len(fragments) {
				kind = one
			}
			f := fragments[kind][r.IntN(len(fragments[kind]))]
			b.WriteString(strings.Repeat(f, 1+r.IntN(8)/7*r.IntN(40)))
		case kind == len(fragments):
			b.WriteRune(randomRune(r))
		case kind == len(fragments)+1:
			for range 1 + r.IntN(12) {
				b.WriteByte(byte(32 + r.IntN(95)))
			}
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// randomRune returns a character of any script, or of none.
func randomRune(r *rand.Rand) rune {
	c := rune(r.IntN(0x3000))
	switch r.IntN(4) {
	case 0:
		c = rune(r.IntN(0x110000))
	case 1:
		c = rune(r.IntN(0x10000))
	}
	if 0xD800 <= c && c < 0xE000 {
		return '\uFFFD'
	}
	return c
}
