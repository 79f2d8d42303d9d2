package config

import (
	"cmp"
	"math/big"

	"rein.example/rein/message"
)

// TokenPrice returns the price that the file gives, nil if it gives none.
func (a *Agent) TokenPrice() *message.Price {
	p := a.Price
	if p == nil {
		return nil
	}
	return &message.Price{
		Input: p.Input.millionths(), Output: p.Output.millionths(),
		Cached:     cmp.Or(p.Cached, p.Input).millionths(),
		CacheWrite: cmp.Or(p.CacheWrite, p.Input).millionths(),
	}
}

// millionths returns the number times 1,000,000, rounded half up; 0 for none.
func (d Decimal) millionths() int64 {
	x, ok := new(big.Rat).SetString(string(d))
	if !ok {
		return 0
	}
	x.Mul(x, big.NewRat(1_000_000, 1)).Add(x, big.NewRat(1, 2))
	return new(big.Int).Quo(x.Num(), x.Denom()).Int64()
}
