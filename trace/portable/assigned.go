package portable

import "strings"

// leastValue is from how many bytes on a value in a text counts as a secret by its name,
// leastAlone where it is a password that stands alone in its line.
const leastValue, leastAlone = 8, 6

// assigned finds the value that is given, after the colon or equals sign at i, to a
// name of a secret, in whatever syntax: an environment file, YAML, a header, JSON that
// was cut off, a dict of Python.
func (x *scanner) assigned(i int) (kind string, from, to int) {
	s := x.s
	if i < x.barren {
		return "", 0, 0
	}
	name := nameBefore(s, i, x.floor)
	if kind = secretName(s[name.from:name.to]); kind == "" && valueNames[strings.ToLower(s[name.from:name.to])] {
		kind = pairedName(s, name.from, x.floor)
	}
	if kind == "" {
		return "", 0, 0
	}
	from = i + 1
	if name.opened && from < len(s) && s[from] == s[name.from-1] {
		return "", 0, 0 // it ends a text that is only the name: "Password:"
	}
	if s[i] == '=' && from < len(s) && s[from] == '>' {
		from++ // Ruby, PHP
	}
	setting := from < len(s) && s[i] == '=' && name.to == i && strings.ToUpper(s[name.from:name.to]) == s[name.from:name.to]
	from = blanks(s, from)
	if s[i] == ':' {
		if from, to, ok := x.below(name.from, from, kind); ok {
			if to > from && isBlock(kind, s[from:to]) {
				return kind, from, to
			}
			x.barren = max(x.barren, to)
			return "", 0, 0
		}
		from = flow(s, from)
	}
	v := valueAt(s, from)
	if v.isSecret(s, kind, setting) || v.isPassword(s, kind, x.column0(name.from), s[i]) {
		return kind, v.from, v.to
	}
	if v.quote == 0 {
		x.barren = v.to
	}
	return "", 0, 0
}

// isBlock reports whether the lines of a block are a secret: those of keys have no blanks
// between.
func isBlock(kind, lines string) bool {
	return len(lines) >= leastValue && !placeholder(lines) && (passwords[kind] || mixed(lines) && len(strings.Fields(lines)) == strings.Count(strings.TrimSpace(lines), "\n")+1)
}

// blanks steps over a few of them.
func blanks(s string, i int) int {
	for n := 0; n < 8 && i < len(s) && (s[i] == ' ' || s[i] == '\t'); n++ {
		i++
	}
	return i
}

// flow steps into a list of JSON or YAML whose items are no classes of characters.
func flow(s string, i int) int {
	const most = 64
	if i >= len(s) || s[i] != '[' {
		return i
	}
	head, _, _ := strings.Cut(s[i:min(len(s), i+most)], "]")
	if _, ok := markerAt(s, i); ok || strings.Contains(head, "a-z") || strings.Contains(head, "A-Z") || strings.Contains(head, "0-9") {
		return i
	}
	return blanks(s, i+1)
}

// given is a value as it stands in a text. quote is the one before it, 0 for none.
type given struct {
	from, to int
	quote    byte
}

// valueAt returns the value that begins at i, or after a quote or a scheme there.
func valueAt(s string, i int) given {
	from, slashes, quote := opening(s, i)
	v := given{from: from, quote: quote}
	if word, rest := scheme(s, v.from); word {
		v.from = rest
	}
	v.to = valueEnd(s, v.from, slashes, quote)
	return v
}

// isSecret reports whether the value of a name of that kind is more than a word.
// setting: it stands behind the equals sign of a name in capitals.
func (v given) isSecret(s, kind string, setting bool) bool {
	value := s[v.from:v.to]
	switch {
	case placeholder(value), len(value) < leastValue, isPath(kind, value):
		return false
	case v.quote != 0:
		return true
	case !mixed(value) || !letters(value):
		return false
	case strings.HasPrefix(strings.TrimPrefix(s[v.to:], " "), "("), !setting && !strings.ContainsAny(value, "0123456789"):
		return false // more likely a name in a program
	}
	return true
}

