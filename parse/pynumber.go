package parse

import (
	"strconv"
	"strings"
)

// number reads an integer or a float.
func (p *pyReader) number() state {
	i := p.i
	if c := p.s[i]; c == '-' || c == '+' {
		if c == '-' {
			p.out = append(p.out, c)
		}
		for i++; i < len(p.s) && (p.s[i] == ' ' || p.s[i] == '\t'); i++ {
		}
	}
	end, st := p.magnitude(i)
	if st == whole && end < len(p.s) && (letter(p.s[end]) || p.s[end] == '.' || p.s[end] >= 0x80) {
		st = broken // such as 10px, 1.2.3, 5j
	}
	if st == cut {
		end = len(p.s)
	}
	if st != broken {
		p.i = end
	}
	return st
}

// magnitude reads a number without its sign at s[i].
func (p *pyReader) magnitude(i int) (end int, st state) {
	if i+1 < len(p.s) && p.s[i] == '0' && letter(p.s[i+1]) && p.s[i+1] > '9' && p.s[i+1] != '_' && p.s[i+1]|0x20 != 'e' {
		return p.radix(i)
	}
	units, i, ok := pyDigits(p.s, i)
	frac, float := "", i < len(p.s) && p.s[i] == '.'
	if float {
		var fine bool
		frac, i, fine = pyDigits(p.s, i+1)
		ok = ok && fine
	}
	if units == "" && frac == "" {
		return i, p.short(i)
	}
	exp := ""
	if i < len(p.s) && p.s[i]|0x20 == 'e' {
		from := i
		if i++; i < len(p.s) && (p.s[i] == '-' || p.s[i] == '+') {
			i++
		}
		sign := p.s[from:i]
		var fine bool
		if exp, i, fine = pyDigits(p.s, i); exp == "" {
			return i, p.short(i)
		}
		exp, ok, float = sign+exp, ok && fine, true
	}
	if !ok || !p.putNumber(units, frac, exp, float) {
		return i, broken
	}
	return i, whole
}

// short is what a number is that lacks its digits at an index.
func (p *pyReader) short(i int) state {
	if i == len(p.s) {
		return cut
	}
	return broken
}

// putNumber writes a number in decimal. It reports false for leading zeros that
// leave a doubt: 010 was octal once, and 00501 may be meant as a text.
func (p *pyReader) putNumber(units, frac, exp string, float bool) bool {
	n := strings.TrimLeft(units, "0")
	if zeros := len(units) - len(n); zeros > 0 && n != "" && !float {
		if zeros > 1 || len(n) > 1 {
			return false
		}
		p.done.add(fixNumbers)
	}
	if n == "" {
		n = "0"
	}
	p.out = append(p.out, n...)
	if float && (frac != "" || exp == "") {
		p.out = append(p.out, '.')
		if frac == "" {
			frac = "0"
		}
		p.out = append(p.out, frac...)
	}
	p.out = append(p.out, exp...)
	return true
}

// radix reads a hexadecimal, octal or binary integer at s[i].
func (p *pyReader) radix(i int) (end int, st state) {
	base := 0
	switch p.s[i+1] | 0x20 {
	case 'x':
		base = 16
	case 'o':
		base = 8
	case 'b':
		base = 2
	default:
		return i, broken
	}
	end = i + 2
	for end < len(p.s) && letter(p.s[end]) {
		end++
	}
	if end == i+2 && end == len(p.s) {
		return end, cut
	}
	// A base of 0 makes strconv read the prefix and underscores as Python does.
	n, err := strconv.ParseUint(p.s[i:end], 0, 64)
	if err != nil || base == 0 {
		return i, broken
	}
	p.out = strconv.AppendUint(p.out, n, 10)
	return end, whole
}

// pyDigits reads decimal digits, perhaps none, with underscores between them,
// which it leaves out. ok is false for an underscore in another place.
func pyDigits(s string, i int) (digits string, end int, ok bool) {
	from, groups := i, false
	for i < len(s) && ('0' <= s[i] && s[i] <= '9' || s[i] == '_') {
		groups = groups || s[i] == '_'
		i++
	}
	digits = s[from:i]
	if !groups {
		return digits, i, true
	}
	ok = digits[0] != '_' && digits[len(digits)-1] != '_' && !strings.Contains(digits, "__")
	return strings.ReplaceAll(digits, "_", ""), i, ok
}
