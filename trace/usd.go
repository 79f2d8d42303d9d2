package trace

import (
	"fmt"
	"strconv"
	"strings"
)

// USD is an amount in millionths of a US dollar, so that sums are exact.
type USD int64

// MarshalJSON writes the amount in dollars, with six decimals.
func (u USD) MarshalJSON() ([]byte, error) {
	sign := ""
	if u < 0 {
		sign, u = "-", -u
	}
	return fmt.Appendf(nil, "%s%d.%06d", sign, u/1_000_000, u%1_000_000), nil
}

// UnmarshalJSON reads an amount in dollars, with at most six decimals, as
// MarshalJSON writes it.
func (u *USD) UnmarshalJSON(b []byte) error {
	whole, part, _ := strings.Cut(strings.TrimPrefix(string(b), "-"), ".")
	if whole == "" || len(part) > 6 {
		return fmt.Errorf("%.40s is no amount of dollars with at most six decimals", b)
	}
	n, err := strconv.ParseUint(whole+(part + "000000")[:6], 10, 63)
	if err != nil {
		return fmt.Errorf("%.40s is no amount of dollars", b)
	}
	*u = USD(n)
	if strings.HasPrefix(string(b), "-") {
		*u = -*u
	}
	return nil
}
