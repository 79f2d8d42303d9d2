package anomaly

import (
	"hash/fnv"
	"slices"
	"strings"

	"rein.example/rein/internal/jsontree"
	"rein.example/rein/message"
	"rein.example/rein/trace"
)

const (
	// maxGrounds is how many ids and numbers are remembered. When there are more,
	// nothing can be said of one that is missing.
	maxGrounds = 1 << 17
	// minID, maxID and minIDDigits are what a text must have to be looked at as an id,
	// in bytes and digits; minNumber is the least number that is looked at.
	minID, maxID, minIDDigits = 4, 64, 3
	minNumber                 = 100
	// maxUnsupported is how many values of one call are named.
	maxUnsupported = 3
)

// grounds are the ids and numbers that the model was shown.
type grounds struct {
	known map[uint64]struct{}
	// blind: not all of it is known, so that nothing can be said of what is missing.
	blind bool
}

// parts takes what stands in parts. What is stored out of line is not there to look at.
func (g *grounds) parts(parts []message.Part) {
	for i := range parts {
		g.text(parts[i].Text)
		g.blind = g.blind || parts[i].Ref != nil || parts[i].URL != ""
	}
}

// text takes the ids and numbers of a text.
func (g *grounds) text(s string) {
	if g.blind {
		return
	}
	for i := 0; i < len(s); {
		if !inWord(s[i]) {
			i++
			continue
		}
		from, digits := i, false
		for i < len(s) && inWord(s[i]) {
			digits = digits || isDigit(s[i])
			i++
		}
		if digits {
			g.add(hashOf('w', s[from:i]))
		}
	}
	for i := 0; i < len(s); {
		if !isDigit(s[i]) {
			i++
			continue
		}
		n := numeral(s[i:])
		g.add(hashOf('#', plainNumber(s[i:i+n])))
		i += n
	}
}

func (g *grounds) add(h uint64) {
	if g.known == nil {
		g.known = map[uint64]struct{}{}
	}
	if g.known[h] = struct{}{}; len(g.known) > maxGrounds {
		g.known, g.blind = nil, true
	}
}

func (g *grounds) has(kind byte, s string) bool {
	_, ok := g.known[hashOf(kind, s)]
	return ok
}

// hashOf returns the hash of a word, in small letters, or of a number.
func hashOf(kind byte, s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte{kind})
	h.Write([]byte(strings.ToLower(s)))
	return h.Sum64()
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func inWord(c byte) bool   { return isDigit(c) || isLetter(c) || c == '_' || c == '-' || c >= 0x80 }

// numeral returns the length of the number that s begins with: digits, with commas
// before each third and a fraction.
func numeral(s string) int {
	i := 0
	for i < len(s) && (isDigit(s[i]) || s[i] == ',' && threeDigits(s[i+1:])) {
		i++
	}
	if i+1 < len(s) && s[i] == '.' && isDigit(s[i+1]) {
		for i++; i < len(s) && isDigit(s[i]); i++ {
		}
	}
	return i
}

// threeDigits reports whether s begins with three digits and no fourth.
func threeDigits(s string) bool {
	return len(s) >= 3 && isDigit(s[0]) && isDigit(s[1]) && isDigit(s[2]) && (len(s) == 3 || !isDigit(s[3]))
}

// plainNumber returns a number without commas and without zeros at the end of its
// fraction.
func plainNumber(s string) string {
	s = strings.ReplaceAll(s, ",", "")
	if whole, part, ok := strings.Cut(s, "."); ok {
		if part = strings.TrimRight(part, "0"); part == "" {
			return whole
		}
		return whole + "." + part
	}
	return s
}

// missing returns values of a call's arguments that stand in nothing that the model was
// shown before it is carried out: what the tool returns may repeat them.
func (g *grounds) missing(args string) (out []string) {
	if g.blind || g.known == nil {
		return nil
	}
	root, _, ok := jsontree.Parse(args)
	if !ok {
		return nil
	}
	stack := []*jsontree.Node{root}
	for len(stack) > 0 && len(out) < maxUnsupported {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for i := len(n.Kids) - 1; i >= 0; i-- {
			stack = append(stack, &n.Kids[i])
		}
		if n.Kind == jsontree.String && isID(n.Text) && !g.has('w', n.Text) ||
			n.Kind == jsontree.Literal && telling(n) && !g.has('#', plainNumber(n.Text)) {
			out = append(out, strings.TrimSpace(n.Name+" "+n.Text))
		}
	}
	return out
}

