package portable

import "strings"

// text returns a text that is no JSON without secrets. It is read once from left to
// right; what it looks at behind and before each place is bounded.
func (r *Redactor) text(s string) string {
	var out strings.Builder
	x := scanner{s: s}
	for i := 0; i < len(s); {
		if !begins[s[i]] {
			i++
			continue
		}
		if end, ok := markerAt(s, i); ok {
			i, x.floor = end, end
			continue
		}
		kind, from, to := x.find(i)
		if kind == "" {
			i++
			continue
		}
		out.WriteString(s[x.done:from])
		if value := s[from:to]; x.named {
			out.WriteString(r.named(kind, value))
		} else {
			out.WriteString(r.marker(kind, value))
		}
		x.done, x.floor, i = to, to, max(to, i+1)
	}
	if x.done == 0 {
		return s
	}
	out.WriteString(s[x.done:])
	return out.String()
}

// scanner looks for secrets in a text.
type scanner struct {
	s string
	// done is the end of the last secret, floor that of the last secret or marker,
	// barren that of a value that is none; neither is anything that stands in it.
	done, floor, barren int
	// named: what was found last is one by its name.
	named bool
	// list is what a YAML list holds whose next item stands in the line that begins at
	// item, if it stands at least at that column.
	list         string
	item, column int
}

// markerAt reports whether a marker, or the name of a registered value, stands at i,
// and where it ends: what is in it is no secret any more.
func markerAt(s string, i int) (end int, ok bool) {
	const named = "{{secret:"
	switch s[i] {
	case '[':
		if !strings.HasPrefix(s[i:], markerOpen) {
			return 0, false
		}
		colon := runEnd(s[:min(len(s), i+len(markerOpen)+maxName)], i+len(markerOpen), alnum)
		end = colon + 1 + 8
		return end + 1, colon < len(s) && s[colon] == ':' && end < len(s) && s[end] == ']' && runEnd(s[:end], colon+1, hexChars) == end
	case '{':
		if !strings.HasPrefix(s[i:], named) {
			return 0, false
		}
		at := strings.Index(s[i:min(len(s), i+2*maxName+len(named))], "}}")
		return i + at + 2, at >= 0
	}
	return 0, false
}

// find returns the secret that what stands at i shows; kind is empty if there is none.
func (x *scanner) find(i int) (kind string, from, to int) {
	s := x.s
	c := s[i]
	x.named = false
	if c == ':' && strings.HasPrefix(s[i:], "://") {
		if from, to, ok := userinfo(s, i+3); ok {
			return "url", from, to
		}
		return "", 0, 0
	}
	if c == ':' || c == '=' || c == '-' {
		x.named = true
		if c != '-' {
			return x.assigned(i)
		}
		if strings.HasPrefix(s[i:], "-----BEGIN ") {
			x.named = false
			to, ok := privateKey(s, i)
			return kindIf(ok, "privatekey"), i, to
		}
		if kind, from, to = x.listed(i); kind != "" {
			return kind, from, to
		}
		return x.flag(i)
	}
	if c == '>' {
		x.named = true
		return x.element(i)
	}
	if c >= 128 || i > 0 && wordly.has(s[i-1]) {
		return "", 0, 0
	}
	return shaped(s, i)
}

func kindIf(ok bool, kind string) string {
	if !ok {
		return ""
	}
	return kind
}

// shaped returns the secret that begins at i, or stands after a word there, by how it
// looks.
func shaped(s string, i int) (kind string, from, to int) {
	c := s[i]
	switch c {
	case 'e':
		if to, ok := jwt(s, i); ok {
			return "jwt", i, to
		}
	case 'B', 'b':
		if from, to, ok := afterBearer(s, i); ok {
			return "bearer", from, to
		}
	}
	for _, p := range byFirst[c] {
		if to, ok := p.at(s, i); ok {
			return p.name, i, to
		}
	}
	return "", 0, 0
}

// at reports whether a text has the shape at i, and where it ends.
func (x *shape) at(s string, i int) (end int, ok bool) {
	if !strings.HasPrefix(s[i:], x.prefix) {
		return 0, false
	}
	start := i + len(x.prefix)
	if end = len(s); x.max > 0 {
		end = min(end, start+x.max+1)
	}
	end = runEnd(s[:end], start, x.chars)
	n := end - start
	if n < x.min || x.max > 0 && n > x.max || end < len(s) && wordly.has(s[end]) && !x.chars.has(s[end]) {
		return 0, false
	}
	return end, mixed(s[start:end])
}

// mixed reports whether a text has a digit or both cases: names in prose have not.
func mixed(s string) bool {
	var small, big bool
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			return true
		case 'a' <= c && c <= 'z':
			small = true
		case 'A' <= c && c <= 'Z':
			big = true
		}
	}
	return small && big
}

func runEnd(s string, i int, c *charset) int {
	for i < len(s) && c.has(s[i]) {
		i++
	}
	return i
}

// jwt finds three parts in base64url with dots between, of which the first begins
// like a JSON object (RFC 7519).
func jwt(s string, i int) (end int, ok bool) {
	const least = 8
	if !strings.HasPrefix(s[i:], "eyJ") {
		return 0, false
	}
	for part := range 3 {
		end = runEnd(s, i, wordly)
		if end-i < least && part < 2 {
			return 0, false
		}
		if part == 2 {
			break
		}
		if end >= len(s) || s[end] != '.' {
			return 0, false
		}
		i = end + 1
	}
	return end, true
}

// afterBearer finds the token after the word.
func afterBearer(s string, i int) (from, to int, ok bool) {
	const word, least = "bearer ", 16
	if len(s)-i < len(word)+least || !strings.EqualFold(s[i:i+len(word)], word) {
		return 0, 0, false
	}
	from = i + len(word)
	to = runEnd(s, from, bearer)
	return from, to, to-from >= least && mixed(s[from:to])
}

// privateKey finds a private key in the form of RFC 7468, up to its end or, where that
// was cut off, that of the text.
func privateKey(s string, i int) (end int, ok bool) {
	const most = 80 // of the first line
	head := s[i:min(len(s), i+most)]
	if stop := strings.Index(head, "PRIVATE KEY"); stop < 0 || strings.ContainsAny(head[:stop], "\n\r") {
		return 0, false
	}
	const last = "-----END "
	at := strings.Index(s[i:], last)
	if at < 0 {
		return len(s), true
	}
	end = i + at + len(last)
	if stop := strings.Index(s[end:min(len(s), end+most)], "-----"); stop >= 0 {
		return end + stop + len("-----"), true
	}
	return end, true
}

// userinfo finds the password, or the token that stands alone, before the host of a
// URL whose scheme ends before i (RFC 3986).
func userinfo(s string, i int) (from, to int, ok bool) {
	const most, aToken = 512, 20
	if strings.HasPrefix(s[i:], markerOpen) {
		return 0, 0, false
	}
	end, at, colon := min(len(s), i+most), -1, -1
	for j := i; j < end; j++ {
		switch c := s[j]; {
		case c == '@':
			at = j
		case c == ':' && colon < 0 && at < 0:
			colon = j
		case c == '/' || c == '?' || c == '#' || c == '"' || c == '\'' || c == '`' || c == '\\' || c == '<' || c == '>' || c <= ' ':
			end = j
		}
	}
	switch {
	case at < 0:
		return 0, 0, false
	case colon >= 0 && at-colon > 1:
		from = colon + 1
	case colon < 0 && at-i >= aToken:
		from = i
	default:
		return 0, 0, false
	}
	return from, at, !placeholder(s[from:at])
}
