package loop

import (
	"strings"
	"unicode"

	"rein.example/rein/message"
)

const (
	// maxAsked is how much of a request is looked at for names, in bytes, and
	// maxAskedNames how many of them.
	maxAsked      = 16 << 10
	maxAskedNames = 200
	// minName and maxName bound the length of a name, in bytes.
	minName, maxName = 3, 80
	// minDigits is how many digits make a number worth naming.
	minDigits = 3
	// maxUnit is the most letters, in bytes, that a unit behind a number has: 8am,
	// 22nd, 500ms.
	maxUnit = 4
)

// unattended returns what the request names, by its look a file, an id, a number or
// a tool, and neither calls nor results nor answers have held since. It is a hint for
// a question that is asked anyway, not a verdict: of 120 recorded runs of a benchmark
// whose users say much besides what they want, it names something at the end of 5 in
// 36 that have ended well and of 8 in 84 that have not; see TestRecorded.
func (m *Machine) unattended() (open []string) {
	var asked, since strings.Builder
	for h, i := m.History(), 0; i < h.Len(); i++ {
		if msg := h.At(i).Message; msg.Role == message.User {
			asked.WriteString(msg.PlainText() + "\n")
		} else {
			since.WriteString(said(msg) + "\n")
		}
	}
	held := strings.ToLower(since.String())
	held += "\n" + strings.ReplaceAll(held, ",", "") // 1,250 as 1250
	for _, word := range named(asked.String()) {
		if len(open) == maxNamed {
			break
		}
		if !holdsName(held, strings.ToLower(word)) {
			open = append(open, word)
		}
	}
	return open
}

// holdsName reports whether a text, in small letters and with and without its commas,
// has a name: a number with or without commas, and of a path its last element, since
// one and the same file is named from different folders.
func holdsName(text, word string) bool {
	if strings.Contains(text, word) || strings.Contains(text, strings.ReplaceAll(word, ",", "")) {
		return true
	}
	base := word[strings.LastIndexByte(word, '/')+1:]
	return len(base) >= minName && len(base) < len(word) && strings.Contains(text, base)
}

// said returns the text, the calls and the results of a message.
func said(msg *message.Message) string {
	var b strings.Builder
	for i := range msg.Parts {
		p := &msg.Parts[i]
		b.WriteString(p.Text + " " + p.Name + " " + p.Args + "\n")
	}
	return b.String()
}

// named returns the words of a text that look like the name of something: a path, an
// id, a number of some digits, a name with an underscore; each once, in their order.
func named(text string) (names []string) {
	seen := map[string]bool{}
	for word := range strings.FieldsFuncSeq(text[:min(len(text), maxAsked)], func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("\"'`()[]{}<>;!?*|=#", r)
	}) {
		for _, word := range apart(word) {
			word = withoutUnit(strings.TrimRight(strings.TrimLeft(word, ".:…,@$€£"), ".:…,%€£"))
			if len(word) < minName || len(word) > maxName || seen[word] || !looksNamed(word) {
				continue
			}
			seen[word] = true
			if names = append(names, word); len(names) == maxAskedNames {
				return names
			}
		}
	}
	return names
}

// apart cuts a word at its commas, unless it is a number with one at each thousand:
// 1,250.
func apart(word string) []string {
	parts := strings.Split(word, ",")
	for i, part := range parts {
		if i == len(parts)-1 {
			part, _, _ = strings.Cut(part, ".")
		}
		if strings.Trim(part, "0123456789$€£%") != "" || i > 0 && len(part) != 3 {
			return parts
		}
	}
	if len(strings.Trim(parts[0], "$€£")) > 3 {
		return parts
	}
	return []string{word}
}

// withoutUnit returns a number without the few letters behind it, and any other word
// as it is.
func withoutUnit(word string) string {
	unit := strings.TrimLeft(word, "0123456789.,")
	number := word[:len(word)-len(unit)]
	if number == "" || len(unit) > maxUnit || strings.IndexFunc(unit, func(r rune) bool { return !unicode.IsLetter(r) }) >= 0 {
		return word
	}
	if last := number[len(number)-1]; last < '0' || last > '9' {
		return word // 2.png
	}
	return number
}

// looksNamed reports whether a word is no word of a language.
func looksNamed(word string) bool {
	var digits, letters, inner, slashes int
	for i, r := range word {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case unicode.IsLetter(r):
			letters++
		case r == '/':
			slashes++
		case (r == '_' || r == '.') && i > 0 && i < len(word)-1:
			inner++
		}
	}
	switch {
	case abbreviated(word), slashes > 0 && letters == 0: // e.g., and 5/20/2024, which may be written in other ways
		return false
	case slashes > 0 && letters > 0:
		// One slash between words may stand for "or".
		return slashes > 1 || inner > 0 || digits > 0 || strings.IndexByte("/.~", word[0]) >= 0
	}
	return inner > 0 && letters > 0 || digits >= minDigits || digits > 0 && letters > 1 && !strings.Contains(word, "-")
}

// abbreviated reports whether between the dots of a word stands one letter each.
func abbreviated(word string) bool {
	parts := 0
	for part := range strings.SplitSeq(word, ".") {
		if r := []rune(part); len(r) != 1 || !unicode.IsLetter(r[0]) {
			return false
		}
		parts++
	}
	return parts > 1
}
