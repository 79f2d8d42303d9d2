package calc

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"rein.example/rein/tool"
)

// The digits that are kept.
const (
	// shown is what a rounded result shows: that of IEEE 754 decimal128.
	shown = 34
	// working is what a rounded value is calculated with, and settled what it is
	// rounded to where a last digit decides: floor(1/3*3) is 1.
	working, settled = 100, 80
	// exactly is what an exact value may have.
	exactly = 1000
	// maxExponent bounds the size of values, as a power of 10.
	maxExponent = 1000
)

// A value is a decimal number, exact unless rounded.
type value struct {
	d       apd.Decimal
	rounded bool
}

// wide holds every sum and product of two values without rounding.
func wide() *apd.Context {
	return &apd.Context{Precision: 4*maxExponent + 2*exactly, MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent, Rounding: apd.RoundHalfUp}
}

func narrow(digits uint32) *apd.Context {
	c := wide()
	c.Precision = digits
	return c
}

var errZero = &tool.Error{Type: "division_by_zero", Message: "a division by zero has no result", Hint: "check the divisor"}

func outOfRange(what string) error {
	return &tool.Error{Type: "out_of_range", Message: "a result is " + what + " than can be calculated here (1e-1000 to 1e1001)", Hint: "calculate with smaller powers, or in other units"}
}

func invalid(hint, format string, a ...any) error {
	return &tool.Error{Type: "invalid_operation", Message: fmt.Sprintf(format, a...), Hint: hint}
}

func parseValue(word string) (value, error) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(word), "e")
	if exponent != "" {
		if n, err := strconv.Atoi(exponent); err != nil || n > 2*maxExponent || n < -2*maxExponent {
			return value{}, outOfRange("larger or smaller")
		}
	}
	v := value{}
	// apd wants a digit before the point.
	if _, _, err := v.d.SetString("0" + mantissa + "e" + orZero(exponent)); err != nil {
		return value{}, invalid("check the number", "%s is not a number", word)
	}
	return v.keep()
}

func orZero(s string) string {
	if s == "" {
		return "0"
	}
	return s
}

// keep brings a value into bounds: without trailing zeros, not too large, and
// with no more digits than are kept.
func (v value) keep() (value, error) {
	if v.rounded {
		if _, err := narrow(working).Round(&v.d, &v.d); err != nil {
			return value{}, err
		}
	}
	v.d.Reduce(&v.d)
	if v.d.IsZero() {
		return value{rounded: v.rounded}, nil
	}
	switch size := int64(v.d.Exponent) + v.d.NumDigits() - 1; {
	case size > maxExponent:
		return value{}, outOfRange("larger")
	case size < -maxExponent:
		return value{}, outOfRange("smaller")
	}
	if !v.rounded && v.d.NumDigits() > exactly {
		v.rounded = true
		return v.keep()
	}
	return v, nil
}

// settle returns the value as it is taken where a last digit decides.
func (v value) settle() value {
	if v.rounded {
		_, _ = narrow(settled).Round(&v.d, &v.d) // cannot fail: v is in bounds
	}
	return v
}

// text returns the value in decimal.
func (v value) text() string {
	if v.rounded {
		_, _ = narrow(shown).Round(&v.d, &v.d)
		v.d.Reduce(&v.d)
	}
	size := int64(v.d.Exponent) + v.d.NumDigits() - 1
	if size < -20 || size > 400 && int64(v.d.Exponent) > 0 {
		return strings.ToLower(v.d.Text('E'))
	}
	return v.d.Text('f')
}

func operate(op byte, a, b value) (value, error) {
	v := value{rounded: a.rounded || b.rounded}
	var err error
	switch op {
	case '+':
		_, err = wide().Add(&v.d, &a.d, &b.d)
	case '-':
		_, err = wide().Sub(&v.d, &a.d, &b.d)
	case '*':
		_, err = wide().Mul(&v.d, &a.d, &b.d)
	case '/':
		return divide(a, b)
	case '%':
		a, b = a.settle(), b.settle()
		if b.d.IsZero() {
			return value{}, errZero
		}
		_, err = wide().Rem(&v.d, &a.d, &b.d)
	default:
		return power(a, b)
	}
	if err != nil {
		return value{}, err
	}
	return v.keep()
}

// divide is exact where the quotient has an end within the working digits.
func divide(a, b value) (value, error) {
	if b.d.IsZero() {
		return value{}, errZero
	}
	v := value{rounded: a.rounded || b.rounded}
	digits := uint32(working)
	if !v.rounded {
		digits = uint32(max(working, a.d.NumDigits()+1)) // an exact 500-digit number divided by 2
	}
	c, err := narrow(digits).Quo(&v.d, &a.d, &b.d)
	if err != nil {
		return value{}, err
	}
	v.rounded = v.rounded || c.Inexact()
	return v.keep()
}

func power(a, b value) (value, error) {
	b = b.settle()
	n, err := b.d.Int64()
	switch {
	case err == nil && n >= 0:
		return powerInt(a, n)
	case a.d.IsZero():
		return value{}, errZero
	case err == nil && n >= -maxPower:
		v, err := powerInt(a, -n)
		if err != nil {
			return value{}, outOfRange("larger or smaller")
		}
		return divide(one(), v)
	case a.d.Negative:
		return value{}, invalid("use a whole exponent, or a base of at least 0", "a negative number has no power with the exponent %s", b.text())
	}
	v := value{rounded: true}
	c := narrow(working)
	c.MaxExponent, c.MinExponent = 2*maxExponent, -2*maxExponent
	if cond, err := c.Pow(&v.d, &a.d, &b.d); err != nil || cond.Overflow() || cond.Underflow() || v.d.Form != apd.Finite {
		return value{}, outOfRange("larger or smaller")
	}
	return v.keep()
}

// maxPower bounds whole exponents: beyond it only 0, 1 and -1 have powers that
// are in bounds, or numbers so near to 1 that nobody counts on them.
const maxPower = 10_000_000

func one() value {
	v := value{}
	v.d.SetInt64(1)
	return v
}

// powerInt multiplies; each product is brought into bounds.
func powerInt(a value, n int64) (value, error) {
	if n > maxPower {
		return value{}, invalid("use a smaller exponent", "the exponent %d is larger than %d", n, maxPower)
	}
	v := one()
	var err error
	for ; n > 0 && err == nil; n >>= 1 {
		if n&1 == 1 {
			if v, err = operate('*', v, a); err != nil {
				break
			}
		}
		if n > 1 {
			a, err = operate('*', a, a)
		}
	}
	return v, err
}
