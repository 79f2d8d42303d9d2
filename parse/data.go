package parse

// dataWalk finds the ends of values that only may be JSON, even with slips, for
// one bracket of a text after the other. Where a value has no end, the next
// bracket that is open inside of it is followed from where the walk had come to,
// and not once more from the bracket on: of a text of brackets each byte is then
// looked at once, and not once for each level.
type dataWalk struct {
	s string
	i int // what is read next
	// open are the brackets that are open there, the outermost at first: a ring.
	open     [MaxDepth]int32
	first, n int
}

// end returns the index after the value whose bracket stands at s[i], and how many
// bytes were looked at. It is broken as soon as outside of its strings something
// stands that no JSON has, such as words.
func (d *dataWalk) end(i int) (end int, st state, looked int) {
	for d.n > 0 && int(d.open[d.first]) < i {
		d.first, d.n = (d.first+1)%MaxDepth, d.n-1
	}
	if d.n == 0 || int(d.open[d.first]) != i {
		if d.n > 0 && i < d.i {
			// It was closed, or stands in a string.
			end, st = dataEnd(d.s, i)
			return end, st, end - i
		}
		d.i, d.n = i, 0
	}
	from := d.i
	end, st = d.on()
	return end, st, end - from
}

// on goes on to the end of the outermost value that is open.
func (d *dataWalk) on() (end int, st state) {
	s := d.s
	for d.i < len(s) {
		switch c := s[d.i]; {
		case c == '"':
			end, st := stringEnd(s, d.i)
			if st != whole {
				d.i = end
				return end, st
			}
			d.i = end
			continue
		case c == '{' || c == '[':
			if d.n == MaxDepth {
				return d.i, tooDeep
			}
			d.open[(d.first+d.n)%MaxDepth] = int32(d.i)
			d.n++
		case c == '}' || c == ']':
			if s[d.open[(d.first+d.n-1)%MaxDepth]] != c-2 { // '{' is two before '}', '[' before ']'
				return d.i, broken
			}
			if d.n--; d.n == 0 {
				d.i++
				return d.i, whole
			}
		case letter(c):
			end, ok := dataWordAt(s, d.i)
			if !ok {
				return end, broken
			}
			d.i = end
			continue
		case !blank(c) && c != ',' && c != ':' && !scalar(c):
			return d.i, broken
		}
		d.i++
	}
	return len(s), cut
}

// dataEnd returns what [dataWalk.end] does for one bracket.
func dataEnd(s string, i int) (end int, st state) {
	d := dataWalk{s: s, i: i}
	return d.on()
}

// dataWordAt returns the end of the word at s[i], and whether JSON may have it
// there: as a number, a literal, or a name without quotes.
func dataWordAt(s string, i int) (end int, ok bool) {
	for end = i; end < len(s) && (scalar(s[end]) || s[end] == '_'); {
		end++
	}
	next := skip(s, end)
	return end, next == len(s) || s[next] == ':' || dataWord(s[i:end])
}

// dataWord reports whether a word is a number or a literal.
func dataWord(w string) bool {
	switch w {
	case "true", "false", "null", "True", "False", "None", "NaN", "Infinity":
		return true
	}
	return '0' <= w[0] && w[0] <= '9'
}
