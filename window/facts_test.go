package window

import (
	"fmt"
	"strings"
	"testing"
)

// What a word is, is told by what it is made of.
func TestWords(t *testing.T) {
	names := [...]string{plainWord: "plain", nameWord: "name", identWord: "ident", pathWord: "path", smallNumber: "small", bigNumber: "number", codeWord: "code", addressWord: "address", blobWord: "blob"}
	for _, c := range []struct{ text, want string }{
		{"The order is late.", "The/plain order/plain is/plain late/plain"},
		{"ask Anna Berg at IKEA", "ask/plain Anna/name Berg/name at/plain IKEA/name"},
		{"So. Then Anna came", "So/plain Then/plain Anna/name came/plain"},
		{"it's 1,250.00 EUR or $5.99, 40% of €300.", "it's/plain 1,250.00/number EUR/name or/plain $5.99/number 40%/number of/plain €300/number"},
		{"from 2024-03-01 to 17:45, 1,2,3", "from/plain 2024-03-01/number to/plain 17:45/number 1/small 2/small 3/small"},
		{"order K1-0977, sha 9f3ac81, #4417", "order/plain K1-0977/code sha/plain 9f3ac81/code #4417/number"},
		{"see src/main.go and readme.md, not e.g. this", "see/plain src/main.go/path and/plain readme.md/path not/plain e.g/ident this/plain"},
		{"mail a.b@x.example or https://x.example/a?b=1&c=2.", "mail/plain a.b@x.example/address or/plain https://x.example/a?b=1&c=2/address"},
		{"maxRetries=3 snake_case", "maxRetries/ident 3/small snake_case/ident"},
		{"不得超过300元", "不得/plain 得超/plain 超过/plain 过/plain 300/number 元/plain"},
		{"été à Zürich, Über uns", "été/plain à/plain Zürich/name Über/name uns/plain"},
		{"-5 --flag .env @me x", "-5/number --flag/plain .env/ident @me/plain x/plain"},
		{strings.Repeat("a", 200), strings.Repeat("a", 200) + "/blob"},
		{"\xff\xfe ... ***", ""},
	} {
		var got []string
		for w := scan(c.text); ; {
			d, ok := w.next()
			if !ok {
				break
			}
			got = append(got, d.text+"/"+names[d.class])
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.text, g, c.want)
		}
	}
}

// A text falls into pieces that can stand for themselves.
func TestPieces(t *testing.T) {
	long := strings.Repeat("word ", 70)
	for _, c := range []struct{ text, want string }{
		{"one\n\n  two \r\n---\n", "one|two"},
		{"Short. Lines stay. Whole.", "Short. Lines stay. Whole."},
		{"A sentence of a long line ends here. The next one begins then, says Dr. Berg of No. 5, e.g. so! And 3 is the last.",
			"A sentence of a long line ends here.|The next one begins then, says Dr. Berg of No. 5, e.g. so!|And 3 is the last."},
		{strings.Repeat("这是一个很长的句子。", 5), strings.TrimSuffix(strings.Repeat("这是一个很长的句子。|", 5), "|")},
		{long, strings.TrimSpace(strings.Repeat("word ", 64)) + "|" + strings.TrimSpace(strings.Repeat("word ", 6))},
		{"key " + strings.Repeat("x", 400) + " and then", "key|and then"},
	} {
		var got []string
		pieces(c.text, func(p string) { got = append(got, p) })
		if g := strings.Join(got, "|"); g != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.text, g, c.want)
		}
	}
}

// What a text demands is found in several languages.
func TestConstraints(t *testing.T) {
	for _, demand := range []string{
		"You must never call before nine.", "Only vendors from the list.", "at most 3 retries", "Don't touch the index.", "It should end within 20 minutes.",
		"Die Summe darf höchstens 300 Euro betragen.", "Ne jamais supprimer la base.", "No se debe tocar la nube, nunca.", "Deve sempre chiedere.",
		"Никогда не звонить ночью.", "退款不得超过三百元。", "必ず確認してください", "절대 삭제하지 마세요", "Nooit zonder overleg.", "Zawsze pytaj.",
	} {
		text := "We had a walk along the river and saw the boats.\n" + demand + "\nThe weather was fine and the bread was good."
		if got := Constraints(text, 100); len(got) != 1 || got[0] != demand {
			t.Errorf("%q gives %q", demand, got)
		}
	}
	var many strings.Builder
	for i := range 500 {
		fmt.Fprintf(&many, "Rule %d: never use gate %d.\n", i, i*7)
	}
	got := Constraints(many.String(), 200)
	if n := (measure{million}).count(strings.Join(got, "\n")); len(got) < 10 || n > 200 {
		t.Errorf("%d of 500 rules with %d tokens", len(got), n)
	}
}

// Lines of which only the numbers differ are worth little but for a few of them, and
// leave the room to others.
func TestRowsAreWorthLittle(t *testing.T) {
	for _, row := range []string{"Paragraph %d deals with %d matters of the year.\n", "Line %d: %d EUR\n", "2024-05-01 12:%02d:03 INFO request took %d ms\n"} {
		var b strings.Builder
		for i := range 200 {
			fmt.Fprintf(&b, row, i%60, 1600+i*71)
			if i == 70 {
				b.WriteString("The deposit for the hall of Brink & Sons is 1,250.00 EUR.\n")
			}
		}
		f := newFinder(measure{million}, extent{})
		f.add(source{}, b.String())
		n, deposit := 0, false
		for _, i := range f.best(10_000, 0) {
			n++
			deposit = deposit || strings.HasPrefix(f.facts[i].text, "The deposit")
		}
		if n < 1+fewRows || n > 20 || !deposit {
			t.Errorf("%q: %d lines are chosen; the deposit: %v", row, n, deposit)
		}
	}
}
