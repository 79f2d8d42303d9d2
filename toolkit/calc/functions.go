package calc

import "github.com/cockroachdb/apd/v3"

// function is one that expressions can call.
type function struct {
	least, most int
	usage       string
	do          func([]value) (value, error)
}

var functions = map[string]function{
	"sqrt":  {1, 1, "sqrt(x)", sqrt},
	"abs":   {1, 1, "abs(x)", abs},
	"floor": {1, 1, "floor(x)", toInteger(apd.RoundFloor)},
	"ceil":  {1, 1, "ceil(x)", toInteger(apd.RoundCeiling)},
	"round": {1, 2, "round(x) or round(x, digits)", round},
	"min":   {1, maxArguments, "min(a, b, …)", extreme(-1)},
	"max":   {1, maxArguments, "max(a, b, …)", extreme(1)},
}

// sqrt is exact where the root has an end.
func sqrt(list []value) (value, error) {
	x := list[0]
	if x.d.Negative {
		return value{}, invalid("check the argument", "a negative number has no square root")
	}
	v := value{rounded: true}
	if _, err := narrow(working).Sqrt(&v.d, &x.d); err != nil {
		return value{}, err
	}
	if !x.rounded {
		var square apd.Decimal
		if _, err := wide().Mul(&square, &v.d, &v.d); err == nil && square.Cmp(&x.d) == 0 {
			v.rounded = false
		}
	}
	return v.keep()
}

func abs(list []value) (value, error) {
	v := list[0]
	v.d.Negative = false
	return v, nil
}

// toInteger, and round, give exact values: what they leave out is asked for.
func toInteger(r apd.Rounder) func([]value) (value, error) {
	return func(list []value) (value, error) { return quantize(list[0], 0, r) }
}

func quantize(x value, digits int32, r apd.Rounder) (value, error) {
	x = x.settle()
	c := wide()
	c.Rounding = r
	v := value{}
	if _, err := c.Quantize(&v.d, &x.d, -digits); err != nil {
		return value{}, err
	}
	return v.keep()
}

func round(list []value) (value, error) {
	if len(list) == 1 {
		return quantize(list[0], 0, apd.RoundHalfUp)
	}
	n, err := list[1].settle().int()
	if err != nil || n < -maxExponent || n > maxExponent {
		return value{}, invalid("write round(x, 2) for two decimals", "the digits to round to must be a whole number from -%d to %d", maxExponent, maxExponent)
	}
	return quantize(list[0], int32(n), apd.RoundHalfUp)
}

func (v value) int() (int64, error) { return v.d.Int64() }

func extreme(sign int) func([]value) (value, error) {
	return func(list []value) (value, error) {
		v := list[0]
		for _, x := range list[1:] {
			if x.d.Cmp(&v.d) == sign {
				v = x
			}
		}
		return v, nil
	}
}