// isID reports whether a text looks like the id of something: one word with letters and
// digits, and no date or time.
func isID(s string) bool {
	if len(s) < minID || len(s) > maxID {
		return false
	}
	digits, letters := 0, 0
	for i := range len(s) {
		switch {
		case !inWord(s[i]) || s[i] >= 0x80:
			return false
		case isDigit(s[i]):
			digits++
		case isLetter(s[i]):
			letters++
		}
	}
	return digits >= minIDDigits && letters > 0
}

// settings are words in the names of arguments whose number is the caller's to choose.
var settings = []string{"timeout", "limit", "max", "min", "seed", "port", "year", "size", "width", "height", "seconds", "minutes", "duration", "ms", "page", "offset"}

// telling reports whether a number is one that has to come from somewhere: no small one,
// none that stands for a unit of time or a round amount, and no setting.
func telling(n *jsontree.Node) bool {
	if n.Text == "" || !isDigit(n.Text[0]) || strings.ContainsAny(n.Text, "eE") || len(n.Text) > 15 {
		return false
	}
	for _, w := range nameWords(n.Name) {
		if slices.Contains(settings, w) {
			return false
		}
	}
	whole, _, _ := strings.Cut(n.Text, ".")
	var v int64
	for i := range len(whole) {
		v = v*10 + int64(whole[i]-'0')
	}
	return v >= minNumber && v%60 != 0 && v%100 != 0
}

// currencies stand before or after an amount, as signs or, with a space between, as words.
var currencySigns, currencyWords = []string{"$", "€", "£", "¥"}, []string{"eur", "euro", "euros", "usd", "dollar", "dollars", "gbp", "chf", "jpy", "yen"}

// money returns the number at text[from:to] with the currency that stands beside it.
func money(text string, from, to int) (string, bool) {
	for _, sign := range currencySigns {
		if strings.HasSuffix(text[:from], sign) {
			return text[from-len(sign) : to], true
		}
		rest, ok := strings.CutPrefix(strings.TrimPrefix(text[to:], " "), sign)
		if ok && (rest == "" || !isDigit(rest[0])) {
			return text[from : len(text)-len(rest)], true
		}
	}
	word := func(s string) bool { return slices.Contains(currencyWords, strings.ToLower(s)) }
	if rest, ok := strings.CutPrefix(text[to:], " "); ok {
		n := 0
		for n < len(rest) && isLetter(rest[n]) {
			n++
		}
		if word(rest[:n]) && !strings.HasPrefix(rest[n:], "-") {
			return text[from : to+1+n], true
		}
	}
	if before, ok := strings.CutSuffix(text[:from], " "); ok {
		n := len(before)
		for n > 0 && isLetter(before[n-1]) {
			n--
		}
		if word(before[n:]) {
			return text[n:to], true
		}
	}
	return "", false
}

// checkAmounts looks for amounts of money in an answer that stand in nothing that the
// model was shown, nor in what it has asked a tool.
func (f *Fold) checkAmounts(text string) {
	g := &f.grounds
	if g.blind || g.known == nil || len(text) > maxClaimed {
		return
	}
	var odd []string
	n := 0
	for i := 0; i < len(text); {
		size := numeral(text[i:])
		if size == 0 {
			i++
			continue
		}
		named, ok := money(text, i, i+size)
		amount := plainNumber(text[i : i+size])
		i += size
		if !ok || len(amount) < 2 || slices.Contains(odd, named) || g.has('#', amount) {
			continue
		}
		g.add(hashOf('#', amount)) // once is enough
		if n++; len(odd) < maxUnsupported {
			odd = append(odd, named)
		}
	}
	if n > 0 {
		stands := "stands"
		if n > 1 {
			stands = "stand"
		}
		f.report(UnsupportedAmount, trace.Notice, f.reply, "", "the answer names %s that %s in nothing the model was shown: %s",
			plural(int64(n), "amount"), stands, strings.Join(odd, ", "))
	}
}
