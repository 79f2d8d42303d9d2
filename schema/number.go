package schema

import (
	"math/big"
)

// A num is a decimal number, exactly as written: 0.d1d2d3… × 10^top, where the
// digits are those of a and then b, the first and the last of them not 0. Zero
// has no digits. A num shares the text that it was read from.
type num struct {
	neg  bool
	a, b []byte
	top  int64
}

// maxExponent bounds exponents; larger ones count as this.
const maxExponent = 1 << 40

// parseNum reads a JSON number, which must be well formed.
func parseNum(v []byte) num {
	var n num
	if v[0] == '-' {
		n.neg, v = true, v[1:]
	}
	i := 0
	for i < len(v) && v[i] >= '0' && v[i] <= '9' {
		i++
	}
	n.a, v = v[:i], v[i:]
	if len(v) > 0 && v[0] == '.' {
		i = 1
		for i < len(v) && v[i] >= '0' && v[i] <= '9' {
			i++
		}
		n.b, v = v[1:i], v[i:]
	}
	for len(n.a) > 0 && n.a[0] == '0' {
		n.a = n.a[1:]
	}
	n.top = int64(len(n.a))
	if len(n.a) == 0 {
		for len(n.b) > 0 && n.b[0] == '0' {
			n.b = n.b[1:]
			n.top--
		}
	}
	for len(n.b) > 0 && n.b[len(n.b)-1] == '0' {
		n.b = n.b[:len(n.b)-1]
	}
	if len(n.b) == 0 {
		for len(n.a) > 0 && n.a[len(n.a)-1] == '0' {
			n.a = n.a[:len(n.a)-1]
		}
	}
	if len(v) > 1 {
		n.top += parseExponent(v[1:])
	}
	if n.zero() {
		n.neg, n.top = false, 0
	}
	return n
}

func parseExponent(v []byte) int64 {
	neg := v[0] == '-'
	if v[0] == '-' || v[0] == '+' {
		v = v[1:]
	}
	var e int64
	for _, c := range v {
		if e = e*10 + int64(c-'0'); e > maxExponent {
			e = maxExponent
		}
	}
	if neg {
		return -e
	}
	return e
}

func (n num) zero() bool  { return len(n.a)+len(n.b) == 0 }
func (n num) digits() int { return len(n.a) + len(n.b) }

// integer reports whether the number has no fraction.
func (n num) integer() bool { return int64(n.digits()) <= n.top || n.zero() }

func (n num) digit(i int) byte {
	if i < len(n.a) {
		return n.a[i]
	}
	return n.b[i-len(n.a)]
}

// compare returns the sign of n - m.
func (n num) compare(m num) int {
	switch {
	case n.zero() && m.zero():
		return 0
	case n.zero():
		return m.sign(-1)
	case m.zero() || n.neg != m.neg:
		return n.sign(1)
	case n.top != m.top:
		if n.top > m.top {
			return n.sign(1)
		}
		return n.sign(-1)
	}
	for i := 0; i < n.digits() || i < m.digits(); i++ {
		var x, y byte = '0', '0'
		if i < n.digits() {
			x = n.digit(i)
		}
		if i < m.digits() {
			y = m.digit(i)
		}
		if x != y {
			if x > y {
				return n.sign(1)
			}
			return n.sign(-1)
		}
	}
	return 0
}

func (n num) sign(s int) int {
	if n.neg {
		return -s
	}
	return s
}

// multiple reports whether n is an integer times m, which is greater than 0.
// Both are within the range of a double, give or take.
func (n num) multiple(m num) bool {
	if n.zero() {
		return true
	}
	// n = x·10^i and m = y·10^j, with x and y integers that 10 does not divide.
	i, j := n.top-int64(n.digits()), m.top-int64(m.digits())
	if i < j {
		return false // 10 would have to divide x
	}
	x, y := n.coefficient(), m.coefficient()
	p := new(big.Int).Exp(big.NewInt(10), big.NewInt(i-j), y)
	return x.Mul(x, p).Mod(x, y).Sign() == 0
}

func (n num) coefficient() *big.Int {
	d := make([]byte, 0, n.digits())
	d = append(append(d, n.a...), n.b...)
	x, _ := new(big.Int).SetString(string(d), 10)
	return x
}

// clone returns a copy that shares nothing.
func (n num) clone() num {
	n.a, n.b = append([]byte(nil), n.a...), append([]byte(nil), n.b...)
	return n
}
