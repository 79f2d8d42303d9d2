package parse

import "strings"

// outside says what stands at s[i] between pairs, where a key may lack its tag.
func (x *pairReader) outside(i int) mark {
	s := x.r.s
	if i == len(s) {
		return mark{}
	}
	m := x.inside(i)
	from := i
	switch t := pairTagAt(s, i); {
	case m.kind == openCall:
		from = skip(s, m.end) // it may stand for a key's opener
	case m.kind != noMark:
		return m
	case t.base == "arg_key" && t.shut:
		return mark{end: t.end, odd: true} // closes nothing
	case s[i] == '<':
		m.tag.torn = t.base == "" && !x.tail(i) && tornTag(s, i)
		return m
	}
	n := strings.IndexAny(s[from:min(len(s), from+maxHeader)], "<\n")
	if n <= 0 || !keyish(trim(s[from:from+n])) {
		return m
	}
	at := skip(s, from+n)
	if t := pairTagAt(s, at); t.base != "arg_key" || !t.shut {
		return m
	}
	k := x.keyEnd(mark{kind: openParam, from: i, name: trim(s[from : from+n])}, at)
	k.odd = true
	return k
}

// inside says what stands at s[i] within a value.
func (x *pairReader) inside(i int) mark {
	t := pairTagAt(x.r.s, i)
	m := mark{from: i, end: t.end}
	switch {
	case t.base == "arg_key" && !t.shut:
		return x.key(i, t.end)
	case t.base == "arg_value" && t.shut:
		m.kind = shutParam
	case t.base == "tool_call":
		m.kind = openCall
	case t.base == "tool_calls":
		m.kind = openWrap
	default:
		return mark{}
	}
	if t.shut && m.kind != shutParam {
		m.kind++
	}
	return m
}

// key reads the key whose tag stands at s[i] and ends at s[end].
func (x *pairReader) key(i, end int) mark {
	s := x.r.s
	m := mark{kind: openParam, from: i}
	for range maxRepeats {
		end = skip(s, end)
		t := pairTagAt(s, end)
		if t.base != "arg_key" || t.shut {
			break
		}
		m.odd, end = true, t.end
	}
	n := strings.IndexByte(s[end:min(len(s), end+maxHeader)], '<')
	if n <= 0 || !keyish(trim(s[end:end+n])) {
		return mark{tag: tag{torn: n < 0}}
	}
	m.name = trim(s[end : end+n])
	return x.keyEnd(m, end+n)
}

// keyEnd reads what stands between a key and its value, at s[i].
func (x *pairReader) keyEnd(m mark, i int) mark {
	s := x.r.s
	keys, opened := 0, false
	for {
		j := skip(s, i)
		t := pairTagAt(s, j)
		switch {
		case t.base == "arg_key" && t.shut && !opened && keys <= maxRepeats:
			keys++
		case t.base == "arg_value" && !t.shut && !opened:
			opened = true
		default:
			if keys == 0 && !opened {
				return mark{tag: tag{torn: tornTag(s, j)}}
			}
			m.odd, m.bare = m.odd || keys != 1 || !opened, !opened
			m.end = i
			return m
		}
		i = t.end
	}
}

// keyish reports whether a text can be the name of a parameter.
func keyish(s string) bool { return s != "" && !strings.ContainsAny(s, "\n<>{}") }

// expected reports whether a pair that begins in a value is the next one.
func (x *pairReader) expected(m mark) bool {
	for i := range x.params {
		if x.params[i].name == m.name {
			return false
		}
	}
	return !x.known || x.node.Declared(m.name)
}
