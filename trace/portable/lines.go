package portable

import "strings"

// flag finds the value after an option of a command line whose dashes begin at i:
// --password hunter3secret, or curl's -u name:password.
func (x *scanner) flag(i int) (kind string, from, to int) {
	s := x.s
	if i < x.barren || i > 0 && (wordly.has(s[i-1]) || s[i-1] == '.') {
		return "", 0, 0
	}
	start := i + 1
	if start < len(s) && s[start] == '-' {
		start++
	}
	end := runEnd(s[:min(len(s), start+maxName)], start, wordly)
	if end >= len(s) || s[end] != ' ' {
		return "", 0, 0
	}
	name := s[start:end]
	if name == "u" || name == "user" {
		return accountOf(s, valueAt(s, blanks(s, end)))
	}
	if kind = secretName(name); kind == "" {
		return "", 0, 0
	}
	v := valueAt(s, blanks(s, end))
	if v.from < len(s) && s[v.from] != '-' && v.isSecret(s, kind, false) {
		return kind, v.from, v.to
	}
	return "", 0, 0
}

// accountOf finds the password of an account that is given as name:password.
func accountOf(s string, v given) (kind string, from, to int) {
	const most = 64
	colon := strings.IndexByte(s[v.from:min(v.to, v.from+most)], ':')
	if colon < 1 {
		return "", 0, 0
	}
	v = given{from: v.from + colon + 1, to: v.to}
	return kindIf(v.isSecret(s, "password", false), "password"), v.from, v.to
}

// flagName returns the kind of the secret that follows an option which is an item of a
// list of arguments.
func flagName(s string) string {
	if name, ok := strings.CutPrefix(s, "-"); ok {
		return secretName(strings.TrimPrefix(name, "-"))
	}
	return ""
}

// below finds the value that a name of YAML has in the lines after it: a block, or a
// list, for which listed looks. The name begins at name, its line ends at i or after the
// sign of a block there.
func (x *scanner) below(name, i int, kind string) (from, to int, ok bool) {
	s := x.s
	block := i < len(s) && (s[i] == '|' || s[i] == '>')
	for n := 0; block && n < 3 && i < len(s) && strings.IndexByte("|>+-123456789", s[i]) >= 0; n++ {
		i++
	}
	if i >= len(s) || s[i] != '\n' && (s[i] != '\r' || i+1 >= len(s) || s[i+1] != '\n') {
		return 0, 0, false
	}
	at := strings.IndexByte(s[i:], '\n') + i + 1
	column, first := x.indent(name)
	if !first {
		return 0, 0, false
	}
	if !block {
		x.list, x.item, x.column = kind, at, column
		return i, i, true
	}
	from, end := i, at
	for at < len(s) {
		text := runEnd(s, at, space)
		stop := lineEnd(s, text)
		if text < stop && text-at <= column {
			break
		}
		if text < stop {
			if end = stop; from == i {
				from = text
			}
		}
		at = stop + 1
	}
	return from, end, true
}

var space = chars(" ")

func lineEnd(s string, i int) int {
	if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(s)
}

// indent returns how far the line of the word at i is indented; first: nothing else
// stands before it but the dash of a list.
func (x *scanner) indent(i int) (column int, first bool) {
	s, start := x.s, i
	const most = 80
	for i > 0 && start-i < most && strings.IndexByte(" -\"'", s[i-1]) >= 0 {
		i--
	}
	if i > 0 && s[i-1] != '\n' {
		return 0, false
	}
	return runEnd(s, i, space) - i, true
}

// listed finds the item of a list whose dash stands at i, where a name says that the
// items are secrets.
func (x *scanner) listed(i int) (kind string, from, to int) {
	s := x.s
	if x.list == "" || i < x.item {
		return "", 0, 0
	}
	kind = x.list
	if i-x.item < x.column || i-x.item > x.column+8 || strings.Trim(s[x.item:i], " ") != "" || i+1 >= len(s) || s[i+1] != ' ' {
		x.list = ""
		return "", 0, 0
	}
	x.item = min(len(s), lineEnd(s, i)+1)
	v := valueAt(s, blanks(s, i+1))
	if v.isSecret(s, kind, true) || v.isPassword(s, kind, false, ':') {
		return kind, v.from, v.to
	}
	return "", 0, 0
}

// element finds what an element of XML has whose start ends at i: <password>x</password>.
func (x *scanner) element(i int) (kind string, from, to int) {
	s := x.s
	name := nameBefore(s, i, x.floor)
	if name.to != i || name.from == 0 || s[name.from-1] != '<' {
		return "", 0, 0
	}
	if kind = secretName(s[name.from:name.to]); kind == "" {
		return "", 0, 0
	}
	v := given{from: i + 1, to: bareEnd(s, i+1)}
	closed := strings.HasPrefix(s[v.to:], "</")
	return kindIf(closed && v.isSecret(s, kind, true), kind), v.from, v.to
}