// isPassword reports whether the value of a password that stands alone in its line can
// be one, although it looks like a word or a number: digits, words with dashes between,
// a word with a sign in it. A single word is one in a file of settings only, where the
// name begins the line and an equals sign follows.
func (v given) isPassword(s, kind string, column0 bool, sign byte) bool {
	value := s[v.from:v.to]
	if !passwords[kind] || v.quote != 0 || len(value) < leastAlone || placeholder(value) || isPath(kind, value) || !alone(s, v.to) {
		return false
	}
	small := strings.ToLower(value)
	if strings.Contains(small, "pass") || strings.Contains(small, "pwd") {
		return false // it says what it is
	}
	switch {
	case strings.Trim(value, "0123456789") == "":
		return true
	case strings.Trim(value, "abcdefghijklmnopqrstuvwxyz") == "":
		return column0 && sign == '='
	case strings.Trim(value, "abcdefghijklmnopqrstuvwxyz-") == "":
		const words, least = 2, 16
		return strings.Count(value, "-") >= words && len(value) >= least
	}
	return letters(value) && strings.ContainsAny(value, "!@#$%^*?+~") && strings.Trim(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!@#$%^*?+~_-") == ""
}

// alone reports whether nothing follows in the line, which may be one of a text in quotes.
func alone(s string, i int) bool {
	i = blanks(s, i)
	return i >= len(s) || strings.IndexByte("\r\n\"'`\\", s[i]) >= 0
}

// column0 reports whether a line begins at i.
func (x *scanner) column0(i int) bool { return i == 0 || x.s[i-1] == '\n' }

// valueNames and pairNames are the members of an object that has a variable as a pair.
var (
	valueNames = set("value", "val")
	pairNames  = set("name", "key", "variable", "header")
)

// pairedName returns the kind of the variable whose name stands right before the member
// at i that has its value.
func pairedName(s string, i, floor int) string {
	const between = " \t\r\n,\"'`\\"
	end := trimBefore(s, i, floor, between)
	from := end
	for from > floor && end-from <= maxName && (wordly.has(s[from-1]) || s[from-1] == '.') {
		from--
	}
	kind := secretName(s[from:end])
	if kind == "" {
		return ""
	}
	at := trimBefore(s, from, floor, " \t\"'`\\")
	if at == floor || s[at-1] != ':' && s[at-1] != '=' {
		return ""
	}
	w := nameBefore(s, at-1, floor)
	if !pairNames[strings.ToLower(s[w.from:w.to])] {
		return ""
	}
	return kind
}

// trimBefore steps back over some of these characters.
func trimBefore(s string, i, floor int, of string) int {
	const most = 64
	for n := 0; n < most && i > floor && strings.IndexByte(of, s[i-1]) >= 0; n++ {
		i--
	}
	return i
}

// word is a place in a text. opened: a quote stands before it, and none after it.
type word struct {
	from, to int
	opened   bool
}

// nameBefore returns the word before i, which may be quoted.
func nameBefore(s string, i, done int) word {
	end := i
	for n := 0; n < 8 && end > done && strings.IndexByte(" \t\"'`\\", s[end-1]) >= 0; n++ {
		end--
	}
	start := end
	for start > done && end-start <= maxName && (wordly.has(s[start-1]) || s[start-1] == '.') {
		start--
	}
	w := word{from: start, to: end}
	w.opened = start > done && isQuote(s[start-1]) && !strings.ContainsAny(s[end:i], "\"'`")
	return w
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// isPath reports whether a value of that kind is the shell's folder, which has the name
// of a password.
func isPath(kind, value string) bool {
	return kind == "pwd" && (value[0] == '/' || value[0] == '~' || value[0] == '.' || len(value) > 2 && value[1] == ':' && value[2] == '\\')
}

// opening steps over an opening quote, with the backslashes before it; quote is 0 if
// there is none.
func opening(s string, i int) (from, slashes int, quote byte) {
	j := i
	for n := 0; n < 8 && j < len(s) && s[j] == '\\'; n++ {
		j++
	}
	if j < len(s) && isQuote(s[j]) {
		return j + 1, j - i, s[j]
	}
	return i, 0, 0
}

// scheme steps over the first word of an authorization.
func scheme(s string, i int) (ok bool, rest int) {
	const most = 8
	at := strings.IndexByte(s[i:min(len(s), i+most)], ' ')
	if at < 0 || !schemes[strings.ToLower(s[i:i+at])] {
		return false, i
	}
	return true, i + at + 1
}

// valueEnd returns where a value ends: at its quote, or where words end. One that is
// quoted ends with its line, too; a quote with more backslashes before it than the
// opening one had is a part of it.
func valueEnd(s string, i, slashes int, quote byte) int {
	if quote == 0 {
		return bareEnd(s, i)
	}
	run := 0
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			run++
			continue
		case c == '\n' || c == '\r':
			return i - run%2
		case c == quote && run%(2*(slashes+1)) <= slashes:
			return i - min(run, slashes)
		}
		run = 0
	}
	return len(s)
}

// bareEnd returns where a value without quotes ends. An ampersand between two others
// belongs to it, unless the next member of a query follows.
func bareEnd(s string, i int) int {
	for ; i < len(s); i++ {
		if strings.IndexByte(" \t\r\n,;\"'`\\<>()[]{}|", s[i]) >= 0 {
			return i
		}
		if s[i] != '&' {
			continue
		}
		next := runEnd(s[:min(len(s), i+1+maxName)], i+1, wordly)
		if next == i+1 || next < len(s) && s[next] == '=' {
			return i
		}
	}
	return len(s)
}

// letters reports whether there is any letter.
func letters(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i] | 0x20; 'a' <= c && c <= 'z' {
			return true
		}
	}
	return false
}
