package parse

// after returns where reading can go on after the element at s[j], which is
// broken: after the brackets that belong together, if in a list its end or the
// next element follows them; or where the next element begins that a lost quote
// made part of a string. 0 if nowhere.
func (e *elements) after(s string, j int, list bool) int {
	if e.spent > 4*len(s) {
		return 0
	}
	end, st := value(s, j)
	if st == whole {
		k := skip(s, end)
		for k < len(s) && (s[k] == ',' || s[k] == ';') {
			k = skip(s, k+1)
		}
		if !list || k == len(s) || s[k] == ']' || s[k] == '{' {
			return end
		}
	}
	at, looked := lostQuote(s, j)
	e.spent += end - j + looked - j
	return at
}

// lostQuote returns where, in the object at s[j], the next object begins that
// was not meant to be part of it, or 0, and how far it looked: in a string that ends where none can,
// right behind the brace of an object that begins as a call does, and holds the
// closers of all that was open before it. Nothing that is part of the object
// looks so, as quotes in its strings are escaped.
func lostQuote(s string, j int) (at, looked int) {
	depth, i := 0, j
	for ; i < len(s); i++ {
		switch s[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			end, st := stringEnd(s, i)
			if st != whole {
				return 0, end
			}
			if k := skip(s, end); k == len(s) || goesOn(s[k]) {
				i = end - 1
				continue
			}
			k := end - 2
			if k <= i || s[k] != '{' || !callKey(s[k+1:]) || closersBefore(s[i:trimEnd(s, k)]) < depth {
				return 0, i
			}
			return k, i
		}
		if depth <= 0 || depth > MaxDepth {
			return 0, i
		}
	}
	return 0, i
}

// goesOn reports whether c can follow a string.
func goesOn(c byte) bool { return c == ',' || c == '}' || c == ']' || c == ':' }

// closersBefore counts the closing brackets at the end of s.
func closersBefore(s string) int {
	n := 0
	for i := len(s); i > 0 && (blank(s[i-1]) || s[i-1] == '}' || s[i-1] == ']'); i-- {
		if !blank(s[i-1]) {
			n++
		}
	}
	return n
}

// trimEnd returns the end of s[:i] without white space and separators.
func trimEnd(s string, i int) int {
	for i > 0 && (blank(s[i-1]) || s[i-1] == ',' || s[i-1] == ';') {
		i--
	}
	return i
}
